"""How much less fine detail does a face hold than the picture around it? A measure of one frame that needs no training.

A camera and one encoder treat a face and what surrounds it alike. A face that a program drew at its own resolution and
put into the frame often lacks the finest detail of its surroundings. Detail is the mean curvature of the grey values
(the absolute Laplacian) over one pixel against that over four: how steeply it falls off, not how much there is, so
exposure and much of what a codec does to a whole frame cancel out.

Assumes frames at the video's own resolution. It is proof of nothing: a beauty filter, make-up, soft light, focus behind
the face and a sharp overlay beside it raise it in recorded faces, and a background out of focus lowers it in any.
A swap that sharpens what it puts in lowers it too.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from forensix.faces.align import similarity
from forensix.faces.crop import square

WINDOW = 2.0
"""Side of what is looked at over the longer side of the face's box."""

MAX_WINDOW_PX = 512
"""Larger windows are scaled down."""

LEAST_PX = 200
"""Pixels of face, and of surroundings, below which nothing is measured."""

LEAST_CURVATURE = 1.0
"""Curvature over four pixels, in grey levels, below which a part is bare and nothing is measured."""

_COARSE_PX = 4
_RIM_PX = 6
_BAR = 8
"""Rows and columns that range over fewer grey levels are bars around the picture."""

_FLOOR = 0.15
_MIDDLE, _RADII = (112.0, 110.0), (47.0, 67.0)
"""An ellipse around the head in the aligned crop: the face lies within 0.85 of it, its surroundings beyond 1.4."""

_FACE, _SURROUNDINGS = 0.85, 1.4
_GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def detail_gap(rgb: NDArray[np.uint8], box: NDArray[np.floating], points: NDArray[np.floating]) -> float:
    """Return how much less fine detail a face holds than its surroundings, a difference of natural logarithms.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3), at its own resolution.
    box
        float (4,) xyxy of the face, in pixels of ``rgb``.
    points
        float (5, 2) xy, as `forensix.faces.detect` gives them.

    Returns
    -------
    Above 0 where the face holds less; recorded and made faces lie mostly between -0.2 and 0.6. NaN where the face or
    its surroundings are too small or too bare to tell.
    """
    from scipy.ndimage import uniform_filter

    shown, start, scale = _window(rgb, np.asarray(box, dtype=np.float64))
    if min(shown.shape[:2]) <= 2 * _RIM_PX:
        return float("nan")
    reach = _reach(shown.shape, np.asarray(points, dtype=np.float64), start, scale)
    grey = shown.astype(np.float32) @ _GREY
    inside = _without_bars(grey)
    fine, coarse = _curvature(grey, 1), _curvature(uniform_filter(grey, _COARSE_PX), _COARSE_PX)
    face, around = inside & (reach < _FACE**2), inside & (reach > _SURROUNDINGS**2)
    return _fall(fine[face], coarse[face]) - _fall(fine[around], coarse[around])


def _fall(fine: NDArray[np.float32], coarse: NDArray[np.float32]) -> float:
    if len(fine) < LEAST_PX or coarse.mean() < LEAST_CURVATURE:
        return float("nan")
    return float(np.log(coarse.mean() + _FLOOR) - np.log(fine.mean() + _FLOOR))


def _window(rgb: NDArray[np.uint8], box: NDArray[np.float64]) -> tuple[NDArray[np.uint8], NDArray[np.float64], float]:
    """Return what of the picture lies around a box, where it starts, and how many of its pixels one is wide."""
    area = square(box, WINDOW)
    size = np.array([rgb.shape[1], rgb.shape[0]])
    start = np.clip(np.floor(area[:2]), 0, size - 1).astype(int)
    stop = np.clip(np.ceil(area[2:]), start + 1, size).astype(int)
    shown = rgb[start[1] : stop[1], start[0] : stop[0]]
    scale = max(1.0, float(area[2] - area[0]) / MAX_WINDOW_PX)
    if scale > 1:
        width, height = np.maximum(1, np.round((stop - start) / scale)).astype(int).tolist()
        shown = np.asarray(Image.fromarray(shown).resize((width, height), Image.Resampling.BILINEAR))
    return shown, start.astype(np.float64), scale


def _reach(
    shape: tuple[int, ...], points: NDArray[np.float64], start: NDArray[np.float64], scale: float
) -> NDArray[np.float32]:
    """Return how far each pixel lies from the middle of the head, squared, 1 on the ellipse around it: float (H, W)."""
    to_picture = similarity(points)
    to_ellipse = np.linalg.inv(to_picture[:, :2]) / np.array(_RADII)[:, None]
    middle = to_picture @ (*_MIDDLE, 1.0)
    columns, rows = (
        (np.arange(n) + 0.5) * scale + first - centre
        for n, first, centre in zip((shape[1], shape[0]), start, middle, strict=True)
    )
    x, y = ((a * columns).astype(np.float32)[None] + (b * rows).astype(np.float32)[:, None] for a, b in to_ellipse)
    reach: NDArray[np.float32] = x * x + y * y
    return reach


def _without_bars(grey: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which pixels count: not the rim, and not the bars around a picture that does not fill the frame."""
    rows, columns = (np.ptp(grey, axis=axis) >= _BAR for axis in (1, 0))
    for kept in (rows, columns):
        kept[:_RIM_PX] = kept[-_RIM_PX:] = False
    counted: NDArray[np.bool_] = rows[:, None] & columns[None]
    return counted


def _curvature(grey: NDArray[np.float32], step: int) -> NDArray[np.float32]:
    """Return the absolute Laplacian over ``step`` pixels, 0 within ``step`` of the rim."""
    inner = slice(step, -step)
    found = np.zeros_like(grey)
    around = grey[: -2 * step, inner] + grey[2 * step :, inner] + grey[inner, : -2 * step] + grey[inner, 2 * step :]
    found[inner, inner] = np.abs(4 * grey[inner, inner] - around)
    return found
