"""Has a model seen in training what it is evaluated on? What its card names, against what the manifest names.

Names are compared, not content: a card lists sources, so a match means "from the same collection", which flatters a
score even where no file is shared. No match means little where the manifest does not say where its files are from.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

COLUMNS = ("component", "trained_on", "column", "value", "label", "n_files")
_NAMING = ("source", "source_repo", "dataset", "generator", "method", "system", "family", "speaker")
_WORDS = {"real", "fake", "human", "camera", "none", "unknown", "train", "dev", "test", "male", "female"}
_LEAST = 3


def find_overlap(table: pd.DataFrame, cards: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row for each training source of a component that the manifest names too, with how many files.

    Names match when they are equal but for case and punctuation, whole or in their last part
    (``kan-bayashi/ParallelWaveGAN`` and ``Parallel WaveGAN``).

    Parameters
    ----------
    table
        The manifest's table.
    cards
        Cards by component; components without one are left out.
    """
    rows = []
    for component, card in cards.items():
        sources = dict.fromkeys(str(entry.source) for entry in getattr(card, "trained_on", ()) or ())
        for column in (name for name in _NAMING if name in table):
            counts = (
                table[table[column].notna()].groupby([column, "label"], sort=False, observed=True).size().reset_index()
            )
            for value, label, n in counts.to_numpy().tolist():
                for source in sources:
                    if _names(str(value)) & _names(source):
                        rows.append((component, source, column, str(value), label, n))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def files_seen(table: pd.DataFrame, overlap: pd.DataFrame, component: str) -> "pd.Series[bool]":
    """Return which rows of the manifest are from a source that a component was trained on."""
    trained_on = pd.Series(False, index=table.index)
    rows = overlap[overlap["component"] == component]
    for column, part in rows.groupby("column"):
        trained_on |= table[column].astype(str).isin(set(part["value"]))
    return trained_on


def of_rows(overlap: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return what is left of an overlap where only these rows of scores count."""
    if overlap.empty:
        return overlap
    n_files = [
        table.loc[
            (table["component"] == row.component)
            & (table["label"] == row.label)
            & (table[row.column].astype(str) == row.value),
            "path",
        ].nunique()
        for row in overlap.itertuples()
    ]
    counted = overlap.assign(n_files=n_files)
    return counted[counted["n_files"] > 0].reset_index(drop=True)


def _names(text: str) -> set[str]:
    parts = [text, *_last(re.split(r"[/+:]", text))]
    names = {re.sub(r"[^a-z0-9]", "", part.lower()) for part in parts}
    return {name for name in names if len(name) >= _LEAST and name not in _WORDS}


def _last(parts: Iterable[str]) -> list[str]:
    return [part for part in list(parts)[-1:] if part]
