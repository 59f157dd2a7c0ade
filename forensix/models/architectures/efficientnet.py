"""EfficientNet-Lite read at several depths: what each stage says of the whole input, by mean and deviation.

Traces of synthesis are small and everywhere, so the early stages, which see texture, count as much as the late ones,
which see things. Each stage's output is reduced to its channels' mean and standard deviation over space, or over the
places of a mask; a small head turns the standardised statistics into logits (see `pictures`). Any input from 64 px
a side will do.

References
----------
M. Tan and Q. Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019.
R. Wightman, "PyTorch image models", 2019 (``tf_efficientnet_lite0``, ``tf_efficientnet_lite2``).
"""

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_weights

MEAN = DEVIATION = 0.5
"""Pixels in [0, 1] are fed as ``(x - MEAN) / DEVIATION``."""
STAGES = (1, 2, 3, 4, 5)
CHANNELS = {"lite0": (16, 24, 40, 80, 112, 192, 320), "lite2": (16, 24, 48, 88, 120, 208, 352)}
"""Channels that each stage gives, by variant."""
_BLOCKS = {"lite0": (1, 2, 2, 3, 3, 4, 1), "lite2": (1, 3, 3, 4, 4, 5, 1)}
_KERNELS_PX = (3, 3, 5, 3, 5, 5, 3)
_STRIDES = (1, 2, 2, 2, 1, 2, 1)
_STEM_CHANNELS = 32
_EXPANSION = 6
_NORM_EPS = 1e-3
_LEAST_VARIANCE = 1e-5

Network = TypeVar("Network", bound=nn.Module)


class _Convolution(nn.Conv2d):
    """Padded as TensorFlow does: the output has ``ceil(side / 2)`` places, the odd pixel is added at the end.

    An even side lacks one pixel less at its start: a row of zeros that begins the kernel makes up for it, so that the
    convolution pads both ends alike by itself and no padded copy of the input is made.
    """

    def forward(self, x: Tensor) -> Tensor:
        height, width = x.shape[-2:]
        kernel = functional.pad(self.weight, ((width + 1) % 2, 0, (height + 1) % 2, 0))
        return functional.conv2d(x, kernel, self.bias, self.stride, self.kernel_size[0] // 2, groups=self.groups)


def _convolution(n_in: int, n_out: int, kernel_px: int = 1, stride: int = 1, groups: int = 1) -> nn.Conv2d:
    if stride == 1:
        return nn.Conv2d(n_in, n_out, kernel_px, padding=kernel_px // 2, groups=groups, bias=False)
    return _Convolution(n_in, n_out, kernel_px, stride, groups=groups, bias=False)


class _Block(nn.Sequential):
    """Convolutions over space between two that mix channels, with a way around them where the shapes allow."""

    def __init__(self, n_in: int, n_out: int, kernel_px: int, stride: int, expansion: int) -> None:
        n = n_in * expansion
        spatial = _convolution(n, n, kernel_px, stride, n)
        if expansion == 1:
            parts: dict[str, nn.Module] = {"conv_dw": spatial, "bn1": _norm(n), "act1": _act()}
            parts |= {"conv_pw": _convolution(n, n_out), "bn2": _norm(n_out)}
        else:
            parts = {"conv_pw": _convolution(n_in, n), "bn1": _norm(n), "act1": _act()}
            parts |= {"conv_dw": spatial, "bn2": _norm(n), "act2": _act()}
            parts |= {"conv_pwl": _convolution(n, n_out), "bn3": _norm(n_out)}
        super().__init__(OrderedDict(parts))
        self.has_skip = stride == 1 and n_in == n_out

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
        return out + x if self.has_skip else out


def _norm(n: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(n, eps=_NORM_EPS)


def _act() -> nn.Module:
    return nn.ReLU6(inplace=True)


class Backbone(nn.Module):
    """Normalised inputs (batch, 3, height, width) to the outputs of the chosen stages, each coarser than the last.

    Weights have the names that timm gives them.
    """

    def __init__(self, variant: str = "lite0", stages: Sequence[int] = STAGES) -> None:
        super().__init__()
        self.variant = variant
        self.stages = tuple(stages)
        self.conv_stem = _convolution(3, _STEM_CHANNELS, 3, 2)
        self.bn1, self.act1 = _norm(_STEM_CHANNELS), _act()
        self.blocks = nn.Sequential()
        n_in = _STEM_CHANNELS
        for i in range(max(self.stages) + 1):
            stage, n_out = nn.Sequential(), CHANNELS[variant][i]
            for j in range(_BLOCKS[variant][i]):
                stride = 1 if j else _STRIDES[i]
                stage.append(_Block(n_in, n_out, _KERNELS_PX[i], stride, _EXPANSION if i else 1))
                n_in = n_out
            self.blocks.append(stage)

    def forward(self, x: Tensor, stages: Sequence[int] | None = None) -> list[Tensor]:
        """Return one tensor (batch, channels, height, width) a stage, of the precision of the weights.

        ``stages`` are others than the chosen ones; what lies deeper than the last of them is not computed.
        """
        wanted = self.stages if stages is None else stages
        x = x.to(self.conv_stem.weight.dtype)
        x = self.act1(self.bn1(self.conv_stem(x)))
        maps = []
        for i, block in enumerate(itertools.islice(self.blocks, max(wanted) + 1)):
            x = block(x)
            if i in wanted:
                maps.append(x)
        return maps


def fuse(network: Network) -> Network:
    """Have the convolutions of a network do what their normalisation did, for inference: a third faster.

    It is changed itself, and returned: a copy would take longer than all else.
    """
    for module in network.eval().modules():
        children = list(module.named_children())
        for (_, convolution), (after, norm) in itertools.pairwise(children):
            if isinstance(convolution, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d):
                mean, variance = norm.running_mean, norm.running_var
                assert mean is not None and variance is not None
                convolution.weight, convolution.bias = fuse_conv_bn_weights(
                    convolution.weight, convolution.bias, mean, variance, norm.eps, norm.weight, norm.bias
                )
                setattr(module, after, nn.Identity())
    return network


def statistics(maps: Sequence[Tensor], masks: Sequence[Tensor] | None = None) -> Tensor:
    """Return means and standard deviations over space of every map, joined: (batch, 2 * channels of all maps).

    ``masks`` has for each map, (batch or 1, 1, h, w), over which of its places they are taken; without it, over all.
    """
    rows = []
    for i, stage in enumerate(maps):
        x = stage.flatten(2).float()
        if masks is None:
            mean, variance = x.mean(2), x.var(2, unbiased=False)
        else:
            weight = masks[i].flatten(2).float()
            weight = weight / weight.sum(2, keepdim=True).clamp(min=1)
            mean = (x * weight).sum(2)
            variance = ((x - mean[:, :, None]).square() * weight).sum(2)
        rows += [mean, (variance + _LEAST_VARIANCE).sqrt()]
    return torch.cat(rows, 1)


def darker(x: Tensor, maps: Sequence[Tensor]) -> list[Tensor]:
    """Return for each map which of its places lie in the darker half of inputs (batch, 3, height, width).

    Masks are (batch, 1, h, w). Of places that are equally bright the first ones are taken, so that no half is empty.
    """
    grey = x.float().mean(1, keepdim=True)
    masks = []
    for stage in maps:
        cells = functional.adaptive_avg_pool2d(grey, (stage.shape[2], stage.shape[3]))
        rank = cells.flatten(1).argsort(dim=1, stable=True).argsort(dim=1)
        masks.append((rank < (rank.shape[1] + 1) // 2).view_as(cells))
    return masks


def others(masks: Sequence[Tensor]) -> list[Tensor]:
    """Return masks of the places that are not in those given."""
    return [~mask for mask in masks]
