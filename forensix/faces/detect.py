"""Faces and their five landmarks in pictures, with MTCNN (see `forensix.faces.cascade`).

A face detector is an object that finds the faces of pictures (`FaceDetector.detect`) and finds given faces again near
where they were (`FaceDetector.follow`), which costs a hundredth of the former. `Mtcnn` is the embedded one; others fill
the slot ``face_detector`` by name.

Assumes upright or slightly turned faces. The score of a detection is MTCNN's last-stage confidence in [0, 1], higher
is more likely a face; it says nothing about real or fake. Fails on profiles, strong occlusion, and faces below
``min_face`` of the short side; now and then it takes texture, pets or drawings for a face, which ``MIN_SCORE`` keeps
rare.

References
----------
Zhang et al., Joint face detection and alignment using multi-task cascaded convolutional networks, 2016.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Protocol

import numpy as np

from forensix.errors import UsageError
from forensix.faces.cascade import LAST_PX, PictureFaces, cascade
from forensix.faces.crop import cut, resized, square
from forensix.models.placement import Placement, choose_device, in_batches

MIN_SCORE = 0.97
"""Detections below this are dropped; chosen on development pictures, see benchmarks/results/faces.md."""

MIN_FOLLOWED = 0.9
"""A face that is followed and scores below this is lost."""

MIN_FACE = 0.05
"""Smallest face looked for, as a share of the picture's short side (never below ``MIN_FACE_PX``)."""

MIN_FACE_PX = 20
MAX_SIDE_PX = 512
"""Pictures are shrunk to this for detection only: MTCNN's cost grows with the area."""

RIM = 0.125
"""Dark rim added around the picture for detection, as a share of its sides: the cascade clips windows that leave the
picture, which displaces boxes and landmarks of faces that fill it."""

BATCH = 8
LANDMARKS = ("left_eye", "right_eye", "nose", "mouth_left", "mouth_right")
_SMALLEST_SIDE_PX = 24


@dataclass(frozen=True, eq=False)
class Detections:
    """Faces of one picture, best first.

    boxes (n, 4) float xyxy in pixels of the picture given, scores (n,) in [0, 1], landmarks (n, 5, 2) float xy in the
    order of ``LANDMARKS`` (left and right as the viewer sees them).
    """

    boxes: np.ndarray
    scores: np.ndarray
    landmarks: np.ndarray

    def __len__(self) -> int:
        return len(self.boxes)

    def __getitem__(self, rows: np.ndarray) -> "Detections":
        """Return some of the faces: rows as numpy indexes them."""
        return Detections(self.boxes[rows], self.scores[rows], self.landmarks[rows])

    def moved(self, scale: np.ndarray | float, shift: np.ndarray | float = 0.0) -> "Detections":
        """Return the same faces with coordinates times ``scale`` plus ``shift``, each a number or xy."""
        boxes = (self.boxes.reshape(-1, 2, 2) * scale + shift).reshape(-1, 4)
        return Detections(boxes, self.scores, self.landmarks * scale + shift)


class FaceDetector(Protocol):
    """What fills the slot ``face_detector``."""

    @property
    def name(self) -> str:
        """Name for the report."""

    def detect(self, pictures: Sequence[np.ndarray], *, max_side_px: int = MAX_SIDE_PX) -> tuple[Detections, ...]:
        """Find the faces of each picture, uint8 RGB (H, W, 3), looked for at ``max_side_px``; see `Mtcnn.detect`."""

    def follow(self, rgb: np.ndarray, boxes: np.ndarray) -> Detections:
        """Find each face again near its box, float (n, 4): as many rows, scores 0 where it is lost."""


@dataclass(frozen=True)
class Mtcnn:
    """MTCNN with the weights that facenet-pytorch ships.

    ``min_score`` is the least confidence kept, in [0, 1]; ``min_face`` the smallest face, as a share of the short side.
    """

    min_score: float = MIN_SCORE
    min_face: float = MIN_FACE
    name: str = "mtcnn"
    device: str = "cpu"
    batch_size: int = BATCH

    def on(self, placement: Placement) -> "Mtcnn":
        """Return this detector with its networks on a device; ``batch_size`` counts whole pictures."""
        device = str(choose_device(placement.device))
        return replace(self, device=device, batch_size=placement.batch_size or self.batch_size)

    def detect(self, pictures: Sequence[np.ndarray], *, max_side_px: int = MAX_SIDE_PX) -> tuple[Detections, ...]:
        """Find the faces of each picture.

        Parameters
        ----------
        pictures
            uint8 RGB arrays (H, W, 3). Neighbours of one size go through the network together, ``batch_size`` at a
            time, or fewer where the device's memory asks for it.
        max_side_px
            Longest side at which faces are looked for.

        Returns
        -------
        One ``Detections`` for each picture, in order; empty where there is no face.

        Raises
        ------
        UsageError
            If a picture is not uint8 (H, W, 3).

        Examples
        --------
        >>> import numpy as np
        >>> [len(faces) for faces in Mtcnn().detect([np.zeros((64, 64, 3), np.uint8)])]
        [0]
        """
        out: list[Detections] = []
        for _, same in itertools.groupby(pictures, key=lambda rgb: checked(rgb).shape):
            alike = list(same)
            search = partial(_detect_batch, alike, self, max_side_px)
            for faces in in_batches(search, len(alike), self.batch_size)[0]:
                out += faces
        return tuple(out)

    def follow(self, rgb: np.ndarray, boxes: np.ndarray) -> Detections:
        """Find faces again near where they were, with the cascade's last network alone.

        A face may have moved by about a quarter of its width.

        Parameters
        ----------
        rgb
            uint8 (H, W, 3).
        boxes
            float (n, 4) xyxy, where each face was.

        Returns
        -------
        A row for each box, in order; score 0 where the face is lost.
        """
        checked(rgb)
        areas = np.array([square(box, margin=1.0) for box in boxes]).reshape(-1, 4)
        if not len(areas):
            return nothing()
        windows = np.stack([cut(rgb, area, LAST_PX) for area in areas])
        scores, sides, points = (out.astype(np.float64) for out in cascade(self.device).look(windows))
        corner, side = areas[:, :2], areas[:, 2:3] - areas[:, :1]
        boxes = areas + sides * side
        places = np.stack([points[:, :5], points[:, 5:]], axis=2) * side[:, None] + corner[:, None]
        kept = (scores >= MIN_FOLLOWED) & (boxes[:, 2:] - boxes[:, :2] > 1).all(axis=1)
        return Detections(boxes, np.where(kept, scores, 0.0), places)


@cache
def mtcnn() -> Mtcnn:
    """Return the detector that ships with forensix."""
    return Mtcnn()


def detect(pictures: Sequence[np.ndarray], *, min_score: float = MIN_SCORE) -> tuple[Detections, ...]:
    """Find the faces of each picture, uint8 (H, W, 3), with the embedded detector; see `Mtcnn.detect`.

    Examples
    --------
    >>> import numpy as np
    >>> [len(faces) for faces in detect([np.zeros((64, 64, 3), np.uint8)])]
    [0]
    """
    return Mtcnn(min_score).detect(pictures)


def landmarks(rgb: np.ndarray) -> np.ndarray:
    """Return the five landmarks of each face: float (n, 5, 2), pixels, best face first.

    Examples
    --------
    >>> import numpy as np
    >>> landmarks(np.zeros((64, 64, 3), np.uint8)).shape
    (0, 5, 2)
    """
    return detect([rgb])[0].landmarks


def checked(rgb: np.ndarray) -> np.ndarray:
    """Return a picture that is uint8 (H, W, 3), or raise ``UsageError``."""
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3:
        raise UsageError(f"a picture must be uint8 (H, W, 3), got {rgb.dtype} {rgb.shape}")
    return rgb


def _detect_batch(
    alike: Sequence[np.ndarray], detector: Mtcnn, max_side_px: int, start: int, stop: int
) -> list[Detections]:
    pictures = alike[start:stop]
    height, width = pictures[0].shape[:2]
    scale = min(1.0, max_side_px / max(height, width, 1))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    if min(size) < _SMALLEST_SIDE_PX:
        # The cascade's first window would not fit.
        return [nothing() for _ in pictures]
    rim = (round(RIM * size[0]), round(RIM * size[1]))
    framed = np.zeros((len(pictures), size[1] + 2 * rim[1], size[0] + 2 * rim[0], 3), np.uint8)
    for one, rgb in zip(framed, pictures, strict=True):
        one[rim[1] : rim[1] + size[1], rim[0] : rim[0] + size[0]] = resized(rgb, size)
    min_face_px = int(min(max(MIN_FACE_PX, detector.min_face * min(size)), *size))
    ratio = np.array([width / size[0], height / size[1]])
    faces = cascade(detector.device).find(framed, min_face_px)
    return [_detections(one, np.array(rim), ratio, detector.min_score) for one in faces]


def _detections(faces: PictureFaces, rim: np.ndarray, ratio: np.ndarray, min_score: float) -> Detections:
    boxes, scores, points = (each.astype(np.float64) for each in (faces.boxes, faces.scores, faces.points))
    sides = boxes[:, 2:] - boxes[:, :2]
    keep = (scores >= min_score) & (sides > 1).all(axis=1) & np.isfinite(boxes).all(axis=1)
    keep &= np.isfinite(points).all(axis=(1, 2))
    # Best first; of equals the larger.
    order = np.lexsort((-sides.prod(axis=1), -scores))
    order = order[keep[order]]
    boxes = (boxes[order] - np.tile(rim, 2)) * np.tile(ratio, 2)
    return Detections(boxes, scores[order], (points[order] - rim) * ratio)


def nothing() -> Detections:
    """Return no faces."""
    return Detections(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 5, 2)))
