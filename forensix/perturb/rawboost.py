"""Distortions of speech that lines and devices add, after RawBoost: filtered harmonics, impulses, coloured noise.

Like `audio`: float32 samples at 16 kHz in, as many out, all chance from the generator that is given.

References
----------
H. Tak et al., "RawBoost: a raw data boosting and augmentation method applied to automatic speaker verification
anti-spoofing", 2022. The three kinds of noise and their ranges are the paper's; the filters here are made otherwise
(smooth random gains in the frequency domain with notches, instead of cascaded FIR notches).
"""

import numpy as np
from numpy.typing import NDArray

from forensix.perturb.audio import SAMPLE_RATE_HZ, Samples, shape_spectrum

_HIGHEST_POWER = 5
_N_NOTCHES = 5
_EPSILON = 1e-9


def convolutive(samples: Samples, rng: np.random.Generator, *, below_db: float | None = None) -> Samples:
    """Add filtered powers 2 to 5 of the signal, as a line or loudspeaker that is not linear does.

    Each power passes a filter of its own with up to five notches, and lies ``below_db`` (drawn from 5 to 20 dB) under
    the filtered signal. The peak is kept.
    """
    below_db = float(rng.uniform(5, 20)) if below_db is None else below_db
    peak = float(np.abs(samples).max(initial=0))
    if peak == 0:
        return samples.copy()
    unit = samples / np.float32(peak)
    mixed = _notched(unit, rng)
    level = _rms(mixed) * 10 ** (-below_db / 20)
    for power in range(2, _HIGHEST_POWER + 1):
        harmonic = _notched(unit**power - np.mean(unit**power, dtype=np.float32), rng)
        mixed = mixed + harmonic * np.float32(level / (_rms(harmonic) + _EPSILON))
    return _to_peak(mixed, peak)


def impulsive(samples: Samples, rng: np.random.Generator, *, share: float | None = None) -> Samples:
    """Add impulses in proportion to the signal at a ``share`` of the samples (drawn from 0 to 10 %).

    The impulses are uniform within 6 dB (up to twice the sample) either way.
    """
    share = float(rng.uniform(0, 0.1)) if share is None else share
    gain = 10 ** (6.0 / 20)
    peak = float(np.abs(samples).max(initial=0))
    hit = rng.random(samples.size, dtype=np.float32) < share
    factors = rng.uniform(-gain, gain, samples.size).astype(np.float32)
    return _to_peak(samples + np.where(hit, factors * samples, np.float32(0)), peak)


def coloured(samples: Samples, rng: np.random.Generator, *, snr_db: float | None = None) -> Samples:
    """Add noise that does not depend on the signal, through a filter with up to five notches.

    ``snr_db`` is the ratio of mean powers (drawn from 10 to 40 dB).
    """
    snr_db = float(rng.uniform(10, 40)) if snr_db is None else snr_db
    noise = _notched(rng.standard_normal(samples.size, dtype=np.float32), rng)
    level = _rms(samples) * 10 ** (-snr_db / 20)
    return samples + noise * np.float32(level / (_rms(noise) + _EPSILON))


def series(samples: Samples, rng: np.random.Generator, *, strength: float | None = None) -> Samples:
    """Apply the three in turn; ``strength`` in [0, 1] goes from their mildest to their strongest, else each draws."""
    if strength is None:
        return coloured(impulsive(convolutive(samples, rng), rng), rng)
    bent = convolutive(samples, rng, below_db=20 - 15 * strength)
    return coloured(impulsive(bent, rng, share=0.1 * strength), rng, snr_db=40 - 30 * strength)


def _notched(samples: Samples, rng: np.random.Generator) -> Samples:
    """Filter with one to five notches, 100 Hz to 1 kHz wide, anywhere, each of 10 to 40 dB."""
    n = int(rng.integers(1, _N_NOTCHES + 1))
    centres = rng.uniform(20, SAMPLE_RATE_HZ / 2, n)
    widths = rng.uniform(100, 1_000, n)
    depths_db = rng.uniform(10, 40, n)

    def response(at_hz: NDArray[np.float64]) -> NDArray[np.float64]:
        loss_db = np.zeros_like(at_hz)
        for centre, width, depth in zip(centres, widths, depths_db, strict=True):
            loss_db += depth * np.exp(-0.5 * ((at_hz - centre) / (width / 2)) ** 2)
        return 10 ** (-loss_db / 20)

    return shape_spectrum(samples.astype(np.float32), response)


def _rms(samples: Samples) -> float:
    return float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) if samples.size else 0.0


def _to_peak(samples: Samples, peak: float) -> Samples:
    now = float(np.abs(samples).max(initial=0))
    return (samples * np.float32(peak / now)).astype(np.float32) if now > 0 else samples
