"""Stores of content credentials whose container was renamed, so that no reader finds them any more.

A reader looks in the place that the standard names alone: in segments APP11 that begin with ``JP``, in chunks ``caBX``
or ``C2PA``, in a ``uuid`` box of one identifier. Four letters changed hide the store, and leave its bytes. It is told
by how it begins, which no other data does: a superbox of JUMBF whose description names the type of C2PA.

Source: C2PA Technical Specification 2.x, appendix A (embedding); ISO/IEC 19566-5 (JUMBF).
"""

import mmap
import re
import struct
import zlib
from collections.abc import Iterator

C2PA_UUID = bytes.fromhex("d8fec3d61b0e483c92975828877ec481")
BEGINNING = re.compile(rb".{4}jumb.{4}jumdc2pa\x00\x11\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71", re.DOTALL)
LENGTH = 32
"""Bytes that tell a store."""

PARTS = 20_000
FAR = 64
"""Bytes of a box in which its store begins: behind an identifier, a version, a purpose and an offset."""


def restore(data: mmap.mmap, mime: str) -> list[tuple[str, int]]:
    """Give containers of stores their names back, in place; return the name that each bore and where it stands."""
    kind = mime.partition("/")[2]
    walk = {"jpeg": _jpeg, "png": _png, "webp": _riff, "wav": _riff, "avi": _riff}.get(kind)
    if walk is None and kind in ("mp4", "quicktime", "heic", "avif"):
        walk = _boxes
    return list(walk(data)) if walk else []


def _jpeg(data: mmap.mmap) -> Iterator[tuple[str, int]]:
    at = 2
    hidden = None
    for _ in range(PARTS):
        if at + 4 > len(data) or data[at] != 0xFF or data[at + 1] in (0xD9, 0xDA):
            return
        marker, size = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if marker == 0xFF:
            at += 1
            continue
        is_free = 0xE0 <= marker <= 0xEF or marker == 0xFE
        begins = is_free and BEGINNING.match(data[at + 12 : at + 12 + LENGTH])
        # The parts of a store that is longer than a segment repeat the head of its superbox.
        goes_on = marker == hidden and data[at + 16 : at + 20] == b"jumb"
        is_known = (marker, data[at + 4 : at + 6]) == (0xEB, b"JP")
        if (begins or goes_on) and not is_known:
            if begins:
                yield "COM" if marker == 0xFE else f"APP{marker - 0xE0}", at
            data[at + 1], data[at + 4 : at + 6], hidden = 0xEB, b"JP", marker
        at += 2 + max(size, 2)


def _png(data: mmap.mmap) -> Iterator[tuple[str, int]]:
    for at, name, size in _chunks(data, 8, ">I", name_first=False):
        if name != b"caBX" and BEGINNING.match(data[at + 8 : at + 8 + LENGTH]):
            yield name.decode("latin-1"), at
            data[at + 4 : at + 8] = b"caBX"
            if at + 12 + size <= len(data):
                struct.pack_into(">I", data, at + 8 + size, zlib.crc32(data[at + 4 : at + 8 + size]))


def _riff(data: mmap.mmap) -> Iterator[tuple[str, int]]:
    for at, name, _ in _chunks(data, 12, "<I", name_first=True):
        if name != b"C2PA" and BEGINNING.match(data[at + 8 : at + 8 + LENGTH]):
            yield name.decode("latin-1"), at
            data[at : at + 4] = b"C2PA"


def _chunks(data: mmap.mmap, at: int, form: str, *, name_first: bool) -> Iterator[tuple[int, bytes, int]]:
    for _ in range(PARTS):
        if at + 8 > len(data):
            return
        name, counted = (at, at + 4) if name_first else (at + 4, at)
        size = struct.unpack_from(form, data, counted)[0]
        yield at, data[name : name + 4], size
        at += 8 + size + size % 2 if name_first else 12 + size


def _boxes(data: mmap.mmap) -> Iterator[tuple[str, int]]:
    at = 0
    for _ in range(PARTS):
        if at + 8 > len(data):
            return
        size, name = struct.unpack_from(">I4s", data, at)
        head = 8
        if size == 1 and at + 16 <= len(data):
            size, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        elif size == 0:
            size = len(data) - at
        if size < head:
            return
        body = at + head
        is_known = name == b"uuid" and data[body : body + 16] == C2PA_UUID
        if not is_known and BEGINNING.search(data[body + 16 : min(body + FAR + LENGTH, at + size)]):
            yield name.decode("latin-1"), at
            data[at + 4 : at + 8], data[body : body + 16] = b"uuid", C2PA_UUID
        at += size
