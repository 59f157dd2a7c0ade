"""``ai_generated_image_detection``: was a picture or a video made by a generator, and by which?

A pixel model scores the picture, or frames spread over the video; what is said of faces in either is weighed with it
(`forensix.tasks.fusion`). Where the file says of itself that a generator made it, or its pixels carry a
generator's watermark, hidden or for all to see, that outweighs what the pixels look like; where there is no such mark,
nothing follows from that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.faces.detect import landmarks
from forensix.faces.turned import WORDS
from forensix.forensics.rules.ai_marks import (
    generator_identifier,
    generator_marks,
    is_partial,
    mark_value,
    unfit_marks,
)
from forensix.forensics.rules.credential_checks import vouching_for
from forensix.forensics.rules.provenance import UNFIT
from forensix.forensics.rules.video_container import generator_tags
from forensix.media import Media
from forensix.metadata.facts import Fact, Facts
from forensix.schema import Attribution, ImageExplanation, ImageResult
from forensix.synthetic.content import CUT_OUT, MAX_CLEAR, doubt_if_fake, doubt_if_small, reason
from forensix.synthetic.detector import aggregate_frames
from forensix.synthetic.overlay import draw_heatmap, eye_mouth_overlay, fitted, heatmap_object, shrunk
from forensix.synthetic.provenance import Kind, combine
from forensix.synthetic.visible_marks import VisibleMark, visible_mark
from forensix.synthetic.watermark import Watermark
from forensix.tasks.catalogue import AI_GENERATED_IMAGE_DETECTION
from forensix.tasks.evidence import Curve, Evidence, Outcome, Picture, Table
from forensix.tasks.forensic_analysis import facts_of
from forensix.tasks.frame_scores import FrameScores, frame_scores
from forensix.tasks.fusion import SecondOpinion, opinion_of_faces
from forensix.tasks.pictures import jpeg_uri, outlined, score_colour
from forensix.tasks.task import Options, component, component_label
from forensix.tasks.verdicts import class_of, is_inconclusive, judges_of, probability_of, score_text, upper_of

TURNED_NOTE = "The pixels were looked at turned {}: in the picture as it lies no face stands upright, then one does."
MAX_ATTRIBUTIONS = 10
LEAST_CORNER_PX = 240
LEANING = 0.5
"""Pixels that score less speak against a generator."""


@dataclass(frozen=True)
class _Marks:
    """What says that a generator made it, apart from what the pixels look like."""

    facts: tuple[Fact, ...]
    watermark: Watermark | None
    visible: VisibleMark | None

    @property
    def kinds(self) -> tuple[Kind, ...]:
        there: dict[Kind, object] = {"provenance": self.facts, "watermark": self.watermark, "visible": self.visible}
        return tuple(kind for kind, mark in there.items() if mark)

    @property
    def generator(self) -> str | None:
        named = generator_identifier(self.facts)
        mark = self.watermark or self.visible
        return mark.generator if mark and named in _UNSPECIFIC else named


_UNSPECIFIC = (None, "stable-diffusion", "comfyui", "google-ai")
"""A watermark tells the family of the model, where the file may only tell the program or its maker."""


class GeneratedImageDetection:
    """Tell generated pictures from photographs."""

    description = AI_GENERATED_IMAGE_DETECTION
    name = AI_GENERATED_IMAGE_DETECTION.name
    accepts = AI_GENERATED_IMAGE_DETECTION.accepts
    components: Mapping[str, str] = MappingProxyType(
        {"image_detector": "forensix-image", "attribution": "forensix-attribution", "watermark": "dwt-dct"}
    )

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the verdict, and for a generated picture the generators that it is most like."""
        detector = component(self, "image_detector", options)
        options.progress("looking at pixels", 0.0)
        scored = frame_scores(media, detector, options.placement)
        whole_score = scored.scores[0] if len(scored.scores) == 1 else aggregate_frames(scored.counted)
        options.progress("looking at faces", 0.4)
        faces = opinion_of_faces(media, detector, options)
        pixel_score = float(faces.fused(whole_score)) if faces else whole_score
        options.progress("reading provenance", 0.6)
        reader = component(self, "watermark", options)
        # A video's encoder leaves nothing of a mark, and its frames are seldom of the size that was generated.
        is_picture = media.kind == "image"
        watermark = reader.read(scored.strongest) if is_picture else None
        facts = facts_of(media)
        marks = _Marks(_told_by(facts), watermark, visible_mark(scored.strongest) if is_picture else None)
        accused = pixel_score >= upper_of(detector, media.kind)
        doubt = scored.doubt or (_doubt_if_fake(media, scored, faces, detector) if accused else "")
        # What the pixels cannot decide they add to no mark either.
        score = combine(0.5 if marks.kinds and doubt else pixel_score, *marks.kinds)
        # What the pixels cannot decide they do not call fake, on the wire either.
        class_name = "fake" if marks.kinds else "real" if doubt else class_of(score, detector, media.kind)
        looks_whole = class_of(pixel_score, detector, media.kind) == "fake" and not doubt
        of_part = marks.kinds == ("provenance",) and is_partial(marks.facts) and not looks_whole
        # Credentials that name a generator and are not proved to be the file's speak for no photograph either.
        others = bool(unfit_marks(facts)) and class_name == "real"
        signed = vouching_for(facts, marks.facts)
        inconclusive = not marks.kinds and (bool(doubt) or others or is_inconclusive(score, detector, media.kind))
        used = [detector, *([faces.component] if faces else []), *([reader] if watermark else [])]
        attributions: tuple[Attribution, ...] | None = None
        if class_name == "fake" and not options.score_only:
            options.progress("naming the generator", 0.7)
            # The look of a photograph changed in part, and of pixels that cannot decide, names no generator. Of a video
            # only what the caller chose names one: what ships learnt from pictures, and no program for videos.
            names = not doubt and not of_part and (is_picture or "attribution" in options.components)
            attributor = component(self, "attribution", options) if names else None
            used += [attributor] if attributor else []
            if attributor or marks.kinds:
                attributions = _attributions(scored.strongest, attributor, marks)
        explanation = None
        if options.explain and class_name == "fake" and pixel_score >= LEANING and not doubt:
            # Pixels that a mark outweighs, or that decide nothing, have no map: it would still show something.
            options.progress("drawing the heat map", 0.8)
            explanation = _explanation(scored.strongest, detector)
        result = ImageResult(
            class_name=class_name,
            class_probability=probability_of(score, class_name),
            explanation=explanation,
            model_attribution=attributions[0].model if attributions else None,
            model_attribution_probability=attributions[0].probability if attributions else None,
            model_attributions=attributions,
        )
        return Outcome(
            result=result,
            score=score,
            evidence=_evidence(scored, detector, marks) if options.explain else (),
            notes=(
                *([_fusion_note(faces, whole_score, is_picture=is_picture)] if faces else []),
                *_notes(marks, pixel_score, scored, doubt, judges_of(detector, media.kind)),
                *([signed] if signed else []),
                *([UNFIT] if unfit_marks(facts) else []),
                *([TURNED_NOTE.format(WORDS[scored.turns])] if scored.turns else []),
            ),
            models=tuple(component_label(part) for part in used),
            summary=_summary(
                class_name, marks, pixel_score, attributions, inconclusive, signed=signed, unproved=others
            ),
            inconclusive=inconclusive,
            unjudged=inconclusive and (bool(doubt) or others),
            of_part=of_part,
            frame_scores=tuple(zip(scored.times_ms, scored.scores, strict=True)) if media.kind == "video" else (),
        )


def _told_by(facts: Facts) -> tuple[Fact, ...]:
    """Return the marks of generators in a file, with the tags of a video's container in which they name themselves.

    Those of sound say nothing of what is seen.
    """
    tags = generator_tags(facts) if facts.kind == "video" else []
    of_sound = {id(tag) for tag, generator in tags if generator.media == "audio"}
    marks = {id(mark): mark for mark in (*generator_marks(facts), *(tag for tag, _ in tags))}
    return tuple(mark for key, mark in marks.items() if key not in of_sound)


def _doubt_if_fake(media: Media, scored: FrameScores, faces: SecondOpinion | None, detector: Any) -> str:
    """Return why the pixels cannot accuse: of a video being small alone, unless its faces are called fake themselves,
    which tell more of it than its frames."""
    if media.kind == "image":
        is_cut_out = media.clear_share() > MAX_CLEAR
        return CUT_OUT if is_cut_out else doubt_if_fake(scored.strongest, judges_of(detector, media.kind))
    tells = faces is not None and faces.score >= upper_of(faces.component, "video")
    return "" if tells else doubt_if_small(scored.strongest)


def _fusion_note(faces: SecondOpinion, score: float, *, is_picture: bool) -> str:
    return faces.note("The picture" if is_picture else "The frames", score, many=not is_picture)


def _attributions(rgb: NDArray[np.uint8], attributor: Any | None, marks: _Marks) -> tuple[Attribution, ...]:
    """Return generators with probabilities: by the pixels, where they are asked, and by the name that a mark gives."""
    probabilities = dict(attributor.attribute(rgb)) if attributor else {"unknown": 1.0}
    if marks.generator:
        # As sure of the name as the mark makes us that the file is generated at all.
        trust = combine(0.5, *marks.kinds)
        probabilities = {name: (1 - trust) * p for name, p in probabilities.items()}
        probabilities[marks.generator] = probabilities.get(marks.generator, 0.0) + trust
    ranked = sorted(probabilities.items(), key=lambda item: -item[1])[:MAX_ATTRIBUTIONS]
    return tuple(Attribution(model=name, probability=p) for name, p in ranked)


def _explanation(rgb: NDArray[np.uint8], detector: Any) -> ImageExplanation | None:
    """Draw the heat map, the object that it singles out, and the eyes and mouths of the faces there are."""
    if not hasattr(detector, "heatmap"):
        return None
    picture = shrunk(rgb)
    heat = fitted(detector.heatmap(rgb), picture.shape)
    faces = landmarks(rgb)
    eyes = eye_mouth_overlay(rgb, list(faces)) if len(faces) else None
    return ImageExplanation(
        heatmap=jpeg_uri(draw_heatmap(picture, heat)),
        heatmap_object=jpeg_uri(heatmap_object(picture, heat)),
        eye_mouth_overlays_image=jpeg_uri(eyes, max_side_px=max(eyes.shape)) if eyes is not None else None,
    )


def _evidence(scored: FrameScores, detector: Any, marks: _Marks) -> tuple[Evidence, ...]:
    caption = "the frame that speaks most for a generator" if len(scored.scores) > 1 else ""
    evidence: list[Evidence] = [Picture("Looked at", jpeg_uri(scored.strongest), caption)]
    if len(scored.scores) > 1:
        x = tuple(ms / 1000 for ms in scored.times_ms)
        upper = upper_of(detector, "video")
        line = upper if upper < 1 else None
        evidence.append(Curve("Score by frame", x, scored.scores, "time (s)", "score", line))
    if marks.facts:
        rows = tuple((mark.key, mark_value(mark)[:200], mark.where) for mark in marks.facts)
        evidence.append(Table("What the file says of a generator", ("fact", "value", "where"), rows))
    if marks.watermark:
        agreement = marks.watermark.agreement
        right = f"{agreement.n_right} of {marks.watermark.n_bits}"
        row = (marks.watermark.message, right, f"{agreement.correlation:.2f}", f"{agreement.chance:.0e}")
        columns = ("message", "bits that agree", "correlation", "by chance, without a mark")
        evidence.append(Table("Invisible watermark in the pixels", columns, (row,)))
    if marks.visible:
        corner = _corner(scored.strongest, marks.visible)
        evidence.append(
            Picture("Visible mark", jpeg_uri(corner), f"{marks.visible.what}, as {marks.visible.generator} draws")
        )
    return tuple(evidence)


def _corner(rgb: NDArray[np.uint8], mark: VisibleMark) -> NDArray[np.uint8]:
    """Return what is around a mark with the mark outlined, enlarged where it is small."""
    x1, y1, x2, y2 = mark.box
    rim = max(x2 - x1, y2 - y1)
    left, top = max(0, x1 - rim), max(0, y1 - rim)
    cut = rgb[top : y2 + rim, left : x2 + rim]
    scale = max(1, round(LEAST_CORNER_PX / max(cut.shape[:2])))
    larger = np.kron(cut, np.ones((scale, scale, 1), dtype=np.uint8))
    box = (np.array([mark.box], dtype=float) - (left, top, left, top)) * scale
    return outlined(larger, box, [""], [score_colour(1.0)])


def _notes(
    marks: _Marks, pixel_score: float, scored: FrameScores, doubt: str, judges: Sequence[str]
) -> tuple[str, ...]:
    notes = []
    alone, is_small = score_text(pixel_score), bool(doubt_if_small(scored.strongest, judges))
    if marks.kinds and doubt:
        notes.append(f"The pixels (score {alone}) decide nothing here and do not count: {reason(doubt)}.")
        notes.append("Marks of a generator alone decide; they can be forged as well as removed.")
    elif marks.kinds:
        notes.append(f"The pixels alone score {alone}; marks of a generator outweigh them.")
        notes.append("Marks can be forged as well as removed.")
    elif doubt:
        notes.append(doubt)
    if is_small and not doubt:
        notes.append("The picture is small: pixels carry little evidence.")
    if n_left_out := len(scored.scores) - len(scored.counted):
        notes.append(f"{n_left_out} of the {len(scored.scores)} frames hold too little to judge and do not count.")
    return tuple(notes)


def _summary(
    class_name: str,
    marks: _Marks,
    pixel_score: float,
    attributions: Sequence[Attribution] | None,
    inconclusive: bool,
    *,
    signed: str,
    unproved: bool,
) -> str:
    if marks.facts:
        what = "a part of it" if is_partial(marks.facts) else "it"
        by = f" ({marks.generator})" if marks.generator else ""
        unknown = ", in content credentials for whose signer nobody vouches" if signed else ""
        return f"The file itself says that a generator{by} made {what} ({marks.facts[0].where}){unknown}."
    if marks.watermark:
        return f"The pixels carry the invisible watermark {marks.watermark.message!r} of {marks.watermark.generator}."
    if marks.visible:
        return f"The picture carries the visible mark of {marks.visible.generator}: {marks.visible.what}."
    if unproved:
        return (
            "Content credentials that are not proved to be this file's name a generator, and the pixels do not make it "
            f"sure (score {score_text(pixel_score)})."
        )
    if inconclusive:
        return f"The pixels do not decide whether a camera or a generator made it (score {score_text(pixel_score)})."
    if class_name == "real":
        return "The pixels look like a photograph's, and nothing in the file names a generator."
    like = ""
    if attributions:
        best = attributions[0].model
        is_named = best != "unknown"
        like = f"; of the known generators it is most like {best}" if is_named else "; by which generator is unknown"
    return f"The pixels look generated (score {score_text(pixel_score)}){like}."
