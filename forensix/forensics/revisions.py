"""The saved versions of a PDF: list them, and take one out as a file of its own."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from forensix.errors import BrokenMedia, InputNotFound, UsageError
from forensix.media.sandbox import call

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
        There is no such file.
    BrokenMedia
        The file is not a PDF, or no version in it can be told from the others.
    """
    path = Path(path)
    if not path.is_file():
        raise InputNotFound(f"there is no file {path}: give the path of a PDF")
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
        There is no version of that number, or ``out_path`` exists already.
    InputNotFound, BrokenMedia
        As `revisions` does.
    """
    versions = revisions(path)
    out = Path(out_path)
    if not 1 <= index <= len(versions):
        raise UsageError(f"{Path(path).name} holds versions 1 to {len(versions)}, not {index}")
    if out.exists():
        raise UsageError(f"{out} exists already: name a new file")
    version = versions[index - 1]
    with Path(path).open("rb") as source:
        out.write_bytes(source.read(version.end_offset))
    return version
