"""Parts put into recorded faces: where the mask says, nowhere else, and both classes through the same chain."""

import numpy as np
import pytest
from skimage.data import astronaut

from forensix.training.faces import blends, crops, pairs


@pytest.fixture(scope="module")
def face() -> blends.Seen:
    cut = crops.cut_faces([astronaut()], (0.0, 0.0, 1.0, 1.0))
    assert cut is not None
    softer = blends.taken_down(cut.rgb[0], 0.4, np.random.default_rng(0))
    return blends.Seen(cut.rgb[0], cut.landmarks[0].astype(np.float64), softer)


@pytest.fixture(scope="module")
def recorded(face: blends.Seen) -> pairs.Recorded:
    known = object.__new__(pairs.Recorded)
    other = blends.Seen(face.rgb[:, ::-1].copy(), face.landmarks, face.regenerated)
    known.clips = [[face, other], [other]]
    known._chances = np.array([0.5, 0.5])
    known._poses = np.zeros((2, 5, 2))
    return known


@pytest.mark.parametrize("part", blends.PARTS)
def test_masks_lie_on_their_part_of_the_face(face: blends.Seen, part: str) -> None:
    alpha = np.mean([blends.mask(face, part, np.random.default_rng(i)) for i in range(8)], axis=0)
    eyes, mouth = face.landmarks[:2].mean(axis=0), face.landmarks[3:].mean(axis=0)
    at_eyes, at_mouth = (alpha[round(y), round(x)] for x, y in (eyes, mouth))
    assert alpha.shape == face.rgb.shape[:2] and alpha.min() >= 0 and alpha.max() <= 1
    assert (at_eyes > 0.3) == (part not in ("lower", "mouth"))
    assert (at_mouth > 0.3) == (part not in ("eyes", "nose"))
    assert alpha[:10].max() < 0.05, "the rim is left alone"


def test_what_is_put_in_lies_within_the_mask(face: blends.Seen) -> None:
    for seed in range(12):
        rgb, alpha = blends.put_in(face, face, np.random.default_rng(seed), is_same_person=True)
        changed = np.abs(rgb.astype(int) - face.rgb).max(axis=2) > 0
        assert not changed[alpha == 0].any() and changed[alpha > 0.5].any()


def test_a_box_is_put_in_of_the_same_person_alone(face: blends.Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[str] = []
    real = blends.mask
    monkeypatch.setattr(blends, "mask", lambda face, part, rng: parts.append(part) or real(face, part, rng))
    for seed in range(30):
        blends.put_in(face, face, np.random.default_rng(seed), is_same_person=seed % 2 == 0)
    assert "box" in parts[::2] and "box" not in parts[1::2]


def test_a_pair_is_alike_but_for_the_part(recorded: pairs.Recorded) -> None:
    batch = recorded.draw(2, np.random.default_rng(1))
    assert batch.recorded.shape == batch.made.shape == (2, 224, 224, 3) and batch.masks.shape == (2, 28, 28)
    gaps = np.abs(batch.recorded.astype(float) - batch.made).mean(axis=3)
    for gap, mask in zip(gaps, batch.masks, strict=True):
        inside = np.kron(mask, np.ones((8, 8))) > 0.5
        assert gap[inside].mean() > 2 * gap[~inside].mean()


def test_the_same_draws_make_the_same_pairs(recorded: pairs.Recorded) -> None:
    one, again = (recorded.draw(2, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.made, again.made)
