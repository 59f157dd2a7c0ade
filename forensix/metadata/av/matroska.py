"""Matroska and WebM: elements with their offsets, the programs that wrote them, dates, tracks, tags, attachments.

References
----------
RFC 8794 (EBML), RFC 9559 (Matroska); MKVToolNix, "Track statistics tags" (wiki).
"""

import re
import struct
from datetime import UTC, datetime, timedelta
from typing import Any

from forensix.metadata.av.collector import DEPTH, FactCollector, iso6709, text
from forensix.metadata.facts import Node

EPOCH_2001 = datetime(2001, 1, 1, tzinfo=UTC)
ELEMENTS = 20_000
MASTERS = {
    0x1A45DFA3: "EBML",
    0x18538067: "Segment",
    0x1549A966: "Info",
    0x1654AE6B: "Tracks",
    0xAE: "TrackEntry",
    0xE0: "Video",
    0xE1: "Audio",
    0x1254C367: "Tags",
    0x7373: "Tag",
    0x63C0: "Targets",
    0x67C8: "SimpleTag",
    0x1941A469: "Attachments",
    0x61A7: "AttachedFile",
    0x1043A770: "Chapters",
}
TAG_NAME, TAG_STRING = 0x45A3, 0x4487
CLOSED = {
    0x114D9B74: "SeekHead",
    0x1F43B675: "Cluster",
    0x1C53BB6B: "Cues",
    0xEC: "Void",
    0xBF: "CRC-32",
}
TEXTS = {
    0x4282: "doc_type",
    0x4D80: "muxing_app",
    0x5741: "writing_app",
    0x7BA9: "title",
    0x86: "codec",
    0x536E: "track_name",
    0x22B59C: "language",
    0x466E: "attachment",
    0x258688: "codec_name",
}
STATISTICS = ("NUMBER_OF_FRAMES", "NUMBER_OF_BYTES", "BPS", "_STATISTICS_WRITING_APP")
TRACK_TYPES = {1: "video", 2: "audio", 17: "subtitle"}


def walk(data: Any, facts: FactCollector) -> None:
    """Read every element of a file into ``facts``."""
    state: dict[str, Any] = {"n": 0, "clusters": 0, "kinds": [], "uids": [], "of": None, "statistics": {}}
    facts.nodes.extend(_elements(data, 0, len(data), "", 0, facts, state))
    facts.fact("container.clusters", state["clusters"], "Segment")
    facts.fact("container.tracks", state["kinds"], "Tracks")
    for number, uid in enumerate(state["uids"]):
        _statistics(number, state["statistics"].get(uid, {}), facts)
    if state["kinds"] and not state["clusters"] and not facts.problems:
        facts.fact("container.header_alone", f"{', '.join(state['kinds'])} described", "Segment")
    if not state["kinds"] and not facts.exhausting:
        facts.problem("No track is described: the file is cut off or damaged.", "Segment")


def _statistics(number: int, counted: dict[str, tuple[str, str, int]], facts: FactCollector) -> None:
    """Add what a program counted of a track: its length is from bytes and rate, since FFmpeg writes DURATION anew."""
    if len(counted) < len(STATISTICS):
        return
    (frames, where, offset), (n_bytes, *_), (bps, *_), (writer, *_) = (counted[name] for name in STATISTICS)
    if all(re.fullmatch("[1-9][0-9]{0,17}", value) for value in (frames, n_bytes, bps)):
        record = {"frames": int(frames), "duration_s": round(8 * int(n_bytes) / int(bps), 3), "writer": writer}
        facts.fact(f"container.statistics.{number}", record, where, offset)


def _vint(data: Any, at: int, end: int, *, keep: bool) -> tuple[int, int] | None:
    """Read a number of variable length: return it with its width, ``None`` where there is none."""
    if at >= end or not data[at]:
        return None
    width = 9 - data[at].bit_length()
    if at + width > end or (keep and width > 4):
        return None
    value = int.from_bytes(data[at : at + width], "big")
    if keep:
        return value, width
    value &= (1 << (7 * width)) - 1
    return (-1 if value == (1 << (7 * width)) - 1 else value), width


def _elements(
    data: Any, at: int, end: int, path: str, depth: int, facts: FactCollector, state: dict[str, Any]
) -> list[Node]:
    nodes: list[Node] = []
    if depth > DEPTH:
        facts.problem(f"Elements are nested more than {DEPTH} deep.", path, at)
        return nodes
    pending = ""
    while at < end:
        state["n"] += 1
        if state["n"] > ELEMENTS:
            facts.leave(f"{ELEMENTS} elements", at)
            break
        head = _vint(data, at, end, keep=True)
        size = _vint(data, at + head[1], end, keep=False) if head else None
        if head is None or size is None:
            facts.problem("Other bytes stand where an element must begin.", path or "file", at)
            break
        identifier, body = head[0], at + head[1] + size[1]
        name = MASTERS.get(identifier) or CLOSED.get(identifier) or TEXTS.get(identifier) or f"0x{identifier:X}"
        where = f"{path}/{name}" if path else name
        stop = body + size[0]
        if size[0] < 0:
            stop = end if identifier != 0x1F43B675 else _next_cluster(data, body, end)
        if stop > end:
            message = (
                f"The element {name} says {size[0]} bytes, but only {end - body} are there: it is cut off or damaged."
            )
            facts.problem(message, where, at, cut=end == len(data))
            stop = end
        children: list[Node] = []
        if identifier == 0x1A45DFA3 and depth == 0 and nodes:
            facts.fact("container.again", at, "the beginning of another file", at)
        if identifier in MASTERS:
            if identifier == 0xAE:
                state["kinds"].append("unknown")
                state["uids"].append(None)
            elif identifier == 0x7373:
                state["of"] = None
            children = _elements(data, body, stop, where, depth + 1, facts, state)
        else:
            pending = _leaf(identifier, data, body, stop, where, facts, state, pending)
        if (depth <= 1 or identifier in MASTERS) and facts.counted():
            nodes.append(Node(name, at, stop - at, "", tuple(children)))
        at = max(stop, at + 2)
    return nodes


def _next_cluster(data: Any, at: int, end: int) -> int:
    for mark in (b"\x1f\x43\xb6\x75", b"\x1c\x53\xbb\x6b", b"\x12\x54\xc3\x67"):
        place = data.find(mark, at, end)
        end = place if place >= 0 else end
    return end


def _leaf(
    identifier: int,
    data: Any,
    body: int,
    stop: int,
    where: str,
    facts: FactCollector,
    state: dict[str, Any],
    pending: str,
) -> str:
    raw = bytes(data[body : min(stop, body + 4096)])
    if identifier in TEXTS:
        facts.fact(f"container.{TEXTS[identifier]}", text(raw), where, body)
    elif identifier == 0x4461 and len(raw) == 8:
        stamp = EPOCH_2001 + timedelta(microseconds=struct.unpack(">q", raw)[0] // 1000)
        facts.fact("container.movie.created", stamp.strftime("%Y-%m-%dT%H:%M:%SZ"), where, body)
    elif identifier == 0x2AD7B1:
        state["scale"] = int.from_bytes(raw[:8], "big")
    elif identifier == 0x4489 and len(raw) in (4, 8):
        length = struct.unpack(">f" if len(raw) == 4 else ">d", raw)[0]
        seconds = length * (state.get("scale") or 1_000_000) / 1e9
        if 0 <= seconds < 1e9:
            facts.fact("container.movie.duration_s", round(seconds, 3), where, body)
    elif identifier == 0x83 and state["kinds"]:
        state["kinds"][-1] = TRACK_TYPES.get(int.from_bytes(raw[:1], "big"), "other")
    elif identifier == 0x73C5 and state["uids"]:
        state["uids"][-1] = int.from_bytes(raw[:8], "big")
    elif identifier == 0x63C5:
        state["of"] = int.from_bytes(raw[:8], "big")
    elif identifier == 0x1F43B675:
        state["clusters"] += 1
    elif identifier == TAG_NAME:
        return text(raw)
    elif identifier == TAG_STRING and pending:
        value, where = text(raw), f"{where.rpartition('/')[0]}/TagString {pending[:80]}"
        facts.fact(f"container.tag.{pending}", value, where, body)
        if pending in STATISTICS and state["of"] is not None:
            state["statistics"].setdefault(state["of"], {}).setdefault(pending, (value, where, body))
        if "LOCATION" in pending.upper() and (point := iso6709(value)) and facts.get("gps.latitude") is None:
            facts.fact("gps.latitude", point[0], where, body)
            facts.fact("gps.longitude", point[1], where, body)
    return pending
