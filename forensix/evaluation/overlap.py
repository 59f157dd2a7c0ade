"""Has a model seen in training what it is evaluated on? What its card names, against what the manifest names.

A card lists sources, so a match of names means "from the same collection", which flatters a score even where no file
is shared. No match means little where the manifest does not say where its files are from. Cards of models of one's own
also keep marks of the files themselves, which are found whatever they are called.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from forensix.models.card import MARK_DIGITS, MOST_MARKS

CONTENT = "sha256"
"""The column that a file itself is found by, and not the name of its source."""
THE_FILE = "the file itself"
CALIBRATED = "its calibration and bounds"
"""In place of a training source: of a file that a network did not learn from, but that set what its scores mean."""
COLUMNS = ("component", "trained_on", "column", "value", "label", "n_files")
_NAMING = ("source", "source_repo", "dataset", "generator", "method", "system", "family", "speaker")
_MARKS = {THE_FILE: ("learnt_files", "stopping_files"), CALIBRATED: ("calibration_files",)}
_WORDS = {"real", "fake", "human", "camera", "none", "unknown", "train", "dev", "test", "male", "female"}
_LEAST = 3


def find_overlap(table: pd.DataFrame, cards: Mapping[str, Any], sha256: Sequence[str | None] = ()) -> pd.DataFrame:
    """Return a row for each training source of a component that the manifest names too, with how many files.

    Names match when they are equal but for case and punctuation, whole or in their last part
    (``kan-bayashi/ParallelWaveGAN`` and ``Parallel WaveGAN``). A file that the component was trained on, or calibrated
    on, has a row of its own, of the column ``sha256``.

    Parameters
    ----------
    table
        The manifest's table.
    cards
        Cards by component; components without one are left out.
    sha256
        Of the file of each row, where it was read; without them names alone are compared.
    """
    rows = []
    for component, card in cards.items():
        seen = _of(card, "trained_on", "trained_on_before")
        sources = {str(entry.source): _names(str(entry.source)) for entries in seen for entry in entries}
        for column in (name for name in _NAMING if name in table):
            counts = (
                table[table[column].notna()].groupby([column, "label"], sort=False, observed=True).size().reset_index()
            )
            for value, label, n in counts.to_numpy().tolist():
                names = _names(str(value))
                for source in (source for source, known in sources.items() if names & known):
                    rows.append((component, source, column, str(value), label, n))
        for use, lists in _MARKS.items():
            marks = {mark for files in _of(card, *lists) for mark in files}
            if marks and len(sha256):
                files = pd.DataFrame({CONTENT: list(sha256), "label": table["label"].to_numpy()}).dropna()
                files = files[files[CONTENT].str[:MARK_DIGITS].isin(marks)]
                counts = files.groupby([CONTENT, "label"], sort=False, observed=True).size().reset_index()
                for content, label, n in counts.to_numpy().tolist():
                    rows.append((component, use, CONTENT, content, label, n))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def untold(cards: Mapping[str, Any], overlap: pd.DataFrame) -> list[str]:
    """Return a sentence for each component that was trained on these files, and on more than its card has marks of."""
    known = set(overlap.loc[overlap["column"] == CONTENT, "component"])
    return [
        f"The card of {name} tells {MOST_MARKS} of the files that it learnt from at most: more of these may be among"
        " them, which are not found."
        for name, card in cards.items()
        if name in known and any(len(files) >= MOST_MARKS for names in _MARKS.values() for files in _of(card, *names))
    ]


def sources_named(overlap: pd.DataFrame) -> str:
    """Return the first three training sources of an overlap, and how many more there are."""
    sources = list(dict.fromkeys(overlap.loc[overlap["column"] != CONTENT, "trained_on"]))
    return f"{', '.join(sources[:3])}{f' and {len(sources) - 3} more' if len(sources) > 3 else ''}"


def files_seen(table: pd.DataFrame, overlap: pd.DataFrame, component: str) -> "pd.Series[bool]":
    """Return which rows of scores are of a file, or from a source, that the overlap names of a component."""
    seen = pd.Series(False, index=table.index)
    rows = overlap[overlap["component"] == component]
    for column, part in rows.groupby("column"):
        seen |= table[column].astype(str).isin(set(part["value"]))
    return seen


def of_training(overlap: pd.DataFrame) -> pd.DataFrame:
    """Return an overlap without the files that components were calibrated on and did not learn from."""
    return overlap[overlap["trained_on"] != CALIBRATED]


def of_rows(overlap: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return what is left of an overlap where only these rows of scores count."""
    if overlap.empty:
        return overlap
    n_files = pd.Series(0, index=overlap.index)
    for column, part in overlap.groupby("column"):
        keys = ["component", "label", table[column].astype(str)]
        counts = table.groupby(keys, observed=True)["path"].nunique()
        there = pd.MultiIndex.from_frame(part[["component", "label", "value"]])
        n_files[part.index] = counts.reindex(there, fill_value=0).to_numpy()
    counted = overlap.assign(n_files=n_files)
    return counted[counted["n_files"] > 0].reset_index(drop=True)


def _of(card: Any, *names: str) -> list[Sequence[Any]]:
    return [getattr(card, name, ()) or () for name in names]


def _names(text: str) -> set[str]:
    parts = [text, *_last(re.split(r"[/+:]", text))]
    names = {re.sub(r"[^a-z0-9]", "", part.lower()) for part in parts}
    return {name for name in names if len(name) >= _LEAST and name not in _WORDS}


def _last(parts: Iterable[str]) -> list[str]:
    return [part for part in list(parts)[-1:] if part]
