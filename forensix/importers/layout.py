"""What importers ask of a tree: that a file or folder is there, which media lie in a folder, rows of protocol files."""

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from forensix.errors import UsageError
from forensix.media.sniff import AUDIO_FORMATS, IMAGE_FORMATS, STREAM_FORMATS, suffixes

IMAGES = suffixes(IMAGE_FORMATS)
VIDEOS = suffixes(STREAM_FORMATS)
MEDIA = tuple(dict.fromkeys((*IMAGES, *VIDEOS, *suffixes(AUDIO_FORMATS))))
_MAX_BYTES = 1 << 30
T = TypeVar("T")


def need(root: Path, *choices: str, what: str) -> Path:
    """Return the first of ``choices`` (relative to ``root``) that is there, or say that the layout lacks it.

    A folder in ``root``, or the one above, that has one of them is named.
    """
    path = _first(root, choices)
    if path is None:
        meant = next((near for near in (*folders(root), root.absolute().parent) if _first(near, choices)), None)
        hint = f": give {meant}, which does" if meant else ""
        raise UsageError(f"{what} has {' or '.join(choices)}, but {root} does not{hint}")
    return path


def _first(folder: Path, choices: tuple[str, ...]) -> Path | None:
    return next((folder / choice for choice in choices if (folder / choice).exists()), None)


def files(folder: Path, suffixes: tuple[str, ...] = MEDIA) -> Iterator[Path]:
    """Yield the files with such suffixes anywhere in a folder, sorted; hidden ones are left out.

    Links to folders are followed, since large sets lie on other disks; one that leads back to where it is in is not.
    """
    above = {Path(folder): frozenset({os.path.realpath(folder)})}
    for current, folders, names in os.walk(folder, followlinks=True):
        passed = above.pop(Path(current))
        inside = {name: os.path.realpath(os.path.join(current, name)) for name in folders if not name.startswith(".")}
        folders[:] = sorted(name for name, place in inside.items() if place not in passed)
        above |= {Path(current, name): passed | {inside[name]} for name in folders}
        for name in sorted(names):
            if not name.startswith(".") and name.lower().endswith(suffixes):
                yield Path(current, name)


def folders(folder: Path) -> list[Path]:
    """Return the folders in a folder, sorted; hidden ones are left out."""
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def is_hidden(path: str) -> bool:
    """Tell whether a file, or a folder that it lies in, is hidden, as those are that systems put beside others.

    Examples
    --------
    >>> is_hidden("real/._a.jpg"), is_hidden("./real/a.jpg")
    (True, False)
    """
    return any(part.startswith(".") and part not in (".", "..") for part in path.split("/"))


def relative(path: Path, root: Path) -> str:
    """Return a path as rows hold it: relative to the root, with slashes."""
    return path.relative_to(root).as_posix()


def text(path: Path) -> str:
    """Return the text of a protocol file."""
    if not path.is_file():
        raise UsageError(f"{path} must be a file, and is none")
    if path.stat().st_size > _MAX_BYTES:
        raise UsageError(f"{path.name} has {path.stat().st_size >> 20} MB, more than a protocol file")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is no UTF-8 text (byte {error.start}): save it as UTF-8") from None


def words(path: Path, n: int) -> Iterator[list[str]]:
    """Yield the words of each line of a protocol file, which must be at least ``n``; empty lines are left out."""
    for number, line in enumerate(text(path).splitlines(), start=1):
        if not line.strip():
            continue
        parts = line.split()
        if len(parts) < n:
            raise UsageError(f"{path.name} needs {n} columns, but line {number} has {len(parts)}: {line[:80]}")
        yield parts


def records(path: Path, *columns: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file with a header that names at least ``columns``; empty lines are left out."""
    reader = csv.DictReader(text(path).splitlines())
    names = [name.strip() for name in reader.fieldnames or []]
    missing = [name for name in columns if name not in names]
    if missing:
        raise UsageError(f"{path.name} has no column {', '.join(missing)}; it has: {', '.join(names) or 'none'}")
    reader.fieldnames = names
    for row in reader:
        # More cells than the header names come as a list without a name.
        cells = {key: (row[key] or "").strip() for key in names}
        if any(cells.values()):
            yield cells


def json_of(path: Path, kind: type[T]) -> T:
    """Return what a JSON file holds, a ``dict`` or a ``list``."""
    try:
        content = json.loads(text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{path.name} is no JSON: {error}") from None
    if not isinstance(content, kind):
        raise UsageError(f"{path.name} must hold a JSON {'object' if kind is dict else 'list'}")
    return content


def label(word: str, path: Path, *, real: tuple[str, ...], fake: tuple[str, ...]) -> str:
    """Return real or fake for a word of a protocol file; anything else is an error, never a guess."""
    if word in real:
        return "real"
    if word in fake:
        return "fake"
    raise UsageError(f"{path.name} labels files {' or '.join((*real, *fake))}, but one is {word[:40]!r}")
