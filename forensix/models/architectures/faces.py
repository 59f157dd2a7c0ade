"""Recorded or made faces: EfficientNet-Lite0 read at several depths, and one linear layer on its stages' statistics.

The network of `pictures` with one backbone, which looks at its input and at the input's fine detail. The layer has two
outputs: the first is for upright crops of faces (`forensix.faces.align`), the second for windows around them as they
lie in the picture (`forensix.faces.crop.window`).
"""

from torch import Tensor, nn

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, statistics
from forensix.models.architectures.pictures import Rule, fine_detail

VARIANT = "lite0"
N_WHOLE = 2 * sum(CHANNELS[VARIANT][i] for i in STAGES)
"""Statistics of the input itself, which come first; there are as many of its fine detail."""
N_STATISTICS = 2 * N_WHOLE
CROP, WINDOW = 0, 1
"""Which output is for what."""


class FaceStages(nn.Module):
    """A pretrained network and a rule on what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone(VARIANT)
        self.rule = Rule(N_STATISTICS)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, 2) of normalised crops or windows (batch, 3, height, width)."""
        logits: Tensor = self.rule(self.statistics(x))
        return logits

    def statistics(self, x: Tensor) -> Tensor:
        """Return what the rule reads of crops or windows, (batch, `N_STATISTICS`)."""
        return statistics(self.backbone(x) + self.backbone(fine_detail(x)))


def build() -> FaceStages:
    """Return the network with random weights."""
    return FaceStages()
