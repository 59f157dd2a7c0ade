"""Write the marks that ``forensix.synthetic`` reads, as generators' own code and pages do."""

import numpy as np

from forensix.synthetic.visible_marks import SQUARES


def embed(rgb: np.ndarray, message: str, *, from_bytes: bool = True) -> np.ndarray:
    """Return uint8 (H, W, 3) with a message of zeros and ones in the blue difference of its colours.

    Every block of 8 px takes one bit: of its 16 means of 2 x 2 px (doubled), without the first, the largest in size is
    moved to 9 or 27 beyond a multiple of 36. ``from_bytes`` rounds as a writer does that is given bytes.
    """
    colours = rgb.astype(np.float64)
    height, width = (side // 8 * 8 for side in rgb.shape[:2])
    luma = colours @ (0.299, 0.587, 0.114)
    blue = 0.492 * (colours[..., 2] - luma) + (128 if from_bytes else 0.5)
    if from_bytes:
        blue = np.clip(np.rint(blue), 0, 255)
    shift = np.zeros_like(blue)
    number = 0
    for top in range(0, height, 8):
        for left in range(0, width, 8):
            block = blue[top : top + 8, left : left + 8].reshape(4, 2, 4, 2).sum(axis=(1, 3)) / 2
            place = int(np.abs(block.ravel()[1:]).argmax()) + 1
            value = block.ravel()[place]
            aim = abs(value) // 36 * 36 + (27 if message[number % len(message)] == "1" else 9)
            aim = -aim if value < 0 else aim
            row, column = top + 2 * (place // 4), left + 2 * (place % 4)
            shift[row : row + 2, column : column + 2] = (aim - value) / 2
            number += 1
    # With luma kept, blue and green answer for a change of the blue difference.
    colours[..., 2] += shift / 0.492
    colours[..., 1] -= shift / 0.492 * 0.114 / 0.587
    return np.clip(np.rint(colours), 0, 255).astype(np.uint8)


def draw_squares(rgb: np.ndarray) -> np.ndarray:
    """Return a square picture with the five squares of DALL-E 2's page in its corner."""
    marked, side = rgb.copy(), len(rgb) // 64
    for index, colour in enumerate(SQUARES):
        left = len(rgb) - (len(SQUARES) - index) * side
        marked[-side:, left : left + side] = colour
    return marked


def draw_star(rgb: np.ndarray) -> np.ndarray:
    """Return a square picture with a half transparent white star in its corner, as Gemini draws it at 512 px."""
    scale = len(rgb) / 512
    y, x = np.abs(np.mgrid[: len(rgb), : len(rgb)] + 0.5 - (len(rgb) - 56 * scale)) / (24 * scale)
    alpha = 0.5 * (x**0.62 + y**0.62 <= 1)[..., None]
    return np.rint(rgb * (1 - alpha) + 255 * alpha).astype(np.uint8)
