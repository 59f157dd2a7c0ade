"""Flash video: the tag chain and the ``onMetaData`` that its writer leaves.

References
----------
Adobe, "Video File Format Specification 10.1", annex E; "AMF 0".
"""

import struct
from typing import Any

from forensix.media.tags import MOST
from forensix.metadata.av.collector import FactCollector, text
from forensix.metadata.facts import Node

TAGS = 100_000


def walk(data: Any, facts: FactCollector) -> None:
    """Read the tag chain of a file into ``facts``."""
    if len(data) < 13:
        facts.problem("The file ends inside its header.", "FLV", 0)
        return
    at = int.from_bytes(data[5:9], "big")
    if at != 9:
        facts.problem(f"The header says it is {at} bytes long instead of 9.", "FLV", 5)
        at = 9
    facts.nodes.append(Node("FLV header", 0, at))
    at += 4
    n, start, kinds, last_ms = 0, at, {8: 0, 9: 0, 18: 0}, 0
    backwards = 0
    while at + 11 <= len(data) and n < TAGS:
        kind, size = data[at] & 31, int.from_bytes(data[at + 1 : at + 4], "big")
        stop = at + 11 + size
        if bytes(data[at : at + 4]) == b"FLV\x01" and int.from_bytes(data[at + 5 : at + 9], "big") == 9:
            facts.fact("container.again", at, "the beginning of another file", at)
            # Players stop here, and so do the streams that are read.
            break
        if kind not in kinds:
            facts.problem(f"Other bytes stand where a tag must begin ({kind}).", "FLV", at)
            break
        n += 1
        kinds[kind] += 1
        if kind != 18:
            ms = int.from_bytes(data[at + 4 : at + 7], "big") | data[at + 7] << 24
            backwards += ms + 1000 < last_ms
            last_ms = ms
        if stop > len(data):
            message = f"A tag says {size} bytes, but only {len(data) - at - 11} are there: the file is cut off."
            facts.problem(message, "FLV", at, cut=True)
            break
        if kind == 18:
            _script(bytes(data[at + 11 : stop]), at + 11, facts)
        if stop + 4 <= len(data) and int.from_bytes(data[stop : stop + 4], "big") not in (size + 11, 0):
            facts.problem("The length behind a tag is not that of the tag.", "FLV", stop)
        at = stop + 4
    if 0 < len(data) - at < 11:
        facts.problem("The file is cut off within the head of a tag.", "FLV", at, cut=True)
    facts.nodes.append(
        Node("tags", start, len(data) - start, f"{kinds[9]} video, {kinds[8]} audio, {kinds[18]} script")
    )
    facts.fact("container.tracks", ["video"] * bool(kinds[9]) + ["audio"] * bool(kinds[8]), "tags")
    if last_ms:
        facts.fact("container.movie.duration_s", last_ms / 1000, "time of the last tag")
    if backwards:
        times = "once" if backwards == 1 else f"{backwards} times"
        facts.problem(f"Time runs backwards {times}, as where recordings are joined.", "FLV", None)


def _script(raw: bytes, offset: int, facts: FactCollector) -> None:
    try:
        label, at = _value(raw, 0, 0)
        values, _ = _value(raw, at, 0)
    except (struct.error, IndexError, ValueError):
        facts.problem("The script data cannot be read.", "onMetaData", offset)
        return
    if not isinstance(values, dict):
        return
    if len(values) > MOST:
        told = f"The script data hold more than {MOST} values; the rest was not read."
        facts.problem(told, "onMetaData", offset, unread=True)
    for key, value in list(values.items())[:MOST]:
        if isinstance(value, str | int | float | bool):
            facts.fact(f"container.tag.{key}", value, f"{label}/{key}", offset)


def _value(raw: bytes, at: int, depth: int) -> tuple[Any, int]:
    kind = raw[at]
    at += 1
    if depth > 8:
        raise ValueError("nested too deep")
    if kind == 0:
        number = struct.unpack_from(">d", raw, at)[0]
        return (number if abs(number) < 1e15 else 0.0), at + 8
    if kind == 1:
        return bool(raw[at]), at + 1
    if kind in (2, 12):
        width = 2 if kind == 2 else 4
        size = int.from_bytes(raw[at : at + width], "big")
        return text(raw[at + width : at + width + size]), at + width + size
    if kind in (3, 8):
        at += 4 if kind == 8 else 0
        out: dict[str, Any] = {}
        while len(out) <= MOST and raw[at : at + 3] != b"\x00\x00\x09":
            size = int.from_bytes(raw[at : at + 2], "big")
            key = text(raw[at + 2 : at + 2 + size])
            out[key], at = _value(raw, at + 2 + size, depth + 1)
        return out, at + 3
    if kind == 10:
        items = []
        count = int.from_bytes(raw[at : at + 4], "big")
        at += 4
        for _ in range(min(count, MOST)):
            item, at = _value(raw, at, depth + 1)
            items.append(item)
        return items, at
    if kind == 11:
        return None, at + 10
    return None, at
