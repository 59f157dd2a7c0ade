"""DINOv2 with low-rank additions to every linear layer of its blocks, and one logit on its class token.

Position embeddings were learnt on a grid of 37 x 37. For another they are interpolated by DINOv2's own rule, which adds
a tenth of a cell to the target size: other libraries leave that out, and their tokens differ by 5 to 7 %.

References
----------
M. Oquab et al., "DINOv2: learning robust visual features without supervision", 2023; E. Hu et al., "LoRA", 2021; R.
Chen et al., "Dual data alignment makes AI-generated image detector easier generalizable", NeurIPS 2025.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

LEARNT_GRID = 37
_OFFSET = 0.1


class LowRank(nn.Module):
    """The factors of what is added to a linear layer."""

    def __init__(self, n_in: int, n_out: int, rank: int) -> None:
        super().__init__()
        self.lora_A = nn.Parameter(torch.zeros(rank, n_in))
        self.lora_B = nn.Parameter(torch.zeros(n_out, rank))


class Adapted(nn.Module):
    """A linear layer and a product of two thin matrices beside it."""

    def __init__(self, n_in: int, n_out: int, rank: int, scale: float) -> None:
        super().__init__()
        self.original_layer = nn.Linear(n_in, n_out)
        self.lora = LowRank(n_in, n_out, rank)
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., out)."""
        added = functional.linear(functional.linear(x, self.lora.lora_A), self.lora.lora_B)
        out: Tensor = self.original_layer(x) + self.scale * added
        return out


class Scale(nn.Module):
    """A learnt factor for each channel."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Return (..., width)."""
        return x * self.gamma


class Block(nn.Module):
    """Attention and two layers, each normalised before, scaled after, beside a shortcut."""

    def __init__(self, width: int, heads: int, rank: int, scale: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width, eps=1e-6), nn.LayerNorm(width, eps=1e-6)
        self.ls1, self.ls2 = Scale(width), Scale(width)
        self.attn: Any = nn.Module()
        self.mlp: Any = nn.Module()
        self.attn.qkv = Adapted(width, 3 * width, rank, scale)
        self.attn.proj = Adapted(width, width, rank, scale)
        self.mlp.fc1 = Adapted(width, 4 * width, rank, scale)
        self.mlp.fc2 = Adapted(4 * width, width, rank, scale)

    def forward(self, x: Tensor) -> Tensor:
        """Return tokens (batch, n, width)."""
        batch, n, width = x.shape
        parts = self.attn.qkv(self.norm1(x)).view(batch, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(batch, n, width)
        x = x + self.ls1(self.attn.proj(mixed))
        out: Tensor = x + self.ls2(self.mlp.fc2(functional.gelu(self.mlp.fc1(self.norm2(x)))))
        return out


class Transformer(nn.Module):
    """Normalised pictures (batch, 3, H, W), sides multiples of 14, to the class token (batch, width)."""

    def __init__(self, width: int, depth: int, heads: int, rank: int, scale: float) -> None:
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.mask_token = nn.Parameter(torch.zeros(1, width))  # for training; kept for its key
        self.pos_embed = nn.Parameter(torch.zeros(1, LEARNT_GRID**2 + 1, width))
        self.patch_embed: Any = nn.Module()
        self.patch_embed.proj = nn.Conv2d(3, width, 14, stride=14)
        self.blocks = nn.Sequential(*(Block(width, heads, rank, scale) for _ in range(depth)))
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """Return the class token."""
        patches = self.patch_embed.proj(x)
        places = self._places(*patches.shape[2:])
        tokens = torch.cat([self.cls_token.expand(len(x), -1, -1), patches.flatten(2).transpose(1, 2)], dim=1)
        token: Tensor = self.norm(self.blocks(tokens + places)[:, 0])
        return token

    def _places(self, rows: int, columns: int) -> Tensor:
        if (rows, columns) == (LEARNT_GRID, LEARNT_GRID):
            return self.pos_embed
        grid = self.pos_embed[:, 1:].reshape(1, LEARNT_GRID, LEARNT_GRID, -1).permute(0, 3, 1, 2)
        factors = ((rows + _OFFSET) / LEARNT_GRID, (columns + _OFFSET) / LEARNT_GRID)
        grid = functional.interpolate(grid, scale_factor=factors, mode="bicubic")
        return torch.cat([self.pos_embed[:, :1], grid.flatten(2).transpose(1, 2)], dim=1)


class DinoProbe(nn.Module):
    """The transformer and one linear layer; nested as the published file names it."""

    def __init__(self, network: Transformer, width: int) -> None:
        super().__init__()
        self.base_model: Any = nn.Module()
        self.base_model.model = network
        self.base_model.fc = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, 1)."""
        logits: Tensor = self.base_model.fc(self.base_model.model(x))
        return logits


def build(width: int = 1024, depth: int = 24, heads: int = 16, rank: int = 8, alpha: float = 1.0) -> DinoProbe:
    """Return the network with fresh weights; the defaults are ViT-L/14's."""
    return DinoProbe(Transformer(width, depth, heads, rank, alpha / rank), width)


def adapt(state: dict[str, Any], base: None = None) -> dict[str, Tensor]:
    """Return the weights of a published file, which keeps them beside what training needs to go on."""
    weights: dict[str, Tensor] = state["model"]
    return weights
