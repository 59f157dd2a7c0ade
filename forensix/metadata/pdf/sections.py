"""Cross-reference sections of a PDF: tables and streams, and the objects that they list."""

import re
from dataclasses import dataclass
from typing import Any

from forensix.metadata.pdf import syntax
from forensix.metadata.pdf.syntax import SyntaxFault

ENTRIES = 400_000

Entry = tuple[str, int, int]
"""``("at", offset, generation)``, ``("in", object stream, index)`` or ``("free", next, generation)``."""

_ROW = re.compile(rb"[\x00\t\n\x0c\r ]*(\d{1,10})[ \t]+(\d{1,5})[ \t]*([nf])?")
MISCOUNTED = "the cross-reference table counts from 1, and its first row is that of object 0"
_NO_OBJECT = re.compile(rb"[\x00\t\n\x0c\r ]*0{10}[ \t]+65535[ \t]+f")
"""The row of object 0, which is none."""
_STRICT_ROW = re.compile(rb"\d{10} \d{5} [nf](?: \r| \n|\r\n)")


@dataclass(frozen=True)
class Section:
    """One cross-reference section with its trailer."""

    offset: int
    kind: str
    trailer: dict[str, Any]
    entries: dict[int, Entry]
    faults: tuple[tuple[str, bool], ...] = ()
    """What is wrong with it, and whether that is grave."""


def section_at(data: bytes, offset: int) -> Section | None:
    """Read the table or the stream at an offset; ``None`` where there is none."""
    if not 0 <= offset < len(data):
        return None
    at = syntax.skip_space(data, offset)
    try:
        if data[at : at + 4] == b"xref":
            part = _table(data, at)
            if part and at != offset:
                fault = f"startxref or /Prev says byte {offset}, but the table begins at byte {at}"
                # Libraries that sign count from the line break before the table.
                is_grave = not data[offset:at].isspace()
                return Section(offset, part.kind, part.trailer, part.entries, (*part.faults, (fault, is_grave)))
            return part
        return _stream(data, offset, at)
    except (SyntaxFault, ValueError):
        return None


def _stream(data: bytes, offset: int, at: int) -> Section | None:
    _, value, end = syntax.indirect(data, at)
    if not isinstance(value, dict) or value.get("Type") != "XRef":
        return None
    return Section(offset, "stream", value, _stream_entries(value, syntax.stream_bytes(data, value, end)))


def _table(data: bytes, at: int) -> Section | None:
    start, at = at, at + 4
    entries: dict[int, Entry] = {}
    n_rows = odd_rows = 0
    miscounted = False
    while True:
        at = syntax.skip_space(data, at)
        if data[at : at + 7] == b"trailer":
            trailer, _ = syntax.parse(data, at + 7)
            if not isinstance(trailer, dict):
                return None
            break
        head = re.compile(rb"(\d{1,10})[ \t]+(\d{1,10})").match(data, at)
        if not head:
            return None
        first, count = int(head.group(1)), int(head.group(2))
        at = head.end()
        if first == 1 and not entries and _NO_OBJECT.match(data, at):
            # HP's and other scanning programs count from 1, and begin with the row of object 0 all the same.
            first, miscounted = 0, True
        for number in range(first, first + min(count, ENTRIES)):
            row = _ROW.match(data, at)
            if not row or not row.group(3):
                break
            n_rows += 1
            odd_rows += not _STRICT_ROW.match(data, row.start(1))
            at = row.end()
            free = row.group(3) == b"f"
            entries[number] = ("free" if free else "at", int(row.group(1)), int(row.group(2)))
    kind = "table"
    if isinstance(beside := trailer.get("XRefStm"), int):
        kind = "hybrid"
        hidden = _beside(data, beside)
        if hidden:
            entries = {
                **hidden.entries,
                **{n: e for n, e in entries.items() if e[0] != "free" or n not in hidden.entries},
            }
    fault = f"{odd_rows} rows of the cross-reference table are not 20 bytes long as they must be"
    # A program that leaves out the space does so in each of them; what is changed by hand differs from the rest.
    faults = [(fault, odd_rows < n_rows)] if odd_rows else []
    if miscounted:
        faults.append((MISCOUNTED, False))
    return Section(start, kind, trailer, entries, tuple(faults))


def _beside(data: bytes, offset: int) -> Section | None:
    """Return the stream that a table names beside it, never another table, which may name the first one."""
    if not 0 <= offset < len(data):
        return None
    try:
        return _stream(data, offset, syntax.skip_space(data, offset))
    except (SyntaxFault, ValueError):
        return None


def _stream_entries(dictionary: dict[str, Any], rows: bytes) -> dict[int, Entry]:
    widths = dictionary.get("W")
    if (
        not isinstance(widths, list)
        or len(widths) < 3
        or not all(isinstance(w, int) and 0 <= w <= 8 for w in widths[:3])
    ):
        raise SyntaxFault("an xref stream without column widths")
    a, b, c = widths[:3]
    size = a + b + c
    index = dictionary.get("Index")
    if not isinstance(index, list) or not all(isinstance(i, int) for i in index):
        index = [0, dictionary.get("Size", 0)]
    entries: dict[int, Entry] = {}
    at = 0
    for first, count in zip(index[::2], index[1::2], strict=False):
        if not isinstance(count, int) or not isinstance(first, int):
            break
        for number in range(first, first + max(0, min(count, ENTRIES))):
            row = rows[at : at + size]
            if not size or len(row) < size:
                return entries
            at += size
            kind = int.from_bytes(row[:a], "big") if a else 1
            second, third = int.from_bytes(row[a : a + b], "big"), int.from_bytes(row[a + b :], "big")
            name = {0: "free", 1: "at", 2: "in"}.get(kind)
            if name:
                entries[number] = (name, second, third)
    return entries


def recovered(data: bytes) -> dict[int, Entry]:
    """Return where objects begin in a file whose cross references cannot be followed; of several the last counts."""
    entries: dict[int, Entry] = {}
    for match in re.finditer(rb"(?<![0-9])(\d{1,7})[ \t\r\n]+(\d{1,5})[ \t\r\n]+obj\b", data):
        entries[int(match.group(1))] = ("at", match.start(), int(match.group(2)))
        if len(entries) >= ENTRIES:
            break
    return entries
