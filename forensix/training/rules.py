"""Fitting a linear rule on what a pretrained network says of inputs (`forensix.models.architectures.pictures.Rule`)."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from forensix.models.architectures.pictures import Rule

STRENGTH = 0.01
"""Inverse of the ridge penalty, for weights whose mean is 1; a third and a tenth did worse on the folds."""
DETAIL_SHARE = 0.4
"""What the logit of fine detail weighs beside that of the whole picture, which weighs 1."""
LEAST_SCALE = 1e-4
"""Added to the deviation that each statistic is divided by."""
Group = tuple[slice, float]
"""Statistics that a logit of their own is fitted on, and what it weighs."""
ALL: tuple[Group, ...] = ((slice(None), 1.0),)


@torch.no_grad()
def fit_output(
    rule: Rule,
    output: int,
    statistics: NDArray[np.float16],
    fake: NDArray[np.bool_],
    weights: NDArray[np.float64],
    groups: Sequence[Group] = ALL,
    *,
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
    """
    w = weights.astype(np.float32)
    if output == 0:
        mean, scale = spread(statistics.astype(np.float32), w)
        rule.mean[:], rule.scale[:] = torch.from_numpy(mean), torch.from_numpy(scale)
    rule.linear.weight[output], rule.linear.bias[output] = 0, 0
    for columns, share in groups:
        x = statistics[:, columns].astype(np.float32)
        mean, scale = spread(x, w)
        model = LogisticRegression(C=strength, max_iter=150, tol=1e-3).fit((x - mean) / scale, fake, sample_weight=w)
        # The same rule in the units of the first output.
        direction = share * model.coef_[0] / scale
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
