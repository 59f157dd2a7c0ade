"""Fitting `forensix.models.architectures.perceptrons` on what a pretrained network says of inputs.

Each step sees statistics that are mixed of two inputs, with labels mixed alike, so that what lies between sources is
not learnt by heart.

References
----------
H. Zhang, M. Cisse, Y. Dauphin and D. Lopez-Paz, "mixup: beyond empirical risk minimization", 2018.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.models.architectures.perceptrons import Perceptrons
from forensix.training.loop import Plan, cosine, fit
from forensix.training.rules import spread

BATCH = 128
RATE, DECAY, AVERAGE = 2e-3, 0.01, 0.99
LEAST_SCALE = 1e-3
"""Added to the deviation that each statistic is divided by."""
MIXED = 0.4
"""Both parameters of the beta distribution of the share that an input has of what it is mixed to."""

Batch = tuple[Tensor, Tensor, Tensor]


def fit_perceptrons(
    network: Perceptrons,
    statistics: NDArray[np.float16],
    fake: NDArray[np.bool_],
    weights: NDArray[np.float64],
    *,
    steps: int,
    seed: int,
) -> None:
    """Fit new networks in place; what they were before is forgotten.

    Parameters
    ----------
    statistics
        (views, n)
    fake, weights
        (views,); weights have a mean of about 1.
    seed
        Of the first weights and of all draws: the same seed gives the same networks.
    """
    w = weights.astype(np.float32)
    mean, scale = spread(statistics.astype(np.float32), w, LEAST_SCALE)
    network.mean[:], network.scale[:] = torch.from_numpy(mean), torch.from_numpy(scale)
    labels = fake.astype(np.float32)

    def draw(rng: np.random.Generator) -> Batch:
        one, other = rng.integers(len(labels), size=(2, BATCH))
        share = torch.from_numpy(rng.beta(MIXED, MIXED, BATCH).astype(np.float32))

        def mix(of: NDArray[Any]) -> Tensor:
            first, second = (torch.from_numpy(of[rows].astype(np.float32)) for rows in (one, other))
            part = share if of.ndim == 1 else share[:, None]
            return part * first + (1 - part) * second

        return mix(statistics), mix(labels), mix(w)

    def loss_of(network: nn.Module, batch: Batch) -> Tensor:
        x, y, weight = batch
        votes = network(x)
        loss = nn.functional.binary_cross_entropy_with_logits(votes, y[:, None].expand_as(votes), reduction="none")
        return (loss * weight[:, None]).mean()

    torch.manual_seed(seed)
    network.reset()
    plan = Plan(steps, cosine(RATE, max(1, steps // 10), 0.0), DECAY, AVERAGE)
    fit(network, draw, loss_of, plan, np.random.default_rng(seed))
