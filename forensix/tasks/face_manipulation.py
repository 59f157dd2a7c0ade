"""``face_manipulation``: every face, followed over the frames it is seen in, and a score each.

The medium's score is that of its most suspect face: one swapped face among many makes a video manipulated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.calibration import logit, sigmoid
from forensix.faces import FaceTrack, track
from forensix.faces.classify import pooled
from forensix.media import Media
from forensix.schema import ACCEPTS, FaceExplanation, FaceResult, ManipulationType, Track
from forensix.synthetic.overlay import draw_heatmap
from forensix.tasks.evidence import Curve, Evidence, Outcome, Picture, Span, Timeline
from forensix.tasks.pictures import boxed, jpeg_uri
from forensix.tasks.task import Options, component, component_label
from forensix.tasks.verdicts import checked, class_of, is_inconclusive, probability_of, threshold_of

PREVIEW_PX = 480
MAX_FACES_SHOWN = 12
"""Faces drawn in the report, most suspect first; the result lists all of them."""


@dataclass(frozen=True)
class _Face:
    """One track and what the classifier says of it."""

    track: FaceTrack
    crop_scores: NDArray[np.float64]
    score: float

    @property
    def shown(self) -> int:
        """Index of the crop that speaks most for the score."""
        return int(np.argmax(self.crop_scores))


class FaceManipulation:
    """Tell manipulated faces from recorded ones."""

    name = "face_manipulation"
    accepts = ACCEPTS["face_manipulation"]
    components: Mapping[str, str] = MappingProxyType({"face_classifier": "forensix-face"})

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the verdict on all faces; ``no_faces`` where there is none."""
        classifier = component(self, "face_classifier", options)
        options.progress("finding and following faces", 0.0)
        tracks = track(media)
        if not tracks:
            return Outcome(
                FaceResult(class_name="no_faces"),
                None,
                preview=None if options.score_only else _preview(media, ()),
                summary="No face was found, so there is none to judge.",
            )
        faces = []
        for i, one in enumerate(tracks):
            options.progress(f"judging face {i + 1} of {len(tracks)}", 0.6 + 0.3 * i / len(tracks))
            faces.append(_judge(one, classifier))
        faces.sort(key=lambda face: -face.score)
        worst = faces[0]
        class_name = class_of(worst.score, classifier)
        options.progress("drawing heat maps", 0.9)
        told = (
            tuple(_explained(face, classifier) for face in faces) if options.explain and class_name == "fake" else None
        )
        result = FaceResult(
            class_name=class_name,
            class_probability=probability_of(worst.score, class_name),
            manipulation_type=_type(worst, classifier) if class_name == "fake" else None,
            explanation=told,
        )
        return Outcome(
            result=result,
            score=worst.score,
            evidence=_evidence(media, faces, classifier, told) if options.explain else (),
            notes=_notes(media, faces),
            models=(component_label(classifier),),
            preview=None if options.score_only else _preview(media, faces),
            summary=_summary(faces, result, classifier),
            inconclusive=is_inconclusive(worst.score, classifier),
            frame_scores=_frame_scores(faces) if media.kind == "video" else (),
        )


def _judge(face: FaceTrack, classifier: Any) -> _Face:
    scores = checked(classifier.score(face.crops), len(face.crops), classifier)
    return _Face(face, scores, float(sigmoid(pooled(logit(scores)))))


def _frame_scores(faces: Sequence[_Face]) -> tuple[tuple[float, float], ...]:
    """Return time and score of each frame of which a crop was kept: that of its most suspect face."""
    found: dict[float, float] = {}
    for face in faces:
        for ms, score in zip(face.track.frame_ms[face.track.kept], face.crop_scores, strict=True):
            found[float(ms)] = max(float(score), found.get(float(ms), 0.0))
    return tuple(sorted(found.items()))


def _type(face: _Face, classifier: Any) -> ManipulationType | None:
    if not hasattr(classifier, "types"):
        return None
    types = classifier.types(face.track.crops)
    return max(types, key=types.get) if types else None


def _explained(face: _Face, classifier: Any) -> FaceExplanation:
    one, at = face.track, face.shown
    row = int(one.kept[at])
    class_name = class_of(face.score, classifier)
    crop = one.crops[at]
    return FaceExplanation(
        bbox=_bbox(one.boxes[row]),
        bbox_average_size=one.mean_size_px,
        class_name=class_name,
        class_probability=probability_of(face.score, class_name),
        face=jpeg_uri(crop),
        face_heatmap=jpeg_uri(_heated(crop, classifier)),
        frame_idx=int(one.frame_idx[row]),
        frame_ms=float(one.frame_ms[row]),
        id=one.id,
        tracks=tuple(
            Track(bbox=_bbox(box), frame_idx=int(index), frame_ms=float(ms), frame_rate=one.frame_rate_hz)
            for box, index, ms in zip(one.boxes, one.frame_idx, one.frame_ms, strict=True)
        ),
    )


def _heated(crop: NDArray[np.uint8], classifier: Any) -> NDArray[np.uint8]:
    return draw_heatmap(crop, classifier.heatmap(crop)) if hasattr(classifier, "heatmap") else crop


def _bbox(box: NDArray[np.floating]) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = (round(float(v), 1) for v in box)
    return x1, y1, x2, y2


def _evidence(
    media: Media, faces: Sequence[_Face], classifier: Any, told: Sequence[FaceExplanation] | None
) -> tuple[Evidence, ...]:
    shown: list[Evidence] = []
    if told is None:
        # The result carries no pictures when nothing is fake; a person wants to see what was looked at all the same.
        for face in faces[:MAX_FACES_SHOWN]:
            crop = face.track.crops[face.shown]
            caption = f"score {face.score:.2f}, in {len(face.track)} frame{'s' if len(face.track) > 1 else ''}"
            shown.append(Picture(f"Face {face.track.id}", jpeg_uri(crop), caption))
    if media.kind != "video":
        return tuple(shown)
    spans = []
    for face in sorted(faces, key=lambda face: face.track.id):
        start_s, end_s = float(face.track.frame_ms[0]) / 1000, float(face.track.frame_ms[-1]) / 1000
        spans.append(Span(f"face {face.track.id}", start_s, end_s, f"{face.score:.2f}", face.score))
    duration_s = max(media.info.duration_s or 0.0, *(span.end_s for span in spans))
    shown.append(Timeline("Faces over time", duration_s, tuple(spans)))
    for face in faces[:MAX_FACES_SHOWN]:
        at = face.track.frame_ms[face.track.kept] / 1000
        if len(at) > 1:
            order = np.argsort(at)
            x, y = at[order].tolist(), face.crop_scores[order].tolist()
            title = f"Score of face {face.track.id} over time"
            shown.append(Curve(title, tuple(x), tuple(y), "time (s)", "score", threshold_of(classifier)))
    return tuple(shown)


def _preview(media: Media, faces: Sequence[_Face]) -> str | None:
    """Draw the boxes of the first frame that the most suspect face is seen in; without faces, the first frame."""
    first = int(faces[0].track.frame_idx[0]) if faces else 0
    for frame in media.frames(max_side_px=PREVIEW_PX):
        if frame.index < first:
            continue
        seen = [
            (face.track.boxes[i] / frame.scale, f"{face.track.id}")
            for face in faces
            for i in np.flatnonzero(face.track.frame_idx == frame.index)
        ]
        boxes = np.array([box for box, _ in seen]).reshape(-1, 4)
        return jpeg_uri(boxed(frame.rgb, boxes, [label for _, label in seen]), max_side_px=PREVIEW_PX)
    return None


def _notes(media: Media, faces: Sequence[_Face]) -> tuple[str, ...]:
    smallest = min(faces[0].track.mean_size_px)
    notes = []
    if smallest < 64:
        notes.append(f"The face that decides is {smallest:.0f} px wide: small faces carry little evidence.")
    if media.kind == "video" and len(faces[0].track) < 3:
        notes.append("The face that decides is seen in fewer than three of the frames looked at.")
    return tuple(notes)


def _summary(faces: Sequence[_Face], result: FaceResult, classifier: Any) -> str:
    n_fake = sum(class_of(face.score, classifier) == "fake" for face in faces)
    seen = f"{len(faces)} face{'s' if len(faces) > 1 else ''}"
    if is_inconclusive(faces[0].score, classifier):
        return f"{seen}: whether any was manipulated cannot be told."
    if not n_fake:
        return f"Of {seen}, none looks manipulated."
    kind = f", most like {result.manipulation_type.replace('_', ' ')}" if result.manipulation_type else ""
    return f"Of {seen}, {n_fake} look{'s' if n_fake == 1 else ''} manipulated{kind}."
