"""EfficientNet-Lite read at several depths: what each stage says of the whole input, by mean and deviation.

Traces of synthesis are small and everywhere, so the early stages, which see texture, count as much as the late ones,
which see things. Each stage's output is reduced to its channels' mean and standard deviation over space; one linear
layer turns the standardised statistics into logits (see `pictures`). Any input from 64 px a side will do.

References
----------
M. Tan and Q. Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019.
R. Wightman, "PyTorch image models", 2019 (``tf_efficientnet_lite0``, ``tf_efficientnet_lite2``).
"""

import copy
import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

import timm
import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

MEAN = DEVIATION = 0.5
"""Pixels in [0, 1] are fed as ``(x - MEAN) / DEVIATION``."""
STAGES = (1, 2, 3, 4, 5)
CHANNELS = {"lite0": (16, 24, 40, 80, 112, 192, 320), "lite2": (16, 24, 48, 88, 120, 208, 352)}
"""Channels that each stage gives, by variant."""
_LEAST_VARIANCE = 1e-5

Network = TypeVar("Network", bound=nn.Module)


class Backbone(nn.Module):
    """Normalised inputs (batch, 3, height, width) to the outputs of the chosen stages, each coarser than the last."""

    def __init__(self, variant: str = "lite0", stages: Sequence[int] = STAGES) -> None:
        super().__init__()
        network: Any = timm.create_model(f"tf_efficientnet_{variant}", pretrained=False)
        self.variant = variant
        self.stages = tuple(stages)
        self.conv_stem, self.bn1 = network.conv_stem, network.bn1
        self.blocks = network.blocks[: max(self.stages) + 1]

    def forward(self, x: Tensor) -> list[Tensor]:
        """Return one tensor (batch, channels, height, width) a stage."""
        x = self.bn1(self.conv_stem(x))
        maps = []
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i in self.stages:
                maps.append(x)
        return maps


def fused(network: Network) -> Network:
    """Return a copy for inference whose convolutions do what their normalisation did: a third faster."""
    copied = copy.deepcopy(network).eval()
    for module in copied.modules():
        children = list(module.named_children())
        for (name, convolution), (after, norm) in itertools.pairwise(children):
            if isinstance(convolution, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                setattr(module, name, fuse_conv_bn_eval(convolution, norm))
                setattr(module, after, getattr(norm, "act", nn.Identity()))
    return copied


def statistics(maps: Sequence[Tensor]) -> Tensor:
    """Return means and standard deviations over space of every map, joined: (batch, 2 * channels of all maps)."""
    rows = []
    for one in maps:
        x = one.flatten(2).float()
        rows += [x.mean(2), (x.var(2, unbiased=False) + _LEAST_VARIANCE).sqrt()]
    return torch.cat(rows, 1)
