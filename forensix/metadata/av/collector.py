"""What a walk through a container collects, with bounds so that hostile files cannot make it swell."""

import re
from dataclasses import dataclass, field
from typing import Any

from forensix.metadata.facts import WHOLE, Fact, Node, Problem

ITEMS = 20_000
PROBLEMS = 40
NODES = 3000
DEPTH = 24
TEXT = 2000


@dataclass
class FactCollector:
    """Facts, problems and pieces of the file, in the order they are met."""

    items: list[Fact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    n_nodes: int = 0
    exhausting: bool = False
    """Whether a walk met more pieces than any recording has: decoders would go through all of them."""

    is_full: bool = False
    """Whether facts were left out."""

    def fact(self, key: str, value: Any, where: str, offset: int | None = None) -> None:
        """Add a fact; texts are cut at 2000 characters and empty ones left out."""
        if isinstance(value, str):
            value = value.strip("\x00 \t\r\n")[:TEXT]
            if not value:
                return
        if len(self.items) < ITEMS:
            self.items.append(Fact(key, value, where, offset))
        elif not self.is_full:
            self.is_full = True
            told = f"There are more than {ITEMS} entries of metadata; those from here on were not read."
            self.problem(told, WHOLE, offset, unread=True)

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
        """Add a problem; one that is ``unread`` is no grave one, and never left out."""
        if unread or len(self.problems) < PROBLEMS:
            self.problems.append(Problem(message, where, offset, grave and not unread, unread, cut))

    def leave(self, pieces: str, offset: int) -> None:
        """Say, once, that a walk ends where there are more pieces than any recording has."""
        if not self.exhausting:
            self.problem(f"There are more than {pieces}; the rest was not read.", WHOLE, offset, unread=True)
        self.exhausting = True

    def counted(self) -> bool:
        """Count one piece of the structure; say whether there is room for it in the map."""
        self.n_nodes += 1
        return self.n_nodes <= NODES

    def get(self, key: str) -> Any:
        """Return the first value of a key so far, or ``None``."""
        return next((f.value for f in self.items if f.key == key), None)


def text(raw: bytes) -> str:
    """Return bytes as text: UTF-8 where it is that, else Latin-1; control characters become spaces."""
    raw = raw.split(b"\x00\x00\x00")[0].strip(b"\x00")
    try:
        string = raw.decode("utf-8")
    except UnicodeDecodeError:
        string = raw.decode("latin-1")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]+", " ", string).strip()


def is_text(raw: bytes) -> bool:
    """Say whether bytes look like words a person or a program wrote."""
    raw = raw.rstrip(b"\x00")
    if not 2 <= len(raw) <= 4096:
        return False
    odd = sum((b < 32 and b not in (9, 10, 13)) or b == 127 for b in raw)
    return odd == 0 and (all(b < 128 for b in raw) or _utf8(raw))


def name4(raw: bytes) -> str:
    """Return a four-character code for a person; unprintable bytes as hexadecimal."""
    name = raw.decode("latin-1")
    return name if all(32 < ord(c) < 127 or c in " ©" for c in name) else "0x" + raw.hex()


def iso6709(value: str) -> tuple[float, float] | None:
    """Return latitude and longitude in degrees from ``+48.8577+002.295/``, or ``None``."""
    match = re.match(r"([+-]\d{2,6}(?:\.\d+)?)([+-]\d{3,7}(?:\.\d+)?)", value.strip())
    if not match:
        return None

    def degrees(part: str, width: int) -> float:
        sign, digits = (-1 if part[0] == "-" else 1), part[1:]
        integer = digits.split(".")[0]
        if len(integer) <= width:
            return sign * float(digits)
        rest = digits[width:]
        minutes = float(rest) if len(integer) == width + 2 else float(rest[:2]) + float(rest[2:]) / 60
        return sign * (int(digits[:width]) + minutes / 60)

    return degrees(match.group(1), 2), degrees(match.group(2), 3)


def _utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
