"""What the kernel says of the memory of a process and of those below it (Linux)."""

from pathlib import Path


def descendants(pid: int) -> list[int]:
    """Return a process and all that it started, and that those started."""
    pids = [pid]
    for each in pids:
        try:
            for task in Path(f"/proc/{each}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
        except OSError:
            continue
    return pids


def anonymous_bytes(pid: int) -> int:
    """Return what a process holds that no file backs, swapped or not; 0 where it cannot be told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem", "VmSwap") if name in fields)
