"""Generated or photographed: two EfficientNets read at several depths, and one linear layer on all stages' statistics.

The layer has two outputs: the first is for windows at native resolution, the second for the middle square scaled down.
As mean and deviation (see `efficientnet`) are sums over space, so is a logit: `PictureClassifier.evidence` returns what
each place adds.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, statistics

CELLS = 14
"""Evidence is returned on a grid of so many cells a side."""
WINDOW, SQUARE = 0, 1
"""Which output is for what."""
VARIANTS = ("lite0", "lite2")
N_STATISTICS = 2 * sum(CHANNELS[variant][i] for variant in VARIANTS for i in STAGES)


class Rule(nn.Module):
    """A linear layer on standardised statistics."""

    mean: Tensor
    scale: Tensor

    def __init__(self, n: int, n_outputs: int = 2) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("scale", torch.ones(n))
        self.linear = nn.Linear(n, n_outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, outputs) of statistics (batch, n)."""
        logits: Tensor = self.linear((x - self.mean) / self.scale)
        return logits


class Backbones(nn.ModuleList):
    """Networks of several variants side by side."""

    def __init__(self) -> None:
        super().__init__(Backbone(variant) for variant in VARIANTS)

    def __iter__(self) -> Iterator[Backbone]:
        return super().__iter__()  # type: ignore[return-value]

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return the stages of one network after those of the other, see `Backbone`."""
        return [stage for backbone in self for stage in backbone(x)]


class PictureClassifier(nn.Module):
    """Pretrained networks and a rule on what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.backbones = Backbones()
        self.rule = Rule(N_STATISTICS)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (batch, 2) and statistics (batch, n) of normalised pictures (batch, 3, height, width)."""
        features = statistics(self.backbones(x))
        return self.rule(features), features

    def evidence(self, x: Tensor, output: int = WINDOW) -> Tensor:
        """Return what each place adds to a logit, (batch, `CELLS`, `CELLS`); their mean is the logit."""
        return placed(self.backbones(x), self.rule, output)


def placed(maps: list[Tensor], rule: Rule, output: int) -> Tensor:
    """Return what each place of the stages' maps adds to an output of a rule, (batch, `CELLS`, `CELLS`)."""
    weight = rule.linear.weight[output] / rule.scale
    logits: Tensor = rule(statistics(maps))[:, output, None, None].expand(-1, CELLS, CELLS)
    at = 0
    for stage in maps:
        x = stage.float()
        n = x.shape[1]
        for_mean, for_deviation = weight[at : at + n], weight[at + n : at + 2 * n]
        at += 2 * n
        centred = x - x.mean((2, 3), keepdim=True)
        deviation = statistics([stage])[:, n:, None, None]
        # A deviation is the mean over space of squared distance by itself; what is left of both sums to nothing.
        spread = centred.square() / deviation
        added = (for_mean[:, None, None] * centred).sum(1)
        added = added + (for_deviation[:, None, None] * (spread - spread.mean((2, 3), keepdim=True))).sum(1)
        logits = logits + _on_cells(added)
    return logits


def _on_cells(values: Tensor) -> Tensor:
    """Return values (batch, h, w) on the grid of cells, with the same mean."""
    if values.shape[-1] >= CELLS and values.shape[-2] >= CELLS:
        pooled: Tensor = functional.adaptive_avg_pool2d(values[:, None], CELLS)
        return pooled[:, 0]
    grown: Tensor = functional.interpolate(values[:, None], size=(CELLS, CELLS), mode="nearest")
    return grown[:, 0]


def build() -> PictureClassifier:
    """Return the network with random weights."""
    return PictureClassifier()
