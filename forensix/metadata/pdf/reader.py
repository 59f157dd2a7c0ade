"""Facts of PDF documents.

    pdf.version pdf.writer pdf.linearized pdf.sections pdf.id     structure
    pdf.checksum                                                  where the bytes are not those that it was made of
    pdf.revision                                                  one dict per saved version (`changes.changes`)
    pdf.encryption.*                                              filter, algorithm, bits, locked, forbidden
    pdf.info.* xmp.*                                              what the document says of itself
    pdf.action.* pdf.open_action pdf.embedded_file pdf.form.*     what it can do, and what it carries
    pdf.changed_file                                              an attached file that its own checksum does not fit
    pdf.layer.* pdf.printed_layer pdf.font pdf.uri pdf.pages pdf.images pdf.picture
    pdf.signature pdf.signature.unread pdf.signature.empty        one dict per signature (`signatures`)
    pdf.signature.no_range                                        one whose value says not what it is of
    pdf.note pdf.notes                                            comments that came after a signature (`notes`)
    pdf.usage_rights                                              functions that Adobe unlocks in its free reader
    pdf.covered_text pdf.covered_picture pdf.redaction pdf.scan   what the drawing of the pages shows
    pdf.unseen_text pdf.replaced_text pdf.other_font pdf.field    and what it hides, mixes, or shows beside a value
    pdf.xfa_field pdf.uneven_amount pdf.touched_up                an XFA form's other values; amounts off their line;
                                                                  pages with words that were edited in Acrobat
    pdf.added_words                                               words that PyMuPDF wrote onto a page
    pdf.court_stamp                                               the line that a court's filing system stamps
    c2pa.*                                                        content credentials

The bytes are walked first, by a reader that needs no intact structure; then the document is opened by qpdf (pikepdf)
and its signatures are checked by pyHanko. A step that fails leaves a problem, and the others still tell what they find.
"""

import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from forensix.metadata.blocks import xmp
from forensix.metadata.facts import WHOLE, Fact, Facts, Node, Problem
from forensix.metadata.pdf import changes as pdf_changes
from forensix.metadata.pdf import checks as pdf_checks
from forensix.metadata.pdf import checksum as pdf_checksum
from forensix.metadata.pdf import history as pdf_history
from forensix.metadata.pdf import objects as pdf_objects
from forensix.metadata.pdf import offsets as pdf_offsets
from forensix.metadata.pdf.history import History
from forensix.metadata.pdf.objects import View
from forensix.metadata.pdf.sections import MISCOUNTED, Entry, recovered
from forensix.metadata.pdf.syntax import text

NODES = 400
_LOCKED = "what a locked document shows and says of itself was not read"
_HEADER_MARK = re.compile(rb"%PDF-[^\r\n]{0,12}[\r\n]+%([^\r\n]{4})[\r\n]")
_WRITERS = {b"\xbf\xf7\xa2\xfe": "qpdf", b"\xc2\xb5\xc2\xb6": "MuPDF", b"\xb5\xb5\xb5\xb5": "Microsoft Office"}
"""What wrote the bytes, by the four that it puts behind the header and no other program was seen to."""


def read(path: str) -> Facts:
    """Return the facts of a PDF; what is broken in it is a problem, never an error."""
    *_, facts = parts(path)
    return facts


def parts(path: str) -> Iterator[Facts]:
    """Yield what is known after each step, what the bytes say first: a later step may run out of time."""
    data = Path(path).read_bytes()
    history = pdf_changes.without_stub(data, pdf_history.walk(data))
    items, problems = _structure(data, history)
    entries: dict[int, Entry] = {}
    for revision in history.revisions:
        entries.update(revision.entries)
    view = View(data, entries or recovered(data), history.trailer)
    encrypted = "Encrypt" in history.trailer
    records: list[dict[str, Any]] = []

    def changes() -> tuple[list[Fact], list[Problem]]:
        records.extend(pdf_changes.changes(data, history))
        return [
            Fact(
                "pdf.revision",
                r,
                f"revision {r['index']}, bytes {r['start_offset']} to {r['end_offset']}",
                r["start_offset"],
            )
            for r in records
        ], []

    steps: tuple[Callable[[], tuple[list[Fact], list[Problem]]], ...] = (
        changes,
        lambda: ([], pdf_checks.check(data, history, view, encrypted=encrypted)),
        lambda: (_encryption(view), []),
        lambda: _open(path, view, history),
        lambda: _signatures(path, data),
        lambda: (_credentials(path), []),
    )
    for i, step in enumerate(steps):
        is_last = i >= 3 and any(pdf_checks.EXHAUSTING in p.message for p in problems)
        try:
            part, faults = _not_opened() if is_last else step()
        except Exception as error:  # Parsers of hostile bytes fail in ways that nobody lists.
            part, faults = [], [_failed(error, path)]
        items += part
        problems += faults
        unique = tuple(dict.fromkeys(replace(p, message=_sentence(p.message)) for p in problems))
        yield Facts("pdf", "pdf", tuple(pdf_offsets.placed(items, view)), unique, _nodes(data, history, records))
        if is_last:
            return


def _not_opened() -> tuple[list[Fact], list[Problem]]:
    return [], [Problem("the document was not opened, because that would use up the memory", "document")]


def _failed(error: Exception, path: str) -> Problem:
    """Return the problem that a part that could not be read is; want of memory is none of the file's form."""
    if isinstance(error, MemoryError):
        told = "a part cannot be read, because that would use up the memory"
        return Problem(told, WHOLE, grave=False, unread=True)
    words = f"{type(error).__name__}: {str(error).replace(path, 'the file')[:200]}"
    return Problem(f"a part cannot be read: {words}", "document")


def _structure(data: bytes, history: History) -> tuple[list[Fact], list[Problem]]:
    items: list[Fact] = []
    if history.version:
        items.append(Fact("pdf.version", history.version, "header", history.header_offset))
    start = history.header_offset or 0
    mark = _HEADER_MARK.match(data, start, start + 40)
    if mark and mark.group(1) in _WRITERS:
        items.append(Fact("pdf.writer", _WRITERS[mark.group(1)], "comment behind the header", mark.start(1)))
    items += [fact for fact in [pdf_checksum.changed(data, start)] if fact]
    if history.linearized_length is not None:
        items.append(
            Fact("pdf.linearized", history.linearized_length, "linearisation dictionary /L", history.header_offset)
        )
    if history.kinds:
        items.append(Fact("pdf.sections", list(history.kinds), "cross-reference sections"))
    items.append(Fact("pdf.end_marks", history.n_end_marks, "%%EOF"))
    identifier = history.trailer.get("ID")
    if isinstance(identifier, list) and len(identifier) == 2 and all(isinstance(i, bytes) for i in identifier):
        items.append(Fact("pdf.id", [i.hex() for i in identifier], "trailer /ID"))
    if history.end_offset is not None and len(data) > history.end_offset:
        items.append(Fact("pdf.bytes_after_end", len(data) - history.end_offset, "behind %%EOF", history.end_offset))
    return items, list(history.problems)


def _encryption(view: View) -> list[Fact]:
    encrypt = view.trailer.get("Encrypt")
    if encrypt is None:
        return []
    item = view.dictionary(encrypt)
    where = f"encryption dictionary, object {encrypt.number}" if hasattr(encrypt, "number") else "trailer /Encrypt"
    version, revision = view.resolve(item.get("V")), view.resolve(item.get("R"))
    methods = {str(view.dictionary(f).get("CFM", "")) for f in view.dictionary(item.get("CF")).values()} or {
        "V2" if version in (1, 2, 3) else ""
    }
    names = {"V2": "RC4", "AESV2": "AES-128", "AESV3": "AES-256"}
    items = [
        Fact("pdf.encryption.filter", str(view.resolve(item.get("Filter")) or "unknown"), where),
        Fact("pdf.encryption.method", ", ".join(sorted(names.get(m, m) for m in methods if m)) or "unknown", where),
        Fact("pdf.encryption.version", f"V{version}" + (f" R{revision}" if revision is not None else ""), where),
    ]
    length = view.resolve(item.get("Length"))
    if isinstance(length, int):
        items.append(Fact("pdf.encryption.bits", length, where))
    if item.get("EncryptMetadata") is False:
        items.append(Fact("pdf.encryption.metadata_open", True, where))
    if str(view.resolve(item.get("Filter"))) != "Standard":
        n = len(view.array(item.get("Recipients"))) or sum(
            len(view.array(view.dictionary(f).get("Recipients"))) for f in view.dictionary(item.get("CF")).values()
        )
        items.append(Fact("pdf.encryption.recipients", n, where))
    return items


def _for_certificates(view: View) -> bool:
    """Say whether a document is encrypted for the holders of certificates, which qpdf cannot open."""
    item = view.dictionary(view.trailer.get("Encrypt"))
    return bool(item) and str(view.resolve(item.get("Filter"))) != "Standard"


def _open(path: str, view: View, history: History) -> tuple[list[Fact], list[Problem]]:
    end, miscounted = history.end_offset, any(p.message == MISCOUNTED for p in history.problems)
    # The library takes no path that is not UTF-8, and would repeat one in what it says, a long one in place of it.
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as file:
        # It looks for the end within the last kilobyte only.
        is_longer = end is not None and pdf_checks.draws_nothing(view.data[end:])
        return _document(io.BytesIO(view.data[:end]) if is_longer else file, view, miscounted)


def _document(file: BinaryIO, view: View, miscounted: bool) -> tuple[list[Fact], list[Problem]]:
    from forensix.metadata.pdf import content as pdf_content
    from forensix.metadata.pdf import document as pdf_document
    from forensix.metadata.pdf import notes as pdf_notes
    from forensix.metadata.pdf import xfa as pdf_xfa

    pdf, items, problems = pdf_document.opened(file)
    if pdf is None and _for_certificates(view):
        items, problems = [Fact("pdf.encryption.locked", True, "opening it without a certificate")], []
    if pdf is None:
        if items:
            # Locked: page count and type of objects are not encrypted in themselves.
            pages = pdf_objects.page_count(view)
            problems = [*problems, Problem(_LOCKED, WHOLE, grave=False, unread=True)]
            return [*items, *([Fact("pdf.pages", pages, "page tree")] if pages else [])], problems
        return [*items, *_raw_info(view)], problems
    with pdf:
        of_document, faults = pdf_document.facts(pdf)
        items += of_document
        problems += faults
        try:
            packet = _unlocked_xmp(pdf, view) or pdf_document.xmp_packet(pdf)
        except Exception as error:  # As above: a damaged stream.
            packet = None
            problems.append(Problem(f"the XMP packet cannot be read: {type(error).__name__}", "catalog /Metadata"))
        if packet:
            # A packet that is neither compressed nor encrypted stands in the file as it is.
            at = view.data.rfind(packet)
            packet_facts, faults = xmp.parse(packet, "XMP of the document (catalog /Metadata)", at if at >= 0 else None)
            items += packet_facts
            problems += faults
        parts: tuple[Callable[[], tuple[list[Fact], list[Problem]]], ...] = (
            lambda: pdf_content.facts(pdf),
            lambda: pdf_xfa.facts(pdf),
            lambda: (list(pdf_notes.facts(pdf, view)), []),
        )
        for part in parts:
            try:
                content, faults = part()
            except Exception as error:  # As above: what the rest of the document says stays.
                problems.append(_failed(error, pdf.filename))
                continue
            items += content
            problems += faults
        # By the bytes: qpdf drops a dictionary in which it finds too much to repair.
        places = view.dictionary(view.trailer.get("Root")).get("Dests")
        problems += pdf_document.warnings(pdf, places, miscounted=miscounted)
    return items, problems


def _unlocked_xmp(pdf: Any, view: View) -> bytes | None:
    """Return the XMP packet that stands unencrypted in an encrypted document, as TCPDF writes it (``_putXMP``)."""
    stored = view.stream(pdf.Root.Metadata.objgen[0]) if pdf.is_encrypted and "/Metadata" in pdf.Root else None
    return stored if stored is not None and stored.startswith(b"<?xpacket") else None


def _raw_info(view: View) -> list[Fact]:
    """Return the document information of a file that qpdf cannot open, read from its bytes."""
    if view.encrypted:
        return []
    return [
        Fact(f"pdf.info.{key}", text(value)[:2000], f"document information, /{key}")
        for key, value in list(view.dictionary(view.trailer.get("Info")).items())[:60]
        if isinstance(value, bytes | str)
    ]


def _signatures(path: str, data: bytes) -> tuple[list[Fact], list[Problem]]:
    from forensix.metadata.pdf import signatures as pdf_signatures

    return pdf_signatures.facts(path, data)


def _credentials(path: str) -> list[Fact]:
    from forensix.metadata.blocks import c2pa

    return c2pa.read(path, "pdf")


def _nodes(data: bytes, history: History, records: list[dict[str, Any]]) -> tuple[Node, ...]:
    """Return the map of the file: one node for each revision, with its objects in the order of their bytes."""
    nodes = []
    at = sorted((e[1], n) for r in history.revisions for n, e in r.entries.items() if e[0] == "at" and n)
    previous = 0
    for revision, record in zip(history.revisions, records, strict=False):
        inside = [(o, n) for o, n in dict.fromkeys(at) if previous <= o < revision.end_offset]
        names = {row[0]: row[1] for row in record["changed"]}
        children: list[Node] = []
        for (offset, number), after in zip(inside, [*inside[1:], (revision.end_offset, 0)], strict=False):
            if len(children) >= NODES:
                break
            children.append(Node(f"object {number}", offset, after[0] - offset, names.get(number, "")))
        size = revision.end_offset - previous
        nodes.append(Node(f"revision {record['index']}", previous, size, record["summary"], tuple(children)))
        previous = revision.end_offset
    if previous < len(data):
        nodes.append(Node("after the last end mark" if nodes else "document", previous, len(data) - previous))
    return tuple(nodes)


def _sentence(message: str) -> str:
    message = message[:1].upper() + message[1:]
    return message if message.endswith(".") else f"{message}."


def versions(path: str) -> list[list[Any]]:
    """Return ``[index, end offset, number of objects changed, summary]`` for each saved version, oldest first."""
    data = Path(path).read_bytes()
    if b"%PDF-" not in data[:4096]:
        return []
    records = pdf_changes.changes(data, pdf_changes.without_stub(data, pdf_history.walk(data)))
    # A version ends with what was written in one go with it.
    ends = {r["index"]: r["end_offset"] for r in records}
    told = [r for r in records if not r["same_save"]]
    return [[r["index"], ends[r["index"]], r["n_objects_changed"], r["summary"]] for r in told]
