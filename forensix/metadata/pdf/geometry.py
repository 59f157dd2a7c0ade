"""Points, boxes and matrices of a PDF's drawing.

References
----------
ISO 32000-2:2020, 8.3 (coordinate systems).
"""

import math
from typing import Any

Box = tuple[float, float, float, float]
"""Lower left and upper right, in points."""
Point = tuple[float, float]
Matrix = tuple[float, float, float, float, float, float]
UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
EVERYWHERE: Box = (-math.inf, -math.inf, math.inf, math.inf)
BROAD_PT = 4.0
"""Extent in both directions from which on what is painted can cover a line of text."""


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


def common(first: Box, second: Box) -> Box:
    """Return the box that two boxes share; it ends before it begins where they share none."""
    return max(first[0], second[0]), max(first[1], second[1]), min(first[2], second[2]), min(first[3], second[3])


def area_of(box: Box) -> float:
    """Return the area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def is_finite(box: Box) -> bool:
    """Say whether all corners of a box are numbers that can be reckoned with."""
    return all(math.isfinite(v) for v in box)
