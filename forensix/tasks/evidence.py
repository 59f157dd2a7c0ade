"""What a task hands over for a person to look at; the report draws each kind, whichever task it came from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import get_args

from forensix.errors import UsageError
from forensix.metadata.facts import Fact, Node
from forensix.schema import Claim, OtherResult, Result, WireModel

FACE_HEATMAP_CAPTION = (
    "red: differs from the rest of the face, as a part put in does; says nothing of a face made whole"
)


@dataclass(frozen=True)
class Picture:
    """An encoded picture (JPEG or PNG data URI) with what it shows."""

    title: str
    data_uri: str
    caption: str = ""
    claim: Claim | None = None
    """The claim that it was drawn for."""
    is_wide: bool = False
    """Several pictures beside each other, to be shown over the whole width."""
    is_heat: bool = False
    """Whether red in it stands for a score, so that a colour scale is shown with it."""


@dataclass(frozen=True)
class Span:
    """A stretch of time on one lane; ``score`` in [0, 1] colours it, ``None`` leaves it neutral."""

    lane: str
    start_s: float
    end_s: float
    label: str = ""
    score: float | None = None


@dataclass(frozen=True)
class Timeline:
    """Spans on lanes over the duration of the medium: face tracks, speakers, segments."""

    title: str
    duration_s: float
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Recording:
    """Sound to look at and to listen to: who speaks when over the waveform and the spectrogram, with a player.

    ``lows`` and ``highs`` are the least and the greatest sample, in [-1, 1], of equal parts of the duration. ``sound``
    is the start of the recording, ``sound_s`` seconds of it, encoded for listening (MP3 data URI); empty: none.
    """

    title: str
    timeline: Timeline
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    spectrogram: str
    """JPEG data URI: time to the right, frequency from 0 at the bottom to ``top_hz``, dark is loud."""
    top_hz: float
    sound: str = ""
    sound_s: float = 0.0
    heaviest: tuple[Span, ...] = ()
    """The spans that moved the verdict most, heaviest first; their labels say how much."""


@dataclass(frozen=True)
class Curve:
    """Values over time or another quantity, for example window scores; ``threshold`` is drawn as a line."""

    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    x_label: str
    y_label: str
    threshold: float | None = None


@dataclass(frozen=True)
class Film:
    """A video to watch, with what was found drawn in, over lanes and curves that share its time.

    ``clip`` is an MP4 data URI whose times are those of the original; empty: none. The curves' x are seconds, their
    titles are lanes of the timeline.
    """

    title: str
    timeline: Timeline
    curves: tuple[Curve, ...]
    clip: str = ""


@dataclass(frozen=True)
class Bound:
    """One measured value beside the range of a reference population."""

    name: str
    unit: str
    value: float | None
    low: float
    high: float
    minimum: float
    maximum: float
    mean: float
    percentile: int | None
    is_outlier: bool


@dataclass(frozen=True)
class Bounds:
    """Measured values beside the ranges of a reference population; ``about`` says what they are and are worth."""

    title: str
    rows: tuple[Bound, ...]
    about: str = ""
    beside: str = ""
    """Which part of the population it is, and why that."""


@dataclass(frozen=True)
class Table:
    """Rows of text; ``folded`` tables open on a click."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    folded: bool = False


@dataclass(frozen=True)
class StructureMap:
    """The pieces of a file in order, with offsets and sizes; ``damage`` is what is wrong, and at which byte."""

    title: str
    total_bytes: int
    nodes: tuple[Node, ...]
    damage: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Stage:
    """One version in the history of a file: what is said of it, what was done, and what it was made from.

    ``marks`` are a few words each with a tone: ``critical``, ``suspect``, ``benign`` or ``none``.
    """

    title: str
    marks: tuple[tuple[str, str], ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    parts: tuple["Stage", ...] = ()


@dataclass(frozen=True)
class Lineage:
    """The versions that a file records of itself, with a sentence on how to read them."""

    title: str
    caption: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class Basis:
    """What one claim rests on: each fact with the first bytes at its place, none where the place has no offset."""

    claim: Claim
    facts: tuple[tuple[Fact, bytes], ...]


@dataclass(frozen=True)
class FactList:
    """Everything that was read from the file, whether a claim rests on it or not."""

    facts: tuple[Fact, ...]


Evidence = Picture | Timeline | Recording | Curve | Film | Bounds | Table | StructureMap | Lineage | Basis | FactList


@dataclass(frozen=True)
class Outcome:
    """What a task found in one medium.

    ``score`` is in [0, 1], higher is more likely fake; ``None`` where there is nothing to score (no face, no speech,
    claims only). ``models`` names the components that were used.
    """

    result: Result
    score: float | None
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    preview: str | None = None
    summary: str = ""
    """One sentence for a person: the verdict and what carries it."""
    inconclusive: bool = False
    """Whether the score decides nothing, or the file could not be read to where claims would. The specification's two
    classes follow from the threshold all the same."""
    unjudged: bool = False
    """Whether it is inconclusive for being of a kind or size that scores say nothing of, whatever the score."""
    frame_scores: tuple[tuple[float, float], ...] = ()
    """Of a video: milliseconds and score of each frame that was looked at, where the task scores frames."""
    n_subjects: int = 1
    """How many of what the task judges (its description's ``subject``) the verdict is on: of those that the medium
    holds all where it is inconclusive, else those that could be judged."""
    n_undecided: int | None = None
    """How many of them stay undecided where the verdict is inconclusive; all where it is left out."""
    remark: str = ""
    """A clause for the sentence on top of a report: what a reader has to know although no verdict rests on it."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Of voices, by speaker: the real voices that the acoustic features are set beside, and why these, in words."""
    is_untold: bool = False
    """Whether what is inconclusive here may be real where it was judged, as of a service that does not tell the two
    apart."""
    is_partial: bool = False
    """Whether a part of what the task judges could not be read, so that finding nothing says less."""
    of_part: bool = False
    """Whether what makes it fake was said of a part of the medium alone, as of a picture that was retouched."""


def check_outcome(outcome: Outcome, declared: type[WireModel] = OtherResult) -> None:
    """Raise `UsageError` where a result, a score or a piece of evidence is nothing that a report can hold.

    ``declared`` is the kind of result that the task's description names; `OtherResult` names none.
    """
    if not isinstance(outcome.result, WireModel):
        raise UsageError(f"the result of a task must be a forensix.schema.WireModel, not a {_type(outcome.result)}")
    if outcome.score is not None and not (isinstance(outcome.score, Real) and 0 <= outcome.score <= 1):
        raise UsageError(f"the score of a task must be a number from 0 to 1 or None, not {outcome.score!r:.80}")
    for item in outcome.evidence:
        if not isinstance(item, get_args(Evidence)):
            kinds = ", ".join(kind.__name__ for kind in get_args(Evidence))
            raise UsageError(f"the evidence of a task must be of {kinds}, not a {_type(item)}")
        if isinstance(item, Picture) and not isinstance(item.data_uri, str):
            raise UsageError(f"a picture of a task must be a data URI, not a {_type(item.data_uri)}")
    for name, texts in (("notes", outcome.notes), ("models", outcome.models)):
        if not (isinstance(texts, tuple | list) and all(isinstance(text, str) for text in texts)):
            raise UsageError(f"the {name} of a task must be a tuple of texts, not {texts!r:.80}")
    for name, text in (("summary", outcome.summary), ("remark", outcome.remark), ("preview", outcome.preview or "")):
        if not isinstance(text, str):
            raise UsageError(f"the {name} of a task must be text, not a {_type(text)}")
    if declared is not OtherResult and not isinstance(outcome.result, declared):
        raise UsageError(f"the result of this task is a {declared.__name__}, not a {_type(outcome.result)}")
    try:
        json.dumps(outcome.result.to_wire(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the result of a task must be what JSON can hold: {error}") from error


def _type(given: object) -> str:
    return type(given).__name__
