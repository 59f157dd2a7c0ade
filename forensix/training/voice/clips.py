"""From labelled files to clips: decoded, trimmed and cut once, and kept in files that training maps.

A clip is at most 5 s of speech at 16 kHz, trimmed and brought to one loudness. Some recordings of people get a *copy*
by `forensix.training.voice.synthesis`: a pair that differs in nothing but synthesis. Each clip is kept as it is and in
`DEGRADED` versions, sent through rooms, microphones, noise and codecs of the same kinds for both classes; a copy goes
through the same as its original.
"""

import hashlib
import io
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import av
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.errors import InputNotFound
from forensix.perturb import audio as degrade
from forensix.training.sources import Repositories
from forensix.voice.speech import RATE_HZ, as_float
from forensix.voice.spoof import normalise, trim

log = logging.getLogger(__name__)

LONGEST_S, SHORTEST_S = 5.0, 0.4
READ_S = 30.0
PART = 500
"""Files of one part of the cache: what an interrupted run has finished is not made again."""
FEW = 40
"""Sources with fewer files of a class than this give up to `PIECES` clips a file."""
PIECES = 2
COPIED = 30
"""Recordings of each collection that are copied."""
Samples = NDArray[np.float32]

DEGRADED = 3
"""Degraded versions of each clip."""

# What a recording was sent as: share, degradation, rates in kbit/s. Low rates on purpose: they are taken for synthesis.
CODECS: tuple[tuple[float, Callable[..., Samples], tuple[int, ...]], ...] = (
    (0.38, degrade.opus, (8, 12, 16, 16, 24)),
    (0.24, degrade.mp3, (16, 24, 32, 32, 64)),
    (0.22, degrade.telephone, ()),
    (0.10, degrade.aac, (24, 32, 48)),
    (0.06, degrade.g722, ()),
)
CODED = 0.7
"""Share of degraded versions that go through a codec."""


@dataclass(frozen=True, eq=False)
class Clips:
    """All clips: for each part, int16 samples, one clip after the other, as they are and in each degraded version.

    Columns of the table, a row a clip: ``part``, ``start``, ``length``, ``fake``, ``repo``, ``path``, ``made_by``
    (system or collection), ``licence``, ``method`` (of a copy, or empty), ``piece`` (shared by a clip and its copy).
    """

    parts: list[list[NDArray[np.int16]]]
    table: pd.DataFrame

    def wave(self, row: int, version: int = 0) -> Samples:
        """Return a clip as float samples: as it is, or its degraded version from 1 to `DEGRADED`."""
        return as_float(self._samples(row, version))

    def crop(self, row: int, version: int, size: int, at: float) -> Samples:
        """Return ``size`` samples of a clip from a place in [0, 1]; shorter clips are repeated."""
        samples = self._samples(row, version)
        if samples.size < size:
            samples = np.tile(samples, -(-size // samples.size))
        start = int(at * (samples.size - size))
        return as_float(samples[start : start + size])

    def _samples(self, row: int, version: int) -> NDArray[np.int16]:
        part, start, length = self._spans[row]
        return self.parts[part][version][start : start + length]

    @cached_property
    def _spans(self) -> list[tuple[int, int, int]]:
        columns = (self.table[name].tolist() for name in ("part", "start", "length"))
        return list(zip(*columns, strict=True))


def seed_of(*parts: object) -> int:
    """Return a seed that depends on nothing but the parts."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:6], "little")


def decode(data: bytes | Path, *, max_s: float = READ_S, sample_format: str = "flt") -> NDArray[Any]:
    """Return mono samples at 16 kHz of the first ``max_s`` seconds of a file or its bytes: float32, or int16 (``s16``).

    Raises
    ------
    OSError, ValueError, LookupError
        It cannot be decoded.
    """
    resampler = av.AudioResampler(format=sample_format, layout="mono", rate=RATE_HZ)
    pieces: list[NDArray[Any]] = []
    n, limit = 0, round(max_s * RATE_HZ)
    with av.open(io.BytesIO(data) if isinstance(data, bytes) else str(data), "r") as container:
        for frame in container.decode(audio=0):
            for piece in resampler.resample(frame):
                pieces.append(piece.to_ndarray()[0])
                n += pieces[-1].size
            if n >= limit:
                break
        else:
            pieces += [piece.to_ndarray()[0] for piece in resampler.resample(None)]
    return np.concatenate(pieces)[:limit] if pieces else np.zeros(0, np.int16 if sample_format == "s16" else np.float32)


def cut(samples: Samples, *, at_most: int, rng: np.random.Generator) -> Iterator[Samples]:
    """Yield up to ``at_most`` clips of at most 6 s: spread evenly, or one from anywhere."""
    size = int(LONGEST_S * RATE_HZ)
    spare = max(0, samples.size - size)
    n = min(at_most, 1 + spare // (size // 2))
    for start in np.linspace(0, spare, n).astype(int) if n > 1 else [int(rng.integers(spare + 1))]:
        yield samples[start : start + size]


def degrade_randomly(samples: Samples, rng: np.random.Generator) -> Samples:
    """Send through a random chain: room, microphone, overload, noise, bandwidth and codec, each by chance."""
    if rng.random() < 0.2:
        samples = degrade.reverberate(samples, rng)
    if rng.random() < 0.3:
        samples = degrade.equalise(samples, rng)
    if rng.random() < 0.07:
        samples = degrade.clip(samples, rng)
    if rng.random() < 0.35:
        samples = degrade.noise(samples, rng)
    if rng.random() < 0.15:
        samples = degrade.low_pass(samples, rng)
    if rng.random() < CODED:
        _, code, rates = CODECS[int(rng.choice(len(CODECS), p=[share for share, _, _ in CODECS]))]
        rate = {"kbps": int(rng.choice(rates))} if rates else {}
        samples = code(normalise(samples), rng, **rate)
    return samples


def build_clips(listed: pd.DataFrame, repositories: Repositories, folder: Path, *, seed: int, train: bool) -> Clips:
    """Make the clips of all listed files and write them to ``folder``, but for the parts that are there already.

    Parameters
    ----------
    listed
        Columns ``repo``, ``path``, ``ref``, ``blob``, ``label``, ``made_by``, ``licence`` and ``file`` (a path to the
        file itself, or empty where the repositories have it).
    train
        Whether recordings are copied and small sources give several clips a file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = listed.assign(
        size=listed.groupby(["repo", "label"])["path"].transform("size"),
        nth=listed.groupby(["repo", "made_by"]).cumcount(),
    ).sample(frac=1.0, random_state=seed)
    for number, first in enumerate(range(0, len(listed), PART)):
        done = folder / f"{number:03d}.csv"
        if done.is_file():
            continue
        rows: list[dict[str, object]] = []
        start = 0
        with (folder / f"{number:03d}.int16").open("wb") as out:
            for row in listed.iloc[first : first + PART].to_dict("records"):
                for made, samples in _examples(row, repositories, train, seed):
                    rows.append({"start": start, **made})
                    out.write(as_int16(samples).tobytes())
                    start += samples.size
        pd.DataFrame(rows).to_csv(done.with_suffix(".part"), index=False)
        done.with_suffix(".part").rename(done)
        log.info("%d of %d files", min(first + PART, len(listed)), len(listed))
    return load_clips(folder)


def degrade_clips(folder: Path, *, seed: int, workers: int = 1) -> Clips:
    """Write the degraded versions of the clips in ``folder``, but for those that are there already."""
    parts = [path for path in sorted(folder.glob("*.csv")) if not _version(path, DEGRADED).is_file()]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for path in pool.map(partial(_degrade_part, seed=seed), parts):
            log.info("%s degraded", path.stem)
    return load_clips(folder)


def _degrade_part(path: Path, *, seed: int) -> Path:
    table = pd.read_csv(path, keep_default_na=False)
    clean = np.memmap(path.with_suffix(".int16"), np.int16, "r")
    for version in range(1, DEGRADED + 1):
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as out:
            for start, length, piece in table[["start", "length", "piece"]].itertuples(index=False):
                degraded = degrade_randomly(
                    as_float(clean[start : start + length]), np.random.default_rng(seed_of(seed, piece, version))
                )
                out.write(as_int16(normalise(degraded)).tobytes())
        unfinished.rename(_version(path, version))
    return path


def _version(path: Path, version: int) -> Path:
    return path.with_suffix(f".{version}.int16" if version else ".int16")


def _examples(
    row: dict[Any, Any], repositories: Repositories, train: bool, seed: int
) -> Iterator[tuple[dict[str, object], Samples]]:
    try:
        file, reference = row["file"], {"blob": row["blob"], "ref": row["ref"]}
        whole = trim(decode(Path(file) if file else repositories.read(row["repo"], row["path"], **reference)))
    except (InputNotFound, OSError, ValueError, LookupError) as error:
        log.warning("%s:%s left out: %s", row["repo"], row["path"], error)
        return
    name = seed_of(seed, row["repo"], row["path"])
    rng = np.random.default_rng(name)
    for number, piece in enumerate(cut(whole, at_most=PIECES if train and row["size"] < FEW else 1, rng=rng)):
        clip = normalise(trim(piece))
        if clip.size < SHORTEST_S * RATE_HZ:
            continue
        waves = {"": clip}
        if train and row["label"] == "real" and row["nth"] < COPIED and not number:
            waves |= _copy(clip, rng)
        for method, wave in waves.items():
            made = {
                "length": wave.size,
                "fake": int(row["label"] == "fake" or bool(method)),
                **{key: row[key] for key in ("repo", "path", "made_by", "licence")},
                "method": method,
                "piece": name * PIECES + number,
            }
            yield made, normalise(wave)


def _copy(clip: Samples, rng: np.random.Generator) -> dict[str, Samples]:
    from forensix.training.voice import synthesis

    method = str(rng.choice(list(synthesis.METHODS)))
    return {method: synthesis.resynthesise(clip, method, rng)}


def as_int16(samples: Samples) -> NDArray[np.int16]:
    """Return float samples as int16, what is beyond [-1, 1] clipped."""
    return (np.clip(samples, -1, 1) * 32767).astype(np.int16)


def load_clips(folder: Path) -> Clips:
    """Read back what `build_clips` wrote; samples stay on disk until they are used."""
    tables = [
        pd.read_csv(path, keep_default_na=False).assign(part=number)
        for number, path in enumerate(sorted(folder.glob("*.csv")))
    ]
    parts: list[list[NDArray[np.int16]]] = [
        [
            np.memmap(file, np.int16, "r")
            for version in range(DEGRADED + 1)
            if (file := _version(path, version)).is_file()
        ]
        for path in sorted(folder.glob("*.csv"))
    ]
    return Clips(parts, pd.concat(tables, ignore_index=True))
