"""What the sandbox is told to run in tests."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from forensix.errors import LimitExceeded


def echo(*args: object) -> list[object]:
    return list(args)


def count(n: int) -> Iterator[int]:
    yield from range(n)


CALLS: list[int] = []


def count_calls() -> int:
    CALLS.append(1)
    return len(CALLS)


def endless(size: int) -> Iterator[list[object]]:
    while True:
        yield [os.getpid(), np.zeros(size, np.uint8)]


def pid_then_sleep() -> Iterator[int]:
    yield os.getpid()
    time.sleep(600)


def hold_the_gil() -> Iterator[int]:
    """Native code that never lets another thread of this process run."""
    yield os.getpid()
    ctypes.PyDLL(None).sleep(600)


def sleep() -> None:
    time.sleep(600)


def spin() -> None:
    while True:
        pass


def flood_stderr() -> None:
    while True:
        os.write(2, b"x" * 65536)


def swell() -> int:
    remaining = []
    while True:
        remaining.append(b"x" * (16 << 20))


def crash() -> None:
    ctypes.string_at(0)


def kill_itself() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    os._exit(0)


def raise_ours() -> None:
    raise LimitExceeded("clip.mp4 runs for 99 minutes; the limit is 30")


def raise_other() -> None:
    raise KeyError("first line\nTraceback (most recent call last):\n  second")


def talk() -> str:
    print("to stdout")
    os.write(1, b"straight to the descriptor")
    os.write(2, b"to stderr")
    return "value"


def nonsense() -> None:
    # The answer pipe is the one descriptor above 2 that is a pipe and can be written.
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"\xff" * 4096)
        except OSError:
            continue
    time.sleep(600)


def not_finite() -> float:
    return float("nan")


def write_file(path: str) -> int:
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        return os.write(descriptor, b"data")
    finally:
        os.close(descriptor)


def open_many(path: str) -> int:
    remaining = []
    while True:
        remaining.append(os.open(path, os.O_RDONLY))


def connect(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), timeout=2).close()
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return "connected"


def run_program() -> str:
    try:
        subprocess.run(["true"], check=False)
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return "ran"


def environment() -> dict[str, Any]:
    return {"variables": dict(os.environ), "cwd": str(Path.cwd()), "modules": sorted(sys.modules)}
