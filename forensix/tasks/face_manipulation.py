"""``face_manipulation``: every face, followed over the frames it is seen in, and a score each.

The medium's score says how likely it is that one of its faces, nobody knows which, was manipulated: one swapped face
among many makes a video manipulated, and one odd one among many is what chance brings (`forensix.faces.verdict`). What
is said of the picture that faces lie in is weighed with them (`forensix.tasks.fusion`), in a video how steady their
fine detail is from frame to frame (`forensix.faces.steadiness`), and what is said of parts put into them
(`forensix.tasks.parts`), where the classifier's card says so. Small, blurred and short faces are not judged; a medium
that shows no other is inconclusive and has no score, and the wire calls it real: nothing was held against it. So it
does where faces score as fake in a picture that looks painted or is mostly even areas, and where those that do are
smooth (`forensix.faces.verdict.texture`). Told of, without moving a score, are faces of a video that lack more fine
detail beside their surroundings than recorded ones do, where the classifier's card says how much these lack; faces of
which a part differs from the rest, where what marks such parts has a bound for that; and faces that lie in their
picture where StyleGAN's generators put faces.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from forensix.calibration import logit, sigmoid
from forensix.errors import UsageError
from forensix.faces import FaceTrack, is_ffhq_aligned, stills
from forensix.media import Media
from forensix.schema import FaceExplanation, FaceResult, ManipulationType, Track
from forensix.tasks.catalogue import FACE_MANIPULATION
from forensix.tasks.evidence import Outcome
from forensix.tasks.face_evidence import detail_bounds, face_evidence, heated, preview_uri
from forensix.tasks.face_notes import (
    detail_notes,
    doubt_notes,
    left_out_notes,
    placement_notes,
    region_notes,
    smooth_notes,
    steadiness_notes,
    turned_notes,
    why_withheld,
)
from forensix.tasks.fusion import SecondOpinion, fused_faces, opinion_of_picture
from forensix.tasks.judged_faces import JudgedFace, faces_score, judge_faces
from forensix.tasks.parts import opinion_of_parts, parts_scores
from forensix.tasks.pictures import jpeg_uri
from forensix.tasks.task import Options, component, component_label
from forensix.tasks.verdicts import class_of, is_inconclusive, is_mute, probability_of, upper_of

PREVIEW_PX = 480
NO_FACES = {
    "image": "No face was found, so there is none to judge.",
    "video": "No face was found, so there is none to judge. Faces that lie on their side are not found in videos.",
}
PLACEMENT_REMARK = "the face lies in its picture where StyleGAN's generators put faces"
_PLURALS = {"image": "pictures", "video": "videos"}


class FaceManipulation:
    """Tell manipulated faces from recorded ones."""

    description = FACE_MANIPULATION
    name = FACE_MANIPULATION.name
    accepts = FACE_MANIPULATION.accepts
    components: Mapping[str, str] = MappingProxyType(
        {"face_classifier": "forensix-face", "face_detector": "mtcnn", "face_regions": "forensix-face-regions"}
    )

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the verdict on all faces; ``no_faces`` where there is none."""
        classifier = component(self, "face_classifier", options)
        detector = component(self, "face_detector", options)
        regions = component(self, "face_regions", options) if options.explain else None
        upper = upper_of(classifier, media.kind)

        def followed(share: float) -> None:
            options.progress("finding and following faces", 0.6 * share)

        followed(0.0)
        found = judge_faces(media, classifier, detector=detector, progress=followed)
        frames = stills(media, detector=detector)
        duration_s = (media.info.duration_s or 0.0) if media.kind == "video" else None
        if not found:
            return Outcome(
                FaceResult(class_name="no_faces"),
                None,
                evidence=tuple(face_evidence(frames, (), regions, duration_s=duration_s, upper=upper, explained=False))
                if options.explain
                else (),
                preview=None if options.score_only else preview_uri(frames, (), PREVIEW_PX),
                summary=NO_FACES[media.kind],
            )
        lacked = getattr(getattr(classifier, "card", None), "detail_gap", None) if media.kind == "video" else None
        options.progress(f"judging {_faces(len(found))}", 0.7)
        picture = opinion_of_picture(media, classifier, found, options)
        whole = fused_faces(found, picture) if picture else list(found)
        parts = opinion_of_parts(media, classifier, whole, options)
        faces = parts.joined(whole) if parts else list(whole)
        if regions is not None:
            faces = _differing(media, faces, regions)
        faces.sort(key=lambda face: (bool(face.doubt), -face.score))
        order = [face.track.id for face in faces]
        judged = [face for face in faces if not face.doubt]
        score = faces_score(judged)
        class_name = "real" if score is None else class_of(score, classifier, media.kind)
        inconclusive = score is None or is_inconclusive(score, classifier, media.kind)
        # What cannot be told is not called fake, on the wire either.
        is_accused = media.kind == "image" and class_name == "fake" and not inconclusive
        accused = [face for face in judged if face.score >= upper]
        withheld = why_withheld(media, accused) if is_accused else ""
        if withheld:
            class_name, inconclusive = "real", True
        used = [classifier, detector, *(opinion.component for opinion in (picture, parts) if opinion)]
        if regions is not None and regions not in used:
            used.append(regions)
        aligned = [face.track.id for face in found if media.kind == "image" and _is_aligned(face.track, media)]
        options.progress("drawing what was found", 0.9)
        explanation = None
        if options.explain and class_name == "fake":
            explanation = tuple(_explained(face, classifier, regions, upper, media.kind) for face in faces)
        result = FaceResult(
            class_name=class_name,
            class_probability=None if score is None else probability_of(score, class_name),
            manipulation_type=_type(faces[0], classifier) if class_name == "fake" else None,
            explanation=explanation,
        )
        mute = _PLURALS[media.kind] if is_mute(classifier, media.kind) else ""
        return Outcome(
            result=result,
            score=score,
            evidence=(
                *face_evidence(
                    frames,
                    faces,
                    None if withheld else regions,
                    duration_s=duration_s,
                    upper=upper,
                    explained=explanation is not None,
                ),
                *detail_bounds(faces, lacked),
            )
            if options.explain
            else (),
            notes=(
                *([withheld] if withheld else []),
                *([_fusion_note(found, picture)] if picture else []),
                *(smooth_notes(accused) if is_accused and not withheld else ()),
                *doubt_notes(faces),
                *(left_out_notes(len(faces), media.kind, explained=explanation is not None) if options.explain else ()),
                *turned_notes(found),
                *steadiness_notes(sorted(whole, key=lambda face: order.index(face.track.id))),
                *(parts.notes(whole, faces) if parts else ()),
                *detail_notes(faces, lacked),
                *region_notes(faces),
                *placement_notes(aligned),
            ),
            models=tuple(component_label(part) for part in used),
            preview=None if options.score_only else preview_uri(frames, faces, PREVIEW_PX),
            summary=_summary(faces, result, classifier, media.kind, inconclusive=inconclusive, mute=mute),
            inconclusive=inconclusive,
            unjudged=bool(withheld),
            n_subjects=len(faces) if inconclusive else len(judged),
            remark=PLACEMENT_REMARK if aligned else "",
            frame_scores=_frame_scores(judged) if media.kind == "video" else (),
        )


def _differing(media: Media, faces: Sequence[JudgedFace], regions: Any) -> list[JudgedFace]:
    """Return the faces with those marked of which a part differs from the rest, where its finder has a bound for that.

    Among many faces one must stand out more, as for the verdict.
    """
    upper = upper_of(regions, media.kind)
    if not hasattr(regions, "score") or upper >= 1:
        return list(faces)
    scores = parts_scores(media, regions, faces)
    least = float(sigmoid(logit(upper) + np.log(max(1, len(scores)))))
    return [replace(face, differs=scores.get(face.track.id, 0.0) >= least) for face in faces]


def _fusion_note(found: Sequence[JudgedFace], picture: SecondOpinion) -> str:
    judged = [face for face in found if not face.doubt]
    alone = faces_score(judged)
    assert alone is not None, "there is an opinion of the picture where a face is judged"
    many = len(judged) > 1
    return picture.note(f"The {len(judged)} faces" if many else "The face", alone, many=many)


def _frame_scores(faces: Sequence[JudgedFace]) -> tuple[tuple[float, float], ...]:
    """Return time and score of each frame of which a crop was kept: that of its most suspect face."""
    scores: dict[float, float] = {}
    for face in faces:
        for ms, score in zip(face.track.crop_ms, face.crop_scores, strict=True):
            scores[float(ms)] = max(float(score), scores.get(float(ms), 0.0))
    return tuple(sorted(scores.items()))


def _type(face: JudgedFace, classifier: Any) -> ManipulationType | None:
    if not hasattr(classifier, "types"):
        return None
    types = classifier.types(face.track.crops)
    kind: ManipulationType | None = max(types, key=types.get) if types else None
    if kind not in (None, *get_args(ManipulationType)):
        known = ", ".join(get_args(ManipulationType))
        raise UsageError(f"{type(classifier).__name__} must give types of {known}: got {kind!r}")
    return kind


def _explained(face: JudgedFace, classifier: Any, regions: Any, upper: float, kind: str) -> FaceExplanation:
    track, at = face.track, face.strongest
    row = int(track.kept[at])
    class_name = _class_of(face, classifier, kind)
    crop, heat = track.crops[at], heated(face, regions, upper)
    return FaceExplanation(
        bbox=_bbox(track.boxes[row]),
        bbox_average_size=track.mean_size_px,
        class_name=class_name,
        class_probability=probability_of(face.score, class_name),
        face=jpeg_uri(crop),
        face_heatmap=jpeg_uri(crop if heat is None else heat),
        frame_idx=int(track.frame_idx[row]),
        frame_ms=float(track.frame_ms[row]),
        id=track.id,
        tracks=tuple(
            Track(bbox=_bbox(box), frame_idx=int(index), frame_ms=float(ms), frame_rate=track.frame_rate_hz)
            for box, index, ms in zip(track.boxes, track.frame_idx, track.frame_ms, strict=True)
        ),
    )


def _class_of(face: JudgedFace, classifier: Any, kind: str) -> Literal["real", "fake"]:
    return "real" if face.doubt or face.is_smooth else class_of(face.score, classifier, kind)


def _bbox(box: NDArray[np.floating]) -> tuple[float, float, float, float]:
    x1, y1, x2, y2 = (round(float(v), 1) for v in box)
    return x1, y1, x2, y2


def _is_aligned(face: FaceTrack, media: Media) -> bool:
    return is_ffhq_aligned(face.landmarks[0], (media.info.width_px or 0, media.info.height_px or 0))


def _summary(
    faces: Sequence[JudgedFace], result: FaceResult, classifier: Any, kind: str, *, inconclusive: bool, mute: str
) -> str:
    """Return the verdict in a sentence; ``mute`` names the media of which the classifier decides nothing."""
    judged = [face for face in faces if not face.doubt]
    if not judged:
        why = f"it cannot be judged: {faces[0].doubt}" if len(faces) == 1 else "none can be judged"
        return f"{_faces(len(faces))}; {why}."
    left = len(faces) - len(judged)
    of = f"Of {_faces(len(faces))}, {f'{len(judged)} can be judged: ' if left else ''}"
    if inconclusive:
        why = f": {component_label(classifier)} decides nothing of {mute}" if mute else ""
        which = "any" if len(judged) > 1 else "it"
        return f"{of if left else f'{_faces(len(faces))}: '}whether {which} was manipulated is undecided{why}."
    n_fake = sum(_class_of(face, classifier, kind) == "fake" for face in judged)
    if result.class_name == "real":
        chance = (
            f"; that {n_fake} of them score{'s' if n_fake == 1 else ''} above the threshold is what chance brings among"
            " so many"
        )
        return f"{of}none looks manipulated{chance if n_fake else ''}."
    return f"{of}{n_fake} look{'s' if n_fake == 1 else ''} manipulated."


def _faces(n: int) -> str:
    return f"{n} face{'s' if n > 1 else ''}"
