"""The objects of a version of a PDF, and what each is there for: page content, annotation, form field, signature.

Objects are read with the syntax reader at the offsets that the version's own sections give, so locked and damaged
documents are told as well, as far as their dictionaries are not hidden in encrypted object streams.
"""

import re
from functools import cached_property
from typing import Any

from forensix.metadata.pdf import syntax
from forensix.metadata.pdf.sections import Entry
from forensix.metadata.pdf.syntax import Name, Ref, SyntaxFault

DESCRIBED = 2000
PAGES = 1000
MAX_LISTED = 40
INFLATED_BYTES = 96 << 20
APPEARANCE_DEPTH = 6
VALIDATION_DEPTH = 5
REFERRING = 5000
"""Objects of a document that are read to tell whether one of them refers to another."""

_HEAD = re.compile(rb"[\x00\t\n\x0c\r ]{0,256}(\d{1,10})[\x00\t\n\x0c\r ]{1,64}(\d{1,5})[\x00\t\n\x0c\r ]{1,64}obj")

ROLES = (
    "page content",
    "form field",
    "annotation",
    "signature",
    "document information",
    "metadata",
    "page",
    "page tree",
    "image",
    "font",
    "script or action",
    "embedded file",
    "validation data",
    "catalog",
    "structure of the file",
    "other object",
)
"""What an object can be, the most telling first."""


class View:
    """The objects of a document as one revision left them."""

    def __init__(self, data: bytes, entries: dict[int, Entry], trailer: dict[str, Any]) -> None:
        self.data = data
        self.entries = entries
        self.trailer = trailer
        self.encrypted = "Encrypt" in trailer
        self._inflated = 0
        self._objects: dict[int, Any] = {}
        self._streams: dict[int, tuple[bytes, dict[int, int]] | None] = {}

    def get(self, number: int) -> Any:
        """Return an object (a stream gives its dictionary), ``None`` where there is none or it cannot be read."""
        if number not in self._objects:
            self._objects[number] = self._read(number)
        return self._objects[number]

    def resolve(self, value: Any) -> Any:
        """Follow references until something else comes, at most 16 times."""
        for _ in range(16):
            if not isinstance(value, Ref):
                return value
            value = self.get(value.number)
        return None

    def dictionary(self, value: Any) -> dict[str, Any]:
        """Return what a value refers to if it is a dictionary, else an empty one."""
        value = self.resolve(value)
        return value if isinstance(value, dict) else {}

    def array(self, value: Any) -> list[Any]:
        """Return what a value refers to if it is an array, else an empty one."""
        value = self.resolve(value)
        return value if isinstance(value, list) else []

    def offset(self, number: int) -> int | None:
        """Return where an object (or the object stream around it) begins."""
        kind, where, _ = self.entries.get(number, ("free", 0, 0))
        if kind == "in":
            # An object stream lies in no other.
            kind, where, _ = self.entries.get(where, ("free", 0, 0))
        return where if kind == "at" else None

    def stream(self, number: int) -> bytes | None:
        """Return the bytes of an object's stream as they are stored; ``None`` where it has none or cannot be read."""
        kind, where, _ = self.entries.get(number, ("free", 0, 0))
        item = self.get(number)
        if kind != "at" or not isinstance(item, dict):
            return None
        _, _, end = syntax.indirect(self.data, where)
        try:
            return syntax.stored(self.data, {"Length": self.resolve(item.get("Length"))}, end)
        except SyntaxFault:
            return None

    def present(self, number: int) -> bool:
        """Say whether an object stream lists an object (which may be null)."""
        stream = self._streams.get(self.entries.get(number, ("free", 0, 0))[1])
        return stream is not None and number in stream[1]

    @cached_property
    def referred(self) -> frozenset[int] | None:
        """The numbers of the objects that others or the trailer refer to; ``None`` where not all can be read."""
        is_hidden = self.encrypted and any(entry[0] == "in" for entry in self.entries.values())
        if is_hidden or len(self.entries) > REFERRING:
            return None
        numbers = set[int]()
        stack = [self.trailer, *(self.get(number) for number in list(self.entries))]
        while stack:
            value = stack.pop()
            if isinstance(value, Ref):
                numbers.add(value.number)
            elif isinstance(value, dict):
                stack += value.values()
            elif isinstance(value, list):
                stack += value
        return frozenset(numbers)

    def _read(self, number: int) -> Any:
        kind, where, _ = self.entries.get(number, ("free", 0, 0))
        try:
            if kind == "at" and 0 < where < len(self.data) and begins(self.data, where, number):
                reference, value, _ = syntax.indirect(self.data, where)
                return value if reference.number == number else None
            if kind == "in":
                if where not in self._streams:
                    self._streams[where] = self._object_stream(where)
                stream = self._streams[where]
                if stream:
                    body, offsets = stream
                    return syntax.parse(body, offsets[number])[0] if number in offsets else None
        except (SyntaxFault, ValueError, RecursionError):
            return None
        return None

    def _object_stream(self, number: int) -> tuple[bytes, dict[int, int]] | None:
        """Return what an object stream holds, and where in it each object begins, by its number."""
        kind, where, _ = self.entries.get(number, ("free", 0, 0))
        if kind != "at":
            return None
        _, value, end = syntax.indirect(self.data, where)
        if not isinstance(value, dict) or value.get("Type") != "ObjStm":
            return None
        length = value.get("Length")
        if isinstance(length, Ref):
            value = {**value, "Length": self.resolve(length)}
        if self._inflated > INFLATED_BYTES:
            return None
        body = syntax.stream_bytes(self.data, value, end)
        self._inflated += len(body)
        count, first = (self.resolve(value.get(key, 0)) for key in ("N", "First"))
        if not isinstance(count, int) or not isinstance(first, int):
            return None
        numbers = [int(word) for word in body[:first].split()[: 2 * min(count, 100_000)]]
        places: dict[int, int] = {}
        for n, offset in zip(numbers[::2], numbers[1::2], strict=False):
            places.setdefault(n, first + offset)
        return body, places


def begins(data: bytes, where: int, number: int) -> bool:
    """Say whether an object of that number begins at an offset: many may be said to, and one is parsed once."""
    head = _HEAD.match(data, where)
    return head is not None and int(head.group(1)) == number


def roles(view: View) -> dict[int, tuple[str, str]]:
    """Return for each object that the page tree, the form and the trailer reach its role and a name for it."""
    by_number: dict[int, tuple[str, str]] = {}
    catalog = view.dictionary(view.trailer.get("Root"))

    def mark(value: Any, role: str, name: str) -> None:
        if isinstance(value, Ref):
            by_number.setdefault(value.number, (role, name))
            item = view.get(value.number)
            if isinstance(item, list):
                for part in item[:PAGES]:
                    if isinstance(part, Ref):
                        by_number.setdefault(part.number, (role, name))
        elif isinstance(value, list):
            for part in value[:PAGES]:
                mark(part, role, name)

    mark(view.trailer.get("Info"), "document information", "")
    mark(view.trailer.get("Root"), "catalog", "")
    mark(view.trailer.get("Encrypt"), "structure of the file", "encryption")
    mark(catalog.get("Metadata"), "metadata", "")
    mark(catalog.get("OpenAction"), "script or action", "open action")
    form = view.dictionary(catalog.get("AcroForm"))
    mark(catalog.get("AcroForm"), "form field", "the form itself")
    mark(form.get("XFA"), "form field", "XFA")
    _fields(view, form.get("Fields"), by_number, "", 0)
    for number, page in enumerate(pages(view, catalog), 1):
        if isinstance(page, Ref):
            by_number.setdefault(page.number, ("page", f"page {number}"))
        dictionary = view.dictionary(page)
        mark(dictionary.get("Contents"), "page content", f"page {number}")
        resources = view.dictionary(dictionary.get("Resources"))
        for name, item in view.dictionary(resources.get("XObject")).items():
            picture = view.dictionary(item).get("Subtype") == "Image"
            mark(item, "image" if picture else "page content", f"{name} of page {number}")
        for name, item in view.dictionary(resources.get("Font")).items():
            base = view.resolve(view.dictionary(item).get("BaseFont"))
            mark(item, "font", f"{name} {base if isinstance(base, str) else ''}".strip())
        annotations = dictionary.get("Annots")
        if isinstance(annotations, Ref):
            by_number.setdefault(annotations.number, ("annotation", f"list of page {number}"))
        for annotation in view.array(annotations)[:PAGES]:
            item = view.dictionary(annotation)
            subtype = str(view.resolve(item.get("Subtype")) or "")
            role = (
                ("form field", _title(item)) if subtype == "Widget" else ("annotation", f"{subtype} on page {number}")
            )
            if isinstance(annotation, Ref):
                role = by_number.setdefault(annotation.number, role)
            # Appearances are drawn from forms inside forms, with pictures and fonts of their own.
            for part in reached(view, item.get("AP"), APPEARANCE_DEPTH):
                by_number.setdefault(part, (role[0], f"appearance of {role[1]}"))
    # Last: what a page shows stays page content, whoever else names it. PDFBox draws an empty form for a signature that
    # is not to be seen, and its page need not list the field.
    fields = [(number, name) for number, (role, name) in by_number.items() if role in ("form field", "signature")]
    for number, name in fields:
        item = view.get(number)
        for part in reached(view, item.get("AP") if isinstance(item, dict) else None, APPEARANCE_DEPTH):
            by_number.setdefault(part, ("form field", f"appearance of {name}"))
    for stored in reached(view, catalog.get("DSS"), VALIDATION_DEPTH):
        by_number.setdefault(stored, ("validation data", ""))
    return by_number


def reached(view: View, value: Any, depth: int) -> list[int]:
    """Return the numbers of the objects that a value leads to, in at most ``depth`` steps and never up to a page."""
    numbers: dict[int, None] = {}
    stack = [(value, depth)]
    while stack and len(numbers) < PAGES:
        value, left = stack.pop()
        if isinstance(value, Ref):
            if value.number in numbers or left < 1:
                continue
            item = view.get(value.number)
            if isinstance(item, dict) and item.get("Type") in ("Page", "Pages", "Catalog"):
                continue
            numbers[value.number] = None
            value, left = item, left - 1
        if isinstance(value, dict):
            stack += [(part, left) for key, part in value.items() if key not in ("Parent", "P")]
        elif isinstance(value, list):
            stack += [(part, left) for part in value[:PAGES]]
    return list(numbers)


def _fields(view: View, kids: Any, by_number: dict[int, tuple[str, str]], prefix: str, depth: int) -> None:
    if depth > 12:
        return
    for kid in view.array(kids)[:PAGES]:
        item = view.dictionary(kid)
        name = ".".join(n for n in (prefix, _title(item)) if n)
        signed = item.get("FT") == "Sig"
        if isinstance(kid, Ref):
            if kid.number in by_number:
                continue
            by_number[kid.number] = ("signature" if signed else "form field", name)
        if signed and isinstance(item.get("V"), Ref):
            by_number.setdefault(item["V"].number, ("signature", name))
        _fields(view, item.get("Kids"), by_number, name, depth + 1)


def pages(view: View, catalog: dict[str, Any]) -> list[Any]:
    """Return the pages that the page tree reaches, in order, as it names them."""
    found: list[Any] = []
    stack, visited = [catalog.get("Pages")], set[int]()
    while stack and len(found) < PAGES and len(visited) < 8 * PAGES:
        node = stack.pop()
        if isinstance(node, Ref):
            if node.number in visited:
                continue
            visited.add(node.number)
        item = view.dictionary(node)
        if "Kids" in item:
            stack.extend(reversed(view.array(item["Kids"])[: 8 * PAGES]))
        elif item:
            found.append(node)
    return found


def _title(item: dict[str, Any]) -> str:
    return syntax.text(item["T"])[:80] if isinstance(item.get("T"), bytes) else ""


def own_role(item: Any) -> str:
    """Name the role of an object that nothing reached, from its own dictionary."""
    if not isinstance(item, dict):
        return "other object"
    kind, subtype = item.get("Type"), item.get("Subtype")
    by_type = {
        "Page": "page",
        "Pages": "page tree",
        "Annot": "annotation",
        "Sig": "signature",
        "DocTimeStamp": "signature",
        "Metadata": "metadata",
        "Font": "font",
        "FontDescriptor": "font",
        "Catalog": "catalog",
        "XRef": "structure of the file",
        "ObjStm": "structure of the file",
        "Action": "script or action",
        "EmbeddedFile": "embedded file",
        "Filespec": "embedded file",
        "DSS": "validation data",
        "VRI": "validation data",
    }
    if isinstance(kind, Name) and kind in by_type:
        return by_type[kind]
    if "ByteRange" in item:
        return "signature"
    if "FT" in item:
        return "form field"
    if subtype == "Image":
        return "image"
    if item.get("S") in ("JavaScript", "URI", "Launch", "GoTo", "SubmitForm"):
        return "script or action"
    if subtype == "Form":
        return "page content"
    if "Producer" in item or "CreationDate" in item or "ModDate" in item:
        return "document information"
    return "annotation" if isinstance(subtype, Name) and "Rect" in item else "other object"


def page_numbers(view: View) -> list[int]:
    """Return the object numbers of the pages that the page tree reaches, in order."""
    reached_pages = pages(view, view.dictionary(view.trailer.get("Root")))
    return [page.number for page in reached_pages if isinstance(page, Ref)]


def page_count(view: View) -> int:
    """Return how many pages the page tree reaches."""
    return len(pages(view, view.dictionary(view.trailer.get("Root"))))
