"""How steady is the fine detail of a face from one frame to the next?

A camera draws a face anew in every frame: skin moves, noise comes and goes, and lips that move blur and sharpen. A face
that a program moves tends to keep the texture of the picture it started from, and what it draws is more even. Measured
is, of the mouth, the eyes and the whole face, how much of the detail finer than two pixels is another one frame and two
frames later, how unevenly sharp it is, and how much is moving: to tell steady detail from a still face.

It is proof of nothing: a recorded face is steady too where it keeps still or lies under a smoothing filter. Of a
picture of a face that is shown, as photographs are in films, it says nothing at all (`is_still`).
"""

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from forensix.faces.crop import resized

PARTS = ("mouth", "eyes", "face")
VALUES = ("change", "change over two frames", "unevenness", "motion")
"""Of each part, natural logarithms: of the share of fine detail that is another, of how much its sharpness varies, and
of grey levels that coarse ones move by."""
N_VALUES = len(PARTS) * len(VALUES)
N_FRAMES = 3
LEAST_MOMENTS = 3
"""Fewer than so many say nothing."""
MOST_MOMENTS = 64
"""Of a face, where a video does not say how long it is: more would take time and tell no more."""
MOST_FACE_PX = 290
"""Larger faces are scaled down to it."""
LEAST_PLACES = 40
"""Pixels of a part below which nothing is measured."""
SAME = 0.15
"""Mean difference of two frames, in grey levels, below which one is a repetition of the other."""

STILL = 0.09
"""Of the contrast: where mouth and eyes differ by less over the whole time, a picture is shown. Of 40 photographs that
were moved in a video, 57 to 131 pixels wide, 29 lie below, as does one of 396 pixels that was enlarged slowly; of the
189 development clips of recorded and made faces none does (`benchmarks/face_clips.py`)."""

_STILL_PARTS = (slice(32, 46), slice(16, 40)), (slice(18, 30), slice(12, 44))
_STILL_FACE = slice(14, 50), slice(10, 46)
"""Mouth, eyes and what is around them in a crop as `forensix.faces.align` cuts it, at a quarter of its size."""

_RIM_PX = 8
_COARSE = 4
_GREY = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_SMOOTH = np.array([1, 4, 6, 4, 1], dtype=np.float32) / 16
_FLOOR, _SHARPNESS_FLOOR, _UNEVENNESS_FLOOR = 0.02, 0.05, 0.003
_MOUTH, _EYES = (0.6, 0.4), (0.9, 0.35)
"""Half axes of their ellipses, over the distance of the eyes."""
_FACE = 0.95
"""The same, over half of the box."""


def steadiness(
    frames: Sequence[NDArray[np.uint8]], box: NDArray[np.floating], points: NDArray[np.floating]
) -> NDArray[np.float32]:
    """Return how steady a face is over three frames, (`N_VALUES`,): for each of `PARTS` all of `VALUES`.

    Parameters
    ----------
    frames
        Three frames that follow each other, uint8 (H, W, 3).
    box, points
        Where the face is in the first, float (4,) xyxy and (5, 2) xy, as `forensix.faces.detect` gives them.

    Returns
    -------
    NaN of parts that are too small; of all where a frame only repeats the one before.
    """
    values = np.full((len(PARTS), len(VALUES)), np.nan, np.float32)
    grey, box, points = _cut(frames, np.asarray(box, np.float64), np.asarray(points, np.float64))
    if min(grey.shape[1:]) < 3 * _COARSE or np.abs(np.diff(grey, axis=0)).mean((1, 2)).min() < SAME:
        return values.ravel()
    detail = grey - _smoothed(grey)
    coarse = _smoothed(_cells(grey))
    for part, (middle, axes) in enumerate(_ellipses(box, points)):
        inside = _inside(grey.shape[1:], middle, axes, 1)
        places = _inside(coarse.shape[1:], middle, axes, _COARSE)
        if inside.sum() >= LEAST_PLACES and places.any():
            values[part] = _values(_within(detail, inside), _within(coarse, places))
    return values.ravel()


def pooled(moments: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the mean of what `steadiness` gave at several moments (m, `N_VALUES`); NaN where too few were measured."""
    known = moments[np.isfinite(moments).all(axis=1)].astype(np.float64)
    return known.mean(axis=0) if len(known) >= LEAST_MOMENTS else np.full(N_VALUES, np.nan)


def is_still(crops: NDArray[np.uint8]) -> bool:
    """Tell whether a face is a picture that is shown: neither its mouth nor its eyes change, however the whole moves.

    Each crop is compared with the middle one, less what a shift, turn or stretch of the whole or other light explains.

    Parameters
    ----------
    crops
        uint8 (n, 224, 224, 3), as `forensix.faces.align` cuts them, over all the time that the face is seen.
    """
    if len(crops) < LEAST_MOMENTS:
        return False
    grey = _cells(crops.astype(np.float32) @ _GREY)
    middle, others = grey[len(grey) // 2], np.delete(grey, len(grey) // 2, axis=0)
    # What a face differs by that the crop places, turns, stretches or lights a little otherwise.
    down, across = np.gradient(middle)
    y, x = (np.mgrid[: middle.shape[0], : middle.shape[1]] / middle.shape[0] - 0.5).astype(np.float32)
    ways = (across, across * x, across * y, down, down * x, down * y, np.ones_like(middle), middle)
    basis = np.linalg.qr(np.stack([way[_STILL_FACE].ravel() for way in ways], axis=1))[0]
    apart = []
    for other in others:
        shifted = (np.roll(other, (up, left), (0, 1)) for up in (-1, 0, 1) for left in (-1, 0, 1))
        differences = ((one - middle)[_STILL_FACE].ravel() for one in shifted)
        rests = (difference - basis @ (basis.T @ difference) for difference in differences)
        least = np.zeros_like(middle)
        least[_STILL_FACE] = min(rests, key=lambda rest: float(np.abs(rest).mean())).reshape(least[_STILL_FACE].shape)
        apart.append([np.abs(least[part]).mean() / (middle[part].std() + 1) for part in _STILL_PARTS])
    return bool((np.median(apart, axis=0) < STILL).all())


def _values(detail: NDArray[np.float32], coarse: NDArray[np.float32]) -> tuple[float, ...]:
    """Return `VALUES` of fine detail (3, n) and coarse grey levels (3, m) of a part."""
    sharpness = np.array([_rms(one) for one in detail])
    whole = _rms(sharpness) + _FLOOR
    uneven = np.abs(np.diff(sharpness)).mean() / (sharpness.mean() + _SHARPNESS_FLOOR)
    shares = [(_rms(detail[lag:] - detail[:-lag]) + _FLOOR) / whole for lag in (1, 2)]
    moved = _rms(np.diff(coarse, axis=0)) + _FLOOR
    return tuple(np.log([*shares, uneven + _UNEVENNESS_FLOOR, moved]).tolist())


def _rms(x: NDArray[np.floating]) -> float:
    return float(np.sqrt(np.vdot(x, x) / x.size))


def _cut(
    frames: Sequence[NDArray[np.uint8]], box: NDArray[np.float64], points: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the grey face in each frame (3, h, w), and its box and points there."""
    height, width = frames[0].shape[:2]
    left, top = np.clip(np.floor(box[:2]) - _RIM_PX, 0, (width, height)).astype(int)
    right, bottom = np.clip(np.ceil(box[2:]) + _RIM_PX, 0, (width, height)).astype(int)
    parts = [np.ascontiguousarray(frame[top:bottom, left:right]) for frame in frames]
    scale = MOST_FACE_PX / max(float(np.max(box[2:] - box[:2])), 1.0)
    if scale < 1 and parts[0].size:
        size = max(1, round((right - left) * scale)), max(1, round((bottom - top) * scale))
        parts = [resized(part, size) for part in parts]
    scale = min(scale, 1.0)
    start = np.array([left, top], np.float64)
    grey = np.stack([part.astype(np.float32) @ _GREY for part in parts])
    return grey, (box - np.tile(start, 2)) * scale, (points - start) * scale


def _ellipses(
    box: NDArray[np.float64], points: NDArray[np.float64]
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return middle and half axes of each of `PARTS`, xy."""
    eyes, mouth = points[:2].mean(axis=0), points[3:5].mean(axis=0)
    apart = float(np.linalg.norm(points[1] - points[0])) + 1e-3
    middle, half = (box[:2] + box[2:]) / 2, (box[2:] - box[:2]) / 2
    return [(mouth, apart * np.array(_MOUTH)), (eyes, apart * np.array(_EYES)), (middle, _FACE * half)]


def _inside(
    shape: tuple[int, ...], middle: NDArray[np.float64], axes: NDArray[np.float64], step: int
) -> NDArray[np.bool_]:
    """Return which places of a grid, ``step`` pixels apart, lie in an ellipse, (h, w)."""
    x, y = ((np.arange(n) + 0.5) * step for n in (shape[1], shape[0]))
    across, down = ((x - middle[0]) / axes[0]) ** 2, ((y - middle[1]) / axes[1]) ** 2
    inside: NDArray[np.bool_] = down[:, None] + across[None] < 1
    return inside


def _within(x: NDArray[np.float32], places: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return what of pictures (n, h, w) lies in places (h, w): (n, m)."""
    # By far faster than indexing with a mask.
    return np.compress(places.ravel(), x.reshape(len(x), -1), axis=1)


def _smoothed(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return pictures (n, h, w) smoothed over five pixels; edges are repeated."""
    for axis in (1, 2):
        rim = [(0, 0)] * 3
        rim[axis] = (2, 2)
        wide = np.pad(x, rim, mode="edge")
        before, n = (slice(None),) * axis, x.shape[axis]
        x = sum(w * wide[(*before, slice(i, i + n))] for i, w in enumerate(_SMOOTH))
    return x


def _cells(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the means of cells of `_COARSE` pixels a side, (n, h // side, w // side)."""
    height, width = (side // _COARSE * _COARSE for side in x.shape[1:])
    rows = functools.reduce(np.add, (x[:, i:height:_COARSE, :width] for i in range(_COARSE)))
    return functools.reduce(np.add, (rows[..., i::_COARSE] for i in range(_COARSE))) / np.float32(_COARSE**2)
