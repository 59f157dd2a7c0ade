"""Metrics of decisions at a threshold, and of scores taken as probabilities.

Scores of calibrated components are probabilities under equal priors, so ``logit(score)`` is the log likelihood ratio
of fake against real. `cllr` and `act_dcf` use that and do not depend on the mix of the set; `brier` and `ece` are the
usual ones and do: on a set of one fake to nine reals a score that is right under equal priors looks too high.

Each metric is made of sums over files (`terms`), so the bootstrap multiplies the terms of a group by how often it was
drawn and never touches a file again.

References
----------
G. Brier, "Verification of forecasts expressed in terms of probability", 1950.
C. Guo et al., "On calibration of modern neural networks", 2017 (ECE).
N. Brummer and J. du Preez, "Application-independent evaluation of speaker detection", 2006 (Cllr).
X. Wang et al., "ASVspoof 5: crowdsourced speech data, deepfakes, and adversarial attacks at scale", 2024 (actDCF).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensix.calibration import logit
from forensix.metrics.checks import FAKE_COST, REAL_COST, Floats, checked, probabilities, split

N_BINS = 15


def accuracy(labels: ArrayLike, scores: ArrayLike, threshold: float = 0.5) -> float:
    """Return the share of files called right; scores at and above ``threshold`` are called fake.

    >>> accuracy([0, 0, 0, 1], [0.1, 0.2, 0.6, 0.5])
    0.75
    """
    y, s = checked(labels, scores, both=False)
    return float(np.mean((s >= threshold) == y))


def balanced_accuracy(labels: ArrayLike, scores: ArrayLike, threshold: float = 0.5) -> float:
    """Return the mean of the share of reals and the share of fakes called right.

    >>> round(balanced_accuracy([0, 0, 0, 1], [0.1, 0.2, 0.6, 0.5]), 3)
    0.833
    """
    real, fake = split(labels, scores)
    return float((np.mean(real < threshold) + np.mean(fake >= threshold)) / 2)


def brier(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean squared distance of score and label: 0 is perfect, 0.25 what a constant 0.5 gets.

    >>> round(brier([0, 1], [0.2, 0.6]), 3)
    0.1
    """
    y, s = checked(labels, scores, both=False)
    return float(np.mean((probabilities(s) - y) ** 2))


def ece(labels: ArrayLike, scores: ArrayLike, n_bins: int = N_BINS) -> float:
    """Return the expected calibration error in [0, 1]: mean distance of score and share of fakes over equal bins.

    Bins are closed on the right, as in the reference.

    >>> round(ece([0, 1, 1, 1], [0.25, 0.25, 0.75, 0.75], n_bins=2), 3)
    0.25
    """
    y, s = checked(labels, scores, both=False)
    at = bin_of(probabilities(s), n_bins)
    return float(np.abs(np.bincount(at, s - y, n_bins)).sum() / s.size)


def bin_of(scores: Floats, n_bins: int) -> np.ndarray:
    """Return the bin of each score in [0, 1]: ``(k / n_bins, (k + 1) / n_bins]``, the first one with 0."""
    return np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], scores, side="left")


def cllr(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the cost of log likelihood ratios in bits: 0 is perfect, 1 is what a constant 0.5 gets, no upper bound.

    >>> round(cllr([0, 1], [0.5, 0.5]), 6), round(cllr([0, 1], [0.1, 0.9]), 3)
    (1.0, 0.152)
    """
    real, fake = split(labels, scores)
    return float((_bits(probabilities(real), -1).mean() + _bits(probabilities(fake), 1).mean()) / 2)


def _bits(scores: Floats, sign: int) -> Floats:
    bits: Floats = np.logaddexp(0, -sign * logit(scores)) / np.log(2)
    return bits


def act_dcf(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the detection cost at the threshold that ASVspoof 5's costs imply for calibrated scores.

    Never below `min_dcf`; the difference is what bad calibration costs.

    >>> act_dcf([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]), act_dcf([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
    (0.0, 1.0)
    """
    real, fake = split(labels, scores)
    alarms, passed = called(probabilities(real)).mean(), 1 - called(probabilities(fake)).mean()
    return float((REAL_COST * alarms + FAKE_COST * passed) / FAKE_COST)


def called(scores: Floats) -> np.ndarray:
    """Return which scores are called fake at the threshold that the costs imply."""
    is_called: np.ndarray = logit(scores) > np.log(REAL_COST / FAKE_COST)
    return is_called


def terms(scores: Floats, *, fake: bool, decisions: Sequence[NDArray[np.bool_]]) -> Floats:
    """Return (n, k) what each file of one class adds to the sums that `from_sums` takes.

    ``decisions`` hold, each (n,), which files are called fake.
    """
    scores = np.clip(scores, 0, 1)
    columns = [np.ones_like(scores)]
    columns += [(called_fake == fake).astype(np.float64) for called_fake in decisions]
    columns += [(scores - fake) ** 2, _bits(scores, 1 if fake else -1), called(scores).astype(np.float64)]
    one_hot = np.zeros((scores.size, N_BINS))
    one_hot[np.arange(scores.size), bin_of(scores, N_BINS)] = scores - fake
    return np.column_stack([*columns, one_hot])


def from_sums(real: Floats, fake: Floats, *, names: Sequence[str]) -> dict[str, Floats]:
    """Return metrics for sums of `terms`, each (draws, k); ``names`` are those of the decisions."""
    (n_real, n_fake), k = (real[:, 0], fake[:, 0]), len(names)
    n = n_real + n_fake
    values: dict[str, Floats] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for i, name in enumerate(names, start=1):
            values[f"accuracy_{name}"] = (real[:, i] + fake[:, i]) / n
            values[f"balanced_accuracy_{name}"] = (real[:, i] / n_real + fake[:, i] / n_fake) / 2
        values["brier"] = (real[:, k + 1] + fake[:, k + 1]) / n
        values["ece"] = np.abs(real[:, k + 4 :] + fake[:, k + 4 :]).sum(axis=1) / n
        values["cllr"] = (real[:, k + 2] / n_real + fake[:, k + 2] / n_fake) / 2
        cost = REAL_COST * real[:, k + 3] / n_real + FAKE_COST * (1 - fake[:, k + 3] / n_fake)
        values["act_dcf"] = cost / FAKE_COST
    return values
