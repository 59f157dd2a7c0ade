"""The files of a folder, to choose from."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

MAX_FILES = 5_000
"""More are not listed: a file can be named by its path."""


def files_in(folder: Path) -> tuple[tuple[str, ...], bool]:
    """Return the files below a folder, as paths relative to it, and whether there are more than `MAX_FILES`.

    Hidden files and folders are left out, links to folders are not followed, and what cannot be read is passed over.
    """
    paths = tuple(islice(_walk(folder), MAX_FILES + 1))
    return paths[:MAX_FILES], len(paths) > MAX_FILES


def _walk(folder: Path) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(here, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield os.path.relpath(path, folder)
