"""Items are read ahead, in order, no more than allowed, and the reading ends with the reader."""

import threading
import time
from collections.abc import Iterator

import pytest

from forensix.media.ahead import read_ahead


def counted(n: int, seen: list[int], closed: threading.Event) -> Iterator[int]:
    try:
        for i in range(n):
            seen.append(i)
            yield i
    finally:
        closed.set()


def test_items_come_in_order_and_no_more_than_allowed_are_fetched() -> None:
    observed: list[int] = []
    items = read_ahead(counted(20, observed, threading.Event()), 3)
    assert next(items) == 0
    time.sleep(0.3)
    assert 3 <= len(observed) <= 5
    assert list(items) == list(range(1, 20))


def test_leaving_early_ends_the_thread_and_closes_the_source() -> None:
    closed = threading.Event()
    before = threading.active_count()
    items = read_ahead(counted(1000, [], closed), 2)
    next(items)
    items.close()
    assert closed.is_set() and threading.active_count() == before


def test_an_error_comes_after_the_items_before_it() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    items = read_ahead(broken(), 4)
    assert next(items) == 1
    with pytest.raises(ValueError, match="broken"):
        next(items)
