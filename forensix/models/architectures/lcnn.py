"""Light convolutional networks over linear-frequency bands, for telling synthetic from human speech.

Synthesis leaves its marks above the formants as much as below, so bands are spaced linearly, not as the ear hears. They
stop below 8 kHz: there a 16 kHz file tells how it was resampled rather than how it was made. The mean of each band over
time is removed, and with it a microphone's steady colour.

Max-feature-map: a convolution makes twice the channels, and of each pair the larger value goes on, which selects
features instead of thresholding them. Time is pooled by mean and standard deviation, so any length will do from a third
of a second. Several networks can be held in one, whose logit is the mean of theirs. Higher is synthetic.

References
----------
G. Lavrentyeva et al., "STC antispoofing systems for the ASVspoof 2019 challenge", 2019.
X. Wu et al., "A light CNN for deep face representation with noisy labels", 2018 (max-feature-map).
M. Sahidullah, T. Kinnunen and C. Hanilci, "A comparison of features for synthetic speech detection", 2015.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

SAMPLE_RATE_HZ = 16_000


class LinearBands(nn.Module):
    """Waveforms (batch, samples) to pictures (batch, 1, bands, frames), each band of zero mean over the frames.

    Parameters
    ----------
    n_bands
        Triangular bands, evenly spaced from ``low_hz`` to ``high_hz``.
    n_cepstra
        Cosine coefficients kept of the log bands (LFCC); 0 keeps the log bands themselves.
    window, hop
        In samples at 16 kHz.
    """

    bank: Tensor
    cosine: Tensor
    hann: Tensor

    def __init__(
        self, n_bands: int, n_cepstra: int, low_hz: float, high_hz: float, window: int, hop: int, steady: bool
    ) -> None:
        super().__init__()
        self.window, self.hop, self.n_cepstra, self.steady = window, hop, n_cepstra, steady
        self.n_fft = 1 << (window - 1).bit_length()
        bin_hz = SAMPLE_RATE_HZ / self.n_fft
        centres = torch.linspace(low_hz, high_hz, n_bands + 2)[1:-1]
        width = max(float(centres[1] - centres[0]), bin_hz)
        at = torch.arange(self.n_fft // 2 + 1) * bin_hz
        bank = (1 - (at[:, None] - centres[None]).abs() / width).clamp_min(0)
        k, n = torch.arange(max(n_cepstra, 1))[:, None], torch.arange(n_bands)[None]
        cosine = torch.cos(torch.pi * k * (n + 0.5) / n_bands) * (2 / n_bands) ** 0.5
        # Derived from the configuration, so they are not part of the weights.
        self.register_buffer("bank", bank / bank.sum(0), persistent=False)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("hann", torch.hann_window(window), persistent=False)

    def forward(self, waves: Tensor) -> Tensor:
        """Return log energies or cepstra (batch, 1, bands, frames)."""
        spectrum = torch.stft(
            waves, self.n_fft, self.hop, self.window, window=self.hann, center=False, return_complex=True
        )
        power = spectrum.real.square() + spectrum.imag.square()
        features = torch.log(power.transpose(1, 2) @ self.bank + 1e-5)
        if self.n_cepstra:
            features = features @ self.cosine.T
        if not self.steady:
            features = features - features.mean(1, keepdim=True)
        return features.transpose(1, 2).unsqueeze(1)


class _Larger(torch.autograd.Function):
    """The larger of the two halves of the channels; only which it was is kept, which is far cheaper than `maximum`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        a, b = x.chunk(2, dim=1)
        first = a >= b
        ctx.save_for_backward(first)
        larger: Tensor = torch.maximum(a, b)
        return larger

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (first,), (gradient,) = ctx.saved_tensors, gradients
        of_first = gradient * first
        return torch.cat([of_first, gradient - of_first], dim=1)


class MaxFeatureMap(nn.Module):
    """A convolution to twice the channels and the larger of each pair, batch-normalised."""

    def __init__(self, n_in: int, n_out: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(n_in, 2 * n_out, kernel, stride, padding=kernel // 2)
        self.norm = nn.BatchNorm2d(n_out)

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, out, height, width)."""
        out: Tensor = self.norm(_Larger.apply(self.conv(x)))  # type: ignore[no-untyped-call]
        return out


class LightCnn(nn.Module):
    """Waveforms (batch, samples) at 16 kHz to logits (batch,), higher for synthetic speech."""

    def __init__(self, bands: dict[str, Any], channels: tuple[int, ...], n_hidden: int, dropout: float) -> None:
        super().__init__()
        self.bands = LinearBands(**bands)
        self.entry = nn.BatchNorm2d(1)
        layers: list[nn.Module] = [MaxFeatureMap(1, channels[0], 5, stride=2)]
        for n_in, n_out in pairwise(channels):
            layers += [MaxFeatureMap(n_in, n_in, 1), MaxFeatureMap(n_in, n_out, 3), nn.MaxPool2d(2, ceil_mode=True)]
        self.trunk = nn.Sequential(*layers).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        height = bands["n_cepstra"] or bands["n_bands"]
        for _ in channels:
            height = -(-height // 2)
        self.drop = nn.Dropout(dropout)
        self.hidden = nn.Linear(2 * channels[-1] * height, n_hidden)
        self.out = nn.Linear(n_hidden, 1)

    def forward(self, waves: Tensor) -> Tensor:
        """Return logits (batch,); bands and statistics over time are in single precision whatever autocast says."""
        with torch.autocast("cpu", enabled=False):
            picture = self.entry(self.bands(waves))
        if self.training:
            picture = masked(picture)
        x = self.trunk(picture.contiguous(memory_format=torch.channels_last))
        with torch.autocast("cpu", enabled=False):
            x = x.float().flatten(1, 2)
            spread = (x.var(2, correction=0) + 1e-4).sqrt()
            pooled = self.drop(torch.cat([x.mean(2), spread], dim=1))
            logits: Tensor = self.out(self.drop(torch.relu(self.hidden(pooled))))
        return logits.squeeze(1)


def masked(picture: Tensor) -> Tensor:
    """Blank one run of bands and one of frames of each example, up to a fifth of either."""
    n, _, height, width = picture.shape
    keep = torch.ones(n, 1, height, width)
    for size, shape in ((height, (n, 1, -1, 1)), (width, (n, 1, 1, -1))):
        length = torch.rand(n, 1) * size / 5
        start = torch.rand(n, 1) * (size - length)
        at = torch.arange(size)[None]
        keep = keep * ((at < start) | (at >= start + length)).float().view(shape)
    return picture * keep.to(picture.device)


class Ensemble(nn.Module):
    """Several networks whose logits are averaged."""

    def __init__(self, members: Sequence[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(self, waves: Tensor) -> Tensor:
        """Return the mean logits (batch,)."""
        return torch.stack([member(waves) for member in self.members]).mean(0)


def build(
    channels: tuple[tuple[int, ...], ...] = ((16, 24, 32, 32),),
    n_hidden: int = 64,
    dropout: float = 0.3,
    n_bands: int = 80,
    n_cepstra: int = 0,
    low_hz: float = 100.0,
    high_hz: float = 7_200.0,
    window: int = 400,
    hop: int = 160,
    steady: bool = False,
) -> Ensemble:
    """Return an ensemble with fresh weights; ``channels`` has for each network one entry per halving of bands and time.

    The other parameters are those of `LinearBands` and `LightCnn`, the same for all networks.
    """
    bands = {
        "n_bands": n_bands,
        "n_cepstra": n_cepstra,
        "low_hz": low_hz,
        "high_hz": high_hz,
        "window": window,
        "hop": hop,
        "steady": steady,
    }
    return Ensemble([LightCnn(bands, tuple(each), n_hidden, dropout) for each in channels])
