"""Squares around faces: the one geometry that tracking, training and heat maps share."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

CROP_PX = 160
MARGIN = 1.3
"""Side of a crop over the longer side of its box: seams lie at the rim of the face, so the rim must be seen."""
WINDOW_PX = 224
"""Side of what is seen around a face as it lies in its picture."""


def square(box: np.ndarray, margin: float = MARGIN) -> np.ndarray:
    """Return the square of ``margin`` times the longer side around the middle of a box: float (4,) xyxy.

    Examples
    --------
    >>> import numpy as np
    >>> square(np.array([10.0, 20.0, 30.0, 60.0]), margin=1.5).tolist()
    [-10.0, 10.0, 50.0, 70.0]
    """
    box = np.asarray(box, dtype=np.float64)
    centre = (box[:2] + box[2:]) / 2
    half = margin * float(np.max(box[2:] - box[:2])) / 2
    return np.concatenate([centre - half, centre + half])


def crop(rgb: np.ndarray, box: np.ndarray, *, margin: float = MARGIN, size_px: int = CROP_PX) -> np.ndarray:
    """Cut the square around a box and scale it.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3).
    box
        float (4,) xyxy in pixels of ``rgb``; what lies outside the picture repeats its edge.
    margin
        Side of the square over the longer side of the box.
    size_px
        Side of the crop returned.

    Returns
    -------
    uint8 (size_px, size_px, 3).
    """
    return cut(rgb, square(box, margin), size_px)


def window(rgb: NDArray[np.uint8], points: NDArray[np.floating], side_px: int = WINDOW_PX) -> NDArray[np.uint8]:
    """Return the square around a face as it lies in the picture, neither scaled nor turned.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3).
    points
        float (5, 2) xy of the face in pixels of ``rgb``; their mean is the middle, unless the picture ends before.
    side_px
        Side of the square, in whole pixels; of a smaller picture all there is.

    Examples
    --------
    >>> rgb = np.arange(300 * 400, dtype=np.uint32).reshape(300, 400, 1).repeat(3, axis=2).astype(np.uint8)
    >>> face = np.full((5, 2), (390.0, 150.0))
    >>> window(rgb, face).shape, bool((window(rgb, face) == rgb[38:262, 176:400]).all())
    ((224, 224, 3), True)
    """
    left, top = window_corner(rgb.shape, points, side_px)
    return np.ascontiguousarray(rgb[top : top + side_px, left : left + side_px])


def window_corner(shape: tuple[int, ...], points: NDArray[np.floating], side_px: int = WINDOW_PX) -> tuple[int, int]:
    """Return where the `window` around a face begins in a picture of a shape (H, W, ...): x and y."""
    corner = np.floor(points.mean(axis=0)) - side_px // 2
    left, top = np.clip(corner, 0, np.maximum(np.array(shape[1::-1]) - side_px, 0)).astype(int)
    return int(left), int(top)


def cut(rgb: np.ndarray, area: np.ndarray, size_px: int) -> np.ndarray:
    """Scale a square area (float (4,) xyxy; what lies outside the picture repeats its edge) to ``size_px``."""
    height, width = rgb.shape[:2]
    area = np.asarray(area, dtype=np.float64)
    low = np.minimum(np.floor(area[:2]).astype(int) - 1, (width - 1, height - 1))
    high = np.maximum(np.ceil(area[2:]).astype(int) + 1, 1)
    left, top = np.maximum(-low, 0)
    right, bottom = np.maximum(high - (width, height), 0)
    inner = rgb[max(low[1], 0) : max(high[1], 0), max(low[0], 0) : max(high[0], 0)]
    if left or top or right or bottom:
        inner = np.pad(inner, ((top, bottom), (left, right), (0, 0)), mode="edge")
    x1, y1, x2, y2 = (float(v) for v in area - np.tile(low, 2))
    size, box = (size_px, size_px), (x1, y1, x2, y2)
    return np.asarray(Image.fromarray(inner).resize(size, Image.Resampling.BILINEAR, box=box, reducing_gap=3.0))


def resized(rgb: NDArray[np.uint8], size: tuple[int, int], *, filter: str = "bilinear") -> NDArray[np.uint8]:
    """Scale a picture down, every target pixel a weighted mean as wide as itself, so that nothing aliases.

    What PIL returns, but for one grey level in one of a thousand values, in a quarter of the time.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3).
    size
        Width and height of what is returned, at least 1 each.
    filter
        ``bilinear`` or ``bicubic``.

    Examples
    --------
    >>> resized(np.full((40, 60, 3), 7, np.uint8), (3, 2))[..., 0].tolist()
    [[7, 7, 7], [7, 7, 7]]
    """
    import torch
    from torch.nn.functional import interpolate

    picture = torch.from_numpy(np.require(rgb, requirements=("C", "W"))).permute(2, 0, 1)[None]
    scaled = interpolate(picture, size=(size[1], size[0]), mode=filter, antialias=True)
    return np.ascontiguousarray(scaled[0].permute(1, 2, 0).numpy())
