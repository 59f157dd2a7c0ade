"""ID3 tags (versions 1, 2.2, 2.3, 2.4): frames with their offsets, and what is broken in them.

References
----------
M. Nilsson, "ID3 tag version 2.3.0" and "2.4.0"; id3.org.
"""

import re
from typing import Any

from forensix.media.signatures import synchsafe
from forensix.media.tags import MOST
from forensix.metadata.av.collector import FactCollector, text

ENCODINGS = ("latin-1", "utf-16", "utf-16-be", "utf-8")
OLD = {
    "TT2": "TIT2",
    "TP1": "TPE1",
    "TAL": "TALB",
    "TEN": "TENC",
    "TSS": "TSSE",
    "TCO": "TCON",
    "TYE": "TYER",
    "COM": "COMM",
    "TRK": "TRCK",
    "PIC": "APIC",
    "TXX": "TXXX",
}


BEHIND = "tags at the end"
INSIDE = "ID3v2 inside"
"""Names of the pieces of the file that tags behind the sound are, and within it: a demuxer may take them for sound."""


def ends(data: Any, at: int) -> int:
    """Return where an ID3v2 tag at an offset says that it ends; the offset where there is none."""
    head = bytes(data[at : at + 10])
    if head[:3] != b"ID3" or len(head) < 10:
        return at
    end = at + 10 + synchsafe(head[6:])
    return end + (10 if head[5] & 0x10 and bytes(data[end : end + 3]) == b"3DI" else 0)


def read(data: Any, at: int, facts: FactCollector, *, base: int = 0) -> int:
    """Read an ID3v2 tag at an offset into ``facts``; return the offset behind it (the same where there is none)."""
    if bytes(data[at : at + 3]) != b"ID3":
        return at
    where = "ID3v2"
    if len(data) < at + 10:
        facts.problem("The ID3 tag ends inside its header.", where, base + at)
        return len(data)
    major, minor, flags = data[at + 3], data[at + 4], data[at + 5]
    sizes = bytes(data[at + 6 : at + 10])
    if any(b & 0x80 for b in sizes):
        facts.problem("The size of the ID3 tag is malformed.", where, base + at + 6)
    size = synchsafe(sizes)
    end = at + 10 + size
    facts.fact("id3.version", f"2.{major}.{minor}", where, base + at)
    if end > len(data):
        there = len(data) - at - 10
        facts.problem(f"The ID3 tag says {size} bytes, but only {there} are there: it is cut off.", where, base + at)
        end = len(data)
    if major not in (2, 3, 4):
        facts.problem(f"ID3 has no version 2.{major}.", where, base + at + 3)
        return end
    body = bytes(data[at + 10 : end])
    if flags & 0x80 and major < 4:
        body = body.replace(b"\xff\x00", b"\xff")
    start = 0
    if flags & 0x40 and major > 2:
        start = synchsafe(body[:4]) if major == 4 else int.from_bytes(body[:4], "big") + 4
    _frames(body, start, major, base + at + 10, facts, is_whole=end == at + 10 + size)
    return min(ends(data, at), len(data))


def _frames(body: bytes, at: int, major: int, base: int, facts: FactCollector, *, is_whole: bool) -> None:
    """Read the frames of a tag; where it is not whole, what its last frame lacks is no fault of its own."""
    head = 6 if major == 2 else 10
    for _ in range(MOST):
        name = body[at : at + (3 if major == 2 else 4)]
        if len(name) < 3 or at + head > len(body) or name[:1] == b"\x00":
            if name.strip(b"\x00") and is_whole:
                facts.problem("The ID3 tag breaks off inside a frame's header.", "ID3v2", base + at)
            return
        if not re.fullmatch(rb"[A-Z0-9]{3}[A-Z0-9 \x00]?", name):
            facts.problem(f"Other bytes stand where an ID3 frame must begin ({name.hex(' ')}).", "ID3v2", base + at)
            return
        frame_id = name.decode("latin-1").strip(" \x00")
        raw_size = body[at + 3 : at + 6] if major == 2 else body[at + 4 : at + 8]
        size = synchsafe(raw_size) if major == 4 else int.from_bytes(raw_size, "big")
        if major == 4 and at + head + size > len(body) >= at + head + int.from_bytes(raw_size, "big"):
            size = int.from_bytes(raw_size, "big")
        flags = 0 if major == 2 else body[at + 9]
        content = body[at + head : at + head + size]
        where, offset = f"ID3v2 {frame_id}", base + at
        if at + head + size > len(body) and is_whole:
            there = len(body) - at - head
            facts.problem(f"The frame {frame_id} says {size} bytes, but only {there} are there.", where, offset)
        if size == 0:
            facts.problem(f"The frame {frame_id} is empty.", where, offset, grave=False)
        packed = flags & (0x08 if major == 4 else 0x80)
        short = packed and size < 5
        if short:
            facts.problem(f"The frame {frame_id} says it is compressed but is too short for that.", where, offset)
        if not packed:
            _frame(OLD.get(frame_id, frame_id), content, where, offset, facts)
        at += head + size
        if at >= len(body):
            return
    facts.problem(f"The ID3 tag has more than {MOST} frames; the rest was not read.", "ID3v2", base + at, unread=True)


def _frame(name: str, content: bytes, where: str, offset: int, facts: FactCollector) -> None:
    if not content:
        return
    if name in ("TXXX", "WXXX"):
        parts = _decoded(content[1:], content[0]).split("\x00")
        facts.fact(f"id3.{name}.{parts[0][:60]}", " ".join(parts[1:]), where, offset)
    elif name.startswith("T"):
        facts.fact(f"id3.{name}", _decoded(content[1:], content[0]).replace("\x00", " / "), where, offset)
    elif name in ("COMM", "USLT") and len(content) > 4:
        facts.fact(f"id3.{name}", _decoded(content[4:], content[0]).replace("\x00", " ").strip(), where, offset)
    elif name.startswith("W"):
        facts.fact(f"id3.{name}", text(content), where, offset)
    elif name == "PRIV":
        owner, _, data = content.partition(b"\x00")
        facts.fact("id3.PRIV", text(owner), where, offset)
        if owner == b"XMP":
            from forensix.metadata.av.bmff_tags import packet

            packet(data, "ID3v2 PRIV XMP", offset, facts)
    elif name in ("APIC", "GEOB", "UFID", "CHAP", "CTOC"):
        facts.fact(f"id3.{name}", {"bytes": len(content), "begins": text(content[1:40])}, where, offset)


def _decoded(raw: bytes, encoding: int) -> str:
    codec = ENCODINGS[encoding] if encoding < len(ENCODINGS) else "latin-1"
    return raw.decode(codec, "replace").strip("\x00\ufeff ")


def version1(data: Any, end: int, facts: FactCollector) -> int:
    """Read an ID3v1 tag before ``end``; return where it begins, ``end`` where there is none."""
    at = end - 128
    if at < 0 or bytes(data[at : at + 3]) != b"TAG":
        return end
    raw = bytes(data[at:end])
    for key, a, b in (("title", 3, 33), ("artist", 33, 63), ("album", 63, 93), ("year", 93, 97), ("comment", 97, 125)):
        facts.fact(f"id3v1.{key}", text(raw[a:b]), "ID3v1", at + a)
    return at
