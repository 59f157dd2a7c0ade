"""Double compression: was the picture rounded by other tables before it was rounded by those in the file?

Coefficients that were rounded by a first step and then by the file's crowd into some bins and leave others thin. What a
mode's histogram would be is simulated from the picture itself, cut loose from its grid of blocks: rounded once by the
file's step, and rounded before by each first step up to 32. Where a first step explains the histogram better by a
margin (nats a coefficient), the mode counts as rounded twice.

Assumes one grid of blocks for both compressions. Blind where the first step equals the file's or divides it, where
the picture was resized or cropped off the grid in between, and in small or even pictures. Raised falsely and found:
``benchmarks/results/forensic_pixels.md``.
Source: Popescu and Farid 2004 (gaps in histograms), Bianchi, De Rosa and Piva 2011 (calibrated histograms and
likelihood); here the histograms are simulated instead of modelled.
"""

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from forensix.metadata.image.jpeg_tables import standard

MODES = ((0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (0, 3), (1, 2), (2, 1), (3, 0), (4, 0), (3, 1), (2, 2), (1, 3), (0, 4))
MAX_BIN = 40
SAMPLED_BLOCKS = 20_000
LARGEST_STEP = 32
ROUNDING_LEVELS = 0.35
"""Spread of a coefficient after rounding to whole pixel values and a change of colour space and back."""

SHARES = (1.0, 0.97, 0.92, 0.85, 0.75, 0.6)
"""Shares of the picture that went through both: the rest may have been pasted in."""

MIN_GAIN_NATS = 0.01
MIN_TOTAL_NATS = 30.0
MIN_COEFFICIENTS = 300
MIN_MODES = 3
MIN_BLOCKS = 1000
MAX_BLOCKS = 1_000_000
MIN_SPREADS = 4.0
MAX_RATIO_NATS = 3.0


@dataclass(frozen=True, eq=False)
class Mode:
    """One mode that was rounded twice: the first step, and what each bin says for twice (above 0) or once."""

    at: tuple[int, int]
    step: int
    gain: float
    ratio: np.ndarray
    """Log likelihood ratio of the bins from -MAX_BIN to MAX_BIN, 0 where a bin says nothing."""
    if_twice: float
    if_once: float
    """Mean ratio of the telling bins where the picture was rounded twice, and where once."""


def read(path: str, folder: str | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the luminance coefficients, int (rows, columns, 8, 8), and their table (8, 8); ``None`` if unreadable.

    ``folder`` is where the library may write its copy of the file.
    """
    import jpeglib

    tempfile.tempdir = folder or tempfile.tempdir
    try:
        planes = jpeglib.read_dct(path)
        luminance, table = planes.Y, np.asarray(planes.qt)[planes.quant_tbl_no[0]]
    except (OSError, ValueError, RuntimeError, IndexError, MemoryError, TypeError):
        return None
    if luminance is None or not MIN_BLOCKS <= luminance.shape[0] * luminance.shape[1] <= MAX_BLOCKS:
        return None
    return luminance, table.astype(np.int64)


def modes(coefficients: np.ndarray, table: np.ndarray) -> tuple[Mode, ...]:
    """Return the modes that were rounded twice; empty where fewer than three were."""
    free = calibrated(coefficients, table)
    rng = np.random.default_rng(0)
    chosen = free[rng.permutation(len(free))[:SAMPLED_BLOCKS]]
    rows = (
        _mode(at, coefficients[:, :, at[0], at[1]], chosen[:, i], int(table[at]), rng) for i, at in enumerate(MODES)
    )
    twice = tuple(mode for mode in rows if mode is not None)
    return twice if len(twice) >= MIN_MODES else ()


def summary(twice: tuple[Mode, ...]) -> dict[str, Any]:
    """Return plain values: how many modes, the mean gain, the first steps and the quality that has them."""
    steps = {mode.at: mode.step for mode in twice}
    return {
        "modes": len(twice),
        "gain": round(float(np.mean([mode.gain for mode in twice])), 4) if twice else 0.0,
        "steps": [[v, u, step] for (v, u), step in steps.items()],
        "quality": _quality(steps),
    }


def calibrated(coefficients: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return float32 (n, modes): coefficients of the picture on a grid shifted by four pixels, where no step shows."""
    from scipy import fft

    rows, columns = coefficients.shape[:2]
    apart = 2 * max(1, (rows * columns) // (4 * SAMPLED_BLOCKS))
    parts = []
    for top in range(0, rows - 1, apart):
        band = coefficients[top : top + 2].astype(np.float32) * table.astype(np.float32)
        pixels = fft.idctn(band, axes=(2, 3), norm="ortho").transpose(0, 2, 1, 3).reshape(16, -1)
        pixels = np.clip(np.rint(pixels), -128, 127)[4:12, 4:-4]
        blocks = fft.dctn(pixels.reshape(8, -1, 8).transpose(1, 0, 2), axes=(1, 2), norm="ortho")
        parts.append(np.stack([blocks[:, v, u] for v, u in MODES], axis=1))
    return np.concatenate(parts).astype(np.float32)


def _mode(
    at: tuple[int, int], values: np.ndarray, free: np.ndarray, second: int, rng: np.random.Generator
) -> Mode | None:
    histogram = _counts(values)
    # How many zeros there are tells of texture rather than of steps.
    histogram[MAX_BIN] = 0
    n = float(histogram.sum())
    if n < MIN_COEFFICIENTS or second < 1:
        return None
    noise = rng.normal(0, ROUNDING_LEVELS, len(free)).astype(np.float32)
    once = _shares(np.rint(free / second))
    plain = float((histogram * np.log(once)).sum())
    best, step, twice = -np.inf, 0, once
    for first in range(2, LARGEST_STEP + 1):
        if first == second:
            continue
        tried = _shares(np.rint((np.rint(free / first) * first + noise) / second))
        likelihood = max(float((histogram * np.log(share * tried + (1 - share) * once)).sum()) for share in SHARES)
        if likelihood > best:
            best, step, twice = likelihood, first, tried
    if best - plain < max(MIN_TOTAL_NATS, MIN_GAIN_NATS * n):
        return None
    # Even areas were zeros after the first rounding, and what pixel rounding makes of zeros looks like rounding once.
    size = np.abs(np.arange(-MAX_BIN, MAX_BIN + 1))
    tells = (size > 0) & (size < MAX_BIN) & ((size - 0.5) * second > MIN_SPREADS * ROUNDING_LEVELS)
    ratio = np.where(tells, np.clip(np.log(twice / once), -MAX_RATIO_NATS, MAX_RATIO_NATS), 0).astype(np.float32)
    if_twice, if_once = (float((p * ratio).sum() / p[tells].sum()) for p in (twice, once))
    return Mode(at, step, (best - plain) / n, ratio, if_twice, if_once)


def _counts(values: np.ndarray) -> np.ndarray:
    flat = np.clip(values.ravel(), -MAX_BIN, MAX_BIN).astype(np.int64) + MAX_BIN
    return np.bincount(flat, minlength=2 * MAX_BIN + 1).astype(np.float64)


def _shares(values: np.ndarray) -> np.ndarray:
    """Return the share of each bin but zero, both sides folded and never nought."""
    counts = _counts(values)
    counts = counts + counts[::-1] + 0.5
    counts[MAX_BIN] = 1e-9
    shares: np.ndarray = counts / counts.sum()
    return shares


def _quality(steps: dict[tuple[int, int], int]) -> int | None:
    """Return the quality whose standard table has the first steps, where three in four agree exactly.

    Neighbours share most steps: of those that fit as well one of the fives is told, as programs use them.
    """
    agree = {q: sum(standard(q, False)[8 * v + u] == step for (v, u), step in steps.items()) for q in range(1, 101)}
    best = max(agree, key=lambda q: (agree[q], q % 5 == 0))
    return best if steps and agree[best] >= max(MIN_MODES, 0.75 * len(steps)) else None
