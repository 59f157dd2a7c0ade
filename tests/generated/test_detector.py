"""The shipped image models: range, repeatability, any size, heat map, names, and the right way round."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from forensix.generated import aggregate_frames, forensix_attribution, forensix_image
from forensix.metrics import auc


@pytest.fixture(scope="module")
def detector():
    return forensix_image()


@pytest.fixture(scope="module")
def attributor():
    return forensix_attribution()


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 255, (6, 6, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)).astype(int)
    return np.clip(smooth + rng.integers(-6, 7, smooth.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (63, 200), (128, 128), (300, 500), (3000, 4000)])
def test_score_of_any_size_is_a_repeatable_probability(detector, size):
    rgb = picture(*size)
    score = detector.score(rgb)
    assert isinstance(score, float) and 0 <= score <= 1
    assert score == detector.score(rgb)
    assert score == pytest.approx(float(detector.card.calibration.score(detector.logit(rgb))))


@pytest.mark.parametrize("value", [0, 128, 255])
def test_flat_and_grey_pictures_have_a_score(detector, value):
    assert 0 <= detector.score(np.full((200, 180, 3), value, np.uint8)) <= 1
    grey = np.repeat(picture(200, 180)[..., :1], 3, axis=2)
    assert 0 <= detector.score(grey) <= 1


@pytest.mark.parametrize("bad", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 4), np.uint8), np.zeros((9, 9, 3))])
def test_other_arrays_are_refused(detector, attributor, bad):
    for call in (detector.score, detector.heatmap, attributor.attribute):
        with pytest.raises(ValueError, match="uint8"):
            call(bad)


@pytest.mark.parametrize("size", [(16, 16), (128, 128), (200, 700), (900, 640)])
def test_heatmap_covers_the_picture(detector, size):
    heat = detector.heatmap(picture(*size))
    assert heat.shape == size and heat.dtype == np.float64
    assert np.isfinite(heat).all() and heat.min() >= 0 and heat.max() <= 1


def grain(shared: bool) -> np.ndarray:
    rng = np.random.default_rng(5)
    base = picture(192, 192, 7).astype(float)
    noise = rng.normal(0, 8, (192, 192, 1 if shared else 3))
    return np.clip(base * 0 + np.asarray(base).mean(axis=(0, 1)) + noise, 0, 255).astype(np.uint8)


def test_grain_that_the_channels_share_looks_more_like_a_camera(detector):
    assert detector.score(grain(shared=True)) < detector.score(grain(shared=False))


def test_heatmap_follows_the_evidence(detector):
    heat = detector.heatmap(np.concatenate([grain(shared=True), grain(shared=False)], axis=1))
    assert heat[:, :160].mean() < heat[:, 224:].mean()


def test_heatmap_of_a_uniform_picture_is_near_its_score(detector):
    rgb = grain(shared=False)
    assert abs(detector.heatmap(rgb).mean() - detector.score(rgb)) < 0.2


def test_names_are_identifiers_and_probabilities_sum_to_one(attributor):
    for size in ((16, 16), (300, 400)):
        answers = attributor.attribute(picture(*size))
        names, probabilities = zip(*answers, strict=True)
        assert set(names) == set(attributor.names) and "unknown" in names
        assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-") for name in names)
        assert sum(probabilities) == pytest.approx(1) and list(probabilities) == sorted(probabilities, reverse=True)
        assert answers == attributor.attribute(picture(*size))


def test_frames_of_a_video_are_averaged_and_not_multiplied():
    assert aggregate_frames([0.7] * 50) == pytest.approx(0.7)
    assert aggregate_frames([0.3, 0.7]) == pytest.approx(0.5)
    assert aggregate_frames([0.2] * 9 + [1.0]) < 0.5
    assert aggregate_frames([0.1, 0.2]) < aggregate_frames([0.1, 0.3])
    for bad in ([], [1.2], [float("nan")]):
        with pytest.raises(ValueError, match="scores of frames"):
            aggregate_frames(bad)


@pytest.mark.slow
def test_generated_scores_above_photographed_on_unseen_sources(detector, corpora: Path):
    rows = pd.read_csv(corpora / "images" / "manifest.csv", dtype=str)
    rows = rows[rows.split == "dev"]
    scores = [detector.score(np.asarray(Image.open(corpora / "images" / path).convert("RGB"))) for path in rows.path]
    assert auc((rows.label == "fake").astype(int), scores) > 0.55
