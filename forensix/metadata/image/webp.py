"""WebP files: RIFF chunks with their offsets. Source: WebP container specification (RFC 9649)."""

import struct

from forensix.metadata.blocks import icc, xmp
from forensix.metadata.facts import Node
from forensix.metadata.image.parts import Parts
from forensix.metadata.image.png import take_exif
from forensix.metadata.image.trailers import kind, tell

MAX_CHUNKS = 5000


def parse(data: bytes, parts: Parts | None = None) -> Parts:
    """Walk a whole WebP file, into ``parts`` where they are given."""
    parts = parts or Parts()
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        parts.problem("The RIFF header is damaged.", "header", 0)
        return parts
    stated = struct.unpack_from("<I", data, 4)[0] + 8
    parts.nodes.append(Node("RIFF", 0, 12))
    if stated > len(data):
        message = f"The RIFF header announces {stated} bytes, {len(data)} are there: the file is truncated."
        parts.problem(message, "header", 4, cut=True)
    at = 12
    names: list[str] = []
    while at + 8 <= min(len(data), stated) and len(names) < MAX_CHUNKS:
        name = data[at : at + 4].decode("latin-1")
        size = struct.unpack_from("<I", data, at + 4)[0]
        body = data[at + 8 : at + 8 + size]
        if len(body) < size:
            message = f"Chunk {name!r} claims {size} bytes, {len(body)} are left."
            parts.problem(message, name, at)
        names.append(name.strip())
        parts.nodes.append(Node(name, at, min(size, len(body)) + 8))
        _chunk(name, body, at, parts)
        at += 8 + size + size % 2
    if len(names) == MAX_CHUNKS and at + 8 <= min(len(data), stated):
        parts.leave(MAX_CHUNKS, at)
    if not {"VP8", "VP8L", "ANMF"} & set(names) and parts.is_whole:
        parts.problem("There is no image data (VP8, VP8L or ANMF).", "chunks", 12)
    if stated < len(data) and data[stated:].strip(b"\0"):
        rest = data[stated:]
        parts.nodes.append(Node("data after the end", stated, len(rest)))
        tell(rest, kind(rest), "after the RIFF chunk", stated, parts)
    parts.fact("webp.chunks", " ".join(dict.fromkeys(names)), "chunks", 12)
    return parts


def _chunk(name: str, body: bytes, at: int, parts: Parts) -> None:
    if name == "EXIF":
        take_exif(body, "EXIF chunk", at + 8, parts)
    elif name == "XMP " and not parts.is_full(at):
        parts.take(*xmp.parse(body, "XMP chunk", at + 8))
    elif name == "ICCP":
        parts.facts += icc.parse(body, "ICCP chunk", at + 8)
    elif name == "VP8X" and len(body) >= 10:
        width = 1 + int.from_bytes(body[4:7], "little")
        height = 1 + int.from_bytes(body[7:10], "little")
        parts.fact("webp.canvas", {"width": width, "height": height, "flags": body[0]}, "VP8X chunk", at)
