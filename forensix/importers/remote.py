"""Manifests and folders behind URLs that fsspec opens: ``s3://``, ``gs://``, ``https://``, ``memory://`` and others.

A URL of a table is a manifest, whose paths are relative to its folder; one that ends in ``.tar`` is a shard; any other
is a folder with a manifest or with ``real/`` and ``fake/``. Needs fsspec (``pip install 'forensix[data]'``) and, for
most stores, a package of their own that its sentence names.
"""

import contextlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pandas as pd

from forensix.errors import MissingExtra, UsageError, first_line
from forensix.importers.copied import Example, inside
from forensix.importers.folders import row_of
from forensix.importers.layout import MEDIA
from forensix.importers.links import is_link
from forensix.importers.tables import JSON_LINES, MANIFESTS, read_table

TABLES = (".csv", ".tsv", ".parquet", ".pq", *JSON_LINES)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_url(source: Any) -> bool:
    """Tell whether this is a URL of any scheme."""
    return isinstance(source, str) and _URL.match(source) is not None


def opened(url: str) -> "contextlib.AbstractContextManager[IO[bytes]]":
    """Return the file behind a URL, open for reading.

    Raises
    ------
    UsageError
        Nothing is there, or it may not be read.
    MissingExtra
        fsspec, or its package for such URLs, is not installed.
    """
    system, path = _system(url)
    try:
        return system.open(path, "rb")  # type: ignore[no-any-return]
    except Exception as error:
        raise UsageError(f"{url} cannot be read: {_reason(error)}") from None


def examples(url: str, folder: Path) -> Iterator[Example]:
    """Yield the labelled media of a manifest or folder behind a URL; the table itself is kept in ``folder``."""
    system, path = _system(url)
    try:
        if not path.lower().endswith(TABLES):
            inner = next((f"{path.rstrip('/')}/{name}" for name in MANIFESTS if system.isfile(f"{path}/{name}")), None)
            if inner is None:
                yield from _of_folders(system, path.rstrip("/"), url)
                return
            path = inner
        table = _table(system, path, folder)
    except (UsageError, MissingExtra):
        raise
    except Exception as error:
        raise UsageError(f"{url} cannot be read: {_reason(error)}") from None
    missing = [name for name in ("path", "label") if name not in table]
    if missing:
        raise UsageError(f"{url} has no column {', '.join(missing)}; it has: {', '.join(map(str, table.columns))}")
    for row in table.to_dict("records"):
        columns = {str(name): value for name, value in row.items() if name not in ("path", "label")}
        name = str(row["path"])
        if is_link(name):
            yield Example(name, row["label"], None, None, columns)
            continue
        name = inside(name)
        yield _example(system, f"{posixpath.dirname(path)}/{name}", name, row["label"], columns)


def _table(system: Any, path: str, folder: Path) -> pd.DataFrame:
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / f"listed{posixpath.splitext(path)[1].lower()}"
    copy.write_bytes(system.cat_file(path))
    return read_table(copy)


def _of_folders(system: Any, path: str, url: str) -> Iterator[Example]:
    names = sorted(str(path) for path in system.find(path))
    listed = [name[len(path) :].lstrip("/") for name in names if name.lower().endswith(MEDIA)]
    n = 0
    for name in listed:
        if (row := row_of(name)) is not None:
            n += 1
            columns = {key: value for key, value in row.items() if key not in ("path", "label") and value is not None}
            yield _example(system, f"{path}/{name}", inside(name), row["label"], columns)
    if not n:
        raise UsageError(f"{url} holds neither a manifest.csv nor media in the folders real and fake")


def _example(system: Any, path: str, name: str, label: Any, columns: dict[str, Any]) -> Example:
    def open_() -> "contextlib.AbstractContextManager[IO[bytes]]":
        try:
            return system.open(path, "rb")  # type: ignore[no-any-return]
        except FileNotFoundError:
            raise
        except Exception as error:
            raise UsageError(f"{path} cannot be read: {_reason(error)}") from None

    size = None
    with contextlib.suppress(Exception):
        size = system.size(path)
    return Example(name, label, size, open_, columns)


def _system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise MissingExtra(f"{url} needs fsspec: pip install 'forensix[data]'") from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise MissingExtra(f"{url} cannot be opened: {_reason(error)}") from None
    return system, str(path)


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        # Of some stores it says no more than the name.
        return "there is nothing"
    return first_line(error)
