"""What every metric asks of its input, and the costs of wrong decisions that two of them share."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


# Of the ASVspoof 5 evaluation plan: one file in twenty is fake, and letting it pass costs ten times a false alarm.
REAL_COST = 0.95
"""The weight of the share of reals that are called fake."""
FAKE_COST = 0.5
"""The weight of the share of fakes that pass; the lower of the two, by which costs are normalised."""


def checked(labels: ArrayLike, scores: ArrayLike, *, both: bool = True) -> tuple[NDArray[np.bool_], Floats]:
    """Return labels as booleans (True is fake) and scores as floats, or say what is wrong with them."""
    y, s = np.asarray(labels), np.asarray(scores, dtype=np.float64)
    if y.shape != s.shape or y.ndim != 1:
        raise ValueError(f"labels and scores must be two equally long lists: got {y.shape} and {s.shape}")
    classes = set(np.unique(y).tolist())
    if not classes <= {0, 1} or not classes:
        raise ValueError(f"labels must be 0 (real) or 1 (fake): got {sorted(map(str, classes))[:5]}")
    if both and classes != {0, 1}:
        raise ValueError("labels must hold both 0 (real) and 1 (fake)")
    if not np.isfinite(s).all():
        raise ValueError("scores must be finite: leave out what could not be scored, and count it")
    return y.astype(bool), s


def split(labels: ArrayLike, scores: ArrayLike) -> tuple[Floats, Floats]:
    """Return the scores of the reals and those of the fakes."""
    y, s = checked(labels, scores)
    return s[~y], s[y]


def probabilities(scores: Floats) -> Floats:
    """Return the scores, or say that they are no probabilities."""
    if scores.size and (scores.min() < 0 or scores.max() > 1):
        raise ValueError(f"scores must lie in [0, 1]: got {scores.min():g} to {scores.max():g}")
    return scores
