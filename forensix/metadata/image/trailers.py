"""What follows the end of a picture: further pictures that an index names, records of programs, or other data.

References
----------
The tables of trailers of ExifTool (Trailer.pm, PhotoMechanic.pm, FotoStation.pm, AFCP.pm, CanonVRD.pm), for their ends.
"""

import hashlib
import re
import struct
from datetime import UTC, datetime
from typing import Any

from forensix.metadata.facts import Node
from forensix.metadata.image.parts import Parts

KINDS = (
    (b"\xff\xd8\xff", "a JPEG"), (b"\x89PNG", "a PNG"), (b"PK\x03\x04", "a ZIP archive"), (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"), (b"%PDF", "a PDF"), (b"GIF8", "a GIF"), (b"RIFF", "a RIFF file"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program"), (b"<?php", "a PHP script"), (b"<script", "a script"), (b"SEFH", "Samsung trailer"),
)  # fmt: skip

RECORDS = (
    (re.compile(rb"\xff{4}\x1b\*9HWfu\x84\x93\xa2\xb1\Z"), "the record of a vivo phone's camera"),
    (re.compile(rb"jxrs.{3}\0\Z", re.DOTALL), "the record of an OPPO or OnePlus phone's camera"),
    (re.compile(rb"ctrace\0\0\Z"), "the record of a Huawei phone's camera"),
    (re.compile(rb"\0\0QDIOBS\Z"), "the record of a Samsung phone's camera"),
    (re.compile(rb"\0{6}/NIKON APP\Z"), "the record of Nikon's app"),
    (re.compile(rb"cbipcbbl\Z"), "the captions of Photo Mechanic"),
    (re.compile(rb"\xa1\xb2\xc3\xd4\Z"), "the captions of FotoStation"),
    (re.compile(rb"AXS[!*].{8}\Z", re.DOTALL), "captions (AFCP)"),
    (re.compile(rb"CANON OPTIONAL DATA\0.{44}\Z", re.DOTALL), "the settings of Canon's Digital Photo Professional"),
)
"""What phones and programs append to photographs, by the last bytes of it."""

CLIP = "a video (motion photo)"
DIGEST = "a number and the MD5 of the picture before it"
"""What a messenger appends to the pictures that it saves: 8 bytes of a number, then the MD5."""
REST = "the rest of a longer JPEG"
"""What FLIR's programs leave where they write a picture anew over a longer one, which began before: its last scan."""
SCAN = re.compile(rb"\xff\xda\0[\x08\x0c][\1\3]")
UNKNOWN = "data of no known kind"
HOLDS_JPEG = "data with a JPEG of {} x {} in it"
FOUND = "JPEG after the end"
"""How a picture is named that was found in what follows the end."""

TAKEN = re.compile(rb"Image_UTC_Data(\d{13})")
"""The clock of a Samsung phone when it took the picture, in milliseconds since 1970 in UTC."""

START = re.compile(rb"\xff\xd8\xff")
FRAMES = (0xC0, 0xC1, 0xC2)
GREY = 1
MOST_PIXELS = 128_000_000
REMAINS = 16
"""Zeros with which the remains of a longer file begin."""

MOST_STARTS, MOST_SEGMENTS = 16, 64
"""Places where a picture is looked for in data after the end, and segments that are read there."""

SOI, EOI = b"\xff\xd8", b"\xff\xd9"
PREVIEW = "0x01"
"""How the type of a smaller copy of the picture begins; others are maps of light and depth, and further views."""


def read(data: bytes, parts: Parts) -> None:
    """Tell apart further pictures that an index names from bytes that nothing announces."""
    if parts.end is None or parts.end >= len(data):
        return
    _edit_record(data[parts.end :], parts.end, parts)
    index: list[dict[str, Any]] = next((f.value for f in parts.facts if f.key == "jpeg.mpf"), [])
    announced = [p for p in index if p["offset"] and p["offset"] + p["size"] <= len(data) and p["size"] > 4]
    for i, picture in enumerate(announced):
        raw = data[picture["offset"] : picture["offset"] + picture["size"]]
        name = f"MPF {'preview' if picture['type'].startswith(PREVIEW) else 'picture'} {i + 1}"
        parts.nodes.append(Node(name, picture["offset"], picture["size"]))
        if raw[:2] == SOI:
            parts.thumbnails.append((name, raw, picture["offset"]))
    is_right = all(p["offset"] >= parts.end and data.startswith(SOI, p["offset"]) for p in announced)
    if announced and not is_right and data[parts.end :].lstrip(b"\0").startswith(SOI):
        # Programs that write other metadata leave the index as it was: the pictures are there, a little aside.
        return
    start = max([parts.end, *(p["offset"] + p["size"] for p in announced if is_right)])
    rest = data[start:]
    if not rest:
        return
    stripped = rest.strip(b"\0\r\n ") if rest.strip(b"\xff") else b""
    is_filled = len(stripped) < len(rest) // 20 or rest.count(b"\0") > 0.98 * len(rest)
    if is_filled and kind(stripped) == UNKNOWN:
        parts.nodes.append(Node("padding", start, len(rest)))
        parts.fact("jpeg.padding", len(rest), "after EOI", start)
    else:
        parts.nodes.append(Node("data after the end", start, len(rest), rest[:16].hex(" ")))
        what = kind(stripped) if kind(stripped) != UNKNOWN else _record(rest)
        if len(rest) == 24 and hashlib.md5(data[:start], usedforsecurity=False).digest() == rest[8:]:
            what = DIGEST
        # What begins with zeros is left of a longer file that lay there before, and shows what that one did.
        is_own = what in (UNKNOWN, KINDS[0][1]) and not rest.startswith(bytes(REMAINS))
        found = _picture(rest) if is_own else None
        if found is not None:
            at, width, height, n_colours = found
            what = HOLDS_JPEG.format(width, height) if what == UNKNOWN else what
            if n_colours > GREY:
                # Grey ones are mostly maps of depth, which show no picture to compare.
                parts.thumbnails.append((FOUND, rest[at : rest.rfind(EOI) + 2], start + at))
        elif what == UNKNOWN and rest.endswith(EOI) and SCAN.search(rest):
            what = REST
        tell(rest, what, "after EOI" if start == parts.end else "after the last picture of the index", start, parts)


def tell(rest: bytes, what: str, where: str, at: int, parts: Parts) -> None:
    """Add the fact of what follows the end of a picture."""
    parts.fact("file.trailer", {"size": len(rest), "head": rest[:16].hex(" "), "kind": what}, where, at)


def _edit_record(rest: bytes, start: int, parts: Parts) -> None:
    """Read what Samsung's phones append: the moment of the capture, or the record of their gallery's editor."""
    at = rest.find(b"PhotoEditor_Re_Edit_Data")
    if at >= 0:
        text = rest[at + 24 : at + 4096].decode("utf-8", "replace")
        parts.fact("samsung.edit", text, "Samsung trailer, PhotoEditor_Re_Edit_Data", start + at)
    elif moment := TAKEN.search(rest):
        taken = datetime.fromtimestamp(int(moment[1]) / 1000, UTC)
        text = f"{taken:%Y:%m:%d %H:%M:%S}Z"
        parts.fact("samsung.taken", text, "Samsung trailer, Image_UTC_Data", start + moment.start(1))


def _picture(data: bytes) -> tuple[int, int, int, int] | None:
    """Return where the first JPEG with a frame begins, its width, height and number of colours."""
    for _, start in zip(range(MOST_STARTS), START.finditer(data), strict=False):
        at = start.start() + 2
        for _ in range(MOST_SEGMENTS):
            if at + 10 > len(data) or data[at] != 0xFF:
                break
            if data[at + 1] in FRAMES:
                height, width, n_colours = struct.unpack_from(">HHB", data, at + 5)
                if 0 < height * width <= MOST_PIXELS and data.find(EOI, at) > 0:
                    return start.start(), width, height, n_colours
                break
            at += 2 + int(struct.unpack_from(">H", data, at + 2)[0])
    return None


def kind(data: bytes) -> str:
    """Name what data at the end of a file looks like."""
    # Samsung's phones may write other blocks before the one that begins with a video.
    if b"ftyp" in data[:64] or b"MotionPhoto_Data" in data[:4096]:
        return CLIP
    if b"SEFT" in data[-64:] or b"Image_UTC_Data" in data[:64]:
        return "a Samsung trailer"
    return next((name for start, name in KINDS if data.startswith(start)), UNKNOWN)


def _record(data: bytes) -> str:
    """Name the record of a phone or a program that data end as."""
    end = data[-64:]
    return next((name for pattern, name in RECORDS if pattern.search(end)), UNKNOWN)
