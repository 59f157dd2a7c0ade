"""The cascade finds what facenet-pytorch's MTCNN finds, and its sizes are those of torch's areas."""

import numpy as np
import pytest
import torch
from facenet_pytorch import MTCNN

from forensix.faces.areas import Sums
from forensix.faces.cascade import cascade


@pytest.mark.parametrize("least", [20, 45])
def test_finds_the_boxes_and_points_of_the_reference(astronaut, hopper, paste, head, other_head, least):
    reference = MTCNN(keep_all=True, post_process=False, min_face_size=least).eval()
    noise = np.random.default_rng(0).integers(0, 256, (240, 360, 3)).astype(np.uint8)
    several = paste((head, 20, 60), (other_head, 200, 40))
    for pictures in (astronaut[None], hopper[None], np.stack([several, noise, several[:, ::-1]])):
        boxes, scores, points = reference.detect(pictures, landmarks=True)
        for i, faces in enumerate(cascade("cpu").find(pictures, least)):
            if boxes[i] is None:
                assert not len(faces.boxes)
                continue
            # The reference puts the largest first.
            order = np.argsort(-(faces.boxes[:, 2:] - faces.boxes[:, :2]).prod(axis=1))
            np.testing.assert_allclose(faces.boxes[order], boxes[i].astype(float), atol=1e-3)
            np.testing.assert_allclose(faces.scores[order], np.asarray(scores[i], float), atol=1e-5)
            np.testing.assert_allclose(faces.points[order], points[i].astype(float), atol=1e-3)


@pytest.mark.parametrize("size", [(7, 5), (33, 48), (120, 80)])
def test_areas_are_those_of_torch(head, size):
    shrunk = Sums(head).shrunk(*size)
    x = torch.from_numpy(head.copy()).permute(2, 0, 1)[None].float()
    expected = torch.nn.functional.interpolate(x, size=size, mode="area")[0].permute(1, 2, 0)
    np.testing.assert_allclose(shrunk, expected, rtol=1e-6)


def test_squares_are_cut_where_they_lie_within_the_picture(head):
    sums = Sums(head)
    inside = sums.within(np.array([[-4, 11, 20.9, 35], [101, 5, 140, 30], [90, 110, 130, 150]], np.float32))
    assert inside.ok.tolist() == [True, False, True]
    first, last = sums.cut(inside, 8)
    assert first.shape == last.shape == (8, 8, 3)
    np.testing.assert_allclose(first.mean(), head[10:35, :20].mean(), rtol=0.02)
    np.testing.assert_allclose(last.mean(), head[109:, 89:].mean(), rtol=0.02)
