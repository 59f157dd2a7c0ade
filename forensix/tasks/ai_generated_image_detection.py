"""``ai_generated_image_detection``: was a picture or a video made by a generator, and by which?

A pixel model scores the picture, or frames spread over the video. Where the file itself names a generator, that is
weighed in with the likelihood ratio that was measured for such marks; where it names none, nothing follows from that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import BrokenMedia
from forensix.faces.detect import landmarks
from forensix.forensics.provenance import generator_identifier, generator_marks
from forensix.generated.detector import aggregate_frames
from forensix.generated.overlay import draw_heatmap, eye_mouth_overlay, heatmap_object
from forensix.generated.provenance import combine
from forensix.media import Media
from forensix.metadata.facts import Fact
from forensix.schema import ACCEPTS, Attribution, ImageExplanation, ImageResult
from forensix.tasks.evidence import Curve, Evidence, Outcome, Picture, Table
from forensix.tasks.forensic_analysis import facts_of
from forensix.tasks.pictures import jpeg_uri
from forensix.tasks.task import Options, component, component_label
from forensix.tasks.verdicts import class_of, is_inconclusive, probability_of, threshold_of

N_FRAMES = 16
"""Frames of a video that are looked at, spread evenly."""

MAX_ATTRIBUTIONS = 10


@dataclass(frozen=True)
class _Looked:
    """The frames that were scored; the picture itself for an image."""

    times_ms: tuple[float, ...]
    scores: tuple[float, ...]
    strongest: NDArray[np.uint8]
    """The frame that speaks most for a generator."""


class GeneratedImageDetection:
    """Tell generated pictures from photographs."""

    name = "ai_generated_image_detection"
    accepts = ACCEPTS["ai_generated_image_detection"]
    components: Mapping[str, str] = MappingProxyType(
        {"image_detector": "forensix-image", "attribution": "forensix-attribution"}
    )

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the verdict, and for a generated picture the generators that it is most like."""
        detector = component(self, "image_detector", options)
        options.progress("looking at pixels", 0.0)
        looked = _look(media, detector)
        pixel_score = looked.scores[0] if len(looked.scores) == 1 else aggregate_frames(looked.scores)
        options.progress("reading provenance", 0.6)
        marks = generator_marks(facts_of(media))
        score = combine(pixel_score, marked=bool(marks))
        class_name = class_of(score, detector)
        inconclusive = is_inconclusive(score, detector)
        used = [detector]
        attributions: tuple[Attribution, ...] | None = None
        if class_name == "fake" and not options.score_only:
            options.progress("naming the generator", 0.7)
            attributor = component(self, "attribution", options)
            used.append(attributor)
            attributions = _attributions(looked.strongest, attributor, marks)
        options.progress("drawing heat maps", 0.8)
        explanation = _explanation(looked.strongest, detector) if options.explain else None
        result = ImageResult(
            class_name=class_name,
            class_probability=probability_of(score, class_name),
            explanation=explanation if class_name == "fake" else None,
            model_attribution=attributions[0].model if attributions else None,
            model_attribution_probability=attributions[0].probability if attributions else None,
            model_attributions=attributions,
        )
        return Outcome(
            result=result,
            score=score,
            evidence=_evidence(looked, detector, explanation, marks, class_name) if options.explain else (),
            notes=_notes(marks, pixel_score, looked),
            models=tuple(component_label(one) for one in used),
            summary=_summary(class_name, marks, pixel_score, attributions, inconclusive),
            inconclusive=inconclusive,
            frame_scores=tuple(zip(looked.times_ms, looked.scores, strict=True)) if media.kind == "video" else (),
        )


def _look(media: Media, detector: Any) -> _Looked:
    rate_hz = None
    if media.kind == "video":
        rate_hz = N_FRAMES / media.info.duration_s if media.info.duration_s else 1.0
    times_ms: list[float] = []
    scores: list[float] = []
    strongest: NDArray[np.uint8] | None = None
    for frame in media.frames(rate_hz=rate_hz):
        score = float(detector.score(frame.rgb))
        if strongest is None or score > max(scores):
            strongest = frame.rgb
        times_ms.append(frame.ms)
        scores.append(score)
    if strongest is None:
        raise BrokenMedia(f"{media.name} holds no frame that can be decoded")
    return _Looked(tuple(times_ms), tuple(scores), strongest)


def _attributions(rgb: NDArray[np.uint8], attributor: Any, marks: Sequence[Fact]) -> tuple[Attribution, ...]:
    """Return generators with probabilities: by the pixels, and by the name in the file where it gives one."""
    found = dict(attributor.attribute(rgb))
    named = generator_identifier(marks)
    if named:
        # As sure of the name as the mark makes us that the file is generated at all.
        trust = combine(0.5, marked=True)
        found = {name: (1 - trust) * p for name, p in found.items()}
        found[named] = found.get(named, 0.0) + trust
    ranked = sorted(found.items(), key=lambda item: -item[1])[:MAX_ATTRIBUTIONS]
    return tuple(Attribution(model=name, probability=p) for name, p in ranked)


def _explanation(rgb: NDArray[np.uint8], detector: Any) -> ImageExplanation | None:
    """Draw the heat map, the object that it singles out, and the eyes and mouths of the faces there are."""
    if not hasattr(detector, "heatmap"):
        return None
    heat = detector.heatmap(rgb)
    faces = landmarks(rgb)
    return ImageExplanation(
        heatmap=jpeg_uri(draw_heatmap(rgb, heat)),
        heatmap_object=jpeg_uri(heatmap_object(rgb, heat)),
        eye_mouth_overlays_image=jpeg_uri(eye_mouth_overlay(rgb, list(faces))) if len(faces) else None,
    )


def _evidence(
    looked: _Looked,
    detector: Any,
    explanation: ImageExplanation | None,
    marks: Sequence[Fact],
    class_name: str,
) -> tuple[Evidence, ...]:
    caption = "the frame that speaks most for a generator" if len(looked.scores) > 1 else ""
    shown: list[Evidence] = [Picture("Looked at", jpeg_uri(looked.strongest), caption)]
    if class_name == "real" and explanation and explanation.heatmap:
        # The result carries no heat map when nothing is fake; a person wants to see it all the same.
        shown.append(Picture("Heat map", explanation.heatmap, "the regions that spoke most for a generator"))
    if len(looked.scores) > 1:
        x = tuple(ms / 1000 for ms in looked.times_ms)
        shown.append(Curve("Score by frame", x, looked.scores, "time (s)", "score", threshold_of(detector)))
    if marks:
        rows = tuple((mark.key, str(mark.value)[:200], mark.where) for mark in marks)
        shown.append(Table("What the file says of a generator", ("fact", "value", "where"), rows))
    return tuple(shown)


def _notes(marks: Sequence[Fact], pixel_score: float, looked: _Looked) -> tuple[str, ...]:
    notes = []
    if marks:
        notes.append(f"The pixels alone score {pixel_score:.2f}; the rest follows from what the file says of itself.")
    if min(looked.strongest.shape[:2]) < 128:
        notes.append("The picture is small: pixels carry little evidence.")
    return tuple(notes)


def _summary(
    class_name: str,
    marks: Sequence[Fact],
    pixel_score: float,
    attributions: Sequence[Attribution] | None,
    inconclusive: bool,
) -> str:
    if inconclusive:
        return f"Whether a camera or a generator made it cannot be told from the pixels (score {pixel_score:.2f})."
    if class_name == "real":
        said = "although the file names a generator" if marks else "and the file names no generator"
        return f"The pixels look like a photograph's, {said}."
    if marks:
        return f"The file itself says that a generator made it ({marks[0].where})."
    like = f"; among known generators it is most like {attributions[0].model}" if attributions else ""
    return f"The pixels look generated (score {pixel_score:.2f}){like}."
