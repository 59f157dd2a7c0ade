"""Families of generators: each has a rule of its own, and their odds are added.

A rule's logit is the log-odds of its family alone against recorded, the family's share of all that are made among them.
"""

import torch
from torch import Tensor

ALL_OTHERS, STYLEGAN = 0, 1
"""Families of generators."""
N_FAMILIES = 2


def by_family(logits: Tensor) -> Tensor:
    """Return the logits of one rule after the other (n, `N_FAMILIES` * outputs) apart, (n, `N_FAMILIES`, outputs)."""
    return logits.reshape(len(logits), N_FAMILIES, -1)


def added(logits: Tensor) -> Tensor:
    """Return the log-odds of all families (n, outputs) from those of each, (n, `N_FAMILIES`, outputs)."""
    return torch.logsumexp(logits, 1)
