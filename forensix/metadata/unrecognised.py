"""A file that begins like nothing known although its name says a format: what its bytes are instead.

    file.unrecognised   one dict: ``format`` that the name says, ``size``, ``head`` (first bytes), ``zeros`` and
                        ``commonest`` (shares in [0, 1]), ``distinct`` (how many of the 256 byte values occur),
                        ``inside`` (marks of formats and where the first of each stands), ``start`` (what the first
                        bytes could have been)

Marks shorter than four bytes are looked for at the start alone: elsewhere they come by chance.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from forensix.metadata.facts import Fact

MAX_BYTES = 64 << 20
HEAD_BYTES = 16
MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff\xe0", "a JPEG (start and application segment)"),
    (b"\xff\xd8\xff\xe1", "a JPEG (start and EXIF segment)"),
    (b"JFIF\0", "a JPEG (JFIF)"),
    (b"Exif\0\0", "EXIF"),
    (b"\x89PNG\r\n\x1a\n", "a PNG"),
    (b"IHDR", "a PNG (header chunk)"),
    (b"IDAT", "a PNG (pixel chunk)"),
    (b"GIF87a", "a GIF"),
    (b"GIF89a", "a GIF"),
    (b"WEBPVP8", "a WebP"),
    (b"II*\0", "a TIFF"),
    (b"MM\0*", "a TIFF"),
    (b"%PDF-", "a PDF"),
    (b"startxref", "a PDF (end)"),
    (b"endobj", "a PDF (object)"),
    (b"ftyp", "an MP4, QuickTime or HEIF file (type box)"),
    (b"moov", "an MP4 or QuickTime file (index box)"),
    (b"mdat", "an MP4 or QuickTime file (data box)"),
    (b"\x1a\x45\xdf\xa3", "a Matroska or WebM file"),
    (b"RIFF", "a RIFF file"),
    (b"WAVEfmt ", "a WAV file"),
    (b"AVI LIST", "an AVI file"),
    (b"OggS", "an Ogg file"),
    (b"fLaC", "a FLAC file"),
    (b"FLV\x01", "an FLV file"),
    (b"LAME3.", "an MP3 (encoder's name)"),
    (b"http://ns.adobe.com/xap/", "XMP"),
    (b"<x:xmpmeta", "XMP"),
    (b"8BIM", "Photoshop's blocks"),
    (b"PK\x03\x04", "a ZIP archive"),
)
STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8", "a JPEG's first two bytes, without the marker that must follow"),
    (b"\xff\xfb", "an MP3 frame's first two bytes, without a second frame"),
    (b"\xff\xf8", "a FLAC frame's first two bytes, without the header of the file"),
    (b"\xff\xf9", "an ADTS or FLAC frame's first two bytes, without a second frame"),
    (b"\xff\xf1", "an ADTS frame's first two bytes, without a second frame"),
)


def fact(path: Path, format: str) -> Fact:
    """Return the fact that says what stands where a file of ``format`` was to begin."""
    with path.open("rb") as file:
        data = file.read(MAX_BYTES)
    return Fact("file.unrecognised", describe(data, format, path.stat().st_size), "first bytes against the name", 0)


def describe(data: bytes, format: str, size: int) -> dict[str, Any]:
    """Return what unknown bytes are, as plain values."""
    counts = Counter(data)
    common = counts.most_common(1)
    inside = {what: at for mark, what in reversed(MARKS) if (at := data.find(mark)) >= 0}
    return {
        "format": format,
        "size": size,
        "head": data[:HEAD_BYTES].hex(" "),
        "zeros": round(counts[0] / max(1, len(data)), 4),
        "commonest": round(common[0][1] / max(1, len(data)), 4) if common else 0.0,
        "distinct": len(counts),
        "inside": sorted(([at, what] for what, at in inside.items()), key=lambda row: row[0]),
        "start": _start(data),
    }


def _start(data: bytes) -> str:
    for mark, what in STARTS:
        if data.startswith(mark):
            return what
    for mark, what in MARKS:
        if len(data) < len(mark) and mark.startswith(data):
            return f"the first {len(data)} of the {len(mark)} bytes that mark {what}"
    return ""
