"""Bands of confidence around curves, by the cluster bootstrap of `forensix.metrics.intervals`.

They are pointwise: at each false positive rate by itself the band holds the true rate of fakes found with the stated
confidence; a whole curve leaves such a band somewhere more often than that.

References
----------
S. Macskassy and F. Provost, "Confidence bands for ROC curves: methods and an empirical study", 2004.
"""

import numpy as np

from forensix.metrics.checks import Floats
from forensix.metrics.intervals import Sample, drawn_counts


def roc_band(
    reals: Sample, fakes: Sample, fpr: Floats, *, n: int = 1000, seed: int = 0, confidence: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the lower and upper end of the true positive rate at each false positive rate, both (m,).

    Parameters
    ----------
    fpr
        Shape (m,), in [0, 1], ascending.
    n
        Draws of groups; a group with reals and fakes is drawn alike for both.

    Returns
    -------
        NaN throughout where a class is of one group: drawn again it is the same.

    Examples
    --------
    >>> low, high = roc_band(Sample.of([0.1, 0.4, 0.6]), Sample.of([0.5, 0.8, 0.9]), np.array([0.0, 0.5, 1.0]), n=200)
    >>> bool((low <= high).all()), float(low[-1])
    (True, 1.0)
    """
    scores = np.concatenate([reals.scores, fakes.scores])
    if reals.is_one or fakes.is_one or not (reals.scores.size and fakes.scores.size):
        return np.full(fpr.shape, np.nan), np.full(fpr.shape, np.nan)
    order = np.argsort(-scores, kind="stable")
    is_fake = order >= reals.scores.size
    last = np.append(np.flatnonzero(np.diff(scores[order])), scores.size - 1)
    rates = np.full((n, fpr.size), np.nan)
    for i, (real_counts, fake_counts) in enumerate(drawn_counts((reals, fakes), n, seed)):
        weight = np.concatenate([real_counts[reals.groups], fake_counts[fakes.groups]])[order]
        alarms = np.concatenate([[0], np.cumsum(weight * ~is_fake)[last]])
        weights = np.concatenate([[0], np.cumsum(weight * is_fake)[last]])
        if alarms[-1] and weights[-1]:
            rates[i] = np.interp(fpr, alarms / alarms[-1], weights / weights[-1])
    known = rates[np.isfinite(rates[:, 0])]
    if len(known) < n / 2:
        return np.full(fpr.shape, np.nan), np.full(fpr.shape, np.nan)
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return low, high
