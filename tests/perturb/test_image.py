"""Degradations of pictures: shapes, types, repeatability, and that each does what its name says."""

import numpy as np
import pytest

from forensix.errors import LimitExceeded
from forensix.perturb import find, names
from forensix.perturb import image as perturb


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    rng = np.random.default_rng(3)
    slope = np.linspace(40, 200, 96)[:, None, None] + np.linspace(0, 30, 128)[None, :, None]
    return np.clip(slope + rng.normal(0, 12, (96, 128, 3)), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("name", names("image"))
def test_every_degradation_is_pure_and_repeatable(name, picture):
    before = picture.copy()
    actual = find("image", name)
    first, second = (actual.at(actual.strengths[0])(picture, seed=1) for _ in range(2))
    assert first.dtype == np.uint8 and first.ndim == 3 and first.shape[2] == 3
    assert np.array_equal(first, second)
    assert np.array_equal(picture, before)


@pytest.mark.parametrize("code", [perturb.jpeg, perturb.webp])
def test_lower_quality_loses_more(code, picture):
    loss = [np.abs(code(picture, q).astype(int) - picture).mean() for q in (95, 70, 20)]
    assert loss[0] < loss[1] < loss[2]


@pytest.mark.parametrize("code", [perturb.jpeg, perturb.webp])
def test_a_picture_that_is_longer_than_its_encoder_takes_is_told(code):
    with pytest.raises(LimitExceeded, match=r"one side has 65501 px; \w+ takes"):
        code(np.zeros((1, 65_501, 3), np.uint8), 90)


def test_resize_scales_both_sides_and_never_to_nothing(picture):
    assert perturb.resize(picture, 0.5).shape == (48, 64, 3)
    assert perturb.resize(picture, 0.001).shape == (1, 1, 3)
    with pytest.raises(KeyError):
        perturb.resize(picture, 0.5, resample="magic")


def test_blur_removes_fine_detail(picture):
    def detail(x: np.ndarray) -> float:
        return float(np.abs(np.diff(x.astype(int), axis=1)).mean())

    assert detail(perturb.blur(picture, 1.0)) < detail(picture)


def test_noise_has_the_standard_deviation_asked_for():
    flat = np.full((200, 200, 3), 128, np.uint8)
    noisy = perturb.noise(flat, 5.0, np.random.default_rng(0)).astype(float)
    assert noisy.std() == pytest.approx(5.0, rel=0.05)
    assert noisy.mean() == pytest.approx(128, abs=0.1)


def test_crop_is_a_copy_and_stays_inside(picture):
    cut = perturb.crop(picture, -3, 100, 20, 100)
    assert cut.shape == (17, 28, 3)
    cut[:] = 0
    assert picture[:17, 100:].any()


def test_colour_identity_and_grey(picture):
    assert np.array_equal(perturb.colour(picture), picture)
    grey = perturb.colour(picture, saturation=0)
    assert np.ptp(grey.astype(int), axis=2).max() == 0


def test_shared_bounds_the_long_side():
    big = np.zeros((300, 2000, 3), np.uint8)
    assert max(perturb.shared(big, np.random.default_rng(0)).shape) == 1080


def test_smoothing_takes_away_detail_and_leaves_edges():
    rng = np.random.default_rng(0)
    halves = np.repeat([60, 180], 64)[None, :, None] + rng.normal(0, 4, (64, 128, 3))
    picture = np.clip(halves, 0, 255).astype(np.uint8)
    smoothed = perturb.smooth(picture, 1.0).astype(int)
    assert smoothed[:, :50].std() < picture[:, :50].std() / 2
    assert abs((smoothed[:, 64] - smoothed[:, 63]).mean() - 120) < 12


def test_contrast_moves_tones_from_the_middle_and_keeps_black_and_white():
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    bent = perturb.contrast(ramp, 1.0)[0, :, 0].astype(int)
    assert (bent[0], bent[255]) == (0, 255) and bent[64] < 64 and bent[192] > 192
    assert (np.diff(bent) >= 0).all()


def test_sharpening_raises_the_step_at_an_edge(picture):
    halves = np.repeat(np.array([100, 150], np.uint8), 32)[None, :, None] * np.ones((32, 1, 3), np.uint8)
    assert np.ptp(perturb.sharpen(halves, 2.0, 100).astype(int)) > 50


def test_retouching_keeps_the_size_and_differs_from_draw_to_draw(picture):
    edited = [perturb.retouched(picture, np.random.default_rng(seed)) for seed in range(6)]
    assert {each.shape for each in edited} == {picture.shape}
    assert len({each.tobytes() for each in edited}) > 3
