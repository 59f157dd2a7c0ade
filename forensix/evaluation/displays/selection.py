"""Which scores of a frame belong to which curve."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.errors import UsageError
from forensix.evaluation.conditions import KEYS, need
from forensix.metrics.checks import Floats
from forensix.perturb import ordered

_OWN_REALS = (*KEYS, "run")
"""Columns whose values share no real: what one component says of them is not to be set against another's fakes."""


class Selected(NamedTuple):
    """One curve's name, labels (True is fake), scores, and the rows that they are from."""

    name: str
    labels: NDArray[np.bool_]
    scores: Floats
    rows: pd.DataFrame


def undegraded(frame: pd.DataFrame, column: str | None) -> pd.DataFrame:
    """Leave out degraded files, unless it is degradations that are compared, and frames of videos."""
    if "degradation" in frame and column not in ("degradation", "strength") and (frame["degradation"] == "none").any():
        frame = frame[frame["degradation"] == "none"]
    if "level" in frame and frame["level"].nunique() > 1:
        frame = frame[frame["level"] == "file"]
    return frame


def by_strength(frame: pd.DataFrame, column: str | None) -> pd.DataFrame:
    """Name each strength of a degradation apart where degradations are compared, and sort them from mild to severe.

    Scores of several strengths in one curve would be those of no degradation at all.
    """
    if column not in ("degradation", "strength") or not {"degradation", "strength"} <= set(frame.columns):
        return frame
    named = frame["degradation"].astype(str)
    strength = pd.to_numeric(frame["strength"])
    names: dict[tuple[str, float | None], str] = {}
    for name in dict.fromkeys(named):
        at = strength[named == name]
        if at.isna().any():
            names[name, None] = name
        names |= {(name, s): f"{name} {s:g}" for s in ordered(name, at.dropna())}
    keys = [(name, None if np.isnan(s) else s) for name, s in zip(named, strength, strict=True)]
    rank = {key: i for i, key in enumerate(names)}
    order = np.argsort([rank[key] for key in keys], kind="stable")
    return frame.assign(**{column: [names[key] for key in keys]}).iloc[order]


def selected(frame: pd.DataFrame, column: str | None) -> Iterator[Selected]:
    """Yield the scored rows of each value of a column, in order of appearance; all as one without a column.

    Where reals lack values that fakes have (generators), each value's fakes go with all the reals, as in the table of
    `forensix.evaluation.summary.by`; those of a component, run or degradation go with its own alone.

    Raises
    ------
    UsageError
        A column is missing, or a value has scores of several components.
    """
    need(frame, ["label", "score", *([] if column is None else [column])])
    frame = undegraded(frame, column)
    frame = frame[frame["score"].notna()]
    if column is None:
        yield _selected("", frame)
        return
    frame = by_strength(frame, column)
    one_component(frame, column)
    real = frame[frame["label"] == "real"]
    fake = frame[frame["label"] == "fake"]
    of_fakes = list(dict.fromkeys(fake[column].dropna()))
    lacking = not of_fakes or not set(of_fakes) <= set(real[column].dropna())
    shared = lacking and column not in _OWN_REALS
    values: Sequence[object] = of_fakes if shared else list(dict.fromkeys(frame[column].dropna()))
    for value in values:
        rows = pd.concat([real, fake[fake[column] == value]]) if shared else frame[frame[column] == value]
        yield _selected(str(value), rows)


def one_component(frame: pd.DataFrame, column: str | None) -> None:
    """Raise `UsageError` where scores of several components, which share no scale, would go into one curve."""
    if "component" not in frame or column == "component" or frame["component"].nunique() < 2:
        return
    if column is None or frame.groupby(column)["component"].nunique().max() > 1:
        names = ", ".join(map(str, frame["component"].unique()))
        raise UsageError(f"these are scores of several components: choose one of {names}")


def default_column(frame: pd.DataFrame) -> str | None:
    """Return what curves differ by where nobody says: the components, where there is more than one."""
    return "component" if "component" in frame and frame["component"].nunique() > 1 else None


def _selected(name: str, rows: pd.DataFrame) -> Selected:
    return Selected(name, rows["label"].to_numpy() == "fake", rows["score"].to_numpy(np.float64), rows)
