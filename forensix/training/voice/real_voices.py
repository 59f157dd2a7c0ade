"""Real voices to learn from: who speaks in which file of the training repositories.

Only files of repositories that have ``train`` rows in the corpora's ``voice/manifest.csv`` are used, and none of its
``dev`` rows. A folder of repositories holds one folder ``<owner>+<name>`` for each, with its files as published; the
rows of the manifest stand in where one is absent. Speakers and genders are what those repositories say: LibriSpeech's
table of readers, the letters in AMI's speaker names, the voice names on the demonstration page of CMU ARCTIC.
"""

import hashlib
import itertools
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.perturb import find
from forensix.training.voice.clips import decode
from forensix.voice.speech import RATE_HZ, Segment, as_float

ARCTIC = {"0": ("awb", "M"), "1": ("bdl", "M"), "2": ("clb", "F"), "3": ("jmk", "M"), "4": ("ksp", "M")}
ARCTIC |= {"5": ("rms", "M"), "6": ("slt", "F")}
ANONYMOUS = {"Picovoice/speech-to-intent-benchmark": 50, "Picovoice/wake-word-benchmark": 50}
"""Collections whose speakers are not told apart, and how many their descriptions promise at least."""


@dataclass(frozen=True)
class Voice:
    """One recording, or a stretch of one, of one real speaker."""

    path: Path
    name: str
    """``owner/repository:path`` of the file, for the record."""
    collection: str
    speaker: str | None
    gender: str | None
    """``M``, ``F`` or ``None`` where it is not told."""
    licence: str
    segment: Segment | None = None
    """Where in the file this speaker speaks; all of it when ``None``."""


def read_samples(path: Path, *, at_most_s: float = 60.0) -> NDArray[np.int16]:
    """Decode the start of a trusted file to mono 16 kHz int16, shape (n,)."""
    return decode(path, max_s=at_most_s, sample_format="s16")


def samples_of(voice: Voice, *, at_most_s: float = 10.0) -> NDArray[np.int16]:
    """Decode a voice, at most so many seconds of it."""
    if voice.segment is None:
        return read_samples(voice.path, at_most_s=at_most_s)
    samples = read_samples(voice.path, at_most_s=voice.segment.end_s)
    return samples[round(voice.segment.start_s * RATE_HZ) :][: round(at_most_s * RATE_HZ)]


def over_telephone(samples: NDArray[np.int16]) -> NDArray[np.float32]:
    """Return a recording as it comes through a telephone line, see `forensix.perturb`."""
    heard: NDArray[np.float32] = find("audio", "telephone").at(None)(as_float(samples))
    return heard


def read_rttm(path: Path) -> dict[str, list[tuple[Segment, str]]]:
    """Read speaker turns, ``{recording: [(segment, speaker), ...]}`` in order of their start."""
    turns: dict[str, list[tuple[Segment, str]]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words and words[0] == "SPEAKER":
            start_s, duration_s = float(words[3]), float(words[4])
            turns.setdefault(words[1], []).append((Segment(start_s, start_s + duration_s), words[7]))
    return {name: sorted(own, key=lambda turn: turn[0]) for name, own in turns.items()}


def alone(turns: list[tuple[Segment, str]], *, at_least_s: float) -> Iterator[tuple[Segment, str]]:
    """Yield the stretches in which only one speaker speaks."""
    edges = sorted({e for s, _ in turns for e in (s.start_s, s.end_s)})
    joined: list[tuple[Segment, str]] = []
    for a, b in itertools.pairwise(edges):
        who = {speaker for s, speaker in turns if s.start_s < b and s.end_s > a}
        if len(who) != 1:
            continue
        speaker = who.pop()
        if joined and joined[-1][1] == speaker and joined[-1][0].end_s == a:
            joined[-1] = (Segment(joined[-1][0].start_s, b), speaker)
        else:
            joined.append((Segment(a, b), speaker))
    yield from (turn for turn in joined if turn[0].duration_s >= at_least_s)


def librispeech(root: Path) -> Iterator[Voice]:
    """Readers of the two LibriSpeech folders of resemble-ai/Resemblyzer."""
    table = root / "audio_data/librispeech_train-clean-100/SPEAKERS.TXT"
    if not table.is_file():
        return
    rows = [line.split("|") for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith(";")]
    gender = {row[0].strip(): row[1].strip() for row in rows}
    for path in sorted((root / "audio_data").glob("librispeech_*/**/*.flac")):
        reader = path.name.split("-")[0]
        name = f"resemble-ai/Resemblyzer:{path.relative_to(root)}"
        yield Voice(path, name, "LibriSpeech", f"LS{reader}", gender.get(reader), "CC-BY-4.0")


def _ami(root: Path) -> Iterator[Voice]:
    """Meeting speakers of pyannote/pyannote-audio's test data, where one speaks alone."""
    for rttm in sorted((root / "tests/data").glob("debug.*.rttm")):
        for recording, turns in read_rttm(rttm).items():
            path = root / f"tests/data/{recording}.wav"
            if path.is_file():
                for segment, speaker in alone(turns, at_least_s=1.5):
                    name = f"pyannote/pyannote-audio:tests/data/{path.name}"
                    yield Voice(path, name, "AMI", speaker, speaker[0], "CC-BY-4.0", segment)


def _picovoice(root: Path, repository: str, pattern: str) -> Iterator[Voice]:
    for path in sorted(root.glob(pattern)):
        name = f"{repository}:{path.relative_to(root)}"
        yield Voice(path, name, repository, None, None, "Apache-2.0")


def _from_rows(corpora: Path) -> Iterator[Voice]:
    """The real ``train`` rows of the corpora, by collection."""
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    for row in rows[(rows["split"] == "train") & (rows["label"] == "real")].to_dict("records"):
        speaker = row["speaker"] if isinstance(row["speaker"], str) else None
        gender = row["gender"] if isinstance(row["gender"], str) else None
        collection = row["source_repo"]
        if speaker in ("LJSpeech", "ljspeech"):
            speaker, collection = "LJSpeech", "LJSpeech"
        elif speaker and speaker.startswith("cmu_arctic_speaker"):
            speaker, gender = ARCTIC[speaker[-1]]
            collection = "CMU ARCTIC"
        elif speaker and speaker.startswith("LS"):
            collection = "LibriSpeech"
        elif speaker == "AMI-conversation" or (speaker or "").startswith("AMI"):
            continue  # several people; `_ami` tells them apart
        elif speaker is None and collection not in ANONYMOUS:
            continue
        name = f"{row['source_repo']}:{row['source_path']}"
        yield Voice(corpora / "voice" / row["path"], name, collection, speaker, gender, row["licence"])


def real_voices(corpora: Path, repositories: Path | None, *, per_collection: int, seed: int) -> list[Voice]:
    """List real training voices, at most so many recordings of each collection, drawn at random.

    A recording that a repository holds whole takes the place of its excerpt in the corpora.
    """
    by_name: dict[str, Voice] = {voice.name: voice for voice in _from_rows(corpora)}
    if repositories is not None:
        sources: Iterable[Iterator[Voice]] = (
            librispeech(repositories / "resemble-ai+Resemblyzer"),
            _ami(repositories / "pyannote+pyannote-audio"),
            _picovoice(
                repositories / "Picovoice+speech-to-intent-benchmark",
                "Picovoice/speech-to-intent-benchmark",
                "data/speech/clean/*.wav",
            ),
            _picovoice(repositories / "Picovoice+wake-word-benchmark", "Picovoice/wake-word-benchmark", "audio/*/*.*"),
        )
        for source in sources:
            for voice in source:
                by_name[voice.name + (f"@{voice.segment.start_s}" if voice.segment else "")] = voice
    by_collection: dict[str, list[Voice]] = {}
    for key in sorted(by_name):
        by_collection.setdefault(by_name[key].collection, []).append(by_name[key])
    draw = random.Random(seed)
    kept = [v for _, voices in sorted(by_collection.items()) for v in draw.sample(voices, len(voices))[:per_collection]]
    return sorted(kept, key=lambda v: (v.collection, v.name, v.segment or Segment(0, 0)))


def fingerprint(voices: Iterable[Voice]) -> str:
    """Return a sha256 over the names and contents of the files that voices come from."""
    digest = hashlib.sha256()
    for path, name in sorted({(v.path, v.name) for v in voices}, key=lambda pair: pair[1]):
        digest.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
