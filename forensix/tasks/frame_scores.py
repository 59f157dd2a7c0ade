"""What a detector of generated pictures says of a picture or of frames of a video, asked once for all tasks."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import BrokenMedia
from forensix.faces import track
from forensix.faces.turned import turned
from forensix.media import Media
from forensix.models import Placement, load_component
from forensix.synthetic.content import doubt
from forensix.tasks.verdicts import checked, judges_of

FINDER = "mtcnn"
"""What finds the faces, as when weights were fitted."""

N_FRAMES = 16
"""Frames of a video that are looked at, spread evenly."""

FRAMES_AT_ONCE = 4
"""Frames that are handed to the detector together; more where its batch holds more pictures, up to all."""


@dataclass(frozen=True, eq=False)
class FrameScores:
    """The frames that were scored; the picture itself for an image."""

    times_ms: tuple[float, ...]
    scores: tuple[float, ...]
    doubts: tuple[str, ...]
    """Of each frame why it cannot be judged (`forensix.synthetic.content.doubt`); empty where it can."""
    turns: int
    """Quarter turns to the left after which the picture was scored, as the faces in it stand upright then."""
    strongest: NDArray[np.uint8]
    """The frame that speaks most for a generator, of those that can be judged where there are any."""

    @property
    def doubt(self) -> str:
        """Why the whole cannot be judged: what is said of most frames that cannot, where these are half or more."""
        doubted = [doubt for doubt in self.doubts if doubt]
        return max(doubted, key=doubted.count) if 2 * len(doubted) >= len(self.doubts) else ""

    @property
    def counted(self) -> tuple[float, ...]:
        """The scores of the frames that can be judged; all where the whole cannot."""
        rows = zip(self.scores, self.doubts, strict=True)
        return tuple(score for score, doubt in rows if self.doubt or not doubt)


def frame_scores(
    media: Media,
    detector: Any,
    placement: Placement = Placement(),  # noqa: B008 - frozen
) -> FrameScores:
    """Score the picture, or frames spread over the whole video, whatever its header says of its duration.

    A picture that lies on its side is turned until the faces in it stand upright, where the detector's card weighs
    faces in: it learnt from upright ones.

    Raises
    ------
    BrokenMedia
        It holds no frame that can be decoded.
    UsageError
        The detector does not give a score in [0, 1] for each.
    """
    # The detector is kept with what it said, so that no other can come to have its id.
    key = f"tasks.frame_scores:{id(detector)}"
    return media.memo(key, lambda: (detector, _scored(media, detector, placement)))[1]


def _turns(media: Media, detector: Any, placement: Placement) -> int:
    """Return after how many quarter turns the faces of a picture stand upright; 0 where there are none."""
    if media.kind != "image" or getattr(getattr(detector, "card", None), "fusion", None) is None:
        return 0
    finder = load_component("face_detector", FINDER, placement)
    return next((face.turns for face in track(media, detector=finder)), 0)


def _scored(media: Media, detector: Any, placement: Placement) -> FrameScores:
    turns, judges = _turns(media, detector, placement), judges_of(detector, media.kind)
    rate_hz = None
    if media.kind == "video":
        rate_hz = N_FRAMES / media.info.duration_s if media.info.duration_s else 1.0
    rows: list[tuple[float, float, str]] = []
    strongest: tuple[tuple[bool, float], NDArray[np.uint8] | None] = ((False, -1.0), None)
    stride, frames = 1, media.frames(rate_hz=rate_hz)
    sampled = (frame for index, frame in enumerate(frames) if index % stride == 0)
    at_once = min(N_FRAMES, max(FRAMES_AT_ONCE, int(getattr(detector, "pictures_at_once", 0))))
    while batch := tuple(itertools.islice(sampled, at_once)):
        scores = _scores(detector, [turned(frame.rgb, turns) for frame in batch])
        for frame, score in zip(batch, scores, strict=True):
            rows.append((frame.ms, score, why := doubt(frame.rgb, judges)))
            if (rank := (not why, score)) > strongest[0]:
                strongest = (rank, frame.rgb)
        if len(rows) >= 2 * N_FRAMES:
            # Longer than its header said: from here on every second one, and of those before as well.
            rows, stride = rows[::2], 2 * stride
    if strongest[1] is None:
        raise BrokenMedia(f"{media.name} holds no frame that can be decoded")
    times_ms, predictions, doubts = zip(*rows, strict=True)
    return FrameScores(times_ms, predictions, doubts, turns, strongest[1])


def _scores(detector: Any, pictures: list[NDArray[np.uint8]]) -> list[float]:
    """Return the scores of several pictures, through the network together where the detector can."""
    scores = detector.scores(pictures) if hasattr(detector, "scores") else [detector.score(rgb) for rgb in pictures]
    return [float(score) for score in checked(scores, len(pictures), detector)]
