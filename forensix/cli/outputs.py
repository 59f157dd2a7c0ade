"""What a command writes: files, of which is said before anything is analysed what forbids them, and complaints."""

import os
from collections.abc import Sequence
from pathlib import Path

from forensix.errors import UsageError


def complaint(sentence: object) -> str:
    """Return a line that says what is wrong; what a file's name would hide, or steer a terminal with, is shown."""
    from forensix.report.text import visible

    return f"forensix: {visible(sentence)}\n"


def check_output(path: Path, option: str, *, overwrite: bool, inputs: Sequence[str | os.PathLike[str]] = ()) -> None:
    """Refuse a file that cannot be written, is there already, or is one of the command's own inputs.

    Raises
    ------
    UsageError
        With what to do instead.
    """
    if path.is_dir():
        name = f"report.{option.strip('-')}" if option in ("--html", "--csv") else "population.json"
        raise UsageError(f"{option} takes a file to write, and {path} is a folder: write {path / name}")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise UsageError(f"the folder of {path} is not there: make it, or name another")
    if any(_is_same(path, one) for one in inputs):
        raise UsageError(f"{option} names {path}, which is an input and would be lost: name another file")
    # Into a pipe or a device is written without replacing anything.
    if path.is_file() and not overwrite:
        raise UsageError(f"{path} is there already: name another file, or replace it with --overwrite")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise UsageError(f"{path} may not be written by this user: name another file")


def _is_same(path: Path, other: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):  # one is not there, or no path
        return False
