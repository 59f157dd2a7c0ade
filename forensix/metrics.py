"""How well scores separate fake (label 1, higher scores) from real (label 0): pure functions.

References
----------
EER: mean of the false rejection and false acceptance rates where they differ least, as in the ASVspoof 5 evaluation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Metric = Callable[[NDArray[np.int64], NDArray[np.float64]], float]


def _checked(labels: ArrayLike, scores: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    y, s = np.asarray(labels).astype(np.int64), np.asarray(scores, dtype=np.float64)
    if y.shape != s.shape or y.ndim != 1:
        raise ValueError(f"labels and scores must be two equally long lists: got {y.shape} and {s.shape}")
    if set(np.unique(y)) != {0, 1}:
        raise ValueError("labels must hold both 0 (real) and 1 (fake)")
    if not np.isfinite(s).all():
        raise ValueError("scores must be finite")
    return y, s


def auc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the area under the ROC curve: the chance that a fake scores above a real, ties counting half."""
    from scipy.stats import rankdata

    y, s = _checked(labels, scores)
    n_fake = int(y.sum())
    n_real = y.size - n_fake
    return float((rankdata(s)[y == 1].sum() - n_fake * (n_fake + 1) / 2) / (n_fake * n_real))


def eer(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the equal error rate in [0, 1]; the positive class is fake.

    Thresholds are taken at every distinct score, so tied scores are accepted or rejected together.
    """
    y, s = _checked(labels, scores)
    order = np.argsort(s, kind="stable")
    y, s = y[order], s[order]
    last = np.append(np.flatnonzero(np.diff(s)), s.size - 1)
    missed = np.concatenate([[0], np.cumsum(y)[last]]) / y.sum()
    alarms = 1 - np.concatenate([[0], np.cumsum(1 - y)[last]]) / (1 - y).sum()
    at = np.argmin(np.abs(missed - alarms))
    return float((missed[at] + alarms[at]) / 2)


def bootstrap_interval(
    metric: Metric,
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> tuple[float, float]:
    """Return a percentile bootstrap interval, resampling whole groups within each class.

    Parameters
    ----------
    metric
        ``metric(labels, scores) -> float``.
    groups
        Shape (n,): examples that belong together (one speaker, one video); by default each is its own.
    """
    y, s = _checked(labels, scores)
    g: Any = np.arange(y.size) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    members = {c: [np.flatnonzero((g == k) & (y == c)) for k in np.unique(g[y == c])] for c in (0, 1)}
    values = np.empty(n)
    for i in range(n):
        picked = [m[j] for m in members.values() for j in rng.integers(len(m), size=len(m))]
        at = np.concatenate(picked)
        values[i] = metric(y[at], s[at])
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
