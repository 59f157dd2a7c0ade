"""Who speaks when?

Speech is cut into windows of 1.5 s; each becomes a short vector: means and deviations of its cepstra and its pitch,
turned by linear discriminant analysis so that windows of one voice lie together. Windows are grouped by average-linkage
clustering of cosine distances; a group with little speech is given to the nearest other. The numbers lie in
``speakers.json``, made by ``python -m forensix.training.speakers``; no outside weights are used.

Assumes mono 16 kHz speech and turns of a second or more. There is no score. The threshold prefers one speaker too few
to one too many: voices that are alike, of one gender or over one telephone, may be joined, words that overlap are
given to one speaker, and a voice heard for less than 3 s is never one of its own. A strong change of noise or
microphone may split a speaker. ``benchmarks/results/voice_components.md`` has error rates.

References
----------
P. Belhumeur, J. Hespanha, D. Kriegman, "Eigenfaces vs. Fisherfaces: recognition using class specific linear
projection", 1997 (the discriminant projection).
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forensix.voice.cepstra import HOP, cepstra
from forensix.voice.features import f0_track_hz
from forensix.voice.speech import RATE_HZ, Segment, as_float, total_s

WINDOW_S = 1.5
HOP_S = 0.75
SHORTEST_S = 0.5  # a segment shorter than this is given to the speaker nearest in time
LEAST_SPEECH_S = 3.0  # a voice with less is no speaker of its own
MOST_WINDOWS = 3000  # clustering takes quadratic memory: 72 MB
BLOCK_S = 30.0
QUIET_DB = 35.0  # windows so far below the loudest do not count
N_STATISTICS = 61


@dataclass(frozen=True)
class SpeakerTurns:
    """One speaker of a recording and when he or she speaks, in order."""

    speaker: str
    segments: tuple[Segment, ...]

    @property
    def duration_s(self) -> float:
        """Seconds of speech."""
        return total_s(self.segments)


@dataclass(frozen=True)
class Embedding:
    """The projection that brings windows of one voice together, and the distance at which voices are told apart."""

    mean: NDArray[np.float64]
    projection: NDArray[np.float64]
    threshold: float

    def __call__(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        """Project statistics, shape (n, 61), to unit vectors, shape (n, d)."""
        centred = np.nan_to_num(statistics - self.mean)  # an unvoiced window has the mean pitch
        vectors = centred @ self.projection
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))


@dataclass(frozen=True)
class Prepared:
    """Windows of speech and their embeddings, shape (n, d)."""

    windows: tuple[Segment, ...]
    vectors: NDArray[np.float64]


@cache
def embedding() -> Embedding:
    """Return the embedding that ships with the package."""
    table: dict[str, Any] = json.loads(files("forensix.voice").joinpath("speakers.json").read_text(encoding="utf-8"))
    return Embedding(np.array(table["mean"]), np.array(table["projection"]), float(table["threshold"]))


def windows_of(segments: Sequence[Segment]) -> list[Segment]:
    """Cut speech into windows of 1.5 s, 0.75 s apart; of very many only every second, third, ... is kept."""
    windows: list[Segment] = []
    for s in segments:
        if s.duration_s >= SHORTEST_S:
            n = max(1, 1 + round((s.duration_s - WINDOW_S) / HOP_S))
            starts = np.linspace(s.start_s, max(s.start_s, s.end_s - WINDOW_S), n)
            windows += [Segment(float(a), min(s.end_s, float(a) + WINDOW_S)) for a in starts]
    return windows[:: 1 + len(windows) // MOST_WINDOWS]


def statistics(samples: NDArray[Any], windows: Sequence[Segment]) -> NDArray[np.float64]:
    """Describe each window, shape (len(windows), 61): pitch, and cepstra's mean, deviation and mean where voiced.

    Pitch is NaN where nothing is voiced. ``windows`` must be in order; samples are read in blocks.
    """
    rows = np.zeros((len(windows), N_STATISTICS))
    for _, group in itertools.groupby(enumerate(windows), key=lambda pair: int(pair[1].start_s // BLOCK_S)):
        numbered = list(group)
        block = Segment(numbered[0][1].start_s, numbered[-1][1].end_s)
        x = block.of(samples)
        found = cepstra(x)
        f0_hz = f0_track_hz(x, len(found))
        for i, window in numbered:
            part = slice(
                round((window.start_s - block.start_s) * RATE_HZ / HOP),
                max(2, round((window.end_s - block.start_s) * RATE_HZ / HOP) - 2),
            )
            rows[i] = describe(found[part], f0_hz[part])
    return rows


def describe(found: NDArray[np.float64], f0_hz: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the 61 numbers of one stretch of speech from its cepstra, shape (n, 21), and F0, shape (n,)."""
    if not len(found):
        return np.zeros(N_STATISTICS)
    loud = found[:, 0] > found[:, 0].max() - QUIET_DB
    c = found[loud, 1:]
    voiced = f0_hz > 0
    enough = voiced.sum() >= 5
    pitch = np.log(np.median(f0_hz[voiced])) if enough else np.nan
    return np.concatenate([[pitch], c.mean(0), np.log(c.std(0) + 0.1), (found[voiced, 1:] if enough else c).mean(0)])


def cluster(vectors: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """Group unit vectors by average linkage of cosine distances; labels count from 0."""
    if len(vectors) < 2:
        return np.zeros(len(vectors), np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage

    labels = fcluster(linkage(vectors, "average", metric="cosine"), threshold, "distance")
    return np.asarray(labels, dtype=np.int64) - 1


def _without_small(labels: NDArray[np.int64], vectors: NDArray[np.float64], hop_s: float) -> NDArray[np.int64]:
    """Give the windows of groups with little speech to the nearest other group."""
    sizes = np.bincount(labels)
    kept = np.flatnonzero(sizes * hop_s >= LEAST_SPEECH_S)
    if not len(kept):
        kept = np.array([sizes.argmax()])
    centres = np.array([vectors[labels == k].mean(0) for k in kept])
    nearest = kept[np.argmax(vectors @ (centres / np.linalg.norm(centres, axis=1, keepdims=True)).T, axis=1)]
    return np.where(np.isin(labels, kept), labels, nearest)


def _turns(segment: Segment, middles_s: NDArray[np.float64], labels: NDArray[np.int64]) -> list[tuple[Segment, int]]:
    """Split a segment where the label changes, halfway between the middles of the windows."""
    turns = []
    start_s = segment.start_s
    for i in np.flatnonzero(np.diff(labels)):
        edge_s = float(middles_s[i] + middles_s[i + 1]) / 2
        turns.append((Segment(start_s, edge_s), int(labels[i])))
        start_s = edge_s
    return [*turns, (Segment(start_s, segment.end_s), int(labels[-1]))]


def diarise(samples: NDArray[Any], segments: Sequence[Segment]) -> tuple[SpeakerTurns, ...]:
    """Tell the speakers of a recording apart.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.
    segments
        Where there is speech, in order.

    Returns
    -------
    Speakers in the order in which they are first heard, named ``speaker_1`` and so on; their segments are those given,
    split where the speaker changes. Empty without speech.

    Examples
    --------
    >>> diarise(np.zeros(16000, np.int16), ())
    ()
    """
    as_float(samples[:0])
    if not segments:
        return ()
    model = embedding()
    return group(prepare(samples, segments, model), segments, model.threshold)


def prepare(samples: NDArray[Any], segments: Sequence[Segment], model: Embedding) -> Prepared:
    """Cut speech into windows and embed them."""
    windows = windows_of(segments)
    return Prepared(tuple(windows), model(statistics(samples, windows)))


def group(prepared: Prepared, segments: Sequence[Segment], threshold: float) -> tuple[SpeakerTurns, ...]:
    """Cluster embedded windows and give each segment, or parts of it, to a speaker."""
    windows = prepared.windows
    if len(windows) < 2:
        return (SpeakerTurns("speaker_1", tuple(segments)),)
    hop_s = total_s(segments) / len(windows)
    labels = _without_small(cluster(prepared.vectors, threshold), prepared.vectors, hop_s)
    middles_s = np.array([(w.start_s + w.end_s) / 2 for w in windows])
    turns: list[tuple[Segment, int]] = []
    for segment in segments:
        inside = np.flatnonzero((middles_s >= segment.start_s) & (middles_s < segment.end_s))
        if len(inside):
            turns += _turns(segment, middles_s[inside], labels[inside])
        else:
            nearest = np.argmin(np.abs(middles_s - (segment.start_s + segment.end_s) / 2))
            turns.append((segment, int(labels[nearest])))
    order = list(dict.fromkeys(label for _, label in turns))
    return tuple(
        SpeakerTurns(f"speaker_{i}", tuple(segment for segment, label in turns if label == wanted))
        for i, wanted in enumerate(order, start=1)
    )


def to_rttm(speakers: Sequence[SpeakerTurns], name: str = "recording") -> str:
    """Write speakers as RTTM, one line a segment in order of time; ``name`` must hold no blanks."""
    turns = sorted((segment, s.speaker) for s in speakers for segment in s.segments)
    lines = (
        f"SPEAKER {name} 1 {t.start_s:.3f} {t.duration_s:.3f} <NA> <NA> {speaker} <NA> <NA>\n" for t, speaker in turns
    )
    return "".join(lines)


def from_rttm(text: str) -> tuple[SpeakerTurns, ...]:
    """Read the speakers of an RTTM text, in the order in which they are first heard."""
    rows = [line.split() for line in text.splitlines() if line.startswith("SPEAKER ")]
    turns = sorted((Segment(float(r[3]), round(float(r[3]) + float(r[4]), 6)), r[7]) for r in rows)
    names = dict.fromkeys(speaker for _, speaker in turns)
    return tuple(SpeakerTurns(name, tuple(s for s, speaker in turns if speaker == name)) for name in names)
