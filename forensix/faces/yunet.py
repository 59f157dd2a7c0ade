"""YuNet as a face detector: the published ONNX file, run by onnxruntime (``pip install onnxruntime``).

It is fetched with ``forensix models pull yunet`` or read from the folder in ``FORENSIX_CHECKPOINTS``. Boxes, scores and
points mean what those of `forensix.faces.detect` mean. It finds faces of about 10 to 300 pixels in what it is shown,
more of the small and turned ones than MTCNN, in a tenth of the time.

References
----------
Wu et al., YuNet: a tiny millisecond-level face detector, Machine Intelligence Research 2023.
"""

from collections.abc import Sequence
from functools import cache
from os import PathLike
from typing import Any

import numpy as np
from PIL import Image

from forensix.errors import WeightsMissing
from forensix.faces.crop import cut, square
from forensix.faces.detect import Detections, checked, nothing
from forensix.faces.linking import iou
from forensix.models import ModelCard, checked_weights, get_card

NAME = "yunet"
MIN_SCORE = 0.8
STRIDES = (8, 16, 32)
_STEP_PX = 32
"""Sides of the input are multiples of it."""

_SAME_FACE = 0.3
_WINDOW_PX = 160
_WINDOW = 2.5
"""Side of the window in which a face is looked for again, over that of its box."""


class Yunet:
    """The network of one ONNX file; ``card`` says which."""

    name = NAME

    def __init__(self, session: Any, card: ModelCard | None = None) -> None:
        self.session, self.card = session, card

    def detect(self, pictures: Sequence[np.ndarray], *, max_side_px: int = 640) -> tuple[Detections, ...]:
        """Find the faces of each picture; see `forensix.faces.detect.Mtcnn.detect`."""
        return tuple(self._found(checked(rgb), max_side_px) for rgb in pictures)

    def follow(self, rgb: np.ndarray, boxes: np.ndarray) -> Detections:
        """Find faces again in small windows around their boxes; see `forensix.faces.detect.Mtcnn.follow`."""
        rows = []
        for box in boxes:
            area = square(box, _WINDOW)
            scale = (area[2] - area[0]) / _WINDOW_PX
            near = self._found(cut(checked(rgb), area, _WINDOW_PX), _WINDOW_PX).moved(scale, area[:2])
            overlap = iou(near.boxes, np.asarray(box, dtype=float)[None])[:, 0]
            if len(near) and overlap.max() > _SAME_FACE:
                rows.append(near[np.array([int(overlap.argmax())])])
            else:
                rows.append(Detections(np.asarray(box, dtype=float)[None], np.zeros(1), np.zeros((1, 5, 2))))
        return _joined(rows)

    def _found(self, rgb: np.ndarray, max_side_px: int) -> Detections:
        height, width = rgb.shape[:2]
        scale = min(1.0, max_side_px / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        resized = np.asarray(Image.fromarray(rgb).resize(size, Image.Resampling.BILINEAR))
        filled = np.pad(resized, ((0, -size[1] % _STEP_PX), (0, -size[0] % _STEP_PX), (0, 0)))
        blob = np.ascontiguousarray(filled[..., ::-1].transpose(2, 0, 1)[None], dtype=np.float32)
        names = [f"{head}_{stride}" for stride in STRIDES for head in ("cls", "obj", "bbox", "kps")]
        values = dict(zip(names, self.session.run(names, {self.session.get_inputs()[0].name: blob}), strict=True))
        faces = _joined([_read(values, stride, blob.shape[3] // stride) for stride in STRIDES])
        return _without_repeats(faces).moved(np.array([width / size[0], height / size[1]]))


def _read(values: dict[str, np.ndarray], stride: int, n_columns: int) -> Detections:
    """Turn the outputs of one stride, a row a cell, into faces in pixels of the input."""
    kind, there, sides, points = (values[f"{head}_{stride}"][0].astype(float) for head in ("cls", "obj", "bbox", "kps"))
    scores = np.sqrt(np.clip(kind[:, 0], 0, 1) * np.clip(there[:, 0], 0, 1))
    kept = np.flatnonzero(scores >= MIN_SCORE)
    cells = np.stack([kept % n_columns, kept // n_columns], axis=1)
    middle = (cells + sides[kept, :2]) * stride
    half = np.exp(np.clip(sides[kept, 2:], -10, 10)) * stride / 2
    marks = (points[kept].reshape(-1, 5, 2) + cells[:, None]) * stride
    return Detections(np.hstack([middle - half, middle + half]), scores[kept], marks)


def _without_repeats(faces: Detections) -> Detections:
    """Return the faces, best first, without those that overlap a better one."""
    kept: list[int] = []
    overlap = iou(faces.boxes, faces.boxes)
    for row in np.argsort(-faces.scores, kind="stable").tolist():
        if all(overlap[row, other] <= _SAME_FACE for other in kept):
            kept.append(row)
    return faces[np.array(kept, dtype=int)]


def _joined(parts: Sequence[Detections]) -> Detections:
    if not parts:
        return nothing()
    return Detections(
        np.concatenate([part.boxes for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.landmarks for part in parts]),
    )


@cache
def yunet(folder: str | PathLike[str] | None = None) -> Yunet:
    """Return the published detector, from a folder or from where `forensix.models.load_model` looks.

    Raises
    ------
    WeightsMissing
        Its file or onnxruntime is not there; the message names the remedy.
    WeightsMismatch
        The file is not that of the card.
    """
    path = checked_weights(NAME, folder=folder)
    try:
        import onnxruntime
    except ImportError as error:
        raise WeightsMissing("YuNet is run by onnxruntime, which is not there: pip install onnxruntime") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return Yunet(session, get_card(NAME))
