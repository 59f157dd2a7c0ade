"""Mel-frequency cepstra, the short-time spectral shape that `speakers` and `gender` rest on.

References
----------
S. Davis, P. Mermelstein, "Comparison of parametric representations for monosyllabic word recognition", 1980.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from forensix.voice.speech import RATE_HZ

WINDOW = 400  # 25 ms
HOP = 160  # 10 ms
N_FFT = 512
N_MEL = 40
N_CEPSTRA = 20
LOW_HZ, HIGH_HZ = 50.0, 7600.0


@cache
def _filters() -> NDArray[np.float64]:
    """Return triangles on the mel scale, shape (N_MEL, N_FFT // 2 + 1)."""
    low, high = 2595 * np.log10(1 + np.array([LOW_HZ, HIGH_HZ]) / 700)
    edges_hz = 700 * (10 ** (np.linspace(low, high, N_MEL + 2) / 2595) - 1)
    bins_hz = np.arange(N_FFT // 2 + 1) * RATE_HZ / N_FFT
    rise = (bins_hz - edges_hz[:-2, None]) / np.diff(edges_hz)[:-1, None]
    fall = (edges_hz[2:, None] - bins_hz) / np.diff(edges_hz)[1:, None]
    return np.maximum(0, np.minimum(rise, fall))


def cepstra(x: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the cepstra of mono 16 kHz floats.

    Parameters
    ----------
    x
        Shape (n,), in [-1, 1].

    Returns
    -------
    Shape (windows, 21): the level in dB, then 20 coefficients without the zeroth; window 25 ms, hop 10 ms.
    """
    if len(x) < WINDOW:
        return np.empty((0, N_CEPSTRA + 1))
    x = np.append(x[0], x[1:] - 0.97 * x[:-1]).astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(x, WINDOW)[::HOP] * np.hamming(WINDOW)
    mel = np.log(np.abs(np.fft.rfft(windows, N_FFT)) ** 2 @ _filters().T + 1e-8)
    level_db = 10 / np.log(10) * mel.mean(1, keepdims=True)
    return np.hstack([level_db, dct(mel, type=2, axis=1, norm="ortho")[:, 1 : N_CEPSTRA + 1]])
