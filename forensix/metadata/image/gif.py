"""GIF files: blocks with their offsets, comments, application extensions. Source: GIF89a, CompuServe 1990."""

import struct

from forensix.metadata.blocks import icc, xmp
from forensix.metadata.facts import Node
from forensix.metadata.image.parts import Parts
from forensix.metadata.image.trailers import kind, tell

MAX_BLOCKS = 20000


def parse(data: bytes, parts: Parts | None = None) -> Parts:
    """Walk a whole GIF file, into ``parts`` where they are given."""
    parts = parts or Parts()
    if data[:6] not in (b"GIF87a", b"GIF89a") or len(data) < 13:
        parts.problem("The GIF header is damaged or cut short.", "header", 0)
        return parts
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    parts.fact("gif.header", {"version": data[3:6].decode(), "width": width, "height": height}, "header", 0)
    at = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
    parts.nodes.append(Node("header", 0, min(at, len(data))))
    frames = 0
    for _ in range(MAX_BLOCKS):
        if at >= len(data):
            # Programs leave the one byte out; a frame that is cut short is told below.
            message = "The file ends without a trailer (3B)."
            parts.problem(message, "end", len(data), grave=not frames)
            break
        start, mark = at, data[at]
        if mark == 0x3B:
            parts.nodes.append(Node("trailer", at, 1))
            rest = data[at + 1 :]
            if rest.strip(b"\0"):
                tell(rest, kind(rest), "after the trailer", at + 1, parts)
            break
        if mark == 0x21 and at + 2 <= len(data):
            label = data[at + 1] if at + 1 < len(data) else 0
            body, at, complete = _sub_blocks(data, at + 2)
            _extension(label, body, data, start, at, parts)
            parts.nodes.append(Node(f"extension {label:02X}", start, at - start))
        elif mark == 0x2C and at + 10 <= len(data):
            left, top, w, h, local = struct.unpack_from("<HHHHB", data, at + 1)
            if left + w > width or top + h > height:
                message = f"Frame {frames} ({w} x {h} at {left}, {top}) reaches out of the {width} x {height} screen."
                parts.problem(message, "image", at)
            frames += 1
            inner = at + 10 + (3 << (local & 7) + 1 if local & 0x80 else 0)
            code_size = data[inner] if inner < len(data) else 0
            if not 2 <= code_size <= 11:
                parts.problem(f"The LZW code size of frame {frames - 1} is {code_size}.", "image", inner)
            body, at, complete = _sub_blocks(data, inner + 1)
            if not body:
                parts.problem(f"Frame {frames - 1} holds no data.", "image", start)
            parts.nodes.append(Node("image", start, at - start, f"{w} x {h}"))
        else:
            parts.problem(f"Byte {mark:02X} begins no block.", "block", at)
            break
        if not complete:
            parts.problem("The last block is cut short.", "block", start, cut=True)
            break
    else:
        parts.leave(MAX_BLOCKS, at)
    if not frames and parts.is_whole:
        parts.problem("There is no image in the file.", "blocks", 13)
    parts.fact("gif.frames", frames, "blocks", 0)
    return parts


def _sub_blocks(data: bytes, at: int) -> tuple[bytes, int, bool]:
    body = bytearray()
    while at < len(data):
        size = data[at]
        if size == 0:
            return bytes(body), at + 1, True
        body += data[at + 1 : at + 1 + size]
        at += 1 + size
    return bytes(body), len(data), False


def _extension(label: int, body: bytes, data: bytes, at: int, end: int, parts: Parts) -> None:
    if parts.is_full(at):
        return
    if label == 0xFE:
        text = body.decode("utf-8", "replace").strip("\0 ")
        parts.fact("gif.comment", text[:4000], "comment extension", at)
    elif label == 0xFF and len(body) >= 11:
        name = body[:11].decode("latin-1")
        parts.fact("gif.application", name, "application extension", at)
        if name == "XMP DataXMP":
            # The packet is not cut into sub-blocks; it stands as it is and ends in a fixed run of bytes.
            raw = data[at + 14 : end]
            stop = raw.rfind(b"<?xpacket end")
            parts.take(*xmp.parse(raw[: stop if stop > 0 else len(raw)], "XMP application extension", at + 14))
        elif name.startswith("ICCRGBG1"):
            parts.facts += icc.parse(body[11:], "ICC application extension", at + 14)
