"""Aligned crops: where the five points come to lie, from any size and angle, and without aliasing."""

import numpy as np
import pytest
from PIL import Image

from forensix.errors import UsageError
from forensix.faces.align import ALIGNED_PX, TEMPLATE, aligned, similarity
from forensix.faces.detect import landmarks


def dots(points: np.ndarray, radius_px: float, size: tuple[int, int] = (600, 700)) -> np.ndarray:
    """Return a dark picture with a bright disc at each point."""
    y, x = np.mgrid[: size[0], : size[1]] + 0.5
    near = np.min([np.hypot(x - px, y - py) for px, py in points], axis=0)
    return np.repeat((255 * np.clip(radius_px - near + 0.5, 0, 1))[..., None], 3, axis=2).astype(np.uint8)


def placed(scale: float, degrees: float, shift: tuple[float, float]) -> np.ndarray:
    angle = np.deg2rad(degrees)
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (TEMPLATE - ALIGNED_PX / 2) @ turn.T + shift


@pytest.mark.parametrize(("scale", "degrees"), [(1, 0), (2.5, 0), (0.5, 0), (1.7, 30), (0.6, -45), (1, 90), (1.3, 180)])
def test_the_five_points_come_to_lie_on_the_template(scale: float, degrees: float) -> None:
    points = placed(scale, degrees, (330, 280))
    crop = aligned(dots(points, 4 * scale), points)
    assert crop.shape == (ALIGNED_PX, ALIGNED_PX, 3)
    y, x = np.mgrid[:ALIGNED_PX, :ALIGNED_PX] + 0.5
    for px, py in TEMPLATE:
        weight = crop[..., 0] * (np.hypot(x - px, y - py) < 9.0)
        centre = np.array([(weight * x).sum(), (weight * y).sum()]) / weight.sum()
        assert np.abs(centre - (px, py)).max() < 0.5


def test_a_large_picture_is_scaled_down_without_aliasing() -> None:
    points = placed(8, 0, (1000, 1000))
    y, x = np.mgrid[:2000, :2000]
    stripes = np.repeat((255 * ((x + y) % 2)).astype(np.uint8)[..., None], 3, axis=2)
    crop = aligned(stripes, points)[5:-5, 5:-5].astype(float)
    assert crop.std() < 2
    assert crop.mean() == pytest.approx(127.5, abs=2)


def test_a_face_at_the_rim_repeats_the_edge() -> None:
    points = placed(1, 0, (10, 10))
    rgb = np.full((200, 200, 3), 77, np.uint8)
    assert np.unique(aligned(rgb, points)).tolist() == [77]


def test_the_same_face_turned_gives_the_same_crop(astronaut: np.ndarray) -> None:
    five = landmarks(astronaut)[0]
    upright = aligned(astronaut, five).astype(float)
    turned = np.ascontiguousarray(np.rot90(astronaut))
    x, y = five.T
    points = np.stack([y, astronaut.shape[1] - x], axis=1)
    assert np.abs(aligned(turned, points) - upright)[20:-20, 20:-20].mean() < 1.0


def test_the_face_of_a_photograph_takes_three_fifths_of_the_side(astronaut: np.ndarray) -> None:
    from forensix.faces import detect

    crop = aligned(astronaut, landmarks(astronaut)[0])
    left, top, right, bottom = detect([crop])[0].boxes[0]
    assert 0.55 < (bottom - top) / ALIGNED_PX < 0.68
    assert abs((left + right) / 2 - ALIGNED_PX / 2) < 12


def test_a_picture_of_any_size_works() -> None:
    tiny = np.asarray(Image.new("RGB", (3, 2), (9, 9, 9)))
    assert aligned(tiny, np.tile([[1.0, 1.0]], (5, 1))).shape == (ALIGNED_PX, ALIGNED_PX, 3)
    assert aligned(tiny, placed(0.02, 0, (1, 1))).shape == (ALIGNED_PX, ALIGNED_PX, 3)


def test_points_that_are_none_are_refused() -> None:
    rgb = np.zeros((50, 50, 3), np.uint8)
    with pytest.raises(UsageError, match="five finite points"):
        similarity(np.full((5, 2), np.nan))
    with pytest.raises(UsageError, match="five finite points"):
        aligned(rgb, np.zeros((4, 2)))
    with pytest.raises(UsageError, match="no face"):
        aligned(rgb, placed(1e6, 0, (20, 20)))
    with pytest.raises(UsageError, match="no face"):
        aligned(rgb, placed(1, 0, (-30, 20)))
