"""Does a face lie where FFHQ's alignment puts it? A measure of one picture's geometry that needs no training.

The pictures that StyleGAN's generators of faces learnt from were cut by one rule: upright, square, the eyes and the
mouth always in the same places. So these generators draw every portrait in those places, to within a hundredth of the
picture, and a photograph that a person cut by hand practically never lies so. Photographs cut by the same rule for a
data set of faces (FFHQ, CelebA-HQ) do, and so does what other generators made of such a photograph: the measure tells
how a picture was cut, not who drew it. A portrait that was cropped after it was made lies elsewhere, and so do those of
diffusion models and of StyleGAN3's unaligned generators.

References
----------
Karras et al., A style-based generator architecture for generative adversarial networks, 2019 (the rule of FFHQ).
Mundra et al., Exposing GAN-generated profile photos from compact embeddings, 2023 (what the alignment gives away).
"""

import math

import numpy as np
from numpy.typing import NDArray

PLACEMENT: NDArray[np.float64] = np.array([0.001, -0.009, 1.021, -0.2])
"""Where portraits of StyleGAN2's FFHQ generators lie as `placement` measures them, the median."""

SPREAD: NDArray[np.float64] = np.array([0.005, 0.008, 0.022, 0.75])
"""How far they lie from it, as a standard deviation. Both by ``python benchmarks/face_placement.py``."""

MOST_SPREADS = 4.0
"""A face within so many spreads of the placement lies as those portraits do."""

MOST_UNSQUARE = 0.03
"""By how much the sides of a square picture may differ, as a share: a cut-off line at its rim is forgiven."""


def placement(points: NDArray[np.floating], size: tuple[int, int]) -> NDArray[np.float64]:
    """Return where FFHQ's rule would cut around a face, relative to the whole picture, float (4,).

    Its middle, x and y in halves of the picture's sides from the picture's middle; its side over the picture's; and by
    how many degrees it is turned clockwise. (0, 0, 1, 0) is a picture that is that cut.

    Parameters
    ----------
    points
        float (5, 2) xy in pixels: eyes, nose, corners of the mouth, as `forensix.faces.detect` gives them.
    size
        Width and height of the picture in pixels.
    """
    left_eye, right_eye, _, left_mouth, right_mouth = np.asarray(points, dtype=np.float64) / size * 2 - 1
    eyes, mouth = (left_eye + right_eye) / 2, (left_mouth + right_mouth) / 2
    across, down = right_eye - left_eye, mouth - eyes
    side = max(2.0 * math.hypot(*across), 1.8 * math.hypot(*down))
    middle = eyes + 0.1 * down
    return np.array([*middle, side, math.degrees(math.atan2(across[1] - down[0], across[0] + down[1]))])


def is_ffhq_aligned(points: NDArray[np.floating], size: tuple[int, int]) -> bool:
    """Tell whether a face lies in its picture as StyleGAN's portraits do, see `placement` for the arguments.

    Examples
    --------
    >>> points = np.array([[382, 481], [643, 481], [523, 642], [391, 748], [637, 749]])
    >>> is_ffhq_aligned(points, (1024, 1024)), is_ffhq_aligned(points + 40, (1024, 1024))
    (True, False)
    """
    width, height = size
    if abs(width - height) > MOST_UNSQUARE * max(height, 1):
        return False
    return bool(np.linalg.norm((placement(points, size) - PLACEMENT) / SPREAD) < MOST_SPREADS)
