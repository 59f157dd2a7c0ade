"""Chunks of items on a Dask cluster, a bounded number at a time.

The scheduler runs a chunk again whose worker died. One that took as many workers with it as the scheduler allows
(``distributed.scheduler.allowed-failures``, 3 unless set) comes back; its items are then run one by one, after all
others and one at a time, so that only those that end a worker by themselves are given up.
"""

import contextlib
import pickle
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from forensix.errors import ForensixError, MissingExtra, UsageError
from forensix.executors import Done, Gate
from forensix.executors.local import packed

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 20
NO_WORKERS_S = 120
"""How long a cluster may be without any worker before the run is given up."""

_LOOK_S = 2.0
_AHEAD = 2
_MOST_CANCELLED = 20
_Items = list[tuple[int, Any]]

_one_at_a_time = threading.Lock()
_unpacked: dict[str, Any] = {}


def run_on_cluster(
    function: Callable[[Any, Any], Any], common: Any, gate: Gate, executor: "Client | str", chunk: int
) -> Iterator[Done]:
    """Yield results as they come; see `forensix.executors.run`. Leaving the iteration cancels what is under way."""
    try:
        import distributed
    except ImportError:
        raise MissingExtra("a cluster needs dask.distributed: pip install 'forensix[cluster]'") from None
    message = packed((function, common))
    with contextlib.ExitStack() as stack:
        client = executor
        if isinstance(client, str):
            try:
                client = distributed.Client(client, timeout=CONNECT_S, set_as_default=False)
            except (OSError, ValueError) as error:
                raise UsageError(f"no Dask scheduler answers at {executor}: {error}") from None
            stack.callback(client.close)
        yield from _Run(client, message, gate, chunk).results()


def work(message: bytes, digest: str, items: _Items) -> list[tuple[int, Any]]:
    """Run a chunk on a worker: the function is unpacked once a process, and one chunk runs at a time in each."""
    with _one_at_a_time:
        if digest not in _unpacked:
            _unpacked.clear()
            _unpacked[digest] = pickle.loads(message)
        function, common = _unpacked[digest]
        return [(index, function(common, item)) for index, item in items]


class _Run:
    def __init__(self, client: "Client", message: bytes, gate: Gate, chunk: int) -> None:
        self._client, self._gate, self._chunk = client, gate, max(1, chunk)
        self._message, self._digest = message, sha256(message).hexdigest()
        self._held: dict[Future, _Items] = {}
        self._suspects: deque[tuple[int, Any]] = deque()
        self._alone: Future | None = None
        self._cancelled = 0
        self._seen_workers = time.monotonic()

    def results(self) -> Iterator[Done]:
        try:
            while True:
                room = self._room()
                while len(self._held) < room and (items := self._gate.take(self._chunk)):
                    self._send(items)
                if not self._held and self._suspects:
                    self._alone = self._send([self._suspects.popleft()])
                if not self._held:
                    return
                for future in self._finished():
                    yield from self._settled(future, self._held.pop(future))
        finally:
            if self._held and self._client.status == "running":
                self._client.cancel(list(self._held), force=True)

    def _room(self) -> int:
        threads = sum(self._client.nthreads().values()) if self._client.status == "running" else 0
        now = time.monotonic()
        if threads:
            self._seen_workers = now
        elif now - self._seen_workers > NO_WORKERS_S:
            raise ForensixError(
                f"the Dask cluster has had no worker for {NO_WORKERS_S} s: start some and run this again; what was"
                " finished is kept"
            )
        # What is ordered may come back from any of them, so all that is under way has to fit the window.
        self._gate.window = 2 * _AHEAD * self._chunk * max(1, threads)
        return _AHEAD * max(1, threads)

    def _send(self, items: _Items) -> "Future":
        # The same call may have been cancelled a moment ago: never share its key.
        future = self._client.submit(work, self._message, self._digest, items, pure=False, retries=0)
        self._held[future] = items
        return future

    def _finished(self) -> "list[Future]":
        from distributed import wait

        with contextlib.suppress(TimeoutError):
            wait(list(self._held), timeout=_LOOK_S, return_when="FIRST_COMPLETED")
        if self._client.status != "running":
            raise ForensixError("the Dask scheduler is gone: start it and run this again; what was finished is kept")
        return [future for future in self._held if future.status != "pending"]

    def _settled(self, future: "Future", items: _Items) -> Iterator[Done]:
        from distributed import CancelledError, KilledWorker

        try:
            found = future.result()
        except KilledWorker as error:
            if future is self._alone:
                yield Done(items[0][0], lost=1 + error.allowed_failures)
            else:
                self._suspects += items
        except CancelledError:
            # By a restart of the cluster, for example; the items are still ours.
            self._cancelled += 1
            if self._cancelled > _MOST_CANCELLED:
                told = "the Dask cluster keeps cancelling what it is sent; what was finished is kept"
                raise ForensixError(told) from None
            self._send(items)
        else:
            for index, value in found:
                yield Done(index, value)
