"""What the faces in a picture add to what a detector says of the whole.

A generator draws faces with the rest, and what is trained on faces alone sees in them what windows over the whole
picture miss. Where the detector's card says what they weigh, the picture's logit and that of its faces are added; of a
picture that shows none that can be judged, and of videos, the picture's stands alone.
"""

from dataclasses import dataclass
from typing import Any

from forensix.calibration import logit, sigmoid
from forensix.media import Media
from forensix.models import FaceShare, load_component
from forensix.tasks.judged_faces import faces_score, judge_faces
from forensix.tasks.task import Options
from forensix.tasks.verdicts import score_text

FINDER = "mtcnn"
"""What finds the faces, as when the cards' weights were fitted."""


@dataclass(frozen=True)
class SaidOfFaces:
    """What a classifier says of the faces in a picture, and how much it weighs beside what is said of the whole."""

    score: float
    n: int
    classifier: Any
    share: FaceShare

    def joined(self, score: float) -> float:
        """Return the score of picture and faces together, given that of the picture."""
        return float(sigmoid(logit(score) + self.share.weight * logit(self.score)))

    def note(self, score: float) -> str:
        """Return in a sentence what was put together, given the score of the picture."""
        faces = "the face in it" if self.n == 1 else f"the {self.n} faces in it"
        return (
            f"The picture by itself scores {score_text(score)}, {faces} {score_text(self.score)}"
            f" ({self.share.classifier}); weighed together {score_text(self.joined(score))}."
        )


def said_of_faces(media: Media, detector: Any, options: Options) -> SaidOfFaces | None:
    """Return what is said of the faces in a picture; nothing where the detector's card gives them no weight."""
    share: FaceShare | None = getattr(getattr(detector, "card", None), "faces", None)
    if share is None or media.kind != "image":
        return None
    classifier = load_component("face_classifier", share.classifier, options.placement)
    finder = load_component("face_detector", FINDER, options.placement)
    faces = judge_faces(media, classifier, detector=finder)
    score = faces_score(faces)
    return None if score is None else SaidOfFaces(score, sum(not face.doubt for face in faces), classifier, share)
