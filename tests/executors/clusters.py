"""A Dask scheduler and workers as a person starts them: a process each, on this machine, ended for sure."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

_IDLE = "--idle-timeout", "180"  # where the tests themselves were killed


class Cluster:
    """Use it in a ``with`` statement; ``workers`` are the processes in the order of their start."""

    def __init__(self, folder: Path, *, allowed_failures: int | None = None) -> None:
        self._folder = folder
        self._settings = {} if allowed_failures is None else {
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)
        }  # fmt: skip
        self.address = f"tcp://127.0.0.1:{_free_port()}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", *_IDLE)
        _until(lambda: _answers(int(port)), self.log)
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._all):
            # The whole group: a nanny has a worker of its own.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def add(
        self, n: int = 1, *, nanny: bool = False, path: list[str] | None = None, folder: Path | None = None
    ) -> None:
        """Start workers of one thread in ``folder``; ``path`` comes before what Python finds its modules in."""
        for _ in range(n):
            options = ["--nthreads", "1", "--no-dashboard", "--memory-limit", "0", "--death-timeout", "30"]
            options += ["--nanny" if nanny else "--no-nanny", "--local-directory", str(self._folder)]
            self.workers.append(self._start("worker", self.address, *options, path=path or [], folder=folder))

    def wait(self, client: Any, n: int) -> None:
        """Return when there are so many workers."""
        _until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) >= n, self.log)

    def log(self) -> str:
        """Return what the processes said."""
        return "".join(path.read_text(errors="replace")[-3000:] for path in sorted(self._folder.glob("*.log")))

    def _start(
        self, kind: str, *options: str, path: Sequence[str] = (), folder: Path | None = None
    ) -> "subprocess.Popen[bytes]":
        environment = os.environ | self._settings | {"PYTHONPATH": os.pathsep.join([*path, *sys.path])}
        with open(self._folder / f"{kind}-{len(self._all)}.log", "wb") as log:
            process = subprocess.Popen(
                # As the script ``dask`` does it: modules of the folder it is started in are none of its own.
                [sys.executable, "-P", "-m", f"distributed.cli.dask_{kind}", *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
                start_new_session=True,
            )
        self._all.append(process)
        return process


def _until(true: Any, log: Any) -> None:
    deadline = time.monotonic() + 60
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"the cluster is not up after a minute:\n{log()}")
        time.sleep(0.05)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as actual:
        actual.bind(("127.0.0.1", 0))
        return int(actual.getsockname()[1])
