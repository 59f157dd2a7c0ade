"""Groups of pictures of an earlier encoding, in the sizes of the frames of the present one.

A frame that began a group in an earlier encoding was rounded differently from the frames before it. Encoded again, it
is harder to predict from them and costs more bytes, at every beginning of a former group. The sizes of predicted frames
are set against those of their neighbours of the same kind, and looked through for a period that the present key frames
do not have.

Assumes a first encoding with groups of constant length, at least three of them, and moving content. Weak where the
present encoding uses frames predicted from both sides, blind to former groups of the present length, and not looked for
where the present codec makes some frames larger at steps of its own. Found and falsely raised:
``benchmarks/results/forensic_signals.md``.
Source: Wang and Farid 2006 (periodic prediction errors of doubly compressed video), Vazquez-Padin et al. 2012.
"""

from typing import Any

import numpy as np

SHORTEST, LONGEST = 9, 90
MIN_PREDICTED = 30
AROUND = 4
CLIP_LOW, CLIP_HIGH = -2.0, 6.0
USUAL = 1.0
"""Half of the frames of a former beginning have to exceed their neighbours by so much of the usual spread."""

UNEVEN = 0.5
"""Where sizes jump by more (natural logarithm), a period among them is not looked for."""

KEY, PREDICTED = 1, 2

OWN_STEPS = frozenset({"vp8", "vp9", "av1"})
"""Codecs whose encoders write a frame anew for later ones to be predicted from ("golden"), often every tenth: in a
first encoding that is as high a period as former groups leave."""


def period(sizes: list[int], kinds: list[int]) -> dict[str, Any] | None:
    """Return the strongest period among predicted frames, ``None`` where there are too few of them.

    ``sizes`` are bytes in the order of showing, ``kinds`` 1 for key, 2 for predicted, 3 for predicted from both sides.
    ``height`` is in standard errors of the mean, ``frames`` the period and ``first`` the first such frame.
    """
    kind = np.array(kinds)
    at = np.flatnonzero(kind == PREDICTED)
    if len(at) < MIN_PREDICTED:
        return None
    level = np.log(np.array(sizes, float)[at] + 20)
    usual = np.array(
        [np.median(np.r_[level[max(0, i - AROUND) : i], level[i + 1 : i + 1 + AROUND]]) for i in range(len(level))]
    )
    rest = np.clip(level - usual, -1.5, 1.5)
    uneven = 1.4826 * float(np.median(np.abs(rest)))
    if uneven > UNEVEN:
        return None
    rest = np.clip(rest / (uneven + 1e-3), CLIP_LOW, CLIP_HIGH)
    by_frame = np.full(len(kind), np.nan)
    by_frame[at] = rest
    spread = float(rest.std()) + 1e-6
    now = np.diff(np.flatnonzero(kind == KEY))
    usual_now = int(np.median(now)) if len(now) else 0
    best: dict[str, Any] = {"height": 0.0, "frames": 0, "first": 0}
    for length in range(SHORTEST, min(LONGEST, len(kind) // 3) + 1):
        if usual_now and (length % usual_now == 0 or usual_now % length == 0):
            continue
        for first in range(length):
            values = by_frame[first::length]
            values = values[~np.isnan(values)]
            if len(values) < 3 or np.median(values) < USUAL:
                continue
            height = float(values.mean() * np.sqrt(len(values)) / spread)
            if height > best["height"]:
                best = {"height": round(height, 2), "frames": length, "first": first}
    return best
