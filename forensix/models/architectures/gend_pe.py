"""GenD on the Perception Encoder: timm's vision transformer, its pooled token at unit length, and a linear layer.

References
----------
A. Yermakov et al., "Deepfake detection that generalizes across benchmarks", 2025; D. Bolya et al., "Perception
Encoder", 2025.
"""

from typing import Any

import timm
from torch import Tensor, nn


class PerceptionProbe(nn.Module):
    """Normalised pictures (batch, 3, side, side) to outputs (batch, 2): real, fake; nested as the file names it."""

    def __init__(self, backbone: str, **smaller: Any) -> None:
        super().__init__()
        self.feature_extractor: Any = nn.Module()
        self.model: Any = nn.Module()
        tower: Any = timm.create_model(backbone, pretrained=False, dynamic_img_size=True, **smaller)
        tower.head = nn.Identity()
        self.feature_extractor.backbone = tower
        self.model.linear = nn.Linear(tower.num_features, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (batch, 2)."""
        token = nn.functional.normalize(self.feature_extractor.backbone(x), dim=1)
        outputs: Tensor = self.model.linear(token)
        return outputs


def build(backbone: str = "vit_pe_core_large_patch14_336", **smaller: Any) -> PerceptionProbe:
    """Return the network with fresh weights; ``smaller`` goes to timm, for tests."""
    return PerceptionProbe(backbone, **smaller)
