"""Fitting a linear rule on what a pretrained network says of inputs (`forensix.models.architectures.pictures.Rule`)."""

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


@torch.no_grad()
def fit_output(
    rule: Rule,
    output: int,
    statistics: NDArray[np.float16],
    fake: NDArray[np.bool_],
    weights: NDArray[np.float64],
    n_whole: int | None = None,
    *,
    strength: float = STRENGTH,
    least_scale: float = LEAST_SCALE,
) -> None:
    """Fit an output of a rule, the first one first, whose standardisation all share.

    Parameters
    ----------
    statistics
        (views, n): the first ``n_whole``, or all, are of the whole input, the others of its fine detail.
    fake, weights
        (views,); weights have a mean of about 1.
    least_scale
        See `LEAST_SCALE`.
    """
    w = weights.astype(np.float32)
    n_whole = statistics.shape[1] if n_whole is None else n_whole
    rule.linear.bias[output] = 0
    for columns, share in ((slice(0, n_whole), 1.0), (slice(n_whole, None), DETAIL_SHARE)):
        x = statistics[:, columns].astype(np.float32)
        if not x.shape[1]:
            continue
        mean = np.average(x, axis=0, weights=w)
        x -= mean
        scale = np.sqrt(np.average(x**2, axis=0, weights=w)) + least_scale
        x /= scale
        model = LogisticRegression(C=strength, max_iter=150, tol=1e-3).fit(x, fake, sample_weight=w)
        if output == 0:
            rule.mean[columns] = torch.from_numpy(mean)
            rule.scale[columns] = torch.from_numpy(scale)
        # The same rule in the units of the first output.
        direction = share * model.coef_[0] / scale
        shift = share * float(model.intercept_[0]) + float(direction @ (rule.mean[columns].numpy() - mean))
        rule.linear.weight[output, columns] = torch.from_numpy(direction * rule.scale[columns].numpy()).float()
        rule.linear.bias[output] += shift
