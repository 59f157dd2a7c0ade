"""What is said of a whole picture and of the faces in it, weighed together (score-level fusion).

A generator draws faces with the rest: what is trained on faces alone sees in them what windows over the whole picture
miss, and the other way round. Where a card says what the other model weighs, its calibrated logit is added, weighed, to
the model's own. A file that shows no face that can be judged is judged without; of videos, what is said of their
faces may be weighed into what is said of their frames, and nothing into what is said of faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from forensix.calibration import logit, sigmoid
from forensix.media import Media
from forensix.models import Fusion, load_component
from forensix.synthetic.content import doubt, doubt_if_fake
from forensix.tasks.frame_scores import FINDER, frame_scores
from forensix.tasks.judged_faces import JudgedFace, faces_score, judge_faces
from forensix.tasks.task import Options
from forensix.tasks.verdicts import score_text

EVEN = 0.5
"""A score above speaks for a fake, one below against: their logits have opposite signs."""


@dataclass(frozen=True)
class SecondOpinion:
    """The score that another model gives what is beside, or around, and how much it weighs."""

    score: float
    what: str
    """What it is of, as in ``"the face in it"``."""
    component: Any
    model: str
    """Name of the other model."""
    weight: float

    def fused(self, scores: Any) -> NDArray[Any]:
        """Return a model's own scores with this weighed in, in their shape."""
        return sigmoid(logit(scores) + self.weight * logit(self.score))

    def note(self, what: str, score: float, *, many: bool = False) -> str:
        """Return in a sentence what was put together, given what the model's own score is of, ``many`` or one."""
        alone = f"score {score_text(score)} by themselves" if many else f"scores {score_text(score)} by itself"
        both = {(True, True): " for", (False, False): " against"}.get((score > EVEN, self.score > EVEN))
        add_up = f": both speak{both} a fake, which adds up" if both else ""
        return (
            f"{what} {alone}, {self.what} {score_text(self.score)} ({self.model});"
            f" weighed together {score_text(float(self.fused(score)))}{add_up}."
        )


def opinion_of_faces(media: Media, detector: Any, options: Options) -> SecondOpinion | None:
    """Return what is said of the faces in a file; nothing where the card of its detector gives them no weight."""
    fusion, weight = _weighed(detector, media)
    if fusion is None or weight is None:
        return None
    classifier = load_component("face_classifier", fusion.model, options.placement)
    finder = load_component("face_detector", FINDER, options.placement)
    faces = judge_faces(media, classifier, detector=finder)
    score, n = faces_score(faces), sum(not face.doubt for face in faces)
    what = "the face in it" if n == 1 else f"the {n} faces in it"
    return None if score is None else SecondOpinion(score, what, classifier, fusion.model, weight)


def opinion_of_picture(
    media: Media, classifier: Any, faces: Sequence[JudgedFace], options: Options
) -> SecondOpinion | None:
    """Return what is said of the picture that faces lie in; nothing where their classifier's card gives it no weight.

    None is asked for where none of the faces can be judged, nor where the picture's own verdict could not be that it
    was generated: most of it is even areas, as of a page or a slide with a portrait on it, or it is small or looks
    painted. What accuses no picture accuses no face in it either.
    """
    fusion, weight = _weighed(classifier, media)
    if fusion is None or weight is None or all(face.doubt for face in faces):
        return None
    picture = media.image()
    if doubt(picture) or doubt_if_fake(picture):
        return None
    detector = load_component("image_detector", fusion.model, options.placement)
    (score,) = frame_scores(media, detector, options.placement).scores
    return SecondOpinion(score, "the whole picture", detector, fusion.model, weight)


def fused_faces(faces: Sequence[JudgedFace], opinion: SecondOpinion) -> list[JudgedFace]:
    """Return the faces of a picture with what is said of the picture weighed in."""
    return [
        replace(face, score=float(opinion.fused(face.score)), crop_scores=opinion.fused(face.crop_scores))
        for face in faces
    ]


def _weighed(component: Any, media: Media) -> tuple[Fusion | None, float | None]:
    """Return what a component's card says of another model, and what that weighs for such a medium."""
    fusion: Fusion | None = getattr(getattr(component, "card", None), "fusion", None)
    return fusion, fusion.weight_of(media.kind) if fusion else None
