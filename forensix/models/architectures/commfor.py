"""Community Forensics: a small vision transformer of timm's with one output, higher for generated.

References
----------
J. Park and A. Owens, "Community Forensics: using thousands of generators to train fake image detectors", CVPR 2025.
"""

from typing import Any

import timm
from torch import Tensor, nn


class CommunityForensics(nn.Module):
    """Normalised pictures (batch, 3, side, side) to logits (batch, 1)."""

    def __init__(self, backbone: str, **smaller: Any) -> None:
        super().__init__()
        self.vit = timm.create_model(backbone, pretrained=False, num_classes=1, **smaller)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, 1)."""
        logits: Tensor = self.vit(x)
        return logits


def build(backbone: str = "vit_small_patch16_384", **smaller: Any) -> CommunityForensics:
    """Return the network with fresh weights; ``smaller`` goes to timm, for tests."""
    return CommunityForensics(backbone, **smaller)


def adapt(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a published file; not all name the network that timm made."""
    return {key if key.startswith("vit.") else f"vit.{key}": value for key, value in state.items()}
