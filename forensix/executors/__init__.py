"""Run one function over many items: in this process, in threads of it, in worker processes, or on a Dask cluster.

    for done in run(function, common, items, executor=4):
        done.index, done.value

``function(common, item)`` is called once an item wherever it runs. Results come as they are ready, or in order; no
more is taken from ``items`` than what the workers can hold, so an endless input is fine. A worker that dies is replaced
and what it held is run again, what it was at with nothing beside it; an item that kills its worker twice comes back as
`Done` with ``lost`` instead of a value. An exception that the function raises ends the run.

What ``executor`` may be:

    None              worker processes, one a core, where there is enough to do; this process otherwise; threads
                      where the networks run beside the processor
    "here"            this process
    "processes", 4    worker processes: one a core, or so many
    "threads"         threads of this process, or "threads:16" for so many: they share each network, and what several
                      files ask of it at a time goes through it together
    "tcp://host:8786" the Dask scheduler there
    a Client          a ``dask.distributed`` client; workers must see the same files and run the same forensix
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from forensix import machine
from forensix.errors import UsageError
from forensix.executors.gate import Done, Gate

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["ENOUGH", "WORKER_BYTES", "Done", "check", "choose", "is_here", "processes", "run"]

ENOUGH = 32
"""Items from which on worker processes pay: starting one takes as long as analysing a few files."""

WORKER_BYTES = 2 << 30
"""Memory that a worker process with its models, and the decoder that it waits for, are counted with."""

_WINDOW = 16
_THREADS = re.compile(r"threads(?::([1-9]\d{0,3}))?")
_SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://", "inproc://")


def run(
    function: Callable[[Any, Any], Any],
    common: Any,
    items: Iterable[Any],
    *,
    executor: "int | str | Client | None" = None,
    ordered: bool = False,
    chunk: int = 8,
    apart: bool = False,
) -> Iterator[Done]:
    """Yield ``function(common, item)`` of every item.

    Parameters
    ----------
    function
        Importable by name in another process. ``common`` is sent to each worker once.
    executor
        See the module.
    ordered
        Yield in the order of the items; workers run ahead of the slowest item by a bounded number of items.
    chunk
        Items sent to a Dask worker at once. Worker processes answer item by item.
    apart
        Whether the work's networks run beside the processor, so that threads are the default.

    Raises
    ------
    UsageError
        The executor is none of those, or what is to be run cannot be sent to another process.
    MissingExtra
        A cluster is asked for and dask.distributed is not installed.
    ForensixError
        No workers are left, or they keep dying.
    """
    check(executor)
    executor, items = choose(executor, items, (function, common), apart=apart)
    return _run(function, common, enumerate(items), executor, ordered, chunk)


def check(executor: object) -> None:
    """Raise `UsageError` unless it is something to run on; nothing is started."""
    if executor is None or executor in ("here", "processes") or _is_threads(executor) or _is_client(executor):
        return
    if isinstance(executor, bool) or not isinstance(executor, int | str):
        raise UsageError(
            "executor is 'here', 'threads', 'processes', a number of processes, a scheduler's address or a"
            f" dask.distributed Client, not a {type(executor).__name__}"
        )
    if isinstance(executor, int):
        if executor < 1:
            raise UsageError(f"executor is a number of processes from 1 up, not {executor}")
    elif not executor.startswith(_SCHEMES):
        raise UsageError(
            f"executor {executor!r} is not known: name 'here', 'threads', 'threads:8', 'processes' or tcp://HOST:PORT"
        )


def is_here(executor: object) -> bool:
    """Return whether it runs on this machine, in one process or in several, and not on a cluster."""
    return executor is None or isinstance(executor, int) or executor in ("here", "processes") or _is_threads(executor)


def choose(
    executor: "int | str | Client | None",
    items: Iterable[Any],
    work: tuple[Callable[[Any, Any], Any], Any],
    *,
    apart: bool = False,
) -> "tuple[int | str | Client, Iterator[Any]]":
    """Return what the default means for these items, and the items: what was looked at is among them again.

    Work that cannot be sent to another process stays in this one, where nobody asked for others.
    """
    items = iter(items)
    if executor is None and apart:
        first = list(itertools.islice(items, 2))
        return ("threads" if len(first) == 2 else "here"), itertools.chain(first, items)
    if executor is None:
        first = list(itertools.islice(items, ENOUGH))
        n = processes() if len(first) == ENOUGH and _sendable(work) else 1
        return ("here" if n == 1 else n), itertools.chain(first, items)
    return (processes() if executor == "processes" else executor), items


def _sendable(work: tuple[Callable[[Any, Any], Any], Any]) -> bool:
    from forensix.executors.local import packed

    try:
        packed(work)
    except UsageError:
        return False
    return True


def processes() -> int:
    """Return how many worker processes suit what this one may use: one a core, fewer where memory is short."""
    cores, memory = machine.cores(), machine.free_bytes()
    return cores if memory is None else max(1, min(cores, memory // WORKER_BYTES))


def _run(
    function: Callable[[Any, Any], Any],
    common: Any,
    items: Iterator[tuple[int, Any]],
    executor: "int | str | Client",
    ordered: bool,
    chunk: int,
) -> Iterator[Done]:
    if executor == "here":
        return (Done(index, function(common, item)) for index, item in items)
    threads = _threads(executor)
    workers = executor if isinstance(executor, int) else threads
    gate = Gate(items, workers and _WINDOW * workers, ordered)
    if threads:
        from forensix.executors.threads import run_in_threads

        finished = run_in_threads(function, common, gate, threads)
    elif isinstance(executor, int):
        from forensix.executors.local import run_in_processes

        finished = run_in_processes(function, common, gate, executor)
    else:
        from forensix.executors.cluster import run_on_cluster

        finished = run_on_cluster(function, common, gate, executor, chunk)
    return _in_order(finished, gate) if ordered else finished


def _in_order(finished: Iterator[Done], gate: Gate) -> Iterator[Done]:
    waiting: dict[int, Done] = {}
    try:
        for done in finished:
            waiting[done.index] = done
            while gate.yielded in waiting:
                ready = waiting.pop(gate.yielded)
                gate.yielded += 1
                yield ready
    finally:
        finished.close()  # type: ignore[attr-defined]


def _is_threads(executor: object) -> bool:
    return isinstance(executor, str) and _THREADS.fullmatch(executor) is not None


def _threads(executor: object) -> int | None:
    """Return how many threads it asks for, None where it is something else."""
    match = _THREADS.fullmatch(executor) if isinstance(executor, str) else None
    if match is None:
        return None
    from forensix.executors.threads import files_in_flight

    return int(match[1]) if match[1] else files_in_flight()


def _is_client(executor: object) -> bool:
    return any(kind.__module__.split(".")[0] == "distributed" and kind.__name__ == "Client"
               for kind in type(executor).__mro__)  # fmt: skip
