"""Generated or photographed: two EfficientNets read at several depths, and one linear layer on all stages' statistics.

The smaller network looks twice: at the picture, and at what `fine_detail` leaves of it, where the traces of a
generator's last layers are not hidden by things. The layer has two outputs: the first is for windows at native
resolution, the second for the middle square scaled down. As mean and deviation (see `efficientnet`) are sums over
space, so is a logit: `PictureClassifier.evidence` returns what each place adds.
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
N_WHOLE, N_DETAIL = (
    2 * sum(CHANNELS[variant][i] for variant in variants for i in STAGES) for variants in (VARIANTS, VARIANTS[:1])
)
"""Statistics of the picture itself, which come first, and of its fine detail."""
N_STATISTICS = N_WHOLE + N_DETAIL
DETAIL_GAIN = 12.0
"""By how much fine detail is amplified; what is then beyond black or white is cut off."""


def fine_detail(x: Tensor) -> Tensor:
    """Return pictures (batch, 3, height, width) in [-1, 1] less themselves smoothed over 3 x 3 pixels, amplified."""
    across = torch.tensor([0.25, 0.5, 0.25], dtype=x.dtype, device=x.device)
    kernel = (across[:, None] * across).expand(x.shape[1], 1, 3, 3)
    smooth = functional.conv2d(functional.pad(x, (1, 1, 1, 1), mode="reflect"), kernel, groups=x.shape[1])
    return ((x - smooth) * DETAIL_GAIN).clamp(-1.0, 1.0)


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
        """Return the stages of each network, see `Backbone`, and then those of the first on the fine detail."""
        whole = [stage for backbone in self for stage in backbone(x)]
        detail: list[Tensor] = self[0](fine_detail(x))
        return whole + detail


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
