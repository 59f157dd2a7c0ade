"""Generated or photographed: two EfficientNets read at several depths, and what judges all stages' statistics.

The smaller network looks three times: at the picture, at what `fine_detail` leaves of it, where the traces of a
generator's last layers are not hidden by things, and with its first stages at the same amplified so much that the
faintest of it shows and the rest is cut off: noise of a sensor, and smoothness where there is none. Linear layers, one
for each family of generators (see `families`), judge the statistics together, once for windows at native resolution and
once for the middle square scaled down; small networks judge them beside the layer of all others than StyleGAN. As mean
and deviation (see `efficientnet`) are sums over space, so is what moves a logit:
`PictureClassifier.evidence` returns what each place adds.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, statistics
from forensix.models.architectures.families import ALL_OTHERS, N_FAMILIES, STYLEGAN, added, by_family
from forensix.models.architectures.logistic import Logistic
from forensix.models.architectures.perceptrons import Perceptrons

CELLS = 14
"""Evidence is returned on a grid of so many cells a side."""
WINDOW, SQUARE = 0, 1
"""Which output is for what."""
VARIANTS = ("lite0", "lite2")
N_WHOLE, N_DETAIL = (
    2 * sum(CHANNELS[variant][i] for variant in variants for i in STAGES) for variants in (VARIANTS, VARIANTS[:1])
)
"""Statistics of the picture itself, which come first, and of its fine detail."""
DETAIL_GAIN, FAINT_GAIN = 12.0, 36.0
"""By how much fine detail is amplified; what is then beyond black or white is cut off."""
FAINT_STAGES = (0, 1, 2)
"""Stages that see what is faint."""
N_FAINT = 2 * sum(CHANNELS[VARIANTS[0]][i] for i in FAINT_STAGES)
"""Statistics of faint detail, which come last."""
N_STATISTICS = N_WHOLE + N_DETAIL + N_FAINT


def fine_detail(x: Tensor, gain: float = DETAIL_GAIN) -> Tensor:
    """Return pictures (batch, 3, height, width) in [-1, 1] less themselves smoothed over 3 x 3 pixels, amplified."""
    across = torch.tensor([0.25, 0.5, 0.25], dtype=x.dtype, device=x.device)
    kernel = (across[:, None] * across).expand(x.shape[1], 1, 3, 3)
    smooth = functional.conv2d(functional.pad(x, (1, 1, 1, 1), mode="reflect"), kernel, groups=x.shape[1])
    return ((x - smooth) * gain).clamp(-1.0, 1.0)


class Backbones(nn.ModuleList):
    """Networks of several variants side by side."""

    def __init__(self) -> None:
        super().__init__(Backbone(variant) for variant in VARIANTS)

    def __iter__(self) -> Iterator[Backbone]:
        return super().__iter__()  # type: ignore[return-value]

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return the stages of each network, see `Backbone`, then those of the first on fine and on faint detail."""
        whole = [stage for backbone in self for stage in backbone(x)]
        detail: list[Tensor] = self[0](fine_detail(x))
        faint: list[Tensor] = self[0](fine_detail(x, FAINT_GAIN), FAINT_STAGES)
        return whole + detail + faint


class Head(nn.Module):
    """Rules and small networks on what the pretrained networks say, for windows and for squares."""

    def __init__(self, n: int = N_STATISTICS) -> None:
        super().__init__()
        self.rule = Logistic(n, 2 * N_FAMILIES)
        self.perceptrons = nn.ModuleList(Perceptrons(n) for _ in (WINDOW, SQUARE))

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (batch, 2) of statistics (batch, n)."""
        return added(self.families(features))

    def families(self, features: Tensor) -> Tensor:
        """Return what each family's rule says of statistics (batch, n), (batch, `N_FAMILIES`, 2)."""
        votes = torch.stack([network(features).mean(1) for network in self.perceptrons], 1)
        logits = by_family(self.rule(features))
        return torch.stack([logits[:, ALL_OTHERS] + votes, logits[:, STYLEGAN]], 1)

    def slope(self, features: Tensor, output: int) -> Tensor:
        """Return by how much each statistic moves a logit there, (batch, n)."""
        network: Any = self.perceptrons[output]
        shares = self.families(features)[:, :, output].softmax(1)
        of_rules = shares @ (self.rule.linear.weight[output::2] / self.rule.scale)
        slope: Tensor = of_rules + shares[:, ALL_OTHERS, None] * network.slope(features)
        return slope


class PictureClassifier(nn.Module):
    """Pretrained networks, and a head on what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.backbones = Backbones()
        self.head = Head()

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (batch, 2) and statistics (batch, n) of normalised pictures (batch, 3, height, width)."""
        features = statistics(self.backbones(x))
        return self.head(features), features

    def evidence(self, x: Tensor, output: int = WINDOW) -> Tensor:
        """Return what each place adds to a logit, (batch, `CELLS`, `CELLS`); their mean is the logit.

        Small networks are taken as straight around what the input is like as a whole.
        """
        maps = self.backbones(x)
        features = statistics(maps)
        return placed(maps, self.head.slope(features, output), self.head(features)[:, output])


def placed(maps: list[Tensor], slope: Tensor, logits: Tensor) -> Tensor:
    """Return what each place of the stages' maps adds to logits (batch,), (batch, `CELLS`, `CELLS`).

    ``slope`` (batch, n) says by how much each statistic moves them.
    """
    total = logits[:, None, None].expand(-1, CELLS, CELLS)
    at = 0
    for stage in maps:
        x = stage.float()
        n = x.shape[1]
        for_mean, for_deviation = (slope[:, start : start + n, None, None] for start in (at, at + n))
        at += 2 * n
        centred = x - x.mean((2, 3), keepdim=True)
        deviation = statistics([stage])[:, n:, None, None]
        # A deviation is the mean over space of squared distance by itself; what is left of both sums to nothing.
        spread = centred.square() / deviation
        added = (for_mean * centred).sum(1)
        added = added + (for_deviation * (spread - spread.mean((2, 3), keepdim=True))).sum(1)
        total = total + _on_cells(added)
    return total


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
