"""What a walk through a picture's file gathers before it becomes facts, whatever the format."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from forensix.metadata.facts import WHOLE, Fact, Node, Problem

Thumbnail = tuple[str, bytes, int]
"""Name, content and offset of a picture inside."""

MAX_FACTS = 20_000
"""From how many on texts and blocks are left unread."""


@dataclass
class Parts:
    """What a walk gathers before it becomes facts."""

    facts: list[Fact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    thumbnails: list[Thumbnail] = field(default_factory=list)
    tables: dict[int, list[int]] = field(default_factory=dict)
    icc: list[tuple[int, bytes, int]] = field(default_factory=list)
    extended: list[tuple[bytes, int]] = field(default_factory=list)
    photoshop: list[tuple[bytes, int]] = field(default_factory=list)
    huffman: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    scans: int = 0
    inflated: int = 0
    end: int | None = None

    def fact(self, key: str, value: Any, where: str, offset: int | None = None) -> None:
        """Add a fact."""
        self.facts.append(Fact(key, value, where, offset))

    def problem(
        self,
        message: str,
        where: str,
        offset: int | None = None,
        *,
        grave: bool = True,
        unread: bool = False,
        cut: bool = False,
    ) -> None:
        """Add a problem."""
        self.problems.append(Problem(message, where, offset, grave, unread, cut))

    def take(
        self, facts: Iterable[Fact], problems: Iterable[Problem] = (), thumbnails: Iterable[Thumbnail] = ()
    ) -> None:
        """Add what was read of a block."""
        self.facts += facts
        self.problems += problems
        self.thumbnails += thumbnails

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the file was left unread so far."""
        return not any(problem.unread for problem in self.problems)

    def is_full(self, at: int) -> bool:
        """Tell whether there are so many facts that no further block is read, and say so once."""
        if len(self.facts) < MAX_FACTS:
            return False
        if self.is_whole:
            message = f"There are more than {MAX_FACTS} entries of metadata; those from here on were not read."
            self.problem(message, WHOLE, at, grave=False, unread=True)
        return True

    def leave(self, most: int, at: int) -> None:
        """Say that what follows the first ``most`` blocks of a file is not read, once."""
        if not self.is_whole:
            return
        message = f"The file has more than {most} blocks; those from here on were not read."
        self.problem(message, WHOLE, at, grave=False, unread=True)
