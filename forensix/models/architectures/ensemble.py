"""The rule of an ensemble: a weighted sum of its members' calibrated logits. Input (n, members), output (n,)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn


class WeightedSum(nn.Module):
    """Adds up logits; as it is made, their mean."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((n,), 1 / n, dtype=torch.float64))
        self.bias = nn.Parameter(torch.zeros((), dtype=torch.float64))

    def forward(self, logits: Tensor) -> Tensor:
        """Return one logit a row."""
        return logits @ self.weight + self.bias


def build(members: Sequence[Any]) -> WeightedSum:
    """Return the mean of so many members."""
    return WeightedSum(len(members))
