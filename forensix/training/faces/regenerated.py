"""Faces passed through an autoencoder: the texture that a program's decoder leaves, for the fakes that training makes.

The autoencoder is TAEF2 of the repository madebyollin/taesd (MIT), which must lie among the repositories; it codes
8 x 8 pixels as one vector.
"""

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.training.sources import Repositories

REPOSITORY = "madebyollin/taesd"
ENCODER, DECODER = "taef2_encoder.pth", "taef2_decoder.pth"
_WIDTH, _CODE, _LIMIT = 64, 32, 3
RGB = NDArray[np.uint8]


class Autoencoder:
    """Codes and decodes pictures; see `regenerate`."""

    def __init__(self, repositories: Path) -> None:
        """Read the weights.

        Raises
        ------
        OSError
            The repository is not at hand, or lacks the files.
        """
        self.network = nn.Sequential(_encoder(), _decoder()).eval()
        with Repositories(repositories) as opened:
            for part, name in zip(self.network, (ENCODER, DECODER), strict=True):
                part.load_state_dict(torch.load(io.BytesIO(opened.read(REPOSITORY, name)), weights_only=True))
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @torch.inference_mode()
    def regenerate(self, rgb: RGB) -> RGB:
        """Return pictures uint8 (n, H, W, 3) as the autoencoder gives them back; sides are multiples of 8."""
        x = torch.from_numpy(np.array(rgb)).permute(0, 3, 1, 2).float() / 255
        with torch.autocast("cpu", torch.bfloat16):
            y: Tensor = self.network(x.contiguous(memory_format=torch.channels_last))
        back = (y.float().clamp(0, 1) * 255).round().to(torch.uint8)
        return np.ascontiguousarray(back.permute(0, 2, 3, 1).numpy())


def _convolution(n_in: int, n_out: int, **how: Any) -> nn.Conv2d:
    return nn.Conv2d(n_in, n_out, 3, padding=1, **how)


class _Block(nn.Module):
    def __init__(self, pooled: bool) -> None:
        super().__init__()
        n = _WIDTH
        parts = [_convolution(n, n), nn.ReLU(), _convolution(n, n), nn.ReLU(), _convolution(n, n)]
        self.conv = nn.Sequential(*parts)
        widened: list[nn.Module] = [nn.Conv2d(n, 4 * n, 1, bias=False), nn.GroupNorm(4, 4 * n), nn.ReLU()]
        self.pool = nn.Sequential(*widened, nn.Conv2d(4 * n, n, 1, bias=False)) if pooled else None

    def forward(self, x: Tensor) -> Tensor:
        if self.pool is not None:
            x = x + self.pool(x)
        return torch.relu(self.conv(x) + x)


class _Clamp(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(x / _LIMIT) * _LIMIT


def _encoder() -> nn.Sequential:
    parts: list[nn.Module] = [_convolution(3, _WIDTH), _Block(False)]
    for level in range(3):
        parts.append(_convolution(_WIDTH, _WIDTH, stride=2, bias=False))
        parts += [_Block(level == 2) for _ in range(3)]
    return nn.Sequential(*parts, _convolution(_WIDTH, _CODE))


def _decoder() -> nn.Sequential:
    parts: list[nn.Module] = [_Clamp(), _convolution(_CODE, _WIDTH), nn.ReLU()]
    for level in range(3):
        parts += [_Block(level == 0) for _ in range(3)]
        parts += [nn.Upsample(scale_factor=2), _convolution(_WIDTH, _WIDTH, bias=False)]
    return nn.Sequential(*parts, _Block(False), _convolution(_WIDTH, 3))
