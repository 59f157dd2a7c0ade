"""Is the sound of an MP3 the one that its encoder wrote?

LAME, and FFmpeg for itself, put the length of all frames and a checksum (CRC-16) of those behind the first into the
first one. Tags before and behind the sound leave both as they are; a frame that was exchanged, taken out or changed in
its volume does not. Some versions of LAME leave an ID3v1 tag out of the length that never was in it, so that the end
which the header states otherwise, and that of what is there, count as well.

References
----------
G. Bouvigne, "LAME Tag" (rev. 1); `libavformat/mp3enc.c` of FFmpeg.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

TAG_BYTES = 36
LANES = 4096
_WRITERS = re.compile(rb"LAME|Lav[cf]")


def crc16(data: bytes) -> int:
    """Return the CRC-16 of LAME's tag: reflected, polynomial 0x8005, beginning with 0.

    >>> hex(crc16(b"123456789"))
    '0xbb3d'
    """
    # Zeros in front change nothing, and all lanes are counted at once; behind them those of each single bit, for what
    # the length of a lane makes of it.
    length = -(-len(data) // LANES)
    lanes = np.frombuffer(data.rjust(length * LANES, b"\0"), np.uint8).reshape(LANES, length)
    state = np.concatenate([np.zeros(LANES, np.uint16), np.uint16(1) << np.arange(16, dtype=np.uint16)])
    octets = np.zeros(len(state), np.uint16)
    for i in range(length):
        octets[:LANES] = lanes[:, i]
        state = _TABLE[(state ^ octets) & 255] ^ (state >> 8)
    sums, moved = state[:LANES].tolist(), state[LANES:].tolist()
    crc = 0
    for lane in sums:
        shifted = 0
        for bit in range(16):
            shifted ^= moved[bit] if crc >> bit & 1 else 0
        crc = shifted ^ lane
    return int(crc)


def _table() -> npt.NDArray[np.uint16]:
    crc = np.arange(256, dtype=np.uint16)
    for _ in range(8):
        crc = np.where(crc & 1, (crc >> 1) ^ np.uint16(0xA001), crc >> 1).astype(np.uint16)
    return crc


_TABLE = _table()


def unlike(data: Any, tag: bytes, first: int, size: int, ends: set[int]) -> str | None:
    """Return the checksum that LAME's tag states where the sound has another; ``None`` where it fits or is not known.

    ``first`` and ``size`` are the place and the length of the frame that the tag stands in, ``ends`` where the sound
    may end besides where the tag says.
    """
    length = int.from_bytes(tag[28:32], "big")
    if len(tag) < TAG_BYTES or not _WRITERS.match(tag) or length <= size:
        return None
    stated, start = int.from_bytes(tag[32:34], "big"), first + size
    for end in sorted({first + length, *ends}):
        if start < end <= len(data) and crc16(bytes(data[start:end])) == stated:
            return None
    return f"0x{stated:04X}"
