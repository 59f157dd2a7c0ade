"""What a user may hand to a detector, as arrays: pictures and recordings, from files, libraries and networks."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageOps
from torch import Tensor, uint8

from forensix.errors import UsageError
from forensix.media import open_media

RGB = NDArray[np.uint8]


def at_least(rgb: RGB, side_px: int) -> RGB:
    """Return the picture with both sides at least ``side_px``, continued by mirroring where it is smaller."""
    down, right = (max(0, side_px - size) for size in rgb.shape[:2])
    return np.pad(rgb, ((0, down), (0, right), (0, 0)), mode="symmetric") if down or right else rgb


def is_file(source: Any) -> bool:
    """Return whether it names or holds a file, or is one that was opened."""
    return isinstance(source, str | bytes | bytearray | os.PathLike) or hasattr(source, "read")


def checked(rgb: ArrayLike) -> RGB:
    """Return the picture as an array, after checking that it is uint8 RGB with at least one pixel.

    Raises
    ------
    UsageError
        Another type or shape.
    """
    picture = np.asarray(rgb)
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or picture.size == 0:
        raise UsageError(f"a picture must be uint8 (H, W, 3), got {picture.dtype} {picture.shape}")
    return picture


def picture(source: Any) -> RGB:
    """Return a picture as uint8 (H, W, 3) RGB: of a file (path, bytes or file object), PIL picture, array or tensor.

    Arrays are uint8 (H, W, 3); tensors (3, H, W), uint8 or floats in [0, 1], on any device. Both are RGB. Files are
    decoded in the sandbox, which turns them upright as their EXIF says and puts transparency over white; PIL pictures
    are seen likewise.

    Raises
    ------
    InputError
        The file cannot be opened, or is no picture.
    UsageError
        Another type or shape.
    """
    if isinstance(source, Image.Image) and _is_plain(source):
        return np.asarray(ImageOps.exif_transpose(source).convert("RGB"))
    if is_file(source) or isinstance(source, Image.Image):
        with open_media(source) as media:
            return media.image()
    if isinstance(source, Tensor):
        if source.ndim != 3 or source.shape[0] != 3:
            raise UsageError(f"a picture as a tensor must be (3, H, W), RGB, got {tuple(source.shape)}")
        if source.is_floating_point():
            if not bool(((source >= 0) & (source <= 1)).all()):
                raise UsageError("a picture as a tensor of floats must lie in [0, 1], before any normalisation")
            source = (source.float() * 255).round().to(uint8)
        source = source.permute(1, 2, 0).cpu().numpy()
    return checked(source)


def _is_plain(image: Image.Image) -> bool:
    """Return whether it has 8 bits and nothing that shines through, so that it need not be stored and decoded first."""
    return image.mode in ("RGB", "L") and "transparency" not in image.info


def recording(source: Any) -> NDArray[np.float32]:
    """Return sound as float32 (n,) mono at 16 kHz: of a file (path, bytes or file object), an array or a tensor.

    Arrays and tensors are mono at 16 kHz already, one axis, float32 in [-1, 1]. Files, videos among them, are decoded
    in the sandbox, mixed down and resampled.

    Raises
    ------
    InputError
        The file cannot be opened, or has no sound.
    UsageError
        Another type or shape, no samples, or not all finite.
    """
    if is_file(source):
        with open_media(source) as media:
            return (media.samples() / np.float32(32768)).astype(np.float32)
    if isinstance(source, Tensor):
        source = source.detach().cpu().numpy()
    if not isinstance(source, np.ndarray) or source.ndim != 1 or source.dtype != np.float32:
        what = f"{source.dtype} of shape {source.shape}" if isinstance(source, np.ndarray) else type(source).__name__
        raise UsageError(f"speech must be a file or a one-dimensional float32 array at 16 kHz, not {what}")
    if not source.size:
        raise UsageError("speech must hold at least one sample, not none")
    if not np.isfinite(source).all():
        raise UsageError("speech must hold finite samples only, but some are infinite or not a number")
    return source
