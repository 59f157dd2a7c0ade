"""What an explorer is given to open: a file, a URL, bytes, a folder of files, an evaluation, or a saved one."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from forensix.errors import InputNotFound, UsageError
from forensix.evaluation import Evaluation
from forensix.folders import expanded
from forensix.media import is_url, sniff

MAX_FILES = 5_000
"""More are not listed: a file can be named by its path."""
_SAVED = ("result.json", "scores.parquet")


@dataclass(frozen=True)
class Choice:
    """What there is to choose from, and what is chosen already."""

    folder: Path | None
    files: tuple[str, ...]
    """Files of the folder, as paths relative to it."""
    source: str | bytes | None = None
    """The input that is chosen: a path, a URL, or bytes."""
    name: str | None = None
    """The file name of bytes."""
    evaluation: Evaluation | None = None
    message: str = ""


def resolve(
    source: str | os.PathLike[str] | bytes | Evaluation, name: str | None, folder: Path | None, files: tuple[str, ...]
) -> Choice:
    """Return what a source is; ``folder`` and ``files`` are those that are open now, ``name`` is that of bytes.

    Raises
    ------
    InputNotFound
        There is nothing to open.
    UsageError
        It is none of what can be opened.
    """
    if isinstance(source, Evaluation):
        return _browsed(source, folder, files)
    if isinstance(source, bytes | bytearray | memoryview):
        return Choice(folder, files, bytes(source), name or "upload")
    text = os.fspath(source)
    if not isinstance(text, str):
        raise UsageError("a path is text, or pathlib's Path")
    if not text.strip():
        raise InputNotFound("Name a file, a folder, or a URL.")
    if is_url(text.strip()):
        return Choice(folder, files, text.strip())
    try:
        return _on_disk(text, folder, files)
    except OSError as error:
        raise InputNotFound(f"{sniff.shorten(text)} cannot be opened: {error.strerror}") from None


def _on_disk(text: str, folder: Path | None, files: tuple[str, ...]) -> Choice:
    inside = None if folder is None else folder / text
    path = inside if inside is not None and inside.is_file() else expanded(text)
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputNotFound(f"{sniff.shorten(text)} is not there: name a file, a folder, or a URL") from None
    if path.is_dir():
        if all((path / part).is_file() for part in _SAVED):
            return _browsed(Evaluation.load(path), folder, files)
        return _listed(path)
    if folder is None or not path.is_relative_to(folder):
        folder, files = None, ()
    return Choice(folder, files, str(path))


def _listed(folder: Path) -> Choice:
    files = tuple(islice(_files_in(folder), MAX_FILES + 1))
    if not files:
        raise InputNotFound(f"there are no files in {sniff.shorten(str(folder))}")
    message = f"The first {MAX_FILES:,} files are listed: name the path of any other." if len(files) > MAX_FILES else ""
    return Choice(folder, files[:MAX_FILES], message=message)


def _files_in(folder: Path) -> Iterator[str]:
    """Yield relative paths; hidden files and folders, links to folders and what cannot be read are passed over."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield os.path.relpath(path, folder)


def _browsed(evaluation: Evaluation, folder: Path | None, files: tuple[str, ...]) -> Choice:
    if evaluation.scores.empty:
        raise InputNotFound("the evaluation has no rows: there is nothing to browse")
    return Choice(folder, files, evaluation=evaluation)
