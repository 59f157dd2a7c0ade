"""Metrics of order: only which scores are higher matters, not by how much.

All are computed from one tally: for each fake, in descending order of score, how many reals score above it and how
many at least as high. Reals and fakes may carry whole-number weights, which is how the bootstrap counts a file twice
without copying it, and one count of the reals serves every generator that is measured against them.

References
----------
T. Fawcett, "An introduction to ROC analysis", 2006 (AUC, ties counting half).
X. Wang et al., "ASVspoof 5: crowdsourced speech data, deepfakes, and adversarial attacks at scale", 2024 (EER, minDCF).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensix.metrics.checks import FAKE_COST, REAL_COST, Floats, split


@dataclass(frozen=True, eq=False)
class Places:
    """Where each fake's score falls among the reals; made once, tallied for any weights.

    ``order`` (n_fake,) sorts the fakes by descending score, and the others follow that order: ``scores``, ``above``
    and ``at_least`` count the reals that score higher, or no less, and ``tie_end`` is the last fake of the same score.
    """

    order: NDArray[np.int64]
    scores: Floats
    above: NDArray[np.int64]
    at_least: NDArray[np.int64]
    tie_end: NDArray[np.int64]
    apart: bool
    """No fake scores the same as a real."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Weighted counts at each fake; every array is (draws, n_fake) but for the two totals, (draws, 1)."""

    above: Floats
    at_least: Floats
    fakes: Floats
    up_to: Floats
    tie_end: NDArray[np.int64]
    n_real: Floats
    n_fake: Floats


def place(sorted_reals: Floats, fakes: Floats) -> Places:
    """Place fakes among reals that are sorted by descending score."""
    order = np.argsort(-fakes, kind="stable")
    scores = fakes[order]
    above, at_least = (np.searchsorted(-sorted_reals, -scores, side=side) for side in ("left", "right"))
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    tie_end = np.repeat(last, np.diff(np.append(-1, last)))
    return Places(order, scores, above, at_least, tie_end, bool((above == at_least).all()))


def running(sorted_real_weights: Floats) -> Floats:
    """Return sums of the first 0, 1, ... n weights of reals in descending order of score: (draws, n + 1)."""
    sums = np.zeros((sorted_real_weights.shape[0], sorted_real_weights.shape[1] + 1))
    np.cumsum(sorted_real_weights, axis=1, out=sums[:, 1:])
    return sums


def tally(places: Places, reals: Floats, fakes: Floats) -> Tally:
    """Count for weights: ``reals`` as from `running`, ``fakes`` (draws, n_fake) in the order of `Places`."""
    up_to = np.cumsum(fakes, axis=1)
    at_least = reals.take(places.at_least, axis=1)
    above = at_least if places.apart else reals.take(places.above, axis=1)
    return Tally(above, at_least, fakes, up_to, places.tie_end, reals[:, -1:], up_to[:, -1:])


def _tally(labels: ArrayLike, scores: ArrayLike) -> tuple[Places, Tally]:
    real, fake = split(labels, scores)
    places = place(-np.sort(-real), fake)
    return places, tally(places, running(np.ones((1, real.size))), np.ones((1, fake.size)))


def auc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the area under the ROC curve in [0, 1]: the chance that a fake scores above a real, ties counting half.

    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return float(auc_of(_tally(labels, scores)[1])[0])


def auc_of(t: Tally) -> Floats:
    """Return the AUC of each draw."""
    higher = np.einsum("ij,ij->i", t.fakes, t.at_least)
    if t.above is not t.at_least:
        higher = (higher + np.einsum("ij,ij->i", t.fakes, t.above)) / 2
    areas: Floats = 1 - higher / (t.n_real * t.n_fake)[:, 0]
    return areas


def average_precision(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the average precision in [0, 1] of calling fake: precision at each fake's score, averaged over fakes.

    It depends on the share of fakes in the set: compare it only between sets of the same mix.

    >>> round(average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 3)
    0.833
    """
    return float(average_precision_of(_tally(labels, scores)[1])[0])


def average_precision_of(t: Tally) -> Floats:
    """Return the average precision of each draw."""
    caught = t.up_to.take(t.tie_end, axis=1)
    # Nothing was caught yet where the fakes so far were not drawn: their weight of 0 takes the place of 0 / 0.
    precision = caught / np.maximum(caught + t.at_least, 1)
    precisions: Floats = np.einsum("ij,ij->i", t.fakes, precision) / t.n_fake[:, 0]
    return precisions


def eer(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the equal error rate in [0, 1]; the positive class is fake.

    The mean of the share of reals called fake and the share of fakes that pass, where the two differ least. Equal
    scores are taken one after the other, reals before fakes, and so count against the detector: this is what the
    ASVspoof 5 evaluation code does, and a detector that gives every file the same score gets 1.

    >>> eer([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6]), eer([0, 0, 1, 1], [7, 7, 7, 7])
    (0.3333333333333333, 1.0)
    """
    return float(eer_of(_tally(labels, scores)[1])[0])


def eer_of(t: Tally) -> Floats:
    """Return the EER of each draw, as if every file were repeated by its weight; ties apart.

    Walking down the scores the share of reals called fake grows and that of fakes passed falls, so the two cross
    once: at the first fake where the former is no less, or among the reals just above it.
    """
    # In whole numbers, which floats hold exactly: alarms / n_real >= (n_fake - caught) / n_fake.
    at = _first(t, lambda alarms, caught: alarms * t.n_fake + caught * t.n_real >= t.n_real * t.n_fake)
    before = np.maximum(at - 1, 0)
    n_real, n_fake = t.n_real, t.n_fake
    left = n_fake - np.where(at > 0, np.take_along_axis(t.up_to, before, 1), 0.0)
    alarms = np.take_along_axis(t.at_least, at, 1)
    passed, alarmed = left / n_fake, alarms / n_real
    # The smallest whole number of reals, or of fakes, at which the two have crossed.
    reals, fakes = -(-left * n_real // n_fake), -((alarms - n_real) * n_fake // n_real)
    among_reals = alarmed >= passed
    first = (
        np.where(among_reals, (reals - 1) / n_real, alarmed),
        np.where(among_reals, passed, (n_fake - (fakes - 1)) / n_fake),
    )
    second = np.where(among_reals, reals / n_real, alarmed), np.where(among_reals, passed, (n_fake - fakes) / n_fake)
    earlier = np.abs(first[0] - first[1]) <= np.abs(second[0] - second[1])
    rates: Floats = (np.where(earlier, first[0] + first[1], second[0] + second[1]) / 2)[:, 0]
    return rates


def tpr_at_fpr(labels: ArrayLike, scores: ArrayLike, fpr: float) -> float:
    """Return the largest share of fakes caught while at most the share ``fpr`` of reals is called fake.

    No value is interpolated. With fewer than ``1 / fpr`` reals it is the share of fakes above every real.

    >>> labels, scores = [0, 0, 0, 0, 1, 1], [1, 2, 3, 4, 3.5, 5]
    >>> tpr_at_fpr(labels, scores, 0.0), tpr_at_fpr(labels, scores, 0.25)
    (0.5, 1.0)
    """
    if not 0 <= fpr <= 1:
        raise ValueError(f"fpr must lie in [0, 1]: got {fpr}")
    return float(tpr_at_fpr_of(_tally(labels, scores)[1], fpr)[0])


def tpr_at_fpr_of(t: Tally, fpr: float) -> Floats:
    """Return the share of fakes caught of each draw."""
    n = _first(t, lambda alarms, caught: alarms / t.n_real > fpr)
    caught = np.where(n > 0, np.take_along_axis(t.up_to, np.maximum(n - 1, 0), 1), 0.0)
    rates: Floats = (caught / t.n_fake)[:, 0]
    return rates


def min_dcf(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the smallest detection cost over all thresholds; 1 is what a detector without knowledge reaches.

    The costs are those of ASVspoof 5, normalised by that of the cheaper constant decision.

    >>> min_dcf([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]), min_dcf([0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5])
    (0.0, 1.0)
    """
    return float(min_dcf_of(_tally(labels, scores)[1])[0])


def min_dcf_of(t: Tally) -> Floats:
    """Return the smallest normalised cost of each draw."""
    cost = REAL_COST / t.n_real * t.at_least - FAKE_COST / t.n_fake * t.up_to
    normalised: Floats = (FAKE_COST + np.minimum(cost.min(axis=1), 0)) / FAKE_COST
    return normalised


def oracle_threshold(labels: ArrayLike, scores: ArrayLike, *, balanced: bool = False) -> float:
    """Return the threshold with the most right decisions on these very labels: an upper bound, not a result.

    ``inf`` where calling everything real is best. ``balanced`` weighs the classes alike.

    >>> oracle_threshold([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8
    """
    places, t = _tally(labels, scores)
    gain = _gain(t, balanced)[0]
    best = int(np.argmax(gain))
    return float(places.scores[best]) if gain[best] >= 0 else float("inf")


def oracle_accuracy_of(t: Tally, *, balanced: bool = False) -> Floats:
    """Return the accuracy of each draw at its own best threshold."""
    gain = np.maximum(_gain(t, balanced).max(axis=1), 0)
    accuracies: Floats = 0.5 + gain / 2 if balanced else (t.n_real[:, 0] + gain) / (t.n_real + t.n_fake)[:, 0]
    return accuracies


def _gain(t: Tally, balanced: bool) -> Floats:
    """Return how many more (balanced: what larger share) are right with a threshold at each fake than with none."""
    gain: Floats = t.up_to / t.n_fake - t.at_least / t.n_real if balanced else t.up_to - t.at_least
    return gain


def _first(t: Tally, reached: Callable[[Floats, Floats], NDArray[np.bool_]]) -> NDArray[np.int64]:
    """Return (draws, 1) the first fake where ``reached(alarms, caught)``, which stays true once it is; else n_fake."""
    low = np.zeros(t.n_fake.shape, np.int64)
    high = np.full(t.n_fake.shape, t.fakes.shape[1])
    while (open_ := low < high).any():
        middle = np.minimum((low + high) // 2, t.fakes.shape[1] - 1)
        true = reached(np.take_along_axis(t.at_least, middle, 1), np.take_along_axis(t.up_to, middle, 1))
        high = np.where(open_ & true, middle, high)
        low = np.where(open_ & ~true, middle + 1, low)
    return low
