"""What an opened PDF holds: information, encryption, scripts and actions, embedded files, forms, layers, fonts, pages.

The document is opened with an empty password; one that needs a real password tells its lock and nothing more. Objects
are looked at one by one, never by following references without bound.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import pikepdf

from forensix.errors import first_line
from forensix.metadata.facts import Fact, Problem
from forensix.metadata.pdf import attachments, layers, pictures
from forensix.metadata.pdf.checks import lacks_end
from forensix.metadata.pdf.operators import CONTENT_BYTES
from forensix.metadata.pdf.syntax import Ref

OBJECTS = 50_000
MAX_LISTED = 60
TEXT = 2000

HARMLESS = re.compile(
    r"common error handled|appears more than once in the pages tree|MediaBox is undefined|Resources is missing|"
    r"reported number of objects|stream keyword followed by carriage return only|"
    r"extraneous whitespace seen before xref|dictionary has duplicated key /(Type|PageMode);|"
    r"\(trailer, offset \d+\): dictionary has duplicated key /Info;"
)
"""Repairs that sloppy but honest programs make necessary: libraries that sign, early versions of Chrome, AutoCAD, which
says twice what a viewer shows beside the pages, and HP Scan, whose trailer names the last four objects as /Info."""

UNCOUNTED = re.compile(
    r"object (\d+) (\d+), offset \d+\): (?:expected endstream|attempting to recover stream length|"
    r"unable to recover stream data; treating stream as empty|recovered stream length)"
)
"""HP Scan says how long its metadata are and writes none of them; PD4ML says of some pictures that they are empty; HP
Exstream leaves out the last byte of what is written in ASCII85."""

TWICE = re.compile(r"object (\d+) (\d+), offset \d+\): (?:dictionary has duplicated key |limits error\(parser-max-err)")
"""Google Docs lists some headings twice among the places that links go to; of many, qpdf tells that too."""

REBUILT = re.compile(r"file is damaged|expected \d+ \d+ obj|Attempting to reconstruct cross-reference table")

LONGER = re.compile(r"wrong size; expected = (\d+); actual = (\d+)")
"""A cross-reference stream with more rows than it lists, as early LuaTeX writes; nobody reads those."""

CUT = re.compile(r"content stream objects stream \d+ \d+ \(content, offset (\d+)\)")
"""Where a drawing cannot be parsed. At the end of what is read of one, nothing is wrong with the document."""
TOKEN_BYTES = 1 << 16
"""How long before that end a string may begin."""

WARNINGS = 12

ACTIONS = ("JavaScript", "Launch", "SubmitForm", "ImportData", "GoToR", "GoToE", "RichMediaExecute", "Rendition")


def opened(file: BinaryIO) -> tuple[pikepdf.Pdf | None, list[Fact], list[Problem]]:
    """Open a document with the empty password; where that fails the facts and problems say why."""
    try:
        pdf = pikepdf.open(file, suppress_warnings=True, attempt_recovery=True)
    except pikepdf.PasswordError:
        return None, [Fact("pdf.encryption.locked", True, "opening it without a password")], []
    except (pikepdf.PdfError, pikepdf.DataDecodingError, RuntimeError, ValueError, OSError) as error:
        return None, [], [Problem(f"the document cannot be opened: {_sentence(error, f'stream {file}')}", "document")]
    return pdf, [], []


def warnings(pdf: pikepdf.Pdf, places: object = None, *, miscounted: bool = False) -> list[Problem]:
    """Return what the parser had to repair so far; ``places`` leads to what names the places to go to.

    It finds no object where the table is ``miscounted``; where the objects lie indeed, `checks` looks.
    """
    names = (str(places.number), str(places.generation)) if isinstance(places, Ref) else ("", "")
    found = [
        Problem(f"the parser had to repair it: {sentence}", "document", grave=not _is_harmless(pdf, sentence, names))
        for sentence in (_sentence(w, pdf.filename) for w in pdf.get_warnings()[:OBJECTS])
        if not ((cut := CUT.search(sentence)) and int(cut[1]) >= CONTENT_BYTES - TOKEN_BYTES)
        and not (miscounted and REBUILT.search(sentence))
    ]
    return sorted(found, key=lambda problem: not problem.grave)[:WARNINGS]


def _is_harmless(pdf: pikepdf.Pdf, sentence: str, places: tuple[str, str]) -> bool:
    size, twice, uncounted = LONGER.search(sentence), TWICE.search(sentence), UNCOUNTED.search(sentence)
    return (
        HARMLESS.search(sentence) is not None
        or (size is not None and int(size[2]) > int(size[1]))
        or (twice is not None and twice.groups() == places)
        or (uncounted is not None and _is_uncounted(pdf.get_object(int(uncounted[1]), int(uncounted[2]))))
    )


def _is_uncounted(item: pikepdf.Object) -> bool:
    if not isinstance(item, pikepdf.Stream):
        return False
    raw, length = item.read_raw_bytes(), item.get("/Length")
    unwritten = item.get("/Type") == "/Metadata" and not raw
    uncounted = item.get("/Subtype") == "/Image" and length == 0
    return unwritten or uncounted or (isinstance(length, int) and lacks_end(raw, length))


def facts(pdf: pikepdf.Pdf) -> tuple[list[Fact], list[Problem]]:
    """Return the facts of an opened document."""
    items: list[Fact] = []
    problems: list[Problem] = []
    for part in (_encryption, _info, _pages, _catalog, _layers, _objects, _pictures):
        try:
            items.extend(part(pdf))
        except Exception as error:  # Damaged objects fail wherever they are touched.
            problems.append(
                Problem(f"a part of the document cannot be read: {_sentence(error, '')}", part.__name__[1:])
            )
    return items, problems


def xmp_packet(pdf: pikepdf.Pdf) -> bytes | None:
    """Return the document's XMP packet, where it has one of at most 4 MiB."""
    stream = pdf.Root.get("/Metadata")
    if not isinstance(stream, pikepdf.Stream) or len(stream.read_raw_bytes()) > 1 << 20:
        return None
    data = stream.read_bytes()
    return data if len(data) <= 4 << 20 else None


def _encryption(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    if not pdf.is_encrypted:
        return
    yield Fact("pdf.encryption.locked", False, "opening it without a password")
    allow = pdf.allow
    names = (
        "extract",
        "modify_annotation",
        "modify_assembly",
        "modify_form",
        "modify_other",
        "print_lowres",
        "print_highres",
    )
    yield Fact("pdf.encryption.forbidden", [n for n in names if not getattr(allow, n)], "trailer /Encrypt /P")


def _info(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    info = pdf.trailer.get("/Info")
    if not isinstance(info, pikepdf.Dictionary):
        return
    where = f"document information, object {info.objgen[0]}" if info.objgen[0] else "document information"
    for key, value in list(info.items())[:MAX_LISTED]:
        if isinstance(value, pikepdf.String | pikepdf.Name | int | float | bool):
            yield Fact(f"pdf.info.{key.lstrip('/')}", str(value)[:TEXT], f"{where}, {key}")


def _pages(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    yield Fact("pdf.pages", len(pdf.pages), "page tree")
    if pdf.pages:
        box = [round(float(v), 2) for v in pdf.pages[0].mediabox]
        yield Fact("pdf.page_size_pt", [box[2] - box[0], box[3] - box[1]], "page 1 /MediaBox")


def _catalog(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    root = pdf.Root
    action = root.get("/OpenAction")
    if isinstance(action, pikepdf.Dictionary):
        yield Fact("pdf.open_action", str(action.get("/S", "?")).lstrip("/"), "catalog /OpenAction")
    if "/AA" in root:
        yield Fact("pdf.additional_actions", [k.lstrip("/") for k in dict(root.AA.items())], "catalog /AA")
    form = root.get("/AcroForm")
    if isinstance(form, pikepdf.Dictionary):
        yield Fact("pdf.form.fields", len(form.get("/Fields", [])), "catalog /AcroForm /Fields")
        if "/XFA" in form:
            yield Fact("pdf.form.xfa", True, "catalog /AcroForm /XFA")
        if "/SigFlags" in form:
            yield Fact("pdf.form.signature_flags", int(form.SigFlags), "catalog /AcroForm /SigFlags")
    if "/Collection" in root:
        yield Fact("pdf.portfolio", True, "catalog /Collection")
    if "/Lang" in root:
        yield Fact("pdf.language", str(root.Lang), "catalog /Lang")
    if "/Perms" in root:
        yield Fact("pdf.permissions", [k.lstrip("/") for k in dict(root.Perms.items())], "catalog /Perms")


def _layers(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    yield from layers.read(pdf).facts()


def _pictures(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    yield from pictures.facts(pdf, OBJECTS)


def _objects(pdf: pikepdf.Pdf) -> Iterator[Fact]:
    fonts: dict[str, int] = {}
    links: dict[str, int] = {}
    filters: set[str] = set()
    items: list[Fact] = []
    n_images = n_files = 0
    for item in list(pdf.objects)[:OBJECTS]:
        if not isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
            continue
        number = item.objgen[0]
        # A name may hold bytes that are no text; one odd object must not hide the others.
        with suppress(pikepdf.PdfError, pikepdf.DataDecodingError, ValueError, TypeError, RuntimeError):
            subtype = str(item.get("/Subtype", ""))
            if isinstance(item, pikepdf.Stream):
                n_images += subtype == "/Image"
                filters.update(_names(item.get("/Filter")))
            if str(item.get("/Type", "")) == "/Font" and "/BaseFont" in item:
                fonts.setdefault(str(item["/BaseFont"]).lstrip("/"), number)
            if "/EF" in item and isinstance(item.get("/EF"), pikepdf.Dictionary):
                name = item.get("/UF", item.get("/F", ""))
                items.append(Fact("pdf.embedded_file", str(name)[:TEXT], f"file specification, object {number}"))
                n_files += 1
                if n_files <= MAX_LISTED and not pdf.is_encrypted and (record := attachments.changed(item)):
                    where = f"embedded file, object {record['object']}"
                    items.append(Fact("pdf.changed_file", {"name": str(name)[:TEXT], **record}, where))
            if subtype in ("/RichMedia", "/Screen", "/Movie", "/Sound", "/3D", "/FileAttachment"):
                items.append(Fact("pdf.embedded_media", subtype.lstrip("/"), f"annotation, object {number}"))
            for kind, text in _actions(item, 0):
                if kind == "URI":
                    links.setdefault(text, number)
                else:
                    items.append(Fact(f"pdf.action.{kind}", text, f"action, object {number}"))
    yield from items[: 20 * MAX_LISTED]
    for link, number in list(links.items())[:MAX_LISTED]:
        yield Fact("pdf.uri", link, f"link, object {number}")
    for font, number in list(fonts.items())[:MAX_LISTED]:
        yield Fact("pdf.font", font, f"font, object {number}")
    yield Fact("pdf.images", n_images, "image objects")
    if filters:
        yield Fact("pdf.filters", sorted(filters), "streams")


def _names(value: Any) -> set[str]:
    items = list(value)[:16] if isinstance(value, pikepdf.Array) else [value]
    return {str(v).lstrip("/") for v in items if isinstance(v, pikepdf.Name)}


def _actions(item: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the actions of one object and of the direct dictionaries inside it."""
    if depth > 5 or not isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
        return
    kind = str(item.get("/S", "")).lstrip("/")
    if kind == "URI" and "/URI" in item:
        yield "URI", str(item["/URI"])[:TEXT]
    elif kind in ACTIONS:
        yield kind, _action_text(item)
    elif "/JS" in item and isinstance(item["/JS"], pikepdf.String | pikepdf.Stream):
        yield "JavaScript", _action_text(item)
    for key in list(item.keys())[:200]:
        value = item[key]
        if isinstance(value, pikepdf.Dictionary) and not value.is_indirect:
            yield from _actions(value, depth + 1)


def _action_text(item: Any) -> str:
    # What is for Windows goes before what is for all.
    for key in ("/JS", "/Win", "/F", "/D"):
        value = item.get(key)
        if isinstance(value, pikepdf.Stream):
            return (
                value.read_bytes()[:TEXT].decode("utf-8", "replace")
                if len(value.read_raw_bytes()) < 1 << 16
                else "script"
            )
        if isinstance(value, pikepdf.String):
            return str(value)[:TEXT]
        if isinstance(value, pikepdf.Dictionary):
            return str(value.get("/UF", value.get("/F", "")))[:TEXT]
    return ""


def _sentence(error: object, name: str) -> str:
    return first_line(error).replace(name, "the file")
