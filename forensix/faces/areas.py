"""Pictures and parts of them at other sizes, every pixel a mean over an area, from one table of sums.

Exact for pictures of 8 bits, and the same work for every size.

References
----------
Crow, Summed-area tables for texture mapping, 1984.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Inside:
    """Whole pixels of boxes within a picture: ``start`` and ``stop`` (n, 2) xy; ``ok`` says which boxes have any."""

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    ok: NDArray[np.bool_]


class Sums:
    """Sums over all rectangles of a picture that have a corner at its origin."""

    def __init__(self, rgb: NDArray[np.uint8]) -> None:
        self.height, self.width = rgb.shape[:2]
        # Differences are right even where the sums of a large picture wrap round.
        self._sums = np.zeros((self.height + 1, self.width + 1, 3), np.int32)
        self._sums[1:, 1:] = rgb
        for axis in (0, 1):
            np.cumsum(self._sums, axis=axis, out=self._sums)

    def shrunk(self, height: int, width: int) -> NDArray[np.float32]:
        """Return the picture at another size, float32 (height, width, 3): means over areas that cover it."""
        whole = Inside(np.zeros((1, 2), int), np.array([[self.width, self.height]]), np.ones(1, bool))
        picture: NDArray[np.float32] = self._means(whole, height, width)[0]
        return picture

    def cut(self, inside: Inside, side: int) -> NDArray[np.float32]:
        """Return what lies within boxes as squares, float32 (n, side, side, 3)."""
        return self._means(inside, side, side)

    def within(self, boxes: NDArray[np.float32]) -> Inside:
        """Return the pixels of boxes whose coordinates count from 1."""
        whole = np.trunc(boxes).astype(int)
        start = np.maximum(whole[:, :2], 1) - 1
        stop = np.minimum(whole[:, 2:], (self.width, self.height))
        ok = (stop > start).all(axis=1)
        return Inside(start[ok], stop[ok], ok)

    def _means(self, inside: Inside, height: int, width: int) -> NDArray[np.float32]:
        (left, right), (top, bottom) = (
            _edges(inside.start[:, axis], inside.stop[:, axis], n) for axis, n in ((0, width), (1, height))
        )
        total = np.empty((len(bottom), height, width, 3), np.int32)
        for one, up, down, start, stop in zip(total, top, bottom, left, right, strict=True):
            low, high = start[0], stop[-1] + 1
            rows = self._sums[down, low:high] - self._sums[up, low:high]
            np.subtract(rows[:, stop - low], rows[:, start - low], out=one)
        tall, wide = (bottom - top).astype(np.float32), (right - left).astype(np.float32)
        return np.asarray(total.astype(np.float32) / tall[:, :, None, None] / wide[:, None, :, None])


def _edges(start: NDArray[np.int64], stop: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each of ``n`` equal parts of each span begins and ends, in whole pixels that may overlap."""
    at, span = np.arange(n)[None], (stop - start)[:, None]
    return start[:, None] + at * span // n, start[:, None] - (-(at + 1) * span // n)
