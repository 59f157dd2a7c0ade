"""The faces of a medium with what a classifier says of each, found and scored once for all tasks that ask."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.calibration import logit, sigmoid
from forensix.faces import FaceTrack, track
from forensix.faces.steadiness import is_still, pooled
from forensix.faces.verdict import doubt, face_logit, file_logit, is_smooth, middle_gap
from forensix.media import Media
from forensix.models import Pooling, Steadiness
from forensix.synthetic.content import is_reduced
from forensix.tasks.verdicts import checked

REDUCED = "the picture has as few colours as a palette holds, which removes the fine detail of a face"


@dataclass(frozen=True, eq=False)
class JudgedFace:
    """One track and what the classifier says of it; ``doubt`` says in words why it is not judged, if it is not."""

    track: FaceTrack
    crop_scores: NDArray[np.float64]
    """In a video with what how steady it is adds, as in ``score``."""
    score: float
    """Of its crops and, in a video, of how steady its fine detail is."""
    steadiness_logit: float = 0.0
    """What was added to the logit of its crops for how steady its fine detail is, in a video."""
    detail_gap: float = float("nan")
    """How much less fine detail it holds than its surroundings (`forensix.faces.detail_gap`), the middle frame's."""
    doubt: str = ""
    is_still: bool = False
    """Whether a video shows a picture of it, of which steadiness says nothing."""
    is_smooth: bool = False
    """Whether it lacks the fine detail without which a face in a picture is not called fake."""
    differs: bool = False
    """Whether a part of it differs from the rest beyond the bound of what marks such parts."""

    @property
    def crops_score(self) -> float:
        """Its score by its crops alone."""
        return float(sigmoid(logit(self.score) - self.steadiness_logit))

    @property
    def strongest(self) -> int:
        """Index of the crop that speaks most for the score."""
        return int(np.argmax(self.crop_scores))

    def score_at(self, ms: float) -> float | None:
        """Return the score of the nearest crop, none where the face is not judged."""
        if self.doubt:
            return None
        return float(self.crop_scores[int(np.argmin(np.abs(self.track.crop_ms - ms)))])

    def box_at(self, index: int) -> NDArray[np.float64] | None:
        """Return the box in a frame of the original, none where the face is not seen."""
        rows = np.flatnonzero(self.track.frame_idx == index)
        return self.track.boxes[rows[0]] if len(rows) else None


def judge_faces(
    media: Media,
    classifier: Any,
    *,
    detector: Any,
    progress: Callable[[float], None] | None = None,
) -> tuple[JudgedFace, ...]:
    """Return the faces of an image or a video, most prominent first; empty where there is none.

    Parameters
    ----------
    media
        An opened image or video.
    classifier
        What fills the slot ``face_classifier``; its card says how frames are pooled and which faces are not judged.
    detector
        What fills the slot ``face_detector``.
    progress
        As `forensix.faces.track` takes it.

    Raises
    ------
    UsageError
        The classifier does not give a score in [0, 1] for each crop.
    """
    tracks = track(media, detector=detector, progress=progress)
    reduced = REDUCED if tracks and media.kind == "image" and is_reduced(media.image()) else ""
    # The classifier is kept with what it said, so that no other can come to have its id.
    key = f"tasks.judged_faces:{id(classifier)}:{id(detector)}"
    return media.memo(key, lambda: (classifier, detector, _judged(tracks, classifier, media.kind, reduced)))[2]


def _judged(tracks: Sequence[FaceTrack], classifier: Any, kind: str, reduced: str) -> tuple[JudgedFace, ...]:
    """Return each face with its scores; the crops of all go through the classifier together.

    ``reduced`` says why none of them is judged, where that is so.
    """
    if not tracks:
        return ()
    card = getattr(classifier, "card", None)
    pooling = getattr(card, "pooling", None) or Pooling()
    steady: Steadiness | None = getattr(card, "steadiness", None) if kind == "video" else None
    sees_windows = getattr(classifier, "sees_windows", False)
    crops = np.concatenate([face.views if sees_windows else face.crops for face in tracks])
    scores = checked(classifier.score(crops), len(crops), classifier)
    judged = []
    for face, own in zip(tracks, np.split(scores, np.cumsum([len(face.crops) for face in tracks])[:-1]), strict=True):
        still = steady is not None and is_still(face.crops)
        added = float(np.nan_to_num(steady.logit(pooled(face.steadiness)))) if steady and not still else 0.0
        # With it in every crop's score, what is drawn over time meets the bound where the face's own score does.
        logits = logit(own) + added
        score = float(sigmoid(face_logit(logits, pooling)))
        reason = doubt(face, pooling, is_video=kind == "video") or reduced
        crop_scores = sigmoid(logits) if added else own
        gap = middle_gap(face.detail_gaps)
        # What encodes a video takes such detail away from every face.
        smooth = kind == "image" and is_smooth(face, pooling)
        judged.append(JudgedFace(face, crop_scores, score, added, gap, reason, is_still=still, is_smooth=smooth))
    return tuple(judged)


def faces_score(faces: Sequence[JudgedFace]) -> float | None:
    """Return the score of the hypothesis that one of the faces was manipulated; none where none can be judged."""
    judged = [face.score for face in faces if not face.doubt]
    return float(sigmoid(file_logit(logit(judged)))) if judged else None
