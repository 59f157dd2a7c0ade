"""Synthetic or recorded speech: networks over bands (`lcnn`) and one that looks at spectrograms (`spectrograms`).

The logit is a weighted mean of both. They differ in what they see (steady colour removed or not, long windows or short)
and in what they grew from, and so in what they miss.
"""

from typing import Any

from torch import Tensor, nn

from forensix.models.architectures import lcnn
from forensix.models.architectures.spectrograms import Spectrograms


class Voices(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to logits (batch,), higher for synthetic speech."""

    def __init__(self, light: lcnn.Ensemble, spectrograms: Spectrograms, share: float) -> None:
        super().__init__()
        self.light, self.spectrograms, self.share = light, spectrograms, share

    def forward(self, waves: Tensor) -> Tensor:
        """Return the weighted mean of the logits (batch,)."""
        logits: Tensor = (1 - self.share) * self.light(waves) + self.share * self.spectrograms(waves)
        return logits


def build(share: float, **light: Any) -> Voices:
    """Return fresh networks; ``share`` is the weight of `Spectrograms`, the others are those of `lcnn.build`."""
    return Voices(lcnn.build(**light), Spectrograms(), share)
