"""Recorded or made faces: EfficientNet-Lite0 read at several depths, and linear layers on its stages' statistics.

The network of `pictures` with one backbone, which looks at its input, at the input's fine detail and at its faint
detail. There are two outputs: the first is for upright crops of faces (`forensix.faces.align`), the second for windows
around them as they lie in the picture (`forensix.faces.crop.window`). Statistics are taken of the darker and of the
brighter half of the places apart, since cameras and generators differ in either in another way, and in a crop also of
the face and of its surroundings. Each family of generators has a linear layer of its own for either output (see
`families`).
"""

import torch
from torch import Tensor, nn

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, darker, others, statistics
from forensix.models.architectures.families import N_FAMILIES, added, by_family
from forensix.models.architectures.logistic import Logistic
from forensix.models.architectures.pictures import FAINT_GAIN, FAINT_STAGES, N_FAINT, fine_detail

VARIANT = "lite0"
N_PART = 2 * sum(CHANNELS[VARIANT][i] for i in STAGES)
"""Statistics of one part of the input or of its fine detail."""
HALVES, FACE, DETAIL, FACE_DETAIL = (
    slice(N_PART * start, N_PART * stop) for start, stop in ((0, 2), (2, 4), (4, 5), (5, 7))
)
"""Which statistics are of the input's darker and brighter half, of the face and its surroundings, of the fine detail of
the whole, and of that of the face and its surroundings."""
FAINT, FACE_FAINT = (
    slice(7 * N_PART + N_FAINT * start, 7 * N_PART + N_FAINT * stop) for start, stop in ((0, 1), (1, 3))
)
"""Which are of the faint detail of the whole, and of that of the face and its surroundings."""
N_STATISTICS = 7 * N_PART + 3 * N_FAINT
CROP, WINDOW = 0, 1
"""Which output is for what."""
MIDDLE, RADII = (0.50, 0.53), (0.23, 0.31)
"""Where the face lies in an upright crop: an ellipse, across and down, as shares of the side."""


class FaceStages(nn.Module):
    """A pretrained network and a rule for each family on what it says."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone(VARIANT)
        self.rule = Logistic(N_STATISTICS, 2 * N_FAMILIES)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, 2) of normalised crops or windows (batch, 3, height, width)."""
        return added(by_family(self.rule(self.statistics(x))))

    def statistics(self, x: Tensor) -> Tensor:
        """Return what the rule reads of crops or windows, (batch, `N_STATISTICS`)."""
        whole, detail = self.backbone(x), self.backbone(fine_detail(x))
        faint = self.backbone(fine_detail(x, FAINT_GAIN), FAINT_STAGES)
        dark, face = darker(x, whole), [ellipse(stage) for stage in whole]
        parts = [statistics(whole, masks) for masks in (dark, others(dark), face, others(face))]
        for maps in (detail, faint):
            face = [ellipse(stage) for stage in maps]
            parts += [statistics(maps, masks) for masks in (None, face, others(face))]
        return torch.cat(parts, 1)


def ellipse(stage: Tensor) -> Tensor:
    """Return which places of a stage (batch, channels, h, w) of an upright crop show the face, (1, 1, h, w)."""
    across, down = (
        ((torch.arange(n, device=stage.device) + 0.5) / n - middle) / radius
        for n, middle, radius in zip(stage.shape[:1:-1], MIDDLE, RADII, strict=True)
    )
    return (down[:, None].square() + across.square() <= 1)[None, None]


def build() -> FaceStages:
    """Return the network with random weights."""
    return FaceStages()
