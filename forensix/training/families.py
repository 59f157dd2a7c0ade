"""Rules for families of generators, put together: see `forensix.models.architectures.families`."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration
from forensix.models.architectures.families import STYLEGAN
from forensix.models.architectures.logistic import Logistic

NAMED = "StyleGAN"
"""What the names of those that make pictures of that family have in common."""
Units = Sequence[Sequence[Calibration]]
"""What turns the logit of each family and output into its log-odds."""


def of_family(table: pd.DataFrame, family: int) -> NDArray[np.bool_]:
    """Return which files of a table a family's rule learns from: its own, and recorded ones.

    Where a column ``static`` tells clips from stills, clips of any maker are among all others.
    """
    fake, static = table["fake"].to_numpy(dtype=bool), np.asarray(table.get("static", True), dtype=bool)
    own = table["made_by"].str.contains(NAMED, regex=False).to_numpy(dtype=bool) & fake & static
    return np.asarray(own | (~fake & static) if family == STYLEGAN else ~own, dtype=bool)


@torch.no_grad()
def side_by_side(rules: Sequence[Logistic]) -> Logistic:
    """Return one rule that gives what several of the same inputs and outputs say, one after the other."""
    first = rules[0]
    n_outputs = first.linear.out_features
    whole = Logistic(len(first.mean), n_outputs * len(rules))
    whole.mean[:], whole.scale[:] = first.mean, first.scale
    for nth, rule in enumerate(rules):
        own = slice(n_outputs * nth, n_outputs * (nth + 1))
        weight = rule.linear.weight / rule.scale
        whole.linear.weight[own] = weight * whole.scale
        whole.linear.bias[own] = rule.linear.bias + weight @ (whole.mean - rule.mean)
    return whole.eval()


@torch.no_grad()
def in_units(rule: Logistic, units: Units, shares: Mapping[int, float]) -> None:
    """Turn the logits of the families' rules side by side into log-odds with each family's share, in place."""
    n_outputs = len(units[0])
    for family, of_outputs in enumerate(units):
        for output, unit in enumerate(of_outputs):
            at = n_outputs * family + output
            rule.linear.weight[at] *= unit.slope
            rule.linear.bias[at] = unit.slope * rule.linear.bias[at] + unit.intercept + np.log(shares[family])
