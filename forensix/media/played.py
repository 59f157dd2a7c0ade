"""Which of a container's streams a player starts with, and when each begins.

Analyses look at that one, and say so where there are more. Their times count from the moment at which the file begins
to play, so that sound and picture have one clock.

References
----------
ISO/IEC 14496-12, 8.3.2 (tracks that are enabled); RFC 9559, 5.1.4.1.5 (FlagDefault): FFmpeg tells both as "default".
"""

from collections.abc import Iterable
from typing import Any

import av

LATE_S = 0.1


def is_cover(stream: Any) -> bool:
    """Tell whether a stream is a still picture that is attached to sound or to a film."""
    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def in_order(streams: Iterable[Any]) -> list[Any]:
    """Return the streams without covers, those that a player starts with before the others."""
    return sorted(
        (stream for stream in streams if not is_cover(stream)),
        key=lambda stream: not stream.disposition & av.stream.Disposition.default,
    )


def decodable(streams: Iterable[Any]) -> list[Any]:
    """Return those of `in_order` that there is a decoder for."""
    return [stream for stream in in_order(streams) if stream.codec_context is not None]


def codec_name(stream: Any) -> str | None:
    """Return the name of the codec of a stream, not of what decodes it here; none where nothing does."""
    return stream.codec_context.codec.canonical_name if stream.codec_context is not None else None


def begins_s(container: Any) -> float:
    """Return the time stamp at which a file begins to play: the first of the picture and the sound played first.

    Less than `LATE_S` from 0 is the delay of an encoder, and none.
    """
    played = [*in_order(container.streams.video)[:1], *in_order(container.streams.audio)[:1]]
    starts = [_start_s(stream) for stream in played]
    first = min((start for start in starts if start is not None), default=0.0)
    return first if abs(first) >= LATE_S else 0.0


def late_s(container: Any, stream: Any) -> float:
    """Return how long after the file a stream begins; less than `LATE_S` counts as none here too."""
    start = _start_s(stream)
    late = 0.0 if start is None else start - begins_s(container)
    return late if late >= LATE_S else 0.0


def _start_s(stream: Any) -> float | None:
    if stream.start_time is None or stream.time_base is None:
        return None
    return float(stream.start_time * stream.time_base)
