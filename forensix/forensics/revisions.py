"""The saved versions of a PDF: list them, and take one out as a file of its own."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from forensix.errors import BrokenMedia, UsageError
from forensix.media.sandbox import call
from forensix.media.sniff import open_regular

SECONDS = 30.0


@dataclass(frozen=True)
class Revision:
    """One saved version: the first ``end_offset`` bytes of the file are the document as it was then."""

    index: int
    end_offset: int
    n_objects_changed: int
    summary: str


def revisions(path: str | PathLike[str]) -> tuple[Revision, ...]:
    """Return the versions that a PDF holds, oldest first.

    Raises
    ------
    InputNotFound
        There is no such file, or it may not be read.
    BrokenMedia
        The file is not a PDF, or no version in it can be told from the others.
    """
    path = Path(path)
    open_regular(path, str(path)).close()
    rows = call("forensix.metadata.pdf.reader:versions", str(path.absolute()), timeout_s=SECONDS)
    if not rows:
        raise BrokenMedia(
            f"{path.name} holds no version that can be told apart: it is not a PDF, or its end is missing"
        )
    return tuple(Revision(*row) for row in rows)


def extract(path: str | PathLike[str], index: int, out_path: str | PathLike[str]) -> Revision:
    """Write one version of a PDF to a new file and return it; ``index`` counts from 1, the oldest.

    Raises
    ------
    UsageError
        There is no version of that number, or ``out_path`` exists already or cannot be written.
    InputNotFound, BrokenMedia
        As `revisions` does.
    """
    versions = revisions(path)
    if not 1 <= index <= len(versions):
        raise UsageError(f"{Path(path).name} holds versions 1 to {len(versions)}, not {index}")
    write(path, versions[index - 1], out_path)
    return versions[index - 1]


def write(path: str | PathLike[str], version: Revision, out_path: str | PathLike[str]) -> None:
    """Write a version that `revisions` told of to a new file.

    Raises
    ------
    UsageError
        ``out_path`` exists already or cannot be written.
    InputNotFound
        The PDF is gone, or may not be read.
    """
    out = Path(out_path)
    if out.exists():
        raise UsageError(f"{out} exists already: name a new file")
    with open_regular(path, str(path)) as source:
        content = source.read(version.end_offset)
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror or error}") from None
