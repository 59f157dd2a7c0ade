"""Classes from the statistics of a window: standardised, clipped, one linear layer, one temperature.

Input is (N, F), output class logits (N, C); the logits of a picture are the mean over its windows.
"""

import torch
from torch import Tensor, nn


class StatisticsClassifier(nn.Module):
    """One linear layer on standardised statistics."""

    mean: Tensor
    scale: Tensor
    temperature: Tensor

    def __init__(self, n_statistics: int, n_classes: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_statistics))
        self.register_buffer("scale", torch.ones(n_statistics))
        self.register_buffer("temperature", torch.ones(1))
        self.linear = nn.Linear(n_statistics, n_classes)

    def forward(self, statistics: Tensor) -> Tensor:
        """Return logits, (N, C)."""
        z = ((statistics - self.mean) / self.scale).clamp(-5, 5)
        found: Tensor = self.linear(z) / self.temperature
        return found


def build(n_statistics: int, n_classes: int) -> StatisticsClassifier:
    """Make the classifier."""
    return StatisticsClassifier(n_statistics, n_classes)
