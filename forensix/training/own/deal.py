"""Which files are learnt from, which ones stop the training, and which ones calibrate and measure it.

Groups stay whole. Where a manifest says ``split``, rows of ``train`` are learnt from and rows of ``dev`` shared out to
the other two; rows of ``test`` are left for an evaluation afterwards. Where it has no rows of ``train``, all are split.
Other names of splits are refused: whoever wrote ``Test`` would see those rows learnt from.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from forensix.errors import UsageError
from forensix.manifest import Manifest
from forensix.manifest_table import GROUP
from forensix.report.words import plural
from forensix.training.folds import leave_source_out
from forensix.training.own.twins import check_apart, merged

SPLITS = ("train", "dev", "test")
N_FOLDS = 5
"""A fold of so many is measured on, another stops training; fewer folds where there are fewer groups."""


@dataclass(frozen=True)
class Split:
    """Three manifests without a group in common, and by which column groups are told apart."""

    learnt: Manifest
    stopping: Manifest
    held_out: Manifest
    group: str


def deal(manifest: Manifest, group: str | None, seed: int) -> Split:
    """Share out a manifest; the order of its rows does not matter.

    Parameters
    ----------
    group
        Column that says what belongs together, or ``"path"`` for every file by itself; by default ``group_id``, else
        ``source``, else ``path``.

    Raises
    ------
    UsageError
        A class is missing, or has too few groups to be in all three; or a split has another name than `SPLITS`, or
        shares a group with ``train``.
    """
    manifest = Manifest(manifest.table.sort_values("path", ignore_index=True), manifest.root, manifest.outside)
    counts = manifest.table["label"].value_counts()
    missing = [label for label in ("real", "fake") if not counts.get(label, 0)]
    if missing:
        raise UsageError(f"training needs files of both classes; this manifest has none that is {missing[0]}")
    column = group or next((name for name in (GROUP, "source") if name in manifest.table), "path")
    if column not in manifest.table:
        raise UsageError(f"there is no column {column!r} to group by; there are: {', '.join(manifest.table.columns)}")
    splits = set(manifest.table["split"].dropna()) if "split" in manifest.table else set()
    if unknown := splits - set(SPLITS):
        raise UsageError(f"the column 'split' names {min(map(str, unknown))!r}: name the splits {', '.join(SPLITS)}")
    if "train" in splits:
        check_apart(manifest)
        learnt, others = manifest.where(split="train"), manifest.where(split="dev")
        for name in splits - {"train"}:
            if shared := set(groups_of(learnt, column)) & set(groups_of(manifest.where(split=name), column)):
                one = min(shared)
                raise UsageError(f"the group {one!r} of the column {column!r} is in the splits train and {name}")
        if len(others):
            folds = _folds(others, column, 2, 2, seed)
            return Split(learnt, _part(others, folds == 1), _part(others, folds == 0), column)
        manifest = learnt
    folds = _folds(manifest, column, N_FOLDS, 3, seed)
    return Split(_part(manifest, folds > 1), _part(manifest, folds == 1), _part(manifest, folds == 0), column)


def groups_of(manifest: Manifest, column: str) -> list[str]:
    """Return the group of every row; rows without one are groups of their own."""
    values = manifest.table[column]
    own = "file " + manifest.table["path"].astype(str)
    empty = values.isna() | values.astype(str).str.strip().eq("")
    return values.astype(str).where(~empty, own).tolist()


def _folds(
    manifest: Manifest, column: str, most: int, least: int, seed: int
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    named = groups_of(manifest, column)
    groups, fake = merged(named, manifest), [bool(one) for one in manifest.is_fake()]
    table = pd.DataFrame({"group": groups, "fake": fake})
    fewest = min(table[table["fake"] == label]["group"].nunique() for label in (True, False))
    for n in range(min(most, max(fewest, least)), least - 1, -1):
        try:
            return leave_source_out(groups, [""] * len(groups), fake, n, seed=seed)
        except ValueError:
            continue
    what = "real" if fewest == table[~table["fake"]]["group"].nunique() else "fake"
    same = " (files of the same content count as one)" if len(set(groups)) < len(set(named)) else ""
    raise UsageError(
        f"the {what} files are of {plural(fewest, 'group')} of the column {column!r}{same}, and {least} are needed of"
        " both classes, to learn from, to stop by and to measure on: name another column (group=, or --group), or"
        " 'path' for every file by itself"
    )


def _part(manifest: Manifest, rows: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Manifest:
    return Manifest(manifest.table[rows].reset_index(drop=True), manifest.root, manifest.outside)
