"""Upright crops of faces from five points: the one geometry that the classifier is trained on, scores and draws on.

A crop is ``ALIGNED_PX`` (224) pixels square. The five points (the two eyes, the tip of the nose, the two corners of the
mouth; left is what the viewer sees on the left) are brought onto ``TEMPLATE`` by the similarity transform (one scale,
one rotation, one shift, no reflection) of least squared distance. The eyes come to lie 48 pixels apart and 96 pixels
from the top, so that the face from forehead to chin takes 0.61 of the side, the jaw, the hairline and some of the
surroundings are in it, and the face is upright. What lies outside the picture repeats its edge.

A face larger than the template is first scaled down with a bicubic filter as wide as a target pixel, so that nothing
aliases, and then turned with bicubic interpolation; a smaller one is only turned and enlarged. Faces seen from the side
come out closer than faces seen from the front, because their points lie closer together.

References
----------
Umeyama, Least-squares estimation of transformation parameters between two point patterns, 1991.
"""

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from forensix.errors import UsageError
from forensix.faces.crop import resized

ALIGNED_PX = 224

TEMPLATE: NDArray[np.float64] = np.array([[88, 96], [136, 96], [112, 124], [91, 145], [133, 145]], dtype=np.float64)
"""Where the five points come to lie, float (5, 2) xy in pixels of the crop; pixel (0, 0) covers [0, 1] x [0, 1]. Its
proportions are the median of frontal faces among the corpora's training photographs."""

MOST_SIDES = 16
"""Largest crop cut, in sides of the picture; no face that is seen comes near it."""

_MIDDLE = ALIGNED_PX / 2
_LEAST_SCALE = 1e-3
_BORDER_PX = 3
"""What bicubic interpolation sees beyond the crop."""


def similarity(points: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the transform from pixels of the aligned crop to pixels of the picture: float (2, 3), ``A @ (x, y, 1)``.

    Parameters
    ----------
    points
        float (5, 2) xy in pixels of the picture, in the order of `forensix.faces.detect.LANDMARKS`.

    Raises
    ------
    UsageError
        If these are not five finite points.

    Examples
    --------
    >>> (similarity(2 * TEMPLATE + 10).round(6) + 0.0).tolist()
    [[2.0, 0.0, 10.0], [0.0, 2.0, 10.0]]
    """
    points = np.asarray(points, dtype=np.float64)
    if points.shape != TEMPLATE.shape or not np.isfinite(points).all():
        raise UsageError(f"a face must have five finite points, float (5, 2), got {points.tolist()}")
    # In the complex plane a similarity is one multiplication and one addition.
    source, target = (values[:, 0] + 1j * values[:, 1] for values in (TEMPLATE, points))
    spread = source - source.mean()
    turn = complex((target * spread.conj()).sum() / (abs(spread) ** 2).sum())
    if abs(turn) < _LEAST_SCALE:
        turn = complex(_LEAST_SCALE)
    shift = complex(target.mean() - turn * source.mean())
    return np.array([[turn.real, -turn.imag, shift.real], [turn.imag, turn.real, shift.imag]])


def fits(shape: tuple[int, ...], points: NDArray[np.floating]) -> bool:
    """Tell whether a face can be cut from a picture of a shape (H, W, ...).

    The middle of its points must lie in the picture, and its crop be at most ``MOST_SIDES`` times as large.
    """
    size = np.array([shape[1], shape[0]])
    scale = _scale(similarity(points))
    middle = np.mean(points, axis=0)
    return bool((middle >= 0).all() and (middle <= size).all() and ALIGNED_PX * scale <= MOST_SIDES * size.max())


def aligned(rgb: NDArray[np.uint8], points: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Cut one face upright.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3).
    points
        float (5, 2) xy in pixels of ``rgb``: eyes, nose, corners of the mouth, as `forensix.faces.detect` gives them.

    Returns
    -------
    uint8 (224, 224, 3) RGB; the module says how the face lies in it.

    Raises
    ------
    UsageError
        If the points are not five finite ones, or do not fit the picture (`fits`).
    """
    if not fits(rgb.shape, points):
        raise UsageError(f"the points {np.asarray(points).round().tolist()} are no face in a picture of {rgb.shape}")
    to_picture = similarity(points)
    size = np.array([rgb.shape[1], rgb.shape[0]])
    middle = to_picture @ (_MIDDLE, _MIDDLE, 1)
    scale = _scale(to_picture)
    reach = (abs(to_picture[:, 0]) + abs(to_picture[:, 1])) * _MIDDLE + _BORDER_PX * max(scale, 1)
    low, high = middle - reach, middle + reach
    start = np.clip(np.floor(low), 0, size - 1).astype(int)
    stop = np.clip(np.ceil(high), start + 1, size).astype(int)
    inner = rgb[start[1] : stop[1], start[0] : stop[0]]
    if scale > 1:
        width, height = np.maximum(1, np.round((stop - start) / scale)).astype(int).tolist()
        inner = resized(inner, (width, height), filter="bicubic")
    ratio = (stop - start) / np.array(inner.shape[1::-1])
    before = np.ceil(np.maximum(start - low, 0) / ratio).astype(int)
    after = np.ceil(np.maximum(high - stop, 0) / ratio).astype(int)
    filled = np.pad(inner, ((before[1], after[1]), (before[0], after[0]), (0, 0)), mode="edge")
    matrix = to_picture.copy()
    matrix[:, 2] -= start
    matrix /= ratio[:, None]
    matrix[:, 2] += before
    return np.asarray(
        Image.fromarray(filled).transform(
            (ALIGNED_PX, ALIGNED_PX), Image.Transform.AFFINE, tuple(matrix.ravel()), Image.Resampling.BICUBIC
        )
    )


def _scale(to_picture: NDArray[np.float64]) -> float:
    """Pixels of the picture that one pixel of the crop is wide."""
    return math.hypot(to_picture[0, 0], to_picture[1, 0])
