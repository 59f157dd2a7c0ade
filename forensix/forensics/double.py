"""Double compression: gaps that come back at a regular distance in the histograms of DCT coefficients.

A first quantisation by q1 leaves multiples of q1; a second by q2 lets them fall into bins unevenly, which repeats with
period q1 / gcd(q1, q2). A picture that was compressed once has smooth histograms. Blind where q1 divides q2, where the
picture was shifted against the grid of blocks or resized in between, and where it is small or even.
Source: Popescu and Farid, "Statistical tools for digital forensics", 2004.
"""

import tempfile
from typing import Any

import numpy as np

MODES = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (0, 3), (3, 0))
REACH = 60
STRETCH = 8
MIN_BLOCKS = 1000
MAX_BLOCKS = 1_000_000


def measure(path: str, folder: str | None = None) -> dict[str, Any] | None:
    """Return ``score`` (the median over modes of the strongest periodic part, 0 is smooth) and how many modes
    counted."""
    import jpeglib

    # jpeglib hands its C library a copy of the file, and this is where it may write it.
    tempfile.tempdir = folder or tempfile.tempdir

    try:
        planes = jpeglib.read_dct(path)
        luminance = planes.Y
    except (OSError, ValueError, RuntimeError, IndexError, MemoryError):
        return None
    if luminance is None or not MIN_BLOCKS <= luminance.shape[0] * luminance.shape[1] <= MAX_BLOCKS:
        return None
    scores = [score for v, u in MODES if (score := periodicity(luminance[:, :, v, u])) is not None]
    if len(scores) < 3:
        return None
    return {
        "score": round(float(np.median(scores)), 4),
        "top": round(float(np.sort(scores)[-3]), 4),
        "modes": len(scores),
    }


def periodicity(values: np.ndarray) -> float | None:
    """Return the strongest periodic part of one mode's histogram, in [0, 1]; ``None`` where there is too little to
    see."""
    flat = values.ravel()
    counts = np.bincount(np.clip(flat, -REACH, REACH).astype(np.int64) + REACH, minlength=2 * REACH + 1)[1:-1].astype(
        float
    )
    # Fold the two sides: the sign carries nothing here.
    middle = len(counts) // 2
    half = counts[middle + 1 :] + counts[middle - 1 :: -1][: len(counts) - middle - 1]
    # Gaps are empty bins, so the reach ends where a whole stretch is thin.
    stretch = np.convolve(half, np.ones(STRETCH) / STRETCH, mode="valid")
    thin = np.flatnonzero(stretch < 12)
    length = int(thin[0]) + STRETCH // 2 if thin.size else len(half)
    if length < 8:
        return None
    log = np.log1p(half[:length])
    kernel = np.ones(5) / 5
    padded = np.pad(log, 2, mode="edge")
    rest = log - np.convolve(padded, kernel, mode="valid")
    rest = rest[1:] if length > 8 else rest
    spectrum = np.abs(np.fft.rfft(rest * np.hanning(len(rest)))) / max(1.0, len(rest) / 2)
    low = max(2, len(rest) // 12)
    return float(spectrum[low:].max())
