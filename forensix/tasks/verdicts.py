"""From scores to classes, the same way in every task."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensix.calibration import logit, sigmoid
from forensix.errors import UsageError
from forensix.models import band_of

THRESHOLD = 0.5
"""For components that say nothing of their own."""


def threshold_of(component: Any) -> float:
    """Return the score at and above which a component's card calls a thing fake."""
    card = getattr(component, "card", None)
    return THRESHOLD if card is None else float(card.threshold)


def judges_of(component: Any, kind: str) -> tuple[str, ...]:
    """Return which kinds of pictures that no score decides otherwise a component's card judges; none in videos."""
    judges: tuple[str, ...] = getattr(getattr(component, "card", None), "judges", ()) if kind == "image" else ()
    return judges


def is_inconclusive(score: float, component: Any, kind: str | None = None) -> bool:
    """Return whether a score decides nothing: it lies strictly between the bounds of the component's card.

    Beyond a bound of 0 or 1 nothing lies, not even 0 or 1 itself. ``kind`` is the medium's, such as ``"video"``,
    for which a card may have bounds of its own.
    """
    band = band_of(getattr(component, "card", None), kind)
    return band is not None and bool((band[0] < score or band[0] == 0) and (score < band[1] or band[1] == 1))


def is_mute(component: Any, kind: str | None = None) -> bool:
    """Return whether no score of a component decides anything of a medium of a kind: its card's bounds are 0 and 1."""
    return band_of(getattr(component, "card", None), kind) == (0.0, 1.0)


def upper_of(component: Any, kind: str | None = None) -> float:
    """Return the score from which a medium of a kind is held for fake: the upper bound, else the threshold."""
    band = band_of(getattr(component, "card", None), kind)
    return threshold_of(component) if band is None else float(band[1])


def class_of(score: float, component: Any, kind: str | None = None) -> Literal["real", "fake"]:
    """Return the class that a score means for a component; nothing is fake of a kind of which no score means that.

    Of videos, where a card has bounds of their own, that begins at their upper one.
    """
    card = getattr(component, "card", None)
    own = getattr(card, "inconclusive_video", None) if kind == "video" else None
    band = band_of(card, kind)
    upper = threshold_of(component) if own is None else own[1]
    return "fake" if score >= upper and not (band is not None and band[1] == 1) else "real"


def probability_of(score: float, class_name: str) -> float | None:
    """Return the probability that goes with a class on the wire: the score for fake, none otherwise."""
    return score if class_name == "fake" else None


def checked(scores: ArrayLike, n: int, component: Any) -> NDArray[np.float64]:
    """Return the ``n`` scores that a component gave, or say what is wrong with them.

    Pooling works on the logit scale, which would make near-certain scores of raw logits, and hide a NaN among others.

    Raises
    ------
    UsageError
        They are not as many, or not all numbers in [0, 1].
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{type(component).__name__} must give {n} scores, which are numbers: {error}") from None
    if values.shape != (n,):
        raise UsageError(f"{type(component).__name__} must give {n} scores, not an array of the shape {values.shape}")
    wrong = values[~((values >= 0) & (values <= 1))]
    if wrong.size:
        raise UsageError(f"{type(component).__name__} must give scores in [0, 1], higher for fake: got {wrong[0]:g}")
    return values


def pooled(scores: Iterable[float], weights: Iterable[float]) -> float:
    """Return the weighted mean of scores on the logit scale."""
    return float(sigmoid(np.average(logit(list(scores)), weights=list(weights))))


def score_text(score: float, decimals: int = 2) -> str:
    """Return a score with two decimals or as told, and with four near the ends: there rounding reads as certainty.

    Examples
    --------
    >>> score_text(0.834), score_text(0.9987), score_text(1.0), score_text(0.0)
    ('0.83', '0.9987', '> 0.9999', '< 0.0001')
    """
    if score > 0.9999:
        return "> 0.9999"
    if score < 0.0001:
        return "< 0.0001"
    return f"{score:.{max(4, decimals) if score < 0.005 or score >= 0.995 else decimals}f}"
