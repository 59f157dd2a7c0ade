"""``voice_analysis``: who speaks, what is said, how it sounds, and whether it is synthetic.

Speech is found, split by speaker, and each speaker is scored on all of his speech; the recording's score is that of
its most suspect speaker. The acoustic features are shown beside a population of real voices and do not move the score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.media import Media
from forensix.schema import ACCEPTS, Gender, Speaker, VoiceResult
from forensix.schema import Segment as WireSegment
from forensix.tasks.evidence import Curve, Evidence, Outcome, Span, Timeline
from forensix.tasks.task import Options, component, component_label
from forensix.tasks.verdicts import checked, class_of, is_inconclusive, pooled, probability_of, threshold_of
from forensix.voice import Segment, SpeakerTurns, compare, diarise, extract, speech_segments, transcribe
from forensix.voice.speech import RATE_HZ, total_s
from forensix.voice.transcript import Transcript

JOIN_S = 0.6
"""Pauses up to this long stay inside a stretch that is scored as one: cutting there would leave edges of our own."""

LEAST_S = 0.5
"""Stretches shorter than this are scored only where a speaker has no longer one."""


@dataclass(frozen=True)
class _Voice:
    """One speaker with what was found out about him."""

    turns: SpeakerTurns
    score: float
    gender: Gender
    gender_probability: float | None
    features: Mapping[str, float | None] | None


class VoiceAnalysis:
    """Tell synthetic voices from recorded ones."""

    name = "voice_analysis"
    accepts = ACCEPTS["voice_analysis"]
    components: Mapping[str, str] = MappingProxyType({"spoof": "forensix-spoof", "gender": "forensix-gender"})

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the verdict on all speakers; ``no_speech`` where nobody speaks."""
        spoof = component(self, "spoof", options)
        options.progress("finding speech", 0.0)
        segments, samples = _speech(media)
        if not segments:
            return _silent(media, transcribed=options.transcribe)
        options.progress("telling speakers apart", 0.15)
        gender = component(self, "gender", options) if options.explain else None
        turns = diarise(samples, segments)
        voices = []
        for i, one in enumerate(turns):
            options.progress(f"listening to {one.speaker}", 0.2 + 0.4 * i / len(turns))
            voices.append(_listen(one, samples, spoof, gender))
        words = None
        if options.transcribe:
            options.progress("writing down what is said", 0.6)
            words = transcribe(samples, segments)
        return self._outcome(media, options, spoof, gender, voices, segments, samples, words)

    def _outcome(
        self,
        media: Media,
        options: Options,
        spoof: Any,
        gender: Any,
        voices: Sequence[_Voice],
        segments: Sequence[Segment],
        samples: NDArray[Any],
        words: Transcript | None,
    ) -> Outcome:
        score = max(voice.score for voice in voices)
        class_name = class_of(score, spoof)
        result = VoiceResult(
            class_name=class_name,
            class_probability=probability_of(score, class_name),
            transcript=words.text if words else None,
            explanation=tuple(_speaker(voice, spoof, words) for voice in voices) if options.explain else None,
        )
        return Outcome(
            result=result,
            score=score,
            evidence=_evidence(samples, segments, voices, spoof) if options.explain else (),
            notes=_notes(segments, words),
            models=tuple(component_label(used) for used in (spoof, gender) if used is not None),
            summary=_summary(voices, spoof, segments),
            inconclusive=is_inconclusive(score, spoof),
        )


def _speech(media: Media) -> tuple[Sequence[Segment], NDArray[Any]]:
    if media.kind == "video" and not media.broken and not media.info.has_audio:
        return (), np.zeros(0, dtype=np.int16)
    samples = media.samples()
    return media.memo("speech", lambda: speech_segments(samples)), samples


def _silent(media: Media, *, transcribed: bool) -> Outcome:
    mute = media.kind == "video" and not media.info.has_audio
    return Outcome(
        result=VoiceResult(class_name="no_speech", transcript="" if transcribed else None),
        score=None,
        summary="The video has no sound." if mute else "Nobody is heard speaking, so there is no voice to judge.",
    )


def stretches(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Join segments over short pauses; those too short to be scored are left out where there are longer ones."""
    joined: list[Segment] = []
    for segment in segments:
        if joined and segment.start_s - joined[-1].end_s <= JOIN_S:
            joined[-1] = Segment(joined[-1].start_s, segment.end_s)
        else:
            joined.append(segment)
    return tuple(s for s in joined if s.duration_s >= LEAST_S) or (max(joined, key=lambda s: s.duration_s),)


def _listen(turns: SpeakerTurns, samples: NDArray[Any], spoof: Any, gender: Any) -> _Voice:
    pieces = stretches(turns.segments)
    scores = checked([float(spoof.score(piece.of(samples))) for piece in pieces], len(pieces), spoof)
    heard: tuple[Gender, float | None] = ("unknown", None)
    features = None
    if gender is not None:
        heard = gender.classify(samples, turns.segments)
        features = extract(samples, turns.segments)
    return _Voice(turns, pooled(scores, [piece.duration_s for piece in pieces]), *heard, features)


def _speaker(voice: _Voice, spoof: Any, words: Transcript | None) -> Speaker:
    class_name = class_of(voice.score, spoof)
    return Speaker(
        class_name=class_name,
        class_probability=probability_of(voice.score, class_name),
        gender=voice.gender,
        gender_probability=voice.gender_probability,
        speaker=voice.turns.speaker,
        transcript=words.of(voice.turns.segments) if words else None,
        segments=tuple(WireSegment(start=s.start_s, end=s.end_s) for s in voice.turns.segments),
        audio_features=compare(voice.features, voice.gender) if voice.features is not None else None,
    )


def _notes(segments: Sequence[Segment], words: Transcript | None) -> tuple[str, ...]:
    notes = []
    if total_s(segments) < 2:
        notes.append("There are less than 2 s of speech: too little for a firm score.")
    if words and words.engine:
        notes.append(f"The transcript was written by {words.engine}{'' if words.complete else ', and ends early'}.")
    return tuple(notes)


def _summary(voices: Sequence[_Voice], spoof: Any, segments: Sequence[Segment]) -> str:
    fake = [voice.turns.speaker for voice in voices if class_of(voice.score, spoof) == "fake"]
    heard = f"{total_s(segments):.1f} s of speech by {len(voices)} speaker{'s' if len(voices) > 1 else ''}"
    if is_inconclusive(max(voice.score for voice in voices), spoof):
        return f"In {heard}, whether a voice is synthetic cannot be told."
    if not fake:
        return f"In {heard}, no voice sounds synthetic."
    return f"In {heard}, {' and '.join(fake)} sound{'s' if len(fake) == 1 else ''} synthetic."


def _evidence(
    samples: NDArray[Any], segments: Sequence[Segment], voices: Sequence[_Voice], spoof: Any
) -> tuple[Evidence, ...]:
    spans = tuple(
        Span(voice.turns.speaker, s.start_s, s.end_s, score=voice.score)
        for voice in voices
        for s in voice.turns.segments
    )
    shown: list[Evidence] = [Timeline("Who speaks when", len(samples) / RATE_HZ, spans)]
    if hasattr(spoof, "window_scores"):
        x: list[float] = []
        y: list[float] = []
        for piece in stretches(segments):
            times_s, scores = spoof.window_scores(piece.of(samples))
            x += [piece.start_s + float(t) for t in times_s]
            y += [float(s) for s in scores]
        if len(x) > 1:
            shown.append(Curve("Score by window", tuple(x), tuple(y), "time (s)", "score", threshold_of(spoof)))
    return tuple(shown)
