"""How long a file says it is, and how much of that is not there; runs in the sandbox.

AAC without a container says nothing of its length, and MP3 only where its encoder wrote a header. FFmpeg then guesses
by the bit rate of the beginning, which is far off where the rate varies, so the packets are counted instead; so they
are where files were copied one behind the other, of which the header of one states its own length, and in what a
browser recorded, which writes no length into WebM.

References
----------
K. Windszus, "MPEG Audio Frame Header", 2.3 (Xing and VBRI headers).
"""

import mmap
import os
import re
from typing import Any

import av

from forensix.media.played import begins_s
from forensix.media.signatures import after_tags
from forensix.media.sniff import read_head

_HEADER = re.compile(rb"(?:Xing|Info)...[\x03\x07\x0b\x0f]....(....)|VBRI......(....)", re.DOTALL)
_SEARCHED_BYTES = 1024
_DOC_TYPE = re.compile(rb"matroska|webm")


def length_s(source: dict[str, str], container: Any, stream: Any) -> float | None:
    """Return the duration that a file states, or that of its packets where it is sound that states none."""
    if _says_length(source):
        return stated_s(source, container, stream)
    n_units = 0
    try:
        for packet in container.demux(stream):
            n_units += packet.duration or 0
    except av.error.FFmpegError:
        pass
    return float(n_units * stream.time_base) or None


def stated_s(source: dict[str, str], container: Any, stream: Any) -> float | None:
    """Return the duration that a file states, None where it does not."""
    if not _says_length(source):
        return None
    if container.duration is not None and container.duration > 0:
        whole_s, begins = float(container.duration / av.time_base), begins_s(container)
        # FFmpeg writes into Matroska when the last stream ends, counted from 0, and hands that on as it stands.
        return whole_s - begins if source["slug"] in ("mkv", "webm") and 0 < begins < whole_s else whole_s
    return _of_stream_s(stream)


def counted_s(container: Any) -> float | None:
    """Return when the last packet of sound or picture ends, from where the file begins to play; none without packets.

    All of it is read, to where it can be read.
    """
    begins, ends = begins_s(container), 0.0
    try:
        for packet in container.demux(*container.streams.video, *container.streams.audio):
            if packet.pts is not None and packet.time_base is not None:
                ends = max(ends, float((packet.pts + (packet.duration or 0)) * packet.time_base) - begins)
    except av.error.FFmpegError:
        pass
    return ends or None


def missing_s(source: dict[str, str], container: Any, stream: Any, seen_s: float, ends_s: float) -> float:
    """Return how much of the stated duration was not there, 0 when the rest is within what encoders round.

    Where the duration is stated of the file alone, it counts when the last of its streams ends.
    """
    whole_s = stated_s(source, container, stream) or 0.0
    if whole_s and (own_s := _of_stream_s(stream)):
        whole_s = own_s
    else:
        seen_s = max(seen_s, ends_s)
    missing = whole_s - seen_s
    return missing if missing > max(1.0, 0.05 * whole_s) else 0.0


def _of_stream_s(stream: Any) -> float | None:
    if stream.duration is not None and stream.time_base is not None and stream.duration > 0:
        return float(stream.duration * stream.time_base)
    return None


def _is_joined(source: dict[str, str]) -> bool:
    """Tell whether another file of the format begins inside: a header then speaks of one of them."""
    if source["slug"] not in ("ogg", "mkv", "webm", "avi"):
        return False
    with open(source["path"], "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if source["slug"] == "avi":
            return data.find(b"AVI LIST", 16) >= 0
        if source["slug"] != "ogg":
            at = data.find(b"\x1a\x45\xdf\xa3", 4)
            while at >= 0 and not _DOC_TYPE.search(data, at, at + 64):
                at = data.find(b"\x1a\x45\xdf\xa3", at + 4)
            return at >= 0
        at, is_begun = data.find(b"OggS\0"), False
        while at >= 0 and at + 5 < len(data):
            # Streams that are played together begin before any of them goes on.
            if is_begun and data[at + 5] & 2:
                return True
            is_begun = is_begun or not data[at + 5] & 2
            at = data.find(b"OggS\0", at + 27)
    return False


def _says_length(source: dict[str, str]) -> bool:
    """Tell whether a file says how long it is: the whole of it, not the first of several that were joined."""
    if source["slug"] != "mp3":
        return source["slug"] != "aac" and not _is_joined(source)
    with open(source["path"], "rb") as file:
        head, n_bytes = read_head(file), os.fstat(file.fileno()).st_size
    start = after_tags(head)
    header = _HEADER.search(head, start, start + _SEARCHED_BYTES)
    if header is None:
        return False
    stated = int.from_bytes(header[1] or header[2], "big")
    # Of a file that is larger by more, FFmpeg does not believe it either.
    return n_bytes <= stated + stated // 16
