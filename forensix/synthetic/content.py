"""Is there anything photographic to look at? Drawings, screens and pages of text are mostly even areas.

A detector learns from photographs and from pictures that look like them; where most of a picture holds one even colour,
there is neither a sensor's noise nor a generator's texture to judge. What it says of such a picture decides nothing.
"""

import numpy as np
from numpy.typing import NDArray

BLOCK_PX = 8
EVEN_LEVELS = 2
"""A block is even where no channel spans more levels of 255 than a JPEG of good quality leaves in a plain area."""
MAX_EVEN = 0.6
"""Above this share of even blocks a picture counts as drawn or empty."""


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
