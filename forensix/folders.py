"""Places: where forensix keeps what later runs need, what ``~`` stands for, folders refused before the work, and files
that are written whole by one run at a time."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forensix.errors import UsageError

PART = ".part"
"""Ends the name of a file that is being written."""
_SPECIAL = ("/dev", "/proc")
"""Where names such as ``/dev/stdout`` stand for what is open, a file among it."""


def home() -> Path:
    """Return the folder that ``FORENSIX_HOME`` names, ``~/.forensix`` by default: absolute, there or not.

    Raises `UsageError` as `absolute` does.
    """
    return absolute(os.environ.get("FORENSIX_HOME") or "~/.forensix", "FORENSIX_HOME")


def absolute(folder: str | os.PathLike[str], variable: str) -> Path:
    """Return the absolute path of a folder that ``variable`` names, or would; it need not be there.

    Raises
    ------
    UsageError
        It begins with ``~``, and whose folder that is is not known, as where a container's user has no name.
    """
    path = os.path.expanduser(folder)
    if os.fspath(path).startswith("~"):
        raise UsageError(
            f"it is not known which folder {path} is, since HOME is not set or there is no such user: let {variable}"
            " name an absolute path"
        )
    return Path(path).absolute()


def expanded(path: str | os.PathLike[str]) -> Path:
    """Return the path of what a user names, ``~`` and ``~alice`` read as a shell does.

    A notebook and ``--output=~/run`` have no shell that would. What is there under that very name stays what it is.
    """
    return Path(path if os.path.lexists(path) else os.path.expanduser(path))


def check_folder(path: str | os.PathLike[str]) -> Path:
    """Return the path, `expanded`, of a folder that can be written to, or be made with all above it; none is made yet.

    Raises
    ------
    UsageError
        It is a file or would lie in one, or this user may not write there.
    """
    folder = expanded(path)
    there = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        kind = "a file" if there.exists() else "a link to nothing"
        within = "" if there == folder else f", and {folder} would lie in it"
        raise UsageError(f"{there} is {kind}{within}: name a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"{there} may not be written by this user: name another folder")
    return folder


def write_whole(path: Path, text: str) -> Path:
    """Write a text file in one step, and return its path; a device or a pipe is written to and never replaced.

    Raises
    ------
    UsageError
        The path is a folder, or its folder is not there.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"the folder of {path} is not there: make it, or name another")
    if (path.exists() and not path.is_file()) or any(path.absolute().is_relative_to(place) for place in _SPECIAL):
        path.write_text(text, encoding="utf-8")
        return path
    part = path.with_name(f".{path.name}.{os.getpid()}{PART}")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            # Else a power cut may leave the name with nothing in it.
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes that ask for the same from writing to a folder, which is there; a kill lets go of it.

    Where the system or the disk has no locks, as some network drives, nobody is kept out.

    Raises
    ------
    UsageError
        Another has it.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another run writes to {folder}: wait until it has ended, or name another") from None
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)
