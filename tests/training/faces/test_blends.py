"""Parts put into recorded faces: where the mask says, and nowhere else."""

import numpy as np
import pytest

from forensix.training.faces import blends


@pytest.mark.parametrize("part", blends.PARTS)
def test_masks_lie_on_their_part_of_the_face(recorded_face: blends.Seen, part: str) -> None:
    alpha = np.mean([blends.mask(recorded_face, part, np.random.default_rng(i)) for i in range(8)], axis=0)
    eyes, mouth = recorded_face.landmarks[:2].mean(axis=0), recorded_face.landmarks[3:].mean(axis=0)
    at_eyes, at_mouth = (alpha[round(y), round(x)] for x, y in (eyes, mouth))
    assert alpha.shape == recorded_face.rgb.shape[:2] and alpha.min() >= 0 and alpha.max() <= 1
    assert (at_eyes > 0.3) == (part not in ("lower", "mouth"))
    assert (at_mouth > 0.3) == (part not in ("eyes", "nose"))
    assert alpha[:10].max() < 0.05, "the rim is left alone"


def test_what_is_put_in_lies_within_the_mask(recorded_face: blends.Seen) -> None:
    for seed in range(12):
        rgb, alpha = blends.put_in(recorded_face, recorded_face, np.random.default_rng(seed), is_same_person=True)
        changed = np.abs(rgb.astype(int) - recorded_face.rgb).max(axis=2) > 0
        assert not changed[alpha == 0].any() and changed[alpha > 0.5].any()


def test_a_box_is_put_in_of_the_same_person_alone(recorded_face: blends.Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[str] = []
    real = blends.mask
    monkeypatch.setattr(blends, "mask", lambda face, part, rng: parts.append(part) or real(face, part, rng))
    for seed in range(30):
        blends.put_in(recorded_face, recorded_face, np.random.default_rng(seed), is_same_person=seed % 2 == 0)
    assert "box" in parts[::2] and "box" not in parts[1::2]
