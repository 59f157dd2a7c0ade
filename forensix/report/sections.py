"""From a report to what is shown of each task, in order; the same for every way of drawing it.

What the specification's result holds (faces, heat maps, speakers, generators) is turned into the same displays that
tasks hand over as evidence, so that each kind of display is drawn by one piece of code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forensix.report.claims import FACT_COLUMNS, ClaimView, claim_views, fact_rows
from forensix.report.scale import Scale, scale_of
from forensix.report.words import (
    ABOUT_FEATURES,
    FAILED,
    LIMITS_OF_CLAIMS,
    MANIPULATIONS,
    UNJUDGED,
    task_title,
    time_text,
    verdict,
)
from forensix.schema import AudioFeatures, FaceResult, ForensicResult, ImageResult, VoiceResult
from forensix.tasks.catalogue import Verdict, describe
from forensix.tasks.evidence import (
    FACE_HEATMAP_CAPTION,
    Basis,
    Bound,
    Bounds,
    Evidence,
    FactList,
    Outcome,
    Picture,
    Table,
)
from forensix.tasks.verdicts import score_text

if TYPE_CHECKING:
    from forensix.report.report import Report


@dataclass(frozen=True)
class Section:
    """One task as shown."""

    task: str
    title: str
    verdict: Verdict
    summary: str = ""
    named: tuple[tuple[str, str], ...] = ()
    """What a model names beyond real and fake: the kind of manipulation, the generator."""
    scale: Scale | None = None
    """Where the score lies; none where there is nothing to score."""
    ends: tuple[str, str] = ("real", "fake")
    """What a score of 0 and one of 1 mean."""
    error: str | None = None
    notes: tuple[str, ...] = ()
    limits: tuple[tuple[str, str], ...] = ()
    claims: tuple[ClaimView, ...] = ()
    transcript: str | None = None
    pictures: tuple[tuple[Picture, int | None], ...] = ()
    """Each with the number of the claim that it was drawn for."""
    displays: tuple[Evidence, ...] = ()


def _said_of_one(task: str, class_name: str) -> str:
    """Return what is said of one face or voice: the specification's "real" is also the class of undecided ones."""
    return describe(task).verdicts["fake"].word.lower() if class_name == "fake" else "not called fake"


def _face_evidence(result: FaceResult, *, inconclusive: bool) -> Iterator[Evidence]:
    for face in result.explanation or ():
        score = "" if face.class_probability is None else f", score {score_text(face.class_probability)}"
        where = ""
        if face.tracks and len(face.tracks) > 1:
            best = f"frame {face.frame_idx} at {time_text(face.frame_ms / 1000)}"
            where = f"; best seen in {best}, followed over {len(face.tracks)} frames"
        verdict = "inconclusive" if inconclusive else _said_of_one("face_manipulation", face.class_name)
        yield Picture(f"Face {face.id}", face.face, f"{verdict}{score}{where}")
        yield Picture(f"Face {face.id}: heat map", face.face_heatmap, FACE_HEATMAP_CAPTION)


def _image_evidence(result: ImageResult) -> Iterator[Evidence]:
    explanation = result.explanation
    if explanation:
        pictures = (
            ("Heat map", explanation.heatmap, "the regions that spoke for a generated picture"),
            ("Heat map of the object", explanation.heatmap_object, "the same, on the main object"),
            ("Eyes and mouth", explanation.eye_mouth_overlays_image, "the positions that generated portraits share"),
        )
        for title, uri, caption in pictures:
            if uri:
                yield Picture(title, uri, caption, is_heat=title.startswith("Heat map"))
    if result.model_attributions:
        rows = tuple((a.model, score_text(a.probability)) for a in result.model_attributions)
        yield Table("Generators, most likely first", ("generator", "probability"), rows)


def _feature_bounds(title: str, features: AudioFeatures, about: str, beside: str) -> Bounds:
    rows = []
    for name in AudioFeatures.model_fields:
        f = getattr(features, name)
        ranges = (f.lower_bound, f.upper_bound, f.min_value, f.max_value, f.mean_value)
        rows.append(Bound(name.replace("_", " "), f.unit, f.sample_value, *ranges, f.percentile_rank, f.is_outlier))
    return Bounds(title, tuple(rows), about, beside)


def _voice_evidence(result: VoiceResult, has_bounds: bool, beside: Mapping[str, str]) -> Iterator[Evidence]:
    speakers = result.explanation or ()
    if not speakers:
        return
    rows = []
    for s in speakers:
        score = "–" if s.class_probability is None else score_text(s.class_probability)
        gender = s.gender if s.gender_probability is None else f"{s.gender} ({score_text(s.gender_probability)})"
        speech_s = sum(segment.end - segment.start for segment in s.segments)
        verdict = _said_of_one("voice_analysis", s.class_name)
        rows.append((s.speaker, verdict, score, gender, time_text(speech_s), s.transcript or ""))
    columns = ("speaker", "verdict", "score", "gender (probability)", "speech", "transcript")
    filled = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    yield Table("Speakers", tuple(columns[i] for i in filled), tuple(tuple(row[i] for i in filled) for row in rows))
    if not has_bounds:
        about = ABOUT_FEATURES
        for s in speakers:
            if s.audio_features:
                title = f"Acoustic features of {s.speaker} beside the reference population"
                yield _feature_bounds(title, s.audio_features, about, beside.get(s.speaker, ""))
                about = ""


def _named(outcome: Outcome) -> Iterator[tuple[str, str]]:
    result = outcome.result
    if outcome.inconclusive:
        return
    if isinstance(result, FaceResult) and result.manipulation_type:
        yield "Kind of manipulation, most likely", MANIPULATIONS[result.manipulation_type]
    if isinstance(result, ImageResult) and result.model_attribution:
        odds = result.model_attribution_probability
        probability = "" if odds is None else f" (probability {score_text(odds)})"
        yield "Generator, most likely", result.model_attribution + probability


def _from_result(outcome: Outcome) -> tuple[Evidence, ...]:
    result = outcome.result
    if isinstance(result, FaceResult):
        return tuple(_face_evidence(result, inconclusive=outcome.inconclusive))
    if isinstance(result, ImageResult):
        # What spoke for a generator, and which one, is said of a picture that is called generated.
        return () if outcome.inconclusive else tuple(_image_evidence(result))
    if isinstance(result, VoiceResult):
        return tuple(_voice_evidence(result, any(isinstance(e, Bounds) for e in outcome.evidence), outcome.beside))
    return ()


def _evidence(outcome: Outcome) -> tuple[Evidence, ...]:
    """Return the evidence of the task and what its result adds; no picture and no table of one title twice."""
    evidence: list[Evidence] = []
    uris: set[str] = set()
    titles: set[str] = set()
    for item in (*outcome.evidence, *_from_result(outcome)):
        if isinstance(item, Basis):
            continue
        if isinstance(item, FactList):
            evidence.append(
                Table("Everything that was read from the file", FACT_COLUMNS, fact_rows(outcome), folded=True)
            )
            continue
        if isinstance(item, Picture):
            if item.data_uri in uris:
                continue
            uris.add(item.data_uri)
        elif isinstance(item, Table):
            if item.title in titles:
                continue
            titles.add(item.title)
        evidence.append(item)
    return tuple(evidence)


def _scale(score: float | None, task: str, deciding: Sequence[Mapping[str, Any]]) -> Scale | None:
    if score is None:
        return None
    card = deciding[0] if len(deciding) == 1 else {}
    return scale_of(
        score,
        describe(task).scale,
        bounds=card.get("inconclusive"),
        threshold=float(card["threshold"]) if card else None,
        calibrated=all(card.get("calibrated", True) for card in deciding),
    )


def _limits(task: str, result: object, used: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    if isinstance(result, ForensicResult):
        yield task_title(task).lower(), LIMITS_OF_CLAIMS
    for model in used:
        if model.get("limits"):
            yield str(model["name"]), str(model["limits"])


def _section(report: "Report", task: str, outcome: Outcome) -> Section:
    result = outcome.result
    slot = describe(task).deciding_slot
    used = [m for m in report.models if m["name"] in outcome.models]
    deciding = [m for m in used if m.get("component") == slot and m.get("threshold") is not None]
    evidence = _evidence(outcome)
    claims = claim_views(outcome)
    numbers = {entry.claim: entry.number for entry in claims}
    pictures = (e for e in evidence if isinstance(e, Picture))
    said, scale = verdict(task, outcome), _scale(outcome.score, task, deciding)
    is_undecided = bool(scale and scale.is_undecided) and not outcome.unjudged
    if outcome.inconclusive and not outcome.is_untold and not is_undecided:
        # It is not by the score that this stays undecided: no band may say that the score would decide.
        said = UNJUDGED
        scale = scale and scale_of(scale.score, scale.ends, bounds=(0.0, 1.0), calibrated=scale.calibrated)
    return Section(
        task=task,
        title=task_title(task),
        verdict=said,
        summary=outcome.summary,
        named=tuple(_named(outcome)),
        scale=scale,
        ends=describe(task).scale,
        notes=outcome.notes,
        limits=tuple(_limits(task, result, used)),
        claims=claims,
        transcript=getattr(result, "transcript", None),
        pictures=tuple((p, numbers.get(p.claim) if p.claim else None) for p in pictures),
        displays=tuple(e for e in evidence if not isinstance(e, Picture)),
    )


def sections(report: "Report") -> tuple[Section, ...]:
    """Return what is to be shown of each task, those that failed last."""
    done = [_section(report, task, outcome) for task, outcome in report.outcomes.items()]
    failed = [Section(task, task_title(task), FAILED, error=error) for task, error in report.errors.items()]
    return (*done, *failed)
