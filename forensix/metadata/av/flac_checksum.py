"""The checksum that FLAC keeps of its samples (MD5), against the samples that come out.

Every encoder writes it over what it was given, so a difference means that sound was lost or changed afterwards. All
zeros mean that the encoder did not write one.

References
----------
RFC 9639, section 8.2.
"""

import hashlib
from typing import Any

import av

from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.decoding import Damage, frames

LONGEST_S = 30 * 60


def read(path: str, container: str, facts: FactCollector) -> None:
    """Add a problem where the samples of a FLAC file are not those that its checksum was made of."""
    stated, audio = facts.get("flac.md5"), facts.get("flac.audio")
    if container != "flac" or not stated or not int(stated, 16) or not isinstance(audio, dict):
        return
    if (facts.get("flac.duration_s") or LONGEST_S) >= LONGEST_S:
        return
    options = {"protocol_whitelist": "file", "format_whitelist": "flac"}
    sum_, damage = hashlib.md5(usedforsecurity=False), Damage()
    try:
        with av.open(path, format="flac", options=options, metadata_errors="replace") as opened:
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
