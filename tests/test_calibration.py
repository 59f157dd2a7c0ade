"""Calibration: logits to probabilities under equal priors."""

import numpy as np
import pytest

from forensix.calibration import fit_platt, logit, sigmoid


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
