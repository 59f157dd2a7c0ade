"""The checksums of FLAC: that of all samples (MD5) against those that come out, and the last frame's, which ends it.

Every encoder writes the first over what it was given, so a difference means that sound was lost or changed afterwards.
All zeros mean that the encoder did not write one. A decoder takes all bytes up to the end of the file for the last
frame, which ends behind its checksum (CRC-16).

References
----------
RFC 9639, sections 8.2 and 9.3.
"""

import hashlib
from typing import Any

import av

from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.decoding import Damage, frames
from forensix.metadata.av.streams import open_as

SHORTENED = "flac.duration_s"
"""Where the problem is told that a FLAC file holds less sound than it says."""

LONGEST_S = 30 * 60
PACKETS = 300_000


def read(path: str, container: str, facts: FactCollector) -> None:
    """Add a problem where the samples of a FLAC file are not those that its checksum was made of."""
    stated, audio = facts.get("flac.md5"), facts.get("flac.audio")
    if container != "flac" or not stated or not int(stated, 16) or not isinstance(audio, dict):
        return
    if any(problem.where in (SHORTENED, "sound stream") for problem in facts.problems):
        return  # Samples that are missing, or cannot be decoded, are told already.
    # Of files that were joined, it is the checksum of the first.
    if facts.get("container.again") or (facts.get("flac.duration_s") or LONGEST_S) >= LONGEST_S:
        return
    sum_, damage = hashlib.md5(usedforsecurity=False), Damage()
    try:
        with open_as("flac", path) as opened:
            for packet in opened.demux(opened.streams.audio[0]):
                for frame in frames(packet, damage):
                    sum_.update(_packed(frame, audio["bits"]))
    except (av.FFmpegError, OSError, LookupError, EOFError):
        pass  # That streams cannot be read is told where they are.
    if sum_.hexdigest() != stated:
        facts.problem("The checksum (MD5) of the sound does not match its samples.", "STREAMINFO")


def _packed(frame: Any, bits: int) -> bytes:
    """Return samples as FLAC sums them: interleaved, little-endian, in as few whole bytes as ``bits`` need."""
    values = frame.to_ndarray()
    values = values.T.reshape(-1) if frame.format.is_planar else values.reshape(-1)
    # The decoder hands them out in the upper bits.
    values = values >> (values.dtype.itemsize * 8 - bits)
    width = (bits + 7) // 8
    raw: bytes = values.astype("<i4").view("u1").reshape(-1, 4)[:, :width].tobytes()
    return raw


def behind(path: str, container: str, data: Any, facts: FactCollector) -> None:
    """Add ``container.after_end`` where bytes that are not all zeros stand behind the last frame of a FLAC file."""
    audio = facts.get("flac.audio")
    if container != "flac" or not isinstance(audio, dict) or not audio.get("block"):
        return
    last, n = None, 0
    try:
        with open_as("flac", path) as opened:
            extradata = opened.streams.audio[0].codec_context.extradata
            for packet in opened.demux(opened.streams.audio[0]):
                last, n = (packet.pos, packet.size) if packet.size else last, n + 1
                if n > PACKETS:
                    return
    except (av.FFmpegError, OSError, LookupError, EOFError):
        return
    if last is None or last[0] is None:
        return
    # No frame is longer than its samples are as they stand, with some bytes for each channel.
    most = audio["block"] * audio["channels"] * (audio["bits"] + 8) // 8 + 64
    size = _length(bytes(data[last[0] : last[0] + min(last[1], most)]), extradata)
    stop = last[0] + last[1] - int(facts.get("flac.tag_bytes") or 0)
    end = last[0] + size
    if size and bytes(data[end:stop]).strip(b"\0"):
        first = bytes(data[end : end + 8]).hex(" ")
        facts.fact("container.after_end", {"size": stop - end, "first_box": first}, "behind the last frame", end)


def _length(raw: bytes, extradata: bytes | None) -> int:
    """Return how many bytes the frame at the beginning takes, 0 where that cannot be told.

    With its checksum behind it, that of all is 0; so it may be elsewhere by chance, where nothing decodes.
    """
    crc = 0
    for i, byte in enumerate(raw):
        crc = (crc << 8 & 0xFFFF) ^ _CRC[crc >> 8 ^ byte]
        if not crc and i > 8 and _decodes(raw[: i + 1], extradata):
            return i + 1
    return 0


def _decodes(raw: bytes, extradata: bytes | None) -> bool:
    context: Any = av.CodecContext.create("flac", "r")
    context.extradata = extradata
    context.options = {"err_detect": "crccheck+explode"}
    try:
        return bool(context.decode(av.Packet(raw)))
    except (av.FFmpegError, ValueError):
        return False


_CRC = []
for _byte in range(256):
    _value = _byte << 8
    for _ in range(8):
        _value = (_value << 1 & 0xFFFF) ^ (0x8005 if _value & 0x8000 else 0)
    _CRC.append(_value)
