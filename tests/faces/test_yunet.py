"""YuNet by name: what a missing file says; how its outputs are read; and, where the file is, that it sees faces."""

from types import SimpleNamespace

import numpy as np
import pytest

from forensix.errors import ForensixError, WeightsMismatch, WeightsMissing
from forensix.faces.align import aligned
from forensix.faces.detect import landmarks
from forensix.faces.yunet import Yunet, yunet
from forensix.models import component_names


class Planted:
    """A session that sees one face in a cell of stride 16."""

    def __init__(self, column: int, row: int) -> None:
        self.column, self.row = column, row

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="input")]

    def run(self, names: list[str], inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
        _, channels, height, width = inputs["input"].shape
        assert channels == 3 and height % 32 == 0 and width % 32 == 0
        widths = {"cls": 1, "obj": 1, "bbox": 4, "kps": 10}
        out = []
        for name in names:
            head, stride = name.split("_")
            n = height // int(stride) * (width // int(stride))
            value = np.zeros((1, n, widths[head]), np.float32)
            if stride == "16":
                cell = self.row * (width // 16) + self.column
                value[0, cell] = {"cls": 1, "obj": 0.81, "bbox": [0.5, 0.5, np.log(4), np.log(5)], "kps": 0.25}[head]
            out.append(value)
        return out


def test_outputs_are_read_as_boxes_scores_and_points_of_the_picture() -> None:
    (faces,) = Yunet(Planted(6, 4)).detect([np.zeros((300, 400, 3), np.uint8)])
    np.testing.assert_allclose(faces.scores, [0.9], atol=1e-6)
    np.testing.assert_allclose(faces.boxes, [[104 - 32, 72 - 40, 104 + 32, 72 + 40]], atol=1e-4)
    np.testing.assert_allclose(faces.landmarks, np.broadcast_to([100, 68], (1, 5, 2)), atol=1e-4)
    (large,) = Yunet(Planted(6, 4)).detect([np.zeros((600, 800, 3), np.uint8)], max_side_px=400)
    np.testing.assert_allclose(large.boxes, 2 * faces.boxes, atol=1e-4)


def test_a_face_is_followed_in_a_window_or_lost() -> None:
    detector = Yunet(Planted(4, 4))
    box = np.array([100.0, 100, 164, 164])
    faces = detector.follow(np.zeros((300, 400, 3), np.uint8), np.array([box, box + 40]))
    assert len(faces) == 2
    middle = (faces.boxes[0, :2] + faces.boxes[0, 2:]) / 2
    np.testing.assert_allclose(middle, (132 - 80 + 72, 132 - 80 + 72), atol=0.5)
    assert (faces.scores > 0).all()
    assert detector.follow(np.zeros((300, 400, 3), np.uint8), np.zeros((0, 4))).boxes.shape == (0, 4)
    far = Yunet(Planted(0, 0)).follow(np.zeros((300, 400, 3), np.uint8), box[None])
    assert far.scores.tolist() == [0.0]


def test_it_is_known_by_name_and_says_what_is_missing(tmp_path) -> None:
    assert {"mtcnn", "yunet"} <= set(component_names("face_detector"))
    with pytest.raises(WeightsMissing, match="forensix models pull yunet"):
        yunet(tmp_path)
    (tmp_path / "face_detection_yunet_2026may.onnx").write_bytes(b"another file")
    with pytest.raises(WeightsMismatch):
        yunet(tmp_path)


def test_the_published_file_sees_the_astronaut_where_mtcnn_does(astronaut) -> None:
    pytest.importorskip("onnxruntime")
    try:
        detector = yunet()
    except ForensixError as error:
        pytest.skip(str(error))
    (faces,) = detector.detect([astronaut])
    assert len(faces) == 1
    ours = landmarks(astronaut)[0]
    between = np.hypot(*(ours[1] - ours[0]))
    assert np.abs(faces.landmarks[0] - ours).max() < 0.2 * between
    again = detector.follow(astronaut, faces.boxes)
    assert np.abs(again.landmarks[0] - faces.landmarks[0]).max() < 0.1 * between
    difference = aligned(astronaut, ours).astype(float) - aligned(astronaut, faces.landmarks[0])
    assert np.abs(difference).mean() < 25
