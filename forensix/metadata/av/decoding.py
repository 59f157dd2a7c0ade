"""Decode the packets of one stream and count those that cannot be: damage that no walk through a container sees.

A packet that fails is left out and decoding goes on behind it, so that what is measured on frames and samples covers
the whole stream.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import av

from forensix.metadata.av.collector import FactCollector


@dataclass
class Damage:
    """What failed so far: packets that gave an error, and frames that the decoder had to patch."""

    packets: int = 0
    failed: int = 0
    patched: int = 0
    first_s: float | None = None
    is_at_end: bool = False
    """Whether nothing failed but the last packet."""
    begins_s: float = 0.0
    """The time stamp at which the file begins to play."""
    left_out: tuple[range, ...] = ()
    """Bytes that a demuxer takes for sound and that are none, such as tags."""

    def tell(self, facts: FactCollector, what: str) -> None:
        """Add a problem where anything failed; ``what`` is ``sound`` or ``picture``."""
        if not self.failed and not self.patched:
            return
        parts = []
        if self.failed:
            parts.append(f"{self.failed} of {self.packets} packets cannot be decoded")
        if self.patched:
            parts.append(f"{self.patched} {'frame is' if self.patched == 1 else 'frames are'} damaged")
        at = "" if self.first_s is None else f", the first at {self.first_s:.2f} s"
        facts.problem(f"Some of the {what} is broken: {' and '.join(parts)}{at}.", f"{what} stream")


def strict(stream: Any) -> None:
    """Have a decoder report checksums that do not fit; to be called before its first packet."""
    stream.codec_context.options = {"err_detect": "crccheck+explode"}


def frames(packet: Any, damage: Damage) -> Iterator[Any]:
    """Yield the frames of one packet; errors are counted in ``damage``."""
    if packet.pos is not None and any(packet.pos in place for place in damage.left_out):
        return
    damage.packets += packet.size > 0
    damage.is_at_end = damage.is_at_end and not packet.size
    if packet.pts is not None and packet.time_base and packet.pts * packet.time_base < 0:
        # Before the moment where playing begins: after a cut between key frames these cannot be decoded, nor are shown.
        damage = Damage()
    try:
        for frame in packet.decode():
            if getattr(frame, "is_corrupt", False):
                damage.patched += 1
                _first(damage, packet)
            yield frame
    except av.error.EOFError:
        return
    except (av.FFmpegError, ValueError):
        if not packet.size:
            return  # VLC ends an Ogg stream with a packet of nothing.
        damage.is_at_end = not damage.failed and not damage.patched
        damage.failed += 1
        _first(damage, packet)


def _first(damage: Damage, packet: Any) -> None:
    if damage.first_s is None and packet.pts is not None and packet.time_base:
        damage.first_s = float(packet.pts * packet.time_base) - damage.begins_s
