"""From scores to classes, the same way in every task."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from forensix.calibration import logit, sigmoid

THRESHOLD = 0.5
"""For components that say nothing of their own."""


def threshold_of(component: Any) -> float:
    """Return the score at and above which a component's card calls a thing fake."""
    card = getattr(component, "card", None)
    return THRESHOLD if card is None else float(card.threshold)


def class_of(score: float, component: Any) -> Literal["real", "fake"]:
    """Return the class that a score means for a component."""
    return "fake" if score >= threshold_of(component) else "real"


def probability_of(score: float, class_name: str) -> float | None:
    """Return the probability that goes with a class on the wire: the score for fake, none otherwise."""
    return score if class_name == "fake" else None


def pooled(scores: Iterable[float], weights: Iterable[float]) -> float:
    """Return the weighted mean of scores on the logit scale."""
    return float(sigmoid(np.average(logit(list(scores)), weights=list(weights))))
