"""What the boxes of an ISO file say together: which are missing, which are twice, and what stands beside them.

References
----------
ISO/IEC 14496-12 (boxes).
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Any

from forensix.metadata.av import bmff_tags as tags
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Fact, Node

KNOWN_TOP = frozenset([
    "ftyp", "styp", "moov", "mdat", "free", "skip", "wide", "uuid", "meta", "moof", "mfra", "sidx", "ssix",
    "prft", "pdin", "pnot", "PICT", "emsg", "bloc", "jumb", "junk", "jP"
])  # fmt: skip
FRAGMENTS = 2000
MIN_FRAGMENTS, USUAL_SHARE = 5, 0.7
OTHER_THAN_ZERO = re.compile(rb"[^\x00]")
TRAILERS = {b"LIGOGPSINFO\x00": "dashcams with LigoGPS"}
"""How the data begins that recorders append behind the last box, with the words for them."""

SKIPPED = ("free", "skip")
"""Boxes that players skip."""

MOST_FORMER = 4
"""How many former indexes are read."""

SHORT_BYTES = 256
"""Up to so many bytes in a box that players skip are a writer's own words."""

SAMPLE_BYTES = 4096
DAY_S = 86400


def former_indexes(data: Any, nodes: list[Node]) -> list[Node]:
    """Return the boxes for players to skip that begin as an index (moov) does inside: one that a new one replaced."""
    skipped = [n for n in nodes if n.name in SKIPPED and n.size > 16]
    return [n for n in skipped if data[n.offset + 12 : n.offset + 16] == b"mvhd"][:MOST_FORMER]


def changed(former: Iterable[Fact], now: Iterable[Fact]) -> list[list[str]]:
    """Return tags, and the date of the movie, of which another index says something else: ``[name, former, now]``."""
    values: dict[str, list[str]] = {}
    for fact in now:
        values.setdefault(fact.key, []).append(str(fact.value))
    rows = []
    for fact in former:
        others, value = values.get(fact.key), str(fact.value)
        if others is None or value in others:
            continue
        if fact.key.startswith("container.tag.") or (
            fact.key == "container.movie.created" and _is_days_apart(value, others[0])
        ):
            rows.append([fact.key.removeprefix("container.").removeprefix("tag."), value[:80], others[0][:80]])
    return rows[:20]


def _is_days_apart(first: str, second: str) -> bool:
    """Tell whether two dates that were set lie more than a day apart: a recorder dates its movie anew when it ends."""
    if first.startswith("1904") or second.startswith("1904"):
        return False
    try:
        return abs((datetime.fromisoformat(first) - datetime.fromisoformat(second)).total_seconds()) > DAY_S
    except ValueError:
        return False


def check(data: Any, nodes: list[Node], facts: FactCollector, state: dict[str, Any]) -> None:
    """Tell what is missing, what is twice, and what stands behind the last box of the format.

    ``nodes`` are the boxes of the file itself, ``state`` is what the walk kept of them.
    """
    names = [n.name for n in nodes]
    fragments = "moof" in names or "sidx" in names
    if not nodes:
        facts.problem("No box can be read.", "file", 0)
    if "mdat" in names and "moov" not in names and not fragments:
        message = "The index of the recording (moov) is missing: it was cut off, or recording never ended."
        facts.problem(message, "file", cut=True)
    if "moov" in names and facts.get("container.movie.created") is None:
        facts.problem("The index of the recording (moov) holds no header (mvhd).", "moov")
    again = [n for n in nodes[1:] if n.name == "ftyp"]
    for node in again[:20]:
        facts.fact("container.again", node.offset, "the beginning of another file", node.offset)
    if names.count("moov") > 1 + len(again):
        indexes = [n for n in nodes if n.name == "moov"]
        places = " and ".join(str(n.offset) for n in indexes[:5])
        first, second = (
            [f for f in facts.items if f.offset is not None and n.offset < f.offset < n.offset + n.size]
            for n in indexes[:2]
        )
        rows = changed(second, first)
        said = "; ".join(f"of {name} the first says {one!r}, the second {other!r}" for name, other, one in rows[:5])
        disagree = f" They disagree: {said}." if rows else ""
        message = f"There are {len(indexes)} boxes moov where one belongs, at bytes {places}.{disagree}"
        facts.problem(message, "file", indexes[1].offset)
    if "moov" in names and "mdat" not in names and not fragments and state.get("last_chunk"):
        facts.problem("The recording itself (mdat) is missing.", "file")
    elif "moov" in names and "mdat" not in names and not fragments:
        facts.fact("container.header_alone", ", ".join(names[:10]), "top-level boxes")
    if state.get("last_chunk", 0) >= len(data) and "mdat" in names:
        message = f"The index points to byte {state['last_chunk']}, but the file ends at {len(data)}: it is cut off."
        facts.problem(message, "moov", None, cut=True)
    _numbered(facts, state)
    _strangers(data, nodes, facts)
    _skipped(data, nodes, facts)


def _numbered(facts: FactCollector, state: dict[str, Any]) -> None:
    """Tell the numbers of fragments, and where the tables of a track count another number of samples each."""
    for track, numbers in list(state.get("fragments", {}).items())[:100]:
        facts.fact("container.fragments", numbers[:FRAGMENTS], f"moof/mfhd of track {track}", numbers[0][1])
    if left_out := _left_out(state.get("numbers", [])):
        facts.fact("container.fragments_missing", left_out[:FRAGMENTS], "moof/mfhd", left_out[0][2])
    for track, (n_timed, at) in state.get("timed", {}).items():
        n_sized, _ = state.get("sizes", {}).get(track, (n_timed, 0))
        if n_timed != n_sized:
            counts = f"track {track} counts {n_timed} samples, that of their sizes {n_sized}"
            facts.problem(f"The table of times of {counts}.", f"moov/trak of track {track}", at)


def _left_out(numbers: list[list[int]]) -> list[list[int]]:
    """Return where the numbers of fragments jump: the one before, the one behind, and where that is written.

    Told of numbers that rise throughout, nearly always by the same step: where tracks lie in files of their own, one
    may have every second number.
    """
    steps = [b[0] - a[0] for a, b in pairwise(numbers)]
    usual, n_usual = Counter(steps).most_common(1)[0] if steps else (0, 0)
    if len(numbers) < MIN_FRAGMENTS or min(steps) < 1 or n_usual < USUAL_SHARE * len(steps):
        return []
    return [[a[0], b[0], b[1]] for a, b in pairwise(numbers) if b[0] - a[0] > usual]


def _skipped(data: Any, nodes: list[Node], facts: FactCollector) -> None:
    """Tell of bytes that are neither padding nor an index in boxes that players skip."""
    former = former_indexes(data, nodes)
    for node in (n for n in nodes if n.size > SHORT_BYTES and n not in former):
        is_unknown = node.name == "uuid" and bytes(data[node.offset + 8 : node.offset + 24]) not in tags.UUIDS
        if node.name not in SKIPPED and not is_unknown:
            continue
        body, stop = node.offset + (24 if is_unknown else 8), node.offset + node.size
        if found := content(data, body, stop):
            value = {"size": stop - body, "head": found[1].hex(" ")}
            facts.fact("container.skipped", value, node.name, found[0])


def content(data: Any, body: int, stop: int) -> tuple[int, bytes] | None:
    """Return where something begins in a stretch that is neither short nor filled with one byte, and its first 8."""
    begins = OTHER_THAN_ZERO.search(data, body, stop)
    head = bytes(data[begins.start() : min(begins.start() + SAMPLE_BYTES, stop)]) if begins else b""
    # What fills such a box repeats one byte.
    return (begins.start(), head[:8]) if begins and len(head) > SHORT_BYTES and len(set(head)) > 2 else None


def _strangers(data: Any, nodes: list[Node], facts: FactCollector) -> None:
    """Tell of bytes that are no box of the format: those behind the last once, whatever a walk makes of them."""
    known = [i for i, n in enumerate(nodes) if n.name in KNOWN_TOP]
    behind = nodes[known[-1] + 1 :] if known else []
    if behind:
        at = behind[0].offset
        facts.problems[:] = [p for p in facts.problems if p.unread or p.offset is None or p.offset < at]
        value = {"size": len(data) - at, "first_box": behind[0].name, "owner": _owner(data, at)}
        facts.fact("container.after_end", value, "behind the last known box", at)
    for node in nodes[: len(nodes) - len(behind)]:
        if node.name.startswith("0x"):
            name = bytes.fromhex(node.name[2:]).hex(" ")
            facts.problem(f"Other bytes stand where a box must begin ({name}).", "file", node.offset)


def _owner(data: Any, at: int) -> str:
    """Name the recorder that appends bytes which begin at ``at``, after the zeros that fill its block; else empty."""
    begins = OTHER_THAN_ZERO.search(data, at)
    head = bytes(data[begins.start() : begins.start() + 32]) if begins else b""
    return next((owner for mark, owner in TRAILERS.items() if mark in head), "")
