"""Who speaks when?

Speech is cut into windows of 1.5 s; a recurrent network turns the mel spectrum of each into a unit vector, so that
windows of one voice lie together. Windows are grouped by average-linkage clustering of cosine distances; a group with
little speech is given to the nearest other. The network was fine-tuned from the one in the wheel ``resemblyzer``; the
card of ``forensix-diarisation`` says on what, and has its threshold.

Assumes mono 16 kHz speech and turns of a second or more. There is no score. Voices that are alike may be joined, words
that overlap are given to one speaker, and a voice heard for less than 3 s is never one of its own. A strong change of
noise, microphone or mood may split a speaker. ``benchmarks/results/voice_diarisation.md`` has error rates.

References
----------
L. Wan, Q. Wang, A. Papir, I. Moreno, "Generalized end-to-end loss for speaker verification", ICASSP 2018.
M. Slaney, "Auditory toolbox", Interval Research TR 1998-010 (the mel scale).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from forensix.models import LoadedModel, load_model
from forensix.voice.speech import RATE_HZ, Segment, as_float, total_s

WINDOW_S = 1.5
HOP_S = 0.75
SHORTEST_S = 0.5  # a segment shorter than this is given to the speaker nearest in time
LEAST_SPEECH_S = 3.0  # a voice with less is no speaker of its own
MOST_WINDOWS = 3000  # clustering takes quadratic memory: 72 MB
BLOCK_S = 30.0
BATCH = 64

N_FFT = 400  # 25 ms
HOP = 160  # 10 ms
N_MELS = 40
N_FRAMES = round(WINDOW_S * RATE_HZ / HOP)
LEVEL_RMS = 10 ** (-30 / 20)


@dataclass(frozen=True)
class SpeakerTurns:
    """One speaker of a recording and when he or she speaks, in order."""

    speaker: str
    segments: tuple[Segment, ...]

    @property
    def duration_s(self) -> float:
        """Seconds of speech."""
        return total_s(self.segments)


@dataclass(frozen=True, eq=False)
class Prepared:
    """Windows of speech and their embeddings, shape (n, d)."""

    windows: tuple[Segment, ...]
    vectors: NDArray[np.float64]


def windows_of(segments: Sequence[Segment]) -> list[Segment]:
    """Cut speech into windows of 1.5 s, 0.75 s apart; of very many only every second, third, ... is kept."""
    windows: list[Segment] = []
    for s in segments:
        if s.duration_s >= SHORTEST_S:
            n = max(1, 1 + round((s.duration_s - WINDOW_S) / HOP_S))
            starts = np.linspace(s.start_s, max(s.start_s, s.end_s - WINDOW_S), n)
            windows += [Segment(float(a), min(s.end_s, float(a) + WINDOW_S)) for a in starts]
    return windows[:: 1 + len(windows) // MOST_WINDOWS]


@cache
def _mel_filters() -> NDArray[np.float32]:
    """Return triangles of equal area on Slaney's mel scale (linear up to 1 kHz), shape (N_MELS, N_FFT // 2 + 1)."""
    step = np.log(6.4) / 27
    mels = np.linspace(0, 15 + np.log(RATE_HZ / 2 / 1000) / step, N_MELS + 2)
    edges_hz = np.where(mels < 15, mels * 200 / 3, 1000 * np.exp(step * (mels - 15)))
    bins_hz = np.arange(N_FFT // 2 + 1) * RATE_HZ / N_FFT
    rise = (bins_hz - edges_hz[:-2, None]) / np.diff(edges_hz)[:-1, None]
    fall = (edges_hz[2:, None] - bins_hz) / np.diff(edges_hz)[1:, None]
    area = 2 / (edges_hz[2:] - edges_hz[:-2])
    return np.asarray(np.maximum(0, np.minimum(rise, fall)) * area[:, None], np.float32)


def mel_spectrum(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the mel powers of mono 16 kHz floats, shape (1 + n // 160, 40); window 25 ms, hop 10 ms."""
    padded = np.pad(x, N_FFT // 2)
    windows = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP]
    taper = np.hanning(N_FFT + 1)[:-1].astype(np.float32)
    power = np.square(np.abs(np.fft.rfft(windows * taper))).astype(np.float32)
    return np.asarray(power @ _mel_filters().T)


def window_input(mels: NDArray[np.float32], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bring the mel powers of one window to the network's level and length, shape (150, 40).

    ``x`` are the samples of the window; a shorter one is repeated.
    """
    power = max(float(np.mean(np.square(x, dtype=np.float64))) if len(x) else 0.0, 1e-12)
    repeated = np.resize(mels, (N_FRAMES, N_MELS)) if len(mels) < N_FRAMES else mels[:N_FRAMES]
    return np.asarray(repeated * np.float32(LEVEL_RMS**2 / power))


class Diariser:
    """Fills the slot ``diarisation``: embeds windows with a network and clusters them at its card's threshold."""

    def __init__(self, model: LoadedModel) -> None:
        self.card = model.card
        self._network = model.module.eval()

    def diarise(self, samples: NDArray[Any], segments: Sequence[Segment]) -> tuple[SpeakerTurns, ...]:
        """Tell the speakers of a recording apart.

        Parameters
        ----------
        samples
            Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.
        segments
            Where there is speech, in order.

        Returns
        -------
        Speakers in the order in which they are first heard, named ``speaker_1`` and so on; their segments are those
        given, split where the speaker changes. Empty without speech.
        """
        as_float(samples[:0])
        return group(self.prepare(samples, segments), segments, self.card.threshold) if segments else ()

    def prepare(self, samples: NDArray[Any], segments: Sequence[Segment]) -> Prepared:
        """Cut speech into windows and embed them; samples are read in blocks."""
        windows = windows_of(segments)
        vectors = [np.empty((0, 1))]
        for _, together in itertools.groupby(windows, key=lambda window: int(window.start_s // BLOCK_S)):
            inside = list(together)
            block = Segment(inside[0].start_s, inside[-1].end_s)
            x = block.of(samples)
            mels = mel_spectrum(x)
            rows = []
            for window in inside:
                start = max(0, round((window.start_s - block.start_s) * RATE_HZ / HOP))
                stop = max(start + 1, round((window.end_s - block.start_s) * RATE_HZ / HOP))
                rows.append(window_input(mels[start:stop], x[start * HOP : stop * HOP]))
            vectors.append(self._embedded(np.stack(rows)))
        return Prepared(tuple(windows), np.concatenate(vectors[1:] or vectors))

    def _embedded(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        with torch.inference_mode():
            embeddings = [self._network(torch.from_numpy(rows[i : i + BATCH])) for i in range(0, len(rows), BATCH)]
        return np.asarray(torch.cat(embeddings).double().numpy())


@cache
def forensix_diarisation() -> Diariser:
    """Return the diariser that ships with the package."""
    return Diariser(load_model("forensix-diarisation"))


def diarise(samples: NDArray[Any], segments: Sequence[Segment]) -> tuple[SpeakerTurns, ...]:
    """Tell the speakers of a recording apart with the diariser that ships with the package, see `Diariser.diarise`.

    Examples
    --------
    >>> diarise(np.zeros(16000, np.int16), ())
    ()
    """
    return forensix_diarisation().diarise(samples, segments)


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
