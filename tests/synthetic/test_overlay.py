"""Overlays: marks lie where the landmarks are, the salient region is the largest, nothing else is touched."""

import numpy as np
import pytest

from forensix.errors import UsageError
from forensix.synthetic import overlay

FACE = np.array([[80, 90], [120, 90], [100, 110], [85, 130], [115, 130]], float)


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (200, 240, 3), dtype=np.uint8)


def test_overlay_adds_one_row_of_panels_per_face(picture):
    marked = overlay.eye_mouth_overlay(picture, [FACE, FACE + 20])
    assert marked.shape == (200 + 2 * overlay.PANEL_SIDE_PX, 3 * overlay.PANEL_SIDE_PX, 3)
    changed = (marked[:200, :240] != picture).any(axis=2)
    assert changed.any() and not changed[:50].any()
    assert tuple(marked[:200][(marked[:200, :] == overlay.MARK).all(axis=2)][0]) == overlay.MARK


def test_overlay_without_faces_is_a_copy(picture):
    marked = overlay.eye_mouth_overlay(picture, [])
    assert np.array_equal(marked, picture) and marked is not picture


def test_overlay_takes_faces_that_lie_partly_outside(picture):
    assert overlay.eye_mouth_overlay(picture, [FACE - 100, FACE + 500]).shape[0] > 200


@pytest.mark.parametrize("bad", [np.zeros((4, 2)), np.full((5, 2), np.nan)])
def test_overlay_refuses_other_landmarks(picture, bad):
    with pytest.raises(ValueError, match="five finite points"):
        overlay.eye_mouth_overlay(picture, [bad])


def test_salient_region_is_the_largest_above_the_threshold():
    heat = np.zeros((60, 60))
    heat[5:10, 5:10] = 0.9
    heat[30:50, 30:50] = 0.6
    region = overlay.salient_region(heat)
    assert region[40, 40] and not region[7, 7] and region.sum() == 400
    assert overlay.salient_region(heat, threshold=0.8)[7, 7]


def test_salient_region_of_a_quiet_map_is_its_top():
    heat = np.tile(np.linspace(0, 0.3, 50), (50, 1))
    region = overlay.salient_region(heat)
    assert region[:, -1].all() and not region[:, :40].any()


def test_object_heatmap_dims_the_rest(picture):
    heat = np.zeros((200, 240))
    heat[50:100, 50:100] = 1
    drawn = overlay.heatmap_object(picture, heat)
    assert drawn.shape == picture.shape
    assert np.ptp(drawn[150:].astype(int), axis=2).max() == 0
    assert drawn[60:90, 60:90, 0].mean() > picture[60:90, 60:90, 0].mean()


def test_a_large_picture_is_drawn_small_and_its_eyes_at_their_own_size():
    large = np.random.default_rng(0).integers(0, 255, (1500, 2000, 3), dtype=np.uint8)
    marked = overlay.eye_mouth_overlay(large, [FACE * 8])
    assert marked.shape == (480 + 640 // 3, 640, 3)
    eye = marked[480:, : 640 // 3].astype(int)
    assert np.abs(np.diff(eye, axis=1)).mean() > 40, "pixels of the picture, not means of them"


def test_a_heatmap_is_fitted_by_means():
    heat = np.zeros((100, 200))
    heat[:, 100:] = 1
    small = overlay.fitted(heat, (10, 20, 3))
    assert small.shape == (10, 20) and small[:, :10].max() == 0 and small[:, 10:].min() == 1
    assert overlay.fitted(heat, (100, 200, 3)) is heat


@pytest.mark.parametrize("heat", [[[0.0]], np.zeros(4), np.zeros((0, 3)), np.full((2, 2), np.nan), np.array([["a"]])])
def test_what_is_no_map_is_refused(heat):
    with pytest.raises(UsageError, match="a heat map must be a numpy array"):
        overlay.fitted(heat, (10, 20, 3))
