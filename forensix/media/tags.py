"""How many tags a recording or a video holds.

FFmpeg compares each tag that it reads with all before it, so that a few megabytes of tags take it minutes. Only sizes
and marks are followed here; what is malformed ends the counting.
"""

import struct
from collections.abc import Iterator
from typing import Any

from forensix.media.signatures import after_tags, synchsafe

MOST = 10_000
"""Tags up to which a file is opened; no recording that is in use has so many."""

_SEARCHED_BYTES = 1 << 16
_COMMENT_BLOCK = 4
_MARKS = (b"\x03vorbis", b"OpusTags")
"""What comments begin with in Ogg."""

_FIRST_BOXES = (b"ftyp", b"styp", b"moov", b"moof", b"mdat", b"free", b"skip", b"wide", b"pnot", b"sidx")
_LISTS = (b"udta", b"ilst")
_ENTERED = (*_LISTS, b"meta", b"moov", b"trak", b"mdia", b"minf", b"moof", b"traf")
_DEPTH = 12
_SIMPLE_TAG = 0x67C8
_HOLDING = (0x18538067, 0x1254C367, 0x7373, _SIMPLE_TAG)
"""Elements of Matroska that hold tags: Segment, Tags, Tag, SimpleTag."""

_SCRIPT, _OBJECTS, _ARRAY, _END = 18, (3, 8), 10, b"\0\0\x09"
_FIXED = {0: 8, 1: 1, 7: 2, 11: 10}
"""Bytes of the values of AMF that have a fixed size; those that are missing here, strings and lists aside, have none.
"""


def are_too_many(data: Any) -> bool:
    """Tell whether there are more than `MOST` tags: ID3v2 frames before the sound, APE items behind it, and others.

    Those are Vorbis comments in FLAC and Ogg, user data of MP4, ``LIST INFO`` of RIFF, tags of Matroska and scripts of
    FLV.
    """
    start = at = after_tags(data)
    n = _id3_frames(data, start) + _ape_items(data)
    mark = bytes(data[at : at + 4])
    if mark == b"fLaC":
        at += 4
        is_last = False
        while not is_last and at + 4 <= len(data):
            kind, is_last, size = data[at] & 127, bool(data[at] & 128), int.from_bytes(data[at + 1 : at + 4], "big")
            n += _comments(data, at + 4) if kind == _COMMENT_BLOCK else 0
            at += 4 + size
    elif mark in (b"RIFF", b"RF64", b"BW64"):
        n += _info_chunks(data, at)
    elif mark == b"\x1a\x45\xdf\xa3":
        n += _simple_tags(data, at)
    elif mark == b"FLV\x01":
        n += _script_values(data, at)
    elif bytes(data[at + 4 : at + 8]) in _FIRST_BOXES:
        n += _boxes(data, at, len(data))
    elif mark == b"OggS":
        marked = ((mark, data.find(mark, at, at + _SEARCHED_BYTES)) for mark in _MARKS)
        n += max((_comments(data, place + len(mark)) for mark, place in marked if place >= 0), default=0)
    return n > MOST


def _id3_frames(data: Any, stop: int) -> int:
    """Return how many frames the ID3v2 tags before an offset hold; counting ends where they are too many."""
    at = n = 0
    while at + 10 <= stop and n <= MOST:
        major, end = data[at + 3], at + after_tags(bytes(data[at : at + 10]))
        width = 3 if major == 2 else 4
        at += 10
        while at + 2 * width <= min(end, len(data)) and data[at] and n <= MOST:
            size = bytes(data[at + width : at + 2 * width])
            at += 2 * width + (0 if major == 2 else 2)
            at += synchsafe(size) if major == 4 else int.from_bytes(size, "big")
            n += 1
        at = end
    return n


def _comments(data: Any, at: int) -> int:
    """Return how many comments a block at an offset states, as far as there is room for them."""
    if at + 8 > len(data):
        return 0
    at += 4 + struct.unpack_from("<I", data, at)[0]
    return min(int.from_bytes(data[at : at + 4], "little"), (len(data) - at) // 4) if at + 4 <= len(data) else 0


def _ape_items(data: Any) -> int:
    """Return how many items an APE tag at the end states, before an ID3v1 tag too, as far as there is room for them."""
    end = len(data) - 128 if bytes(data[max(0, len(data) - 128) :][:3]) == b"TAG" else len(data)
    foot = bytes(data[max(0, end - 32) : end])
    if foot[:8] != b"APETAGEX" or len(foot) < 32:
        return 0
    size, count = struct.unpack_from("<II", foot, 12)
    return int(min(count, size // 10))


def _boxes(data: Any, at: int, end: int, depth: int = 0, *, is_list: bool = False) -> int:
    """Return how many boxes the lists of tags of an MP4 file hold, between two offsets."""
    n = 0
    while at + 8 <= end and n <= MOST:
        size, kind = struct.unpack_from(">I4s", data, at)
        head = 8
        if size == 1 and at + 16 <= end:
            size, head = struct.unpack_from(">Q", data, at + 8)[0], 16
        stop = min(at + size, end) if size else end
        if stop < at + head:
            break
        n += is_list
        if kind in _ENTERED and depth < _DEPTH:
            # QuickTime's has no version and flags, ISO's has.
            more = 4 if kind == b"meta" and bytes(data[at + head + 4 : at + head + 8]) != b"hdlr" else 0
            n += _boxes(data, at + head + more, stop, depth + 1, is_list=kind in _LISTS)
        at = stop
    return n


def _info_chunks(data: Any, at: int) -> int:
    """Return how many chunks the lists ``INFO`` of a RIFF file hold."""
    n = within = 0
    while at + 12 <= len(data) and n <= MOST:
        kind, size, form = struct.unpack_from("<4sI4s", data, at)
        n += at < within
        if kind in (b"RIFF", b"RF64", b"BW64") or (kind == b"LIST" and form != b"movi"):
            within = at + 8 + size if form == b"INFO" else within
            at += 12
        else:
            at += 8 + size + size % 2
    return n


def _simple_tags(data: Any, at: int) -> int:
    """Return how many ``SimpleTag`` elements a Matroska file holds."""
    n = 0
    while at + 2 <= len(data) and data[at] and n <= MOST:
        width = 9 - data[at].bit_length()
        name = int.from_bytes(data[at : at + width], "big")
        at += width
        if at >= len(data) or not data[at]:
            break
        width = 9 - data[at].bit_length()
        size = int.from_bytes(data[at : at + width], "big") & ((1 << 7 * width) - 1)
        at += width
        n += name == _SIMPLE_TAG
        # A size of ones alone is unknown: what such an element holds follows it.
        at += 0 if name in _HOLDING or size == (1 << 7 * width) - 1 else size
    return n


def _script_values(data: Any, at: int) -> int:
    """Return how many values the scripts of an FLV file name; what comes with each frame has the same names."""
    names: set[bytes] = set()
    at += 13
    while at + 11 <= len(data) and len(names) <= MOST:
        stop = at + 11 + int.from_bytes(data[at + 1 : at + 4], "big")
        if data[at] & 31 == _SCRIPT:
            names.update(_names(bytes(data[at + 11 : stop])))
        at = stop + 4
    return len(names)


def _names(raw: bytes) -> Iterator[bytes]:
    """Yield the names of the values of objects in AMF data, at any depth."""
    at = 0
    left: list[int | None] = []
    """How many values are to come of each list around this place; of an object as many as there are."""
    while at < len(raw):
        if left and left[-1] is None:
            if raw[at : at + 3] == _END:
                at += 3
                left.pop()
                continue
            size = int.from_bytes(raw[at : at + 2], "big")
            yield raw[at + 2 : at + 2 + size]
            at += 2 + size
        elif left and left[-1] is not None:
            if not left[-1]:
                left.pop()
                continue
            left[-1] -= 1
        kind, at = raw[at] if at < len(raw) else 0, at + 1
        if kind in _OBJECTS:
            at += 4 if kind == 8 else 0
            left.append(None)
        elif kind == _ARRAY:
            left.append(int.from_bytes(raw[at : at + 4], "big"))
            at += 4
        elif kind in (2, 12):
            width = 2 if kind == 2 else 4
            at += width + int.from_bytes(raw[at : at + width], "big")
        else:
            at += _FIXED.get(kind, 0)
