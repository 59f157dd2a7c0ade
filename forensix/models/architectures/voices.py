"""Synthetic or recorded speech: networks over bands (`lcnn`) and one that learnt how speech sounds (`quality`).

The logit is a weighted mean of both. They differ in what they see (energies or phase, steady colour removed or not) and
in what they grew from, and so in what they miss.
"""

from typing import Any

from torch import Tensor, nn

from forensix.models.architectures import lcnn
from forensix.models.architectures.quality import QualitySpoof


class Voices(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to logits (batch,), higher for synthetic speech."""

    def __init__(self, light: lcnn.Ensemble, quality: QualitySpoof, share: float) -> None:
        super().__init__()
        self.light, self.quality, self.share = light, quality, share

    def forward(self, waves: Tensor) -> Tensor:
        """Return the weighted mean of the logits (batch,)."""
        logits: Tensor = (1 - self.share) * self.light(waves) + self.share * self.quality(waves)
        return logits


def build(share: float, n_layers: int, **light: Any) -> Voices:
    """Return fresh networks; ``share`` is the weight of `QualitySpoof`, the others are those of `lcnn.build`."""
    return Voices(lcnn.build(**light), QualitySpoof(n_layers), share)
