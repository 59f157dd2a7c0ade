"""Facts: what a file says of itself, each with the place it was read from."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

WHOLE = "file"
"""Where a problem is that is of no part of the file."""
FEW = 50
"""Facts of one key that a rule reads closely; more are made to take time."""


@dataclass(frozen=True)
class Fact:
    """One thing that a file says.

    ``key`` is dotted and stable (``exif.Software``, ``pdf.info.Producer``, ``jpeg.tables``, ``c2pa.active.generator``);
    ``where`` names box, segment, tag or object for a person; ``offset`` is in bytes from the start, where known.
    """

    key: str
    value: Any
    where: str
    offset: int | None = None


@dataclass(frozen=True)
class Problem:
    """Something in the structure that breaks the rules of its format."""

    message: str
    where: str
    offset: int | None = None
    grave: bool = True
    """False for what sloppy but honest writers, cameras among them, are known to leave, and where ``unread``."""
    unread: bool = False
    """True where reading stopped, for want of time or of a key, which is no fault of the file."""
    cut: bool = False
    """True where the file ends before what it began."""


@dataclass(frozen=True)
class Node:
    """A piece of the file's structure (box, segment, chunk, object), for the map of the file."""

    name: str
    offset: int
    size: int
    note: str = ""
    children: tuple["Node", ...] = ()


@dataclass(frozen=True)
class Facts:
    """Everything read from one file."""

    kind: str
    format: str
    items: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    structure: tuple[Node, ...] = ()
    pictures: dict[str, bytes] = field(default_factory=dict)
    """Embedded thumbnails and previews, encoded, by name."""

    @property
    def is_cut(self) -> bool:
        """Whether the file's end is missing, as of a download that is not finished."""
        return any(problem.cut and problem.grave for problem in self.problems)

    @property
    def is_stopped(self) -> bool:
        """Whether reading the file as a whole ended early: what was not looked at could hold anything."""
        return any(problem.unread and problem.where == WHOLE for problem in self.problems)

    def all(self, prefix: str) -> Iterator[Fact]:
        """Yield the facts of a key or of all keys under it (``exif`` yields ``exif.Software``)."""
        return (f for f in self.items if f.key == prefix or f.key.startswith(prefix + "."))

    def records(self, key: str) -> list[Fact]:
        """Return the facts of a key, and of all keys under it, whose value is a record of several fields."""
        return [f for f in self.all(key) if isinstance(f.value, dict)]

    def few(self) -> Iterator[Fact]:
        """Yield the facts in their order, of each key the first ``FEW``: for rules that read every text with care."""
        seen: Counter[str] = Counter()
        for fact in self.items:
            seen[fact.key] += 1
            if seen[fact.key] <= FEW:
                yield fact

    def get(self, key: str) -> Any:
        """Return the first value of a key, or ``None``."""
        return next((f.value for f in self.items if f.key == key), None)

    def fact(self, key: str) -> Fact | None:
        """Return the first fact of a key, or ``None``."""
        return next((f for f in self.items if f.key == key), None)

    def firsts(self, keys: Iterable[str]) -> list[Fact]:
        """Return the first fact of each of some keys, in their order, where there is one."""
        return [f for key in keys if (f := self.fact(key)) is not None]


Item = TypeVar("Item", Fact, Problem)


def at_block(items: Iterable[Item], offset: int | None) -> list[Item]:
    """Point facts and problems at the start of the block they come from.

    For blocks that are compressed, written as text or spread over pieces: what they hold has no byte of its own.
    """
    return [replace(item, offset=offset) for item in items]
