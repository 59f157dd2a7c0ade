"""Fitting a linear rule on what a pretrained network says of inputs (`forensix.models.architectures.logistic`).

A rule is fitted by logistic regression. Where it is told which source each input is of, directions along which recorded
sources differ from one another are penalised beside all others, as within-class covariance normalisation does it: what
sets one camera or one collection apart from the next is no sign of a generator.

References
----------
A. Hatch, S. Kajarekar and A. Stolcke, "Within-class covariance normalization for SVM-based speaker recognition", 2006.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from forensix.models.architectures.logistic import Logistic

STRENGTH = 0.03
"""Inverse of the ridge penalty, for weights whose mean is 1; a third of it did worse on the folds of faces."""
DETAIL_SHARE = 0.4
"""What the logit of fine detail weighs beside that of the whole picture, which weighs 1."""
ALIKE_STRENGTH = 40.0
"""How much more a direction is penalised for each unit of variance that recorded sources have along it, once
standardised; 10 did worse on the folds of pictures, 100 as well as it."""
LEAST_SCALE = 1e-4
"""Added to the deviation that each statistic is divided by."""
Group = tuple[slice, float]
"""Statistics that a logit of their own is fitted on, and what it weighs."""
ALL: tuple[Group, ...] = ((slice(None), 1.0),)


@torch.no_grad()
def fit_output(
    rule: Logistic,
    output: int,
    statistics: NDArray[np.float16],
    fake: NDArray[np.bool_],
    weights: NDArray[np.float64],
    groups: Sequence[Group] = ALL,
    *,
    sources: NDArray[np.str_] | None = None,
    strength: float = STRENGTH,
) -> None:
    """Fit an output of a rule, the first one first, whose standardisation all share.

    Parameters
    ----------
    statistics
        (views, n)
    fake, weights
        (views,); weights have a mean of about 1.
    groups
        The output is the weighted sum of their logits; it reads nothing else.
    sources
        (views,), names of what should score alike where it is recorded.
    """
    w = weights.astype(np.float32)
    if output == 0:
        mean, scale = spread(statistics.astype(np.float32), w)
        rule.mean[:], rule.scale[:] = torch.from_numpy(mean), torch.from_numpy(scale)
    rule.linear.weight[output], rule.linear.bias[output] = 0, 0
    for columns, share in groups:
        x = statistics[:, columns].astype(np.float32)
        mean, scale = spread(x, w)
        x = (x - mean) / scale
        turn = np.eye(x.shape[1], dtype=np.float32)
        if sources is not None:
            turn = _turn(_between(x[~fake], w[~fake], sources[~fake]))
        model = LogisticRegression(C=strength, max_iter=150, tol=1e-3).fit(x @ turn, fake, sample_weight=w)
        # The same rule in the units of the first output.
        direction = share * (turn @ model.coef_[0]) / scale
        shift = share * float(model.intercept_[0]) + float(direction @ (rule.mean[columns].numpy() - mean))
        rule.linear.weight[output, columns] = torch.from_numpy(direction * rule.scale[columns].numpy()).float()
        rule.linear.bias[output] += shift


def spread(
    x: NDArray[np.float32], weights: NDArray[np.float32], least_scale: float = LEAST_SCALE
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return mean and deviation, ``least_scale`` added to it, of each statistic (n,) over weighted views (views, n)."""
    mean = np.average(x, axis=0, weights=weights)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights)) + least_scale
    return mean, scale.astype(np.float32)


def _between(x: NDArray[np.float32], weights: NDArray[np.float32], sources: NDArray[np.str_]) -> NDArray[np.float64]:
    """Return the covariance of the sources' means, (n, n)."""
    names, at = np.unique(sources, return_inverse=True)
    shares = np.zeros((len(names), len(x)))
    shares[at, np.arange(len(x))] = weights
    counts = shares.sum(1)
    means = shares @ x / counts[:, None]
    means -= np.average(means, axis=0, weights=counts)
    return np.asarray((means.T * (counts / counts.sum())) @ means)


def _turn(covariance: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return what inputs are multiplied by, so that an even penalty on them weighs a covariance as well, (n, n)."""
    values, vectors = np.linalg.eigh(np.eye(len(covariance)) + ALIKE_STRENGTH * covariance)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T, dtype=np.float32)
