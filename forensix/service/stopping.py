"""The signals at which a process of the service ends in order: what it is at is finished or given back."""

import signal
from collections.abc import Callable
from types import FrameType


def stop_at_signals(stop: Callable[[int, FrameType | None], None]) -> None:
    """Call ``stop`` when somebody asks this process to end, or the terminal that it was started from is closed.

    A lost terminal that is ignored, as under nohup, stays so.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
