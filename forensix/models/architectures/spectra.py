"""Spectra: wav2vec 2.0 XLS-R and, on its features, a variant of AASIST or an ECAPA network.

Two logits, spoof first. Input is 64,600 samples after a pre-emphasis of the whole recording, not normalised otherwise.
The encoder is that of the package transformers.

References
----------
Model cards lab260/Spectra-AASIST and lab260/spectra_0 of the Hugging Face hub; J. Jung et al., "AASIST", ICASSP 2022;
B. Desplanques et al., "ECAPA-TDNN", 2020; A. Babu et al., "XLS-R", 2021.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool2d, selu

from forensix.models.architectures.aasist import GraphAttention, GraphPool, MixedGraphAttention, ResidualBlock
from forensix.models.architectures.wav2vec import Encoder, renamed

WIDTH, NODES, GRAPH = 128, 64, 32
FRAMES = 400


class Residual(ResidualBlock):
    """AASIST's block without its pooling, and with its first normalisation applied."""

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, out, rows, columns)."""
        shortcut = self.conv_downsample(x) if hasattr(self, "conv_downsample") else x
        entered = selu(self.bn1(x)) if hasattr(self, "bn1") else x
        out: Tensor = self.conv2(selu(self.bn2(self.conv1(entered)))) + shortcut
        return out


class Attention(MixedGraphAttention):
    """AASIST's attention among nodes of two kinds, whose result is normalised and not bent."""

    def _finished(self, nodes: Tensor) -> Tensor:
        normalised: Tensor = self.bn(nodes.flatten(0, 1)).view_as(nodes)
        return normalised


class Branch(nn.Module):
    """Two steps of attention among temporal and spectral nodes and a master."""

    def __init__(self) -> None:
        super().__init__()
        self.master = nn.Parameter(torch.randn(1, 1, NODES))
        self.HtrgGAT_layer_ST1 = Attention(NODES, GRAPH, 100.0)
        self.HtrgGAT_layer_ST2 = Attention(GRAPH, GRAPH, 100.0)
        self.pool_hS, self.pool_hT = GraphPool(0.5, GRAPH), GraphPool(0.5, GRAPH)

    def forward(self, temporal: Tensor, spectral: Tensor) -> tuple[Tensor, ...]:
        """Return temporal and spectral nodes and the master."""
        temporal, spectral, master = self.HtrgGAT_layer_ST1(temporal, spectral, self.master)
        spectral, temporal = self.pool_hS(spectral), self.pool_hT(temporal)
        more = self.HtrgGAT_layer_ST2(temporal, spectral, master)
        return tuple(a + b for a, b in zip((temporal, spectral, master), more, strict=True))


class Graph(nn.Module):
    """Features (batch, frames, 128) to logits (batch, 2), by AASIST's graphs in four branches."""

    def __init__(self) -> None:
        super().__init__()
        widths = ((1, 32), (32, 32), (32, 64), (64, 64), (64, 64), (64, 64))
        self.enc: Any = nn.Module()
        self.enc.first_bn, self.enc.first_bn1 = nn.BatchNorm2d(1), nn.BatchNorm2d(NODES)
        self.enc.enc = nn.Sequential(*(Residual(a, b, first=i == 0) for i, (a, b) in enumerate(widths)))
        self.attention = nn.Sequential(
            nn.Conv2d(NODES, 128, 1), nn.SELU(), nn.BatchNorm2d(128), nn.Conv2d(128, NODES, 1)
        )
        self.pos_S = nn.Parameter(torch.randn(1, WIDTH // 3, NODES))
        self.pos_T = nn.Parameter(torch.randn(1, FRAMES, WIDTH))
        self.GAT_layer_S, self.GAT_layer_T = GraphAttention(NODES, NODES, 2.0), GraphAttention(NODES, NODES, 2.0)
        self.branch1, self.branch2, self.branch3, self.branch4 = (Branch() for _ in range(4))
        self.pool_S, self.pool_T = GraphPool(0.5, NODES), GraphPool(0.5, NODES)
        self.out_layer = nn.Linear(5 * GRAPH, 2)

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (batch, 2)."""
        x = (features + self.pos_T[:, : features.shape[1]]).transpose(1, 2)[:, None]
        x = selu(self.enc.first_bn(max_pool2d(x.abs(), 3)))
        x = selu(self.enc.first_bn1(self.enc.enc(x)))
        weight = self.attention(x)
        spectral = (x * weight.softmax(-1)).sum(-1).transpose(1, 2) + self.pos_S
        temporal = (x * weight.softmax(-2)).sum(-2).transpose(1, 2)
        spectral, temporal = self.pool_S(self.GAT_layer_S(spectral)), self.pool_T(self.GAT_layer_T(temporal))
        branches = (self.branch1, self.branch2, self.branch3, self.branch4)
        outputs = [branch(temporal, spectral) for branch in branches]
        t, s, master = (torch.stack(same).amax(0) for same in zip(*outputs, strict=True))
        pooled = [t.abs().amax(1), t.mean(1), s.abs().amax(1), s.mean(1), master.squeeze(1)]
        logits: Tensor = self.out_layer(torch.cat(pooled, dim=1))
        return logits


class Spectra(nn.Module):
    """Waveforms (batch, 64600) at 16 kHz to logits (batch, 2): spoof, bona fide."""

    def __init__(self, head: nn.Module, name: str, **smaller: Any) -> None:
        super().__init__()
        self.ssl_encoder = Encoder(**smaller)
        self.bridge: Any = nn.Module()
        width = self.ssl_encoder.model.config.hidden_size
        self.bridge.mlp = nn.Sequential(
            nn.Linear(width, WIDTH), nn.SELU(), nn.Dropout(0.1), nn.Linear(WIDTH, WIDTH), nn.Dropout(0.1)
        )
        self.add_module(name, head)
        self.name = name

    def forward(self, waves: Tensor) -> Tensor:
        """Return logits (batch, 2)."""
        logits: Tensor = self.get_submodule(self.name)(self.bridge.mlp(self.ssl_encoder(waves)))
        return logits


def build(head: str = "aasist", **smaller: Any) -> Spectra:
    """Return the network with fresh weights; ``head`` is ``aasist`` or ``ecapa_tdnn``."""
    if head == "aasist":
        return Spectra(Graph(), head, **smaller)
    from forensix.models.architectures.ecapa import Ecapa

    return Spectra(Ecapa(WIDTH), head, **smaller)


def adapt(state: dict[str, Tensor], base: None = None) -> dict[str, Tensor]:
    """Return the weights of a published file; the position convolution's are named in one of two ways."""
    return renamed(state)
