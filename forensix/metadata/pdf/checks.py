"""Is the structure of a PDF whole: do offsets lead to their objects, do streams end and inflate, is there a page tree?

Readers repair what is broken without a word, so a damaged file can look sound. Every problem here names the byte it
stands at; none of them says who caused it.
"""

import re
import zlib
from typing import Any

from forensix.metadata.facts import Problem
from forensix.metadata.pdf import syntax
from forensix.metadata.pdf.history import History
from forensix.metadata.pdf.objects import View, begins
from forensix.metadata.pdf.streams import deflated
from forensix.metadata.pdf.syntax import Ref, SyntaxFault

CHECKED = 20_000
STREAMS = 2000
SAID = 8
DEPTH = 100
PARTS = re.compile(rb"(?<!\d)\d++\s++\d++\s++obj\b|endobj|endstream|startxref|trailer\s*+<<|%PDF-")
"""What a document is put together of."""

PRINTED_BYTES = 1 << 20
"""Of text behind a document, at most: the page of a web program is shorter."""

TOTAL_INFLATED_BYTES = 128 << 20
UNCHECKED_BYTES = 16 << 20
"""Of a stream whose checksum is wrong, at most."""

SPACE = b"\x00\t\n\x0c\r "
BOMB_RATIO = 200
EXHAUSTING = "as one made to exhaust memory does"


def check(data: bytes, history: History, view: View, *, encrypted: bool) -> list[Problem]:
    """Return what is wrong with the final version's cross references, streams and page tree."""
    problems = _offsets(data, view)
    problems += _tree(view)
    problems += _dictionaries(data, view)
    problems += _streams(data, view, inflate=not encrypted)
    size = history.trailer.get("Size")
    highest = max(view.entries, default=0)
    if isinstance(size, int) and highest >= size > 0:
        problems.append(
            Problem(f"the trailer says {size} objects, but object {highest} is listed", "trailer /Size", grave=False)
        )
    end = history.end_offset
    if end is not None and data[end:].strip(SPACE):
        extra, printed = len(data) - end, is_printed(data[end:])
        message = f"{extra} bytes{' of text' if printed else ''} follow the end mark of the document"
        problems.append(Problem(message, "behind the last %%EOF", end, grave=not printed))
    elif end is not None and len(data) - end > 1024:
        message = f"{len(data) - end} empty bytes follow the end mark"
        problems.append(Problem(message, "behind the last %%EOF", end, grave=False))
    return problems


def draws_nothing(behind: bytes) -> bool:
    """Say whether what stands behind a document is text that belongs to none, or empty.

    Programs that send their whole buffer leave its rest behind the document (.NET's ``MemoryStream.GetBuffer``).
    """
    return not behind.strip(SPACE) or is_printed(behind)


def is_printed(behind: bytes) -> bool:
    """Say whether what stands behind a document is text and no part of one, as web programs send their page with it."""
    if len(behind) > PRINTED_BYTES:
        return False
    text = behind.decode("utf-8", "replace")
    printed = "\ufffd" not in text and all(c.isprintable() or c.isspace() for c in text)
    return printed and bool(text.strip()) and PARTS.search(behind) is None


def _offsets(data: bytes, view: View) -> list[Problem]:
    bad: list[tuple[int, int]] = []
    for number, (kind, where, _) in list(view.entries.items())[:CHECKED]:
        if kind == "at" and number and where:
            if not begins(data, where, number):
                bad.append((number, where))
        elif kind == "in" and view.entries.get(where, ("free",))[0] != "at":
            bad.append((number, where))
    problems = [
        Problem(
            f"the cross-reference table leads to byte {where} for object {number}, which is not there", "xref", where
        )
        for number, where in bad[:SAID]
    ]
    if len(bad) > SAID:
        problems.append(Problem(f"{len(bad)} entries of the cross-reference table lead nowhere", "xref"))
    return problems


def _tree(view: View) -> list[Problem]:
    root = view.trailer.get("Root")
    catalog = view.resolve(root)
    if _hidden(view, root) or (isinstance(catalog, dict) and _hidden(view, catalog.get("Pages"))):
        return []
    if root is None:
        return [Problem("the trailer names no document catalog (/Root)", "trailer")]
    if not isinstance(catalog, dict):
        return [Problem("the document catalog cannot be read", f"trailer /Root, object {_number(root)}")]
    problems = []
    pages = view.resolve(catalog.get("Pages"))
    if not isinstance(pages, dict):
        problems.append(
            Problem("the page tree cannot be read", f"catalog /Pages, object {_number(catalog.get('Pages'))}")
        )
        return problems
    visited, leaves, circle, twice = set[int](), 0, False, False
    stack: list[tuple[Any, tuple[int, ...]]] = [(catalog.get("Pages"), ())]
    while stack and len(visited) < CHECKED:
        node, above = stack.pop()
        if isinstance(node, Ref):
            if node.number in visited:
                circle = circle or node.number in above or len(above) > DEPTH
                twice = True
                continue
            visited.add(node.number)
            above = (*above, node.number)
        item = view.resolve(node)
        if not isinstance(item, dict) and not _hidden(view, node):
            problems.append(Problem("a page cannot be read", f"page tree, object {_number(node)}"))
        elif not isinstance(item, dict):
            leaves += 1
        elif "Kids" in item:
            kids = view.resolve(item["Kids"])
            if isinstance(kids, list):
                stack.extend((kid, above) for kid in kids[:CHECKED])
            else:
                problems.append(
                    Problem("a node of the page tree has no list of pages", f"page tree, object {_number(node)}")
                )
        else:
            leaves += 1
            if item.get("Type") not in ("Page", "Template", None):
                what = f"the page tree holds a {item.get('Type')} where a page belongs"
                problems.append(Problem(what, f"page tree, object {_number(node)}"))
    if circle:
        problems.append(Problem("the page tree runs in a circle", "page tree"))
    elif twice:
        problems.append(Problem("the page tree holds a page twice", "page tree", grave=False))
    count = view.resolve(pages.get("Count"))
    if not isinstance(count, int):
        problems.append(Problem("the page tree does not say how many pages there are", "page tree /Count"))
    elif count != leaves and not twice and not problems:
        problems.append(Problem(f"the page tree says {count} pages but holds {leaves}", "page tree /Count"))
    return problems[: 2 * SAID]


def _hidden(view: View, node: Any) -> bool:
    """Say whether an object is inside an encrypted object stream, where only the password shows it."""
    return view.encrypted and isinstance(node, Ref) and view.entries.get(node.number, ("free",))[0] == "in"


def _dictionaries(data: bytes, view: View) -> list[Problem]:
    """Name objects that are listed and begin as they should, but cannot be read."""
    bad = []
    for number, (kind, where, _) in list(view.entries.items())[:CHECKED]:
        if kind != "at" or not number or not begins(data, where, number):
            continue
        try:
            _, _, end = syntax.indirect(data, where)
            after = syntax.skip_space(data, end)
            complete = data[after : after + 6] in (b"stream", b"endobj")
        except (SyntaxFault, ValueError, RecursionError):
            complete = False
        if not complete:
            bad.append(Problem(f"object {number} is not well formed", f"object {number}", where))
    for number, (kind, _, _) in list(view.entries.items())[:CHECKED]:
        if kind == "in" and not view.encrypted and view.get(number) is None and not view.present(number):
            bad.append(Problem(f"object {number} is not in its object stream", f"object {number}", view.offset(number)))
    return bad[:SAID]


def _streams(data: bytes, view: View, *, inflate: bool) -> list[Problem]:
    problems: list[Problem] = []
    total, n = 0, 0
    for number, (kind, where, _) in list(view.entries.items())[:CHECKED]:
        if kind != "at" or not number or n >= STREAMS or total > TOTAL_INFLATED_BYTES or len(problems) >= 2 * SAID:
            continue
        if not begins(data, where, number):
            continue
        try:
            _, item, end = syntax.indirect(data, where)
        except (SyntaxFault, ValueError, RecursionError):
            continue
        at = syntax.skip_space(data, end)
        if not isinstance(item, dict) or data[at : at + 6] != b"stream":
            continue
        n += 1
        start = at + (8 if data[at + 6 : at + 8] == b"\r\n" else 7)
        length = view.resolve(item.get("Length"))
        name = f"stream of object {number}"
        ends = isinstance(length, int) and 0 <= length <= len(data) - start and _ended(data, start + length)
        if not ends:
            real = data.find(b"endstream", start)
            if real < 0:
                is_cut = data.find(b"%%EOF", start) < 0
                problems.append(Problem("a stream does not end: the file may be cut off", name, start, cut=is_cut))
                continue
            stated = length if isinstance(length, int) else "no length"
            unwritten = real == start and item.get("Type") == "Metadata"
            uncounted = stated == 0 and item.get("Subtype") == "Image"
            uncounted = uncounted or (isinstance(length, int) and lacks_end(data[start:real], length))
            message = f"a stream says {stated} bytes but ends after {real - start}"
            problems.append(Problem(message, name, start, grave=not (unwritten or uncounted)))
            length = real - start
        if inflate and isinstance(length, int) and _flate_only(item):
            size, fault = _inflated(data[start : start + length], TOTAL_INFLATED_BYTES - total)
            total += size
            if fault:
                problems.append(Problem(f"a compressed stream is damaged: {fault}", name, start))
            elif item.get("Subtype") != "Image" and size > (16 << 20) and size > BOMB_RATIO * length:
                what = f"a stream of {length} bytes inflates to {size >> 20} MiB or more, {EXHAUSTING}"
                problems.append(Problem(what, name, start))
    return problems


def lacks_end(raw: bytes, length: int) -> bool:
    """Say whether a length leaves out no more of a stream than how ASCII85 ends (ISO 32000-2, 7.4.3)."""
    written = raw.rstrip(SPACE)
    return written.endswith(b"~>") and len(written) - 2 <= length < len(written)


def _ended(data: bytes, at: int) -> bool:
    return data[at : at + 24].lstrip(b"\x00\t\n\x0c\r ").startswith(b"endstream")


def _flate_only(item: dict[str, Any]) -> bool:
    filters = item.get("Filter")
    return filters in ("FlateDecode", ["FlateDecode"], "Fl", ["Fl"])


def _inflated(raw: bytes, limit: int) -> tuple[int, str]:
    """Return the size a stream inflates to (at most ``limit``) and what is wrong with it, in words."""
    inflater = zlib.decompressobj()
    size, at = 0, raw
    try:
        # At the end of a stream what lies behind it stays unconsumed for ever.
        while at and not inflater.eof and size < limit:
            size += len(inflater.decompress(at, 1 << 20))
            at = inflater.unconsumed_tail
    except zlib.error as error:
        try:
            return len(deflated(raw, UNCHECKED_BYTES)), ""
        except zlib.error:
            return size, str(error)
    return size, "" if inflater.eof or at or not raw else "it breaks off"


def _number(value: Any) -> str:
    return str(value.number) if isinstance(value, Ref) else "?"
