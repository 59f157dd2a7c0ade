"""Synthetic or recorded speech by what a network of pictures sees in its spectrograms.

The network is EfficientNet-Lite0 as ImageNet taught it, read at several depths (see `efficientnet`). It looks at two
spectrograms, of short and of longer windows: in one a vocoder's pulses stand apart, in the other harmonics. Means and
deviations are taken of low and of high frequencies apart, since synthesis fails differently in each; small networks
turn those of both spectrograms into a logit, higher for synthetic speech. Nothing above 7.2 kHz is shown, where a
16 kHz file tells how it was resampled.
"""

import torch
from torch import Tensor, nn

from forensix.models.architectures.efficientnet import CHANNELS, STAGES, Backbone, statistics
from forensix.models.architectures.perceptrons import Perceptrons

VARIANT = "lite0"
RESOLUTIONS = ((256, 64), (512, 128))
"""Window and hop of each spectrogram, in samples at 16 kHz."""
N_STATISTICS = 4 * sum(CHANNELS[VARIANT][i] for i in STAGES)
"""Statistics of a spectrogram: those of low frequencies come first."""
SAMPLE_RATE_HZ, HIGHEST_HZ = 16_000, 7_200
RANGE_DB, HEADROOM = 70.0, 0.15
"""Black is so far below what `LOUD` of all places stay under, and white so much of the range above it."""
LOUD = 0.98
_LEAST_POWER = 1e-8


def spectrogram(waves: Tensor, window: int, hop: int) -> Tensor:
    """Return log power of waves (batch, samples), from -1 to about 1: (batch, bins, frames), high bins first."""
    hann = torch.hann_window(window, device=waves.device)
    spectrum = torch.stft(waves, window, hop, window=hann, return_complex=True)[:, 1 : _bins(window) + 1]
    levels_db = 10 * torch.log10(spectrum.abs().square() + _LEAST_POWER)
    flat = levels_db.flatten(1)
    loud_db = flat.kthvalue(1 + int(LOUD * (flat.shape[1] - 1)), dim=1).values[:, None, None]
    return (((levels_db - loud_db + RANGE_DB) / RANGE_DB).clamp(0, 1 + HEADROOM) * 2 - 1).flip(1)


class Spectrograms(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to logits (batch,), higher for synthetic speech.

    The small networks learn; the network below them stays as it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone(VARIANT).requires_grad_(False)
        self.perceptrons = Perceptrons(len(RESOLUTIONS) * N_STATISTICS)

    def forward(self, waves: Tensor) -> Tensor:
        """Return the mean logit of the small networks (batch,)."""
        votes: Tensor = self.perceptrons(self.statistics(waves).flatten(1))
        return votes.mean(1)

    def statistics(self, waves: Tensor) -> Tensor:
        """Return what the small networks read of waves (batch, samples): (batch, spectrograms, `N_STATISTICS`)."""
        rows = []
        for window, hop in RESOLUTIONS:
            grey = spectrogram(waves, window, hop)[:, None]
            maps = self.backbone(grey.expand(-1, 3, -1, -1))
            high, low = zip(*((x[:, :, : x.shape[2] // 2], x[:, :, x.shape[2] // 2 :]) for x in maps), strict=True)
            rows.append(torch.cat([statistics(low), statistics(high)], 1))
        return torch.stack(rows, 1)


def _bins(window: int) -> int:
    return HIGHEST_HZ * window // SAMPLE_RATE_HZ
