"""What may be analysed besides a path, a URL and bytes: file objects, PIL pictures and NumPy arrays.

Pictures and arrays are written into the bytes of a PNG or WAV file, without loss, and take the same road as a file from
there. Such a file says nothing of where its content came from: `Input.written` tells what it was written from, and the
tasks that examine files leave it out. Give the path where there is one.

    picture   a PIL picture, turned as its EXIF says, or an array: uint8, (H, W, 3) RGB, (H, W, 4) RGBA or (H, W) grey.
              OpenCV reads blue first: give ``bgr[..., ::-1]``.
    sound     an array with ``sample_rate`` in Hz: int16, or float32 or float64 with 1 as full scale, (n,) or
              (n, channels). Up to 2 is taken, and clipped at 1 as it is when a file is decoded.
"""

import io
import os
import sys
from dataclasses import dataclass
from numbers import Real
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from forensix.errors import BrokenMedia, InputNotFound, LimitExceeded, UnsupportedMedia, UsageError
from forensix.folders import expanded
from forensix.media.values import Limits

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

    Source = str | os.PathLike[str] | bytes | BinaryIO | Image.Image | np.ndarray
else:
    # Neither NumPy nor Pillow is loaded to say so.
    Source = str | os.PathLike[str] | bytes | BinaryIO | Any

MOST_CHANNELS = 8
RATES_HZ = (1000, 768_000)
LOUDEST = 2.0
_PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
_CHUNK = 1 << 20
_UINT8 = "pictures are uint8 from 0 to 255"


@dataclass(frozen=True, slots=True)
class Input:
    """A source that `open_media` opens, in this process or another."""

    source: str | os.PathLike[str] | bytes
    spelled: str
    """What sentences and reports call it."""
    name: str | None = None
    written: str | None = None
    """What the bytes were written from, where no file was given: ``"a picture of 640 x 480 pixels"``."""


def as_input(
    source: Source,
    *,
    name: str | None = None,
    sample_rate: float | None = None,
    limits: Limits = Limits(),  # noqa: B008
) -> Input:
    """Return a source in the form that can be opened, read or encoded where it is an object in memory.

    Raises
    ------
    UsageError
        It is none of the kinds of objects that can be analysed.
    InputNotFound
        An empty path, or a file object that cannot be read.
    UnsupportedMedia
        An array or picture of a type or shape that is not taken, or a ``sample_rate`` beside anything but sound.
    BrokenMedia
        Values that are no numbers, a picture that cannot be decoded, or a file object that gives no bytes.
    LimitExceeded
        More pixels, seconds or bytes than ``limits``.
    """
    array = _is_a("numpy", "ndarray", source)
    if sample_rate is not None and not array:
        raise UnsupportedMedia("sample_rate is for arrays of samples: a file states its own")
    if array:
        return _sound(source, sample_rate, name, limits) if sample_rate is not None else _picture(source, name, limits)
    if _is_a("PIL.Image", "Image", source):
        return _pil(source, name, limits)
    if isinstance(source, bytes | bytearray | memoryview):
        return Input(bytes(source), name or "bytes", name)
    if isinstance(source, str | os.PathLike):
        path = os.fsdecode(source)
        if not path:
            raise InputNotFound("the path is empty: give that of a media file, or a URL")
        if path.startswith("~"):
            source = path = str(expanded(path))
        return Input(source, path, name)
    if callable(getattr(source, "read", None)):
        return _read(source, name, limits)
    raise UsageError(
        "forensix analyses a path, a URL, bytes, a file object, a PIL picture or a NumPy array, not an object of type"
        f" {type(source).__name__}"
    )


def _is_a(module: str, kind: str, source: object) -> bool:
    """Tell whether it is of a class of a package that nobody has to have imported for it not to be one."""
    known = getattr(sys.modules.get(module), kind, None)
    return known is not None and isinstance(source, known)


def _read(file: Any, name: str | None, limits: Limits) -> Input:
    """Return what a file object holds from where it stands, no more than may be analysed."""
    called = getattr(file, "name", None)
    name = name or (PurePath(called).name if isinstance(called, str) else None)
    label = name or "the file object"
    content = bytearray()
    while len(content) <= limits.max_bytes:
        try:
            part = file.read(_CHUNK)
        except UnicodeDecodeError:
            part = ""
        except (OSError, ValueError) as error:
            raise InputNotFound(f"{label} cannot be read: {error}") from error
        if isinstance(part, str):
            raise UnsupportedMedia(f"{label} was opened as text: open it with mode 'rb'")
        if not part:
            break
        content += part
    if not content:
        raise BrokenMedia(f"{label} gave no bytes: call seek(0) where it was read or written before")
    return Input(bytes(content), label, name)


def _pil(image: Any, name: str | None, limits: Limits) -> Input:
    from PIL import ImageOps

    _check_pixels(image.width, image.height, limits)
    try:
        image.load()
    except Exception as error:  # whatever the plug-in of a file that was opened lazily raises
        raise BrokenMedia(f"the PIL picture cannot be decoded: {error}") from error
    try:
        upright = ImageOps.exif_transpose(image)
    except Exception:  # damaged EXIF says nothing of which side is up
        upright = image.copy()
    if upright.mode in ("F", "I"):
        raise UnsupportedMedia(f"a PIL picture of mode {upright.mode!r} has no fixed range: convert it to 'RGB' or 'L'")
    if upright.mode not in _PNG_MODES:
        upright = upright.convert("RGB")
    return _png(upright, name)


def _picture(array: Any, name: str | None, limits: Limits) -> Input:
    from PIL import Image

    shape = " x ".join(map(str, array.shape))
    if array.ndim == 1:
        raise UnsupportedMedia(
            f"an array of shape ({shape},) is no picture; for sound, give its sample_rate in Hz as well"
        )
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        raise UnsupportedMedia(f"the array is {shape}, channels first: give numpy.moveaxis(array, 0, -1)")
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3, 4))) or array.size == 0:
        raise UnsupportedMedia(
            f"the array is {shape}; a picture is (H, W, 3) RGB, (H, W, 4) RGBA or (H, W) grey; sound needs sample_rate"
        )
    if array.dtype.name != "uint8":
        hint = "; where it runs from 0 to 1: (array * 255).round().astype('uint8')" if array.dtype.kind == "f" else ""
        raise UnsupportedMedia(f"the array is {array.dtype.name}, and {_UINT8}{hint}")
    height, width = array.shape[:2]
    _check_pixels(width, height, limits)
    return _png(Image.fromarray(array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array), name)


def _png(image: Any, name: str | None) -> Input:
    from PIL.PngImagePlugin import PngInfo

    buffer = io.BytesIO()
    # Texts and profiles that came with a picture are those of the file it was read from.
    image.info = {key: value for key, value in image.info.items() if key == "transparency"}
    image.save(buffer, "PNG", compress_level=1, pnginfo=PngInfo())
    written = f"a picture of {image.width} x {image.height} pixels"
    return Input(buffer.getvalue(), name or "picture", name or "picture", written)


def _sound(array: Any, sample_rate: float, name: str | None, limits: Limits) -> Input:
    import numpy as np
    from scipy.io import wavfile

    low, high = RATES_HZ
    if not isinstance(sample_rate, Real) or not low <= sample_rate <= high or sample_rate != int(sample_rate):
        raise UnsupportedMedia(f"sample_rate is a whole number from {low} to {high} Hz, not {sample_rate}")
    shape = " x ".join(map(str, array.shape))
    if array.ndim not in (1, 2) or array.size == 0 or (array.ndim == 2 and array.shape[1] > MOST_CHANNELS):
        turned = "; give array.T" if array.ndim == 2 and 0 < array.shape[0] <= MOST_CHANNELS else ""
        raise UnsupportedMedia(f"the array is {shape}; sound is (n,) or (n, channels){turned}")
    if array.dtype.name not in ("int16", "float32", "float64"):
        raise UnsupportedMedia(f"the array is {array.dtype.name}; sound is int16, or float32 or float64 up to 1")
    duration_s = len(array) / sample_rate
    if duration_s > limits.audio_s:
        raise LimitExceeded(f"the sound lasts {duration_s / 60:.1f} min; the limit is {limits.audio_s / 60:g} min")
    if array.dtype.kind == "f":
        top = float(np.max(np.abs(array)))
        if not np.isfinite(top):
            raise BrokenMedia("the sound holds values that are no numbers (NaN or infinite)")
        if top > LOUDEST:
            raise UnsupportedMedia(
                f"the samples reach {top:.4g}; floating-point sound has 1 as full scale: divide int16 by 32768"
            )
    buffer = io.BytesIO()
    wavfile.write(buffer, int(sample_rate), np.ascontiguousarray(array, "<i2" if array.dtype.kind == "i" else "<f4"))
    written = f"sound of {duration_s:.4g} s at {int(sample_rate)} Hz"
    return Input(buffer.getvalue(), name or "sound", name or "sound", written)


def _check_pixels(width: int, height: int, limits: Limits) -> None:
    if width * height > limits.image_pixels:
        raise LimitExceeded(
            f"the picture has {width} x {height} pixels ({width * height / 1e6:.0f} megapixels); "
            f"the limit is {limits.image_pixels / 1e6:.0f} megapixels"
        )
