"""Paths of a PDF's drawing: their parts as operators put them together, strokes as areas, and what parts overlap.

All is in points of the page, where a matrix has put it. Curves are broken into lines.

References
----------
ISO 32000-2:2020, 8.5 (path construction and painting).
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from forensix.metadata.pdf.geometry import Box, Matrix, Point, moved

CONSTRUCTION = ("re", "m", "l", "c", "v", "y", "h")
"""Operators that put a path together."""

CURVE = 8
"""Lines that stand for a curve."""

_WEIGHTS = [
    ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3) for t in (i / CURVE for i in range(1, CURVE + 1))
]
"""Of the start, the two control points and the end, for each point of a curve."""

Part = list[Point]


class Path:
    """A path that is being put together."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def take(self, operator: str, values: list[Any], matrix: Matrix) -> None:
        """Take one of `CONSTRUCTION`; what has too few numbers, or nothing to go on from, adds nothing."""
        numbers = [float(v) for v in values]
        if operator == "re" and len(numbers) == 4:
            x, y, w, h = numbers
            self.parts.append([moved(matrix, *c) for c in ((x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y))])
            return
        points = [moved(matrix, x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=False)]
        if operator == "m" and len(points) == 1:
            self.parts.append(points)
        elif not self.parts:
            return
        elif operator == "l" and len(points) == 1:
            self.parts[-1] += points
        elif operator in ("c", "v", "y"):
            self.parts[-1] += _curve(self.parts[-1][-1], operator, points)
        elif operator == "h":
            self.close()
            self.parts.append([self.parts[-1][0]])

    def close(self) -> None:
        """Lead the last part back to where it began."""
        if self.parts and self.parts[-1][-1] != self.parts[-1][0]:
            self.parts[-1].append(self.parts[-1][0])

    def areas(self) -> list[Part]:
        """Return the parts that can be filled."""
        return [part for part in self.parts if len(part) > 2]


def lines(part: Part, broad: float, *, jut: float = 0.0) -> list[Part]:
    """Return the corners of each line of a stroked part, ``broad`` wide, which juts out at both of its ends."""
    return [_line(*ends, broad / 2, jut) for ends in pairwise(part)]


def box_of(*parts: Part) -> Box:
    """Return the upright box around parts, of which one has a point."""
    xs, ys = zip(*(point for part in parts for point in part), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def is_upright(part: Sequence[Point]) -> bool:
    """Say whether a part is a rectangle along the edges of the page."""
    corners = [(round(x, 2), round(y, 2)) for x, y in part]
    corners = corners[:-1] if corners[-1] == corners[0] else corners
    if len(corners) != 4 or len(set(corners)) != 4:
        return False
    return all((a[0] == b[0]) != (a[1] == b[1]) for a, b in pairwise([*corners, corners[0]]))


def groups(parts: list[Part]) -> list[list[Part]]:
    """Return parts in groups, so that no part of one shares a point with one of another: each can be filled alone."""
    found: list[tuple[Box, list[Part]]] = []
    for part in parts:
        box, joined = box_of(part), [part]
        for other in [group for group in found if _share(group[0], box)]:
            found.remove(other)
            joined = other[1] + joined
            box = min(box[0], other[0][0]), min(box[1], other[0][1]), max(box[2], other[0][2]), max(box[3], other[0][3])
        found.append((box, joined))
    return [joined for _, joined in found]


def _share(first: Box, second: Box) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]


def _curve(start: Point, operator: str, ends: list[Point]) -> Part:
    """Return points of a curve behind its start."""
    if len(ends) != (3 if operator == "c" else 2):
        return []
    (ax, ay), (bx, by), (cx, cy) = (
        ends if operator == "c" else (start, *ends) if operator == "v" else (ends[0], ends[1], ends[1])
    )
    x, y = start
    return [(p * x + q * ax + r * bx + s * cx, p * y + q * ay + r * by + s * cy) for p, q, r, s in _WEIGHTS]


def _line(start: Point, end: Point, h: float, jut: float) -> Part:
    """Return the four corners of a line, always turning left."""
    (xa, ya), (xb, yb) = start, end
    length = math.hypot(xb - xa, yb - ya)
    dx, dy = ((xb - xa) / length, (yb - ya) / length) if length else (1.0, 0.0)
    xa, ya, xb, yb = xa - dx * jut, ya - dy * jut, xb + dx * jut, yb + dy * jut
    return [
        (xa + dy * h, ya - dx * h),
        (xb + dy * h, yb - dx * h),
        (xb - dy * h, yb + dx * h),
        (xa - dy * h, ya + dx * h),
    ]
