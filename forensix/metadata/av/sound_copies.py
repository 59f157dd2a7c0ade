"""Stretches of sound that occur twice, sample for sample, as a copied word does and nothing that a microphone hears.

Places are chosen by what the sound is there, one in about a thousand, so that a copy has the same ones; what follows
each is looked up among what followed those before. Assumes sound that was not encoded with loss since. Blind to copies
whose level was changed, that were mixed with other sound, or are shorter than 0.1 s. What comes again and again, such
as a tone or a loop of music, is left out, and sound of too few steps to tell places apart.
Source: U. Manber 1994, "Finding similar files in a large file system" (places chosen by content).
"""

from collections import Counter
from hashlib import blake2b

import numpy as np

WINDOW_S = 0.05
LEAST_S = 0.1
GAP_S = 0.5
"""Two places farther apart are not of one copy, whose places lie some tens of milliseconds apart."""

HASHED = 8
ONE_IN = 1024
STEPS = 32
"""Different samples that a window has at least."""

TIMES = 3
"""How often sound may come again and be a copy."""

PLACES = 200_000
"""Places that are kept at most: four times those of half an hour."""


class Copies:
    """Takes the sound of a recording block by block and keeps what occurs again."""

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}
        self._again: list[tuple[int, int]] = []

    def add(self, samples: np.ndarray, rate: int, before: int) -> None:
        """Take the next samples, float32 (n,); ``before`` is how many came before them."""
        size = int(WINDOW_S * rate)
        for at in _chosen(samples[: max(0, len(samples) - size)]).tolist():
            window = samples[at : at + size]
            key = blake2b(window.tobytes(), digest_size=16).digest()
            first = self._seen.get(key)
            if first is None and len(self._seen) < PLACES:
                self._seen[key] = at + before
            elif first is not None and at + before - first < size:
                self._seen[key] = at + before  # It goes on repeating itself.
            elif first is not None and len(self._again) < PLACES and len(np.unique(window)) >= STEPS:
                self._again.append((at + before, first))

    def rows(self, rate: int) -> list[list[float]]:
        """Return ``[where in s, where again in s, length in s]`` of what occurs twice, in order."""
        runs: list[list[int]] = []
        times = Counter(first for _, first in self._again)
        for at, first in self._again:
            if times[first] > TIMES:
                continue
            shift = at - first
            last = next((run for run in reversed(runs[-8:]) if run[2] == shift and at - run[1] < GAP_S * rate), None)
            if last:
                last[1] = at
            else:
                runs.append([at, at, shift])
        size = int(WINDOW_S * rate)
        rows = [[(at - shift) / rate, at / rate, (end + size - at) / rate] for at, end, shift in runs]
        return [[round(value, 3) for value in row] for row in rows if row[2] >= LEAST_S and row[2] < row[1] - row[0]]


def _chosen(samples: np.ndarray) -> np.ndarray:
    """Return the places of samples (n,) that their next few choose."""
    n = len(samples) - HASHED
    if n <= 0:
        return np.zeros(0, np.int64)
    values = np.ascontiguousarray(samples, np.float32).view(np.uint32)
    sums = np.zeros(n, np.uint32)
    for k in range(HASHED):
        sums = sums * np.uint32(0x01000193) + values[k : k + n]
    spread = (sums ^ sums >> np.uint32(15)) * np.uint32(0x9E3779B1)
    # Where nothing changes, every place would be chosen, or none.
    places = np.flatnonzero((spread < (1 << 32) // ONE_IN) & (values[:n] != values[1 : n + 1]))
    return places[:: 1 + len(places) * ONE_IN // (8 * n)]
