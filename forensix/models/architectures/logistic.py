"""Logistic regression on a vector of measurements, with its standardisation. Input (N, n), output (N, outputs)."""

import torch
from torch import Tensor, nn


class Logistic(nn.Module):
    """Each logit is a weighted sum of standardised inputs."""

    mean: Tensor
    scale: Tensor

    def __init__(self, n_inputs: int, n_outputs: int = 1) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_inputs))
        self.register_buffer("scale", torch.ones(n_inputs))
        self.linear = nn.Linear(n_inputs, n_outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits."""
        logits: Tensor = self.linear((x - self.mean) / self.scale)
        return logits


def build(n_inputs: int, n_outputs: int = 1) -> Logistic:
    """Return the network for vectors of ``n_inputs`` measurements."""
    return Logistic(n_inputs, n_outputs)
