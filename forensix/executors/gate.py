"""What goes in and what comes out, whatever runs the items: finished items, and no more taken than may lie ahead."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Done:
    """One finished item: its place in the input, and what the function returned."""

    index: int
    value: Any = None
    lost: int = 0
    """How many workers died with it before it was given up; 0 where there is a value."""
    killed: bool = False
    """Whether the system, or somebody, killed the last of them."""

    @property
    def end(self) -> str:
        """What became of an item that was given up, in words that follow its name."""
        if self.killed:
            return (
                f"was given up: {self.lost} worker processes that were at it were killed, the last with none beside it,"
                " as the system does where memory runs out"
            )
        return f"ended {self.lost} worker processes, one after the other, and was given up"


class Gate:
    """Hands items out while not too many lie ahead of the one that is waited for."""

    def __init__(self, items: Iterator[tuple[int, Any]], window: int | None, ordered: bool) -> None:
        self._items = items
        self.window = window
        self._ordered = ordered
        self.handed = 0
        self.yielded = 0

    def take(self, n: int) -> list[tuple[int, Any]]:
        """Return the next items: at most ``n``, none where the input is at its end or too many wait."""
        if self._ordered and self.window is not None:
            n = min(n, self.yielded + self.window - self.handed)
        taken = list(itertools.islice(self._items, max(0, n)))
        self.handed += len(taken)
        return taken
