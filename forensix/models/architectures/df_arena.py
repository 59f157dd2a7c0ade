"""DF-Arena: all layers of XLS-R, each weighed by what a recording holds, and a conformer with a token for each head.

Two logits, spoof first. Input is 64,600 samples as they are. The encoder is that of the package transformers.

References
----------
Model card Speech-Arena-2025/DF_Arena_500M_V_1 of the Hugging Face hub, arXiv:2603.06164; A. Gulati et al.,
"Conformer", Interspeech 2020; head tokens: Y. Lin et al., arXiv:2210.05958.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, selu

from forensix.models.architectures.wav2vec import Encoder, renamed

BLOCKS, HEADS, KERNEL, POSITIONS = 4, 4, 31, 10_000
_NAMES = {
    ".fn.norm.": ".0.",
    ".fn.fn.net.0.": ".1.",
    ".fn.fn.net.3.": ".3.",
    ".attn.norm.": ".attn_norm.",
    ".attn.fn.": ".attn.",
    ".conv.net.0.": ".conv_norm.",
    ".conv.net.2.": ".conv.0.",
    ".conv.net.4.conv.": ".conv.2.",
    ".conv.net.5.": ".conv.3.",
    ".conv.net.7.": ".conv.5.",
}
"""What the published file calls the parts of a block, and what they are called here."""


class Attention(nn.Module):
    """Attention among tokens, the first of which stands for all; every head has a token of its own meanwhile."""

    def __init__(self, width: int) -> None:
        super().__init__()
        part = width // HEADS
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width)
        self.ht_proj = nn.Linear(part, width)
        self.ht_norm = nn.LayerNorm(part)
        self.pos_embed = nn.Parameter(torch.zeros(1, HEADS, width))

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, tokens, width)."""
        batch, n, width = x.shape
        means = self.ht_proj(x.mean(1).reshape(batch, HEADS, -1)).reshape(batch, HEADS, HEADS, -1)
        heads = gelu(self.ht_norm(means)).flatten(2) + self.pos_embed
        joined = self.qkv(torch.cat([x, heads], dim=1)).reshape(batch, n + HEADS, 3, HEADS, -1)
        q, k, v = joined.permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (width // HEADS) ** -0.5).softmax(-1)
        out = self.proj((weights @ v).transpose(1, 2).reshape(batch, n + HEADS, width))
        cls, frames, of_heads = torch.split(out, [1, n - 1, HEADS], dim=1)
        return torch.cat([cls + of_heads.mean(1, keepdim=True) + frames.mean(1, keepdim=True), frames], dim=1)


def _bent(width: int) -> nn.Sequential:
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))


class Block(nn.Module):
    """One block of the conformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = 2 * width
        self.ff1, self.ff2 = _bent(width), _bent(width)
        self.attn_norm, self.attn = nn.LayerNorm(width), Attention(width)
        self.conv_norm = nn.LayerNorm(width)
        self.conv = nn.Sequential(
            nn.Conv1d(width, 2 * inner, 1),
            nn.GLU(dim=1),
            nn.Conv1d(inner, inner, KERNEL, padding=KERNEL // 2, groups=inner),
            nn.BatchNorm1d(inner),
            nn.SiLU(),
            nn.Conv1d(inner, width, 1),
        )
        self.post_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, tokens, width)."""
        x = x + 0.5 * self.ff1(x)
        x = x + self.attn(self.attn_norm(x))
        x = x + self.conv(self.conv_norm(x).transpose(1, 2)).transpose(1, 2)
        out: Tensor = self.post_norm(x + 0.5 * self.ff2(x))
        return out


class Conformer(nn.Module):
    """Features (batch, frames, width) to logits (batch, 2)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("positional_emb", torch.zeros(1, POSITIONS, width))
        self.encoder_blocks = nn.ModuleList(Block(width) for _ in range(BLOCKS))
        self.class_token = nn.Parameter(torch.rand(1, width))
        self.fc5 = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, 2)."""
        positions: Tensor = self.get_buffer("positional_emb")
        x = torch.cat([self.class_token.expand(len(x), 1, -1), x + positions[:, : x.shape[1]]], dim=1)
        for block in self.encoder_blocks:
            x = block(x)
        logits: Tensor = self.fc5(x[:, 0])
        return logits


class DfArena(nn.Module):
    """Waveforms (batch, 64600) at 16 kHz to logits (batch, 2): spoof, bona fide."""

    def __init__(self, **shape: Any) -> None:
        super().__init__()
        self.encoder = Encoder(**shape)
        width = self.encoder.model.config.hidden_size
        self.attn_scores = nn.Linear(width, 1, bias=False)
        self.fc0 = nn.Linear(width, 1)
        self.first_bn = nn.BatchNorm2d(1)
        self.conformer = Conformer(width)

    def forward(self, waves: Tensor) -> Tensor:
        """Return logits (batch, 2)."""
        layers = torch.stack(self.encoder.layers(waves), dim=1)
        pooled = (self.attn_scores(layers).softmax(2) * layers).sum(2)
        joined = (layers * torch.sigmoid(self.fc0(pooled))[..., None]).sum(1, keepdim=True)
        logits: Tensor = self.conformer(selu(self.first_bn(joined))[:, 0])
        return logits


def build(**shape: Any) -> DfArena:
    """Return the network with fresh weights; ``shape`` is what of its encoder differs from XLS-R's."""
    return DfArena(**shape)


def adapt(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a published file under the names that they have here."""
    weights = {}
    for key, value in state.items():
        place = key.removeprefix("backbone.")
        if place.startswith("ssl_model."):
            place = place.replace("ssl_model.", "encoder.model.", 1)
        else:
            for theirs, ours in _NAMES.items():
                place = place.replace(theirs, ours)
        if place != "encoder.model.masked_spec_embed":  # only used in training
            weights[place] = value
    return renamed(weights)
