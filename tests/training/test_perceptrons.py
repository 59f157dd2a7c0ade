"""Small networks on statistics: what they tell that a linear rule cannot; far values do not carry them away."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from forensix.metrics import auc
from forensix.models.architectures.perceptrons import FAR, VOTES, Perceptrons
from forensix.training.perceptrons import fit_perceptrons

N, WIDTH = 600, 6


@pytest.fixture(scope="module")
def views() -> tuple[np.ndarray, np.ndarray]:
    """Return statistics of which two are of like sign in fakes and of unlike sign in what is real."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (N, WIDTH))
    return x.astype(np.float16), x[:, 0] * x[:, 1] > 0


def fitted(x: np.ndarray, fake: np.ndarray, *, seed: int = 0, weights: np.ndarray | None = None) -> Perceptrons:
    network = Perceptrons(WIDTH)
    weights = np.ones(len(x)) if weights is None else weights
    fit_perceptrons(network, x, fake, weights, steps=400, seed=seed)
    return network


def logits(network: Perceptrons, x: np.ndarray) -> np.ndarray:
    with torch.inference_mode():
        return network(torch.from_numpy(x.astype(np.float32))).mean(1).numpy()


def test_what_no_single_statistic_tells_is_told(views):
    x, fake = views
    learnt, held = slice(0, N // 2), slice(N // 2, None)
    network = fitted(x[learnt], fake[learnt])
    assert auc(fake[held], logits(network, x[held])) > 0.9
    linear = LogisticRegression().fit(x[learnt], fake[learnt])
    assert auc(fake[held], linear.decision_function(x[held])) < 0.65


def test_a_seed_gives_the_same_networks_and_another_seed_others(views):
    x, fake = views
    one, same, other = (logits(fitted(x, fake, seed=seed), x) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert np.abs(one - other).max() > 0.01


def test_views_without_weight_are_not_learnt_from(views):
    x, fake = views
    right = np.arange(N) % 2 == 0
    network = fitted(x, np.where(right, fake, ~fake), weights=2.0 * right)
    assert auc(fake, logits(network, x)) > 0.9


def test_the_networks_start_apart_and_a_far_statistic_counts_as_the_farthest(views):
    network = fitted(*views)
    far = np.zeros((3, WIDTH))
    far[1:, 0] = 100.0, 1e6
    with torch.inference_mode():
        votes = network(torch.from_numpy(far.astype(np.float32)))
    assert votes.shape == (3, VOTES) and votes[0].unique().numel() == VOTES
    torch.testing.assert_close(votes[1], votes[2])
    edge = np.zeros((1, WIDTH))
    edge[0, 0] = float(network.mean[0] + FAR * network.scale[0])
    np.testing.assert_allclose(logits(network, edge), logits(network, far[1:2]), atol=1e-4)


def test_a_slope_says_how_each_statistic_moves_the_logit(views):
    network = fitted(*views)
    x = torch.from_numpy(views[0][:5].astype(np.float32))
    x[0, 2] = 2 * FAR * network.scale[2]
    wanted = x.clone().requires_grad_()
    network(wanted).mean(1).sum().backward()
    assert wanted.grad is not None and wanted.grad.abs().min(0).values[:2].min() > 0
    assert torch.allclose(network.slope(x), wanted.grad, atol=1e-6)
    assert network.slope(x)[0, 2] == 0
