"""The voices of a recording: each speaker's speech, scored by phrase, and what is told of it.

A run of phrases that stands out of the rest of a voice as synthetic is a voice of its own: it is what was put in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from forensix.schema import Gender
from forensix.tasks.verdicts import checked, class_of, is_inconclusive, pooled, threshold_of, upper_of
from forensix.voice import Segment, SpeakerTurns
from forensix.voice.features import extract, hear
from forensix.voice.gender import GenderClassifier
from forensix.voice.phrases import inserted, phrases
from forensix.voice.population import LEAST_SPEECH_S, Band, band_of
from forensix.voice.singing import is_singing
from forensix.voice.watermark import Mark


@dataclass(frozen=True)
class Voice:
    """One speaker, or a piece that was put into his speech, with what was found out about it."""

    turns: SpeakerTurns
    phrases: tuple[Segment, ...]
    scores: tuple[float, ...]
    score: float
    is_inserted: bool = False
    mark: Mark | None = None
    mark_decides: bool = False
    is_sung: bool = False
    gender: Gender = "unknown"
    gender_probability: float | None = None
    features: Mapping[str, float | None] | None = None
    band: Band = "wide"


def sounds_recorded(voice: Voice, spoof: Any) -> bool:
    """Return whether the score of a voice is one of recorded voices."""
    return class_of(voice.score, spoof) == "real" and not is_inconclusive(voice.score, spoof)


def listen(turns: SpeakerTurns, samples: NDArray[Any], spoof: Any, *, one_voice: bool = False) -> tuple[Voice, ...]:
    """Score a speaker by phrase; return one voice, or two where a piece was put in and not ``one_voice`` is wanted."""
    pieces = phrases(turns.segments)
    parts = [piece.of(samples) for piece in pieces]
    part_scores = spoof.scores(parts) if hasattr(spoof, "scores") else [spoof.score(part) for part in parts]
    scores = checked(part_scores, len(pieces), spoof)
    durations_s = [piece.duration_s for piece in pieces]
    run = None if one_voice else inserted(scores.tolist(), durations_s, threshold_of(spoof))
    if run is None:
        return (Voice(turns, pieces, tuple(scores.tolist()), pooled(scores, durations_s)),)
    inside = set(run)
    start_s, end_s = pieces[run[0]].start_s, pieces[run[-1]].end_s
    voices = []
    for is_inserted in (False, True):
        chosen = [i for i in range(len(pieces)) if (i in inside) is is_inserted]
        segments = tuple(part for s in turns.segments for part in _parts(s, start_s, end_s, inside=is_inserted))
        name = f"{turns.speaker} (inserted)" if is_inserted else turns.speaker
        score = pooled(scores[chosen], [durations_s[i] for i in chosen])
        part = tuple(pieces[i] for i in chosen), tuple(scores[chosen].tolist())
        voices.append(Voice(SpeakerTurns(name, segments), *part, score, is_inserted))
    return tuple(voices)


def _parts(segment: Segment, start_s: float, end_s: float, *, inside: bool) -> list[Segment]:
    """Return what of a segment lies inside, or outside, of a stretch."""
    if inside:
        parts = [Segment(max(segment.start_s, start_s), min(segment.end_s, end_s))]
    else:
        before = Segment(segment.start_s, min(segment.end_s, start_s))
        parts = [before, Segment(max(segment.start_s, end_s), segment.end_s)]
    return [part for part in parts if part.duration_s > 0]


def described(voice: Voice, samples: NDArray[Any], used: Mapping[str, Any]) -> Voice:
    """Add the watermark, and what is shown of a voice.

    A mark that lies in much of a voice decides, unless the voice sounds recorded, as some do that are read as marked by
    chance: the voice then scores no lower than what is held for fake.
    """
    mark, spoof = used["voice_watermark"].read(samples, voice.phrases), used["spoof"]
    changes: dict[str, Any] = {"mark": mark}
    if mark and mark.is_throughout and not sounds_recorded(voice, spoof):
        changes |= {"mark_decides": True, "score": max(voice.score, mark.reading, upper_of(spoof))}
    if "gender" in used:
        segments, classifier = voice.turns.segments, used["gender"]
        voicing = hear(samples, segments)
        more = {"heard": voicing} if isinstance(classifier, GenderClassifier) else {}
        gender, probability = classifier.classify(samples, segments, **more)
        changes |= {"gender": gender, "gender_probability": probability, "is_sung": is_singing(voicing)}
        if voice.turns.duration_s >= LEAST_SPEECH_S:
            changes |= {"features": extract(samples, segments, heard=voicing), "band": band_of(samples, segments)}
    return Voice(**{**vars(voice), **changes})
