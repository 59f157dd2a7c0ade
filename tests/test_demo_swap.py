"""The swap of the demo: what is put where, how soft, and in which colours."""

import numpy as np
import pytest

from forensix.demo.swap import (
    MEAN_LANDMARKS,
    Face,
    apply,
    blend,
    fit_affine,
    fit_similarity,
    mask,
    match_colour,
    membrane,
    swap,
    warp,
)
from forensix.faces.detect import detect


@pytest.fixture(scope="module")
def faces() -> list[Face]:
    from matplotlib.cbook import get_sample_data
    from PIL import Image
    from skimage.data import astronaut

    with get_sample_data("grace_hopper.jpg") as file:
        pictures = [astronaut(), np.asarray(Image.open(file).convert("RGB"))]
    detections = [detect([rgb])[0] for rgb in pictures]
    return [Face(rgb, one.landmarks[0], one.boxes[0]) for rgb, one in zip(pictures, detections, strict=True)]


def test_maps_are_recovered_from_points() -> None:
    turn = np.array([[1.1, -0.4, 3.0], [0.4, 1.1, -2.0]])
    moved = apply(turn, MEAN_LANDMARKS)
    np.testing.assert_allclose(fit_similarity(MEAN_LANDMARKS, moved), turn, atol=1e-9)
    np.testing.assert_allclose(fit_affine(MEAN_LANDMARKS, moved), turn, atol=1e-9)


def test_warp_moves_pixels_the_way_its_matrix_says() -> None:
    picture = np.zeros((40, 40, 3), np.uint8)
    picture[10:14, 10:14] = 255
    moved = warp(picture, np.array([[1.0, 0, 8], [0, 1, 3]]), (40, 40))
    assert moved[14:16, 19:21].min() > 200 and moved[11, 11].max() < 50


@pytest.mark.parametrize("kind", ["face", "head"])
def test_masks_cover_their_part_of_the_face(faces: list[Face], kind: str) -> None:
    face = faces[0]
    alpha = mask(face, kind, np.random.default_rng(1))
    assert alpha.shape == face.rgb.shape[:2] and alpha.min() >= 0 and 0.5 < alpha.max() <= 1
    for x, y in face.landmarks:
        assert alpha[round(y), round(x)] > 0.4


def test_a_swap_differs_from_the_original_under_the_mask_only(faces: list[Face]) -> None:
    picture, alpha = swap(faces[0], faces[1], np.random.default_rng(3))
    changed = np.abs(picture.astype(int) - faces[0].rgb).max(axis=2)
    assert changed[alpha == 0].max() <= 1 and changed[alpha > 0.5].mean() > 1


def test_colour_is_matched_and_the_membrane_closes_the_seam() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(100, 140, (64, 64, 3)).astype(np.uint8)
    source = rng.integers(20, 40, (64, 64, 3)).astype(np.uint8)
    alpha = np.zeros((64, 64), np.float32)
    alpha[16:48, 16:48] = 1
    inside = alpha > 0
    matched = match_colour(source, target, alpha)
    np.testing.assert_allclose(matched[inside].mean(axis=0), target[inside].mean(axis=0), atol=2)
    soft = np.clip(alpha * 0.9 + 0.05, 0, 1)
    met = blend(membrane(source, target, soft), target, alpha)
    assert abs(met[inside].mean() - target[inside].mean()) < 0.3 * abs(source[inside].mean() - target[inside].mean())
