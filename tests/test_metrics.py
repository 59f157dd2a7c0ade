"""Metrics against scikit-learn and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from forensix.calibration import fit_platt, logit, sigmoid
from forensix.metrics import auc, bootstrap_interval, eer


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-3, 3)), min_size=2, max_size=60))
def test_auc_is_scikit_learns_ties_included(pairs: list[tuple[int, int]]) -> None:
    labels, scores = zip(*pairs, strict=True)
    if len(set(labels)) < 2:
        with pytest.raises(ValueError, match="both"):
            auc(labels, scores)
    else:
        assert auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores))


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([0, 0, 1, 1], [0, 1, 2, 3], 0),
        ([1, 1, 0, 0], [0, 1, 2, 3], 1),
        ([0, 1, 0, 1], [0, 1, 2, 3], 0.5),
        ([0, 0, 1, 1], [1, 1, 1, 1], 0.5),
        ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 2, 1, 3, 3, 3], 0.25),
    ],
)
def test_eer_by_hand(labels: list[int], scores: list[float], expected: float) -> None:
    assert eer(labels, scores) == pytest.approx(expected)


def test_bootstrap_resamples_groups_not_examples() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    scores = np.repeat(rng.normal(size=10), 10) + 0.5 * labels
    groups = np.repeat(np.arange(10), 10)
    lone = bootstrap_interval(auc, labels, scores, n=200)
    grouped = bootstrap_interval(auc, labels, scores, groups=groups, n=200)
    assert grouped[1] - grouped[0] > lone[1] - lone[0]
    assert lone[0] <= auc(labels, scores) <= lone[1]


def test_platt_gives_equal_priors_whatever_the_mix() -> None:
    rng = np.random.default_rng(1)
    labels = (rng.random(6000) < 0.1).astype(int)
    raw = rng.normal(size=6000) + 2 * labels
    calibration = fit_platt(3 * raw - 1, labels)
    # Two unit normals two apart: the log likelihood ratio is 2 x - 2.
    np.testing.assert_allclose(calibration.score([3 * 1 - 1]), 0.5, atol=0.05)
    np.testing.assert_allclose(calibration.score([3 * 2 - 1]), sigmoid(2), atol=0.05)


def test_platt_refuses_turned_scores_and_lone_classes() -> None:
    with pytest.raises(ValueError, match="turn them round"):
        fit_platt([3, 2, 1, 0], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="both"):
        fit_platt([1, 2], [1, 1])


def test_logit_and_sigmoid_undo_each_other_without_overflow() -> None:
    x = np.linspace(-20, 20, 9)
    np.testing.assert_allclose(logit(sigmoid(x)), x, rtol=1e-5)
    assert sigmoid([-1000, 1000]).tolist() == [0, 1]
