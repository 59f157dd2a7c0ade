"""FLAC and Ogg (Vorbis, Opus, Speex): metadata blocks, pages, comments, vendors, and streams that were joined.

References
----------
RFC 9639 (FLAC), RFC 3533 (Ogg), RFC 7845 (Opus in Ogg); Xiph, "Ogg Vorbis I comment field specification".
"""

import struct
import zlib
from typing import Any

from forensix.media.tags import MOST
from forensix.metadata.av.collector import FactCollector, text
from forensix.metadata.facts import Node

BLOCKS = ("STREAMINFO", "PADDING", "APPLICATION", "SEEKTABLE", "VORBIS_COMMENT", "CUESHEET", "PICTURE")
PAGES = 100_000
STREAMS = 1000
MOST_HEAD_BYTES = 16 << 20
"""Comments beyond are left unread; covers of some MiB stand among them."""


def comments(raw: bytes, where: str, offset: int, facts: FactCollector, *, is_whole: bool = True) -> None:
    """Read a Vorbis comment block into ``vorbis.vendor`` and ``vorbis.<NAME>``.

    Where it is not whole, since not all of it was gathered, what is missing is no fault of the file.
    """
    try:
        size = struct.unpack_from("<I", raw)[0]
        facts.fact("vorbis.vendor", text(raw[4 : 4 + size]), where, offset + 4)
        count, at = struct.unpack_from("<I", raw, 4 + size)[0], 8 + size
        for _ in range(min(count, MOST)):
            length = struct.unpack_from("<I", raw, at)[0]
            entry = raw[at + 4 : at + 4 + length]
            if len(entry) < length and not is_whole:
                facts.problem("The comments are larger than what is read of them.", where, offset, unread=True)
                return
            if len(entry) < length:
                facts.problem("A comment says it is longer than the block that holds it.", where, offset + at)
                return
            name, _, value = entry.partition(b"=")
            if name.upper() != b"METADATA_BLOCK_PICTURE":
                facts.fact(f"vorbis.{text(name).upper()[:60]}", text(value), where, offset + at)
            at += 4 + length
        if count > MOST:
            told = f"There are more than {MOST} comments; the rest was not read."
            facts.problem(told, where, offset + at, unread=True)
    except struct.error:
        facts.problem("The comments break off.", where, offset)


def walk_flac(data: Any, facts: FactCollector) -> None:
    """Read the metadata blocks of a FLAC file into ``facts``."""
    from forensix.metadata.av import id3

    at = id3.read(data, 0, facts)
    if bytes(data[at : at + 4]) != b"fLaC":
        facts.problem("The mark fLaC is missing at the start.", "FLAC", at)
        return
    facts.nodes.append(Node("fLaC", at, 4))
    at += 4
    last, n = False, 0
    while not last and n < 200:
        if at + 4 > len(data):
            facts.problem("The file ends inside its metadata blocks.", "FLAC", at)
            return
        kind, size = data[at] & 127, int.from_bytes(data[at + 1 : at + 4], "big")
        last = bool(data[at] & 128)
        name = BLOCKS[kind] if kind < len(BLOCKS) else f"block {kind}"
        if kind == 127 or (n == 0 and kind != 0):
            facts.problem(f"A metadata block of the kind {kind} must not stand here.", name, at)
            return
        raw = bytes(data[at + 4 : at + 4 + size])
        if len(raw) < size:
            facts.problem(f"The block {name} says {size} bytes, but only {len(raw)} are there.", name, at)
        if kind == 0 and len(raw) >= 34:
            packed = int.from_bytes(raw[10:18], "big")
            rate, channels, bits = packed >> 44, (packed >> 41 & 7) + 1, (packed >> 36 & 31) + 1
            block = int.from_bytes(raw[2:4], "big")
            facts.fact("flac.audio", {"rate_hz": rate, "channels": channels, "bits": bits, "block": block}, name, at)
            if rate and packed & ((1 << 36) - 1):
                facts.fact("flac.duration_s", round((packed & ((1 << 36) - 1)) / rate, 3), name, at)
            if not rate:
                facts.problem("The stream states a sample rate of 0.", name, at)
            facts.fact("flac.md5", raw[18:34].hex(), name, at + 22)
        elif kind == 0:
            facts.problem("The block STREAMINFO is too short.", name, at)
        elif kind == 2:
            facts.fact("flac.application", text(raw[:4]), name, at + 4)
        elif kind == 4:
            comments(raw, name, at + 4, facts)
        elif kind == 6:
            _picture(raw, name, at, facts)
        facts.nodes.append(Node(name, at, 4 + len(raw)))
        at += 4 + size
        n += 1
    if at < len(data):
        end = id3.version1(data, len(data), facts)
        if end < len(data):
            facts.fact("flac.tag_bytes", len(data) - end, "ID3v1", end)
        facts.nodes.append(Node("frames", at, end - at))
        again = data.find(b"fLaC\x00\x00\x00\x22", at)
        while again >= 0 and facts.counted():
            facts.fact("container.again", again, "the beginning of another FLAC file", again)
            again = data.find(b"fLaC\x00\x00\x00\x22", again + 1)
        if data[at] != 0xFF or data[at + 1 : at + 2] == b"" or data[at + 1] & 0xFC != 0xF8:
            facts.problem("There is no frame of samples behind the metadata blocks.", "FLAC", at)
    else:
        facts.problem("The file ends where its samples must begin.", "FLAC", at)


def _picture(raw: bytes, name: str, at: int, facts: FactCollector) -> None:
    try:
        mime = struct.unpack_from(">I", raw, 4)[0]
        words = struct.unpack_from(">I", raw, 8 + mime)[0]
        size = struct.unpack_from(">I", raw, 28 + mime + words)[0]
    except struct.error:
        facts.problem("The block PICTURE is too short.", name, at)
        return
    there = len(raw) - 32 - mime - words
    if size != there:
        facts.problem(f"The picture says {size} bytes, but the block holds {there}.", name, at)
    facts.fact("flac.picture", {"bytes": size, "kind": text(raw[8 : 8 + min(mime, 60)])}, name, at)


def walk_ogg(data: Any, facts: FactCollector) -> None:
    """Read the pages of an Ogg file into ``facts``."""
    at, n, ended = 0, 0, set[int]()
    streams: dict[int, dict[str, Any]] = {}
    begun: list[tuple[int, dict[str, Any]]] = []
    while at + 27 <= len(data) and n < PAGES:
        if bytes(data[at : at + 4]) != b"OggS":
            again = data.find(b"OggS", at + 1)
            message = (
                f"Other bytes stand where an Ogg page must begin{f'; {again - at} are lost' if again > 0 else ''}."
            )
            facts.problem(message, "pages", at)
            if again < 0:
                break
            at = again
            continue
        flags, serial, sequence = data[at + 5], *struct.unpack_from("<II", data, at + 14)
        segments = data[at + 26]
        lengths = bytes(data[at + 27 : at + 27 + segments])
        body, size = at + 27 + segments, sum(lengths)
        stream = streams.get(serial)
        if flags & 2 or stream is None:
            if not flags & 2:
                facts.problem("A stream begins without its first page.", f"stream {serial:08x}", at)
            if ended or stream is not None:
                facts.fact("ogg.chained", at, f"stream {serial:08x} begins where another ended", at)
            stream = streams[serial] = {
                "next": sequence, "start": at, "pages": 0, "head": bytearray(), "packets": 0
            }  # fmt: skip
            begun.append((serial, stream))
        if sequence != stream["next"]:
            message = f"Page {stream['next']} is expected, page {sequence} comes: pages are missing or were moved."
            facts.problem(message, f"stream {serial:08x}", at)
        stream["next"], stream["pages"] = sequence + 1, stream["pages"] + 1
        if body + size > len(data):
            facts.problem(
                f"A page is cut off: {body + size - len(data)} bytes are missing.", f"stream {serial:08x}", at, cut=True
            )
        # The first packet names the codec, the second holds the comments.
        if stream["packets"] < 2 and len(stream["head"]) < MOST_HEAD_BYTES:
            stream["head"] += bytes(data[body : body + size])
            stream["packets"] += sum(length < 255 for length in lengths)
        if body + size <= len(data) and not _sound(data, at, body + size):
            facts.problem("The checksum of a page does not match its content.", f"stream {serial:08x}", at)
        if flags & 4:
            ended.add(serial)
        n += 1
        at = body + size
    for serial, stream in begun[:STREAMS]:
        head, where = bytes(stream["head"]), f"stream {serial:08x}"
        is_whole = stream["packets"] >= 2 or len(head) < MOST_HEAD_BYTES
        facts.nodes.append(Node(where, stream["start"], at - stream["start"], f"{stream['pages']} pages"))
        for codec, mark, skip in (("Vorbis", b"\x03vorbis", 7), ("Opus", b"OpusTags", 8), ("Theora", b"\x81theora", 7)):
            place = head.find(mark)
            if place >= 0:
                facts.fact("container.codec", codec, where, stream["start"])
                comments(head[place + skip :], f"{where} comments", stream["start"], facts, is_whole=is_whole)
    if streams and not ended:
        facts.problem("No stream has its last page: the file may be cut off.", "pages", at, grave=False)
    if not streams:
        facts.problem("There is no Ogg page in the file.", "pages", 0)


_MIRRORED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))


def _sound(data: Any, at: int, stop: int) -> bool:
    """Say whether a page's checksum fits: that of zlib over mirrored bytes, itself mirrored, without its inversions."""
    page = (bytes(data[at : at + 22]) + bytes(4) + bytes(data[at + 26 : stop])).translate(_MIRRORED)
    stated = bytes(data[at + 22 : at + 26]).translate(_MIRRORED)
    return zlib.crc32(page, 0xFFFFFFFF) ^ 0xFFFFFFFF == int.from_bytes(stated, "big")
