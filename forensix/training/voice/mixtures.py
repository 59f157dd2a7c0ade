"""Recordings put together from clips, with the truth of who speaks when and which part is synthetic.

`mix` lets several speakers take turns, with pauses, with starts before the other has stopped, and with noise, and keeps
where each piece went. A clip is trimmed to its speech first; its truth
is where `forensix.voice.speech_segments` hears speech in it alone, before anything is added.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forensix.voice.speech import RATE_HZ, Segment, speech_segments, total_s

LEVEL_RMS = 0.05
FADE_S = 0.01
Samples = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Clip:
    """Speech of one speaker, levelled and trimmed, and where in it he speaks."""

    speaker: str
    samples: Samples
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Conditions:
    """How clips are put together."""

    pause_s: tuple[float, float] = (0.2, 1.5)
    """Shortest and longest pause between turns."""
    overlap: float = 0.0
    """Share of turns that begin before the other speaker has stopped, by up to `overlap_s`."""
    overlap_s: tuple[float, float] = (0.3, 1.5)
    snr_db: float | None = None
    """Speech over pink noise; ``None`` adds none."""
    level_db: float = 3.0
    """Speakers differ from each other in level by up to this much either way."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """Samples in [-1, 1] at 16 kHz, and the truth: segments with who speaks in them, in order of their start."""

    samples: Samples
    turns: tuple[tuple[Segment, str], ...]

    @property
    def speakers(self) -> tuple[str, ...]:
        """Speakers in the order in which they are first heard."""
        return tuple(dict.fromkeys(speaker for _, speaker in self.turns))


def clip_of(speaker: str, samples: NDArray[np.int16], *, at_most_s: float = 8.0) -> Clip | None:
    """Trim a recording to its speech and bring it to one level; ``None`` where it holds less than a second of it."""
    segments = speech_segments(samples)
    if total_s(segments) < 1.0:
        return None
    start_s = segments[0].start_s
    end_s = min(segments[-1].end_s, start_s + at_most_s)
    x = Segment(start_s, end_s).of(samples)
    kept = tuple(
        Segment(s.start_s - start_s, min(s.end_s, end_s) - start_s) for s in segments if s.start_s < end_s - 0.05
    )
    return Clip(speaker, _faded(_levelled(x)), kept)


def mix(clips: Sequence[Clip], conditions: Conditions, *, seed: int) -> Mixture:
    """Let speakers take turns in random order, one clip a turn, until all clips are used.

    Parameters
    ----------
    clips
        In any order; those of one speaker stay in order.
    conditions
        Pauses, overlap, noise and levels.
    seed
        The same seed gives the same recording.
    """
    draw = random.Random(seed)
    left: dict[str, list[Clip]] = {}
    for clip in clips:
        left.setdefault(clip.speaker, []).append(clip)
    gains = {speaker: 10 ** (draw.uniform(-conditions.level_db, conditions.level_db) / 20) for speaker in left}
    placed: list[tuple[float, Clip]] = []
    at_s, last = draw.uniform(*conditions.pause_s), None
    while left:
        others = [speaker for speaker in left if speaker != last] or list(left)
        speaker = draw.choices(others, weights=[len(left[name]) for name in others])[0]
        clip = left[speaker].pop(0)
        if not left[speaker]:
            del left[speaker]
        duration_s = len(clip.samples) / RATE_HZ
        if placed and speaker != last and draw.random() < conditions.overlap:
            before_s = len(placed[-1][1].samples) / RATE_HZ
            at_s -= min(draw.uniform(*conditions.overlap_s), 0.5 * before_s, 0.5 * duration_s)
        elif placed:
            at_s += draw.uniform(*conditions.pause_s)
        placed.append((at_s, clip))
        at_s, last = at_s + duration_s, speaker
    samples = np.zeros(round((at_s + 2.0) * RATE_HZ), np.float32)
    turns = []
    for start_s, clip in placed:
        start = round(start_s * RATE_HZ)
        samples[start : start + len(clip.samples)] += np.float32(gains[clip.speaker]) * clip.samples
        turns += [(Segment(start_s + s.start_s, start_s + s.end_s), clip.speaker) for s in clip.segments]
    if conditions.snr_db is not None:
        samples += pink_noise(len(samples), seed) * np.float32(LEVEL_RMS * 10 ** (-conditions.snr_db / 20))
    return Mixture(np.clip(samples, -1, 1), tuple(sorted(turns)))


def pink_noise(n: int, seed: int) -> Samples:
    """Return noise whose power falls by 3 dB an octave, root mean square 1, shape (n,)."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).normal(size=n))
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1.0))
    noise = np.fft.irfft(spectrum, n)
    return np.asarray(noise / max(float(np.sqrt(np.mean(noise**2))), 1e-12), np.float32)


def _levelled(x: Samples) -> Samples:
    x = x - np.float32(x.mean())
    return np.asarray(x * np.float32(LEVEL_RMS / max(float(np.sqrt(np.mean(np.square(x, dtype=np.float64)))), 1e-6)))


def _faded(x: Samples) -> Samples:
    n = min(round(FADE_S * RATE_HZ), len(x) // 2)
    ramp = np.linspace(0, 1, n, dtype=np.float32)
    x[:n] *= ramp
    x[len(x) - n :] *= ramp[::-1]
    return x
