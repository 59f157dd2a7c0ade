"""Tags in ISO base media files: user data, iTunes lists, QuickTime keys, XMP and other ``uuid`` boxes."""

import struct
from typing import Any

from forensix.media.tags import MOST
from forensix.metadata.av.collector import FactCollector, is_text, iso6709, name4, text
from forensix.metadata.blocks import xmp
from forensix.metadata.blocks.c2pa_hidden import C2PA_UUID

XMP_UUID = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")
UUIDS = {
    XMP_UUID: "XMP",
    C2PA_UUID: "C2PA",
    bytes.fromhex("50524f4621d24fcebb88695cfac9c740"): "Sony profile",
    bytes.fromhex("55534d5421d24fcebb88695cfac9c740"): "Sony user data",
    bytes.fromhex("85c0b687820f11e08111f4ce462b6a48"): "Canon",
    bytes.fromhex("ffcc8263f8554a938814587a02521fdd"): "spherical video",
}
DEVICE = {
    "©mak": "device.make",
    "©mod": "device.model",
    "manu": "device.make",
    "modl": "device.model",
    "com.apple.quicktime.make": "device.make",
    "com.apple.quicktime.model": "device.model",
    "com.android.manufacturer": "device.make",
    "com.android.model": "device.model",
}
PLACES = ("©xyz", "com.apple.quicktime.location.ISO6709", "location")


def user_data(data: Any, at: int, end: int, where: str, facts: FactCollector) -> None:
    """Read the text boxes of a ``udta`` box: QuickTime's counted strings, 3GPP's, and plain text."""
    n = 0
    while at + 8 <= end:
        if n == MOST:
            _left(where, at, facts)
            break
        n += 1
        size, kind = struct.unpack_from(">I4s", data, at)
        if size < 8 or at + size > end:
            break
        name = name4(kind)
        raw = bytes(data[at + 8 : min(at + size, at + 8 + 65536)])
        place = f"{where}/{name}"
        if name == "loci":
            _loci(raw, place, at, facts)
        elif kind[:1] == b"\xa9" and len(raw) >= 4:
            length = int.from_bytes(raw[:2], "big")
            _tag(name, text(raw[4 : 4 + length]) if length <= len(raw) - 4 else text(raw), place, at, facts)
        elif name in ("auth", "titl", "dscp", "perf", "gnre", "cprt", "albm", "yrrc", "manu", "modl") and len(raw) > 6:
            _tag(name, text(raw[6:]), place, at, facts)
        elif name not in ("meta", "XMP_", "hnti") and is_text(raw):
            _tag(name, text(raw), place, at, facts)
        elif name not in ("meta", "XMP_", "hnti"):
            facts.fact("container.user_data", {"name": name, "size": size}, place, at)
        at += size


def meta(data: Any, at: int, end: int, where: str, facts: FactCollector) -> None:
    """Read the ``keys`` and ``ilst`` boxes of a ``meta`` box."""
    keys: list[str] = []
    for name, body, stop in _children(data, at, end):
        if name == "keys":
            count, place = struct.unpack_from(">I", data, body + 4)[0], body + 8
            for _ in range(min(count, MOST)):
                if place + 8 > stop:
                    break
                size = struct.unpack_from(">I", data, place)[0]
                if size < 8:
                    break
                keys.append(text(bytes(data[place + 8 : min(place + size, stop)])))
                place += size
        elif name == "ilst":
            _list(data, body, stop, where, keys, facts)


def _children(data: Any, at: int, end: int) -> list[tuple[str, int, int]]:
    children: list[tuple[str, int, int]] = []
    while at + 8 <= end and len(children) <= MOST:
        size, kind = struct.unpack_from(">I4s", data, at)
        if size < 8 or at + size > end:
            break
        children.append((name4(kind), at + 8, at + size))
        at += size
    return children


def _list(data: Any, at: int, end: int, where: str, keys: list[str], facts: FactCollector) -> None:
    for n, (name, body, stop) in enumerate(_children(data, at, end)):
        if n == MOST:
            _left(f"{where}/ilst", body - 8, facts)
            break
        index = int.from_bytes(data[body - 4 : body], "big")
        label = keys[index - 1] if 1 <= index <= len(keys) else name
        own = ""
        for child, inner, inner_end in _children(data, body, stop):
            raw = bytes(data[inner : min(inner_end, inner + 65536)])
            if child in ("mean", "name") and name == "----":
                own = f"{own}.{text(raw[4:])}".strip(".")
            elif child == "data" and len(raw) >= 8:
                tag = own or label
                kind = int.from_bytes(raw[1:4], "big")
                value = raw[8:]
                place = f"{where}/ilst/{tag}"
                if kind in (1, 2) or (kind == 0 and is_text(value)):
                    decoded = value.decode("utf-16-be", "replace") if kind == 2 else text(value)
                    _tag(tag, decoded, place, inner, facts)
                elif kind in (21, 22) and len(value) <= 8:
                    facts.fact(f"container.tag.{tag}", int.from_bytes(value, "big", signed=kind == 21), place, inner)
                elif kind in (13, 14):
                    facts.fact(
                        "container.cover",
                        {"bytes": stop - inner, "kind": "JPEG" if kind == 13 else "PNG"},
                        place,
                        inner,
                    )


def _left(where: str, at: int, facts: FactCollector) -> None:
    facts.problem(f"There are more than {MOST} tags; the rest was not read.", where, at, unread=True)


def _tag(name: str, value: str, where: str, offset: int, facts: FactCollector) -> None:
    facts.fact(f"container.tag.{name}", value, where, offset)
    if name in DEVICE and facts.get(DEVICE[name]) is None:
        facts.fact(DEVICE[name], value, where, offset)
    if name in PLACES or name.endswith("location.ISO6709"):
        point = iso6709(value)
        if point and facts.get("gps.latitude") is None:
            facts.fact("gps.latitude", point[0], where, offset)
            facts.fact("gps.longitude", point[1], where, offset)


def _loci(raw: bytes, where: str, offset: int, facts: FactCollector) -> None:
    """Read 3GPP's location box: name, role, longitude, latitude, altitude as 16.16 numbers."""
    name, _, rest = raw[6:].partition(b"\x00")
    if len(rest) >= 13:
        longitude, latitude, _ = struct.unpack_from(">iii", rest, 1)
        facts.fact("gps.latitude", latitude / 65536, where, offset)
        facts.fact("gps.longitude", longitude / 65536, where, offset)
        facts.fact("container.tag.loci", text(name), where, offset)


def uuid(data: Any, body: int, stop: int, where: str, facts: FactCollector) -> None:
    """Name a ``uuid`` box, and read XMP where it is that."""
    identifier = bytes(data[body : body + 16])
    facts.fact("container.uuid", UUIDS.get(identifier, identifier.hex()), where, body)
    if identifier == XMP_UUID:
        packet(bytes(data[body + 16 : min(stop, body + 16 + xmp.MAX_PACKET_BYTES)]), f"{where} XMP", body + 16, facts)


def packet(raw: bytes, where: str, offset: int, facts: FactCollector) -> None:
    """Read an XMP packet."""
    items, problems = xmp.parse(raw, where, offset)
    facts.items.extend(items)
    facts.problems.extend(problems)
