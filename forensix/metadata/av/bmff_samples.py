"""Bytes of the recording (mdat) of an ISO file that no track plays: what the tables of samples leave over.

Every track says where its chunks begin, how many samples each has, and how long those are; fragments say it of their
runs. What lies in ``mdat`` and in none of them is told by ``container.unplayed``. Tables are read whole or, where they
are broken, too long, or may refer to more than is read here, not at all: then nothing is told.

References
----------
ISO/IEC 14496-12, 8.7 (sample tables), 8.8 (fragments); Apple, "QuickTime File Format Specification" (sound samples).
"""

import re
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from forensix.metadata.av.bmff_whole import SHORT_BYTES, content
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Node

TABLES = frozenset({"stsd", "stsc", "stco", "co64", "stsz", "trex"})
ELSEWHERE = frozenset({"stz2", "iloc", "saio", "cmov"})
"""Boxes that refer to bytes in a way that is not read here."""

ROWS = 5_000_000
"""Rows of all tables together; ten hours of picture and sound have fewer than 4 million."""

JUDGED, LISTED = 200, 6
UNKNOWN = "unknown"
INSIDE = re.compile(rb"moof|moov|hoov|mdat|wide|free|skip|uuid")
"""Boxes that recorders write while they record and let lie, once the last index is written."""

SOUND = {b"raw ": 0, b"twos": 0, b"sowt": 0, b"in24": 3, b"in32": 4, b"fl32": 4, b"fl64": 8, b"ulaw": 1, b"alaw": 1}
"""Sound whose samples have one length, and how many bytes it is where the description does not say."""


class _Unknown(Exception):
    """The tables do not tell what is played."""


def unplayed(data: Any, nodes: list[Node], tables: list[tuple[int, str, int, int]], facts: FactCollector) -> None:
    """Add what no track plays, as ``container.unplayed``.

    ``tables`` are the boxes of samples as the walk met them: number of the track, name, first byte of the body, end.
    """
    places = [(n.offset + _head(data, n.offset), n.offset + n.size) for n in nodes if n.name == "mdat"]
    names = {name for _, name, _, _ in tables}
    if not places or ("trex" not in names and "stsz" not in names) or names & ELSEWHERE:
        return
    try:
        runs = [*_tracks(data, tables, facts), *_fragments(data, nodes, tables)]
    except (_Unknown, struct.error, ValueError, IndexError, OverflowError):
        return
    starts = np.concatenate([a for a, _ in runs] or [np.empty(0, np.int64)])
    ends = starts + np.concatenate([b for _, b in runs] or [np.empty(0, np.int64)])
    if len(starts) and starts.max() >= len(data):
        return
    holes = _left_over(starts, ends, np.array(places, np.int64), len(data))
    sizes = holes[:, 1] - holes[:, 0]
    if sizes.sum() <= SHORT_BYTES:
        return
    largest = np.argsort(-sizes, kind="stable")[:JUDGED]
    rows: list[list[Any]] = [[*_kind(data, *holes[i].tolist()), int(holes[i, 0]), int(sizes[i])] for i in largest]
    unknown = [row for row in rows if row[0] == UNKNOWN]
    shown = [*unknown, *(row for row in rows if row[0] != UNKNOWN)][:LISTED]
    value = {
        "bytes": int(sizes.sum()),
        "unknown": sum(row[3] for row in unknown),
        "places": len(sizes),
        "of": sum(b - a for a, b in places),
        "largest": shown,
    }
    facts.fact("container.unplayed", value, "mdat", shown[0][2])


def _head(data: Any, at: int) -> int:
    return 16 if data[at : at + 4] == b"\0\0\0\1" else 8


def _kind(data: Any, at: int, stop: int) -> tuple[str, str]:
    """Return what fills a stretch, and its first bytes."""
    name = bytes(data[at + 4 : at + 8])
    if INSIDE.fullmatch(name):
        return name.decode(), bytes(data[at : at + 8]).hex(" ")
    found = content(data, at, stop)
    return (UNKNOWN, found[1].hex(" ")) if found else ("filling", bytes(data[at : at + 8]).hex(" "))


def _left_over(starts: np.ndarray, ends: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    """Return the stretches inside ``places`` (n, 2) that no run covers, as (m, 2): first byte and the one behind."""
    # What is no place counts as covered: what stays uncovered lies in one.
    outside = np.concatenate([[0], places[:, 1]]), np.concatenate([places[:, 0], [size]])
    first = np.concatenate([np.clip(starts, 0, size), outside[0]])
    last = np.concatenate([np.clip(ends, 0, size), outside[1]])
    order = np.argsort(first, kind="stable")
    first, reached = first[order], np.maximum.accumulate(last[order])
    is_hole = first[1:] > reached[:-1]
    return np.stack([reached[:-1][is_hole], first[1:][is_hole]], axis=1)


def _tracks(
    data: Any, tables: list[tuple[int, str, int, int]], facts: FactCollector
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield first byte and length of the chunks of each track."""
    by_track: dict[int, dict[str, tuple[int, int]]] = {}
    for track, name, body, stop in tables:
        if track and name != "trex":
            by_track.setdefault(track, {})[name] = body, stop
    left = ROWS
    for track, boxes in by_track.items():
        chunks_in = boxes.get("co64") or boxes.get("stco")
        if chunks_in is None or not {"stsc", "stsz", "stsd"} <= boxes.keys():
            raise _Unknown
        offsets = _rows(data, chunks_in, ">u8" if "co64" in boxes else ">u4", 1)[:, 0]
        per = _rows(data, boxes["stsc"], ">u4", 3)
        at = boxes["stsz"][0]
        each, n_samples = struct.unpack_from(">II", data, at + 4)
        sizes = np.empty(0, np.int64) if each else _rows(data, (at + 4, boxes["stsz"][1]), ">u4", 1)[:, 0]
        left -= len(offsets) + len(per) + len(sizes)
        if left < 0:
            raise _Unknown
        if not len(offsets) or not n_samples:
            continue
        firsts = np.append(np.minimum(per[:, 0], len(offsets) + 1), len(offsets) + 1)
        if not len(per) or firsts[0] != 1 or (np.diff(firsts) < 0).any():
            raise _Unknown
        counts = np.repeat(per[:, 1], np.diff(firsts))
        ends = np.minimum(np.cumsum(counts), n_samples)
        begins = np.concatenate([[0], ends[:-1]])
        if each:
            is_sound = facts.get(f"container.media.{track}.kind") == "soun"
            length = _sound(data, boxes["stsd"], each) if is_sound else float(each)
            yield offsets, np.minimum((ends - begins) * length, len(data)).astype(np.int64)
        else:
            summed = np.concatenate([[0], np.cumsum(sizes)])
            yield offsets, summed[ends] - summed[begins]


def _rows(data: Any, box: tuple[int, int], form: str, width: int) -> np.ndarray:
    """Return the rows of a table, int64 (n, ``width``), as many as it says and holds."""
    body, stop = box
    count = min(struct.unpack_from(">I", data, body + 4)[0], ROWS + 1)
    kind = np.dtype(form)
    if stop - body - 8 < count * width * kind.itemsize:
        raise _Unknown
    raw = np.frombuffer(bytes(data[body + 8 : body + 8 + count * width * kind.itemsize]), kind)
    if kind.itemsize == 8 and (raw >> np.uint64(62)).any():
        raise _Unknown
    return raw.astype(np.int64).reshape(-1, width)


def _sound(data: Any, box: tuple[int, int], each: int) -> float:
    """Return the bytes of a sample of sound: where they count as 1, the description has them."""
    if each > 1:
        return float(each)
    at = box[0] + 8
    kind, version = bytes(data[at + 4 : at + 8]), struct.unpack_from(">H", data, at + 16)[0]
    channels, bits = struct.unpack_from(">HH", data, at + 24)
    if version == 1:
        samples, _, n_bytes = struct.unpack_from(">III", data, at + 36)
    elif version == 2:
        n_bytes, samples = struct.unpack_from(">II", data, at + 64)
    elif kind in SOUND:
        samples, n_bytes = 1, channels * (SOUND[kind] or bits // 8)
    else:
        raise _Unknown
    if not samples or not n_bytes:
        raise _Unknown
    return float(n_bytes / samples)


def _fragments(
    data: Any, nodes: list[Node], tables: list[tuple[int, str, int, int]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield first byte and length of the runs of each fragment."""
    usual = {}
    for _, table, body, _ in tables:
        if table == "trex":
            track, _, _, size = struct.unpack_from(">IIII", data, body + 4)
            usual[track] = size
    left = ROWS
    for moof in (n for n in nodes if n.name == "moof"):
        runs: list[tuple[int, int]] = []
        behind = moof.offset
        for name, body, stop in _boxes(data, moof.offset + 8, moof.offset + moof.size):
            if name != b"traf":
                continue
            base, size = behind, 0
            for inner, at, end in _boxes(data, body, stop):
                if inner == b"tfhd":
                    flags, track = struct.unpack_from(">II", data, at)
                    place = at + 8
                    base = struct.unpack_from(">Q", data, place)[0] if flags & 1 else base
                    base = moof.offset if flags & 0x20000 else base
                    place += 8 * bool(flags & 1) + 4 * bool(flags & 2) + 4 * bool(flags & 8)
                    size = struct.unpack_from(">I", data, place)[0] if flags & 16 else usual.get(track, 0)
                    behind = base
                elif inner == b"trun":
                    flags, count = struct.unpack_from(">II", data, at)
                    place = at + 8 + 4 * bool(flags & 1) + 4 * bool(flags & 4)
                    begins = base + struct.unpack_from(">i", data, at + 8)[0] if flags & 1 else behind
                    width = sum(bool(flags & mark) for mark in (0x100, 0x200, 0x400, 0x800))
                    left -= count
                    if left < 0 or end - place < 4 * width * count or (not size and not flags & 0x200):
                        raise _Unknown
                    length = size * count
                    if flags & 0x200:
                        raw = np.frombuffer(bytes(data[place : place + 4 * width * count]), ">u4").reshape(-1, width)
                        length = int(raw[:, int(flags & 0x100 > 0)].sum(dtype=np.int64))
                    runs.append((begins, length))
                    behind = begins + length
        both = np.array(runs, np.int64).reshape(-1, 2)
        yield both[:, 0], both[:, 1]


def _boxes(data: Any, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, first byte of the body, and end of the boxes inside another."""
    while at + 8 <= end:
        size, name = struct.unpack_from(">I4s", data, at)
        if size < 8 or at + size > end:
            raise _Unknown
        yield name, at + 8, at + size
        at += size
