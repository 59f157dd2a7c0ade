"""Scores of an evaluation: which rows are shown, and in which order.

A row is an error where its verdict's class is not its label; the card's threshold stands for a class that is neither
real nor fake. ``wrong_by`` says by how much the score is wrong: 0 at the threshold, 1 where it could not be more wrong,
-1 where it could not be more right; 0 too where the class is not that of the score, as of what cannot be judged.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from forensix.errors import UsageError
from forensix.evaluation.conditions import called_fake, text
from forensix.evaluation.plan import RESULT_COLUMNS

FALSE_ALARM, MISS = "false alarm", "miss"
OUTCOMES = ("right", FALSE_ALARM, MISS, "failed", "nothing to score")
OUTCOME_FILTERS = ("all", "errors", *OUTCOMES)
ORDERS = ("most wrong first", "highest score first", "lowest score first", "as listed")
AS_THEY_ARE = "none"
MAX_VALUES = 200
"""Values of a column to choose from, most frequent first."""


@dataclass(frozen=True)
class Selection:
    """What is shown of an evaluation."""

    component: str
    degradation: str | None = AS_THEY_ARE
    """A degradation as `conditions` names it, ``"jpeg 70"``; None for all of them."""
    outcome: str = "all"
    """One of `OUTCOME_FILTERS`; ``"errors"`` are false alarms and misses."""
    where: Mapping[str, str] = field(default_factory=dict)
    """Values by column, as text; ``"unknown"`` where there is none."""
    contains: str = ""
    """Text in the path; case does not count."""
    score: tuple[float, float] = (0.0, 1.0)
    """Scores from and up to; rows without one are shown where this is the whole range."""
    order: str = ORDERS[0]


def judged(scores: pd.DataFrame, thresholds: Mapping[str, float]) -> pd.DataFrame:
    """Return scores with ``condition``, ``outcome`` and ``wrong_by``; columns of lists and records as text."""
    threshold = scores["component"].map(thresholds).to_numpy(np.float64)
    score = scores["score"].to_numpy(np.float64)
    fake = (scores["label"] == "fake").to_numpy()
    called = called_fake(scores, threshold, verdicts=True)
    outcome = np.select(
        [scores["error"].notna().to_numpy(), np.isnan(score), fake & ~called, ~fake & called],
        ["failed", "nothing to score", MISS, FALSE_ALARM],
        "right",
    )
    room = np.maximum(np.where(score >= threshold, 1 - threshold, threshold), 1e-9)
    wrong_by = np.where(fake, threshold - score, score - threshold) / room
    wrong_by = np.where(called == fake, np.minimum(wrong_by, 0), np.maximum(wrong_by, 0))
    # Text of few values: as categories, filters over many rows stay quick.
    return scores.assign(
        condition=_conditions(scores),
        outcome=pd.Categorical(outcome, OUTCOMES),
        wrong_by=wrong_by,
        **{str(name): text(column) for name, column in scores.items() if _has_lists(column)},
    )


def _has_lists(column: "pd.Series[Any]") -> bool:
    """Return whether a column has values that cannot be counted, as manifests from Parquet may have: lists, records."""
    return column.dtype == object and not all(isinstance(value, Hashable) for value in column)


def _conditions(scores: pd.DataFrame) -> "pd.Categorical[Any]":
    pairs = pd.MultiIndex.from_arrays([scores["degradation"], pd.to_numeric(scores["strength"], errors="coerce")])
    codes, labels = pairs.factorize()
    names = [str(name) if pd.isna(strength) else f"{name} {strength:g}" for name, strength in labels]
    return pd.Categorical(np.asarray(names, dtype=object)[codes], categories=names)


def conditions(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the degradations of judged scores, ``"none"`` for files as they are, in order of appearance."""
    return tuple(frame["condition"].cat.categories)


def columns(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the columns of the manifest that tell rows apart, and those of the label and the verdict's class."""
    own = [name for name in frame.columns if name not in (*RESULT_COLUMNS, "path", "condition", "outcome", "wrong_by")]
    return tuple(str(name) for name in (*own, "class_name") if frame[name].nunique(dropna=False) > 1)


def values(frame: pd.DataFrame, column: str, chosen: str | None = None) -> tuple[tuple[str, int], ...]:
    """Return the values of a column as text with their numbers, most frequent first, at most `MAX_VALUES`.

    The value that is chosen is among them in any case: a filter that no menu shows could not be taken away.
    """
    counts = text(frame[column]).value_counts()
    listed = {str(value): int(n) for value, n in counts.head(MAX_VALUES).items()}
    if chosen is not None:
        listed.setdefault(chosen, int(counts.get(chosen, 0)))
    return tuple(listed.items())


def check(frame: pd.DataFrame, selection: Selection) -> None:
    """Raise `UsageError` where a selection names what is not there; the sentence says what is."""
    known = {
        "component": (selection.component, tuple(map(str, frame["component"].unique()))),
        "degradation": (selection.degradation or AS_THEY_ARE, (*conditions(frame), AS_THEY_ARE)),
        "outcome": (selection.outcome, OUTCOME_FILTERS),
        "order": (selection.order, ORDERS),
    }
    for name, (value, there) in known.items():
        if value not in there:
            raise UsageError(f"{name} is one of {', '.join(dict.fromkeys(there))}; not {value!r}")
    for name in selection.where:
        if name not in frame.columns:
            raise UsageError(f"the scores have no column {name}; they have: {', '.join(map(str, frame.columns))}")
    low, high = selection.score
    if not 0 <= low <= high <= 1:
        raise UsageError(f"score is a pair of numbers from 0 to 1, the lower first; not {selection.score}")


def chosen(frame: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Return the rows of judged scores that a selection shows, in its order, numbered from 0."""
    check(frame, selection)
    keep = (frame["component"] == selection.component).to_numpy()
    if selection.degradation is not None:
        keep = keep & (frame["condition"] == selection.degradation).to_numpy()
    if selection.outcome != "all":
        outcomes = (FALSE_ALARM, MISS) if selection.outcome == "errors" else (selection.outcome,)
        keep = keep & frame["outcome"].isin(outcomes).to_numpy()
    for name, value in selection.where.items():
        keep = keep & (text(frame[name]) == str(value)).to_numpy()
    if selection.contains:
        keep = keep & frame["path"].str.contains(selection.contains, case=False, regex=False).to_numpy(bool)
    if selection.score != (0.0, 1.0):
        keep = keep & frame["score"].between(*selection.score).to_numpy()
    rows = frame[keep]
    if selection.order == ORDERS[0]:
        rows = rows.sort_values("wrong_by", ascending=False, kind="stable", na_position="last")
    elif selection.order != ORDERS[3]:
        rows = rows.sort_values("score", ascending=selection.order == ORDERS[2], kind="stable", na_position="last")
    return rows.reset_index(drop=True)
