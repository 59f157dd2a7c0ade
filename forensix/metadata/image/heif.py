"""HEIF and AVIF files: boxes with their offsets, EXIF and XMP items, and pictures beside the one that is shown.

Source: ISO/IEC 14496-12 (boxes), 23008-12 (HEIF); Android's "Motion Photo format 1.0" (video).
"""

import struct

from forensix.metadata.blocks import icc, xmp
from forensix.metadata.facts import Node
from forensix.metadata.image import heif_items, heif_previews
from forensix.metadata.image.parts import Parts
from forensix.metadata.image.png import take_exif

CONTAINERS = {"meta": 4, "iprp": 0, "ipco": 0, "moov": 0, "trak": 0, "mdia": 0, "minf": 0, "stbl": 0, "dinf": 0}
CLIP = "mpvd"
"""The box in which Google's and Samsung's phones keep the video of a motion photo."""

SHORT = "mini"
"""The box that holds a whole small picture, in place of a meta box (23008-12, low-overhead image file format)."""

MAX_BOXES = 5000
MAX_DEPTH = 8


def parse(data: bytes, parts: Parts | None = None) -> Parts:
    """Walk a whole HEIF or AVIF file, into ``parts`` where they are given."""
    parts = parts or Parts()
    budget = [MAX_BOXES]
    parts.nodes += _boxes(data, 0, len(data), 0, budget, parts)
    names = [node.name for node in parts.nodes]
    if not names or names[0] != "ftyp":
        parts.problem("The file does not begin with an ftyp box.", "header", 0)
    else:
        brands = [data[i : i + 4].decode("latin-1") for i in range(8, min(parts.nodes[0].size, 200), 4) if i != 12]
        parts.fact("heif.brands", " ".join(brands), "ftyp box", 0)
    parts.fact("heif.boxes", " ".join(names[:50]), "boxes", 0)
    for box in (node for node in parts.nodes if node.name == CLIP):
        parts.fact("heif.clip", {"size": box.size}, f"{CLIP} box", box.offset)
    meta = next((node for node in parts.nodes if node.name == "meta"), None)
    if SHORT in names:
        parts.fact("heif.coding", SHORT, f"{SHORT} box", next(n.offset for n in parts.nodes if n.name == SHORT))
    if meta is None and (SHORT in names or not parts.is_whole):
        return parts
    if meta is None:
        parts.problem("There is no meta box, so no picture can be located.", "boxes", 0)
        return parts
    try:
        _items(data, meta, parts)
    except (struct.error, IndexError):
        parts.problem("The item tables are cut short or damaged.", "meta box", meta.offset)
    return parts


def _boxes(data: bytes, at: int, end: int, depth: int, budget: list[int], parts: Parts) -> list[Node]:
    nodes: list[Node] = []
    while at + 8 <= end:
        if budget[0] == 0:
            parts.leave(MAX_BOXES, at)
            break
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
            parts.problem(message, f"box {name!r}", at, cut=end == len(data) and size > end - at)
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
    items = heif_items.read(data, meta)
    parts.facts += heif_items.facts(items)
    # Of a file that was cut a decoder leaves parts of the picture empty, which is no editing.
    parts.thumbnails += heif_previews.thumbnails(data, items) if not parts.problems else []
    for item in items.by_number.values():
        if item.kind not in ("Exif", "mime"):
            continue
        raw = b"".join(data[start : start + size] for start, size in item.extents)
        offset = item.extents[0][0] if item.extents else 0
        if sum(size for _, size in item.extents) > len(raw):
            parts.problem(f"The {item.kind} item reaches past the end of the file.", f"item {item.number}", offset)
        if item.kind == "Exif" and len(raw) > 4:
            skip = 4 + struct.unpack_from(">I", raw)[0]
            take_exif(raw[skip:], f"Exif item {item.number}", offset + skip, parts)
        elif item.kind == "mime" and xmp.find(raw) is not None and not parts.is_full(offset):
            parts.take(*xmp.parse(raw, f"XMP item {item.number}", offset))
