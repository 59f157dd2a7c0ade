"""Kinds of pictures that no score decides, unless a detector was measured on them: small, even, painted and so on.

The rules on them (`forensix.synthetic.content`) were set by what detectors for photographs of usual sizes say. One that
is made for small pictures, drawings or pictures through microscopes is held to its own bounds there, where enough files
that were held out are of that kind and the bounds hold for them.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from forensix.metrics.bands import FAKE_BELOW, LEAST_OF_SOURCE, REAL_ABOVE
from forensix.models import ModelCard
from forensix.synthetic.content import KINDS


def judging(
    card: ModelCard, kinds: Sequence[Collection[str]], fake: NDArray[np.bool_], scores: NDArray[np.float64]
) -> ModelCard:
    """Return the card with the kinds that its bounds were measured on, given those of each held-out picture.

    Of each there are `LEAST_OF_SOURCE` or more pictures in both classes, and no larger shares of them lie beyond the
    bounds than may of all. Where nothing lies beyond them there are none to judge.

    Parameters
    ----------
    kinds
        Of each picture, of which of `forensix.synthetic.content.KINDS` it is.
    fake, scores
        Shape (n,): which are fake, and the calibrated scores of the files as they are.
    """
    low, high = card.inconclusive or (0.0, 1.0)
    if (low, high) == (0.0, 1.0):
        return card

    def is_held(kind: str) -> bool:
        of_kind = np.array([kind in one for one in kinds], dtype=bool)
        real, made = scores[of_kind & ~fake], scores[of_kind & fake]
        enough = min(len(real), len(made)) >= LEAST_OF_SOURCE
        return enough and bool((real >= high).mean() <= REAL_ABOVE and (made <= low).mean() <= FAKE_BELOW)

    return card.model_copy(update={"judges": tuple(filter(is_held, KINDS))})


def told(card: ModelCard) -> str:
    """Return in a sentence which kinds a card judges, and a space behind it; empty where there are none."""
    if not card.judges:
        return ""
    return (
        f"It judges pictures of these kinds, of which {LEAST_OF_SOURCE} or more of each class were held out:"
        f" {', '.join(card.judges)}. "
    )
