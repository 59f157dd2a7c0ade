"""The band of scores that decides nothing, and how often what lies outside it is wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

REAL_ABOVE = 0.05
FAKE_BELOW = 0.10
LEAST_OF_SOURCE = 20
LEAST_RATIO = 2.0
MOST_CHANCE = 0.05


@dataclass(frozen=True)
class BandRates:
    """What a band decides: shares in [0, 1] of the files of each class, and of what is called fake or real."""

    real_decided: float
    fake_decided: float
    real_called_fake: float
    """Share of all real files at or above the upper bound."""
    fake_called_real: float
    """Share of all fake files at or below the lower bound."""
    wrong: float
    """Share of the decided files that are wrong; NaN where none is decided."""


def inconclusive_band(
    fake: ArrayLike,
    scores: ArrayLike,
    sources: Sequence[str],
    *,
    kinds: Sequence[str] | None = None,
    conditions: Sequence[str] | None = None,
    real_above: float = REAL_ABOVE,
    fake_below: float = FAKE_BELOW,
    least: int = LEAST_OF_SOURCE,
) -> tuple[float, float]:
    """Return the bounds between which a score is inconclusive.

    Parameters
    ----------
    fake
        Shape (n,), 1 for fake and 0 for real.
    scores
        Shape (n,), in [0, 1], higher is more likely fake: of files whose sources the model never saw.
    sources
        The source of each file. Real files of sources with fewer than ``least`` of them count together as one.
    kinds
        The kind of each file, likewise for fakes; without it they are all of one kind.
    conditions
        What was done to each file. A source or kind in one condition is apart from the same in another, and small ones
        count together with those of their condition alone; without it all are as they are.
    real_above
        At most this share of the real files of *every* source lies at or above the upper bound.
    fake_below
        At most this share of the fakes of *every* kind lies at or below the lower bound.

    Returns
    -------
    Lower and upper bound, in thousandths. Where the scores are so good that they would cross, both are their mean.

    Raises
    ------
    ValueError
        One class is missing.
    """
    is_fake, scored = np.asarray(fake, dtype=bool), np.asarray(scores, dtype=np.float64)
    if is_fake.all() or not is_fake.any():
        raise ValueError("a band needs both real and fake files")
    source_of, kind_of, condition_of = (
        np.zeros(scored.size) if of is None else np.asarray(of, dtype=object) for of in (sources, kinds, conditions)
    )
    upper = _worst(scored[~is_fake], source_of[~is_fake], condition_of[~is_fake], real_above, least)
    lower = 1 - _worst(1 - scored[is_fake], kind_of[is_fake], condition_of[is_fake], fake_below, least)
    lower, upper = np.floor(lower * 1000) / 1000, np.ceil(upper * 1000) / 1000
    if lower > upper:
        lower = upper = round((lower + upper) / 2, 3)
    return float(lower), float(upper)


def supported(
    fake: ArrayLike,
    scores: ArrayLike,
    band: tuple[float, float],
    *,
    groups: Sequence[str] | None = None,
    least: float = LEAST_RATIO,
    chance: float = MOST_CHANCE,
) -> tuple[float, float]:
    """Return a band whose bounds mean something: one that does not is moved to its end of the scale.

    A few wrong calls do not make a verdict: where as few fakes as reals lie above the upper bound, lying there says
    nothing. A bound stays where files of its own class are ``least`` times as common beyond it as those of the other,
    in shares of their classes, and chance would make them as much more common in at most ``chance`` of all draws
    (Fisher's exact test, one-sided). With ``groups``, of files that have something in common, a class's share is the
    mean over its groups, and chance deals whole groups to the classes: files of one group lie beyond together.

    Examples
    --------
    >>> fake = np.repeat([0, 1], 20)
    >>> scores = np.concatenate([np.full(20, 0.5), np.full(10, 0.5), np.full(10, 0.95)])
    >>> supported(fake, scores, (0.2, 0.9))
    (0.0, 0.9)
    """
    from scipy.stats import fisher_exact, permutation_test

    y, s = np.asarray(fake, dtype=bool), np.asarray(scores, dtype=float)

    def stands(own: NDArray[np.bool_], beyond: NDArray[np.bool_]) -> bool:
        files = pd.DataFrame({"own": own, "beyond": beyond, "group": np.arange(y.size) if groups is None else groups})
        shares = files.groupby(["own", "group"])["beyond"].mean()
        ours, others = (shares[side].to_numpy() if side in shares else np.zeros(0) for side in (True, False))
        # Of one group nobody knows how much groups differ.
        if min(ours.size, others.size) < 2 or ours.mean() < least * others.mean():
            return False
        if groups is None:
            inside = [[int(part.sum()), int((1 - part).sum())] for part in (ours, others)]
            return bool(fisher_exact(inside, "greater").pvalue <= chance)
        drawn = permutation_test((ours, others), _gap, vectorized=True, alternative="greater", random_state=0)
        return bool(drawn.pvalue <= chance)

    low = band[0] if stands(~y, s <= band[0]) else 0.0
    return low, band[1] if stands(y, s >= band[1]) else 1.0


def _gap(ours: NDArray[np.float64], others: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    gap: NDArray[np.float64] = ours.mean(axis=axis) - others.mean(axis=axis)
    return gap


def _worst(
    scores: NDArray[np.float64], groups: NDArray[Any], conditions: NDArray[Any], share: float, least: int
) -> float:
    """Return the least value that no more than a share of any group reaches in any condition.

    Groups that are small in a condition count together there as one.
    """
    table = pd.DataFrame({"score": scores, "condition": conditions, "group": groups})
    sizes = table.groupby(["condition", "group"])["score"].transform("size")
    names = table["group"].where(sizes >= least, "the rest")
    return max(_above(of.to_numpy(), share) for _, of in table.groupby(["condition", names])["score"])


def _above(scores: "np.ndarray[tuple[int], np.dtype[np.float64]]", share: float) -> float:
    """Return a value that at most a share of the scores reaches; 1 where even the highest may not."""
    ordered = np.sort(scores)[::-1]
    allowed = int(np.floor(share * len(ordered)))
    return min(1.0, float(np.nextafter(ordered[allowed], 2)))


def decided(fake: ArrayLike, scores: ArrayLike, band: tuple[float, float], *, withheld: ArrayLike = False) -> BandRates:
    """Return what a band (lower, upper) decides of files and how often that is wrong; see `BandRates`.

    Files that are ``withheld``, shape (n,), are decided by no score.

    Raises
    ------
    ValueError
        One class is missing.

    Examples
    --------
    >>> decided([0, 0, 1, 1], [0.1, 0.5, 0.6, 0.95], (0.2, 0.9)).wrong
    0.0
    >>> decided([0, 1], [0.0, 1.0], (0.0, 1.0)).fake_decided
    0.0
    """
    y, s = np.asarray(fake, dtype=bool), np.asarray(scores, dtype=float)
    if y.all() or not y.any():
        raise ValueError("what a band decides needs both real and fake files")
    low, high = s <= band[0], s >= band[1]
    if band[0] == band[1]:
        low = s < band[0]
    # Beyond a bound of 0 or 1 nothing lies.
    told = ~np.asarray(withheld, dtype=bool)
    low, high = low & told & (band[0] > 0), high & told & (band[1] < 1)
    settled = low | high
    wrong = (low & y) | (high & ~y)
    return BandRates(
        real_decided=float(settled[~y].mean()),
        fake_decided=float(settled[y].mean()),
        real_called_fake=float(high[~y].mean()),
        fake_called_real=float(low[y].mean()),
        wrong=float(wrong.sum() / settled.sum()) if settled.any() else float("nan"),
    )
