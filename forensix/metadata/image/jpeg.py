"""JPEG files: every segment with its offset, what stands in each, and what is left over at the end.

Keys: ``jpeg.segments`` (the order of markers), ``jpeg.tables`` (one quantisation table each), ``jpeg.huffman`` (the
standard's example codes or the writer's own), ``jpeg.frame``, ``jpeg.comment``, ``jpeg.app`` (application segments by
their identifier), ``jpeg.trailer``, ``jpeg.mpf`` ...
Source: ITU-T T.81 annex B; CIPA DC-007 (multi-picture format).
"""

import re
import struct

from forensix.metadata.blocks import exif, icc, iptc, xmp
from forensix.metadata.facts import Node, at_block
from forensix.metadata.image import jpeg_tables, trailers
from forensix.metadata.image.parts import Parts

NAMES = {
    0xD8: "SOI",
    0xD9: "EOI",
    0xDA: "SOS",
    0xDB: "DQT",
    0xC4: "DHT",
    0xDD: "DRI",
    0xFE: "COM",
    0xCC: "DAC",
    0xDC: "DNL",
}
FRAMES = {
    0xC0: "baseline",
    0xC1: "extended",
    0xC2: "progressive",
    0xC3: "lossless",
    0xC9: "arithmetic",
    0xCA: "arithmetic progressive",
}
MAX_SEGMENTS = 4000
NO_FILL = re.compile(rb"[^\xff]")
SCAN_END = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)
MOST_BODY = 0xFFFF - 2
"""Bytes that a segment can hold."""
XMP_ID, XMP_EXTENDED_ID = b"http://ns.adobe.com/xap/1.0/\0", b"http://ns.adobe.com/xmp/extension/\0"
ZIGZAG = (
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
)  # fmt: skip


def parse(data: bytes, parts: Parts | None = None) -> Parts:
    """Walk a whole JPEG file, into ``parts`` where they are given."""
    parts = parts or Parts()
    _walk(data, parts)
    _joined(parts)
    _encoding(parts)
    trailers.read(data, parts)
    return parts


def _walk(data: bytes, parts: Parts) -> None:
    at = 0
    order: list[str] = []
    if data[:2] != b"\xff\xd8":
        parts.problem(f"The file does not begin with FF D8 but {data[:2].hex(' ')}.", "header", 0)
        return
    parts.nodes.append(Node("SOI", 0, 2))
    at = 2
    while len(order) < MAX_SEGMENTS:
        if at + 2 > len(data):
            parts.problem("The file ends without an end-of-image marker (FF D9).", "end", len(data), cut=True)
            break
        if data[at] != 0xFF:
            marker_at = data.find(b"\xff", at)
            message = f"{(marker_at if marker_at >= 0 else len(data)) - at} bytes that belong to no segment."
            parts.problem(message, "between segments", at)
            if marker_at < 0 or len(parts.problems) > 20:
                break
            at = marker_at
            continue
        marker = data[at + 1]
        if marker == 0xFF:
            filled = NO_FILL.search(data, at)
            at = filled.start() - 1 if filled else len(data)
            continue
        name = NAMES.get(marker) or (f"APP{marker - 0xE0}" if 0xE0 <= marker <= 0xEF else f"marker {marker:02X}")
        if marker in FRAMES:
            name = f"SOF{marker - 0xC0}"
        order.append(name)
        if marker == 0xD9:
            parts.nodes.append(Node("EOI", at, 2))
            parts.end = at + 2
            break
        if 0xD0 <= marker <= 0xD8 or marker in (0x00, 0x01):
            at += 2
            continue
        if at + 4 > len(data):
            parts.problem(f"{name} is cut short.", name, at)
            break
        size = struct.unpack_from(">H", data, at + 2)[0]
        body = data[at + 4 : at + 2 + size]
        if size < 2 or len(body) < size - 2:
            message = f"{name} claims {size} bytes, {max(0, len(data) - at - 2)} are left."
            parts.problem(message, name, at)
            if size < 2:
                at += 2
                continue
        note = _segment(marker, body, at, parts, name)
        if marker == 0xDA:
            after = _scan_end(data, at + 2 + size)
            parts.nodes.append(Node("SOS", at, after - at, f"scan {parts.scans}"))
            at = after
        else:
            parts.nodes.append(Node(name, at, size + 2, note))
            at += 2 + size
    else:
        parts.problem(f"There are more than {MAX_SEGMENTS} segments.", "segments", at)
    parts.fact("jpeg.segments", " ".join(_runs(order)), "segments", 0)


def _segment(marker: int, body: bytes, at: int, parts: Parts, name: str) -> str:
    """Read one segment into facts; return a note for the map of the file."""
    inner = at + 4
    if marker == 0xDB:
        _quantisation(body, inner, parts)
    elif marker == 0xC4:
        parts.huffman += [(counts, at) for counts in jpeg_tables.huffman_counts(body)]
    elif marker in FRAMES:
        _frame(marker, body, at, parts, name)
    elif marker == 0xDA:
        parts.scans += 1
    elif marker == 0xFE:
        text = body.decode("utf-8", "replace").strip("\0 \r\n")
        parts.fact("jpeg.comment", text[:4000], f"COM segment at byte {at}", inner)
        return text[:60]
    elif 0xE0 <= marker <= 0xEF:
        return _application(marker - 0xE0, body, at, parts)
    return ""


def _application(number: int, body: bytes, at: int, parts: Parts) -> str:
    inner, name = at + 4, f"APP{number}"
    if parts.is_full(at):
        return ""
    identifier = body[:40].split(b"\0")[0].decode("latin-1", "replace")[:40]
    identifier = "".join(c for c in identifier if c.isprintable())
    if number == 1 and body.startswith(b"Exif\0"):
        tiff = exif.parse(body[6:], f"APP1 EXIF at byte {at},", inner + 6)
        identifier = "Exif"
        parts.take(tiff.facts, tiff.problems, tiff.thumbnails)
        parts.fact("exif.block", len(body), "APP1 EXIF", at)
    elif number == 1 and body.startswith(XMP_ID):
        identifier = "XMP"
        parts.take(*xmp.parse(body[len(XMP_ID) :], f"APP1 XMP at byte {at}", inner + len(XMP_ID)))
    elif number == 1 and (body.startswith(XMP_EXTENDED_ID) or _goes_on(parts, at)):
        identifier = "XMP extension"
        parts.extended.append((body, inner))
    elif number == 2 and body.startswith(b"ICC_PROFILE\0") and len(body) > 14:
        identifier = "ICC_PROFILE"
        parts.icc.append((body[12], body[14:], inner + 14))
    elif number == 2 and body.startswith(b"MPF\0"):
        identifier = "MPF"
        _multi_picture(body[4:], inner + 4, parts)
    elif number == 13 and body.startswith(b"Photoshop 3.0\0"):
        identifier = "Photoshop 3.0"
        parts.photoshop.append((body[14:], inner + 14))
    elif number == 14 and body.startswith(b"Adobe") and len(body) >= 12:
        identifier = "Adobe"
        parts.fact("jpeg.adobe", {"version": body[5] << 8 | body[6], "transform": body[11]}, "APP14 Adobe", at)
    elif number == 12 and body.startswith(b"Ducky"):
        identifier = "Ducky"
        quality = struct.unpack_from(">I", body, 9)[0] if len(body) >= 13 and body[5:7] == b"\0\1" else None
        parts.fact("jpeg.ducky", quality, "APP12 Ducky (Adobe Save for Web)", at)
    elif number == 0 and body.startswith(b"JFIF\0") and len(body) >= 14:
        identifier = "JFIF"
        parts.fact("jpeg.jfif", f"{body[5]}.{body[6]:02}", "APP0 JFIF", at)
    parts.fact("jpeg.app", f"{name} {identifier}".strip(), f"{name} segment", at)
    return identifier


def _goes_on(parts: Parts, at: int) -> bool:
    """Tell whether a segment follows at once on one of the XMP extension that is as long as segments can be."""
    body, inner = parts.extended[-1] if parts.extended else (b"", 0)
    return len(body) == MOST_BODY and at == inner + len(body)


def _quantisation(body: bytes, at: int, parts: Parts) -> None:
    i = 0
    while i < len(body):
        wide, number = body[i] >> 4, body[i] & 15
        size = 128 if wide else 64
        raw = body[i + 1 : i + 1 + size]
        if wide > 1 or number > 3 or len(raw) < size:
            parts.problem("A quantisation table is not well formed.", "DQT", at + i)
            return
        values = list(struct.unpack(">64H", raw)) if wide else list(raw)
        natural = [0] * 64
        for k, position in enumerate(ZIGZAG):
            natural[position] = values[k]
        if number not in parts.tables:
            parts.tables[number] = natural
            parts.fact("jpeg.tables", natural, f"DQT table {number}", at + i)
        i += 1 + size


def _frame(marker: int, body: bytes, at: int, parts: Parts, name: str) -> None:
    if len(body) < 6 or len(body) < 6 + 3 * body[5]:
        parts.problem("The frame header is cut short.", name, at)
        return
    bits, height, width, count = struct.unpack_from(">BHHB", body)
    sampling = [f"{body[7 + 3 * i] >> 4}x{body[7 + 3 * i] & 15}" for i in range(count)]
    value = {"process": FRAMES[marker], "bits": bits, "width": width, "height": height, "sampling": sampling}
    if any(f.key == "jpeg.frame" for f in parts.facts):
        parts.problem("A second frame header stands in the same image.", name, at)
        return
    if not width or not height:
        parts.problem(f"The frame header says {width} x {height} pixels.", name, at)
    parts.fact("jpeg.frame", value, f"{name} segment", at)


def _scan_end(data: bytes, at: int) -> int:
    """Return where the entropy-coded data ends: the next marker that is neither stuffing nor a restart."""
    marker = SCAN_END.search(data, at)
    return marker.start() if marker else len(data)


def _multi_picture(data: bytes, offset: int, parts: Parts) -> None:
    """Read the index of further pictures; their offsets count from the start of the MPF block."""
    tiff = exif.parse(data, "APP2 MPF", offset)
    entries = next((f.value for f in tiff.facts if f.key.endswith("0xB002")), None)
    if not isinstance(entries, bytes):
        return
    order = "<" if data[:2] == b"II" else ">"
    pictures = []
    for i in range(min(len(entries) // 16, 32)):
        attribute, size, start = struct.unpack_from(order + "III", entries, 16 * i)
        pictures.append(
            {"type": f"0x{attribute & 0xFFFFFF:06X}", "size": size, "offset": start + offset if start else 0}
        )
    parts.fact("jpeg.mpf", pictures, "APP2 MPF", offset)


def _joined(parts: Parts) -> None:
    """Read what is spread over several segments."""
    if parts.icc:
        profile = b"".join(body for _, body, _ in sorted(parts.icc))
        facts = icc.parse(profile, "APP2 ICC_PROFILE", parts.icc[0][2])
        parts.facts += facts if len(parts.icc) == 1 else at_block(facts, parts.icc[0][2])
    # What identifies a part need not begin a segment: some programs cut the parts anew where segments are full.
    cut = b"".join(body for body, _ in parts.extended).split(XMP_EXTENDED_ID)[1:]
    if pieces := sorted((struct.unpack_from(">I", piece, 36)[0], piece[40:]) for piece in cut if len(piece) > 40):
        first = parts.extended[0][1] + len(XMP_EXTENDED_ID) + 40
        facts, problems = xmp.parse(b"".join(body for _, body in pieces), "APP1 XMP extension", first)
        if len(parts.extended) > 1:
            facts, problems = at_block(facts, first), at_block(problems, first)
        parts.take(facts, problems)
    parts.thumbnails += xmp.pictures(parts.facts)
    if parts.photoshop:
        joined = b"".join(body for body, _ in parts.photoshop)
        facts, problems, thumbnails = iptc.photoshop(joined, "APP13 Photoshop 3.0", parts.photoshop[0][1])
        if len(parts.photoshop) > 1:
            facts = at_block(facts, parts.photoshop[0][1])
        parts.take(facts, problems, thumbnails)


def _encoding(parts: Parts) -> None:
    if parts.tables:
        parts.fact("jpeg.maker", jpeg_tables.describe(parts.tables), "DQT", _first(parts, "DQT"))
    if parts.huffman:
        own = [at for counts, at in parts.huffman if counts not in jpeg_tables.HUFFMAN]
        value = "own" if own else "standard"
        parts.fact("jpeg.huffman", value, "DHT", own[0] if own else parts.huffman[0][1])
    if parts.scans > 1:
        parts.fact("jpeg.scans", parts.scans, "SOS", _first(parts, "SOS"))


def _first(parts: Parts, name: str) -> int | None:
    return next((node.offset for node in parts.nodes if node.name == name), None)


def _runs(names: list[str]) -> list[str]:
    runs: list[tuple[str, int]] = []
    for name in names:
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    return [name if count == 1 else f"{name}x{count}" for name, count in runs[:300]]
