"""Pictures that lie on their side: faces are found, cut upright, and told where they lie in the picture as it is."""

import numpy as np
import pytest
from PIL import Image

import forensix
from forensix.faces import stills, track
from forensix.faces.linking import iou
from forensix.media import open_media
from tests.making import write_video


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_face_is_found_however_the_picture_lies(astronaut, turns, tmp_path):
    # Of unequal sides, so that sides that are mixed up show.
    rgb = np.ascontiguousarray(astronaut[:, 60:460])
    Image.fromarray(rgb).save(tmp_path / "upright.png")
    Image.fromarray(np.rot90(rgb, 4 - turns)).save(tmp_path / "lying.png")
    with open_media(tmp_path / "upright.png") as upright, open_media(tmp_path / "lying.png") as lying:
        (one,), (other,) = track(upright), track(lying)
        assert len(stills(lying)) == 1
    assert (one.turns, other.turns) == (0, turns)
    assert np.abs(one.crops.astype(int) - other.crops).mean() < 4
    height, width = rgb.shape[:2]
    # The corners of the upright box, as they lie after the picture was turned the other way.
    x, y = one.boxes[0].reshape(2, 2).T
    places = {1: (height - y, x), 2: (width - x, height - y), 3: (y, width - x)}[turns]
    expected = np.array([places[0].min(), places[1].min(), places[0].max(), places[1].max()])
    assert iou(other.boxes, expected[None])[0, 0] > 0.8
    nose = one.landmarks[0, 2]
    there = {1: (height - nose[1], nose[0]), 2: (width - nose[0], height - nose[1]), 3: (nose[1], width - nose[0])}
    assert np.abs(other.landmarks[0, 2] - there[turns]).max() < 6


def test_a_picture_without_a_face_is_not_turned(tmp_path):
    Image.fromarray(np.full((300, 200, 3), 90, np.uint8)).save(tmp_path / "bare.png")
    with open_media(tmp_path / "bare.png") as media:
        assert track(media) == ()


def test_a_turned_picture_is_judged_as_the_upright_one_and_says_so(astronaut, tmp_path):
    for name, turns in (("upright", 0), ("lying", 1)):
        Image.fromarray(np.rot90(astronaut, turns)).save(tmp_path / f"{name}.png")
    tasks = ["face_manipulation", "ai_generated_image_detection"]
    upright, lying = (forensix.analyze(tmp_path / f"{name}.png", tasks=tasks) for name in ("upright", "lying"))
    assert lying.verdicts == upright.verdicts
    for task in tasks:
        assert lying.scores[task] == pytest.approx(upright.scores[task], abs=0.05)
        assert any("turned a quarter to the right" in note for note in lying.outcomes[task].notes)
        assert not any("turned" in note for note in upright.outcomes[task].notes)


def test_a_video_without_an_upright_face_says_what_is_not_looked_for(astronaut, tmp_path):
    path = tmp_path / "a.mp4"
    lying = np.ascontiguousarray(np.rot90(astronaut))
    write_video(path, 10, (512, 512), paint=lambda _: lying)
    outcome = forensix.analyze(path, tasks=["face_manipulation"]).outcomes["face_manipulation"]
    assert outcome.result.class_name == "no_faces" and "lie on their side" in outcome.summary
