"""Importers: what published datasets look like on disk, turned into rows of a manifest.

    Manifest.import_("asvspoof2019_la", "data/LA").where(split="dev")

An importer is a function ``(root: Path, **options) -> Iterable[dict]`` whose rows hold ``path`` (relative to ``root``),
``label`` and what else the dataset says. Another package adds one with an entry point::

    [project.entry-points."forensix.importers"]
    my-dataset = "my_package:rows"

`layout` says which file or folder is missing where a tree is not what it should be. Nothing of a medium is read: rows
come from names and protocol files. Shards, Hugging Face datasets and URLs lie in no folder: `elsewhere` brings their
media to one.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pandas as pd

from forensix.errors import ForensixError, UsageError
from forensix.folders import expanded
from forensix.importers.tables import is_utf8
from forensix.interpreter import entry_points

Importer = Callable[..., Iterable[dict[str, Any]]]

BUILT_IN = {
    "asvspoof2019_la": "forensix.importers.asvspoof:la_2019",
    "asvspoof2021_df": "forensix.importers.asvspoof:df_2021",
    "asvspoof5": "forensix.importers.asvspoof:asvspoof5",
    "celeb_df_v2": "forensix.importers.celeb_df:rows",
    "community_forensics": "forensix.importers.community_forensics:rows",
    "deepfakebench": "forensix.importers.deepfakebench:rows",
    "dfdc": "forensix.importers.dfdc:rows",
    "faceforensics": "forensix.importers.faceforensics:rows",
    "fakeavceleb": "forensix.importers.fakeavceleb:rows",
    "folders": "forensix.importers.folders:rows",
    "genimage": "forensix.importers.genimage:rows",
    "in_the_wild": "forensix.importers.in_the_wild:rows",
}


@cache
def _offered() -> dict[str, EntryPoint]:
    return entry_points("forensix.importers")


def names() -> tuple[str, ...]:
    """Return the names of the importers, those of other packages included, sorted."""
    return tuple(sorted({*BUILT_IN, *_offered()}))


def load(name: str, root: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
    """Return the rows of a dataset under ``root``; `Manifest.import_` makes a manifest of them.

    Raises
    ------
    UsageError
        No importer has that name, it does not know an option, the tree is not the dataset's, or another package's
        importer fails or yields something else than rows.
    """
    if name not in names():
        raise UsageError(f"there is no importer {name!r}; there are: {', '.join(names())}")
    # Some importers go by the name of the folder, which "." does not tell.
    folder = Path(os.path.abspath(expanded(root)))
    if not folder.is_dir():
        raise UsageError(f"there is no folder {root} to import {name} from")
    rows = _rows(name, folder, options)
    # Before pandas, which refuses it with no word of the file.
    strange = next((path for row in rows if not is_utf8(path := str(row.get("path")))), None)
    if strange is not None:
        raise UsageError(f"names of files must be UTF-8: rename {strange!a}")
    table = pd.DataFrame(rows)
    if table.empty:
        raise UsageError(f"{root} holds no file of the dataset {name}")
    return table.dropna(axis="columns", how="all")


def _rows(name: str, folder: Path, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Find, call and exhaust an importer; whatever it is that goes wrong in it, its name is told."""
    if name in BUILT_IN:
        who, (module, function) = f"the importer {name}", BUILT_IN[name].split(":")
        importer: Importer = getattr(import_module(module), function)
    else:
        entry = _offered()[name]
        who = f"the importer {name} ({entry.value}{f' of {entry.dist.name}' if entry.dist else ''})"
        try:
            importer = entry.load()
        except Exception as error:
            raise UsageError(f"{who} cannot be loaded: {_reason(error)}") from error
    check_options(who, importer, folder, options)
    try:
        result = importer(folder, **options)
        rows = list(result) if isinstance(result, Iterable) else None
    except ForensixError:
        raise
    except Exception as error:
        raise UsageError(f"{who} failed: {_reason(error)}") from error
    if rows is None:
        raise UsageError(f"{who} must return rows, each a dict with path and label, not {type(result).__name__}")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise UsageError(f"{who} must yield dicts with path and label, but row {number} is {type(row).__name__}")
    return rows


def check_options(who: str, function: Callable[..., Any], source: Any, options: Mapping[str, Any]) -> None:
    """Raise `UsageError` where what is called with a source does not take these options."""
    if not callable(function):
        raise UsageError(f"{who} must be a function, not {type(function).__name__}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        # Some callables written in C do not say what they take.
        return
    try:
        signature.bind(source, **options)
    except TypeError as error:
        raise UsageError(f"{who} does not take these options: {error}") from None


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
