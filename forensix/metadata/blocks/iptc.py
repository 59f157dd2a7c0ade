"""Photoshop image resources (8BIM) and the IPTC-IIM records in them, with the digest that tells whether they are stale.

Keys: ``photoshop.resource`` (one dict per resource), ``iptc.<name>``, ``iptc.digest``, ``iptc.digest_now``; resource
0x0425 keeps the MD5 of the IPTC block as Photoshop last wrote it,
so another program has changed the block where they differ.
Source: Adobe Photoshop File Formats Specification, "Image resource blocks"; IPTC-IIM 4.2.
"""

import hashlib
import struct
from collections.abc import Iterator

from forensix.metadata.blocks.text import decoded
from forensix.metadata.facts import Fact, Problem

RESOURCES = {
    0x03E8: "channels and rows (2.0)",
    0x03ED: "resolution",
    0x03F3: "print flags",
    0x03F5: "halftoning",
    0x03F8: "transfer functions",
    0x0400: "layer state",
    0x0402: "layer groups",
    0x0404: "IPTC",
    0x0406: "JPEG quality",
    0x0408: "grid and guides",
    0x0409: "thumbnail (4.0)",
    0x040A: "copyright flag",
    0x040B: "URL",
    0x040C: "thumbnail",
    0x040D: "global angle",
    0x040F: "ICC profile",
    0x0410: "watermark",
    0x0414: "document-specific ids",
    0x0419: "global altitude",
    0x041A: "slices",
    0x0421: "version information",
    0x0422: "EXIF 1",
    0x0424: "XMP",
    0x0425: "caption digest",
    0x0426: "print scale",
    0x0428: "pixel aspect ratio",
    0x043A: "print information",
    0x043B: "print style",
    0x2710: "print flags information",
}
NAMES = {
    5: "ObjectName",
    25: "Keywords",
    40: "SpecialInstructions",
    55: "DateCreated",
    60: "TimeCreated",
    62: "DigitalCreationDate",
    63: "DigitalCreationTime",
    65: "OriginatingProgram",
    70: "ProgramVersion",
    80: "By-line",
    90: "City",
    95: "Province",
    101: "Country",
    105: "Headline",
    110: "Credit",
    115: "Source",
    116: "CopyrightNotice",
    120: "Caption",
    122: "Writer",
}
UTF8 = b"\x1b%G"
MAX_RESOURCES = 500
MAX_RECORDS = 500


def photoshop(data: bytes, where: str, offset: int) -> tuple[list[Fact], list[Problem], list[tuple[str, bytes, int]]]:
    """Walk image resources; return facts, problems and the thumbnails found (name, JPEG, offset)."""
    facts: list[Fact] = []
    problems: list[Problem] = []
    thumbnails: list[tuple[str, bytes, int]] = []
    at, digest, block = 0, None, None
    for _ in range(MAX_RESOURCES):
        if at + 12 > len(data):
            break
        signature = data[at : at + 4]
        if signature not in (b"8BIM", b"PHUT", b"DCSR", b"AgHg", b"MeSa"):
            if data[at:].strip(b"\0"):
                problems.append(Problem("An image resource does not begin with 8BIM.", where, offset + at))
            break
        identifier = struct.unpack_from(">H", data, at + 4)[0]
        name_length = data[at + 6]
        body = at + 6 + (name_length + 2) // 2 * 2
        if body + 4 > len(data):
            problems.append(Problem("The last image resource is cut short.", where, offset + at))
            break
        size = struct.unpack_from(">I", data, body)[0]
        content = data[body + 4 : body + 4 + size]
        place = f"{where}, resource 0x{identifier:04X}"
        if len(content) < size:
            problems.append(
                Problem(
                    f"Resource 0x{identifier:04X} claims {size} bytes, {len(content)} are there.", where, offset + at
                )
            )
        resource = {"id": f"0x{identifier:04X}", "name": RESOURCES.get(identifier, "unknown"), "size": size}
        facts.append(Fact("photoshop.resource", resource, place, offset + at))
        if identifier == 0x0404:
            block = content
            facts += iim(content, place, offset + body + 4)
        elif identifier == 0x0425 and len(content) == 16:
            digest = content.hex()
            facts.append(Fact("iptc.digest", digest, place, offset + body + 4))
        elif identifier == 0x0406 and len(content) >= 4:
            quality = struct.unpack_from(">h", content)[0] + 4
            facts.append(Fact("photoshop.quality", quality, place, offset + body + 4))
        elif identifier == 0x0421 and size > 5:
            facts.append(Fact("photoshop.version", _version(content), place, offset + body + 4))
        elif identifier in (0x0409, 0x040C) and content[28:30] == b"\xff\xd8":
            thumbnails.append(("Photoshop thumbnail", content[28:], offset + body + 32))
        at = body + 4 + (size + 1) // 2 * 2
    if digest is not None and block is not None:
        facts.append(Fact("iptc.digest_now", hashlib.md5(block, usedforsecurity=False).hexdigest(), where, offset))
    return facts, problems, thumbnails


def iim(data: bytes, where: str, offset: int) -> list[Fact]:
    """Return the records of an IPTC-IIM block, as UTF-8 where it says so (record 1:90)."""
    records = list(_records(data))
    is_utf8 = any((record, number, value) == (1, 90, UTF8) for record, number, value, _ in records)
    return [
        Fact(
            f"iptc.{NAMES[number]}",
            (value.decode("utf-8", "replace") if is_utf8 else decoded(value)).strip("\0 "),
            f"{where}, record 2:{number}",
            offset + at,
        )
        for record, number, value, at in records
        if record == 2 and number in NAMES
    ]


def _records(data: bytes) -> Iterator[tuple[int, int, bytes, int]]:
    at = 0
    for _ in range(MAX_RECORDS):
        if at + 5 > len(data) or data[at] != 0x1C:
            return
        record, number, size = struct.unpack_from(">BBH", data, at + 1)
        if size & 0x8000:
            return
        yield record, number, data[at + 5 : at + 5 + size], at
        at += 5 + size


def _version(content: bytes) -> str:
    """Return the writer's and reader's names from the version resource."""
    at, names = 5, []
    for _ in range(2):
        if at + 4 > len(content):
            break
        length = struct.unpack_from(">I", content, at)[0]
        names.append(content[at + 4 : at + 4 + 2 * min(length, 200)].decode("utf-16-be", "replace").strip("\0"))
        at += 4 + 2 * length
    return " / ".join(names)
