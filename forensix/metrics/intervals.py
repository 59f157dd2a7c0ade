"""Intervals by the cluster bootstrap: whole groups (a speaker, a source video) are drawn again, with all their files.

Files of one group rise and fall together, so drawing files one by one makes intervals too narrow. A group that holds
reals and fakes (a video and what was made of it) is drawn as one: apart they would hide that a hard video is hard for
both, or count twice that a loud one scores high in both. Classes without a common group are drawn each for itself.
Only how often each group was drawn is kept; `measure` turns these counts into all metrics at once, for one or many sets
of fakes against the same reals, and 100,000 files with 1,000 draws take seconds.

References
----------
B. Efron and R. Tibshirani, "An introduction to the bootstrap", 1993 (percentile interval).
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from forensix.errors import UsageError
from forensix.metrics import decisions, ranking
from forensix.metrics.checks import Floats, checked

Metric = Callable[[NDArray[np.int64], Floats], float]
# Draws times files that are counted at once: fewer cost calls, more leave the cache; measured best of 2^17 to 2^21.
_BLOCK = 1 << 20
_samples = itertools.count()

#: Which way each metric of `measure` is better; in the order of tables.
DIRECTION = {
    "auc": "higher",
    "average_precision": "higher",
    "eer": "lower",
    "accuracy_0.5": "higher",
    "accuracy_threshold": "higher",
    "accuracy_oracle": "higher",
    "balanced_accuracy_0.5": "higher",
    "balanced_accuracy_threshold": "higher",
    "balanced_accuracy_oracle": "higher",
    "tpr_at_fpr_0.01": "higher",
    "tpr_at_fpr_0.001": "higher",
    "brier": "lower",
    "ece": "lower",
    "cllr": "lower",
    "min_dcf": "lower",
    "act_dcf": "lower",
}
FOR_VOICES = ("min_dcf", "act_dcf")


@dataclass(frozen=True, eq=False)
class Sample:
    """Scores of one class (n,) and the group of each, numbered from 0 in the order of ``names``."""

    scores: Floats
    groups: NDArray[np.int64]
    names: tuple[str, ...]
    called: NDArray[np.bool_]
    """Which are called fake, for ``accuracy_threshold`` and ``balanced_accuracy_threshold``."""

    @property
    def is_one(self) -> bool:
        """Whether all is one group: drawn again it is the same, which says nothing about other groups."""
        return len(self.names) == 1

    @classmethod
    def of(cls, scores: ArrayLike, groups: ArrayLike | None = None, *, threshold: float = 0.5) -> "Sample":
        """Number the groups; by default each file is its own, and no other sample's.

        Scores from ``threshold`` on are called fake.
        """
        s = np.asarray(scores, dtype=np.float64)
        called = s >= threshold
        if groups is None:
            sample = next(_samples)
            return cls(s, np.arange(s.size), tuple(f"file {i} of {sample}" for i in range(s.size)), called)
        names, codes = np.unique(np.asarray(groups), return_inverse=True)
        return cls(s, codes, tuple(map(str, names)), called)


@dataclass(frozen=True, eq=False)
class Measures:
    """All metrics of one set: ``values`` on the set itself, ``draws`` (n,) of each on what the bootstrap drew."""

    values: dict[str, float]
    draws: dict[str, Floats]

    def interval(self, metric: str, confidence: float = 0.95) -> tuple[float, float]:
        """Return the percentile interval; NaN where the metric has no value, or a class is of one group only."""
        return percentile(self.draws[metric], confidence)


def percentile(draws: Floats, confidence: float) -> tuple[float, float]:
    """Return the interval that holds the share ``confidence`` of the draws, as much left out above as below.

    Draws in which a class came out empty have no value and are passed over; with fewer than half left it is NaN.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is a share between 0 and 1, such as 0.95, not {confidence}")
    known = draws[np.isfinite(draws)]
    if known.size == 0 or known.size < draws.size / 2:
        return float("nan"), float("nan")
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def bootstrap_interval(
    metric: Metric,
    labels: ArrayLike,
    scores: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Return a percentile bootstrap interval of any metric, resampling whole groups.

    Parameters
    ----------
    metric
        ``metric(labels, scores) -> float``.
    groups
        Shape (n,): examples that belong together (one speaker, one video); by default each is its own. A class of
        one group has no interval: both ends are NaN.
    confidence
        The share of the draws that the interval holds, between 0 and 1.
    """
    y, s = checked(labels, scores)
    g = np.arange(y.size) if groups is None else np.asarray(groups)
    rows = [np.flatnonzero(~y), np.flatnonzero(y)]
    parts = [Sample.of(s[at], g[at]) for at in rows]
    if any(part.is_one for part in parts):
        return float("nan"), float("nan")
    values = np.empty(n)
    for i, counts in enumerate(drawn_counts(parts, n, seed)):
        at = np.concatenate([np.repeat(r, c[p.groups]) for r, p, c in zip(rows, parts, counts, strict=True)])
        resampled = y[at]
        values[i] = metric(resampled.astype(np.int64), s[at]) if resampled.any() and not resampled.all() else np.nan
    return percentile(values, confidence)


def drawn_counts(parts: Sequence[Sample], n: int, seed: int) -> Iterator[list[NDArray[np.int64]]]:
    """Yield, n times, how often each group of each part was drawn; a group is drawn alike for all parts that hold it.

    Parts that hang together by common groups are drawn from all of these, so one may come out empty.
    """
    rng = np.random.default_rng(seed)
    number: dict[str, int] = {}
    held = [np.array([number.setdefault(name, len(number)) for name in part.names], np.int64) for part in parts]
    strata = _strata(held, len(number))
    for _ in range(n):
        drawn = np.zeros(len(number), np.int64)
        for stratum in strata:
            drawn[stratum] = np.bincount(rng.integers(stratum.size, size=stratum.size), minlength=stratum.size)
        yield [drawn[groups] for groups in held]


def _strata(held: Sequence[NDArray[np.int64]], n: int) -> list[NDArray[np.int64]]:
    """Return the groups in those lots that are drawn apart: parts with a common group are of one lot."""
    lot_of = np.full(n, -1, np.int64)
    lots: list[NDArray[np.int64]] = []
    for i, groups in enumerate(held):
        met = np.unique(lot_of[groups])
        lot_of[np.isin(lot_of, met[met >= 0])] = i
        lot_of[groups] = i
    for lot in dict.fromkeys(lot_of.tolist()):
        lots.append(np.flatnonzero(lot_of == lot))
    return lots


def measure(
    reals: Sample,
    sets: Sequence[Sample],
    *,
    n: int = 1000,
    seed: int = 0,
) -> list[Measures]:
    """Return all metrics of each set of fakes against the same reals, with draws for intervals.

    A group (a source video to which several methods were applied) is drawn alike for the reals and for every set that
    holds it, so a mean over sets may be taken draw by draw. The scores must be in [0, 1].

    Parameters
    ----------
    n
        Number of draws; 0 for none.

    Returns
    -------
        One for each set. Where the reals or a set are empty, what needs both classes is NaN, also in a draw; where they
        are of one group, all draws are.
    """
    plans = _Plans(reals, sets)
    values = plans.run([np.ones((1, len(part.names))) for part in (reals, *sets)])
    total = sum(part.scores.size for part in (reals, *sets))
    block = max(1, _BLOCK // max(total, 1))
    pieces: list[list[dict[str, Floats]]] = []
    batch: list[list[NDArray[np.int64]]] = []
    for counts in drawn_counts((reals, *sets), n, seed):
        batch.append(counts)
        if len(batch) == block:
            pieces.append(plans.run([np.stack(part).astype(np.float64) for part in zip(*batch, strict=True)]))
            batch = []
    if batch:
        pieces.append(plans.run([np.stack(part).astype(np.float64) for part in zip(*batch, strict=True)]))
    known = [np.nan if reals.is_one or part.is_one else 0.0 for part in sets]
    return [
        Measures(
            {name: float(value[0]) for name, value in measured.items()},
            {
                name: np.concatenate([np.zeros(0), *(piece[k][name] for piece in pieces)]) + known[k]
                for name in measured
            },
        )
        for k, measured in enumerate(values)
    ]


class _Plans:
    """What does not change from draw to draw: the order of the files, and the sums of each group."""

    def __init__(self, reals: Sample, sets: Sequence[Sample]) -> None:
        order = np.argsort(-reals.scores, kind="stable")
        self._real_groups = reals.groups[order]
        self._places = [ranking.place(reals.scores[order], part.scores) for part in sets]
        self._fake_groups = [part.groups[place.order] for part, place in zip(sets, self._places, strict=True)]
        self._real_sums = self._sums(reals, fake=False)
        self._fake_sums = [self._sums(part, fake=True) for part in sets]

    def _sums(self, part: Sample, *, fake: bool) -> Floats:
        of_files = decisions.terms(part.scores, fake=fake, decisions=(part.scores >= 0.5, part.called))
        sums = np.zeros((len(part.names), of_files.shape[1]))
        for k in range(of_files.shape[1]):
            sums[:, k] = np.bincount(part.groups, of_files[:, k], len(part.names))
        return sums

    def run(self, counts: Sequence[Floats]) -> list[dict[str, Floats]]:
        """Return all metrics of each set for counts of groups, each (draws, n_groups)."""
        real_counts, *set_counts = counts
        real_sums = real_counts @ self._real_sums
        reals = ranking.running(real_counts.take(self._real_groups, axis=1))
        return [
            self._metrics(*counts_of_set, real_sums=real_sums, reals=reals)
            for counts_of_set in zip(set_counts, self._places, self._fake_groups, self._fake_sums, strict=True)
        ]

    def _metrics(
        self,
        counts: Floats,
        places: ranking.Places,
        groups: NDArray[np.int64],
        sums: Floats,
        *,
        real_sums: Floats,
        reals: Floats,
    ) -> dict[str, Floats]:
        fake_sums = counts @ sums
        metrics = decisions.from_sums(real_sums, fake_sums, names=("0.5", "threshold"))
        if groups.size and reals.shape[1] > 1:
            t = ranking.tally(places, reals, counts.take(groups, axis=1))
            with np.errstate(invalid="ignore", divide="ignore"):
                metrics |= {
                    "auc": ranking.auc_of(t),
                    "average_precision": ranking.average_precision_of(t),
                    "eer": ranking.eer_of(t),
                    "accuracy_oracle": ranking.oracle_accuracy_of(t),
                    "balanced_accuracy_oracle": ranking.oracle_accuracy_of(t, balanced=True),
                    "tpr_at_fpr_0.01": ranking.tpr_at_fpr_of(t, 0.01),
                    "tpr_at_fpr_0.001": ranking.tpr_at_fpr_of(t, 0.001),
                    "min_dcf": ranking.min_dcf_of(t),
                }
            one_class = (real_sums[:, 0] == 0) | (fake_sums[:, 0] == 0)
            if one_class.any():
                metrics = {name: np.where(one_class, np.nan, value) for name, value in metrics.items()}
        nothing = np.full(counts.shape[0], np.nan)
        return {name: metrics.get(name, nothing) for name in DIRECTION}
