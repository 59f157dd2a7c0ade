"""The items of a HEIF or AVIF file: which pictures it holds beside the one that is shown, and what each is for.

Source: ISO/IEC 14496-12 (item information, location, references, properties), 23008-12 (thumbnails, auxiliary images).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from forensix.metadata.facts import Fact, Node

MAX_ITEMS = 2000
MAX_EXTENTS = 256
MAX_REFERENCES = 4000
TOLD = 40
PICTURES = ("hvc1", "av01", "avc1", "vvc1", "jpeg", "j2k1", "unci", "grid", "iovl", "iden", "tmap")
DERIVED = ("grid", "iovl", "iden", "tmap")
"""Kinds of pictures that are put together from others."""

KINDS = {
    "auxid:1": "alpha", "auxiliary:alpha": "alpha", "auxid:2": "depth map", "auxiliary:depth": "depth map",
    "gainmap": "gain map", "matte": "matte",
}  # fmt: skip
"""What an auxiliary picture is, by what its name holds."""


@dataclass
class Item:
    """One item: its type, where its bytes lie, and for a picture its size and the name of an auxiliary one."""

    number: int
    kind: str
    is_hidden: bool = False
    extents: list[tuple[int, int]] = field(default_factory=list)
    size_px: list[int] | None = None
    auxiliary: str = ""


@dataclass
class Items:
    """All items by number, the one that is shown, and for each kind of reference which item refers to which."""

    by_number: dict[int, Item] = field(default_factory=dict)
    primary: int | None = None
    references: dict[str, list[tuple[int, list[int]]]] = field(default_factory=dict)

    def referring(self, kind: str) -> dict[int, list[int]]:
        """Return for each item with references of a kind what they lead to."""
        return dict(self.references.get(kind, []))


def read(data: bytes, meta: Node) -> Items:
    """Return the items that a meta box lists.

    Raises
    ------
    struct.error, IndexError
        The tables are cut short or damaged.
    """
    below = {child.name: child for child in meta.children}
    items = Items()
    if "iinf" not in below:
        return items
    for item in _types(data, below["iinf"]):
        items.by_number.setdefault(item.number, item)
    if "pitm" in below:
        at = below["pitm"].offset + 8
        items.primary = struct.unpack_from(">I" if data[at] else ">H", data, at + 4)[0]
    if "iloc" in below:
        start = below["idat"].offset + 8 if "idat" in below else None
        for number, extents in _locations(data, below["iloc"], start):
            if number in items.by_number:
                items.by_number[number].extents = extents
    if "iref" in below:
        for kind, origin, targets in _references(data, below["iref"]):
            items.references.setdefault(kind, []).append((origin, targets))
    if "iprp" in below:
        _properties(data, below["iprp"], items)
    return items


def facts(items: Items) -> Iterator[Fact]:
    """Yield ``heif.coding``, how pictures are coded, and ``heif.picture``, a dict for each that is not shown.

    The dict holds what the picture is, its size, and whose it is.
    """
    thumbnails, auxiliary = items.referring("thmb"), items.referring("auxl")
    parts = {target for kind in ("dimg", "base") for _, targets in items.references.get(kind, []) for target in targets}
    coded = {item.kind for item in items.by_number.values() if item.kind in PICTURES and item.kind not in DERIVED}
    if coded:
        yield Fact("heif.coding", " ".join(sorted(coded)), "item information")
    told = 0
    for item in items.by_number.values():
        is_picture = item.kind in PICTURES and item.number != items.primary and item.number not in parts
        if not is_picture or told >= TOLD:
            continue
        told += 1
        of = thumbnails.get(item.number) or auxiliary.get(item.number) or []
        if item.number in thumbnails:
            kind = "thumbnail"
        elif item.number in auxiliary:
            kind = next((kind for name, kind in KINDS.items() if name in item.auxiliary), "auxiliary picture")
        elif item.kind == "tmap":
            kind = "tone map"
        else:
            kind = "hidden picture" if item.is_hidden else "further picture"
        record = {"item": item.number, "kind": kind, "size_px": item.size_px, "of": of[:8]}
        named = {"name": item.auxiliary} if item.auxiliary else {}
        offset = item.extents[0][0] if item.extents else None
        yield Fact("heif.picture", {**record, **named}, f"{kind}, item {item.number}", offset)


def _types(data: bytes, node: Node) -> Iterator[Item]:
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
            yield Item(identifier, data[name_at : name_at + 4].decode("latin-1"), bool(data[at + 11] & 1))
        if size < 8:
            return
        at += size


def _locations(data: bytes, node: Node, idat: int | None) -> Iterator[tuple[int, list[tuple[int, int]]]]:
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
        for _ in range(min(number(2), MAX_EXTENTS)):
            if version in (1, 2) and index_size:
                number(index_size)
            start, size = number(offset_size), number(length_size)
            extents.append((base + start, size))
        if method == 0:
            yield identifier, extents
        elif method == 1 and idat is not None:
            yield identifier, [(idat + start, size) for start, size in extents]


def _references(data: bytes, node: Node) -> Iterator[tuple[str, int, list[int]]]:
    at, end = node.offset + 12, node.offset + node.size
    form, width = (">I", 4) if data[node.offset + 8] else (">H", 2)
    for _ in range(MAX_ITEMS):
        if at + 8 + width + 2 > end:
            return
        size = struct.unpack_from(">I", data, at)[0]
        origin = struct.unpack_from(form, data, at + 8)[0]
        count = min(struct.unpack_from(">H", data, at + 8 + width)[0], MAX_REFERENCES, (size - 10 - width) // width)
        first = at + 10 + width
        yield (
            data[at + 4 : at + 8].decode("latin-1"),
            origin,
            [struct.unpack_from(form, data, first + i * width)[0] for i in range(count)],
        )
        if size < 8:
            return
        at += size


def _properties(data: bytes, node: Node, items: Items) -> None:
    """Give items their sizes and the names of auxiliary ones."""
    container = next((child for child in node.children if child.name == "ipco"), None)
    known = list(container.children) if container else []
    for table in (child for child in node.children if child.name == "ipma"):
        at, end = table.offset + 16, table.offset + table.size
        wide_number, wide_index = data[table.offset + 8] >= 1, bool(data[table.offset + 11] & 1)
        for _ in range(min(struct.unpack_from(">I", data, table.offset + 12)[0], MAX_ITEMS)):
            if at >= end:
                return
            number = struct.unpack_from(">I" if wide_number else ">H", data, at)[0]
            at += 4 if wide_number else 2
            count = data[at]
            at += 1
            for _ in range(count):
                index = struct.unpack_from(">H" if wide_index else ">B", data, at)[0]
                index &= 0x7FFF if wide_index else 0x7F
                at += 2 if wide_index else 1
                item = items.by_number.get(number)
                if item is not None and 0 < index <= len(known):
                    _property(data, known[index - 1], item)


def _property(data: bytes, node: Node, item: Item) -> None:
    if node.name == "ispe":
        item.size_px = list(struct.unpack_from(">II", data, node.offset + 12))
    elif node.name == "auxC":
        text = data[node.offset + 12 : min(node.offset + node.size, node.offset + 212)]
        item.auxiliary = text.partition(b"\0")[0].decode("latin-1")
