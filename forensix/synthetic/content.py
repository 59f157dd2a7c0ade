"""Is there anything photographic to look at? Drawings, screens and pages of text are mostly even areas.

A detector learns from photographs and from pictures that look like them; where most of a picture holds one even colour,
there is neither a sensor's noise nor a generator's texture to judge. Nor is there where colours were reduced to a few,
as GIF and other palettes do it: fine detail is lost, and the dots that stand for the colours between look like no
camera's. What is said of such a picture decides nothing.
"""

import numpy as np
from numpy.typing import NDArray

BLOCK_PX = 8
EVEN_LEVELS = 2
"""A block is even where no channel spans more levels of 255 than a JPEG of good quality leaves in a plain area."""
MAX_EVEN = 0.6
"""Above this share of even blocks a picture counts as drawn or empty."""
FEW_COLOURS, FEW_GREYS = 256, 128
"""Up to so many colours a picture has few; a grey one has never more than 256, and photographs nearly as many."""
COUNTED_PX = 1 << 18
"""Pixels that are counted at once."""
TINY_PX, SMALL_PX = 160, 448
"""Shorter sides below which no score decides, and below which none calls a picture generated: what is scaled down for
the web looks smooth and sharp as what is generated does, see ``benchmarks/results/generated_cameras.md``."""


def even_share(rgb: NDArray[np.uint8]) -> float:
    """Return the share of blocks of 8 px that hold one even colour, [0, 1]; 0 where no block fits.

    >>> even_share(np.zeros((64, 64, 3), np.uint8))
    1.0
    """
    height, width = (side // BLOCK_PX * BLOCK_PX for side in rgb.shape[:2])
    if not height or not width:
        return 0.0
    # Down first, along whole rows: what is held beside the picture is an eighth of it.
    rows = rgb[:height, :width].reshape(height // BLOCK_PX, BLOCK_PX, width, 3)
    high, low = (
        end.reduce([down[:, at::BLOCK_PX] for at in range(BLOCK_PX)])
        for end, down in ((np.maximum, rows.max(axis=1)), (np.minimum, rows.min(axis=1)))
    )
    return float(((high - low).max(axis=2) <= EVEN_LEVELS).mean())


def is_drawn(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether a picture is mostly even areas, as drawings, screens and pages of text are."""
    return even_share(rgb) > MAX_EVEN


def is_reduced(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether a picture has as few colours as a palette holds, whatever it is stored as.

    >>> is_reduced(np.arange(64 * 64 * 3, dtype=np.uint32).astype(np.uint8).reshape(64, 64, 3) // 64)
    True
    """
    seen, is_grey = np.zeros(1 << 24, dtype=bool), True
    n_rows = max(1, COUNTED_PX // rgb.shape[1])
    for top in range(0, len(rgb), n_rows):
        red, green, blue = (rgb[top : top + n_rows, :, i].astype(np.uint32) for i in range(3))
        is_grey &= np.array_equal(red, green) and np.array_equal(green, blue)
        seen[(red << 16 | green << 8 | blue).ravel()] = True
        if (n_seen := int(seen.sum())) > FEW_COLOURS:
            return False
    return n_seen <= (FEW_GREYS if is_grey else FEW_COLOURS)


def doubt(rgb: NDArray[np.uint8]) -> str:
    """Return in a sentence why the pixels cannot decide, whatever a detector says of them; empty where they can."""
    if min(rgb.shape[:2]) < TINY_PX:
        return f"The picture is less than {TINY_PX} px high or wide: too few pixels to decide."
    if is_drawn(rgb):
        return (
            "Most of the picture is even areas, as in drawings, text and plain backgrounds: detection does not work on "
            "these."
        )
    if is_reduced(rgb):
        return "The picture has as few colours as a palette holds, which removes the fine detail that detection needs."
    return ""


def doubt_if_fake(rgb: NDArray[np.uint8]) -> str:
    """Return in a sentence why the pixels of a small picture cannot call it generated; empty where they can."""
    if min(rgb.shape[:2]) >= SMALL_PX:
        return ""
    return f"The picture is less than {SMALL_PX} px high or wide: too few pixels to call it generated."
