"""ECAPA-TDNN: dilated convolutions with squeeze and excitation, and attention over time that pools mean and deviation.

References
----------
B. Desplanques, J. Thienpondt and K. Demuynck, "ECAPA-TDNN", Interspeech 2020.
"""

import torch
from torch import Tensor, nn

PARTS = 8
JOINED = 1536


class Squeeze(nn.Module):
    """Channels weighted by what their means say."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.se = nn.Sequential(
            nn.AdaptiveAvgPool1d(1), nn.Conv1d(channels, 128, 1), nn.ReLU(), nn.Conv1d(128, channels, 1), nn.Sigmoid()
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, channels, frames)."""
        weighted: Tensor = x * self.se(x)
        return weighted


class Step(nn.Module):
    """Groups of channels, each convolved after the one before was added to it, beside a shortcut."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.width = channels // PARTS
        n = self.width * PARTS
        self.conv1, self.bn1 = nn.Conv1d(channels, n, 1), nn.BatchNorm1d(n)
        self.convs = nn.ModuleList(
            nn.Conv1d(self.width, self.width, 3, padding=dilation, dilation=dilation) for _ in range(PARTS - 1)
        )
        self.bns = nn.ModuleList(nn.BatchNorm1d(self.width) for _ in range(PARTS - 1))
        self.conv3, self.bn3 = nn.Conv1d(n, channels, 1), nn.BatchNorm1d(channels)
        self.se = Squeeze(channels)

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, channels, frames)."""
        *parts, last = self.bn1(torch.relu(self.conv1(x))).split(self.width, 1)
        done: list[Tensor] = []
        for part, convolution, norm in zip(parts, self.convs, self.bns, strict=True):
            done.append(norm(torch.relu(convolution(part + done[-1] if done else part))))
        out: Tensor = self.se(self.bn3(torch.relu(self.conv3(torch.cat([*done, last], 1))))) + x
        return out


class Ecapa(nn.Module):
    """Features (batch, frames, channels) to logits (batch, 2)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(channels, channels, 5, padding=2), nn.BatchNorm1d(channels)
        self.layer1, self.layer2, self.layer3, self.layer4 = (Step(channels, dilation) for dilation in (2, 3, 4, 5))
        self.layer5 = nn.Conv1d(4 * channels, JOINED, 1)
        self.attention = nn.Sequential(
            nn.Conv1d(3 * JOINED, 256, 1), nn.ReLU(), nn.BatchNorm1d(256), nn.Tanh(), nn.Conv1d(256, JOINED, 1),
            nn.Softmax(dim=2),
        )  # fmt: skip
        self.bn5 = nn.BatchNorm1d(2 * JOINED)
        self.fc6 = nn.Linear(2 * JOINED, 2)

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (batch, 2)."""
        total = self.bn1(torch.relu(self.conv1(features.transpose(1, 2))))
        outputs = []
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            outputs.append(layer(total))
            total = total + outputs[-1]
        x = torch.relu(self.layer5(torch.cat(outputs, 1)))
        spread = x.var(2, keepdim=True).clamp(min=1e-4).sqrt()
        context = torch.cat([x, x.mean(2, keepdim=True).expand_as(x), spread.expand_as(x)], 1)
        weight = self.attention(context)
        mean = (x * weight).sum(2)
        deviation = ((x.square() * weight).sum(2) - mean.square()).clamp(min=1e-4).sqrt()
        logits: Tensor = self.fc6(self.bn5(torch.cat([mean, deviation], 1)))
        return logits
