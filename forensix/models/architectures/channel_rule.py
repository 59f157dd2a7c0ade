"""Linear rules on standardised, clipped statistics of a window, averaged over members.

Input is (N, F), output one logit a window, (N,), higher for fake. Members were fitted with other sources left out;
averaging them is the ensemble. A linear rule was chosen over trees and networks because it was the one that kept its
direction on sources that training did not see.
"""

import torch
from torch import Tensor, nn

CLIP = 4.0


class ChannelRule(nn.Module):
    """Members of one linear rule each."""

    mean: Tensor
    scale: Tensor

    def __init__(self, n_statistics: int, n_members: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n_members, n_statistics))
        self.register_buffer("scale", torch.ones(n_members, n_statistics))
        self.weight = nn.Parameter(torch.zeros(n_members, n_statistics))
        self.bias = nn.Parameter(torch.zeros(n_members))

    def members(self, statistics: Tensor) -> Tensor:
        """Return each member's logit, (N, n_members)."""
        z = ((statistics[:, None] - self.mean) / self.scale).clamp(-CLIP, CLIP)
        return (z * self.weight).sum(dim=2) + self.bias

    def forward(self, statistics: Tensor) -> Tensor:
        """Return one logit a window, (N,)."""
        return self.members(statistics).mean(dim=1)


def build(n_statistics: int, n_members: int) -> ChannelRule:
    """Make the rule."""
    return ChannelRule(n_statistics, n_members)
