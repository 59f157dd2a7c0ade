"""How a PDF grew: its header, its cross-reference sections, and the revisions that saving piece by piece leaves behind.

A PDF that is changed without being rewritten gets a new section, ``startxref`` and ``%%EOF`` behind the old end, so
every earlier version is still there. The walk starts at the last ``startxref`` and follows ``/Prev``; end marks that
the chain does not reach are told as well. A linearised file has two sections and two marks for one version.

References
----------
ISO 32000-2:2020, 7.5 (file structure), 7.5.6 (incremental updates), annex F (linearised PDF).
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from typing import Any

from forensix.metadata.facts import Problem
from forensix.metadata.pdf import syntax
from forensix.metadata.pdf.objects import View
from forensix.metadata.pdf.sections import Entry, Section, section_at
from forensix.metadata.pdf.syntax import SyntaxFault

PHP = re.compile(
    rb"<br />\r?\n<b>(?:Deprecated|Notice|Strict Standards|Warning)</b>: "
    rb"(?:(?! in <b>)[^\n])*+ in <b>[^<\n]*+</b> on line <b>\d+</b><br />"
)
"""What PHP, where it shows its warnings, prints before the document that a program of its makes (``main/main.c``)."""
UTF8_BOM = b"\xef\xbb\xbf"
JAVA = b"\xac\xed\x00\x05"
"""What an object begins with that Java wrote."""
SECTIONS = 1000
MARKS = 1000

_MARK = re.compile(rb"startxref[\x00\t\n\x0c\r ]*(\d{0,12})[\x00\t\n\x0c\r ]*(%%EOF)?")
_STREAMS = re.compile(rb"(end)?stream")


@dataclass(frozen=True)
class Revision:
    """One saved version: the bytes up to ``end_offset`` are the file as it was then."""

    index: int
    start_offset: int
    end_offset: int
    startxref: int
    in_chain: bool
    trailer: dict[str, Any]
    entries: dict[int, Entry]
    changed: tuple[int, ...]
    """Numbers of the objects that this revision adds, replaces or frees."""


@dataclass(frozen=True)
class History:
    """What the walk found."""

    header_offset: int | None
    version: str | None
    linearized_length: int | None
    kinds: tuple[str, ...]
    revisions: tuple[Revision, ...]
    n_end_marks: int
    end_offset: int | None
    problems: tuple[Problem, ...] = ()
    trailer: dict[str, Any] = field(default_factory=dict)


def _is_java(data: bytes, base: int) -> bool:
    """Tell whether the document is the last array of bytes of what Java wrote of an object, as tax portals send it.

    The array begins with its length (Java Object Serialization Specification, 6.4.2).
    """
    return data.startswith(JAVA) and data[base - 4 : base] == (len(data) - base).to_bytes(4, "big")


def walk(data: bytes) -> History:
    """Find the revisions of a document, oldest first."""
    problems: list[Problem] = []
    header = re.search(rb"%PDF-(\d\.\d)?", data[:4096])
    base = header.start() if header else 0
    if header is None:
        problems.append(Problem("the header %PDF is missing", "start of the file", 0))
    elif base:
        message = f"the header starts at byte {base} instead of at the first"
        # Web programs send blank lines before what they send, and the mark of UTF-8 that their source begins with.
        before = PHP.sub(b"", data[:base].replace(UTF8_BOM, b"")).strip()
        is_grave = bool(before) and not _is_java(data, base)
        problems.append(Problem(message, "header", base, grave=is_grave))
    if header is not None and header.group(1) is None:
        problems.append(Problem("the header names no version", "header", base))
    linearized = _linearized(data, base)
    marks = list(_MARK.finditer(data))
    marks = marks[-MARKS:]
    n_eof = data.count(b"%%EOF")
    if not marks:
        message = "the mark startxref is missing: the file is cut off or was put together by hand"
        problems.append(Problem(message, "end", len(data), cut=not n_eof))
    if not n_eof:
        problems.append(Problem("the end mark %%EOF is missing: the file may be cut off", "end", len(data), cut=True))
    read: dict[int, Section | None] = {}
    begun: dict[int, int] = {}

    def section(offset: int) -> Section | None:
        if offset not in read and 0 <= offset < len(data):
            # Any number of marks may lead into the white space before one table.
            same = begun.setdefault(syntax.skip_space(data, offset), offset)
            if same != offset:
                known = section(same)
                read[offset] = known and replace(known, offset=offset)
        if offset not in read:
            part = section_at(data, offset)
            if part is None and base:
                # Offsets may count from the header instead of from the first byte.
                part = section_at(data, offset + base)
                if part:
                    shifted = {n: ("at", e[1] + base, e[2]) if e[0] == "at" else e for n, e in part.entries.items()}
                    part = Section(part.offset, part.kind, part.trailer, shifted, part.faults)
            read[offset] = part
        return read[offset]

    chain = _chain(marks, section, problems)
    revisions = _revisions(data, marks, chain, section, linearized)
    last_end = revisions[-1].end_offset if revisions else (marks[-1].end() if marks else None)
    final = data.rfind(b"%%EOF")
    if final >= 0:
        last_end = max(last_end or 0, _line_end(data, final + 5))
    trailer = (revisions[-1].trailer if revisions else None) or _any_trailer(data)
    for reached in (s for o in chain if (s := read.get(o))):
        problems += [
            Problem(fault, "cross-reference section", reached.offset, grave=is_grave)
            for fault, is_grave in reached.faults
        ]
    if marks and marks[-1].group(1) and not marks[-1].group(2) and n_eof:
        problems.append(Problem("the end mark %%EOF does not follow startxref", "end", marks[-1].start()))
    kinds = tuple(dict.fromkeys(s.kind for o in chain if (s := read.get(o))))
    version = header.group(1).decode() if header and header.group(1) else None
    return History(
        base if header else None,
        version,
        linearized,
        kinds,
        revisions,
        n_eof,
        last_end,
        tuple(problems),
        trailer,
    )


def _linearized(data: bytes, base: int) -> int | None:
    match = re.search(rb"\d+\s+\d+\s+obj", data[base : base + 1024])
    if not match:
        return None
    try:
        _, value, _ = syntax.indirect(data, base + match.start())
    except (SyntaxFault, ValueError):
        return None
    if isinstance(value, dict) and "Linearized" in value:
        length = value.get("L")
        return length if isinstance(length, int) else 0
    return None


def _chain(marks: list[re.Match[bytes]], section: Any, problems: list[Problem]) -> list[int]:
    """Return the offsets of the sections, newest first."""
    chain: list[int] = []
    if not marks:
        return chain
    offset: Any = int(marks[-1].group(1) or 0)
    if section(offset) is None:
        where = f"startxref at byte {marks[-1].start()}"
        problems.append(Problem(f"there is no cross-reference section at byte {offset}", where, marks[-1].start()))
        return chain
    while isinstance(offset, int) and len(chain) < SECTIONS:
        if offset in chain:
            problems.append(Problem("the chain of cross-reference sections runs in a circle", "/Prev", offset))
            break
        part = section(offset)
        if part is None:
            problems.append(Problem(f"/Prev points to byte {offset}, where there is no section", "/Prev", offset))
            break
        chain.append(offset)
        offset = part.trailer.get("Prev")
        if offset is not None and not isinstance(offset, int):
            problems.append(
                Problem("/Prev, the way to the version before, is not a whole number", "trailer", part.offset)
            )
    return chain


def _revisions(
    data: bytes, marks: list[re.Match[bytes]], chain: list[int], section: Any, linearized: int | None
) -> tuple[Revision, ...]:
    inside = _stream_spans(data) if len(marks) > 1 else []
    entries_now = {n: e for o in reversed(chain) for n, e in section(o).entries.items()} if inside else {}
    objects = View(data, entries_now, {})
    places = sorted((e[1], n) for n, e in entries_now.items() if e[0] == "at")
    ends: list[tuple[re.Match[bytes], Section | None]] = []
    for i, mark in enumerate(marks):
        start = int(mark.group(1) or 0)
        here = section(start) if start < mark.start() else None
        is_first_part = linearized is not None and i == 0 and len(marks) > 1
        if here is None and (is_first_part or any(a < mark.start() < b for a, b in inside)):
            continue
        if here is None and _is_attached(objects, places, mark.start()):
            continue
        if is_first_part and here is not None and start not in chain:
            continue
        ends.append((mark, here))
    starts = {int(m.group(1) or 0) for m, s in ends if s}
    revisions: list[Revision] = []
    view: dict[int, Entry] = {}
    previous_end, used = 0, set[int]()
    for mark, own in ends:
        here = own
        entries: dict[int, Entry] = {}
        offset: Any = int(mark.group(1) or 0)
        while here is not None and isinstance(offset, int) and offset not in used:
            used.add(offset)
            entries = {**here.entries, **entries}
            offset = here.trailer.get("Prev")
            if not isinstance(offset, int) or offset in starts:
                break
            here = section(offset)
        changed = tuple(
            sorted(
                n
                for n, e in entries.items()
                if view.get(n) != e and not (e[0] == "free" and view.get(n, e)[0] == "free")
            )
        )
        view.update(entries)
        end = _line_end(data, mark.end())
        revisions.append(
            Revision(
                len(revisions) + 1,
                previous_end,
                end,
                int(mark.group(1) or 0),
                int(mark.group(1) or 0) in chain,
                own.trailer if own else {},
                entries,
                changed,
            )
        )
        previous_end = end
    return tuple(revisions)


def _is_attached(objects: View, places: list[tuple[int, int]], at: int) -> bool:
    """Say whether a mark stands in the stream of an object, as those of a document do that is attached as it is."""
    index = bisect_left(places, (at, 0))
    if not index:
        return False
    offset, number = places[index - 1]
    raw = objects.stream(number)
    return raw is not None and at < syntax.indirect(objects.data, offset)[2] + len(raw)


def _stream_spans(data: bytes) -> list[tuple[int, int]]:
    spans, start = [], None
    for match in _STREAMS.finditer(data):
        if match.group(1):
            if start is not None:
                spans.append((start, match.start()))
            start = None
        elif start is None:
            start = match.end()
    return spans


def _line_end(data: bytes, at: int) -> int:
    """Return the offset behind the end of the line that an end mark stands on."""
    if data[at : at + 2] == b"\r\n":
        return at + 2
    return at + 1 if data[at : at + 1] in (b"\r", b"\n") else at


def _any_trailer(data: bytes) -> dict[str, Any]:
    """Return the last trailer dictionary that can be read where the chain cannot be followed."""
    merged: dict[str, Any] = {}
    for match in list(re.finditer(rb"trailer", data))[-50:]:
        try:
            value, _ = syntax.parse(data, match.end())
        except (SyntaxFault, ValueError):
            continue
        if isinstance(value, dict):
            merged = {**merged, **value}
    for match in list(re.finditer(rb"/Type\s*/XRef", data))[-20:] if not merged else ():
        start = data.rfind(b" obj", max(0, match.start() - 2048), match.start())
        try:
            value, _ = syntax.parse(data, start + 4) if start >= 0 else (None, 0)
        except (SyntaxFault, ValueError):
            continue
        if isinstance(value, dict):
            merged = {**merged, **value}
    return merged
