"""What is said, in English.

Two engines write it, and a `Transcript` names the one that did:

``pocketsphinx``
    Embedded and offline, English only: a floor. On any other language it writes English words that were not said.
``whisper``
    faster-whisper, where ``forensix[whisper]`` is installed and a folder holds a converted model: any language that
    the model knows, translated to English. Nothing is ever downloaded. The folder comes from the caller or from the
    environment variable ``FORENSIX_WHISPER``.

Assumes mono 16 kHz samples. Without speech the text is empty. Fails on noise, accents, names and overlapping voices;
what it writes is for reading, not for evidence. ``benchmarks/results/voice_components.md`` has word error rates.

References
----------
A. Radford et al., "Robust speech recognition via large-scale weak supervision", 2022.
"""

import itertools
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.errors import BrokenMedia, MissingExtra, WeightsMissing
from forensix.media import sandbox
from forensix.voice.speech import RATE_HZ, Segment, as_float, total_s

_LOG = logging.getLogger(__name__)

SETTING = "FORENSIX_WHISPER"
EMBEDDED_S = 600.0
"""Seconds of speech that the embedded engine listens to, from the start; it is slow."""
UTTERANCE_S = 20.0
PAUSE_S = 0.6
MARGIN_S = 0.25  # of what is around an utterance is heard as well: first words are lost without it
CHILD_MEMORY_BYTES = 2 << 30


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
    """``pocketsphinx`` or ``whisper``; ``None`` when there was nothing to hear."""
    complete: bool = True
    """False if the engine was stopped before the end; the text is then of the start of the recording."""

    def of(self, segments: Sequence[Segment]) -> str:
        """Return what was said in these segments: every phrase whose middle lies in one of them."""
        return " ".join(
            phrase.text
            for phrase in self.phrases
            if any(s.start_s <= (phrase.segment.start_s + phrase.segment.end_s) / 2 < s.end_s for s in segments)
        )


SILENCE = Transcript("", "", None, (), None)


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
        Folder of a faster-whisper model. Without it the folder in ``FORENSIX_WHISPER``, and without that the embedded
        engine.

    Raises
    ------
    MissingExtra
        A folder is named but faster-whisper is not installed.
    WeightsMissing
        The folder holds no model.

    Examples
    --------
    >>> transcribe(np.zeros(16000, np.int16), ()).text
    ''
    """
    as_float(samples[:0])
    folder = model or os.environ.get(SETTING)
    if folder:
        network = _whisper(str(Path(folder).expanduser()))
        return _by_whisper(network, samples, segments) if segments else SILENCE
    return _by_pocketsphinx(samples, segments) if segments else SILENCE


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
        for piece, found in zip(pieces, heard, strict=False):
            words += [Phrase(Segment(piece.start_s + a, piece.start_s + b), word) for word, a, b in found]
    except BrokenMedia as error:
        _LOG.warning("the transcript ends early: %s", error)
        complete = False
    text = " ".join(word.text for word in words)
    return Transcript(text, text, "en", tuple(words), "pocketsphinx", complete)


@lru_cache(maxsize=1)
def _whisper(folder: str) -> Any:
    try:
        from faster_whisper import WhisperModel
    except ImportError as error:
        raise MissingExtra(
            f"the folder {folder} was named for transcripts, which needs faster-whisper: "
            "run \"pip install 'forensix[whisper]'\""
        ) from error
    if not (Path(folder) / "model.bin").is_file():
        raise WeightsMissing(f"{folder} holds no faster-whisper model: its model.bin was expected")
    return WhisperModel(folder, device="auto", local_files_only=True)


def _by_whisper(network: Any, samples: NDArray[Any], segments: Sequence[Segment]) -> Transcript:
    clip = [{"start": s.start_s, "end": s.end_s} for s in segments]
    audio = np.empty(len(samples), np.float32)
    for start in range(0, len(samples), 60 * RATE_HZ):
        audio[start : start + 60 * RATE_HZ] = as_float(samples[start : start + 60 * RATE_HZ])
    settings = {"vad_filter": False, "clip_timestamps": [t for c in clip for t in c.values()]}
    found, info = network.transcribe(audio, task="transcribe", word_timestamps=True, **settings)
    original = list(found)
    original_text = " ".join(s.text.strip() for s in original)
    if info.language == "en":
        words = [Phrase(Segment(w.start, w.end), w.word.strip()) for s in original for w in s.words or ()]
        return Transcript(original_text, original_text, "en", tuple(words), "whisper")
    translated, _ = network.transcribe(audio, task="translate", language=info.language, **settings)
    phrases = tuple(Phrase(Segment(s.start, s.end), s.text.strip()) for s in translated)
    text = " ".join(phrase.text for phrase in phrases)
    return Transcript(text, original_text, info.language, phrases, "whisper")
