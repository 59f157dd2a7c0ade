"""What is found in a collection that lies in no folder, and its copy in one."""

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from forensix.errors import UsageError
from forensix.importers.tables import is_utf8

MAX_BYTES = 1 << 30
"""Of one medium; open_media takes far less unless its limits are raised."""
_PART_BYTES = 1 << 20


@dataclass(frozen=True)
class Example:
    """One labelled medium of a collection."""

    name: str
    """Its name in the collection, with slashes."""
    label: Any
    size: int | None
    """Bytes, where the collection says so."""
    open: "Callable[[], contextlib.AbstractContextManager[IO[bytes]]] | None"
    """None for a link to elsewhere, which `forensix.importers.links` downloads when it is looked at."""
    columns: Mapping[str, Any] = field(default_factory=dict)
    """What else the collection says of it, by column."""


def copy_all(examples: Iterable[Example], folder: Path, most: int | None, *, by_size: bool) -> Iterator[dict[str, Any]]:
    """Copy media to a folder and yield their rows; at most ``most`` of a label and split.

    A copy is named after its content too, so that another collection in the same folder changes no file of this one,
    and is made once. ``by_size`` it keeps its name in the collection, and is taken by the size that the collection
    tells: what is far away is not read twice. A copy has its name only once it is whole.

    Raises
    ------
    UsageError
        A name leads out of the folder, a text is no UTF-8, a medium is too large, or a file that is there is another.
    OSError
        The disk is full, or may not be written.
    """
    taken: dict[tuple[str, str], int] = {}
    for example in examples:
        kind = str(example.label), str(example.columns.get("split"))
        taken[kind] = taken.get(kind, 0) + 1
        if most is not None and taken[kind] > most:
            continue
        said = (example.name, example.label, *example.columns.values())
        strange = next((text for text in said if isinstance(text, str) and not is_utf8(text)), None)
        if strange is not None:
            raise UsageError(f"the collection holds the text {strange[:80]!a}, which is not UTF-8: write it anew")
        path = example.name
        if example.open is not None:
            path = inside(path) if by_size else _named_by_content(inside(path), example.open)
            # One that is not there is a row without a file, as in a folder: evaluations list it among their failures.
            with contextlib.suppress(FileNotFoundError):
                _copy(example.open, example, folder / path)
        yield {"path": path, "label": example.label, **example.columns}


def inside(name: str) -> str:
    """Return a name of a collection as a path in a folder.

    Raises
    ------
    UsageError
        It is absolute, leads out of the folder or has a zero byte.

    Examples
    --------
    >>> inside("train/./a.jpg")
    'train/a.jpg'
    """
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or any(sign in name for sign in "\\\x00:"):
        raise UsageError(
            f"the collection holds a file named {name[:80]!r}, which leads out of a folder: it is not read"
        )
    return path.as_posix()


def _named_by_content(path: str, open_: "Callable[[], contextlib.AbstractContextManager[IO[bytes]]]") -> str:
    digest = hashlib.sha256()
    with open_() as source:
        bounded = _Bounded(source, path)
        while part := bounded.read(_PART_BYTES):
            digest.update(part)
    name = PurePosixPath(path)
    return name.with_name(f"{name.stem}-{digest.hexdigest()[:16]}{name.suffix}").as_posix()


def _copy(
    open_: "Callable[[], contextlib.AbstractContextManager[IO[bytes]]]",
    example: Example,
    target: Path,
) -> None:
    if target.is_file():
        if target.stat().st_size != example.size and not _is_same(open_, target):
            raise UsageError(f"{target} is there with other content: name another folder, so that its label stays true")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.partial")
    try:
        with open_() as source, partial.open("wb") as file:
            shutil.copyfileobj(_Bounded(source, example.name), file)
        partial.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def _is_same(open_: "Callable[[], contextlib.AbstractContextManager[IO[bytes]]]", target: Path) -> bool:
    with open_() as source, target.open("rb") as copy:
        while (part := source.read(_PART_BYTES)) == copy.read(_PART_BYTES):
            if not part:
                return True
    return False


class _Bounded:
    """Reads from a file until it has given too much."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name, self._left = file, name, MAX_BYTES

    def read(self, n: int = -1) -> bytes:
        data = self._file.read(n)
        self._left -= len(data)
        if self._left < 0:
            raise UsageError(f"{self._name[:80]} has more than {MAX_BYTES >> 20} MB, too much for one medium")
        return data
