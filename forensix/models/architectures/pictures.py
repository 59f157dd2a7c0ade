"""Generated or photographed: EfficientNet-Lite0 read at several depths, with pretrained late stages and tuned ones.

The early stages are shared. Their output goes through the pretrained late stages, whose statistics (see `efficientnet`)
one linear layer weighs, and through tuned copies of the late stages, each with a linear layer of its own; the logit is
the mean of all. Every layer has two outputs: the first is for windows at native resolution, the second for the whole
picture scaled down.

As mean and deviation are sums over space, so is a logit: `PictureClassifier.evidence` returns what each place adds.
"""

import copy

import torch
from torch import Tensor, nn
from torch.nn import functional

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, statistics

SHARED_STAGES = 4
"""Stages 0 to 3 are shared."""
LATE = tuple(stage for stage in STAGES if stage >= SHARED_STAGES)
CELLS = 14
"""Evidence is returned on a grid of so many cells a side."""
WINDOW, WHOLE = 0, 1
"""Which output is for what."""


def n_statistics(stages: tuple[int, ...]) -> int:
    """Return how many statistics stages give."""
    return 2 * sum(CHANNELS[i] for i in stages)


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


class PictureClassifier(nn.Module):
    """A backbone with one rule, and tuned copies of its late stages with a rule each."""

    def __init__(self, n_tails: int = 1) -> None:
        super().__init__()
        self.backbone = Backbone(STAGES)
        self.rule = Rule(n_statistics(STAGES))
        late = self.backbone.blocks[SHARED_STAGES:]
        self.tails = nn.ModuleList(copy.deepcopy(late) for _ in range(n_tails))
        self.tail_rules = nn.ModuleList(Rule(n_statistics(LATE)) for _ in range(n_tails))

    def maps(self, x: Tensor) -> list[list[Tensor]]:
        """Return the stages' outputs for pictures as in `forward`: the backbone's, then each tail's."""
        found = [self.backbone(x)]
        for tail in self.tails:
            y = found[0][STAGES.index(SHARED_STAGES - 1)]
            late = []
            for block in tail:  # type: ignore[attr-defined]
                y = block(y)
                late.append(y)
            found.append(late)
        return found

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits (batch, 2) of normalised pictures (batch, 3, height, width), and the backbone's statistics."""
        first, *others = (statistics(maps) for maps in self.maps(x))
        logits = [self.rule(first), *(rule(one) for rule, one in zip(self.tail_rules, others, strict=True))]
        return torch.stack(logits).mean(0), first

    def evidence(self, x: Tensor, output: int = WINDOW) -> Tensor:
        """Return what each place adds to a logit, (batch, `CELLS`, `CELLS`); their mean is the logit."""
        rules = [self.rule, *self.tail_rules]
        grids = [_placed(maps, rule, output) for maps, rule in zip(self.maps(x), rules, strict=True)]
        return torch.stack(grids).mean(0)


def _placed(maps: list[Tensor], rule: nn.Module, output: int) -> Tensor:
    assert isinstance(rule, Rule)
    weight = rule.linear.weight[output] / rule.scale
    found: Tensor = rule(statistics(maps))[:, output, None, None].expand(-1, CELLS, CELLS)
    at = 0
    for one in maps:
        x = one.float()
        n = x.shape[1]
        for_mean, for_deviation = weight[at : at + n], weight[at + n : at + 2 * n]
        at += 2 * n
        centred = x - x.mean((2, 3), keepdim=True)
        deviation = statistics([one])[:, n:, None, None]
        # A deviation is the mean over space of squared distance by itself; what is left of both sums to nothing.
        spread = centred.square() / deviation
        added = (for_mean[:, None, None] * centred).sum(1)
        added = added + (for_deviation[:, None, None] * (spread - spread.mean((2, 3), keepdim=True))).sum(1)
        found = found + _on_cells(added)
    return found


def _on_cells(values: Tensor) -> Tensor:
    """Return values (batch, h, w) on the grid of cells, with the same mean."""
    if values.shape[-1] >= CELLS and values.shape[-2] >= CELLS:
        pooled: Tensor = functional.adaptive_avg_pool2d(values[:, None], CELLS)
        return pooled[:, 0]
    grown: Tensor = functional.interpolate(values[:, None], size=(CELLS, CELLS), mode="nearest")
    return grown[:, 0]


def build(n_tails: int = 1) -> PictureClassifier:
    """Return the network with random weights."""
    return PictureClassifier(n_tails)
