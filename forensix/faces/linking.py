"""Tracks while they are made: which face of a frame continues which track, and which crops are kept.

Faces of neighbouring frames are joined by the best assignment of overlap and likeness.

References
----------
Bewley et al., Simple online and realtime tracking, 2016 (assignment of overlaps), with likeness of crops added.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from forensix.faces.align import aligned, fits
from forensix.faces.crop import WINDOW_PX, crop, window
from forensix.faces.detail_gap import detail_gap
from forensix.faces.detect import Detections
from forensix.faces.steadiness import MOST_MOMENTS, steadiness
from forensix.models.inputs import at_least

if TYPE_CHECKING:
    from forensix.media import Frame

MAX_TRACKS = 64
MAX_FACES = 64
"""Largest faces kept of one frame: a wall of faces must not fill the memory."""

MAX_CROPS_IN_ALL = 512
"""Crops kept of all tracks together (150 MB, with the windows around them)."""

MIN_OVERLAP = 0.1
MIN_LIKENESS = 0.5
"""Correlation of two crops below which they are two faces, however well they overlap: a cut to another person. On the
development videos no neighbouring crops of one person fall below it, and five of six of two persons do."""

GAP_EVERY = 4
"""The gap of fine detail is measured of one crop in so many: it costs as much as cutting the crop."""

LEAST_GAPS = 3
"""Fewer than so many say nothing: until there are, every crop is measured."""

SHORT = 8
"""Crops of a track that come close together; as it goes on they are thinned to what the whole video has room for."""

_LIKENESS_WEIGHT = 0.5
_DESCRIPTOR_PX = 16
_SAME_FACE = 0.6
"""Overlap from which two followed boxes have run onto one face."""


@dataclass(eq=False)
class OpenTrack:
    """A track that is being made; ``velocity`` in pixels a millisecond, all else as in `FaceTrack`."""

    boxes: list[np.ndarray] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    frame_idx: list[int] = field(default_factory=list)
    frame_ms: list[float] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    crops: list[np.ndarray] = field(default_factory=list)
    windows: list[np.ndarray] = field(default_factory=list)
    landmarks: list[np.ndarray] = field(default_factory=list)
    detail_gaps: list[float] = field(default_factory=list)
    steadiness: list[np.ndarray] = field(default_factory=list)
    stride: int = 1
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))
    descriptor: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def prominence(self) -> float:
        """Number of detections times mean area."""
        sides = np.array(self.boxes)
        return float(len(sides) * (sides[:, 2:] - sides[:, :2]).prod(axis=1).mean())

    def expected(self, ms: float) -> np.ndarray:
        """Return where the face should be by now."""
        return self.boxes[-1] + np.tile(self.velocity * (ms - self.frame_ms[-1]), 2)

    def add(self, frame: "Frame", faces: Detections, row: int, descriptor: np.ndarray, *, measures_gaps: bool) -> None:
        """Continue with one face of a frame; boxes end where the picture does."""
        height, width = frame.rgb.shape[:2]
        box = np.clip(faces.boxes[row], 0, (width, height, width, height)) * frame.scale
        if self.boxes:
            passed_ms = max(frame.ms - self.frame_ms[-1], 1e-3)
            moved = (box - self.boxes[-1]).reshape(2, 2).mean(axis=0) / passed_ms
            self.velocity = 0.5 * self.velocity + 0.5 * moved
        self.boxes.append(box)
        self.scores.append(float(faces.scores[row]))
        self.frame_idx.append(frame.index)
        self.frame_ms.append(frame.ms)
        self.descriptor = descriptor
        place = faces.boxes[row], faces.landmarks[row]
        if frame.following and len(self.steadiness) < MOST_MOMENTS:
            self.steadiness.append(steadiness((frame.rgb, *frame.following), *place))
        position = len(self.boxes) - 1
        if position % self.stride == 0:
            self.kept.append(position)
            self.crops.append(aligned(frame.rgb, faces.landmarks[row]))
            self.windows.append(at_least(window(frame.rgb, faces.landmarks[row]), WINDOW_PX))
            self.landmarks.append(faces.landmarks[row] * frame.scale)
            is_due = position % (GAP_EVERY * self.stride) == 0 or np.isfinite(self.detail_gaps).sum() < LEAST_GAPS
            self.detail_gaps.append(detail_gap(frame.rgb, *place) if measures_gaps and is_due else math.nan)

    def thin(self) -> None:
        """Drop every other crop and keep half as many from now on."""
        self.stride *= 2
        for values in (self.kept, self.crops, self.windows, self.landmarks, self.detail_gaps):
            del values[1::2]


class Linker:
    """Tracks of the frames so far. A face that is lost for up to ``max_gap_ms``, or in one frame, is picked up again.

    ``n_expected`` frames will come, as far as is known; ``measures_gaps`` says whether fine detail is measured.
    """

    def __init__(
        self, *, max_gap_ms: float, max_crops: int, n_expected: int | None = None, measures_gaps: bool = True
    ) -> None:
        self.max_gap_ms = max_gap_ms
        self.max_crops = max(1, max_crops)
        self.stride = 1 << max(0, math.ceil(math.log2(max(1, n_expected or 1) / self.max_crops)))
        self.measures_gaps = measures_gaps
        self.active: list[OpenTrack] = []
        self.done: list[OpenTrack] = []
        self.times_ms: list[float] = []

    @property
    def current(self) -> list[OpenTrack]:
        """Tracks that the last frame continued."""
        return [one for one in self.active if one.frame_ms[-1] == self.times_ms[-1]]

    def near(self, ms: float) -> list[OpenTrack]:
        """Return the tracks that a face at this time may continue."""
        # Frames may come at longer intervals than were asked for.
        reach_ms = max([self.max_gap_ms, *(ms - before for before in self.times_ms[-2:])])
        return [one for one in self.active if ms - one.frame_ms[-1] <= reach_ms]

    def is_alone(self, ms: float) -> bool:
        """Return whether no other frame lies near enough to one at this time for its faces to be seen again."""
        return sum(abs(other - ms) <= self.max_gap_ms for other in self.times_ms) == 1

    def add(self, frame: "Frame", faces: Detections, *, unless_lost: bool = False) -> bool:
        """Continue the tracks with the faces of the next frame, and start new ones.

        With ``unless_lost`` nothing is done, and False returned, if a current track is not continued by any.
        """
        faces = _largest(frame, faces)
        if unless_lost:
            faces = _apart(faces)
        descriptors = [_descriptor(frame.rgb, box) for box in faces.boxes]
        matched = self._match(frame, faces, descriptors)
        if unless_lost and not set(map(id, self.current)) <= {id(one) for one in matched.values()}:
            return False
        near = self.near(frame.ms)
        self.done += [one for one in self.active if one not in near]
        self.active = near
        for row, descriptor in enumerate(descriptors):
            one = matched.get(row)
            if one is None:
                one = OpenTrack()
                self.active.append(one)
            one.add(frame, faces, row, descriptor, measures_gaps=self.measures_gaps)
            if len(one.kept) > (self.max_crops if one.stride >= self.stride else min(SHORT, self.max_crops)):
                one.thin()
        self.times_ms.append(frame.ms)
        self._prune()
        return True

    def _match(self, frame: "Frame", faces: Detections, descriptors: list[np.ndarray]) -> dict[int, OpenTrack]:
        near = self.near(frame.ms)
        if not near or not len(faces):
            return {}
        boxes = faces.boxes * frame.scale
        expected = np.array([one.expected(frame.ms) for one in near])
        overlap = np.maximum(iou(expected, boxes), iou(np.array([one.boxes[-1] for one in near]), boxes))
        likeness = np.array([one.descriptor for one in near]) @ np.array(descriptors).T
        value = (1 - _LIKENESS_WEIGHT) * overlap + _LIKENESS_WEIGHT * likeness
        allowed = (overlap >= MIN_OVERLAP) & (likeness >= MIN_LIKENESS)
        return {j: near[i] for i, j in assigned(value, allowed)}

    def _prune(self) -> None:
        while len(self.done) + len(self.active) > MAX_TRACKS:
            pool = self.done or self.active
            pool.remove(min(pool, key=lambda one: one.prominence))
        tracks = self.done + self.active
        while sum(len(one.kept) for one in tracks) > MAX_CROPS_IN_ALL:
            max(tracks, key=lambda one: len(one.kept)).thin()


def assigned(value: np.ndarray, allowed: np.ndarray) -> list[tuple[int, int]]:
    """Return as many allowed pairs of a row and a column as there can be, none in two, of the largest sum of values."""
    if (allowed.sum(axis=0) > 1).any() or (allowed.sum(axis=1) > 1).any():
        # Here, not above: faces mostly lie apart, and the import takes as long as following them for a second.
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(np.where(allowed, -value, 10.0))
        chosen = np.zeros_like(allowed)
        chosen[rows, columns] = True
        allowed = allowed & chosen
    return [(int(i), int(j)) for i, j in np.argwhere(allowed)]


def iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the intersection over union of boxes a (n, 4) and b (m, 4): float (n, m) in [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> iou(np.array([[0.0, 0.0, 2.0, 2.0]]), np.array([[0.0, 0.0, 2.0, 1.0], [3.0, 3.0, 4.0, 4.0]])).tolist()
    [[0.5, 0.0]]
    """
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    both = np.clip(high - low, 0, None).prod(axis=2)
    areas = [(box[:, 2:] - box[:, :2]).prod(axis=1) for box in (a, b)]
    shares: np.ndarray = both / np.maximum(areas[0][:, None] + areas[1][None, :] - both, 1e-9)
    return shares


def _largest(frame: "Frame", faces: Detections) -> Detections:
    """Return the largest faces, of those that can be cut from the frame."""
    sides = faces.boxes[:, 2:] - faces.boxes[:, :2]
    order = np.argsort(-sides.prod(axis=1), kind="stable")
    rows = [row for row in order if faces.scores[row] > 0 and fits(frame.rgb.shape, faces.landmarks[row])]
    return faces[np.array(rows[:MAX_FACES], dtype=int)]


def _apart(faces: Detections) -> Detections:
    """Return the faces without those that run onto one of a higher score."""
    overlap = iou(faces.boxes, faces.boxes)
    rank = np.argsort(np.argsort(-faces.scores, kind="stable"), kind="stable")
    higher = rank[None, :] < rank[:, None]
    return faces[np.flatnonzero(~((overlap > _SAME_FACE) & higher).any(axis=1))]


def _descriptor(rgb: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Return a unit vector of a face's coarse look, without its brightness and contrast."""
    coarse = crop(rgb, box, size_px=_DESCRIPTOR_PX).astype(float).ravel()
    coarse -= coarse.mean()
    unit: np.ndarray = coarse / max(float(np.linalg.norm(coarse)), 1e-9)
    return unit
