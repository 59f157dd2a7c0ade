"""Linear rules on statistics: groups that are fitted apart, and outputs that share a standardisation."""

import numpy as np
import pytest
import torch

from forensix.metrics import auc
from forensix.models.architectures.logistic import Logistic
from forensix.training.rules import fit_output

N, WIDTH = 400, 12


@pytest.fixture(scope="module")
def views() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    fake = np.arange(N) % 2 == 1
    x = rng.normal(3, 2, (N, WIDTH)) + fake[:, None] * np.linspace(-1, 1, WIDTH)
    return x.astype(np.float16), fake, rng.uniform(0.5, 1.5, N)


def logits(rule: Logistic, x: np.ndarray, output: int) -> np.ndarray:
    with torch.inference_mode():
        return rule(torch.from_numpy(x.astype(np.float32)))[:, output].numpy()


def test_groups_are_fitted_apart_and_added_by_their_shares(views):
    x, fake, weights = views
    rules = [Logistic(WIDTH, 1) for _ in range(3)]
    first, second = slice(0, 4), slice(6, 12)
    for rule, groups in zip(rules, ([(first, 1.0)], [(second, 1.0)], [(first, 0.5), (second, 2.0)]), strict=True):
        fit_output(rule, 0, x, fake, weights, groups)
    one, other, both = (logits(rule, x, 0) for rule in rules)
    np.testing.assert_allclose(both, 0.5 * one + 2 * other, atol=1e-4)
    assert not rules[2].linear.weight[0, 4:6].any() and rules[2].linear.weight[0, first].all()


def test_a_second_output_is_fitted_as_if_it_were_alone(views):
    x, fake, weights = views
    pair, alone = Logistic(WIDTH, 2), Logistic(WIDTH, 1)
    fit_output(pair, 0, x, fake, weights)
    fit_output(pair, 1, x * 2 + 1, ~fake, weights)
    fit_output(alone, 0, x * 2 + 1, ~fake, weights)
    np.testing.assert_allclose(logits(pair, x, 1), logits(alone, x, 0), atol=2e-3)
    # Fitted once more, nothing of the first time is left.
    again = logits(pair, x, 1)
    fit_output(pair, 1, x * 2 + 1, ~fake, weights)
    np.testing.assert_allclose(logits(pair, x, 1), again, atol=1e-6)


def test_what_sets_recorded_sources_apart_counts_less(views):
    x, fake, weights = views
    x = x.astype(np.float32)
    sources = np.array(["a", "b", "c", "d"])[np.arange(N) // 4 % 4]
    x[:, 0] += (sources == "a") * 6.0 + fake * 3.0
    spreads, told = [], []
    for given in (None, sources, np.where(fake, sources, "all")):
        rule = Logistic(WIDTH, 1)
        fit_output(rule, 0, x.astype(np.float16), fake, weights, sources=given)
        scores = logits(rule, x, 0)
        means = [scores[~fake & (sources == name)].mean() for name in "abcd"]
        spreads.append(np.std(means) / scores.std())
        told.append(auc(fake, scores))
    assert spreads[1] < 0.5 * spreads[0] and told[1] > 0.7
    # What sets fakes apart is left alone.
    assert spreads[2] == pytest.approx(spreads[0])
