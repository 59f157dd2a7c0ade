"""Follow each face of an image or a video: where it is in the frames looked at, and crops of it spread over time.

Faces are looked for in at most ``MAX_RATE_HZ`` frames a second, fewer in long videos so that the whole takes bounded
time; boxes between those frames are not invented. Faces of neighbouring frames are joined by the best assignment of
overlap and likeness; a face that is lost for up to ``MAX_GAP_S`` is picked up again. A track says nothing about real or
fake. It fails when two like faces cross between two frames looked at, and splits when a face turns away for long.

Memory does not grow with duration beyond a few numbers a detection: at most ``MAX_TRACKS`` tracks of ``MAX_CROPS``
crops.

References
----------
Bewley et al., Simple online and realtime tracking, 2016 (assignment of overlaps), with likeness of crops added.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from forensix.faces.crop import CROP_PX, crop
from forensix.faces.detect import BATCH, MIN_SCORE, Detections, detect

if TYPE_CHECKING:
    from forensix.media import Frame, Media

MAX_RATE_HZ = 5.0
MIN_RATE_HZ = 0.5
MAX_DETECTIONS = 1200
"""Frames looked at in a long video, unless that means fewer than ``MIN_RATE_HZ``: 30 minutes are 1200 frames."""

MAX_GAP_S = 1.0
MAX_CROPS = 32
MAX_TRACKS = 64
MAX_FACES = 32
"""Largest faces kept of one frame: a wall of faces must not fill the memory."""

IMAGE_SIDE_PX = 1280
VIDEO_SIDE_PX = 1280
"""Frames are decoded at most this large: enough for crops of ``CROP_PX`` of any face a tenth of the frame wide."""

MIN_OVERLAP = 0.1
MIN_LIKENESS = 0.5
"""Correlation of two crops below which they are two faces, however well they overlap: a cut to another person. On the
development videos no neighbouring crops of one person fall below it, and five of six of two persons do."""

_LIKENESS_WEIGHT = 0.5
_SEEN_TWICE_FRAMES = 3
_DESCRIPTOR_PX = 16


@dataclass(frozen=True, eq=False)
class FaceTrack:
    """One face over the frames in which it was found.

    boxes (n, 4) float xyxy in pixels of the original frame, scores (n,) of the detector, frame_idx (n,) and
    frame_ms (n,) in the original video. ``kept`` (k,) says which of the n were kept as ``crops``, uint8
    (k, CROP_PX, CROP_PX, 3), with ``landmarks`` (k, 5, 2) in pixels of the original frame. ``frame_rate_hz`` is the
    video's own rate, 0 for an image. ``id`` counts from 0, the most prominent face first.
    """

    id: int
    boxes: np.ndarray
    scores: np.ndarray
    frame_idx: np.ndarray
    frame_ms: np.ndarray
    frame_rate_hz: float
    kept: np.ndarray
    crops: np.ndarray
    landmarks: np.ndarray

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def crop_frame_idx(self) -> np.ndarray:
        """Frame of each crop, int (k,)."""
        frames: np.ndarray = self.frame_idx[self.kept]
        return frames

    @property
    def mean_size_px(self) -> tuple[float, float]:
        """Average width and height of the boxes."""
        width, height = (self.boxes[:, 2:] - self.boxes[:, :2]).mean(axis=0)
        return float(width), float(height)


def track(
    media: "Media",
    *,
    rate_hz: float | None = None,
    max_crops: int = MAX_CROPS,
    min_score: float = MIN_SCORE,
) -> tuple[FaceTrack, ...]:
    """Find and follow the faces of an image or a video.

    Parameters
    ----------
    media
        An opened image or video; an image is a video of one frame.
    rate_hz
        Frames looked at each second; by default `sampling_rate_hz` of the duration.
    max_crops
        Most crops kept of a track.
    min_score
        Least confidence of a detection, in [0, 1].

    Returns
    -------
    Tracks, most prominent first (number of detections times mean area); empty where there is no face.
    """
    key = f"faces.track:{rate_hz}:{max_crops}:{min_score}"
    return media.memo(key, lambda: _track_media(media, rate_hz, max_crops, min_score))


def sampling_rate_hz(duration_s: float | None) -> float:
    """Return how many frames a second are looked at.

    Examples
    --------
    >>> sampling_rate_hz(10.0), sampling_rate_hz(600.0), sampling_rate_hz(36000.0)
    (5.0, 2.0, 0.5)
    """
    if not duration_s:
        return MAX_RATE_HZ
    return min(MAX_RATE_HZ, max(MIN_RATE_HZ, MAX_DETECTIONS / duration_s))


def track_frames(
    frames: "Iterable[Frame]",
    *,
    frame_rate_hz: float = 0.0,
    interval_s: float = 1 / MAX_RATE_HZ,
    max_crops: int = MAX_CROPS,
    min_score: float = MIN_SCORE,
    max_side_px: int | None = None,
) -> tuple[FaceTrack, ...]:
    """Follow faces over frames that come in order of time; see `track`. ``interval_s`` is the time between frames."""
    tracker = _Tracker(max_gap_ms=1000 * max(MAX_GAP_S, 2.5 * interval_s), max_crops=max_crops)
    options = {} if max_side_px is None else {"max_side_px": max_side_px}
    for batch in _batches(frames):
        found = detect([frame.rgb for frame in batch], min_score=min_score, **options)
        for frame, faces in zip(batch, found, strict=True):
            tracker.add(frame, faces)
    return tracker.finish(frame_rate_hz)


def _track_media(media: "Media", rate_hz: float | None, max_crops: int, min_score: float) -> tuple[FaceTrack, ...]:
    if media.kind == "image":
        return track_frames(media.frames(), max_crops=max_crops, min_score=min_score, max_side_px=IMAGE_SIDE_PX)
    rate_hz = rate_hz or sampling_rate_hz(media.info.duration_s)
    return track_frames(
        media.frames(rate_hz=rate_hz, max_side_px=VIDEO_SIDE_PX),
        frame_rate_hz=float(media.info.frame_rate_hz or 0.0),
        interval_s=1 / rate_hz,
        max_crops=max_crops,
        min_score=min_score,
    )


def _batches(frames: "Iterable[Frame]") -> "Iterator[list[Frame]]":
    frames = iter(frames)
    while batch := list(islice(frames, BATCH)):
        yield batch


@dataclass(eq=False)
class _Open:
    """A track that is being made; ``velocity`` in pixels a millisecond."""

    boxes: list[np.ndarray] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    frame_idx: list[int] = field(default_factory=list)
    frame_ms: list[float] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    crops: list[np.ndarray] = field(default_factory=list)
    landmarks: list[np.ndarray] = field(default_factory=list)
    stride: int = 1
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))
    descriptor: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def prominence(self) -> float:
        sides = np.array(self.boxes)
        return float(len(sides) * (sides[:, 2:] - sides[:, :2]).prod(axis=1).mean())

    def expected(self, ms: float) -> np.ndarray:
        return self.boxes[-1] + np.tile(self.velocity * (ms - self.frame_ms[-1]), 2)

    def keep(self, picture: np.ndarray, landmarks: np.ndarray, max_crops: int) -> None:
        """Keep every ``stride``-th crop; when there are too many, drop every other one and double the stride."""
        position = len(self.boxes) - 1
        if position % self.stride:
            return
        self.kept.append(position)
        self.crops.append(picture)
        self.landmarks.append(landmarks)
        if len(self.kept) > max_crops:
            self.stride *= 2
            for values in (self.kept, self.crops, self.landmarks):
                del values[1::2]


class _Tracker:
    def __init__(self, *, max_gap_ms: float, max_crops: int) -> None:
        self.max_gap_ms = max_gap_ms
        self.max_crops = max(1, max_crops)
        self.active: list[_Open] = []
        self.done: list[_Open] = []
        self.n_frames = 0

    def add(self, frame: "Frame", faces: Detections) -> None:
        self.n_frames += 1
        for lost in [one for one in self.active if frame.ms - one.frame_ms[-1] > self.max_gap_ms]:
            self.active.remove(lost)
            self.done.append(lost)
        sides = faces.boxes[:, 2:] - faces.boxes[:, :2]
        largest = np.argsort(-sides.prod(axis=1), kind="stable")[:MAX_FACES]
        height, width = frame.rgb.shape[:2]
        # Crops are cut around the whole face, boxes end where the picture does.
        boxes = np.clip(faces.boxes[largest], 0, (width, height, width, height)) * frame.scale
        points = faces.landmarks[largest] * frame.scale
        pictures = [crop(frame.rgb, box) for box in faces.boxes[largest]]
        descriptors = [_descriptor(picture) for picture in pictures]
        matched = dict(self._match(frame.ms, boxes, descriptors))
        for j in range(len(boxes)):
            one = matched.get(j)
            if one is None:
                one = _Open()
                self.active.append(one)
            else:
                passed_ms = max(frame.ms - one.frame_ms[-1], 1e-3)
                moved = (boxes[j] - one.boxes[-1]).reshape(2, 2).mean(axis=0) / passed_ms
                one.velocity = 0.5 * one.velocity + 0.5 * moved
            one.boxes.append(boxes[j])
            one.scores.append(float(faces.scores[largest[j]]))
            one.frame_idx.append(frame.index)
            one.frame_ms.append(frame.ms)
            one.descriptor = descriptors[j]
            one.keep(pictures[j], points[j], self.max_crops)
        self._prune()

    def _match(self, ms: float, boxes: np.ndarray, descriptors: list[np.ndarray]) -> list[tuple[int, _Open]]:
        if not self.active or not len(boxes):
            return []
        expected = np.array([one.expected(ms) for one in self.active])
        overlap = np.maximum(iou(expected, boxes), iou(np.array([one.boxes[-1] for one in self.active]), boxes))
        likeness = np.array([one.descriptor for one in self.active]) @ np.array(descriptors).T
        value = (1 - _LIKENESS_WEIGHT) * overlap + _LIKENESS_WEIGHT * likeness
        allowed = (overlap >= MIN_OVERLAP) & (likeness >= MIN_LIKENESS)
        rows, columns = linear_sum_assignment(np.where(allowed, -value, 10.0))
        return [(int(j), self.active[i]) for i, j in zip(rows, columns, strict=True) if allowed[i, j]]

    def _prune(self) -> None:
        while len(self.done) + len(self.active) > MAX_TRACKS:
            pool = self.done or self.active
            pool.remove(min(pool, key=lambda one: one.prominence))

    def finish(self, frame_rate_hz: float) -> tuple[FaceTrack, ...]:
        # In a video a face is there in more than one frame; what is seen once is mostly not a face.
        least = 2 if self.n_frames >= _SEEN_TWICE_FRAMES else 1
        tracks = [one for one in self.done + self.active if len(one.boxes) >= least]
        tracks.sort(key=lambda one: (-one.prominence, one.frame_idx[0]))
        return tuple(
            FaceTrack(
                id=number,
                boxes=np.array(one.boxes),
                scores=np.array(one.scores),
                frame_idx=np.array(one.frame_idx, dtype=np.int64),
                frame_ms=np.array(one.frame_ms),
                frame_rate_hz=frame_rate_hz,
                kept=np.array(one.kept, dtype=np.int64),
                crops=np.array(one.crops),
                landmarks=np.array(one.landmarks),
            )
            for number, one in enumerate(tracks)
        )


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


def _descriptor(picture: np.ndarray) -> np.ndarray:
    """Return a unit vector of a crop's coarse look, without its brightness and contrast."""
    step = CROP_PX // _DESCRIPTOR_PX
    coarse = picture.reshape(_DESCRIPTOR_PX, step, _DESCRIPTOR_PX, step, 3).mean(axis=(1, 3)).ravel()
    coarse = coarse - coarse.mean()
    unit: np.ndarray = coarse / max(float(np.linalg.norm(coarse)), 1e-9)
    return unit
