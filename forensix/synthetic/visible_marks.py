"""Marks that generators' own pages draw into the corner of a picture, where anybody can see them.

Two are read, both at the lower right. OpenAI's page for DALL-E 2 drew five squares of fixed colours, each a 64th of
the picture's side. Google's Gemini draws a translucent white star with four points, at most an eighth of the side
wide, whose middle is as far from the right edge as from the lower one. Both scale with the picture, so it may have
been made smaller or larger; one whose right or lower edge was cut off has lost its mark.

The squares are compared with their colours; the star is looked for at every size by its correlation with the brightness
of the corner, without the corner's own slope. A missing mark says nothing, and anybody can draw one.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import Image

SQUARES = ((255, 255, 102), (66, 255, 255), (81, 218, 76), (255, 110, 60), (60, 70, 255))
"""Colours of DALL-E 2's squares from left to right, RGB."""

SQUARE_SHARE = 1 / 64
"""Side of one over the picture's."""

LEAST_SQUARE_PX = 3.0
MOST_OFF = 48.0
"""Largest difference of a square's mean from its colour, in any channel."""

LEAST_LIKENESS = 0.78
"""Correlation with the star from which on it is one; by ``benchmarks/generated_visible.py``."""

LEAST_RISE = 3.0
"""Grey levels by which the star must be brighter than what is around it."""

SHARPNESS = (0.55, 0.65, 0.75)
"""The star is where ``abs(x) ** p + abs(y) ** p <= 1``: it was seen with points of these p."""

ROUND = (1.0, 2.0)
"""The same for a square on its corner and a disc: what is more like these than like a star is a spot of light."""

STAR_PX = 14
"""From the star's middle to a point, at the size at which it is looked for."""

LEAST_STAR_PX, MOST_STAR_SHARE = 6.0, 0.06
"""The same in pixels of the picture, and as a share of its shorter side."""

_STEP = 1.08
_NEAREST, _FARTHEST = 1.8, 2.6
"""The star's middle from both edges, in distances from its middle to a point."""

_MOST_ASKEW_PX = 3
"""By how much its distances from the two edges may differ, at the size at which it is looked for."""

_RIM_PX = 4
_WINDOW_PX = 2 * (STAR_PX + _RIM_PX) + 1
_FINER = 8


@dataclass(frozen=True)
class VisibleMark:
    """A mark that was read: whose it is, what it shows, where (xyxy in pixels), and how like it is, up to 1."""

    generator: str
    what: str
    box: tuple[int, int, int, int]
    likeness: float


def visible_mark(rgb: NDArray[np.uint8]) -> VisibleMark | None:
    """Return the mark in the lower right corner of a picture, uint8 (H, W, 3), or none."""
    return coloured_squares(rgb) or star(rgb)


def coloured_squares(rgb: NDArray[np.uint8]) -> VisibleMark | None:
    """Return DALL-E 2's five squares, or none; see `visible_mark`."""
    height, width = rgb.shape[:2]
    for side in {width * SQUARE_SHARE, height * SQUARE_SHARE}:
        if side < LEAST_SQUARE_PX or side > height or len(SQUARES) * side > width:
            continue
        lefts = width - side * np.arange(len(SQUARES), 0, -1)
        top, bottom = round(height - 0.75 * side), max(round(height - 0.25 * side), round(height - 0.75 * side) + 1)
        means = [
            rgb[top:bottom, round(left + 0.25 * side) : max(round(left + 0.75 * side), round(left + 0.25 * side) + 1)]
            .reshape(-1, 3)
            .mean(axis=0)
            for left in lefts
        ]
        off = float(np.abs(np.array(means) - SQUARES).max())
        if off <= MOST_OFF:
            box = (round(lefts[0]), round(height - side), width, height)
            return VisibleMark("dall-e-2", "five coloured squares", box, 1 - off / 255)
    return None


def star(rgb: NDArray[np.uint8]) -> VisibleMark | None:
    """Return Gemini's star, or none; see `visible_mark`."""
    best = likeliest_star(rgb)
    return best if best is not None and best.likeness >= LEAST_LIKENESS else None


def likeliest_star(rgb: NDArray[np.uint8]) -> VisibleMark | None:
    """Return the place most like a star, however little; none where a spot of light is more like what is there."""
    places = [*_places(rgb)]
    best = max(places, key=lambda place: place.star, default=None)
    if best is None or any(place.spot > best.star and place.is_near(best) for place in places):
        return None
    box = tuple(round(middle + sign * best.point_px) for sign in (-1, 1) for middle in (best.x, best.y))
    return VisibleMark("gemini", "a translucent star with four points", (box[0], box[1], box[2], box[3]), best.star)


@dataclass(frozen=True)
class _Place:
    """What is most like a star, or like a spot, at one size: its middle in pixels, and both likenesses."""

    x: float
    y: float
    point_px: float
    star: float
    spot: float

    def is_near(self, other: "_Place") -> bool:
        return max(abs(self.x - other.x), abs(self.y - other.y)) <= other.point_px / 2


def _places(rgb: NDArray[np.uint8]) -> Iterator[_Place]:
    """Yield two places for each size: the most like a star, and the most like a spot."""
    height, width = rgb.shape[:2]
    most = MOST_STAR_SHARE * min(height, width)
    corner = math.ceil((_FARTHEST + (1 + _RIM_PX / STAR_PX)) * most) + 2
    left, top = max(0, width - corner), max(0, height - corner)
    grey = Image.fromarray(rgb[top:, left:]).convert("L").convert("F")
    (stars, heights), (spots, _), slopes = _shapes(SHARPNESS), _shapes(ROUND), _slopes()
    for step in range(max(0, 1 + math.floor(math.log(max(most, 1) / LEAST_STAR_PX, _STEP)))):
        point = LEAST_STAR_PX * _STEP**step
        scale = STAR_PX / point
        reach = _WINDOW_PX / 2 / scale
        first, last = _FARTHEST * point + reach, max(0.0, _NEAREST * point - reach)
        n = round((first - last) * scale)
        if first > min(grey.size) or n < _WINDOW_PX:
            continue
        area = (grey.width - first, grey.height - first, grey.width - last, grey.height - last)
        view = np.asarray(grey.resize((n, n), Image.Resampling.BILINEAR, box=area), dtype=np.float64)
        windows = sliding_window_view(view - view.mean(), (_WINDOW_PX, _WINDOW_PX))
        at = np.arange(len(windows))
        is_diagonal = np.abs(at[:, None] - at).ravel() <= _MOST_ASKEW_PX
        rows = windows.reshape(-1, _WINDOW_PX**2)[is_diagonal]
        spread = np.sqrt(np.maximum((rows**2).sum(axis=1) - ((rows @ slopes) ** 2).sum(axis=1), 1.0))
        rise = rows @ stars
        like_star = np.where(rise >= LEAST_RISE * heights, rise / spread[:, None], 0.0).max(axis=1)
        like_spot = (rows @ spots).max(axis=1) / spread
        for best in {int(like_star.argmax()), int(like_spot.argmax())}:
            down, across = divmod(int(np.flatnonzero(is_diagonal)[best]), len(windows))
            x, y = (
                start + (place + _WINDOW_PX / 2) / scale
                for start, place in ((left + area[0], across), (top + area[1], down))
            )
            yield _Place(x, y, point, float(like_star[best]), float(like_spot[best]))


@cache
def _shapes(powers: tuple[float, ...]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shapes of some p as columns of length 1 without their own slopes, (pixels, n), and how long they were."""
    at = np.abs((np.arange(_WINDOW_PX * _FINER) + 0.5) / _FINER - _WINDOW_PX / 2) / STAR_PX
    drawn = np.stack([at[:, None] ** p + at**p <= 1 for p in powers])
    cells = drawn.reshape(len(powers), _WINDOW_PX, _FINER, _WINDOW_PX, _FINER).mean(axis=(2, 4))
    rows = cells.reshape(len(powers), -1)
    rows -= (rows @ _slopes()) @ _slopes().T
    lengths = np.linalg.norm(rows, axis=1)
    return (rows / lengths[:, None]).T, lengths


@cache
def _slopes() -> NDArray[np.float64]:
    """Return an orthonormal basis of even and sloping brightness: (pixels, 3)."""
    y, x = np.mgrid[:_WINDOW_PX, :_WINDOW_PX] - _WINDOW_PX // 2
    basis, _ = np.linalg.qr(np.stack([np.ones(x.size), x.ravel(), y.ravel()], axis=1))
    return np.asarray(basis)
