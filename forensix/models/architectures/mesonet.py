"""MesoNet: small convolutional networks on faces, in the two shapes that its authors published.

One output before the sigmoid, higher for REAL, as they trained it; the card turns it. Pixels are RGB in [0, 1]. The
published files are Keras's, read with h5py: layers in the order of their numbers, kernels with the channels last.

References
----------
D. Afchar et al., "MesoNet: a compact facial video forgery detection network", WIFS 2018.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_EPS = 1e-3


class Inception(nn.Module):
    """Four convolutions side by side, three of them after one that mixes channels."""

    def __init__(self, n_in: int, a: int, b: int, c: int, d: int) -> None:
        super().__init__()
        self.plain = nn.Conv2d(n_in, a, 1)
        self.mix = nn.ModuleList(nn.Conv2d(n_in, n, 1) for n in (b, c, d))
        self.wide = nn.ModuleList(
            nn.Conv2d(n, n, 3, padding=dilation, dilation=dilation) for n, dilation in ((b, 1), (c, 2), (d, 3))
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, a + b + c + d, H, W)."""
        wide = [wide(torch.relu(mix(x))) for mix, wide in zip(self.mix, self.wide, strict=True)]
        return torch.relu(torch.cat([self.plain(x), *wide], dim=1))


class MesoNet(nn.Module):
    """RGB in [0, 1] (batch, 3, 256, 256) to outputs (batch, 1), higher for real."""

    def __init__(self, first: nn.Module, second: nn.Module, widths: tuple[int, int]) -> None:
        super().__init__()
        self.steps = nn.ModuleList(
            [first, second, nn.Conv2d(widths[1], 16, 5, padding=2), nn.Conv2d(16, 16, 5, padding=2)]
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(n, eps=_EPS) for n in (*widths, 16, 16))
        self.hidden = nn.Linear(1024, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (batch, 1), higher for real."""
        for i, (step, norm) in enumerate(zip(self.steps, self.norms, strict=True)):
            x = functional.max_pool2d(norm(torch.relu(step(x))), 4 if i == 3 else 2)
        flat = x.permute(0, 2, 3, 1).flatten(1)  # channels last, as the layer after it was trained
        outputs: Tensor = self.out(functional.leaky_relu(self.hidden(flat), 0.1))
        return outputs


def build(*, inception: bool = False) -> MesoNet:
    """Return Meso-4, or MesoInception-4, with fresh weights."""
    if inception:
        return MesoNet(Inception(3, 1, 4, 4, 2), Inception(11, 2, 4, 4, 2), (11, 12))
    return MesoNet(nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 5, padding=2), (8, 8))


def adapt(state: dict[str, Any], base: None = None) -> dict[str, Tensor]:
    """Return the weights of a Keras file: ``{"conv2d_5/kernel": ...}`` under the names here."""
    kinds: dict[str, dict[int, dict[str, Tensor]]] = {}
    for key, value in state.items():
        spelled, name = key.split("/")
        kind, _, number = spelled.rpartition("_")
        kinds.setdefault(kind, {}).setdefault(int(number), {})[name] = value
    weights: dict[str, Tensor] = {}
    norms = ("gamma", "weight"), ("beta", "bias"), ("moving_mean", "running_mean"), ("moving_variance", "running_var")
    for i, layer in enumerate(_in_order(kinds["batch_normalization"])):
        weights |= {f"norms.{i}.{ours}": layer[theirs] for theirs, ours in norms}
        weights[f"norms.{i}.num_batches_tracked"] = torch.tensor(0)
    convolutions = _in_order(kinds["conv2d"])
    for place, layer in zip(_CONVOLUTIONS[len(convolutions)], convolutions, strict=True):
        weights |= {f"{place}.weight": layer["kernel"].permute(3, 2, 0, 1), f"{place}.bias": layer["bias"]}
    for place, layer in zip(("hidden", "out"), _in_order(kinds["dense"]), strict=True):
        weights |= {f"{place}.weight": layer["kernel"].T, f"{place}.bias": layer["bias"]}
    return weights


def _in_order(layers: dict[int, dict[str, Tensor]]) -> list[dict[str, Tensor]]:
    return [layers[number] for number in sorted(layers)]


_BRANCHES = ("plain", "mix.0", "wide.0", "mix.1", "wide.1", "mix.2", "wide.2")
_CONVOLUTIONS = {
    4: [f"steps.{i}" for i in range(4)],
    16: [*(f"steps.{i}.{name}" for i in range(2) for name in _BRANCHES), "steps.2", "steps.3"],
}
"""Names here in the order of the files' layers, by how many there are."""
