"""What of a picture is looked at: windows at fixed places and native resolution, and its middle square, scaled."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from forensix.models.inputs import at_least

RGB = NDArray[np.uint8]
SIDE_PX = 224
"""Side of a crop, as the backbone was pretrained."""
SQUARE_PX = 448
"""Side of the middle square; that of a smaller picture is not scaled."""
STEP_PX = 32
"""Squares that are not scaled are cut to a multiple of it: the deepest stage of the networks has no finer places."""


def positions(height: int, width: int, side_px: int, most: int) -> list[tuple[int, int]]:
    """Return at most ``most`` (top, left) corners on an even grid over the picture, whose cells are about square."""
    rows_most, columns_most = -(-height // side_px), -(-width // side_px)
    rows = max(1, min(rows_most, round((most * height / width) ** 0.5)))
    columns = max(1, min(columns_most, most // rows))
    rows = max(1, min(rows_most, most // columns))
    tops = np.linspace(0, height - side_px, rows) if rows > 1 else np.array([(height - side_px) / 2])
    lefts = np.linspace(0, width - side_px, columns) if columns > 1 else np.array([(width - side_px) / 2])
    return [(int(top), int(left)) for top in tops for left in lefts]


def windows(rgb: RGB, side_px: int, most: int) -> NDArray[np.uint8]:
    """Return windows (n, side, side, 3), 1 <= n <= ``most``, of a picture of any size."""
    rgb = at_least(rgb, side_px)
    corners = positions(rgb.shape[0], rgb.shape[1], side_px, most)
    return np.stack([rgb[top : top + side_px, left : left + side_px] for top, left in corners])


def middle_square(rgb: RGB) -> RGB:
    """Return the middle of a picture, (side, side, 3), scaled down to a side of `SQUARE_PX` where it is larger.

    A smaller one keeps its pixels: a square enlarged would be like no picture of that size.
    """
    side = min(rgb.shape[:2])
    square = middle(rgb, side, side)
    if side >= SQUARE_PX:
        return resized(square, SQUARE_PX, SQUARE_PX)
    if side < SIDE_PX:
        return np.asarray(windows(square, SIDE_PX, 1)[0])
    return middle(square, side // STEP_PX * STEP_PX, side // STEP_PX * STEP_PX)


def middle(rgb: RGB, height: int, width: int) -> RGB:
    """Return the middle of a picture, (height, width, 3)."""
    top, left = (rgb.shape[0] - height) // 2, (rgb.shape[1] - width) // 2
    return np.ascontiguousarray(rgb[top : top + height, left : left + width])


def resized(rgb: RGB, height: int, width: int) -> RGB:
    """Return the picture scaled to (height, width, 3)."""
    if rgb.shape[:2] == (height, width):
        return rgb
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BICUBIC, reducing_gap=2.0))
