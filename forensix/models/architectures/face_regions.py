"""Which part of a face differs from the rest: EfficientNet-Lite0 down to its last stage, and a grid of logits over it.

Four stages, the finest of a quarter of the crop's side and the last of a thirty-second, are brought onto one grid and
joined with the mean of the last over the whole crop, so that each cell is seen beside all that surrounds it. Two
convolutions give every cell a logit; the face's own logit is read where these are highest.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from forensix.models.architectures.efficientnet import CHANNELS, Backbone, fuse

VARIANT = "lite0"
STAGES = (1, 2, 4, 6)
CELL_PX = 8
"""Side of a cell, in pixels of the crop."""
_CHANNELS = 64


class FaceRegions(nn.Module):
    """A pretrained network, fine-tuned, and what reads it cell by cell."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone(VARIANT, STAGES)
        channels = [CHANNELS[VARIANT][i] for i in STAGES]
        self.lateral = nn.ModuleList(nn.Conv2d(n, _CHANNELS, 1) for n in channels)
        self.whole = nn.Linear(channels[-1], _CHANNELS)
        self.mix = nn.ModuleList(nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1) for _ in range(2))
        self.cell = nn.Conv2d(_CHANNELS, 1, 1)
        self.face = nn.Linear(2 * _CHANNELS, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logit of each face, (batch, 1), of normalised crops (batch, 3, height, width)."""
        return self.both(x)[1]

    def cells(self, x: Tensor) -> Tensor:
        """Return the logits of cells, (batch, height / `CELL_PX`, width / `CELL_PX`)."""
        return self.both(x)[0]

    def both(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of cells and of faces."""
        maps = self.backbone(x)
        size = (x.shape[2] // CELL_PX, x.shape[3] // CELL_PX)
        joined = self.whole(maps[-1].mean((2, 3)))[:, :, None, None]
        for lateral, stage in zip(self.lateral, maps, strict=True):
            joined = joined + functional.interpolate(lateral(stage), size=size, mode="bilinear", antialias=False)
        for mix in self.mix:
            joined = functional.relu(mix(functional.relu(joined)))
        cells = self.cell(joined)
        weights = torch.softmax(cells.float().flatten(1), 1)[:, None]
        features = joined.float().flatten(2)
        read = torch.cat([(features * weights).sum(2), features.mean(2)], 1)
        return cells[:, 0].float(), self.face(read).float()


def build() -> FaceRegions:
    """Return the network as it ships, with random weights: its convolutions do what its normalisation did."""
    return fuse(FaceRegions())
