"""What a manifest's table must hold (labels that are understood, and paths that lie in its folder, each once), and how
its groups are shared out to splits."""

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Number
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forensix.errors import UsageError
from forensix.importers.links import is_link
from forensix.importers.tables import LINE
from forensix.labels import how_to_tell, understood

GROUP = "group_id"
N_EXAMPLES = 5
"""So many rows, values and files are named in a sentence."""
_WHY = "why no row is left"


@dataclass(frozen=True)
class Entry:
    """One row: a file, whether it is real or fake, and what else the manifest says of it, by column."""

    path: Path
    label: str
    columns: Mapping[str, Any]

    @property
    def is_fake(self) -> bool:
        """Whether the label is fake."""
        return self.label == "fake"


def checked(
    table: pd.DataFrame, root: str | os.PathLike[str], labels: Mapping[Any, str] | None, *, outside: bool
) -> pd.DataFrame:
    """Return the table with paths that are text and, where they can be, relative to ``root``, with the labels real and
    fake, and no empty group; see `forensix.manifest.Manifest`.

    Raises
    ------
    UsageError
        It is not what a manifest is; rows are named as lines of a CSV file.
    """
    if not isinstance(table, pd.DataFrame):
        raise UsageError(f"a manifest is made of a pandas.DataFrame, not of a {type(table).__name__}")
    lines = table.index.to_numpy() if table.index.name == LINE else np.arange(2, len(table) + 2)
    columns = [str(name) for name in table.columns]
    missing = [name for name in ("path", "label") if name not in columns]
    if missing:
        raise UsageError(
            f"a manifest needs the columns path and label; missing: {', '.join(missing)}; it has:"
            f" {', '.join(columns[:20]) or 'none'}"
        )
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise UsageError(f"a manifest needs different columns; {', '.join(twice)} is there twice")
    listed = table["path"].map(lambda path: os.fspath(path) if isinstance(path, os.PathLike) else path)
    if not outside:
        folder = os.path.abspath(root)
        listed = listed.map(lambda path: inside_root(path, folder))
    if not listed.equals(table["path"]):
        table = table.assign(path=listed)
    spelled, paths = table["label"], table["path"]
    meant = understood(spelled, labels)
    wrong = meant.isna().to_numpy()
    if wrong.any():
        spellings = sorted({"empty" if pd.isna(value) else repr(str(value)) for value in spelled[wrong].unique()})[
            :N_EXAMPLES
        ]
        word = min((str(value) for value in spelled[wrong].dropna().unique()), default="word")
        raise UsageError(
            f"labels must be real or fake; also found: {', '.join(spellings)} ({_rows(lines[wrong])}); for other words"
            f" {how_to_tell(word)}"
        )
    if (meant != spelled).any():
        table = table.assign(label=meant.astype(str))
    wrong = (
        paths.isna()
        | ~paths.map(lambda value: isinstance(value, str)).to_numpy(bool)
        | paths.astype(str).str.strip().eq("")
    ).to_numpy()
    if wrong.any():
        raise UsageError(f"every row needs a path, as text; there is none in {_rows(lines[wrong])}")
    # Without rows a column may be of any type.
    _check_paths(paths.astype(object), lines, outside=outside)
    if GROUP in table and (empty := _is_empty(table[GROUP])).any():
        # Parquet keeps empty text apart from nothing: all files without a group would be one group.
        groups = table[GROUP].astype(object).where(~empty, None)
        table = table.assign(**{GROUP: groups})
    return table.reset_index(drop=True) if table.index.name == LINE else table


def _check_paths(paths: "pd.Series[str]", lines: np.ndarray, *, outside: bool) -> None:
    wrong = paths.str.contains("\x00", regex=False).to_numpy(bool)
    if wrong.any():
        raise UsageError(f"paths must be text; a zero byte is in {_rows(lines[wrong])}")
    usual = paths.map(lambda path: path if is_link(path) else posixpath.normpath(path))
    wrong = usual.duplicated(keep=False).to_numpy()
    if wrong.any():
        first = usual[wrong].iloc[0]
        rows = _rows(lines[(usual == first).to_numpy()])
        raise UsageError(f"every file may be listed once; {first} is in {rows}")
    leaves = usual.str.startswith(("/", "../")) | usual.eq("..") | usual.str.match(r"[A-Za-z]:[\\/]|\\")
    wrong = leaves.to_numpy(bool)
    if wrong.any() and not outside:
        raise UsageError(
            f"paths must lie inside the manifest's folder, but {paths[wrong].iloc[0]} ({_rows(lines[wrong])}) does not:"
            " name the folder of the media as root (--root DIR), or, where the manifest is your own, pass what"
            " forensix.Manifest.read(FILE, outside=True) returns, also to evaluate"
        )


def chosen(table: pd.DataFrame, values: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows that have the values; a table without rows keeps why for `no_rows`."""
    keep, empty = np.ones(len(table), dtype=bool), None
    for column, value in values.items():
        allowed = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        if pd.api.types.infer_dtype(table[column].astype(object), skipna=True) == "string":
            # A number of a CSV file is text.
            allowed += [str(number) for number in allowed if isinstance(number, Number) and str(number) != "nan"]
        fitting = table[column].isin(allowed).to_numpy()
        if empty is None and not fitting.any():
            empty = column
        keep &= fitting
    rows = table[keep]
    if len(table) and rows.empty:
        asked = " and ".join(f"{column}={repr(value)[:80]}" for column, value in values.items())
        there = "" if empty is None else f"; {empty} is {_some(table[empty])}"
        rows.attrs[_WHY] = f"no row has {asked}{there}"
    return rows


def _some(values: "pd.Series[Any]") -> str:
    there = sorted({repr(value)[:80] for value in values.dropna().unique().tolist()})
    return (" or ".join(there[:N_EXAMPLES]) + (" or another" if len(there) > N_EXAMPLES else "")) or "always empty"


def no_rows(table: pd.DataFrame) -> str:
    """Return the sentence for a manifest without rows."""
    return f"the manifest has no rows: {table.attrs.get(_WHY, 'nothing is left after filtering, or the file is empty')}"


def missing_hint(missing: Iterable[str], n: int) -> str:
    """Return what to add where files are missing of ``n``: links, all, or such as Windows writes; else nothing."""
    missing = list(missing)
    if any(map(is_link, missing)):
        return " (links are downloaded when a manifest is evaluated)"
    if os.sep != "\\" and any("\\" in path for path in missing):
        return " (paths with \\ are names of one file here: write / between folders)"
    if len(missing) < n:
        return ""
    return "; where they lie in another folder, name it: forensix.Manifest.read(FILE, root=FOLDER), or --root DIR"


def inside_root(path: Any, root: str) -> Any:
    """Return a path relative to ``root``, with slashes, where it leads into it."""
    if not isinstance(path, str) or "\x00" in path:
        return path
    if "\\" in path and not os.path.isfile(os.path.join(root, path)):
        slashed = path.replace("\\", "/")
        path = slashed if os.path.isfile(os.path.join(root, slashed)) else path
    usual = posixpath.normpath(path)
    within = f"{root.rstrip('/')}/"
    return usual[len(within) :] if path.startswith("/") and usual.startswith(within) else path


def groups_of(table: pd.DataFrame, group: str) -> "pd.Series[str]":
    """Return the group of each row; rows without one are groups of their own."""
    own = "p:" + table["path"].astype(str)
    if group not in table:
        return own
    without = table[group].isna() | _is_empty(table[group])
    return ("g:" + table[group].astype(str)).where(~without, own)


def shuffled(n: int, seed: int) -> np.ndarray:
    """Return the numbers below ``n`` in an order of the seed's, (n,).

    Raises
    ------
    UsageError
        The seed is no whole number from 0 up.
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise UsageError(f"seed must be a whole number from 0 up, not {seed!r}")
    return np.random.default_rng(int(seed)).permutation(n)


def shared_out(counts: np.ndarray, shares: Mapping[str, float], seed: int) -> list[str]:
    """Return the split of each group, by how many files of each label it has: int (groups, labels)."""
    order = shuffled(len(counts), seed)
    # Large groups first: small ones then even out what these left uneven.
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    names = list(shares)
    target = np.outer(list(shares.values()), counts.sum(axis=0)).astype(float)
    filled, split_of = np.zeros_like(target), [""] * len(counts)
    for at in order:
        lacking = np.where(target > 0, (target - filled) / np.maximum(target, 1), -np.inf)
        best = int(np.argmax(np.where(counts[at] > 0, lacking, 0).sum(axis=1)))
        filled[best] += counts[at]
        split_of[at] = names[best]
    return split_of


def _is_empty(values: "pd.Series[Any]") -> "pd.Series[bool]":
    """Tell for each value whether it is text of nothing but spaces."""
    return values.astype(object).map(lambda value: isinstance(value, str) and not value.strip()).astype(bool)


def _rows(lines: np.ndarray) -> str:
    more = f" and {len(lines) - N_EXAMPLES} more" if len(lines) > N_EXAMPLES else ""
    return f"row{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:N_EXAMPLES]))}{more}"
