"""A small network for face crops on maps of local high-pass energy.

A blended face differs from its surroundings in noise, sharpness, resampling or compression; a generated one in
texture. So the crop is first turned, with fixed filters, into maps of the log energy of pixel differences: three colour
channels, five difference filters, three scales, in cells of 8 x 8 pixels, beside the mean colours. The network sees
them as they are and relative to their mean over the crop, and learns which differences from place to place are no
face's own. A coarse map of where the face was changed is learned beside the verdict; it keeps the features local, and
is the heat map.
Input is RGB in [0, 1], (N, 3, 160, 160).

References
----------
Fridrich and Kodovsky, Rich models for steganalysis of digital images, 2012 (the filters' idea).
Howard et al., MobileNets, 2017 (depthwise separable convolutions).
"""

import torch
from torch import Tensor, nn

CELL_PX = 8
SCALES = (1, 2, 4)
N_CELLS = 10
"""The maps are judged at half their size: cells of 16 pixels."""

_FLOOR = 0.3
_NARROW = 12


def _bank() -> Tensor:
    step = torch.tensor([[0.0, 0, 0], [0, -1, 1], [0, 0, 0]])
    bend = torch.tensor([[0.0, 0, 0], [1, -2, 1], [0, 0, 0]]) / 2
    square = torch.tensor([[-1.0, 2, -1], [2, -4, 2], [-1, 2, -1]]) / 4
    return torch.stack([step, step.T, bend, bend.T, square])[:, None]


def _opponent() -> Tensor:
    return torch.tensor([[0.299, 0.587, 0.114], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]])[:, :, None, None]


N_MAPS = 3 * 5 * len(SCALES) + 3


class _Separable(nn.Module):
    """Two depthwise separable convolutions with a way around them."""

    def __init__(self, n: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for last in (False, True):
            layers += [nn.Conv2d(n, n, 3, 1, 1, groups=n, bias=False), nn.BatchNorm2d(n), nn.ReLU(inplace=True)]
            layers += [nn.Conv2d(n, n, 1, bias=False), nn.BatchNorm2d(n)]
            if not last:
                layers.append(nn.ReLU(inplace=True))
        self.body = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.relu(x + self.body(x))


class FaceCNN(nn.Module):
    """Maps crops to a logit (higher is fake), logits of manipulation types, and a map of changed places."""

    bank: Tensor
    opponent: Tensor

    def __init__(self, width: int, n_types: int, depth: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("bank", _bank(), persistent=False)
        self.register_buffer("opponent", _opponent(), persistent=False)
        self.scale = nn.BatchNorm2d(2 * N_MAPS)
        self.first = nn.Conv2d(2 * N_MAPS, width, 1)
        self.position = nn.Parameter(torch.zeros(1, width, N_CELLS, N_CELLS))
        self.body = nn.Sequential(*(_Separable(width) for _ in range(depth)))
        self.place = nn.Conv2d(width, 1, 1)
        self.narrow = nn.Conv2d(width, _NARROW, 1)
        self.drop = nn.Dropout(dropout)
        n_features = 2 * width + _NARROW * N_CELLS**2
        self.verdict = nn.Linear(n_features, 1)
        self.kind = nn.Linear(n_features, n_types)

    def maps(self, x: Tensor) -> Tensor:
        """Return the fixed maps of crops in [0, 1]: (N, N_MAPS, S / 8, S / 8)."""
        x = nn.functional.conv2d(x.float() * 255, self.opponent)
        channels = [nn.functional.avg_pool2d(x, CELL_PX) / 64]
        n = len(x)
        for scale in SCALES:
            small = nn.functional.avg_pool2d(x, scale) if scale > 1 else x
            height, width = small.shape[2:]
            flat = nn.functional.pad(small.reshape(n * 3, 1, height, width), (1, 1, 1, 1), mode="replicate")
            energy = nn.functional.avg_pool2d(nn.functional.conv2d(flat, self.bank).abs(), CELL_PX // scale)
            channels.append(torch.log(energy + _FLOOR).reshape(n, -1, *energy.shape[2:]))
        return torch.cat(channels, dim=1)

    def judge(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        """Return outputs (N, 1 + n_types), the logit first, and place logits (N, 10, 10), from `maps`."""
        coarse = nn.functional.avg_pool2d(maps, 2)
        both = torch.cat([coarse, coarse - coarse.mean(dim=(2, 3), keepdim=True)], dim=1)
        x = self.body(nn.functional.relu(self.first(self.scale(both)) + self.position))
        pooled = torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3)), self.narrow(x).flatten(1)], dim=1)
        pooled = self.drop(pooled)
        return torch.cat([self.verdict(pooled), self.kind(pooled)], dim=1), self.place(x)[:, 0]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return outputs (N, 1 + n_types), the logit first, and place logits (N, 10, 10)."""
        return self.judge(self.maps(x))


def build(width: int = 48, n_types: int = 3, depth: int = 2, dropout: float = 0.3) -> FaceCNN:
    """Make the network; ``depth`` counts the separable steps."""
    return FaceCNN(width, n_types, depth, dropout)
