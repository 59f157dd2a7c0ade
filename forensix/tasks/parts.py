"""What is said of a part put into a face, beside what is said of the face as a whole.

A classifier of faces tells those that were made as a whole: most of a swapped, composed or lip-synced one is recorded.
Where its card names a model that marks parts put in, a face's score is that it was made in either way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from forensix.calibration import logit, sigmoid
from forensix.media import Media
from forensix.models import Parts, load_component
from forensix.tasks.judged_faces import JudgedFace
from forensix.tasks.task import Options
from forensix.tasks.verdicts import checked, score_text

MAX_CROPS = 8
"""Of a face that are looked at, spread over the time that it is seen."""
MOST_TOLD = 3


def parts_scores(media: Media, regions: Any, faces: Sequence[JudgedFace]) -> dict[int, float]:
    """Return how likely it is that a part was put into each judged face, by its number; asked once for a medium.

    Parameters
    ----------
    regions
        What fills the slot ``face_regions``, with a method ``score``.
    """
    judged = [face for face in faces if not face.doubt]
    if not judged:
        return {}

    def score() -> tuple[Any, dict[int, float]]:
        crops = [face.track.crops[:: -(-len(face.track.crops) // MAX_CROPS)] for face in judged]
        scores = checked(regions.score(np.concatenate(crops)), sum(map(len, crops)), regions)
        each = np.split(logit(scores), np.cumsum([len(own) for own in crops])[:-1])
        # Whoever said it is kept with it, so that no other can come to have its id.
        return regions, {face.track.id: float(sigmoid(own.mean())) for face, own in zip(judged, each, strict=True)}

    numbers = ",".join(str(number) for number in sorted(face.track.id for face in judged))
    return media.memo(f"tasks.parts:{id(regions)}:{numbers}", score)[1]


@dataclass(frozen=True)
class PartsOpinion:
    """What another model says of parts put into faces, and how that counts."""

    parts: Parts
    component: Any
    scores: dict[int, float]
    """Of each judged face, by its number."""

    def joined(self, faces: Sequence[JudgedFace]) -> list[JudgedFace]:
        """Return the faces with the score that they were made in either way."""
        return [self._joined(face) if face.track.id in self.scores else face for face in faces]

    def notes(self, whole: Sequence[JudgedFace], joined: Sequence[JudgedFace]) -> Iterator[str]:
        """Yield of the most suspect of the ``joined`` faces what either model said of it."""
        alone = {face.track.id: face.score for face in whole}
        for face in [face for face in joined if face.track.id in self.scores][:MOST_TOLD]:
            number = face.track.id
            yield (
                f"That face {number} was made as a whole scores {score_text(alone[number])}, that a part was put into"
                f" it {score_text(self.scores[number])} ({self.parts.model}); in either way {score_text(face.score)}."
            )

    def _joined(self, face: JudgedFace) -> JudgedFace:
        part = logit(np.array(self.scores[face.track.id]))

        def either(whole: Any) -> Any:
            return sigmoid(self.parts.logit(logit(whole), part))

        return replace(face, score=float(either(np.array(face.score))), crop_scores=either(face.crop_scores))


def opinion_of_parts(
    media: Media, classifier: Any, faces: Sequence[JudgedFace], options: Options
) -> PartsOpinion | None:
    """Return what is said of parts put into faces; nothing where their classifier's card names no model for that."""
    parts: Parts | None = getattr(getattr(classifier, "card", None), "parts", None)
    if parts is None or all(face.doubt for face in faces):
        return None
    regions = load_component("face_regions", parts.model, options.placement)
    return PartsOpinion(parts, regions, parts_scores(media, regions, faces))
