"""Chunks of items on a Dask cluster, a bounded number at a time.

The scheduler runs a chunk again whose worker died. One that took as many workers with it as the scheduler allows
(``distributed.scheduler.allowed-failures``, 3 unless set) comes back; its items are then run one by one, after all
others and one at a time, so that only those that end a worker by themselves are given up.

One chunk runs at a time in a worker process, however many threads it has: start more workers of one thread each.
"""

import contextlib
import math
import pickle
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from forensix import __version__
from forensix.errors import ForensixError, MissingExtra, ModelError, UsageError
from forensix.executors import messages
from forensix.executors.gate import Done, Gate
from forensix.executors.local import packed

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 20
NO_WORKERS_S = 120
"""How long a cluster may be without any worker before the run is given up."""
RESULT_S = 30
"""Longest wait for a result that is there; its worker may have died with it, and it is then waited for once more."""
IDLE_S = 30
"""How long nothing may come while no worker is at work before what is under way is sent again."""

_LONGEST_GREETING = 1 << 20
_LOOK_S = 2.0
_COUNT_S = 1.0
_AHEAD = 2
_MOST_INLINE_BYTES = 1 << 16
"""What is larger goes to each worker once instead of with every chunk."""
_MOST_CANCELLED = 20
_Items = list[tuple[int, Any]]

_one_at_a_time = threading.Lock()


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
            _knock(client)
            try:
                client = distributed.Client(client, timeout=CONNECT_S, set_as_default=False)
            except (OSError, ValueError) as error:
                raise UsageError(f"no Dask scheduler answers at {executor}: {error or 'it took too long'}") from None
            stack.callback(client.close)
        elif client.asynchronous:
            raise UsageError("this Dask client is asynchronous: make one with asynchronous=False, or pass the address")
        elif client.status != "running":
            raise UsageError(f"this Dask client is {client.status}: make another one, or pass the scheduler's address")
        digest = sha256(message).hexdigest()
        if len(message) > _MOST_INLINE_BYTES:
            from forensix.executors.plugin import MessagePlugin

            client.register_plugin(MessagePlugin(digest, message), name=f"forensix-{digest}")
            stack.callback(_forget, client, f"forensix-{digest}")
            message = b""
        yield from _Run(client, (message, digest, __version__), gate, chunk).results()


def work(message: bytes, digest: str, release: str, items: _Items) -> list[tuple[int, Any]]:
    """Run a chunk on a worker: the function is unpacked once a process, and one chunk runs at a time in each."""
    if release != __version__:
        raise UsageError(f"the worker {_address()} runs forensix {__version__}, and the caller {release}")
    with _one_at_a_time:
        try:
            if digest not in messages.UNPACKED:
                messages.UNPACKED.clear()
                messages.UNPACKED[digest] = pickle.loads(message or _received(digest))
            function, common = messages.UNPACKED[digest]
            return [(index, function(common, item)) for index, item in items]
        except (UsageError, ModelError) as error:
            # Of a model that is not there, for example: the one who asks may have it.
            raise type(error)(f"on the worker {_address()}: {error}") from None


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def _received(digest: str) -> bytes:
    """Return what was sent to all workers; one that has just come may get its first chunk before it."""
    deadline = time.monotonic() + CONNECT_S
    while digest not in messages.RECEIVED and time.monotonic() < deadline:
        time.sleep(0.05)
    return messages.RECEIVED[digest]


def _knock(address: str) -> None:
    """Refuse an address where nothing listens, or no scheduler: the client would wait there for long, or forever."""
    place = urlsplit(address)
    if place.scheme not in ("tcp", "tls"):
        return
    try:
        if not (place.hostname and place.port):
            raise ValueError("the port is missing")
        with socket.create_connection((place.hostname, place.port), CONNECT_S) as wire:
            # A scheduler speaks first, and says how long its greeting is.
            if place.scheme == "tcp" and not 0 < int.from_bytes(wire.recv(8), "little") < _LONGEST_GREETING:
                raise ValueError("what is there is no scheduler")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"no Dask scheduler answers at {address}: {reason}") from None


def _forget(client: "Client", plugin: str) -> None:
    with contextlib.suppress(Exception):
        client.unregister_worker_plugin(plugin)


class _Run:
    def __init__(self, client: "Client", work: tuple[bytes, str, str], gate: Gate, chunk: int) -> None:
        self._client, self._work, self._gate, self._chunk = client, work, gate, max(1, chunk)
        self._held: dict[Future[Any], _Items] = {}
        self._suspects: deque[tuple[int, Any]] = deque()
        self._alone: Future[Any] | None = None
        self._cancelled = 0
        self._workers = 0
        self._counted = -math.inf
        self._seen_workers = self._came = time.monotonic()

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
                if time.monotonic() - self._came > IDLE_S:
                    self._stir()
        finally:
            if self._held and self._client.status == "running":
                with contextlib.suppress(OSError):
                    self._client.cancel(list(self._held), force=True)

    def _room(self) -> int:
        now = time.monotonic()
        if now - self._counted > _COUNT_S:
            self._workers, self._counted = self._count(), now
        if self._workers:
            self._seen_workers = now
        elif now - self._seen_workers > NO_WORKERS_S:
            raise ForensixError(
                f"the Dask cluster has had no worker for {NO_WORKERS_S} s: start some and run this again; what was"
                " finished is kept"
            )
        room = _AHEAD * max(1, self._workers)
        # What is ordered may come back from any of them, so all that is under way has to fit the window.
        self._gate.window = 2 * self._chunk * room
        return room

    def _count(self) -> int:
        # A client that was closed has forgotten its scheduler.
        if self._client.status != "running":
            raise self._gone()
        try:
            return len(self._client.nthreads())
        except OSError:
            raise self._gone() from None

    def _send(self, items: _Items) -> "Future[Any]":
        # The same call may have been cancelled a moment ago: never share its key.
        if self._client.status != "running":
            raise self._gone()
        try:
            future = self._client.submit(work, *self._work, items, pure=False, retries=0)
        except OSError:
            raise self._gone() from None
        self._held[future] = items
        return future

    def _finished(self) -> "list[Future[Any]]":
        from distributed import CancelledError, wait

        with contextlib.suppress(TimeoutError, CancelledError), self._client.as_current():
            wait(list(self._held), timeout=_LOOK_S, return_when="FIRST_COMPLETED")
        if self._client.status != "running":
            raise self._gone()
        # What is lost was finished, on a worker that then died: the scheduler has it run again.
        return [future for future in self._held if future.status not in ("pending", "lost")]

    def _settled(self, future: "Future[Any]", items: _Items) -> Iterator[Done]:
        from distributed import CancelledError, KilledWorker

        try:
            outcome = future.result(timeout=RESULT_S)
        except TimeoutError:
            self._held[future] = items
            return
        except KilledWorker as error:
            if future is self._alone:
                yield Done(items[0][0], lost=1 + error.allowed_failures)
            else:
                self._suspects += items
        except CancelledError:
            if self._client.status != "running":
                raise self._gone() from None
            # By a restart of the cluster, for example; the items are still ours.
            self._cancelled += 1
            if self._cancelled > _MOST_CANCELLED:
                sentence = "the Dask cluster keeps cancelling what it is sent; what was finished is kept"
                raise ForensixError(sentence) from None
            self._send(items)
        except RuntimeError:
            # A client that was closed between two results has no loop to ask for the next one.
            if self._client.status != "running":
                raise self._gone() from None
            raise
        else:
            for index, value in outcome:
                yield Done(index, value)
        self._came = time.monotonic()

    def _stir(self) -> None:
        """Send again what is under way, if no worker is at it: client and scheduler disagree about where it is."""
        try:
            busy = self._workers == 0 or any(self._client.processing().values())
        except OSError:
            raise self._gone() from None
        self._came = time.monotonic()
        if busy:
            return
        lost, self._held = self._held, {}
        self._client.cancel(list(lost), force=True)
        for future, items in lost.items():
            again = self._send(items)
            if future is self._alone:
                self._alone = again

    @staticmethod
    def _gone() -> ForensixError:
        return ForensixError(
            "the Dask scheduler is gone, or the client was closed: start it and run this again; what was finished is"
            " kept"
        )
