"""From a network's logit to a score: a probability under equal priors, by Platt's logistic fit.

The fit is made on sources that training did not see. Classes are weighted to equal priors, so a score of 0.5 means
that the evidence speaks for neither side, whatever the mix of files that a user has.

References
----------
J. Platt, "Probabilistic outputs for support vector machines", 1999.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict


class Calibration(BaseModel):
    """``score = sigmoid(slope * logit + intercept)``; ``slope`` is positive, so order is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    slope: float
    intercept: float

    def score(self, logit: ArrayLike) -> NDArray[np.float64]:
        """Return calibrated scores in [0, 1], higher is more likely fake, in the shape of ``logit``."""
        return sigmoid(self.slope * np.asarray(logit, dtype=np.float64) + self.intercept)


def sigmoid(x: ArrayLike) -> NDArray[np.float64]:
    """Return the logistic function, without overflow."""
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(np.exp(-np.logaddexp(0.0, -x)))


def logit(p: ArrayLike) -> NDArray[np.float64]:
    """Return the inverse of `sigmoid`; probabilities are kept off 0 and 1 by 1e-12."""
    p = np.clip(np.asarray(p, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.asarray(np.log(p) - np.log1p(-p))


def fit_platt(logits: ArrayLike, labels: ArrayLike, *, weights: ArrayLike | None = None) -> Calibration:
    """Fit a calibration under equal priors.

    Parameters
    ----------
    logits
        Shape (n,), higher for fake.
    labels
        Shape (n,), 1 for fake and 0 for real.
    weights
        Shape (n,), relative weight of each example within its class (equal by default), for example to let every
        source count alike.

    Raises
    ------
    ValueError
        A class is missing, or the logits separate the classes the wrong way round.
    """
    from scipy.optimize import minimize

    x = np.asarray(logits, dtype=np.float64)
    y = np.asarray(labels).astype(bool)
    if y.all() or not y.any():
        raise ValueError("calibration needs both real and fake examples")
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64).copy()
    w[y] *= 0.5 / w[y].sum()
    w[~y] *= 0.5 / w[~y].sum()
    # Platt's targets keep the slope finite where the classes separate perfectly.
    target = np.where(y, (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2))
    spread = x.std() or 1.0

    def loss(p: NDArray[np.float64]) -> float:
        z = p[0] * x / spread + p[1]
        return float(np.sum(w * (np.logaddexp(0, z) - target * z)))

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x
    if slope <= 0:
        raise ValueError("the logits are higher for real than for fake: turn them round where they are read")
    return Calibration(slope=float(slope / spread), intercept=float(intercept))
