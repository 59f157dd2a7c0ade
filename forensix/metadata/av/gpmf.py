"""The time of the satellites in the telemetry of GoPro cameras (GPMF), a track of its own beside picture and sound.

Only a payload whose receiver had a fix (2D or 3D) is taken: without one it repeats the camera's clock. Cameras of the
HERO11 and later write ``GPS9`` in place of ``GPSU``, and are not read.

References
----------
GoPro, GPMF-parser, README ("GPSU", "GPSF").
"""

import re
import struct
from datetime import UTC, datetime

import av

from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.streams import open_as

TAG = "gpmd"
PAYLOADS = 600
"""Packets of data, about one for each second, that are looked at for the first payload with a fix."""
_FIX = re.compile(rb"GPSFL\x04\x00\x01(.{4})", re.DOTALL)
_TIME = re.compile(rb"GPSUU\x10\x00\x01(\d{12}\.\d{3})")


def read(path: str, facts: FactCollector) -> None:
    """Add ``gps.satellite_time`` where a camera's telemetry states one."""
    if not any(f.value == TAG and re.fullmatch(r"container\.media\.\d+\.codec", f.key) for f in facts.items):
        return
    try:
        with open_as("mov", path) as opened:
            for n, packet in enumerate(opened.demux([s for s in opened.streams if s.type == "data"])):
                if n >= PAYLOADS:
                    return
                if when := satellite_time(bytes(packet)):
                    where = f"telemetry (GPMF) of stream {packet.stream.index}"
                    facts.fact("gps.satellite_time", when, where, packet.pos)
                    return
    except (av.FFmpegError, OSError, ValueError):
        return  # That streams cannot be read is told where they are.


def satellite_time(payload: bytes) -> str:
    """Return the time that a payload states, empty where it has none or the receiver had no fix.

    >>> satellite_time(b"GPSFL\\x04\\0\\x01\\0\\0\\0\\x03GPSUU\\x10\\0\\x01170417173103.000")
    '2017-04-17T17:31:03Z'
    """
    fix, time = _FIX.search(payload), _TIME.search(payload)
    if fix is None or time is None or struct.unpack(">I", fix[1])[0] not in (2, 3):
        return ""
    try:
        when = datetime.strptime(time[1][:12].decode("ascii"), "%y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return ""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
