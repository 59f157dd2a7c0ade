"""What of a picture is looked at: windows at fixed places and native resolution, and the whole picture scaled."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

RGB = NDArray[np.uint8]
SIDE_PX = 224
"""Side of a crop, as the backbone was pretrained."""
WHOLE_SIDE_PX = 256
"""Short side of the scaled picture."""
WHOLE_LONG_PX = 448


def at_least(rgb: RGB, side_px: int) -> RGB:
    """Return the picture with both sides at least ``side_px``, continued by mirroring where it is smaller."""
    height, width = rgb.shape[:2]
    while height < side_px or width < side_px:
        # A mirror image cannot be longer than the picture itself, so tiny ones are continued in several turns.
        down, right = min(max(0, side_px - height), height), min(max(0, side_px - width), width)
        rgb = np.pad(rgb, ((0, down), (0, right), (0, 0)), mode="symmetric")
        height, width = rgb.shape[:2]
    return rgb


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


def whole_picture(rgb: RGB) -> RGB:
    """Return the picture scaled to a short side of `WHOLE_SIDE_PX`; the middle of one that is long and narrow."""
    height, width = rgb.shape[:2]
    short = min(height, width)
    longest = max(1, short * WHOLE_LONG_PX // WHOLE_SIDE_PX)
    h, w = min(height, longest), min(width, longest)
    top, left = (height - h) // 2, (width - w) // 2
    middle = Image.fromarray(np.ascontiguousarray(rgb[top : top + h, left : left + w]))
    size = (max(1, round(w * WHOLE_SIDE_PX / short)), max(1, round(h * WHOLE_SIDE_PX / short)))
    return np.asarray(middle.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0))
