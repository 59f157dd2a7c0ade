"""PNG files: every chunk with its offset and checksum, and all the text in them.

Keys: ``png.header``, ``png.text.<keyword>``, ``png.chunks``, ``png.time``, ``png.dpi``. Text written by ImageMagick as
a "Raw profile" is unpacked and read as what it is. Source: PNG (third edition), W3C.
"""

import struct
import zlib
from typing import NamedTuple

from forensix.metadata.blocks import exif, icc, iptc, xmp
from forensix.metadata.facts import Node, at_block
from forensix.metadata.image.parts import Parts
from forensix.metadata.image.trailers import kind, tell

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MAX_CHUNKS = 20000
MAX_TEXT_BYTES = 16 << 20
COLOURS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGB with alpha"}
XMP_KEYWORD = "XML:com.adobe.xmp"


class Chunk(NamedTuple):
    """One chunk; ``offset`` is where its length field stands."""

    name: str
    body: bytes
    offset: int


def parse(data: bytes, parts: Parts | None = None) -> Parts:
    """Walk a whole PNG file, into ``parts`` where they are given."""
    parts = parts or Parts()
    if not data.startswith(SIGNATURE):
        parts.problem("The PNG signature is damaged.", "signature", 0)
    parts.nodes.append(Node("signature", 0, 8))
    at, ended = 8, False
    names: list[str] = []
    while at < len(data) and len(names) < MAX_CHUNKS:
        if at + 12 > len(data):
            parts.problem("The last chunk is cut short.", "chunk", at, cut=True)
            break
        size = struct.unpack_from(">I", data, at)[0]
        raw_name = data[at + 4 : at + 8]
        if not raw_name.isalpha():
            parts.problem(f"A chunk is named {raw_name.hex(' ')}, which is not four letters.", "chunk", at)
            break
        name = raw_name.decode("latin-1")
        body = data[at + 8 : at + 8 + size]
        if at + 12 + size > len(data):
            problem = f"Chunk {name} claims {size} bytes, {len(data) - at - 8} are left: the file is truncated."
            parts.problem(problem, name, at, cut=True)
            _chunk(Chunk(name, body, at), parts)
            names.append(name)
            parts.nodes.append(Node(name, at, len(data) - at, "cut short"))
            break
        stated = struct.unpack_from(">I", data, at + 8 + size)[0]
        wrong = zlib.crc32(raw_name + body) != stated
        if wrong and sum("checksum" in p.message for p in parts.problems) < 10:
            parts.problem(f"The checksum of chunk {name} does not match its content.", name, at)
        if not names and name != "IHDR":
            parts.problem(f"The first chunk is {name}, not IHDR.", name, at)
        names.append(name)
        parts.nodes.append(Node(name, at, size + 12))
        _chunk(Chunk(name, body, at), parts)
        at += size + 12
        if name == "IEND":
            ended = True
            break
    if len(names) == MAX_CHUNKS and not ended and at < len(data):
        parts.leave(MAX_CHUNKS, at)
    elif not ended and not any(p.cut for p in parts.problems):
        parts.problem("The file ends without an IEND chunk.", "end", at, cut=at == len(data))
    if "IDAT" not in names and parts.is_whole:
        parts.problem("There is no image data (IDAT).", "chunks", 8)
    if ended and at < len(data):
        rest = data[at:]
        parts.nodes.append(Node("data after the end", at, len(rest)))
        tell(rest, kind(rest), "after IEND", at, parts)
    _image_data(data, parts)
    runs: list[str] = []
    for name in names:
        if not runs or runs[-1] != name:
            runs.append(name)
    parts.fact("png.chunks", " ".join(runs[:300]), "chunks", 8)
    return parts


def _image_data(data: bytes, parts: Parts) -> None:
    """Inflate what the picture needs of the image data: a stream that breaks off or lacks rows is a damaged picture."""
    header = next((f.value for f in parts.facts if f.key == "png.header"), None)
    if header is None or parts.problems:
        return
    channels = {"grey": 1, "RGB": 3, "palette": 1, "grey with alpha": 2, "RGB with alpha": 4}.get(header["colour"], 1)
    row = (header["width"] * header["bits"] * channels + 7) // 8 + 1
    n_bytes = row * header["height"] if not header["interlaced"] else 0
    # An interlaced picture has less than twice as many rows, each with a filter's byte and a part of another.
    most = n_bytes or (row + 4) * header["height"] + 16
    if most > 400 << 20:
        return
    unpacker, got = zlib.decompressobj(), 0
    first = next(node.offset for node in parts.nodes if node.name == "IDAT")
    try:
        for node in parts.nodes:
            if node.name == "IDAT":
                pending = data[node.offset + 8 : node.offset + node.size - 4]
                while pending and not unpacker.eof and got <= most:
                    got += len(unpacker.decompress(pending, 1 << 20))
                    pending = unpacker.unconsumed_tail
    except zlib.error as error:
        parts.problem(f"The image data cannot be inflated ({error}).", "IDAT", first)
        return
    if got < n_bytes:
        message = f"The image data inflates to {got} bytes where {n_bytes} are needed."
        parts.problem(message, "IDAT", first)
    elif got > most:
        message = "The image data goes on behind the picture's last row, where no viewer shows it."
        parts.problem(message, "IDAT", first, grave=False)


def _chunk(chunk: Chunk, parts: Parts) -> None:
    name, body, at = chunk
    inner = at + 8
    if name == "IHDR":
        if len(body) != 13:
            parts.problem(f"IHDR has {len(body)} bytes, not 13.", name, at)
            return
        width, height, bits, colour, _, _, interlace = struct.unpack(">IIBBBBB", body)
        if not width or not height or colour not in COLOURS or bits not in (1, 2, 4, 8, 16):
            message = f"IHDR says {width} x {height} pixels, {bits} bits, colour type {colour}."
            parts.problem(message, name, at)
        value = {
            "width": width, "height": height, "bits": bits, "colour": COLOURS.get(colour, str(colour)),
            "interlaced": bool(interlace),
        }  # fmt: skip
        parts.fact("png.header", value, "IHDR chunk", at)
    elif name in ("tEXt", "zTXt", "iTXt"):
        _text(chunk, parts)
    elif name == "eXIf":
        start = 6 if body.startswith(b"Exif\0\0") else 0
        take_exif(body[start:], "eXIf chunk", inner + start, parts)
    elif name == "iCCP":
        profile = _inflate(body.partition(b"\0")[2][1:], parts)
        parts.facts += at_block(icc.parse(profile, "iCCP chunk, compressed", at), at)
    elif name == "tIME" and len(body) == 7:
        year, month, day, hour, minute, second = struct.unpack(">HBBBBB", body)
        value_s = f"{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
        parts.fact("png.time", value_s, "tIME chunk", at)
    elif name == "pHYs" and len(body) == 9:
        x_per_m, y_per_m, unit = struct.unpack(">IIB", body)
        if unit == 1:
            parts.fact("png.dpi", [round(x_per_m * 0.0254, 1), round(y_per_m * 0.0254, 1)], "pHYs chunk", at)


def take_exif(block: bytes, where: str, offset: int, parts: Parts) -> None:
    """Read an EXIF block that stands in a chunk of any format."""
    if parts.is_full(offset):
        return
    if block.startswith(b"Exif\0\0"):
        block, offset = block[6:], offset + 6
    tiff = exif.parse(block, where, offset)
    parts.fact("exif.block", len(block), where, offset)
    parts.take(tiff.facts, tiff.problems, tiff.thumbnails)


def _text(chunk: Chunk, parts: Parts) -> None:
    name, body, at = chunk
    if parts.is_full(at):
        return
    keyword_bytes, _, rest = body.partition(b"\0")
    keyword = keyword_bytes.decode("latin-1")[:80]
    if name == "tEXt":
        # The standard says Latin-1, but many programs write UTF-8.
        try:
            text = rest.decode("utf-8")
        except UnicodeDecodeError:
            text = rest.decode("latin-1")
        raw = rest
    elif name == "zTXt":
        raw = _inflate(rest[1:], parts)
        text = raw.decode("utf-8", "replace")
    else:
        compressed = rest[:1] == b"\1"
        fields = rest[2:].split(b"\0", 2)
        raw = fields[2] if len(fields) == 3 else b""
        raw = _inflate(raw, parts) if compressed else raw
        text = raw.decode("utf-8", "replace")
    where = f"{name} chunk {keyword!r}"
    if keyword == XMP_KEYWORD:
        if raw in body:
            facts, problems = xmp.parse(raw, where, at + 8 + body.find(raw))
        else:
            facts, problems = xmp.parse(raw, f"{where}, compressed", None)
            facts, problems = at_block(facts, at), at_block(problems, at)
        parts.take(facts, problems)
        return
    if keyword.startswith("Raw profile type "):
        inside = Parts()
        if _raw_profile(keyword[17:], text, f"{where}, coded", at, inside):
            parts.take(at_block(inside.facts, at), at_block(inside.problems, at), inside.thumbnails)
            return
    parts.fact(f"png.text.{keyword}", text, where, at)


def _raw_profile(kind_name: str, text: str, where: str, at: int, parts: Parts) -> bool:
    """Unpack ImageMagick's hexadecimal profiles; return whether it was one that is known."""
    fields = text.strip().split("\n", 2)
    try:
        raw = bytes.fromhex("".join(fields[2].split())) if len(fields) == 3 else b""
    except ValueError:
        parts.problem("A raw profile is not hexadecimal.", where, at)
        return True
    if kind_name in ("exif", "APP1") and raw.startswith(b"Exif\0\0"):
        take_exif(raw[6:], where, at, parts)
    elif kind_name == "xmp" or (kind_name == "APP1" and b"<x:xmpmeta" in raw):
        parts.take(*xmp.parse(raw, where, at))
    elif kind_name in ("8bim", "iptc", "psd"):
        parts.take(*(iptc.photoshop(raw, where, at) if raw[:4] == b"8BIM" else (iptc.iim(raw, where, at), [], [])))
    elif kind_name in ("icc", "icm"):
        parts.facts += icc.parse(raw, where, at)
    else:
        return False
    parts.fact("png.raw_profile", kind_name, where, at)
    return True


def _inflate(raw: bytes, parts: Parts) -> bytes:
    """Return inflated text; all of a file's text together stays within a bound."""
    left = MAX_TEXT_BYTES - parts.inflated
    if left <= 0:
        return b""
    try:
        text = zlib.decompressobj().decompress(raw, left)
    except zlib.error:
        return b""
    parts.inflated += len(text)
    return text
