"""How tables of metrics are printed: a row a condition, a column a metric, or turned where the conditions are few."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

_TURNED = 5
"""Conditions up to which a table is drawn with a column for each, and a row for each of the metrics."""


class MetricTable(pd.DataFrame):
    """A tidy table, a row a metric, that is drawn as `wide` makes it: turned where the conditions are few."""

    @property
    def _constructor(self) -> "type[MetricTable]":
        return MetricTable

    def __repr__(self) -> str:
        table = self._drawn()
        return super().__repr__() if table is None else str(table.to_string())

    def _repr_html_(self) -> str:
        table = self._drawn()
        return str(pd.DataFrame(self)._repr_html_() if table is None else table.to_html())  # type: ignore[operator]

    def _drawn(self) -> pd.DataFrame | None:
        # Of parts of it, and of differences, nothing of the kind can be said.
        if self.empty or "difference" in self or not {"metric", "value", "low", "high", "n_real"} <= {*self.columns}:
            return None
        table = wide(pd.DataFrame(self))
        if len(table) > _TURNED:
            return table
        columns = [str(name) for name in table.columns]
        names = [name for name in columns if name not in set(self["metric"]) and not name.startswith("n_")]
        table.index = pd.Index([" ".join(map(str, row)) for row in table[names].itertuples(index=False, name=None)])
        return table.drop(columns=names).T


def wide(table: pd.DataFrame, metrics: Sequence[str] | None = None, *, digits: int = 3) -> pd.DataFrame:
    """Return a tidy table as people print it: a row a condition, a column a metric, ``value [low, high]`` in each.

    What is the same in every row and says which condition it is (the task, the only component) is left out.
    """
    metrics = list(dict.fromkeys(table["metric"])) if metrics is None else list(metrics)
    table = table[table["metric"].isin(metrics)]
    counts = [name for name in table.columns if name.startswith("n_")]
    left = [name for name in table.columns if name not in ("metric", "value", "low", "high", *counts)]
    shown_left = [name for name in left if table[name].nunique(dropna=False) > 1]

    def cell(value: float, low: float, high: float) -> str:
        if np.isnan(value):
            return "–"
        return f"{value:.{digits}f}" if np.isnan(low) else f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"

    cells = [cell(*row) for row in table[["value", "low", "high"]].itertuples(index=False, name=None)]
    keys = [*left, *counts]
    rows = table[keys].astype(object).where(table[keys].notna(), "").assign(metric=table["metric"], cell=cells)
    pivoted = rows.pivot_table("cell", keys, "metric", aggfunc="first", sort=False).reset_index()
    return pivoted[[*shown_left, *metrics, *counts]].rename_axis(columns=None)
