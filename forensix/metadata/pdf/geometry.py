"""Matrices of a PDF's drawing, and the boxes of what they place: rectangles, what is nearly one, broad strokes.

References
----------
ISO 32000-2:2020, 8.3 (coordinate systems).
"""

import math
from itertools import pairwise
from typing import Any

Box = tuple[float, float, float, float]
"""Lower left and upper right, in points."""
Point = tuple[float, float]
Matrix = tuple[float, float, float, float, float, float]
UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
EVERYWHERE: Box = (-math.inf, -math.inf, math.inf, math.inf)
BROAD_PT = 4.0
"""From which width on a straight stroke can cover a line of text."""
MOST_CORNERS, NEARLY_FULL = 24, 0.9
"""Corners of a path that is nearly a rectangle, and the share of its box that it fills."""
MOST_HOLES = 0.5
"""Share of a box that holes may take if it is to count as a cover."""


def as_matrix(values: list[Any]) -> Matrix:
    """Return the matrix of an operator's or an array's six numbers."""
    a, b, c, d, e, f = (float(v) for v in values)
    return a, b, c, d, e, f


def product(m: Matrix, n: Matrix) -> Matrix:
    """Return the matrix that applies ``m`` first and then ``n``."""
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )


def moved(m: Matrix, x: float, y: float) -> tuple[float, float]:
    """Return where a matrix takes a point."""
    return m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]


def placed(m: Matrix, x0: float, y0: float, x1: float, y1: float) -> Box:
    """Return the upright box around a rectangle that a matrix moves."""
    corners = [moved(m, x, y) for x in (x0, x1) for y in (y0, y1)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def rectangles(points: list[Point], matrix: Matrix) -> list[Box]:
    """Return the box of a path of four or five corners, if it is a rectangle along the axes of its own space."""
    if len(points) not in (4, 5) or (len(points) == 5 and points[4] != points[0]):
        return []
    xs, ys = {x for x, _ in points}, {y for _, y in points}
    if len(xs) != 2 or len(ys) != 2 or len(set(points)) != 4:
        return []
    return [placed(matrix, min(xs), min(ys), max(xs), max(ys))]


def nearly(corners: list[Point], matrix: Matrix) -> list[Box]:
    """Return the box around a path of one part that nearly fills it: rounded corners and slanted sides leave little."""
    if not 4 <= len(corners) <= MOST_CORNERS:
        return []
    at = [moved(matrix, x, y) for x, y in corners]
    box = min(x for x, _ in at), min(y for _, y in at), max(x for x, _ in at), max(y for _, y in at)
    full = (box[2] - box[0]) * (box[3] - box[1])
    if min(box[2] - box[0], box[3] - box[1]) < BROAD_PT:
        return []
    return [box] if abs(_twice(at)) / 2 >= NEARLY_FULL * full else []


def _twice(corners: list[Point]) -> float:
    """Return twice the area within corners, below 0 where they turn right."""
    return sum(x0 * y1 - x1 * y0 for (x0, y0), (x1, y1) in pairwise([*corners, corners[0]]))


def strokes(points: list[Point], width: float, matrix: Matrix) -> list[Box]:
    """Return the box of a broad straight stroke."""
    if len(points) != 2 or width * math.sqrt(abs(matrix[0] * matrix[3] - matrix[1] * matrix[2])) < BROAD_PT:
        return []
    (x0, y0), (x1, y1) = points
    if (x0 == x1) == (y0 == y1):
        return []
    across_x, across_y = (width / 2, 0.0) if x0 == x1 else (0.0, width / 2)
    return [
        placed(matrix, min(x0, x1) - across_x, min(y0, y1) - across_y, max(x0, x1) + across_x, max(y0, y1) + across_y)
    ]


def parts_of(points: list[Point], starts: list[int], matrix: Matrix) -> list[tuple[Box, int]]:
    """Return the boxes of a path, each with the sense in which it turns (1 or -1).

    ``starts`` are the numbers of the points with which parts begin. A path with a part that is no rectangle gives none.
    """
    found = []
    for first, last in pairwise([*starts, len(points)]):
        part = points[first:last]
        if len(part) < 2:
            continue
        boxes = rectangles(part, matrix) or nearly(part, matrix)
        if not boxes:
            return []
        found.append((boxes[0], 1 if _twice(part) > 0 else -1))
    return found


def covering(parts: list[tuple[Box, int]], *, even_odd: bool) -> list[Box]:
    """Return which boxes of one path cover what lies in them, where a box inside another may leave a hole in it.

    By the one rule each box in another box leaves one, by the other what turns against all around it. Of two of the
    same place the later is the inner one. What is mostly holes is a frame and covers nothing.
    """
    outside = [
        [j for j, (outer, _) in enumerate(parts) if j != i and common(outer, box) == box and (outer != box or j < i)]
        for i, (box, _) in enumerate(parts)
    ]
    is_hole = [
        len(outer) % 2 == 1 if even_odd else turn + sum(parts[j][1] for j in outer) == 0
        for (_, turn), outer in zip(parts, outside, strict=True)
    ]
    holes = [0.0] * len(parts)
    for (box, _), outer, is_one in zip(parts, outside, is_hole, strict=True):
        if outer and is_one:
            holes[max(outer, key=lambda j: len(outside[j]))] += area_of(box)
    return [
        box
        for (box, _), is_one, hole in zip(parts, is_hole, holes, strict=True)
        if not is_one and hole <= MOST_HOLES * area_of(box)
    ]


def around(points: list[Point], boxes: list[Box], matrix: Matrix) -> Box | None:
    """Return the upright box around a path: corners that a matrix still moves, and boxes that it has moved."""
    corners = [moved(matrix, x, y) for x, y in points]
    corners += [corner for box in boxes for corner in (box[:2], box[2:])]
    if not corners:
        return None
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def common(first: Box, second: Box) -> Box:
    """Return the box that two boxes share; it ends before it begins where they share none."""
    return max(first[0], second[0]), max(first[1], second[1]), min(first[2], second[2]), min(first[3], second[3])


def area_of(box: Box) -> float:
    """Return the area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def is_finite(box: Box) -> bool:
    """Say whether all corners of a box are numbers that can be reckoned with."""
    return all(math.isfinite(v) for v in box)
