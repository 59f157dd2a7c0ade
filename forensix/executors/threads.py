"""Threads of this process: they share each network, through which what they ask for goes together.

That fills the batches of a device beside the processor, which one file alone seldom does; see
`forensix.models.joining`. Decoding runs in processes of its own in any case. Python itself runs in one thread at a
time, so worker processes are faster where networks run on the processor, and what brings one down brings down all.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from forensix import machine
from forensix.executors.gate import Done, Gate

_A_CORE, _MOST = 4, 16
_AT_ONCE = 2


def files_in_flight() -> int:
    """Return how many threads suit this machine: four a core, since most wait, and 16 at most, for memory's sake."""
    return min(_MOST, _A_CORE * machine.cores())


def run_in_threads(function: Callable[[Any, Any], Any], common: Any, gate: Gate, n: int) -> Iterator[Done]:
    """Yield results as they come; see `forensix.executors.run`. Leaving the iteration waits for what is at work."""
    futures: dict[Future[Any], int] = {}
    pool = ThreadPoolExecutor(n, thread_name_prefix="forensix")
    try:
        while True:
            for index, item in gate.take(_AT_ONCE * n - len(futures)):
                futures[pool.submit(function, common, item)] = index
            if not futures:
                return
            for done in wait(futures, return_when=FIRST_COMPLETED).done:
                yield Done(futures.pop(done), done.result())
    finally:
        pool.shutdown(cancel_futures=True)
