"""Start sandboxed children by forking a process that has loaded their modules, which saves each an interpreter.

The template is a fresh interpreter of its own and no fork of this process, so a child has nothing of the caller. The
template loads the modules that a request names and never sees its arguments; a child takes its limits before it reads
those. Linux only: elsewhere system libraries may not be forked, and every child is a fresh interpreter.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forensix.interpreter import import_path
from forensix.media.template_child import MAX_MESSAGE_BYTES

_SCRIPT = Path(__file__).with_name("template_child.py")
_START_S, _END_S = 30.0, 1.0


class Forked:
    """A child of the template; speaks as `subprocess.Popen` does, so far as the sandbox asks."""

    def __init__(self, template: socket.socket, settings: Mapping[str, Any]) -> None:
        pipes = [os.pipe() for _ in range(4)]
        ours = [pipes[0][1], pipes[1][0], pipes[2][0], pipes[3][1]]
        theirs = [pipes[0][0], pipes[1][1], pipes[2][1], pipes[3][0]]
        self._control, control = socket.socketpair()
        try:
            socket.send_fds(template, [json.dumps(settings).encode()], [*theirs, control.fileno()])
        except BaseException:
            self._control.close()
            for descriptor in ours:
                os.close(descriptor)
            raise
        finally:
            control.close()
            for descriptor in theirs:
                os.close(descriptor)
        self.returncode: int | None = None
        self.stdin, self.stdout, self.stderr = (
            os.fdopen(descriptor, mode, buffering=0)
            for descriptor, mode in zip(ours[:3], ("wb", "rb", "rb"), strict=True)
        )
        self._lifeline = ours[3]

    def wait(self, timeout: float | None = None) -> int:
        """Return how it ended, as `subprocess.Popen.wait` does; where the template died too, as if it was killed."""
        if self.returncode is None:
            self._control.settimeout(timeout)
            try:
                code = self._control.recv(4)
            except TimeoutError:
                raise subprocess.TimeoutExpired("forensix", timeout or 0) from None
            except OSError:
                code = b""
            self.returncode = int.from_bytes(code, "little", signed=True) if code else -signal.SIGKILL
            self._control.close()
        return self.returncode

    def end(self) -> None:
        """Have it killed with its process group; harmless when it is gone. The template, which may be loading modules,
        is not waited for."""
        self._control.close()
        # Where the template died first, nobody else ends it.
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)


class _Template:
    """The process, started when it is first needed, and the socket to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._ready = False

    def prepare(self, environment: Mapping[str, str], modules: Sequence[str]) -> None:
        """Start the process, if there can be one, and have it load modules, without waiting until it has."""
        with self._lock, contextlib.suppress(OSError):
            if sys.platform == "linux" and self._socket is None:
                self._start(environment)
            if modules and self._socket is not None:
                self._socket.send(json.dumps({"modules": list(modules)}).encode())

    def fork(self, settings: Mapping[str, Any], environment: Mapping[str, str]) -> Forked | None:
        """Return a child with these settings; none where there can be none."""
        if sys.platform != "linux" or len(json.dumps(settings)) >= MAX_MESSAGE_BYTES:
            return None
        with self._lock:
            # Once more where the template has ended since.
            for _ in range(2):
                try:
                    if self._socket is None:
                        self._start(environment)
                    self._await()
                    return Forked(self._socket, settings)  # type: ignore[arg-type]
                except OSError:
                    self._drop()
        return None

    def _start(self, environment: Mapping[str, str]) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", "-X", "utf8", str(_SCRIPT)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={**environment, "FORENSIX_CHILD": json.dumps({"path": import_path()})},
                start_new_session=True,
            )
        self._ready = False

    def _await(self) -> None:
        if self._ready or self._socket is None:
            return
        self._socket.settimeout(_START_S)
        if not self._socket.recv(1):
            raise OSError("the template ended before it began")
        self._socket.settimeout(None)
        self._ready = True

    def _drop(self) -> None:
        """End the template, which ends its children."""
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            try:
                self._process.wait(_END_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = self._socket = None

    def leave(self) -> None:
        """In a fork of this process: leave the template to the process that started it."""
        self._lock = threading.Lock()
        if self._process is not None and self._socket is not None:
            self._socket.close()
            # It is nobody to wait for.
            self._process.returncode = 0
        self._process = self._socket = None

    def close(self) -> None:
        """End the template; only then are its time and memory, and its children's, counted for this process."""
        with self._lock:
            self._drop()


TEMPLATE = _Template()
atexit.register(TEMPLATE.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TEMPLATE.leave)
