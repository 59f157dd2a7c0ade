"""AASIST: graph attention over the spectral and temporal nodes of a raw waveform, to tell spoofed speech.

Written from the paper and the behaviour of the published checkpoints, with their layer names, so that these load with
every key in place. The output is two logits in the published order, spoof first.

References
----------
J. Jung et al., "AASIST: Audio anti-spoofing using integrated spectro-temporal graph attention networks", ICASSP 2022.
Authors' implementation and checkpoints: github.com/clovaai/aasist, copyright 2021-present NAVER Corp., MIT licence.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d, max_pool2d, selu

SAMPLE_RATE_HZ = 16_000
N_SPECTRAL_NODES = 23


class SincFilters(nn.Module):
    """Fixed band-pass filters, evenly spaced on the mel scale; nothing here is learned."""

    filters: Tensor

    def __init__(self, n_filters: int, size: int) -> None:
        super().__init__()
        size += 1 - size % 2  # symmetric about a middle sample
        top_mel = 2595 * np.log10(1 + SAMPLE_RATE_HZ / 2 / 700)
        edges_hz = 700 * (10 ** (np.linspace(0, top_mel, n_filters + 1) / 2595) - 1)
        at = np.arange(size) - (size - 1) / 2
        ideal = [2 * f / SAMPLE_RATE_HZ * np.sinc(2 * f * at / SAMPLE_RATE_HZ) for f in edges_hz]
        bands = np.diff(np.stack(ideal), axis=0) * np.hamming(size)
        self.register_buffer("filters", torch.from_numpy(bands).float()[:, None], persistent=False)

    def forward(self, waves: Tensor) -> Tensor:
        """Return (batch, filters, samples)."""
        return conv1d(waves[:, None], self.filters)


class ResidualBlock(nn.Module):
    """Two convolutions beside a shortcut, then a third of the frames.

    The checkpoints hold a first normalisation whose result the authors' network does not use: its convolution reads the
    block's input. It is kept for its keys, and not applied.
    """

    def __init__(self, n_in: int, n_out: int, *, first: bool = False) -> None:
        super().__init__()
        if not first:
            self.bn1 = nn.BatchNorm2d(n_in)
        self.conv1 = nn.Conv2d(n_in, n_out, (2, 3), padding=(1, 1))
        self.bn2 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, (2, 3), padding=(0, 1))
        if n_in != n_out:
            self.conv_downsample = nn.Conv2d(n_in, n_out, (1, 3), padding=(0, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, out, bands, frames / 3)."""
        shortcut = self.conv_downsample(x) if hasattr(self, "conv_downsample") else x
        out = self.conv2(selu(self.bn2(self.conv1(x))))
        return max_pool2d(out + shortcut, (1, 3))


def _normalise_nodes(norm: nn.BatchNorm1d, nodes: Tensor) -> Tensor:
    return selu(norm(nodes.flatten(0, 1)).view_as(nodes))


class GraphAttention(nn.Module):
    """Attention among nodes (batch, nodes, in) of one kind; the weight of a pair comes from its product."""

    def __init__(self, n_in: int, n_out: int, temperature: float) -> None:
        super().__init__()
        self.att_proj = nn.Linear(n_in, n_out)
        self.att_weight = nn.Parameter(nn.init.xavier_normal_(torch.empty(n_out, 1)))
        self.proj_with_att = nn.Linear(n_in, n_out)
        self.proj_without_att = nn.Linear(n_in, n_out)
        self.bn = nn.BatchNorm1d(n_out)
        self.input_drop = nn.Dropout(0.2)
        self.temperature = temperature

    def forward(self, nodes: Tensor) -> Tensor:
        """Return (batch, nodes, out)."""
        nodes = self.input_drop(nodes)
        pairs = torch.tanh(self.att_proj(nodes[:, :, None] * nodes[:, None]))
        attention = torch.softmax((pairs @ self.att_weight).squeeze(-1) / self.temperature, dim=-1)
        out = self.proj_with_att(attention @ nodes) + self.proj_without_att(nodes)
        return _normalise_nodes(self.bn, out)


class MixedGraphAttention(nn.Module):
    """Attention among nodes of two kinds and a master node that listens to all of them."""

    def __init__(self, n_in: int, n_out: int, temperature: float) -> None:
        super().__init__()
        self.proj_type1 = nn.Linear(n_in, n_in)
        self.proj_type2 = nn.Linear(n_in, n_in)
        self.att_proj = nn.Linear(n_in, n_out)
        self.att_projM = nn.Linear(n_in, n_out)
        self.att_weight11 = nn.Parameter(nn.init.xavier_normal_(torch.empty(n_out, 1)))
        self.att_weight22 = nn.Parameter(nn.init.xavier_normal_(torch.empty(n_out, 1)))
        self.att_weight12 = nn.Parameter(nn.init.xavier_normal_(torch.empty(n_out, 1)))
        self.att_weightM = nn.Parameter(nn.init.xavier_normal_(torch.empty(n_out, 1)))
        self.proj_with_att = nn.Linear(n_in, n_out)
        self.proj_without_att = nn.Linear(n_in, n_out)
        self.proj_with_attM = nn.Linear(n_in, n_out)
        self.proj_without_attM = nn.Linear(n_in, n_out)
        self.bn = nn.BatchNorm1d(n_out)
        self.input_drop = nn.Dropout(0.2)
        self.temperature = temperature

    def forward(self, first: Tensor, second: Tensor, master: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the nodes of the first kind, of the second kind, and the master."""
        n = first.shape[1]
        nodes = self.input_drop(torch.cat([self.proj_type1(first), self.proj_type2(second)], dim=1))
        pairs = torch.tanh(self.att_proj(nodes[:, :, None] * nodes[:, None]))
        within_first, within_second, across = (
            (pairs @ weight).squeeze(-1) for weight in (self.att_weight11, self.att_weight22, self.att_weight12)
        )
        is_first = torch.arange(nodes.shape[1], device=nodes.device) < n
        same = is_first[:, None] == is_first[None]
        board = torch.where(same, torch.where(is_first[:, None], within_first, within_second), across)
        attention = torch.softmax(board / self.temperature, dim=-1)

        to_master = torch.tanh(self.att_projM(nodes * master)) @ self.att_weightM
        to_master = torch.softmax(to_master / self.temperature, dim=-2)
        master = self.proj_with_attM(to_master.transpose(1, 2) @ nodes) + self.proj_without_attM(master)

        out = self._finished(self.proj_with_att(attention @ nodes) + self.proj_without_att(nodes))
        return out[:, :n], out[:, n:], master

    def _finished(self, nodes: Tensor) -> Tensor:
        return _normalise_nodes(self.bn, nodes)


class GraphPool(nn.Module):
    """Keep the fraction of nodes with the highest learned weight, each scaled by it."""

    def __init__(self, keep: float, n_in: int) -> None:
        super().__init__()
        self.proj = nn.Linear(n_in, 1)
        self.drop = nn.Dropout(0.3)
        self.keep = keep

    def forward(self, nodes: Tensor) -> Tensor:
        """Return (batch, kept nodes, size)."""
        weights = torch.sigmoid(self.proj(self.drop(nodes)))
        best = weights.topk(max(int(nodes.shape[1] * self.keep), 1), dim=1).indices
        return (nodes * weights).gather(1, best.expand(-1, -1, nodes.shape[2]))


class Aasist(nn.Module):
    """Waveforms (batch, 64600) at 16 kHz to logits (batch, 2): spoof, bona fide."""

    def __init__(
        self,
        n_filters: int,
        filter_size: int,
        channels: Sequence[tuple[int, int]],
        graph_sizes: tuple[int, int],
        pool_ratios: Sequence[float],
        temperatures: Sequence[float],
    ) -> None:
        super().__init__()
        n_nodes, n_graph = graph_sizes
        widths = [*channels, channels[-1], channels[-1]]
        self.conv_time = SincFilters(n_filters, filter_size)
        self.first_bn = nn.BatchNorm2d(1)
        # One more level of nesting than is needed: the checkpoints' keys have it.
        self.encoder = nn.Sequential(
            *(nn.Sequential(ResidualBlock(n_in, n_out, first=i == 0)) for i, (n_in, n_out) in enumerate(widths))
        )
        self.pos_S = nn.Parameter(torch.randn(1, N_SPECTRAL_NODES, channels[-1][1]))
        self.master1 = nn.Parameter(torch.randn(1, 1, n_nodes))
        self.master2 = nn.Parameter(torch.randn(1, 1, n_nodes))
        self.GAT_layer_S = GraphAttention(channels[-1][1], n_nodes, temperatures[0])
        self.GAT_layer_T = GraphAttention(channels[-1][1], n_nodes, temperatures[1])
        for branch in (1, 2):
            for layer, n_in in ((1, n_nodes), (2, n_graph)):
                attention = MixedGraphAttention(n_in, n_graph, temperatures[2])
                self.add_module(f"HtrgGAT_layer_ST{branch}{layer}", attention)
        self.pool_S = GraphPool(pool_ratios[0], n_nodes)
        self.pool_T = GraphPool(pool_ratios[1], n_nodes)
        for branch in (1, 2):
            self.add_module(f"pool_hS{branch}", GraphPool(pool_ratios[2], n_graph))
            self.add_module(f"pool_hT{branch}", GraphPool(pool_ratios[2], n_graph))
        self.drop = nn.Dropout(0.5)
        self.drop_way = nn.Dropout(0.2)
        self.out_layer = nn.Linear(5 * n_graph, 2)

    def _branch(self, number: int, temporal: Tensor, spectral: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Run one of two branches of mixed attention; they differ in their weights only."""
        enter, deepen = (self.get_submodule(f"HtrgGAT_layer_ST{number}{layer}") for layer in (1, 2))
        pool_s, pool_t = (self.get_submodule(f"pool_h{kind}{number}") for kind in "ST")
        temporal, spectral, master = enter(temporal, spectral, self.get_parameter(f"master{number}"))
        spectral, temporal = pool_s(spectral), pool_t(temporal)
        more = deepen(temporal, spectral, master)
        return tuple(self.drop_way(a + b) for a, b in zip((temporal, spectral, master), more, strict=True))

    def forward(self, waves: Tensor) -> Tensor:
        """Return logits (batch, 2): spoof, bona fide."""
        picture = max_pool2d(self.conv_time(waves)[:, None].abs(), 3)
        encoded = self.encoder(selu(self.first_bn(picture))).abs()
        spectral = self.pool_S(self.GAT_layer_S(encoded.amax(3).transpose(1, 2) + self.pos_S))
        temporal = self.pool_T(self.GAT_layer_T(encoded.amax(2).transpose(1, 2)))
        pairs = zip(self._branch(1, temporal, spectral), self._branch(2, temporal, spectral), strict=True)
        temporal, spectral, master = (torch.maximum(a, b) for a, b in pairs)
        pooled = [temporal.abs().amax(1), temporal.mean(1), spectral.abs().amax(1), spectral.mean(1), master.squeeze(1)]
        logits: Tensor = self.out_layer(self.drop(torch.cat(pooled, dim=1)))
        return logits


def build(
    n_filters: int = 70,
    filter_size: int = 128,
    channels: Sequence[tuple[int, int]] = ((1, 32), (32, 32), (32, 64), (64, 64)),
    graph_sizes: tuple[int, int] = (64, 32),
    pool_ratios: Sequence[float] = (0.5, 0.7, 0.5, 0.5),
    temperatures: Sequence[float] = (2.0, 2.0, 100.0, 100.0),
) -> Aasist:
    """Return the network with fresh weights; the defaults are AASIST's, AASIST-L's are on its card."""
    return Aasist(n_filters, filter_size, channels, graph_sizes, pool_ratios, temperatures)
