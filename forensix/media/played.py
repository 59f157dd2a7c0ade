"""Which of a container's streams a player starts with: analyses look at that one, and say so where there are more.

References
----------
ISO/IEC 14496-12, 8.3.2 (tracks that are enabled); RFC 9559, 5.1.4.1.5 (FlagDefault): FFmpeg tells both as "default".
"""

from collections.abc import Iterable
from typing import Any

import av


def is_cover(stream: Any) -> bool:
    """Tell whether a stream is a still picture that is attached to sound or to a film."""
    return bool(stream.disposition & av.stream.Disposition.attached_pic)


def in_order(streams: Iterable[Any]) -> list[Any]:
    """Return the streams without covers, those that a player starts with before the others."""
    return sorted(
        (stream for stream in streams if not is_cover(stream)),
        key=lambda stream: not stream.disposition & av.stream.Disposition.default,
    )
