"""What the boxes of an ISO file say together: which are missing, which are twice, and what stands beside them.

References
----------
ISO/IEC 14496-12 (boxes).
"""

import re
from typing import Any

from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Node

KNOWN_TOP = frozenset([
    "ftyp", "styp", "moov", "mdat", "free", "skip", "wide", "uuid", "meta", "moof", "mfra", "sidx", "ssix",
    "prft", "pdin", "pnot", "PICT", "emsg", "bloc", "jumb", "junk", "jP"
])  # fmt: skip
OTHER_THAN_ZERO = re.compile(rb"[^\x00]")
TRAILERS = {b"LIGOGPSINFO\x00": "dashcams with LigoGPS"}
"""How the data begins that recorders append behind the last box, with the words for them."""


def check(data: Any, nodes: list[Node], facts: FactCollector, state: dict[str, Any]) -> None:
    """Tell what is missing, what is twice, and what stands behind the last box of the format.

    ``nodes`` are the boxes of the file itself, ``state`` is what the walk kept of them.
    """
    names = [n.name for n in nodes]
    fragments = "moof" in names or "sidx" in names
    if not nodes:
        facts.problem("No box can be read.", "file", 0)
    if "mdat" in names and "moov" not in names and not fragments:
        facts.problem("The index of the recording (moov) is missing: it was cut off, or recording never ended.", "file")
    if "moov" in names and facts.get("container.movie.created") is None:
        facts.problem("The index of the recording (moov) holds no header (mvhd).", "moov")
    again = [n for n in nodes[1:] if n.name == "ftyp"]
    for node in again[:20]:
        facts.fact("container.again", node.offset, "the beginning of another file", node.offset)
    if names.count("moov") > 1 + len(again):
        facts.problem(f"There are {names.count('moov')} boxes moov where one belongs.", "file")
    if "moov" in names and "mdat" not in names and not fragments and state.get("last_chunk"):
        facts.problem("The recording itself (mdat) is missing.", "file")
    elif "moov" in names and "mdat" not in names and not fragments:
        facts.fact("container.header_alone", ", ".join(names[:10]), "top-level boxes")
    if state.get("last_chunk", 0) >= len(data) and "mdat" in names:
        message = f"The index points to byte {state['last_chunk']}, but the file ends at {len(data)}: it is cut off."
        facts.problem(message, "moov", None)
    _strangers(data, nodes, facts)


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
