"""Which frames of a video are looked at: so many a second, and some of them with those that follow."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

MAX_RATE_HZ = 5.0
MIN_RATE_HZ = 0.5
MAX_LOOKED = 1200
"""Frames looked at in a long video, unless that means fewer than ``MIN_RATE_HZ``: 30 minutes are 1200 frames."""
FOLLOWED = 16
"""Moments of a video at which the next frames are looked at as well, evenly spread."""


def sampling_rate_hz(duration_s: float | None) -> float:
    """Return how many frames a second are looked at.

    Examples
    --------
    >>> sampling_rate_hz(10.0), sampling_rate_hz(600.0), sampling_rate_hz(36000.0)
    (5.0, 2.0, 0.5)
    """
    if not duration_s:
        return MAX_RATE_HZ
    return min(MAX_RATE_HZ, max(MIN_RATE_HZ, MAX_LOOKED / duration_s))


def follow_s(duration_s: float | None, rate_hz: float) -> float:
    """Return how far apart the moments are at which the next frames are looked at as well.

    Examples
    --------
    >>> follow_s(8.0, 5.0), follow_s(2.0, 5.0), follow_s(None, 5.0)
    (0.5, 0.2, 1.0)
    """
    return max(1 / rate_hz, duration_s / FOLLOWED) if duration_s else 1.0


def thinned(frames: Iterable[T]) -> Iterator[T]:
    """Yield `MAX_LOOKED` frames, then every second one of twice as many, and then every fourth.

    So a video takes bounded time that is longer than its header said, or whose header does not say how long it is.

    Examples
    --------
    >>> len(list(thinned(range(1200)))), len(list(thinned(range(9000))))
    (1200, 3750)
    """
    for n, frame in enumerate(frames):
        stride = 1 if n < MAX_LOOKED else 2 if n < 3 * MAX_LOOKED else 4
        if n % stride == 0:
            yield frame
