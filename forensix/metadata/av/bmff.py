"""ISO base media files (MP4, MOV, M4A, 3GP): boxes with their offsets, dates, handlers, codecs, edit lists.

References
----------
ISO/IEC 14496-12 (boxes), 14496-15; Apple, "QuickTime File Format Specification".
"""

import struct
from datetime import UTC, datetime, timedelta
from typing import Any

from forensix.metadata.av import bmff_samples, bmff_whole
from forensix.metadata.av import bmff_tags as tags
from forensix.metadata.av.collector import DEPTH, NODES, FactCollector, name4, text
from forensix.metadata.facts import Node

CONTAINERS = frozenset([
    "moov", "trak", "mdia", "minf", "stbl", "udta", "edts", "dinf", "mvex", "moof", "traf", "mfra", "tref",
    "gmhd", "meco", "strk", "sinf", "schi", "hnti", "hinf", "rinf", "wave"
])  # fmt: skip
EMPTY_TAG = struct.pack(">I4sII", 0, b"data", 1, 0)
"""What iMovie writes behind its list of tags for an author who is not named: words without any, of no size."""
EPOCH_1904 = datetime(1904, 1, 1, tzinfo=UTC)
BOXES = 20_000
UNKNOWN = (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF)
"""Lengths of what is still being written."""
NO_TIME = "A header says that a second has 0 units of time, so no time that is counted in them means anything."


def walk(data: Any, facts: FactCollector) -> None:
    """Read every box of a file into ``facts``."""
    state: dict[str, Any] = {"n": 0, "handler": "", "track": 0, "tables": []}
    nodes = _boxes(data, 0, len(data), "", 0, facts, state)
    facts.nodes.extend(nodes[:NODES])
    order = [n.name for n in nodes]
    facts.fact("container.boxes", order[:200], "top-level boxes", 0)
    # What is missed may lie behind.
    if not facts.exhausting:
        for node in bmff_whole.former_indexes(data, nodes):
            former = FactCollector()
            inside: dict[str, Any] = {"n": 0, "handler": "", "track": 0, "tables": []}
            _boxes(data, node.offset + 8, node.offset + node.size, node.name, 1, former, inside)
            changed = bmff_whole.changed(former.items, facts.items)
            facts.fact("container.former_index", {"size": node.size, "changed": changed}, node.name, node.offset)
        bmff_whole.check(data, nodes, facts, state)
        bmff_samples.unplayed(data, nodes, state["tables"], facts)


def _boxes(
    data: Any, at: int, end: int, path: str, depth: int, facts: FactCollector, state: dict[str, Any]
) -> list[Node]:
    nodes: list[Node] = []
    if depth > DEPTH:
        if not state.get("deep"):
            state["deep"] = True
            facts.problem(f"Boxes are nested more than {DEPTH} deep; those inside were not read.", path, at)
        return nodes
    while at + 8 <= end:
        state["n"] += 1
        if state["n"] > BOXES:
            facts.leave(f"{BOXES} boxes", at)
            break
        size, kind = struct.unpack_from(">I4s", data, at)
        name, head = name4(kind), 8
        where = f"{path}/{name}" if path else name
        if path.endswith("/udta") and size == 0:
            break  # QuickTime ends a list of user data with a zero.
        if size == 1:
            if at + 16 > end:
                facts.problem("The long size of a box is cut off.", where, at)
                break
            size, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        elif size == 0:
            size = end - at
            if depth:
                is_empty = bytes(data[at + 8 : end]) == EMPTY_TAG
                message = "A box inside another says that it reaches to the end of the file."
                facts.problem(message, where, at, grave=not is_empty)
        if size < head:
            facts.problem(f"A box says it is {size} bytes long, less than its own header.", where, at)
            if depth == 0 and name not in bmff_whole.KNOWN_TOP:
                nodes.append(Node(name, at, end - at))
            break
        if at + size > end:
            there, what = end - at, "file" if depth == 0 else "box around it"
            message = f"The box {name} says {size} bytes, but the {what} ends after {there}: it is cut off or damaged."
            facts.problem(message, where, at, cut=depth == 0)
            state.setdefault("cut", []).append(name)
            size = end - at
        body, stop = at + head, at + size
        children = _inside(data, name, body, stop, where, depth, facts, state)
        # The boxes of the file itself are counted apart: what is missing is told by all of them.
        if depth == 0 or facts.counted():
            nodes.append(Node(name, at, size, "", tuple(children)))
        at = stop
    if 0 < end - at < 8 and depth == 0:
        facts.problem(f"{end - at} bytes follow the last box.", "end", at)
    return nodes


def _inside(
    data: Any, name: str, body: int, stop: int, where: str, depth: int, facts: FactCollector, state: dict[str, Any]
) -> list[Node]:
    if name in bmff_samples.TABLES or name in bmff_samples.ELSEWHERE:
        state["tables"].append((state["track"], name, body, stop))
    try:
        if name == "meta":
            # QuickTime's has no version and flags, ISO's has.
            plain = bytes(data[body + 4 : body + 8]) == b"hdlr"
            children = _boxes(data, body if plain else body + 4, stop, where, depth + 1, facts, state)
            tags.meta(data, body if plain else body + 4, stop, where, facts)
            return children
        if name in CONTAINERS:
            if name == "trak":
                state["track"] += 1
            children = _boxes(data, body, stop, where, depth + 1, facts, state)
            if name == "udta":
                tags.user_data(data, body, stop, where, facts)
            return children
        reader = _READERS.get(name)
        if reader:
            reader(data, body, stop, where, facts, state)
        elif name == "uuid":
            tags.uuid(data, body, stop, where, facts)
        elif name == "XMP_":
            tags.packet(bytes(data[body:stop]), where, body, facts)
    except (struct.error, IndexError, ValueError, OverflowError):
        facts.problem(f"The box {name} is too short for what it must hold.", where, body)
    return []


def moment(seconds: int) -> str:
    """Return a date of the 1904 clock as ISO 8601; zero stays the clock's zero."""
    try:
        return (EPOCH_1904 + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:
        return f"{seconds} s after 1904"


def _ftyp(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    if facts.get("container.brand"):
        return
    facts.fact("container.brand", name4(bytes(data[body : body + 4])), where, body)
    facts.fact("container.brand_version", int.from_bytes(data[body + 4 : body + 8], "big"), where, body + 4)
    brands = [name4(bytes(data[i : i + 4])) for i in range(body + 8, min(stop, body + 8 + 4 * 64) - 3, 4)]
    facts.fact("container.brands", brands, where, body + 8)


def _dated(key: str, data: Any, body: int, where: str, facts: FactCollector) -> tuple[int, bool]:
    """Note the dates that a header begins with; return the offset behind them, and whether its numbers are wide."""
    is_wide = data[body] == 1
    created, modified = struct.unpack_from(">QQ" if is_wide else ">II", data, body + 4)
    facts.fact(f"{key}.created", moment(created), where, body + 4)
    facts.fact(f"{key}.modified", moment(modified), where, body + (12 if is_wide else 8))
    return body + (20 if is_wide else 12), is_wide


def _lasting(key: str, length: int, scale: int, where: str, at: int, facts: FactCollector) -> None:
    if scale and length not in UNKNOWN:
        facts.fact(f"{key}.duration_s", round(length / scale, 3), where, at)


def _mvhd(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    at, is_wide = _dated("container.movie", data, body, where, facts)
    scale, length = struct.unpack_from(">IQ" if is_wide else ">II", data, at)
    state["scale"] = scale
    if not scale:
        facts.problem(NO_TIME, where, at)
    _lasting("container.movie", length, scale, where, at, facts)


def _tkhd(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    key = f"container.track.{state['track']}"
    at, is_wide = _dated(key, data, body, where, facts)
    facts.fact(f"{key}.id", struct.unpack_from(">I", data, at)[0], where, at)
    length = struct.unpack_from(">Q" if is_wide else ">I", data, at + 8)[0]
    _lasting(key, length, state.get("scale", 0), where, at + 8, facts)
    matrix_at = at + 24 + (8 if is_wide else 4)
    a, b = struct.unpack_from(">ii", data, matrix_at)
    turn = {(1, 0): 0, (0, 1): 90, (-1, 0): 180, (0, -1): 270}.get(((a > 0) - (a < 0), (b > 0) - (b < 0)))
    width, height = struct.unpack_from(">II", data, matrix_at + 36)
    if width and height:
        facts.fact(f"{key}.size_px", [width >> 16, height >> 16], where, matrix_at + 36)
        if turn:
            facts.fact(f"{key}.rotation_deg", turn, where, matrix_at)


def _mdhd(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    key = f"container.media.{state['track']}"
    at, is_wide = _dated(key, data, body, where, facts)
    scale, length = struct.unpack_from(">IQ" if is_wide else ">II", data, at)
    if not scale:
        facts.problem(NO_TIME, where, at)
    facts.fact(f"{key}.timescale", scale, where, at)
    _lasting(key, length, scale, where, at, facts)


def _hdlr(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    kind = bytes(data[body + 8 : body + 12])
    raw = bytes(data[body + 24 : stop])
    if raw and raw[0] == len(raw) - 1:
        raw = raw[1:]  # QuickTime counts its strings.
    if "/mdia/hdlr" in where:
        state["handler"] = name4(kind)
        facts.fact(f"container.media.{state['track']}.kind", name4(kind), where, body + 8)
        facts.fact("container.handler", text(raw), where, body + 24)
        maker = bytes(data[body + 12 : body + 16])
        if maker.strip(b"\x00"):
            facts.fact("container.handler_maker", name4(maker), where, body + 12)


def _stsd(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    count = struct.unpack_from(">I", data, body + 4)[0]
    at = body + 8
    for _ in range(min(count, 16)):
        if at + 16 > stop:
            break
        size = struct.unpack_from(">I", data, at)[0]
        facts.fact(f"container.media.{state['track']}.codec", name4(bytes(data[at + 4 : at + 8])), where, at + 4)
        if state["handler"] == "vide" and size >= 86 and at + 86 <= stop:
            maker = bytes(data[at + 20 : at + 24])
            if maker.strip(b"\x00") and maker.isalnum():
                facts.fact("container.codec_maker", name4(maker), where, at + 20)
            raw = bytes(data[at + 50 : at + 82])
            facts.fact("container.compressor", text(raw[1 : 1 + min(raw[0], 31)]), where, at + 50)
        if size < 16:
            break
        at += size


def _elst(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    version, count = data[body], struct.unpack_from(">I", data, body + 4)[0]
    form, step = (">Qq", 20) if version == 1 else (">Ii", 12)
    scale = state.get("scale") or 1
    rows = []
    for i in range(min(count, 100)):
        at = body + 8 + i * step
        if at + step > stop:
            break
        length, start = struct.unpack_from(form, data, at)
        rate = struct.unpack_from(">i", data, at + step - 4)[0] / (1 << 16)
        rows.append([round(length / scale, 3), start, *([rate] if rate != 1 else [])])
    facts.fact(f"container.track.{state['track']}.edits", rows, where, body + 8)


def _stts(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    count = struct.unpack_from(">I", data, body + 4)[0]
    n = min(count, (stop - body - 8) // 8, 5000)
    rows = [struct.unpack_from(">II", data, body + 8 + 8 * i) for i in range(n)]
    facts.fact(f"container.media.{state['track']}.samples", sum(r[0] for r in rows), where, body)
    if count == n:
        state.setdefault("timed", {})[state["track"]] = sum(r[0] for r in rows), body + 8
    if count > (stop - body - 8) // 8:
        facts.problem("The table of sample times says more rows than it holds.", where, body)


def _ctts(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    """Note how late the first sample is shown: encoders that reorder frames let the edit list begin there."""
    if int.from_bytes(data[body + 4 : body + 8], "big"):
        later = struct.unpack_from(">i", data, body + 12)[0]
        facts.fact(f"container.media.{state['track']}.first_shown", later, where, body + 12)


def _chunks(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    """Note the furthest byte that a table of chunks points to."""
    count = struct.unpack_from(">I", data, body + 4)[0]
    width = 8 if where.endswith("co64") else 4
    n = min(count, (stop - body - 8) // width)
    if n:
        form = ">Q" if width == 8 else ">I"
        last = max(struct.unpack_from(form, data, body + 8 + width * i)[0] for i in {0, n - 1, n // 2})
        state["last_chunk"] = max(state.get("last_chunk", 0), last)
    if count > n:
        facts.problem("The table of chunks says more rows than it holds.", where, body)


def _mfhd(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    state["fragment"] = [struct.unpack_from(">I", data, body + 4)[0], body + 4]
    state.setdefault("numbers", []).append(state["fragment"])


def _tfhd(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    """Note the numbers of the fragments that hold a track, and where each is written."""
    if number := state.get("fragment"):
        state.setdefault("fragments", {}).setdefault(struct.unpack_from(">I", data, body + 4)[0], []).append(number)


def _stsz(data: Any, body: int, stop: int, where: str, facts: FactCollector, state: dict[str, Any]) -> None:
    state.setdefault("sizes", {})[state["track"]] = struct.unpack_from(">I", data, body + 8)[0], body + 8


_READERS = {
    "ftyp": _ftyp,
    "mvhd": _mvhd,
    "tkhd": _tkhd,
    "mdhd": _mdhd,
    "hdlr": _hdlr,
    "stsd": _stsd,
    "elst": _elst,
    "stts": _stts,
    "ctts": _ctts,
    "stco": _chunks,
    "co64": _chunks,
    "stsz": _stsz,
    "mfhd": _mfhd,
    "tfhd": _tfhd,
}
