"""Recorded or made faces: EfficientNet-Lite0 read at several depths, and one linear layer on its stages' statistics.

The network of `pictures` with one backbone and one output, for upright crops of faces (`forensix.faces.align`).
"""

from torch import Tensor, nn

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, statistics
from forensix.models.architectures.pictures import Rule

VARIANT = "lite0"
N_STATISTICS = 2 * sum(CHANNELS[VARIANT][i] for i in STAGES)


class FaceStages(nn.Module):
    """A pretrained network and a rule on what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone(VARIANT)
        self.rule = Rule(N_STATISTICS, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, 1) of normalised crops (batch, 3, height, width)."""
        logits: Tensor = self.rule(statistics(self.backbone(x)))
        return logits


def build() -> FaceStages:
    """Return the network with random weights."""
    return FaceStages()
