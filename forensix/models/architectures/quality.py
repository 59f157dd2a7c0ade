"""A network that learnt how good speech sounds, made to tell whether it is synthetic.

Convolutions read the complex spectrum (20 ms windows, 10 ms hop), so that they see phase, which energies in bands do
not hold; a transformer (of seven layers as published) then relates frames of 20 ms over the recording. What the
convolutions and each layer say is reduced to mean and deviation over time, and one linear layer turns them into a
logit, higher for synthetic speech. Like `lcnn` it is shown nothing above 7.2 kHz, where a 16 kHz file tells how it was
resampled.

Input is as `forensix.voice.spoof.normalise` leaves it, at most `LONGEST` samples: there are no positions beyond.

References
----------
B. Stahl and H. Gamper, "Distillation and pruning for scalable self-supervised representation-based speech quality
assessment", ICASSP 2025 (the wheel ``distillmos``).
"""

import math

import torch
from torch import Tensor, nn

from forensix.models.architectures.lcnn import masked

WINDOW, HOP = 320, 160
CHANNELS = (64, 64, 128, 256, 256, 256)
WIDTH, HEADS, POSITIONS = 200, 8, 384
LONGEST = POSITIONS * 2 * HOP
LOWEST_BIN, HIGHEST_BIN = 2, 144
"""Bins of 50 Hz that are shown: 100 to 7,200 Hz."""
GAIN = 4.0
"""What speech of the usual loudness is multiplied by to have the peaks near 1 that the network grew up with."""
_LEAST_VARIANCE = 1e-4


def compressed_spectrum(waves: Tensor) -> Tensor:
    """Return the spectrum of waves (batch, samples), magnitudes to the power of 0.3: (batch, 2, bins, frames)."""
    edge = (WINDOW - HOP) // 2
    padded = nn.functional.pad(waves, (edge, edge), mode="reflect")
    hann = torch.hann_window(WINDOW, device=waves.device)
    x = torch.stft(padded, WINDOW, HOP, window=hann, center=False, return_complex=True)
    return torch.view_as_real(x * x.abs().clamp_min(1e-12) ** -0.7).permute(0, 3, 1, 2)


class Layer(nn.Module):
    """A layer of a transformer, normalised after each half, without dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.norm_out, self.norm_narrow = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, frames, values)."""
        n, frames, _ = x.shape
        q, k, v = self.qkv(x).view(n, frames, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        # Written out: heads of 25 values are slow in torch's own attention.
        weights = (q @ k.transpose(-2, -1) * (WIDTH // HEADS) ** -0.5).softmax(-1)
        x = self.norm_out(x + self.out((weights @ v).transpose(1, 2).reshape(n, frames, -1)))
        out: Tensor = self.norm_narrow(x + self.narrow(self.wide(x).relu()))
        return out


class QualityTrunk(nn.Module):
    """Compressed spectra (batch, 2, bins, frames) to what convolutions and every layer make of them."""

    positions: Tensor

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        n_in, height = 2, WINDOW // 2 + 1
        for i, n_out in enumerate(CHANNELS):
            stride = (2 if i else 1, 2 if i == len(CHANNELS) - 1 else 1)
            layers += [nn.Conv2d(n_in, n_out, 3, stride, padding=(0, 1)), nn.LeakyReLU(0.1, inplace=True)]
            n_in, height = n_out, (height - 3) // stride[0] + 1
        self.n_entry = n_in * height
        self.convolutions = nn.Sequential(*layers)
        self.entry = nn.Sequential(nn.BatchNorm1d(self.n_entry), nn.BatchNorm1d(self.n_entry))
        self.into = nn.Linear(self.n_entry, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(n_layers))
        at = torch.arange(POSITIONS)[:, None] * torch.exp(
            torch.arange(0, WIDTH, 2) * (-math.log(2 * POSITIONS) / WIDTH)
        )
        self.register_buffer("positions", torch.stack([at.sin(), at.cos()], 2).flatten(1), persistent=False)

    def forward(self, spectra: Tensor) -> list[Tensor]:
        """Return for the convolutions and each layer a tensor (batch, frames, values), frames of 20 ms."""
        x = self.convolutions(spectra.contiguous(memory_format=torch.channels_last)).flatten(1, 2)
        with torch.autocast("cpu", enabled=False):
            x = self.entry(x.float()).transpose(1, 2)
        outputs = [x]
        x = self.into(x) + self.positions[: x.shape[1]]
        for layer in self.layers:
            x = layer(x)
            outputs.append(x)
        return outputs


class QualitySpoof(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to logits (batch,), higher for synthetic speech."""

    in_band: Tensor

    def __init__(self, n_layers: int = 1, dropout: float = 0.3) -> None:
        super().__init__()
        self.trunk = QualityTrunk(n_layers)
        n = 2 * (self.trunk.n_entry + n_layers * WIDTH)
        self.norm = nn.BatchNorm1d(n, affine=False)
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(n, 1)
        bins = torch.arange(WINDOW // 2 + 1)
        self.register_buffer("in_band", (bins >= LOWEST_BIN) & (bins < HIGHEST_BIN), persistent=False)

    def forward(self, waves: Tensor) -> Tensor:
        """Return logits (batch,); spectra and statistics over time are in single precision whatever autocast says."""
        with torch.autocast("cpu", enabled=False):
            spectra = compressed_spectrum(GAIN * waves) * self.in_band[:, None]
        if self.training:
            spectra = masked(spectra)
        layers = self.trunk(spectra)
        with torch.autocast("cpu", enabled=False):
            rows = []
            for x in map(Tensor.float, layers):
                rows += [x.mean(1), (x.var(1, correction=0) + _LEAST_VARIANCE).sqrt()]
            logits: Tensor = self.out(self.drop(self.norm(torch.cat(rows, 1))))
        return logits.squeeze(1)
