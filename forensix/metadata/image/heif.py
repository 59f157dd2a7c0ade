"""HEIF and AVIF files: boxes with their offsets, and the EXIF and XMP items among them.

Source: ISO/IEC 14496-12 (boxes, item information and location), 23008-12 (HEIF).
"""

import struct
from collections.abc import Iterator

from forensix.metadata.blocks import icc, xmp
from forensix.metadata.facts import Fact, Node, Problem
from forensix.metadata.image.parts import Parts
from forensix.metadata.image.png import take_exif

CONTAINERS = {"meta": 4, "iprp": 0, "ipco": 0, "moov": 0, "trak": 0, "mdia": 0, "minf": 0, "stbl": 0, "dinf": 0}
MAX_BOXES = 5000
MAX_DEPTH = 8
MAX_ITEMS = 2000


def parse(data: bytes) -> Parts:
    """Walk a whole HEIF or AVIF file."""
    parts = Parts()
    budget = [MAX_BOXES]
    parts.nodes += _boxes(data, 0, len(data), 0, budget, parts)
    names = [node.name for node in parts.nodes]
    if not names or names[0] != "ftyp":
        parts.problems.append(Problem("The file does not begin with an ftyp box.", "header", 0))
    else:
        brands = [data[i : i + 4].decode("latin-1") for i in range(8, min(parts.nodes[0].size, 200), 4) if i != 12]
        parts.facts.append(Fact("heif.brands", " ".join(brands), "ftyp box", 0))
    parts.facts.append(Fact("heif.boxes", " ".join(names[:50]), "boxes", 0))
    meta = next((node for node in parts.nodes if node.name == "meta"), None)
    if meta is None:
        parts.problems.append(Problem("There is no meta box, so no picture can be located.", "boxes", 0))
        return parts
    try:
        _items(data, meta, parts)
    except (struct.error, IndexError):
        parts.problems.append(Problem("The item tables are cut short or damaged.", "meta box", meta.offset))
    return parts


def _boxes(data: bytes, at: int, end: int, depth: int, budget: list[int], parts: Parts) -> list[Node]:
    nodes: list[Node] = []
    while at + 8 <= end and budget[0] > 0:
        budget[0] -= 1
        size = struct.unpack_from(">I", data, at)[0]
        name = data[at + 4 : at + 8].decode("latin-1")
        header = 8
        if size == 1 and at + 16 <= end:
            size, header = struct.unpack_from(">Q", data, at + 8)[0], 16
        elif size == 0:
            size = end - at
        if size < header or at + size > end:
            message = f"Box {name!r} claims {size} bytes, {end - at} are left."
            parts.problems.append(Problem(message, f"box {name!r}", at))
            nodes.append(Node(name, at, end - at, "cut short"))
            break
        children: list[Node] = []
        if name in CONTAINERS and depth < MAX_DEPTH:
            children = _boxes(data, at + header + CONTAINERS[name], at + size, depth + 1, budget, parts)
        if name == "colr" and data[at + header : at + header + 4] in (b"prof", b"rICC"):
            parts.facts += icc.parse(data[at + header + 4 : at + size], "colr box", at + header + 4)
        nodes.append(Node(name, at, size, children=tuple(children)))
        at += size
    return nodes


def _items(data: bytes, meta: Node, parts: Parts) -> None:
    below = {child.name: child for child in meta.children}
    if "iinf" not in below or "iloc" not in below:
        return
    types = dict(_types(data, below["iinf"]))
    for identifier, extents in _locations(data, below["iloc"]):
        kind = types.get(identifier)
        if kind not in ("Exif", "mime"):
            continue
        raw = b"".join(data[start : start + size] for start, size in extents)
        offset = extents[0][0] if extents else 0
        if sum(size for _, size in extents) > len(raw):
            parts.problems.append(
                Problem(f"The {kind} item reaches past the end of the file.", f"item {identifier}", offset)
            )
        if kind == "Exif" and len(raw) > 4:
            skip = 4 + struct.unpack_from(">I", raw)[0]
            take_exif(raw[skip:], f"Exif item {identifier}", offset + skip, parts)
        elif kind == "mime" and xmp.find(raw) is not None:
            facts, problems = xmp.parse(raw, f"XMP item {identifier}", offset)
            parts.facts += facts
            parts.problems += problems


def _types(data: bytes, node: Node) -> Iterator[tuple[int, str]]:
    at, end = node.offset + 8, node.offset + node.size
    version = data[at]
    at += 4 + (2 if version == 0 else 4)
    for _ in range(MAX_ITEMS):
        if at + 12 > end:
            return
        size = struct.unpack_from(">I", data, at)[0]
        infe = data[at + 8]
        if infe >= 2 and size >= 20:
            wide = infe >= 3
            identifier = struct.unpack_from(">I" if wide else ">H", data, at + 12)[0]
            name_at = at + 12 + (4 if wide else 2) + 2
            yield identifier, data[name_at : name_at + 4].decode("latin-1")
        if size < 8:
            return
        at += size


def _locations(data: bytes, node: Node) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    at = node.offset + 8
    version = data[at]
    sizes = struct.unpack_from(">H", data, at + 4)[0]
    offset_size, length_size, base_size, index_size = sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15, sizes & 15
    at += 6
    wide = version >= 2
    count = struct.unpack_from(">I" if wide else ">H", data, at)[0]
    at += 4 if wide else 2

    def number(size: int) -> int:
        nonlocal at
        value = int.from_bytes(data[at : at + size], "big")
        at += size
        return value

    for _ in range(min(count, MAX_ITEMS)):
        identifier = number(4 if wide else 2)
        method = number(2) & 15 if version in (1, 2) else 0
        number(2)
        base = number(base_size)
        extents = []
        for _ in range(min(number(2), 256)):
            if version in (1, 2) and index_size:
                number(index_size)
            start, size = number(offset_size), number(length_size)
            extents.append((base + start, size))
        if method == 0:
            yield identifier, extents
