"""XMP packets: flat facts, the editing history, and where the picture was derived from.

Keys are ``xmp.<prefix>.<Name>`` with the prefixes that the packet declares, normalised for the common namespaces.
``xmp.history`` holds the list of ``xmpMM:History`` entries, ``xmp.derived_from`` the ``xmpMM:DerivedFrom`` structure.
Packets are parsed within bounds; entities and external references are refused.
"""

import base64
import re
from collections.abc import Iterable
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from forensix.metadata.blocks import xml
from forensix.metadata.facts import Fact, Problem

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
PREFIXES = {
    "http://ns.adobe.com/xap/1.0/": "xmp",
    "http://ns.adobe.com/xap/1.0/mm/": "xmpMM",
    "http://ns.adobe.com/xap/1.0/sType/ResourceEvent#": "stEvt",
    "http://ns.adobe.com/xap/1.0/sType/ResourceRef#": "stRef",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://ns.adobe.com/photoshop/1.0/": "photoshop",
    "http://ns.adobe.com/camera-raw-settings/1.0/": "crs",
    "http://ns.adobe.com/exif/1.0/": "exif",
    "http://cipa.jp/exif/1.0/": "exifEX",
    "http://ns.adobe.com/exif/1.0/aux/": "aux",
    "http://ns.adobe.com/tiff/1.0/": "tiff",
    "http://ns.adobe.com/pdf/1.3/": "pdf",
    "http://ns.adobe.com/pdfx/1.3/": "pdfx",
    "http://www.aiim.org/pdfa/ns/id/": "pdfaid",
    "http://ns.adobe.com/xmp/1.0/DynamicMedia/": "xmpDM",
    "http://iptc.org/std/Iptc4xmpExt/2008-02-29/": "iptcExt",
    "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/": "iptcCore",
    "http://ns.google.com/photos/1.0/creations/": "GCreations",
    "http://ns.google.com/photos/1.0/container/": "Container",
    "http://ns.google.com/photos/1.0/camera/": "GCamera",
    "http://ns.google.com/photos/1.0/image/": "GImage",
    "http://ns.google.com/photos/1.0/depthmap/": "GDepth",
    "http://ns.apple.com/adjustment-settings/1.0/": "crsApple",
    "http://www.gimp.org/xmp/": "GIMP",
}
START = re.compile(rb"<\?xpacket begin=|<x:xmpmeta|<rdf:RDF")
END = re.compile(rb"</(?:\w+:)?RDF\s*>")
"""What stands at the end of each packet that was written whole."""

MAX_PACKET_BYTES = 8 << 20
SHORT_BYTES = 1024
"""Blocks without any markup are small faults below this; a longer one could hide something."""

MAX_FACTS = 2000
TAG_BYTES = 64 << 10
"""Attributes are looked for this far into a tag."""

MAX_DEPTH = 24
BEFORE_BLUR = "XMP GImage picture"
"""How a picture is named that telephones keep beside the one whose background they blurred."""

SKIPPED = {"xmp.Thumbnails", "xmpGImg", "GCamera.MicroVideo"}


def parse(packet: bytes, where: str, offset: int | None = None) -> tuple[list[Fact], list[Problem]]:
    """Return the facts of one packet, and what is wrong with it."""
    if len(packet) > MAX_PACKET_BYTES:
        return [], [
            Problem(f"The XMP packet is larger than {MAX_PACKET_BYTES >> 20} MB and was not read.", where, offset)
        ]
    facts, problems = [Fact("xmp.size", len(packet), where, offset)], []
    if len(packet) < SHORT_BYTES and b"<" not in packet:
        # Programs that pass on whatever they are given as XMP.
        return facts, [Problem("The XMP block holds no XML.", where, offset, grave=False)]
    try:
        root, places = _tree(packet)
    except xml.FAULTS as error:
        # Word, Ghostscript, mPDF and others wrote names with "&" or control characters into it as they were.
        is_slip = isinstance(error, ParseError) and END.search(packet) is not None
        message = f"The XMP packet is not well-formed XML ({_said(error)})."
        problems.append(Problem(message, where, offset, grave=not is_slip))
        return facts + _salvaged(packet, where, offset), problems
    toolkit = root.get("{adobe:ns:meta/}xmptk")
    if toolkit:
        begins = places.get(root)
        at = None if begins is None else _attribute(packet, begins, "x.xmptk", toolkit)
        position = offset + at if offset is not None and at is not None else offset
        facts.append(Fact("xmp.toolkit", toolkit[:200], f"{where}, x:xmptk", position))
    for description in _of_the_picture(root):
        begins = places.get(description)
        for name, value in description.attrib.items():
            if not name.startswith(RDF):
                at = None if begins is None else _attribute(packet, begins, _key(name), value)
                facts.append(_fact(_key(name), value, where, offset, at))
        for child in description:
            key = _key(child.tag)
            if key in SKIPPED or len(facts) > MAX_FACTS:
                continue
            value = _value(child, 0)
            if value not in ("", [], {}):
                facts.append(_fact(key, value, where, offset, places.get(child)))
        if len(facts) > MAX_FACTS:
            problems.append(Problem(f"The XMP packet holds more than {MAX_FACTS} properties.", where, offset))
            break
    return _lifted(facts), problems


def _of_the_picture(root: Element) -> list[Element]:
    """Return the descriptions of what holds the packet; deeper ones are of its ingredients and earlier versions."""
    rdf = next(root.iter(f"{RDF}RDF"), None)
    return list(root.iter(f"{RDF}Description")) if rdf is None else rdf.findall(f"{RDF}Description")


def pictures(facts: Iterable[Fact]) -> list[tuple[str, bytes, int]]:
    """Return name, JPEG and place of the pictures that packets hold in base64: what it was before it was refocused."""
    found = []
    for fact in (f for f in facts if f.key == "xmp.GImage.Data"):
        try:
            raw = base64.b64decode(str(fact.value))
        except ValueError:
            continue
        if raw.startswith(b"\xff\xd8"):
            found.append((BEFORE_BLUR, raw, fact.offset or 0))
    return found


def find(data: bytes) -> int | None:
    """Return where a packet begins in raw bytes, or ``None``."""
    match = START.search(data)
    return match.start() if match else None


class _Builder(xml.Builder):
    """Builds the tree, and notes for each element the byte at which its tag begins."""

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[Element, int] = {}
        self.parser: Any = None

    def start(self, tag: str, attrs: dict[Any, Any]) -> Element:
        """Begin an element."""
        element = super().start(tag, attrs)
        self.places[element] = self.parser.parser.CurrentByteIndex
        return element


def _tree(packet: bytes) -> tuple[Element, dict[Element, int]]:
    """Return the root of a packet, and where in it each element begins (nothing where it was decoded first)."""
    wide = packet[:2] in (b"\xff\xfe", b"\xfe\xff")
    start, body = _body(packet.decode("utf-16", "replace").encode() if wide else packet)
    builder = _Builder()
    builder.parser = xml.parser(builder)
    builder.parser.feed(body)
    root: Element = builder.parser.close()
    return root, {} if wide else {element: start + at for element, at in builder.places.items()}


def _body(packet: bytes) -> tuple[int, bytes]:
    """Return the XML between the packet's wrappers, without the padding behind it, and where it begins."""
    start = next((i for i in (packet.find(t) for t in (b"<x:xmpmeta", b"<x:xapmeta", b"<rdf:RDF")) if i >= 0), 0)
    end = packet.rfind(b"<?xpacket end")
    body = packet[start : end if end > start else len(packet)]
    inner = body.lstrip(b"\0 \t\r\n")
    return start + len(body) - len(inner), inner.rstrip(b"\0 \t\r\n")


def _attribute(packet: bytes, begins: int, key: str, value: str) -> int:
    """Return where an attribute stands in the tag that begins there; the tag itself where it cannot be told."""
    name = re.escape(key.partition(".")[2].encode())
    for match in re.compile(rb":" + name + rb"\s*=\s*[\"']").finditer(packet, begins, begins + TAG_BYTES):
        if packet.startswith(value[:8].encode(), match.end()):
            return match.start() + 1
    return begins


def _salvaged(packet: bytes, where: str, offset: int | None) -> list[Fact]:
    """Read single properties out of a broken packet: an examiner still wants the program's name."""
    salvaged = []
    for name in ("xmp:CreatorTool", "xap:CreatorTool", "tiff:Software", "xmp:CreateDate", "xmp:ModifyDate"):
        match = re.search(name.encode() + rb"(?:\s*=\s*[\"']|>)([^<\"']{1,200})", packet)
        if match:
            key = "xmp." + name.replace("xap:", "xmp:").replace(":", ".")
            position = None if offset is None else offset + match.start(1)
            salvaged.append(
                Fact(key, match[1].decode("utf-8", "replace").strip(), f"{where}, {name} (broken)", position)
            )
    return salvaged


def _key(tag: str) -> str:
    namespace, _, name = tag[1:].partition("}") if tag.startswith("{") else ("", "", tag)
    prefix = PREFIXES.get(namespace) or re.sub(r"\W+", "_", namespace.rstrip("/#").rsplit("/", 1)[-1]) or "none"
    return f"{prefix}.{name}"


def _value(element: Element, depth: int) -> Any:
    """Return text, a list (Seq, Bag, Alt) or a dict (a structure)."""
    if depth > MAX_DEPTH:
        return ""
    resource = element.get(f"{RDF}resource")
    if resource is not None:
        return resource
    fields = {_key(k): v for k, v in element.attrib.items() if not k.startswith((RDF, "{http://www.w3.org/XML"))}
    for child in element:
        if child.tag in (f"{RDF}Seq", f"{RDF}Bag", f"{RDF}Alt"):
            return [_value(item, depth + 1) for item in child if item.tag == f"{RDF}li"][:MAX_FACTS]
        if child.tag in (f"{RDF}Description", f"{RDF}value"):
            inner = _value(child, depth + 1)
            if not isinstance(inner, dict):
                return inner
            fields.update(inner)
        else:
            fields[_key(child.tag)] = _value(child, depth + 1)
    return fields or (element.text or "").strip()


def _fact(key: str, value: Any, where: str, offset: int | None, at: int | None) -> Fact:
    """Return the fact of one property; ``at`` is where it stands in the packet, which begins at ``offset``."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    position = offset + at if offset is not None and at is not None else offset
    return Fact(f"xmp.{key}", value, f"{where}, {key.replace('.', ':')}", position)


def _lifted(facts: list[Fact]) -> list[Fact]:
    """Add the facts that rules look for by one name, whatever the packet's spelling."""
    lifted = list(facts)
    for fact in facts:
        if fact.key == "xmp.xmpMM.History" and fact.value:
            entries = fact.value if isinstance(fact.value, list) else [fact.value]
            rows = [_short(e) for e in entries if isinstance(e, dict)]
            if rows:
                lifted.append(Fact("xmp.history", rows, fact.where, fact.offset))
        elif fact.key == "xmp.xmpMM.DerivedFrom" and fact.value:
            value = _short(fact.value) if isinstance(fact.value, dict) else {"documentID": str(fact.value)}
            lifted.append(Fact("xmp.derived_from", value, fact.where, fact.offset))
        elif fact.key.endswith("igitalSourceType"):
            values = fact.value if isinstance(fact.value, list) else [fact.value]
            names = (re.split("[/:#]", v.strip().rstrip("/#"))[-1] for v in values if isinstance(v, str))
            lifted += [Fact("xmp.source_type", name, fact.where, fact.offset) for name in names]
    return lifted


def _short(structure: dict[str, Any]) -> dict[str, Any]:
    return {key.partition(".")[2]: value for key, value in structure.items()}


def _said(error: Exception) -> str:
    return str(error)[:120] or type(error).__name__
