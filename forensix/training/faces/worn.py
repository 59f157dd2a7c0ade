"""Both faces of a pair degraded alike, on the device that learns: a pair that was made once is seen in many ways.

Mirrored, of other tones, softened, noisy, stored as JPEG and turned by a little, each by chance; the draws of a pair
hold for both of its faces.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from forensix.faces.align import ALIGNED_PX
from forensix.training.faces.pairs import N_CELLS

_SOFTNESS_PX = 4
_BLOCK_PX = 8
_GREYS = 255.0
_YCC = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))
_LUMA = (
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55),
    *(14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
    *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
    *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMA = ((17, 18, 24, 47), (18, 21, 26, 66), (24, 26, 56, 99), (47, 66, 99, 99))
"""Quantisation as in Annex K of ITU-T T.81; the rest of the second table is 99."""


def worn(recorded: Tensor, made: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
    """Return pairs of crops uint8 (n, S, S, 3) degraded alike, as the network takes them, and their masks.

    The crops come as float (2 n, 3, S, S) in [-1, 1], all recorded ones first; masks float (n, 28, 28).
    """
    n, device = len(recorded), recorded.device
    x = torch.stack([recorded, made], 1).permute(0, 1, 4, 2, 3).float()

    def by_chance(share: float) -> Tensor:
        return torch.rand(n, device=device) < share

    def between(low: float, high: float) -> Tensor:
        return torch.rand(n, device=device) * (high - low) + low

    mirrored = by_chance(0.5)
    x = torch.where(_of_pair(mirrored), x.flip(4), x)
    masks = torch.where(mirrored[:, None, None], masks.flip(2), masks).float()
    x = torch.where(_of_pair(by_chance(0.5)), _toned(x, between(0.8, 1.2), between(0.8, 1.25), between(0.6, 1.4)), x)
    x = _softened(x, torch.where(by_chance(0.25), between(0.3, 1.4), 0.05))
    grain = by_chance(0.2).float() * between(1, 6)
    x = (x + torch.randn(n, 1, *x.shape[2:], device=device) * _of_pair(grain)).clamp(0, _GREYS)
    x = torch.where(_of_pair(by_chance(0.5)), _stored(x, between(40, 97), by_chance(0.6)), x)
    turned = by_chance(0.6)
    scale, angle = torch.where(turned, between(0.92, 1.08), 1.0), torch.where(turned, between(-0.07, 0.07), 0.0)
    across, down = (torch.where(turned, between(-0.03, 0.03), 0.0) for _ in range(2))
    rows = [scale * angle.cos(), -scale * angle.sin(), across], [scale * angle.sin(), scale * angle.cos(), down]
    matrix = torch.stack([torch.stack(row, 1) for row in rows], 1)
    moved = _moved(x.flatten(1, 2), matrix, ALIGNED_PX, "bicubic", "border").view_as(x)
    x = torch.where(_of_pair(turned), moved, x).clamp(0, _GREYS).round()
    masks = _moved(masks[:, None], matrix, N_CELLS, "bilinear", "zeros")[:, 0]
    both = torch.cat([x[:, 0], x[:, 1]]) / (_GREYS / 2) - 1
    return both.contiguous(memory_format=torch.channels_last), masks.clamp(0, 1)


def _of_pair(values: Tensor) -> Tensor:
    return values.view(-1, 1, 1, 1, 1)


def _toned(x: Tensor, gain: Tensor, gamma: Tensor, colour: Tensor) -> Tensor:
    x = _GREYS * ((x * _of_pair(gain)).clamp(0, _GREYS) / _GREYS) ** _of_pair(gamma)
    grey = x.mean(2, keepdim=True)
    return (grey + (x - grey) * _of_pair(colour)).clamp(0, _GREYS)


def _softened(x: Tensor, sigma_px: Tensor) -> Tensor:
    """Convolve each pair (n, 2, 3, S, S) with a normal density of its own width."""
    n, reach = len(x), _SOFTNESS_PX
    at = torch.arange(-reach, reach + 1, device=x.device)
    kernels = torch.exp(-at.square() / (2 * sigma_px[:, None].square()))
    kernels = (kernels / kernels.sum(1, keepdim=True)).repeat_interleave(6, 0)
    flat = x.reshape(1, 6 * n, *x.shape[3:])
    flat = functional.pad(flat, (reach, reach, 0, 0), mode="replicate")
    flat = functional.conv2d(flat, kernels[:, None, None, :], groups=6 * n)
    flat = functional.pad(flat, (0, 0, reach, reach), mode="replicate")
    return functional.conv2d(flat, kernels[:, None, :, None], groups=6 * n).view_as(x)


def _stored(x: Tensor, quality: Tensor, has_halved_colour: Tensor) -> Tensor:
    """Return pairs (n, 2, 3, S, S) as JPEG gives them back, its blocks somewhere on the crop."""
    shift = tuple(torch.randint(0, _BLOCK_PX, (2,)).tolist())
    flat = x.flatten(0, 1).roll(shift, (2, 3))
    coded = jpeg(flat, quality.repeat_interleave(2), has_halved_colour.repeat_interleave(2))
    return coded.roll((-shift[0], -shift[1]), (2, 3)).view_as(x)


def jpeg(x: Tensor, quality: Tensor, has_halved_colour: Tensor) -> Tensor:
    """Return pictures (n, 3, S, S) in [0, 255], S a multiple of 16, as JPEG of a quality each gives them back."""
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality)[:, None, None]
    chroma = torch.full((_BLOCK_PX, _BLOCK_PX), 99.0, device=x.device)
    chroma[:4, :4] = torch.tensor(_CHROMA, dtype=torch.float32)
    luma = torch.tensor(_LUMA, dtype=torch.float32, device=x.device).view(_BLOCK_PX, _BLOCK_PX)
    of_luma, of_chroma = ((table * scale / 100).clamp(1, 255).round() for table in (luma, chroma))
    to_ycc = torch.tensor(_YCC, device=x.device)
    ycc = torch.einsum("ij,njhw->nihw", to_ycc, x - 128)
    planes = [_quantised(ycc[:, 0], of_luma)]
    for halved, whole in zip(functional.avg_pool2d(ycc[:, 1:], 2).unbind(1), ycc[:, 1:].unbind(1), strict=True):
        small = _quantised(halved, of_chroma)[:, None]
        large = functional.interpolate(small, scale_factor=2, mode="bilinear")[:, 0]
        planes.append(torch.where(has_halved_colour[:, None, None], large, _quantised(whole, of_chroma)))
    back = torch.einsum("ij,njhw->nihw", torch.linalg.inv(to_ycc), torch.stack(planes, 1))
    return (back + 128).clamp(0, _GREYS)


def _quantised(plane: Tensor, table: Tensor) -> Tensor:
    n, (height, width) = _BLOCK_PX, plane.shape[1:]
    at = torch.arange(n, dtype=torch.float32, device=plane.device)
    basis = torch.cos((2 * at + 1) * at[:, None] * math.pi / (2 * n)) / 2
    basis[0] /= math.sqrt(2)
    blocks = plane.view(-1, height // n, n, width // n, n).transpose(2, 3)
    steps = table[:, None, None]
    levels = torch.round(basis @ blocks @ basis.T / steps) * steps
    return (basis.T @ levels @ basis).transpose(2, 3).reshape_as(plane)


def _moved(x: Tensor, matrix: Tensor, side: int, mode: str, beyond: str) -> Tensor:
    grid = functional.affine_grid(matrix, [len(x), 1, side, side], align_corners=False)
    return functional.grid_sample(x, grid, mode=mode, padding_mode=beyond, align_corners=False)
