"""Recorded faces beside themselves with a part put in: alike but for that part, and kept to be drawn again."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from forensix.perturb.image import jpeg
from forensix.training.faces import blends, crops, pairs, replay, worn


@pytest.fixture(scope="module")
def material(recorded_face: blends.Seen) -> pairs.Material:
    other = blends.Seen(recorded_face.rgb[:, ::-1].copy(), recorded_face.landmarks, recorded_face.regenerated)
    green = blends.Seen(np.full_like(recorded_face.rgb, (0, 255, 0)), recorded_face.landmarks, recorded_face.rgb)
    return pairs.Material([[recorded_face, other], [other]], [[green]])


@pytest.fixture
def tensors(material: pairs.Material) -> tuple[torch.Tensor, ...]:
    drawn = material.draw(6, np.random.default_rng(2))
    return tuple(torch.from_numpy(part) for part in (drawn.recorded, drawn.made, drawn.masks))


def test_a_pair_is_alike_but_for_the_part(material: pairs.Material) -> None:
    batch = material.draw(8, np.random.default_rng(1))
    assert batch.recorded.shape == batch.made.shape == (8, 224, 224, 3) and batch.masks.shape == (8, 28, 28)
    gaps = np.abs(batch.recorded.astype(float) - batch.made).mean(axis=3)
    for gap, mask in zip(gaps, batch.masks, strict=True):
        inside = np.kron(mask, np.ones((8, 8))) > 0.5
        assert gap[inside].mean() > 2 * gap[~inside].mean()


def test_the_same_draws_make_the_same_pairs(material: pairs.Material) -> None:
    one, again = (material.draw(2, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.made, again.made)


def test_parts_come_of_the_face_itself_other_moments_other_people_and_made_faces(
    material: pairs.Material, recorded_face: blends.Seen
) -> None:
    rng = np.random.default_rng(0)
    donors = [material._donor(0, recorded_face, rng) for _ in range(400)]
    is_made = np.array([donor.rgb[0, 0].tolist() == [0, 255, 0] for donor, _ in donors])
    is_own, is_same_person = (
        np.array([donor is recorded_face for donor, _ in donors]),
        np.array([same for _, same in donors]),
    )
    assert 0.25 < is_made.mean() < 0.45 and 0.25 < is_own.mean() < 0.45
    assert is_same_person[is_own].all() and not is_same_person[is_made].any()


def test_faces_are_read_as_large_as_they_were(recorded_face: blends.Seen, tmp_path: Path) -> None:
    still = crops.FaceCrops(
        np.stack([recorded_face.rgb] * 6),
        np.stack([recorded_face.landmarks] * 6).astype(np.float32),
        72.0,
        np.zeros(6, np.float32),
        np.zeros((6, 2), np.float32),
        tuple(np.zeros((6, 1, 1, 3), np.uint8)),
    )
    crops.store(tmp_path / "a.npz", still)

    class Darker:
        def regenerate(self, rgb: np.ndarray) -> np.ndarray:
            return rgb // 2

    table = pd.DataFrame({"name": ["a"]})
    (recorded,) = pairs.recorded_clips(table, tmp_path, Darker())
    (made,) = pairs.made_clips(table, tmp_path)
    assert len(recorded) == 4 and len(made) == 2
    for seen in (*recorded, *made):
        assert seen.rgb.shape == (144, 144, 3) and 0 < seen.landmarks.min() < seen.landmarks.max() < 144
    assert recorded[0].regenerated.mean() == pytest.approx(recorded[0].rgb.mean() / 2, abs=2)


def test_both_faces_of_a_pair_are_worn_alike(tensors: tuple[torch.Tensor, ...]) -> None:
    recorded, _, masks = tensors
    torch.manual_seed(0)
    seen, moved = worn.worn(recorded, recorded.clone(), masks)
    first, second = seen.chunk(2)
    torch.testing.assert_close(first, second)
    assert seen.shape == (12, 3, 224, 224) and seen.min() >= -1 and seen.max() <= 1
    assert moved.min() >= 0 and moved.max() <= 1
    again, _ = worn.worn(recorded, recorded.clone(), masks)
    assert (again - seen).abs().mean() > 0.02, "each time anew"


def test_masks_move_with_what_was_put_in(material: pairs.Material) -> None:
    clean = torch.full((12, 224, 224, 3), 90, dtype=torch.uint8)
    put_in = clean.clone()
    put_in[:, 40:90, 120:200] = 200
    masks = torch.zeros(12, 28, 28)
    masks[:, 5:11, 15:25] = 1
    torch.manual_seed(1)
    seen, moved = worn.worn(clean, put_in, masks)
    first, second = seen.chunk(2)
    gap = torch.nn.functional.avg_pool2d((second - first).abs().mean(1, keepdim=True), 8)[:, 0]
    for one, mask in zip(gap, moved, strict=True):
        assert one[mask > 0.9].mean() > 5 * one[mask < 0.1].mean()


@pytest.mark.parametrize("quality", [45, 80])
@pytest.mark.parametrize("subsampling", [0, 2])
def test_pictures_are_stored_as_jpeg_stores_them(recorded_face: blends.Seen, quality: int, subsampling: int) -> None:
    rgb = recorded_face.rgb[:224, :224]
    x = torch.from_numpy(rgb.copy()).permute(2, 0, 1)[None].float()
    coded = worn.jpeg(x, torch.tensor([float(quality)]), torch.tensor([subsampling == 2]))[0].permute(1, 2, 0).numpy()
    stored = jpeg(rgb, quality, subsampling=subsampling).astype(float)
    lost, apart = np.abs(stored - rgb).mean(), np.abs(coded - stored).mean()
    assert apart < 0.6 * lost and np.abs(coded - rgb).mean() == pytest.approx(lost, rel=0.1)


@pytest.mark.slow
def test_pairs_made_by_other_processes_are_kept_and_drawn_worn(material: pairs.Material) -> None:
    torch.manual_seed(0)
    kept = replay.Replay(material, torch.device("cpu"), kept=24, workers=1, seed=0)
    try:
        batch = kept.draw(5, np.random.default_rng(0), least=20)
        assert batch.crops.shape == (10, 3, 224, 224) and batch.masks.shape == (5, 28, 28)
        assert batch.crops.std() > 0.1 and batch.masks.max() > 0.7
        start, made = time.monotonic(), kept.n_made
        while kept.n_made < made + 48 and time.monotonic() - start < 60:
            time.sleep(0.05)
        assert kept.n_made >= made + 48, "new ones take the place of old ones"
    finally:
        kept.close()
    assert not kept._thread.is_alive()
