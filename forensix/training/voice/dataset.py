"""From labelled recordings to training examples: trimmed, levelled, copied and degraded once, kept in one file.

Each piece of at most 4 s is kept clean and through three random chains of degradations. Copies of a real piece go
through the same chains with the same draws, so a pair differs in nothing but synthesis.
"""

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.perturb import audio as degrade
from forensix.perturb import rawboost
from forensix.training.voice.sources import Recording, chunks, decode
from forensix.voice.spoof import normalise, trim

MIN_S = 0.4
RATE_HZ = 16_000
N_DEGRADED = 3
Samples = NDArray[np.float32]
Made = tuple[dict[str, object], NDArray[np.int16]]

# How many pieces of one recording, and how many copies of each piece. Groups of few recordings give more of both.
PIECES = {"voice references": 3, "speeches": 6, "meetings": 5, "cloned speeches": 6, "Tortoise": 2, "NaturalSpeech": 3}
FILES = {"wake words": 300, "commands": 400, "Tortoise": 200, "Larynx": 200}
LARGE = {"wake words", "commands", "LibriSpeech"}

# What a recording was sent as, by share.
CODECS = {"mp3": 0.35, "aac": 0.2, "opus": 0.2, "telephone": 0.15, "g722": 0.1}


@dataclass(frozen=True)
class Examples:
    """All examples: ``samples`` int16, one after the other, and a table with a row for each.

    Columns: ``start``, ``length`` (of the clean version; `N_DEGRADED` degraded ones follow it), ``fake``, ``group``,
    ``repository``, ``licence``, ``method`` (of the copy, or empty), ``piece`` (shared by a piece and its copies),
    ``file`` (number of the recording).
    """

    samples: NDArray[np.int16]
    table: pd.DataFrame

    def wave(self, row: int, version: int) -> Samples:
        """Return one example as float samples: version 0 is clean, 1 to `N_DEGRADED` are degraded."""
        start, length = self._spans[row]
        start += length * version
        return self.samples[start : start + length].astype(np.float32) / np.float32(32768)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return list(zip(self.table["start"].tolist(), self.table["length"].tolist(), strict=True))


def seed_of(*parts: object) -> int:
    """Return a seed that depends on nothing but the parts."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "little")


def degrade_randomly(samples: Samples, rng: np.random.Generator) -> Samples:
    """Send through a random chain: room, microphone, overload, noise, line, bandwidth, codec, each with some chance."""
    if rng.random() < 0.25:
        samples = degrade.reverberate(samples, rng)
    if rng.random() < 0.5:
        samples = degrade.equalise(samples, rng)
    if rng.random() < 0.1:
        samples = degrade.clip(samples, rng)
    if rng.random() < 0.55:
        samples = degrade.noise(samples, rng)
    if rng.random() < 0.35:
        samples = degrade.low_pass(samples, rng)
    if rng.random() < 0.15:
        samples = rawboost.series(samples, rng)
    if rng.random() < 0.5:
        codec = rng.choice(list(CODECS), p=list(CODECS.values()))
        samples = degrade.DEGRADATIONS[codec](samples, rng)
    return samples


def examples_of(recording: Recording, *, seed: int) -> list[Made]:
    """Return the examples that one recording gives, each with its row."""
    import torch

    from forensix.training.voice import synthesis

    torch.set_num_threads(1)
    key = recording.path.name
    try:
        whole = decode(recording.path)
    except (OSError, ValueError):
        return []
    out: list[Made] = []
    at_most = PIECES.get(recording.group, 1 if recording.group in LARGE else 2)
    n_copies = 0 if recording.is_fake else (2 if recording.group in LARGE else 4)
    for number, cut in enumerate(chunks(trim(whole), at_most=at_most)):
        piece = normalise(trim(cut))
        if piece.size < MIN_S * RATE_HZ:
            continue
        name = seed_of(seed, recording.repository, key, number)
        rng = np.random.default_rng(name)
        methods = ["", *rng.choice(list(synthesis.METHODS), n_copies, replace=False)]
        for method in methods:
            wave = synthesis.resynthesise(piece, str(method), rng) if method else piece
            chains = (np.random.default_rng(name + 1 + version) for version in range(N_DEGRADED))
            versions = [wave, *(degrade_randomly(wave, chain) for chain in chains)]
            row = {
                "length": piece.size,
                "fake": int(recording.is_fake or bool(method)),
                "group": recording.group,
                "repository": recording.repository,
                "licence": recording.licence,
                "method": str(method),
                "piece": name % 2**53,
            }
            out.append((row, np.concatenate([_int16(normalise(version)) for version in versions])))
    return out


def _int16(samples: Samples) -> NDArray[np.int16]:
    return (np.clip(samples, -1, 1) * 32767).astype(np.int16)


def build_examples(recordings: Iterable[Recording], folder: Path, *, seed: int, workers: int = 1) -> Examples:
    """Make all examples and write them to ``folder``; read them back where they are there already."""
    table_path, samples_path = folder / "examples.csv", folder / "examples.int16"
    if not table_path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rows: list[dict[str, object]] = []
        start = 0
        with samples_path.open("wb") as file:
            for number, made in enumerate(_made(list(_limited(recordings)), seed, workers)):
                for row, samples in made:
                    rows.append({"start": start, **row, "file": number})
                    file.write(samples.tobytes())
                    start += samples.size
        pd.DataFrame(rows).to_csv(table_path, index=False)
    return load_examples(folder)


def load_examples(folder: Path) -> Examples:
    """Read back what `build_examples` wrote; samples stay on disk until they are used."""
    table = pd.read_csv(folder / "examples.csv", keep_default_na=False)
    return Examples(np.memmap(folder / "examples.int16", np.int16, "r"), table)


def _made(recordings: list[Recording], seed: int, workers: int) -> Iterator[list[Made]]:
    work = partial(examples_of, seed=seed)
    if workers == 1:
        yield from map(work, recordings)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, recordings, chunksize=8)


def _limited(recordings: Iterable[Recording]) -> Iterator[Recording]:
    seen: dict[str, int] = {}
    for recording in sorted(recordings, key=lambda r: seed_of(r.repository, r.path.name)):
        seen[recording.group] = seen.get(recording.group, 0) + 1
        if seen[recording.group] <= FILES.get(recording.group, 10**9):
            yield recording
