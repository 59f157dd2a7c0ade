"""Statistics to a logit by several small networks side by side, whose mean counts.

Each has one hidden layer, and sees the same standardised statistics. They start apart and so fail apart; nothing that
lies far outside of what they learnt from carries them away, as values are bounded.
"""

import math

import torch
from torch import Tensor, nn

HIDDEN, VOTES = 64, 3
"""Units of a network's hidden layer, and networks."""
FAR = 6.0
"""Standard deviations beyond which a statistic is taken for that far."""


class Perceptrons(nn.Module):
    """Statistics (batch, n) to a logit of each network (batch, `VOTES`)."""

    mean: Tensor
    scale: Tensor

    def __init__(self, n: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(n))
        self.register_buffer("scale", torch.ones(n))
        self.hidden = nn.Linear(n, VOTES * HIDDEN)
        self.act = nn.GELU()
        # Statistics of neighbouring channels say the same; half as many of them are dropped as of hidden units.
        self.drop_statistics, self.drop_hidden = nn.Dropout(0.25), nn.Dropout(0.5)
        self.vote = nn.Conv1d(VOTES, VOTES, HIDDEN, groups=VOTES)

    def reset(self) -> None:
        """Draw new weights."""
        for layer in (self.hidden, self.vote):
            layer.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (batch, `VOTES`); their mean is the logit."""
        x = ((x - self.mean) / self.scale).clamp(-FAR, FAR)
        hidden = self.drop_hidden(self.act(self.hidden(self.drop_statistics(x))))
        votes: Tensor = self.vote(hidden.unflatten(1, (VOTES, HIDDEN)))
        return votes[:, :, 0]

    def slope(self, x: Tensor) -> Tensor:
        """Return by how much each statistic moves the mean logit there, (batch, n): 0 for those beyond `FAR`."""
        standard = (x - self.mean) / self.scale
        h = self.hidden(standard.clamp(-FAR, FAR))
        # The derivative of GELU.
        bent = torch.special.ndtr(h) + h * torch.exp(-h.square() / 2) / math.sqrt(2 * math.pi)
        moved: Tensor = (bent * self.vote.weight.flatten() / VOTES) @ self.hidden.weight / self.scale
        return moved * (standard.abs() <= FAR)
