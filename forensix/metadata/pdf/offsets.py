"""Where in the bytes the facts of a PDF stand: qpdf tells the number of an object, the walk knows where it begins.

A fact gets an offset only where the entry of its object's dictionary, read again from the bytes, holds the fact's
value. What lies in a compressed object stream or is encrypted has no bytes to point at and stays without one. A record
of several values stands where its object begins.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from forensix.metadata.facts import Fact
from forensix.metadata.pdf import syntax
from forensix.metadata.pdf.objects import View

KEYS = {
    "pdf.layer": ("Name",),
    "pdf.embedded_file": ("UF", "F"),
    "pdf.action": ("JS", "F", "Win", "D", "UF"),
    "pdf.uri": ("URI",),
    "pdf.font": ("BaseFont",),
    "pdf.language": ("Lang",),
}
"""Entries of a dictionary that hold a fact's value; those of the document information are named as the fact is."""

BYTES = 4 << 20
"""Bytes that are read again for all facts of a document; what comes after has no offset."""

RECORDS = ("pdf.field", "pdf.xfa_field", "pdf.picture", "pdf.other_font", "pdf.printed_layer", "pdf.note")

_OBJECT = re.compile(r"\bobject (\d{1,10})\b")


def placed(items: Iterable[Fact], view: View) -> list[Fact]:
    """Return the facts, with the offset of the entry that holds each, where it is found."""
    left, out = BYTES, []
    for fact in items:
        offset = fact.offset if fact.offset is not None else _beginning(fact, view)
        for at, key in _entries(fact, view) if left > 0 else ():
            # A character takes at most two bytes, and a byte at most four written ones.
            window = view.data[at : at + len(key) + 8 * len(fact.value) + 64]
            left -= len(window)
            if left > 0 and _holds(window, key, fact.value):
                offset = at
            if left <= 0 or offset is not None:
                break
        out.append(replace(fact, offset=offset))
    return out


def _beginning(fact: Fact, view: View) -> int | None:
    named = _OBJECT.search(fact.where) if fact.key in RECORDS else None
    kind, start, _ = view.entries.get(int(named[1]), ("free", 0, 0)) if named else ("free", 0, 0)
    return start if kind == "at" else None


def _entries(fact: Fact, view: View) -> Iterator[tuple[int, str]]:
    """Yield where entries begin that may hold a fact's value, in the bytes of its object."""
    keys = _keys(fact)
    if fact.offset is not None or not keys or not isinstance(fact.value, str) or not fact.value:
        return
    number = _number(fact, view)
    kind, start, _ = view.entries.get(number, ("free", 0, 0)) if number is not None else ("free", 0, 0)
    if kind != "at" or start <= 0:
        return
    end = view.data.find(b"endobj", start, start + syntax.OBJECT_BYTES)
    for key in keys:
        at, written = start, b"/" + key.encode("utf-8", "replace")
        while (at := view.data.find(written, at, end if end >= 0 else start + syntax.OBJECT_BYTES)) >= 0:
            yield at, key
            at += len(written)


def _keys(fact: Fact) -> tuple[str, ...]:
    if fact.key.startswith("pdf.info."):
        return (fact.key.removeprefix("pdf.info."),)
    return next((keys for prefix, keys in KEYS.items() if fact.key.startswith(prefix)), ())


def _number(fact: Fact, view: View) -> int | None:
    """Return the number of the object that holds a fact."""
    named = _OBJECT.search(fact.where)
    if named:
        return int(named[1])
    reference = view.trailer.get("Root" if fact.where.startswith("catalog ") else "Info")
    return reference.number if isinstance(reference, syntax.Ref) else None


def _holds(window: bytes, key: str, value: str) -> bool:
    """Say whether bytes begin with an entry of that name and value."""
    try:
        name, behind = syntax.parse(window, 0)
        parsed, _ = syntax.parse(window, behind)
    except (ValueError, RecursionError):
        return False
    # qpdf gives names with their slash, and facts leave it out.
    kind = syntax.text(parsed).removeprefix("/") if isinstance(parsed, bytes | syntax.Name) else ""
    return name == key and kind[: len(value)] == value.removeprefix("/")
