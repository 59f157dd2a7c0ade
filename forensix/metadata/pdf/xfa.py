"""XFA forms that store other values than the fields of the same document.

A document may hold its form twice: as fields (AcroForm) and as XML (XFA). Viewers that know XFA show the values of its
data, the others those of the fields. Data belongs to a field by the names on the way to it; where a name occurs once
in both it is enough. Only text fields are compared, and only where both hold words; numbers and dates are compared as
such, since XFA stores them bare and fields as they are shown.

References
----------
Adobe, XML Forms Architecture (XFA) Specification 3.3, chapter 4 (binding); ISO 32000-1:2008, 12.7.8.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

import pikepdf
from defusedxml import DefusedXmlException

from forensix.metadata.blocks import xml
from forensix.metadata.facts import Fact, Problem
from forensix.metadata.pdf import fields
from forensix.metadata.pdf.streams import inflated

PACKET_BYTES = 8 << 20
PARTS = 60
NODES = 5000
DEPTH = 24
VALUES = 20_000
TOLD = 40
LENGTH = 200

_DATA = re.compile(r"\{http://www\.xfa\.org/schema/xfa-data/[\d.]*/?\}data")
_INDEX = re.compile(r"\[(\d+)\]$")

Path = tuple[str, ...]


def facts(pdf: pikepdf.Pdf) -> tuple[list[Fact], list[Problem]]:
    """Return ``pdf.xfa_field``, a dict for each field whose value the XFA form states otherwise."""
    form = pdf.Root.get("/AcroForm")
    stream = _datasets(form.get("/XFA")) if isinstance(form, pikepdf.Dictionary) else None
    if stream is None:
        return [], []
    where = f"XFA form, object {stream.objgen[0]}"
    try:
        packet = inflated(stream, PACKET_BYTES)
    except (zlib.error, pikepdf.PdfError) as error:
        return [], [Problem(f"the XFA form is damaged and was not read: {str(error)[:120]}", where)]
    if len(packet) >= PACKET_BYTES or (not packet and stream.read_raw_bytes()):
        return [], [Problem(f"the XFA form is larger than {PACKET_BYTES >> 20} MB and was not read", where)]
    try:
        root = xml.parsed(packet)
    except DefusedXmlException:
        return [], [Problem("the XFA form declares a document type or entities and was not read", where)]
    except xml.FAULTS as error:
        return [], [Problem(f"the XFA form cannot be read as XML: {str(error)[:120]}", where)]
    data = next((item for item in root.iter() if _DATA.fullmatch(str(item.tag))), None)
    if data is None:
        return [], []
    return list(_contradictions(_by_path(_values(data)), _by_path(_fields(form)), where)), []


def _datasets(xfa: Any) -> pikepdf.Stream | None:
    if isinstance(xfa, pikepdf.Stream):
        return xfa
    parts = [xfa[i] for i in range(min(len(xfa), 2 * PARTS))] if isinstance(xfa, pikepdf.Array) else []
    for name, stream in zip(parts[::2], parts[1::2], strict=False):
        if isinstance(name, pikepdf.String) and str(name) == "datasets" and isinstance(stream, pikepdf.Stream):
            return stream
    return None


def _values(data: Element) -> Iterator[tuple[Path, str]]:
    """Yield the path of each piece of data and its text, in the order of the document."""
    stack: list[tuple[Element, Path]] = [(child, ()) for child in reversed(data)]
    left = VALUES
    while stack and left > 0:
        left -= 1
        item, above = stack.pop()
        path = (*above, str(item.tag).rpartition("}")[2])
        rich = len(item) == 1 and str(item[0].tag).endswith("xhtml}body")
        if rich or not len(item):
            yield path, "".join(item.itertext()).strip()
        elif len(path) < DEPTH:
            stack += [(child, path) for child in reversed(item)]


def _fields(form: Any) -> Iterator[tuple[Path, pikepdf.Dictionary]]:
    """Yield the path of each text field that has a value, in the order in which their data would stand."""
    found: list[tuple[tuple[int, ...], Path, pikepdf.Dictionary]] = []
    stack: list[tuple[Any, Path, tuple[int, ...]]] = [(kid, (), ()) for kid in _listed(form.get("/Fields"), NODES)]
    left = NODES
    while stack and left > 0:
        left -= 1
        item, path, places = stack.pop()
        if not isinstance(item, pikepdf.Dictionary) or len(path) > DEPTH:
            continue
        name = str(item.get("/T", ""))
        if name and not name.startswith("#"):
            index = _INDEX.search(name)
            path, places = (*path, _INDEX.sub("", name)), (*places, int(index[1][:9]) if index else 0)
        below = _listed(item.get("/Kids"), left - len(stack))
        named = [kid for kid in below if isinstance(kid, pikepdf.Dictionary) and "/T" in kid]
        if named:
            stack += [(kid, path, places) for kid in named]
        elif path and fields.text_value(item):
            found.append((places, path, item))
    for _, path, item in sorted(found, key=lambda row: row[:2]):
        yield path, item


def _listed(value: Any, most: int) -> list[Any]:
    return [value[i] for i in range(min(len(value), most))] if isinstance(value, pikepdf.Array) else []


def _by_path(rows: Iterable[tuple[Path, Any]]) -> dict[Path, list[Any]]:
    table: dict[Path, list[Any]] = {}
    for path, item in rows:
        table.setdefault(path, []).append(item)
    return table


def _contradictions(data: dict[Path, list[str]], form: dict[Path, list[Any]], where: str) -> Iterator[Fact]:
    left = TOLD
    ends = {name: paths[0] for name, paths in _by_path((p[-1:], p) for p in data).items() if len(paths) == 1}
    n_ends = Counter(path[-1:] for path in form)
    for path, items in form.items():
        texts = data.get(path) or (data.get(ends.get(path[-1:], ()), []) if n_ends[path[-1:]] == 1 else [])
        # A list of another length was bound in another way.
        for item, text in zip(items, texts, strict=False) if len(items) == len(texts) else ():
            value = fields.text_value(item)
            if left > 0 and fields.differ(text, value):
                left -= 1
                record = {"field": ".".join(path)[:LENGTH], "xfa": text[:LENGTH], "value": value[:LENGTH]}
                yield Fact("pdf.xfa_field", {**record, "object": item.objgen[0]}, where)
