"""``voice_analysis``: who speaks, what is said, how it sounds, and whether it is synthetic.

Speech is found, split by speaker, and each speaker's speech is cut into phrases that are scored; a speaker's score is
that of all of his speech, the recording's that of its most suspect speaker. A run of phrases that stands out of the
rest of a voice as synthetic counts as a voice of its own: it is what was put in. A watermark of a synthesiser decides
where it lies in much of a voice that does not sound recorded; any other leaves the voice undecided. The acoustic
features are shown beside a population of real voices and do not move the score.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import UsageError
from forensix.forensics.findings import joined
from forensix.media import Media
from forensix.media.channels import APART
from forensix.schema import Segment as WireSegment
from forensix.schema import Speaker, VoiceResult
from forensix.tasks.catalogue import VOICE_ANALYSIS
from forensix.tasks.evidence import Outcome, Table
from forensix.tasks.task import Options, component, component_label
from forensix.tasks.verdicts import class_of, is_inconclusive, probability_of, score_text, threshold_of
from forensix.tasks.voice_evidence import HeardPhrase, recording, set_beside
from forensix.tasks.voices import Voice, described, listen, sounds_recorded
from forensix.voice import Segment, compare
from forensix.voice.speech import peak_of, total_s
from forensix.voice.transcript import ENGLISH_ONLY, Transcript
from forensix.voice.watermark import Mark

FIRM_S = 2.0
"""Less speech than this gives no firm score."""

LEAST_S = 1.0
"""A voice with less speech than this is not judged, unless it carries a mark or was put in: the shorter a recording,
the more often it scores as synthetic, see ``benchmarks/results/voice_recordings.md``."""

QUIET_PEAK = 10 ** (-45 / 20)
"""Where the loudest sample lies lower, much of what is said is not found to be speech."""

CLIPPED_SHARE, DAMAGED_SHARE = 0.0005, 0.1
"""Of the samples of speech at their peak, from which a recording counts as clipped, and from which no voice in it is
told to be recorded: of 2,762 clips of training none has so many of all its samples."""


class VoiceAnalysis:
    """Tell synthetic voices from recorded ones."""

    description = VOICE_ANALYSIS
    name = VOICE_ANALYSIS.name
    accepts = VOICE_ANALYSIS.accepts
    components: Mapping[str, str] = MappingProxyType(
        {
            "spoof": "forensix-spoof",
            "gender": "forensix-gender",
            "speech_activity": "silero",
            "diarisation": "forensix-diarisation",
            "voice_watermark": "available",
            "transcript": "available",
        }
    )

    def run(self, media: Media, options: Options) -> Outcome:
        """Return the verdict on all speakers; ``no_speech`` where nobody speaks."""
        used = {"spoof": component(self, "spoof", options)}
        options.progress("finding speech", 0.0)
        segments, samples = _speech(media, component(self, "speech_activity", options))
        if not segments:
            return _silent(media, samples, transcribed=options.transcribe)
        options.progress("telling speakers apart", 0.15)
        used["diarisation"] = component(self, "diarisation", options)
        turns = used["diarisation"].diarise(samples, segments)
        if options.explain:
            used["gender"] = component(self, "gender", options)
        used["voice_watermark"] = component(self, "voice_watermark", options)
        # What is said where two people were mixed stands out of what one of them says alone.
        listened = partial(listen, samples=samples, spoof=used["spoof"], one_voice=APART in media.warnings)
        voices: list[Voice] = []
        for i, speaker in enumerate(turns):
            options.progress(f"listening to {speaker.speaker}", 0.2 + 0.4 * i / len(turns))
            voices += [described(voice, samples, used) for voice in listened(speaker)]
        words = None
        if options.transcribe:
            options.progress("writing down what is said", 0.6)
            used["transcript"] = component(self, "transcript", options)
            words = used["transcript"].transcribe(samples, segments)
        return self._outcome(options, used, voices, segments, samples, words)

    def _outcome(
        self,
        options: Options,
        used: Mapping[str, Any],
        voices: Sequence[Voice],
        segments: Sequence[Segment],
        samples: NDArray[Any],
        words: Transcript | None,
    ) -> Outcome:
        spoof = used["spoof"]
        judged = [voice for voice in voices if _is_judged(voice)]
        score = max(voice.score for voice in judged or voices)
        class_name = class_of(score, spoof) if judged else "real"
        peak, at_peak = peak_of(samples)[0], peak_of(samples, segments)[1]
        damaged = at_peak >= DAMAGED_SHARE
        result = VoiceResult(
            class_name=class_name,
            class_probability=probability_of(score, class_name),
            transcript=words.text if words else None,
            explanation=tuple(_speaker(voice, spoof, _said(voice, voices, words)) for voice in voices)
            if options.explain
            else None,
        )
        phrases = [
            HeardPhrase(voice.turns.speaker, phrase, value)
            for voice in voices
            for phrase, value in zip(voice.phrases, voice.scores, strict=True)
        ]
        return Outcome(
            result=result,
            score=score,
            evidence=(
                (*recording(samples, phrases, threshold_of(spoof)), _table(voices, spoof, words, damaged))
                if options.explain
                else ()
            ),
            notes=(*_level_notes(peak, at_peak), *_notes(segments, voices, words, spoof)),
            models=tuple(component_label(part) for part in used.values()),
            summary=_summary(voices, spoof, segments, damaged),
            inconclusive=_is_undecided(voices, spoof, damaged),
            n_subjects=len(voices),
            n_undecided=len(_undecided(voices, spoof, damaged)),
            beside={v.turns.speaker: set_beside(v.gender, v.band) for v in voices if v.features is not None},
        )


def _speech(media: Media, activity: Any) -> tuple[Sequence[Segment], NDArray[Any]]:
    if _is_mute(media):
        return (), np.zeros(0, dtype=np.int16)
    samples = media.samples()
    # It is kept with what it said, so that no other can come to have its id.
    segments = media.memo(f"speech:{id(activity)}", lambda: (activity, activity.segments(samples)))[1]
    if segments is None:
        raise UsageError(f"{type(activity).__name__} must give a list of segments, not None")
    return segments, samples


def _is_mute(media: Media) -> bool:
    info = media.info
    return media.kind == "video" and not media.broken and not (info.has_audio or info.n_unread_audio_streams)


def _silent(media: Media, samples: NDArray[Any], *, transcribed: bool) -> Outcome:
    heard = "The video has no sound." if _is_mute(media) else "Nobody is heard speaking, so there is no voice to judge."
    return Outcome(
        result=VoiceResult(class_name="no_speech", transcript="" if transcribed else None),
        score=None,
        summary=heard,
        notes=tuple(_level_notes(*peak_of(samples), heard=False)),
    )


def _said(voice: Voice, voices: Sequence[Voice], words: Transcript | None) -> str | None:
    """Return a voice's words; what is said where nobody was heard is of who speaks nearest to it."""
    return words.of(voice.turns.segments, [s for one in voices for s in one.turns.segments]) if words else None


def _speaker(voice: Voice, spoof: Any, said: str | None) -> Speaker:
    # What is too short to be judged is not called fake, on the wire either.
    class_name = class_of(voice.score, spoof) if _is_judged(voice) else "real"
    return Speaker(
        class_name=class_name,
        class_probability=probability_of(voice.score, class_name),
        gender=voice.gender,
        gender_probability=voice.gender_probability,
        speaker=voice.turns.speaker,
        transcript=said,
        segments=tuple(WireSegment(start=s.start_s, end=s.end_s) for s in voice.turns.segments),
        audio_features=compare(voice.features, voice.gender, voice.band) if voice.features is not None else None,
    )


def _is_judged(voice: Voice) -> bool:
    """Return whether there is enough of a voice to judge it."""
    return voice.turns.duration_s >= LEAST_S or voice.is_inserted or voice.mark is not None


def _verdict(voice: Voice, spoof: Any, damaged: bool) -> str:
    """Return what is told of a voice: nothing where it says little or its score decides nothing.

    What is damaged, or read as marked, is not told to be recorded.
    """
    class_name = class_of(voice.score, spoof)
    unsure = is_inconclusive(voice.score, spoof) or (class_name == "real" and (damaged or voice.mark is not None))
    return class_name if _is_judged(voice) and not unsure else "inconclusive"


def _undecided(voices: Sequence[Voice], spoof: Any, damaged: bool) -> list[str]:
    """Return the speakers of whom it is not told whether they sound synthetic."""
    return [v.turns.speaker for v in voices if _verdict(v, spoof, damaged) == "inconclusive"]


def _is_undecided(voices: Sequence[Voice], spoof: Any, damaged: bool) -> bool:
    """Return whether nothing is told of a recording: no voice is found to be fake, and one that counts is undecided.

    A voice that is too short to be judged counts where its score would accuse it, one that is read as marked always.
    """
    if any(_verdict(voice, spoof, damaged) == "fake" for voice in voices):
        return False
    judged = [voice for voice in voices if _is_judged(voice)]
    short = [voice for voice in voices if not _is_judged(voice)]
    return (
        not judged
        or _verdict(max(judged, key=lambda voice: voice.score), spoof, damaged) == "inconclusive"
        or any(voice.mark for voice in judged)
        or any(class_of(voice.score, spoof) == "fake" and not is_inconclusive(voice.score, spoof) for voice in short)
    )


def _table(voices: Sequence[Voice], spoof: Any, words: Transcript | None, damaged: bool) -> Table:
    """Return every speaker with verdict and score, which the wire's two classes cannot tell."""
    rows = []
    for voice in voices:
        told = VOICE_ANALYSIS.verdicts.get(_verdict(voice, spoof, damaged))
        verdict = told.word.lower() if told else "inconclusive"
        sure = "" if voice.gender_probability is None else f" ({score_text(voice.gender_probability)})"
        said = _said(voice, voices, words) or ""
        cells = (voice.turns.speaker, verdict, score_text(voice.score), f"{voice.gender}{sure}")
        rows.append((*cells, _seconds(voice.turns.duration_s), *([said] if words else [])))
    columns = ("speaker", "verdict", "score", "gender (probability)", "speech", *(["transcript"] if words else []))
    return Table("Speakers", columns, tuple(rows))


def _seconds(duration_s: float) -> str:
    """Return seconds of speech in words, none of them begun: what is said to be less than one is not shown as one."""
    return f"{math.floor(10 * duration_s + 1e-6) / 10:.1f} s"


def _level_notes(peak: float, at_peak: float, *, heard: bool = True) -> Iterator[str]:
    """Yield what is said of a recording that is too loud, or too quiet, to hear all of it.

    ``at_peak`` is the share of samples at their peak: of the speech, or where none was ``heard`` of all.
    """
    if 0 < peak < QUIET_PEAK:
        below_db = -20 * np.log10(peak)
        yield f"The loudest sample lies {below_db:.0f} dB under full scale: speech so quiet is missed in part or whole."
    elif at_peak >= (CLIPPED_SHARE if heard else DAMAGED_SHARE):
        too_far = ", too much to call a voice recorded" if at_peak >= DAMAGED_SHARE else ", and the score less sure"
        share = f"{float(f'{100 * at_peak:.2g}'):g} % of {'the speech' if heard else 'the recording'}"
        yield f"{share} lies at the peak: the recording is clipped or damaged{too_far if heard else ''}."


def _notes(
    segments: Sequence[Segment], voices: Sequence[Voice], words: Transcript | None, spoof: Any
) -> tuple[str, ...]:
    notes = []
    if total_s(segments) < LEAST_S:
        notes.append(
            f"There is less than {LEAST_S:g} s of speech: too little to judge a voice, and to set its acoustic "
            "features beside those of others."
        )
    elif total_s(segments) < FIRM_S:
        notes.append(f"There are less than {FIRM_S:g} s of speech: too little for a firm score.")
    for voice in voices:
        name = voice.turns.speaker
        if not _is_judged(voice) and total_s(segments) >= LEAST_S:
            notes.append(f"{name} says less than {LEAST_S:g} s, too little to judge the voice.")
        if voice.mark:
            notes.append(_mark_note(voice, voice.mark, spoof))
        if voice.is_inserted:
            start_s, end_s = voice.turns.segments[0].start_s, voice.turns.segments[-1].end_s
            notes.append(
                f"What is said from {start_s:.1f} to {end_s:.1f} s stands out of the rest of its voice as synthetic: "
                "it may have been put in, and is listed as a voice of its own."
            )
        if voice.is_sung:
            notes.append(f"{name} seems to sing: the score of a singing voice is less sure than that of speech.")
    if words and words.engine:
        known = ", which takes every language for English" if words.engine in ENGLISH_ONLY else ""
        early = "" if words.complete else "; it ends early"
        notes.append(f"The transcript was written by {words.engine}{known}{early}.")
        if words.unsure:
            foreign = ", as where the language is another than English" if words.engine in ENGLISH_ONLY else ""
            notes.append(
                f"It leaves out what was said in {_seconds(total_s(words.unsure))} of the recording: the words could "
                f"not be made out{foreign}."
            )
    return tuple(notes)


def _mark_note(voice: Voice, mark: Mark, spoof: Any) -> str:
    read = f"the watermark {mark.name} (reading {mark.reading:.2f}), which synthesisers write into what they say"
    if voice.mark_decides:
        return f"{voice.turns.speaker} carries {read}; that decides, since the voice does not sound recorded."
    where = f"In {_seconds(total_s(mark.segments))} of {voice.turns.speaker} there seems to be {read}"
    if class_of(voice.score, spoof) == "fake":
        return f"{where}."
    why = "the voice sounds recorded" if sounds_recorded(voice, spoof) else "that is too little of the voice"
    return (
        f"{where}, but {why}: a few recordings of people read so by chance, so it is not told whether it is synthetic."
    )


def _summary(voices: Sequence[Voice], spoof: Any, segments: Sequence[Segment], damaged: bool) -> str:
    people = sum(not voice.is_inserted for voice in voices)
    extent = f"{_seconds(total_s(segments))} of speech by {people} speaker{'s' if people > 1 else ''}"
    unsure = _undecided(voices, spoof, damaged)
    fake = [voice.turns.speaker for voice in voices if _verdict(voice, spoof, damaged) == "fake"]
    if fake:
        return f"In {extent}, {joined(fake)} sound{'s' if len(fake) == 1 else ''} synthetic."
    if unsure:
        verb = "sounds" if len(unsure) == 1 else "sound"
        return f"In {extent}, whether {joined(unsure)} {verb} synthetic cannot be told."
    return f"In {extent}, no voice sounds synthetic."
