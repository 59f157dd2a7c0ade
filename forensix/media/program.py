"""Run a program that others wrote on untrusted bytes, under the limits of the sandbox.

The bytes come on its standard input, never by a name that could be read as an option or a command. It may not write
files, reach the network or see the environment; its time, memory and output are bounded. No shell is involved.
"""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from forensix.errors import BrokenMedia

_CHILD = Path(__file__).with_name("child.py")
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def run(
    arguments: Sequence[str],
    source: Path,
    *,
    timeout_s: float = 5,
    cpu_s: int = 1,
    memory_bytes: int = 512 << 20,
    output_bytes: int = 2 << 20,
) -> bytes:
    """Return what the program ``arguments[0]`` (an absolute path) prints for the content of ``source``.

    Raises
    ------
    BrokenMedia
        It took too long (by the clock or ``cpu_s`` of the processor), or printed more than ``output_bytes``.
    OSError
        The file cannot be read.
    """
    name = os.path.basename(arguments[0])
    settings = {
        "memory_bytes": memory_bytes,
        "file_bytes": 0,
        "cpu_s": cpu_s,
        "network": False,
        "program": list(arguments),
        "environment": _ENVIRONMENT,
    }
    end_s = time.monotonic() + timeout_s
    with source.open("rb") as file:
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", str(_CHILD)],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={**_ENVIRONMENT, "FORENSIX_CHILD": json.dumps(settings)},
            start_new_session=True,
        )
    try:
        output = _output(process, name, end_s, timeout_s, output_bytes)
        if _ran_out(process):
            raise BrokenMedia(f"{name} needed more than {cpu_s} s of the processor for this file and was stopped")
        return output
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def _ran_out(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the kernel ended a program for its time; at the hard limit it kills without a word."""
    try:
        return process.wait(timeout=1) in (-signal.SIGXCPU, -signal.SIGKILL)
    except subprocess.TimeoutExpired:
        return False


def _output(process: subprocess.Popen[bytes], name: str, end_s: float, timeout_s: float, output_bytes: int) -> bytes:
    pipe, out = process.stdout, bytearray()
    os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)  # type: ignore[arg-type]
        while True:
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not selector.select(left_s):
                raise BrokenMedia(f"{name} took longer than {timeout_s:g} s on this file and was stopped")
            chunk = pipe.read(1 << 16)  # type: ignore[union-attr]
            if not chunk:
                return bytes(out)
            out += chunk
            if len(out) > output_bytes:
                raise BrokenMedia(f"{name} printed more than {output_bytes >> 10} KB on this file and was stopped")
