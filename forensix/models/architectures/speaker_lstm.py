"""A recurrent network that turns mel spectra of a second or two of speech into a vector that lies near its speaker's.

References
----------
L. Wan, Q. Wang, A. Papir, I. Moreno, "Generalized end-to-end loss for speaker verification", ICASSP 2018.
"""

import torch
from torch import nn


class SpeakerLSTM(nn.Module):
    """Mel powers, shape (n, time, n_mels), to unit vectors, shape (n, hidden); the closer, the likelier one speaker."""

    def __init__(self, n_mels: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n_mels, hidden, layers, batch_first=True)
        self.linear = nn.Linear(hidden, hidden)

    def embed(self, mels: torch.Tensor) -> torch.Tensor:
        """Return the vectors before they are rectified and normalised."""
        _, (state, _) = self.lstm(mels)
        embedded: torch.Tensor = self.linear(state[-1])
        return embedded

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        """Return unit vectors without negative values."""
        return nn.functional.normalize(torch.relu(self.embed(mels)), dim=1)


def build(n_mels: int = 40, hidden: int = 256, layers: int = 3) -> SpeakerLSTM:
    """Return the network with untrained weights."""
    return SpeakerLSTM(n_mels, hidden, layers)
