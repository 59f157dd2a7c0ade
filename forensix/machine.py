"""What this process may use of the machine: a container, a job of a cluster or a service may use less than there is.

Python and the C library count what the machine has. What a control group allows is told by its files (Linux, version 1
and 2), and each group above it bounds it too. Where there are none, nothing but the machine bounds what is used.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path

_GROUPS_OF_THIS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return how many cores this process may keep busy: those that it may run on, or fewer by its quota; 1 or more."""
    try:
        n = len(os.sched_getaffinity(0))
    except AttributeError:  # Linux alone tells
        n = os.cpu_count() or 1
    for group in _groups("cpu"):
        if (share := _quota(group)) is not None:
            n = min(n, math.ceil(share))
    return max(1, n)


def free_bytes() -> int | None:
    """Return how much memory this process and those beside it may still take; none where that cannot be told."""
    free = []
    try:
        # Free pages leave out what caches hold, so this errs on the side of less.
        free.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError):
        return None
    for group in _groups("memory"):
        limit = _number(group / "memory.max", group / "memory.limit_in_bytes")
        used = _number(group / "memory.current", group / "memory.usage_in_bytes")
        if limit is not None and used is not None:
            free.append(max(0, limit - used + _reclaimable(group)))
    return min(free)


def _groups(controller: str) -> Iterator[Path]:
    """Yield the folders of the groups that bound this process, its own first; those that are not there are left out."""
    for line in _text(_GROUPS_OF_THIS).splitlines():
        _, controllers, named = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        # A container sees the machine's name for its group but its own group alone, at the root of what is mounted.
        mounted = _MOUNTED / (controller if controllers else "")
        group = mounted / named.lstrip("/")
        yield from (one for one in (group, *group.parents) if one.is_relative_to(mounted) and one.is_dir())


def _quota(group: Path) -> float | None:
    """Return how many cores a group may keep busy; none where it is not bounded."""
    share, _, period = _text(group / "cpu.max").partition(" ")
    if not share:
        share, period = _text(group / "cpu.cfs_quota_us"), _text(group / "cpu.cfs_period_us")
    try:
        return int(share) / int(period) if int(share) > 0 else None
    except (ValueError, ZeroDivisionError):  # "max"
        return None


def _reclaimable(group: Path) -> int:
    """Return how many bytes of what a group uses are copies of files that nobody used of late."""
    rows = dict(line.split(" ", 1) for line in _text(group / "memory.stat").splitlines())
    return int(rows.get("total_inactive_file") or rows.get("inactive_file") or 0)


def _number(*files: Path) -> int | None:
    """Return the number in the first of the files that is there; none where it says that there is no bound."""
    text = next((text for file in files if (text := _text(file))), "")
    return int(text) if text.isdigit() else None


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
