"""The grid of frames that an encoder of the AAC family left in sound that is now kept without loss.

AAC rounds the coefficients of overlapping windows that begin every 1024 samples. Decoded and transformed once more at
the very same places, many coefficients are nearly nought again; one sample beside they are not. The place of the grid
is looked for in each of up to ten stretches: one grid throughout tells that the sound was AAC before, different ones
from one stretch to the next that it was cut or joined after it had been encoded. Sound that was AAC twice has two grids
in the same stretch, as one has in which parts were joined, so it is told how far the next place stands out. A peak is a
few samples wide where the sound was mixed or converted since, so places within it are one.

Assumes long windows of the Kaiser-Bessel-derived shape or the sine, and that the sound was neither resampled nor mixed
since. Blind to rates so high that little is rounded to nought, to MP3, Opus and Vorbis (other transforms), and to cuts
of a multiple of 1024 samples or within two of one. What it finds is in ``benchmarks/results/forensic_signals.md``.
Source: Yang, Qu and Huang 2009 (frame offsets of MP3), Herre and Schug 2000 (finding an AAC encoder's grid).
"""

from functools import lru_cache

import numpy as np
from scipy import fft

FRAME = 1024
LOW, HIGH = 40, 400
EDGE = 8
FRAMES = 8
STRETCHES = 10
STRETCH_S = 1.5
MIN_PEAK_TO_SPREAD = 10.0
"""Height of a peak over the usual spread; sound that was never encoded stays under it (see the benchmark)."""

SECOND_PEAK = MIN_PEAK_TO_SPREAD / 2
"""Height from which another place is a grid too: of some thousand places without one, the highest reaches 4."""

PEAK = 2
"""Samples to either side of a peak that still belong to it: two places this near are one grid."""

LEAD = 2.0
FULL_SCALE = 32767.0


def stretches(samples: np.ndarray, rate: int) -> list[list[float]]:
    """Return where stretches of sound lie on a grid: ``[start in s, end in s, offset in samples, height, next]``.

    ``samples`` is float (n,) in [-1, 1] at the rate of the file; ``next`` is the height of the next place that stands
    out. Stretches without a sure grid are left out.
    """
    length = max(int(STRETCH_S * rate), len(samples) // STRETCHES, 6 * FRAME)
    ranges = []
    for start in range(0, len(samples) - length + 1, length):
        place = offset(samples[start : start + length])
        if place is not None:
            at = (place[0] + start) % FRAME
            ranges.append([round(start / rate, 3), round((start + length) / rate, 3), at, *place[1:]])
    return ranges


def offset(samples: np.ndarray) -> tuple[int, float, float] | None:
    """Return where in 1024 samples the frames begin and how far that place and the next stand out.

    ``None`` where none does. A grid shows with either window, more with its own.
    """
    best: tuple[int, float] | None = None
    both = []
    for window in windows():
        curves = nearness(samples, window)
        if curves is None:
            return None
        heights = _heights(curves.mean(axis=0))
        both.append(heights)
        at = int(heights.argmax())
        # An encoder's grid is in every frame; a tone that sets in or ends is in one, where the silence beside it fits.
        strongest = max(range(len(curves)), key=lambda i: _rest(curves[i])[at])
        without = _heights(np.delete(curves, strongest, axis=0).mean(axis=0))
        if without[max(0, at - PEAK) : at + PEAK + 1].max() < SECOND_PEAK:
            continue
        if (
            heights[at] >= MIN_PEAK_TO_SPREAD
            and heights[at] >= LEAD * _beside(heights, at)
            and (best is None or heights[at] > best[1])
        ):
            best = (at, float(heights[at]))
    if best is None:
        return None
    at, height = best
    return at, round(height, 1), round(max(_beside(heights, at) for heights in both), 1)


def _beside(heights: np.ndarray, at: int) -> float:
    """Return how far any place stands out but those of the peak at one."""
    return float(np.delete(heights, range(max(0, at - PEAK), min(FRAME, at + PEAK + 1))).max())


def _rest(curve: np.ndarray) -> np.ndarray:
    """Return what stands out of its neighbourhood: a curve is slow but for the grid."""
    rest: np.ndarray = curve[EDGE:-EDGE] - np.convolve(curve, np.ones(2 * EDGE + 1) / (2 * EDGE + 1), mode="valid")
    return rest


def _heights(curve: np.ndarray) -> np.ndarray:
    """Return how far each place stands out, in usual spreads."""
    rest = _rest(curve)
    heights: np.ndarray = rest / (1.4826 * float(np.median(np.abs(rest))) + 1e-9)
    return heights


def nearness(samples: np.ndarray, window: np.ndarray) -> np.ndarray | None:
    """Return float (n, 1024 + 2 * EDGE), a row for each of the loudest frames.

    It tells how near to nought the coefficients are where frames begin at -EDGE and on.
    """
    levels = np.rint(np.asarray(samples, np.float32) * FULL_SCALE)
    n = len(levels) // FRAME - 4
    if n < 2:
        return None
    starts = FRAME * np.arange(1, n + 1)
    power = np.array([float((levels[s : s + 2 * FRAME] ** 2).sum()) for s in starts])
    chosen = starts[np.argsort(power)[::-1][:FRAMES]]
    if power.max() < 2 * FRAME:
        return None
    curves = np.zeros((len(chosen), FRAME + 2 * EDGE))
    for curve, start in zip(curves, chosen, strict=True):
        part = levels[start - EDGE : start + 3 * FRAME + EDGE]
        blocks = np.lib.stride_tricks.sliding_window_view(part, 2 * FRAME)[: len(curve)]
        curve[:] = -np.log1p(np.abs(transform(blocks, window)[:, LOW:HIGH])).mean(axis=1)
    return curves


def transform(blocks: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Return the modified discrete cosine transform of blocks (n, 2048), float (n, 1024)."""
    a, b, c, d = np.split(blocks * window, 4, axis=1)
    folded = np.concatenate([-c[:, ::-1] - d, a - b[:, ::-1]], axis=1)
    coefficients: np.ndarray = fft.dct(folded, type=4, axis=1, norm="ortho")
    return coefficients


@lru_cache(maxsize=1)
def windows() -> tuple[np.ndarray, np.ndarray]:
    """Return the two shapes of long windows, float32 (2048,): Kaiser-Bessel-derived and sine."""
    total = np.cumsum(np.kaiser(FRAME + 1, 4 * np.pi))
    half = np.sqrt(total[:FRAME] / total[FRAME])
    sine = np.sin(np.pi * (np.arange(2 * FRAME) + 0.5) / (2 * FRAME))
    return np.concatenate([half, half[::-1]]).astype(np.float32), sine.astype(np.float32)
