"""Is a voice sung rather than spoken?

Sung notes are held: their pitch stays within a semitone for a third of a second and more, or swings around one value.
Spoken pitch glides. The share of voiced time that lies in held notes tells them apart; there is no more to it, so
chanting, calling out and a held "um" count as singing, and rap does not.
``benchmarks/results/voice_inputs.md`` has the shares of recordings of both kinds.

References
----------
D. Gerhard, "Pitch-based acoustic feature analysis for the discrimination of speech and monophonic singing", Canadian
Acoustics 30(3), 2002.
"""

import numpy as np
from numpy.typing import NDArray

from forensix.voice.features import HOP_S, Heard

NOTE_S = 0.35
WIDTH_ST = 1.0
SUNG_SHARE = 0.55
"""Of voiced time in held notes, from which a voice counts as sung."""

LEAST_VOICED_S = 1.0


def held_share(f0_hz: NDArray[np.float64]) -> float:
    """Return the share of voiced time that lies in held notes, 0 to 1.

    Parameters
    ----------
    f0_hz
        Shape (n,), 10 ms apart, 0 where unvoiced.
    """
    n = round(NOTE_S / HOP_S)
    voiced = f0_hz > 0
    if len(f0_hz) < n or not voiced.any():
        return 0.0
    semitones = 12 * np.log2(np.where(voiced, f0_hz, np.nan) / 100)
    windows = np.lib.stride_tricks.sliding_window_view(semitones, n)
    whole = np.flatnonzero(np.isfinite(windows).all(axis=1))
    low, high = np.percentile(windows[whole], (10, 90), axis=1)
    inside = np.zeros(len(f0_hz), bool)
    for start in whole[high - low <= WIDTH_ST]:
        inside[start : start + n] = True
    return float(inside.sum() / voiced.sum())


def is_singing(heard: Heard) -> bool:
    """Tell whether a voice sings, from what `forensix.voice.features.hear` returned for it."""
    tracks = [pitch.selected_array["frequency"] for pitch in heard.pitches]
    f0_hz = np.concatenate(tracks) if tracks else np.zeros(0)
    return bool((f0_hz > 0).sum() * HOP_S >= LEAST_VOICED_S and held_share(f0_hz) >= SUNG_SHARE)
