"""Faces are found where they are, and not where there are none."""

import numpy as np
import pytest
from PIL import Image

from forensix.errors import UsageError
from forensix.faces import detect, landmarks


def test_finds_the_astronaut(astronaut):
    (faces,) = detect([astronaut])
    assert len(faces) == 1
    x1, y1, x2, y2 = faces.boxes[0]
    assert 90 < x1 < 120 and 170 < x2 < 200 and 50 < y1 < 80 and 160 < y2 < 190
    eyes, nose, mouth = faces.landmarks[0, :2], faces.landmarks[0, 2], faces.landmarks[0, 3:]
    assert eyes[0, 0] < nose[0] < eyes[1, 0]
    assert eyes[:, 1].max() < nose[1] < mouth[:, 1].min()


def test_finds_the_admiral(hopper):
    (faces,) = detect([hopper])
    assert len(faces) == 1
    assert faces.scores[0] > 0.99
    np.testing.assert_allclose(landmarks(hopper), faces.landmarks)


def test_finds_nothing_where_there_is_no_face():
    from sklearn.datasets import load_sample_image

    noise = np.random.default_rng(0).integers(0, 256, (200, 300, 3)).astype(np.uint8)
    detections = detect([load_sample_image("china.jpg"), load_sample_image("flower.jpg"), noise, np.zeros_like(noise)])
    assert [len(one) for one in detections] == [0, 0, 0, 0]


def test_a_face_that_fills_the_picture_keeps_its_place(astronaut):
    whole = detect([astronaut])[0]
    left, top = 85, 45
    tight = detect([astronaut[top : top + 145, left : left + 125]])[0]
    assert len(tight) == 1
    np.testing.assert_allclose(tight.landmarks[0] + (left, top), whole.landmarks[0], atol=6)


def test_a_batch_of_unequal_pictures_gives_what_each_gives_alone(astronaut, hopper):
    empty = np.zeros_like(astronaut)
    together = detect([astronaut, empty, astronaut, hopper])
    assert [len(one) for one in together] == [1, 0, 1, 1]
    alone = detect([hopper])[0]
    np.testing.assert_allclose(together[3].boxes, alone.boxes)
    np.testing.assert_allclose(together[0].boxes, together[2].boxes, atol=0.5)


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (23, 23), (24, 600), (30, 25)])
def test_small_and_narrow_pictures_are_no_error(size):
    assert len(detect([np.full((*size, 3), 90, np.uint8)])[0]) == 0


def test_scale_does_not_move_the_box(astronaut):
    large = np.asarray(Image.fromarray(astronaut).resize((960, 960)))
    np.testing.assert_allclose(detect([large])[0].boxes[0] / 3, detect([astronaut])[0].boxes[0], atol=8)


@pytest.mark.parametrize("wrong", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3)), np.zeros((9, 9, 4), np.uint8)])
def test_refuses_what_is_no_rgb_picture(wrong):
    with pytest.raises(UsageError, match="uint8"):
        detect([wrong])
