"""How much less fine detail does a face hold than the picture around it? A measure of one frame that needs no training.

A camera and one encoder treat a face and what surrounds it alike. A face that a program drew at its own resolution and
put into the frame often lacks the finest detail of its surroundings. Detail is the mean curvature of the grey values
(the absolute Laplacian) over one pixel against that over four: how steeply it falls off, not how much there is, so
exposure and much of what a codec does to a whole frame cancel out.

Assumes frames at the video's own resolution. It is proof of nothing: a beauty filter, make-up, soft light, focus behind
the face and a sharp overlay beside it raise it in recorded faces, and a background out of focus lowers it in any.
A swap that sharpens what it puts in lowers it too.
"""

import math

import numpy as np
from numpy.typing import NDArray

from forensix.faces.align import similarity
from forensix.faces.crop import resized, square

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
"""What the mean of four pixels and the curvature over four see beyond a pixel."""

_INNER = (slice(_RIM_PX, -_RIM_PX), slice(_RIM_PX, -_RIM_PX))
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
    crop, start, scale = _window(rgb, np.asarray(box, dtype=np.float64))
    if min(crop.shape[:2]) <= 2 * _RIM_PX:
        return float("nan")
    reach = _reach(crop.shape, np.asarray(points, dtype=np.float64), start, scale)[_INNER]
    grey = crop.astype(np.float32) @ _GREY
    inside = _without_bars(grey)
    fine = _curvature(grey, 1, _RIM_PX, inside.shape)
    coarse = _curvature(_mean_of_four(grey), _COARSE_PX, _COARSE_PX, inside.shape)
    face, around = inside & (reach < _FACE**2), inside & (reach > _SURROUNDINGS**2)
    return _fall(fine, coarse, face) - _fall(fine, coarse, around)


def _fall(fine: NDArray[np.float32], coarse: NDArray[np.float32], part: NDArray[np.bool_]) -> float:
    n, weights = int(part.sum()), part.ravel().astype(np.float32)
    if n < LEAST_PX:
        return float("nan")
    sharp, soft = (float(weights @ curvature.ravel()) / n for curvature in (fine, coarse))
    return math.log(soft + _FLOOR) - math.log(sharp + _FLOOR) if soft >= LEAST_CURVATURE else float("nan")


def _window(rgb: NDArray[np.uint8], box: NDArray[np.float64]) -> tuple[NDArray[np.uint8], NDArray[np.float64], float]:
    """Return what of the picture lies around a box, where it starts, and how many of its pixels one is wide."""
    area = square(box, WINDOW)
    size = np.array([rgb.shape[1], rgb.shape[0]])
    start = np.clip(np.floor(area[:2]), 0, size - 1).astype(int)
    stop = np.clip(np.ceil(area[2:]), start + 1, size).astype(int)
    crop = rgb[start[1] : stop[1], start[0] : stop[0]]
    scale = max(1.0, float(area[2] - area[0]) / MAX_WINDOW_PX)
    if scale > 1:
        width, height = np.maximum(1, np.round((stop - start) / scale)).astype(int).tolist()
        crop = resized(crop, (width, height))
    return crop, start.astype(np.float64), scale


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
    """Return which pixels within the rim are not of the bars around a picture that does not fill the frame."""
    rows, columns = (np.ptp(grey, axis=axis) >= _BAR for axis in (1, 0))
    counted: NDArray[np.bool_] = rows[_INNER[0], None] & columns[None, _INNER[1]]
    return counted


def _mean_of_four(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mean over squares of four pixels, three rows and columns fewer."""
    for _ in range(2):
        pairs = grey[:-1] + grey[1:]
        grey = (pairs[:-2] + pairs[2:]).T
    return grey / np.float32(_COARSE_PX**2)


def _curvature(grey: NDArray[np.float32], step: int, first: int, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return the absolute Laplacian over ``step`` pixels of a part of a shape, from row and column ``first`` on."""

    def part(down: int, right: int) -> NDArray[np.float32]:
        return grey[first + down :, first + right :][: shape[0], : shape[1]]

    around = part(-step, 0) + part(step, 0) + part(0, -step) + part(0, step)
    return np.abs(4 * part(0, 0) - around)
