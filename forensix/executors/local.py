"""Worker processes on this machine: fresh interpreters, so that scripts without a main guard and notebooks work.

Nothing beside the evidence runs in them: see `forensix.interpreter`, and `forensix.executors.caller_modules` for what
may. Each works in a folder of its own, so give what is to be run absolute paths. Temporary files lie there too, and the
folder goes when the worker is gone, also one that is ended amid an item: copies of evidence do not stay behind.

Each holds the function and what it loads for as long as the run lasts, and has one item at work and one waiting. They
answer item by item, so when one dies it is known which item it was at. That one is tried again once nothing else is at
work: where memory runs out, the system ends whichever process it likes.
"""

import contextlib
import os
import pickle
import signal
import socket
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from forensix import interpreter, machine
from forensix.errors import ForensixError, UsageError
from forensix.executors import caller_modules
from forensix.executors.child import NO_THREAD
from forensix.executors.gate import Done, Gate

MOST_DEATHS = 2
"""Workers that an item may take with it before it is given up."""

_AT_ONCE = 2
_DEATHS_IN_A_ROW = 20
_KILLED = f"by signal {int(signal.SIGKILL)}"
HINT = "name components by entry point, or pass executor='here'"


def run_in_processes(function: Callable[[Any, Any], Any], common: Any, gate: Gate, n: int) -> Iterator[Done]:
    """Yield results as they come; see `forensix.executors.run`. Leaving the iteration ends the processes."""
    work = packed((function, common))
    message = pickle.dumps((caller_modules.needed(work), work))
    again: deque[tuple[int, Any]] = deque()
    alone: deque[tuple[int, Any]] = deque()
    deaths: dict[int, int] = {}
    in_a_row = 0
    workers: list[_Worker] = []
    try:
        while True:
            _feed(workers, again, gate, message, n)
            if alone and not any(worker.held for worker in workers):
                # What the others hold goes as well: memory that they took may have been the cause.
                while workers:
                    workers.pop().kill()
                workers.append(_Worker(message, machine.cores()))
                workers[0].give(*alone.popleft())
            busy = {worker.wire: worker for worker in workers if worker.held}
            if not busy:
                return
            for wire in wait(list(busy)):
                worker = busy[wire]  # type: ignore[index]
                try:
                    kind, index, value = worker.wire.recv()
                except (EOFError, OSError):
                    workers.remove(worker)
                    status = worker.kill(wait_s=1.0)
                    in_a_row += 1
                    if in_a_row >= _DEATHS_IN_A_ROW:
                        raise ForensixError(
                            f"worker processes keep dying ({status}): start fewer, or give them more memory; what was"
                            " finished is kept"
                        ) from None
                    blamed = worker.held.popleft() if worker.ready else None
                    again.extendleft(reversed(worker.held))
                    if blamed is None:
                        continue
                    index = blamed[0]
                    deaths[index] = deaths.get(index, 0) + 1
                    if deaths[index] < MOST_DEATHS:
                        alone.append(blamed)
                    else:
                        yield Done(index, lost=deaths.pop(index), killed=status == _KILLED)
                    continue
                if kind == "ready":
                    worker.ready = True
                elif kind == "refused":
                    raise UsageError(f"the worker processes cannot use what they were sent ({value}): {HINT}")
                elif kind == "raised":
                    raise value
                else:
                    in_a_row = 0
                    worker.held.popleft()
                    deaths.pop(index, None)
                    # Before the caller looks at the result, so that nobody waits for that.
                    _feed(workers, again, gate, message, n)
                    yield Done(index, value)
    finally:
        for worker in workers:
            worker.kill()


class _Worker:
    """One process, its folder and what it was given: the first of ``held`` is at work."""

    def __init__(self, message: bytes, threads: int) -> None:
        ours, theirs = socket.socketpair()
        self.held: deque[tuple[int, Any]] = deque()
        self.ready = False
        self._folder = tempfile.TemporaryDirectory(prefix="forensix-", ignore_cleanup_errors=True)
        environment = interpreter.environment() | {"TMPDIR": self._folder.name}
        environment.setdefault("OMP_NUM_THREADS", str(threads))
        with theirs:
            self._process = subprocess.Popen(
                interpreter.command("forensix.executors.child", str(theirs.fileno()), self._folder.name),
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=environment,
                cwd=self._folder.name,
                # An interrupt from the terminal is for the parent, which then ends its workers.
                start_new_session=True,
            )
        self.wire = Connection(ours.detach())
        # A child that ends at once is noticed when its answer is waited for.
        with contextlib.suppress(OSError):
            self.wire.send_bytes(message)

    def give(self, index: int, item: Any) -> None:
        """Send an item."""
        self.held.append((index, item))
        with contextlib.suppress(OSError):
            self.wire.send((index, item))

    def kill(self, *, wait_s: float = 0.0) -> str:
        """End the process, delete its folder and return in words how it ended.

        One that ends by itself has ``wait_s`` to say why.
        """
        try:
            status = self._process.wait(wait_s)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            status = self._process.wait()
        self.wire.close()
        self._folder.cleanup()
        if status == NO_THREAD:
            return "the system lets no further thread start"
        return f"by signal {-status}" if status < 0 else f"with status {status}"


def packed(work: tuple[Callable[[Any, Any], Any], Any]) -> bytes:
    """Return a function and what it needs as bytes, by value where they are defined in a notebook.

    Raises
    ------
    UsageError
        It holds something that cannot leave this process.
    """
    pickler: Any = pickle
    with contextlib.suppress(ImportError):
        # Comes with dask; sends what a notebook or script defines itself.
        import cloudpickle  # type: ignore[import-untyped]

        pickler = cloudpickle
    try:
        pickled = bytes(pickler.dumps(work))
        if pickler is pickle and b"__main__" in pickled:
            raise TypeError("it is defined in a notebook or script, not in a module")
        return pickled
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(f"this cannot be sent to other processes ({error}): {HINT}") from None


def _feed(workers: list[_Worker], again: deque[tuple[int, Any]], gate: Gate, message: bytes, n: int) -> None:
    """Give every worker what it has room for, and start those that are missing."""
    for depth in range(1, _AT_ONCE + 1):
        for worker in workers:
            if len(worker.held) < depth and (item := _next(again, gate)):
                worker.give(*item)
        while depth == 1 and len(workers) < n and (item := _next(again, gate)):
            workers.append(_Worker(message, max(1, machine.cores() // n)))
            workers[-1].give(*item)


def _next(again: deque[tuple[int, Any]], gate: Gate) -> tuple[int, Any] | None:
    return again.popleft() if again else next(iter(gate.take(1)), None)
