"""Logistic regression on a vector of measurements that carries its own standardisation. Input (N, n), output (N, 1)."""

import torch
from torch import Tensor, nn


class Logistic(nn.Module):
    """One logit: a weighted sum of standardised inputs."""

    mean: Tensor
    scale: Tensor

    def __init__(self, n_inputs: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_inputs))
        self.register_buffer("scale", torch.ones(n_inputs))
        self.linear = nn.Linear(n_inputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        logits: Tensor = self.linear((x - self.mean) / self.scale)
        return logits


def build(n_inputs: int) -> Logistic:
    """Return the network for vectors of ``n_inputs`` measurements."""
    return Logistic(n_inputs)
