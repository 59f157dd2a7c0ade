"""Threads: the same results as one after the other, in order where asked for, and nothing left when the run ends."""

import threading
import time
from collections.abc import Iterator

import pytest

from forensix.errors import UsageError
from forensix.executors import check, run
from tests.executors import acts


def test_the_same_results_in_order_from_several_threads():
    observed = set()

    def slow(common: int, item: int) -> int:
        observed.add(threading.current_thread().name)
        time.sleep(0.01 * (item % 3))
        return common + item

    actual = list(run(slow, 10, range(40), executor="threads:4", ordered=True))
    assert [done.index for done in actual] == list(range(40))
    assert [done.value for done in actual] == list(range(10, 50))
    assert 2 <= len(observed) <= 4 and threading.current_thread().name not in observed


def test_no_more_is_taken_than_fits():
    taken = []

    def items() -> Iterator[int]:
        for item in range(100_000):
            taken.append(item)
            yield item

    results = run(acts.slow_first, 0.5, items(), executor="threads:2", ordered=True)
    assert [next(results).value for _ in range(50)] == list(range(50))
    assert len(taken) < 200
    results.close()


def test_an_exception_ends_the_run_and_leaving_ends_the_threads(tmp_path):
    with pytest.raises(ValueError, match="told"):
        list(run(acts.act, str(tmp_path), [1, "raise:told", *range(50)], executor="threads:2"))
    results = run(acts.add, 0, iter(int, 1), executor="threads")
    next(results)
    results.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("forensix_")]


def test_they_are_the_default_of_several_items_where_networks_run_beside_the_processor():
    def where(common: None, item: int) -> str:
        return threading.current_thread().name

    assert all(done.value.startswith("forensix_") for done in run(where, None, range(2), apart=True))
    assert [done.value for done in run(where, None, [1], apart=True)] == [threading.current_thread().name]
    assert [done.value for done in run(where, None, range(2))] == [threading.current_thread().name] * 2


@pytest.mark.parametrize("executor", ["threads:0", "threads:-1", "threads:", "threads:many", "thread"])
def test_what_is_no_number_of_threads_is_refused(executor: str):
    with pytest.raises(UsageError, match="'threads:8'"):
        check(executor)
