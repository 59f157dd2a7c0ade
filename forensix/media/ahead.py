"""Read an iterator ahead in a thread, so that decoding goes on while what was decoded is worked on."""

import queue
import threading
from collections.abc import Generator, Iterator
from typing import TypeVar

T = TypeVar("T")

_LOOK_S = 0.2


def read_ahead(items: Iterator[T], n: int) -> Generator[T, None, None]:
    """Yield the items in order while a thread fetches at most ``n`` more; leaving early ends the thread.

    What ``items`` raises is raised here, after the items before it.

    Examples
    --------
    >>> list(read_ahead(iter("abc"), 2))
    ['a', 'b', 'c']
    """
    waiting: queue.Queue[tuple[T] | BaseException | None] = queue.Queue(n)
    left = threading.Event()

    def put(what: tuple[T] | BaseException | None) -> bool:
        while not left.is_set():
            try:
                waiting.put(what, timeout=_LOOK_S)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                if not put((item,)):
                    break
        except BaseException as error:
            end = error
        finally:
            if isinstance(items, Generator):
                items.close()
        put(end)

    thread = threading.Thread(target=read, name="forensix-read-ahead", daemon=True)
    thread.start()
    try:
        while (ready := waiting.get()) is not None:
            if isinstance(ready, BaseException):
                raise ready
            yield ready[0]
    finally:
        left.set()
        thread.join()
