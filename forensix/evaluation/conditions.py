"""A tidy frame of scores taken apart by condition and class, checked, and measured with its groups.

`forensix.evaluation.summary` makes the tables of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.errors import UsageError
from forensix.labels import LABELS
from forensix.manifest_table import GROUP, groups_of
from forensix.metrics.intervals import DIRECTION, Measures, Sample, measure

KEYS = ("task", "component", "degradation", "strength", "level")
UNKNOWN = "unknown"

Threshold = float | Mapping[str, float]


def conditions(frame: pd.DataFrame, *, without: str | None = None) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each combination of `KEYS` that the frame has, but for the column ``without``, and its rows."""
    _check(frame)
    keys = [name for name in KEYS if name in frame.columns and name != without]
    if not keys:
        yield {}, frame
        return
    for key, part in frame.groupby(keys, sort=False, dropna=False):
        yield dict(zip(keys, key, strict=True)), part


def _check(frame: pd.DataFrame) -> None:
    need(frame, ["path", "label", "score"])
    unknown = set(frame["label"].dropna().unique()) - {"real", "fake"}
    if unknown or frame["label"].isna().any():
        raise UsageError(f"labels must be real or fake; also found: {', '.join(map(str, sorted(unknown))) or 'empty'}")
    scores = pd.to_numeric(frame["score"], errors="coerce")
    if not scores.dropna().between(0, 1).all() or scores.isna().sum() != frame["score"].isna().sum():
        raise UsageError("scores must be numbers in [0, 1], or empty where there is none")


def need(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise `UsageError` where the frame lacks one of the columns."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise UsageError(
            f"the scores have no column {', '.join(missing)}; they have: {', '.join(map(str, frame.columns))}"
        )


def text(values: "pd.Series[Any]") -> "pd.Series[str]":
    """Return values as text, `UNKNOWN` where there is none."""
    # As objects first: categories and nullable numbers take no other value.
    return values.astype(object).where(values.notna(), UNKNOWN).astype(str)


def classes(part: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows that were scored: reals and fakes."""
    scored = part[part["score"].notna()]
    return scored[scored["label"] == "real"], scored[scored["label"] == "fake"]


def called_fake(
    rows: pd.DataFrame, threshold: float | NDArray[np.floating[Any]], *, verdicts: bool
) -> NDArray[np.bool_]:
    """Return which rows are called fake: those whose score reaches the threshold.

    With ``verdicts`` the row's ``class_name`` says it, where that is real or fake: a verdict calls nothing fake that it
    cannot judge, whatever the score, and videos may have a bound of their own.
    """
    reached = rows["score"].to_numpy(np.float64) >= threshold
    if not verdicts or "class_name" not in rows:
        return reached
    told = rows["class_name"].isin(LABELS).to_numpy()
    return np.where(told, rows["class_name"].isin(["fake"]).to_numpy(), reached)


def units(rows: pd.DataFrame, group: str | None = GROUP) -> "pd.Series[str]":
    """Return what intervals draw again: the group of each row, or the file where it has none."""
    return "p:" + rows["path"].astype(str) if group is None else groups_of(rows, group)


def sample(part: pd.DataFrame, group: str | None, threshold: float = 0.5, *, verdicts: bool = False) -> Sample:
    """Return the scores of rows with their groups; a row without a group is its own.

    So are all where the frame lacks the column that manifests have for it, and nobody named another.
    """
    if group not in (None, GROUP):
        need(part, [group])
    called = called_fake(part, threshold, verdicts=verdicts)
    codes, names = pd.factorize(units(part, group), sort=True)
    return Sample(part["score"].to_numpy(np.float64), codes.astype(np.int64), tuple(names), called)


def measured(
    real: pd.DataFrame,
    fakes: Sequence[pd.DataFrame],
    key: Mapping[str, Any],
    group: str | None,
    n: int,
    seed: int,
    threshold: Threshold,
    verdicts: bool,
) -> list[Measures]:
    """Return the metrics of each set of fakes against the same reals, the draws of their intervals included."""
    if n < 0:
        raise UsageError(f"n_bootstrap is how many draws an interval is made of, 0 for none, not {n}")
    if isinstance(threshold, Mapping):
        component = str(key.get("component"))
        if component not in threshold:
            raise UsageError(f"there is no threshold for {component}; there are some for: {', '.join(threshold)}")
        threshold = threshold[component]
    reals, *sets = [sample(p, group, threshold, verdicts=verdicts) for p in (real, *fakes)]
    return measure(reals, sets, n=n, seed=seed)


def mean(many: Sequence[Measures]) -> Measures:
    """Return the unweighted mean, of the draws too: draw by draw."""
    return Measures(
        {name: float(np.mean([m.values[name] for m in many])) for name in DIRECTION},
        {name: _mean_draws([m.draws[name] for m in many]) for name in DIRECTION},
    )


def _mean_draws(draws: Sequence[np.ndarray]) -> np.ndarray:
    """Return the mean draw by draw over those sets that a draw holds; NaN throughout where one has no draws."""
    known = np.isfinite(draws)
    if not known.any(axis=1).all():
        return np.full(known.shape[1], np.nan)
    means: np.ndarray = np.where(known, draws, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known.any(axis=0), means, np.nan)
