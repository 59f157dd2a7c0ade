"""Where a face lies in its picture, against FFHQ's rule of cutting."""

import numpy as np
import pytest

from forensix.faces import is_ffhq_aligned
from forensix.faces.ffhq import PLACEMENT, placement

POINTS = np.array([[382, 481], [643, 481], [523, 642], [391, 748], [637, 749]], dtype=float)
"""The middle portrait of a StyleGAN2 generator, 1024 pixels square."""


def turned(points: np.ndarray, degrees: float) -> np.ndarray:
    """Return points turned clockwise around the middle of the picture."""
    a = np.radians(degrees)
    return (points - 512) @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) + 512


@pytest.mark.parametrize("side", [64, 256, 1024, 4096])
def test_size_does_not_matter(side: int) -> None:
    assert is_ffhq_aligned(POINTS * side / 1024, (side, side))


@pytest.mark.parametrize(
    "points",
    [
        POINTS + np.array([30, 0]),
        POINTS + np.array([0, 30]),
        (POINTS - 512) * 1.15 + 512,
        (POINTS - 512) * 0.85 + 512,
        turned(POINTS, 5),
        turned(POINTS, -5),
        turned(POINTS, 180),
    ],
    ids=["right", "down", "larger", "smaller", "clockwise", "anticlockwise", "upside down"],
)
def test_a_face_moved_scaled_or_turned_lies_elsewhere(points: np.ndarray) -> None:
    assert not is_ffhq_aligned(points, (1024, 1024))


def test_only_square_pictures_count() -> None:
    assert is_ffhq_aligned(POINTS, (1024, 1020))
    assert not is_ffhq_aligned(POINTS * (1.5, 1), (1536, 1024))
    assert not is_ffhq_aligned(POINTS, (1024, 0))


def test_placement_tells_by_how_much() -> None:
    middle = placement(POINTS, (1024, 1024))
    assert middle == pytest.approx(PLACEMENT, abs=0.05)
    assert placement(POINTS + np.array([51.2, 0]), (1024, 1024)) - middle == pytest.approx([0.1, 0, 0, 0])
    assert placement(turned(POINTS, 5), (1024, 1024))[3] - middle[3] == pytest.approx(5)
