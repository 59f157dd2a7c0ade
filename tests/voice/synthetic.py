"""Voices made from a formula, so that what should be measured is known."""

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter, resample_poly

RATE_HZ = 16000
OVERSAMPLED = 8  # pulses fall on an eighth of a sample, 8 microseconds
VOWEL_A = ((700, 80), (1220, 90), (2600, 120), (3300, 150), (3900, 200))
VOWEL_I = ((300, 60), (2200, 90), (3000, 120), (3600, 150), (4200, 200))


def vowel(
    f0_hz: float,
    duration_s: float = 2.0,
    formants: tuple[tuple[float, float], ...] = VOWEL_A,
    *,
    period_noise: float = 0.0,
    amplitude_noise: float = 0.0,
    seed: int = 0,
) -> NDArray[np.float32]:
    """Return a held vowel: pulses through resonances given as (frequency, bandwidth) in Hz."""
    rng = np.random.default_rng(seed)
    x = np.zeros(int(duration_s * RATE_HZ * OVERSAMPLED))
    t_s = 0.01
    while t_s < duration_s - 0.01:
        x[round(t_s * RATE_HZ * OVERSAMPLED)] = 1 + amplitude_noise * rng.normal()
        t_s += (1 + period_noise * rng.normal()) / f0_hz
    x = resample_poly(lfilter([1], [1, -0.98], x), 1, OVERSAMPLED)
    for hz, bandwidth_hz in formants:
        radius = np.exp(-np.pi * bandwidth_hz / RATE_HZ)
        turn = -2 * radius * np.cos(2 * np.pi * hz / RATE_HZ)
        x = lfilter([1 + turn + radius**2], [1, turn, radius**2], x)
    return (0.5 * x / np.abs(x).max()).astype(np.float32)


def syllables(f0_hz: float, n: int, *, pause_s: float = 0.2, seed: int = 0) -> NDArray[np.float32]:
    """Return vowels of 0.2 s that swell and fade, with near-silence between them."""
    rng = np.random.default_rng(seed)
    x = np.zeros(round(n * (0.2 + pause_s) * RATE_HZ), np.float32)
    for i in range(n):
        start = round(i * (0.2 + pause_s) * RATE_HZ)
        sound = vowel(f0_hz, 0.2, VOWEL_A if i % 2 else VOWEL_I, period_noise=0.01, seed=i)
        x[start : start + len(sound)] = sound * np.hanning(len(sound))
    return x + 1e-4 * rng.normal(size=len(x)).astype(np.float32)
