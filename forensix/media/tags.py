"""How many tags stand at the beginning of a recording.

FFmpeg compares each tag that it reads with all before it, so that a few megabytes of tags take it minutes.
"""

import struct
from typing import Any

from forensix.media import sniff

MOST = 10_000
"""Tags up to which a file is opened; no recording that is in use has so many."""

_SEARCHED_BYTES = 1 << 16
_COMMENT_BLOCK = 4
_MARKS = (b"\x03vorbis", b"OpusTags")
"""What comments begin with in Ogg."""


def are_too_many(data: Any) -> bool:
    """Tell whether there are more than `MOST` tags before the sound: ID3v2 frames, Vorbis comments in FLAC and Ogg."""
    start = at = sniff.after_tags(data)
    n = _id3_frames(data, start)
    if bytes(data[at : at + 4]) == b"fLaC":
        at += 4
        is_last = False
        while not is_last and at + 4 <= len(data):
            kind, is_last, size = data[at] & 127, bool(data[at] & 128), int.from_bytes(data[at + 1 : at + 4], "big")
            n += _comments(data, at + 4) if kind == _COMMENT_BLOCK else 0
            at += 4 + size
    elif bytes(data[at : at + 4]) == b"OggS":
        marked = ((mark, data.find(mark, at, at + _SEARCHED_BYTES)) for mark in _MARKS)
        n += max((_comments(data, place + len(mark)) for mark, place in marked if place >= 0), default=0)
    return n > MOST


def _id3_frames(data: Any, stop: int) -> int:
    """Return how many frames the ID3v2 tags before an offset hold; counting ends where they are too many."""
    at = n = 0
    while at + 10 <= stop and n <= MOST:
        major, end = data[at + 3], at + sniff.after_tags(bytes(data[at : at + 10]))
        width = 3 if major == 2 else 4
        at += 10
        while at + 2 * width <= min(end, len(data)) and data[at] and n <= MOST:
            size = bytes(data[at + width : at + 2 * width])
            at += 2 * width + (0 if major == 2 else 2)
            at += sniff.synchsafe(size) if major == 4 else int.from_bytes(size, "big")
            n += 1
        at = end
    return n


def _comments(data: Any, at: int) -> int:
    """Return how many comments a block at an offset states, as far as there is room for them."""
    if at + 8 > len(data):
        return 0
    at += 4 + struct.unpack_from("<I", data, at)[0]
    return min(int.from_bytes(data[at : at + 4], "little"), (len(data) - at) // 4) if at + 4 <= len(data) else 0
