"""A Dask cluster: the same results as here, whatever dies; nothing is read too far ahead, nothing left behind."""

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensix.errors import ForensixError, MissingExtra, UsageError
from forensix.executors import cluster, run
from tests.executors import acts
from tests.executors.clusters import Cluster

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two workers that nothing happens to."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as actual:
        actual.add(2)
        with distributed.Client(actual.address, set_as_default=False) as client:
            actual.wait(client, 2)
        yield actual


def test_the_same_results_by_address_and_by_client_and_both_workers_take_part(two: Cluster) -> None:
    here = sorted(done.value[0] for done in run(acts.add, 10, range(200), executor="here"))
    for _ in range(2):
        there = [done.value for done in run(acts.add, 10, range(200), executor=two.address, chunk=2)]
        assert sorted(value for value, _ in there) == here
        assert len({pid for _, pid in there}) == 2
    with distributed.Client(two.address, set_as_default=False) as client:
        there = [done.value for done in run(acts.add, 10, range(200), executor=client)]
        assert sorted(value for value, _ in there) == here
        assert client.status == "running", "it is the caller's"


def test_results_in_order_and_an_endless_input_is_read_as_far_as_needed(two: Cluster) -> None:
    taken = []

    def items() -> Iterator[int]:
        while True:
            taken.append(len(taken))
            yield taken[-1]

    results = run(acts.slow_first, 1.0, items(), executor=two.address, ordered=True, chunk=4)
    assert [next(results).value for _ in range(100)] == list(range(100))
    assert len(taken) <= 100 + 2 * 4 * 4
    results.close()
    taken.clear()
    results = run(acts.slow_first, 0.0, items(), executor=two.address, chunk=4)
    for n in range(1, 101):
        next(results)
        # Two chunks a worker, and what came with the last one.
        assert len(taken) <= n + 4 * 4 + 4
    results.close()


@pytest.mark.parametrize("n_bytes", [10, 3 << 20])
def test_what_is_common_is_unpacked_once_a_worker(two: Cluster, tmp_path: Path, n_bytes: int) -> None:
    common = acts.Loaded(str(tmp_path), n_bytes)
    results = sorted(done.value for done in run(acts.loaded, common, range(60), executor=two.address, chunk=2))
    assert results == list(range(n_bytes, n_bytes + 60))
    pids = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert len(pids) == len(set(pids)) == 2


def test_an_exception_ends_the_run_with_what_it_was(two: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="told"):
        list(run(acts.act, str(tmp_path), [1, "raise:told", 2], executor=two.address))
    with pytest.raises(UsageError, match="cannot be sent"):
        list(run(acts.add, (i for i in ()), [1], executor=two.address))


def test_leaving_or_interrupting_frees_the_cluster(two: Cluster, tmp_path: Path) -> None:
    results = run(acts.noted, str(tmp_path), iter(range(10_000)), executor=two.address, chunk=1)
    next(results)
    results.close()
    _quiet(tmp_path)
    # What a shell starts in the background ignores interrupts, and tests are started there too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    keyboard = threading.Timer(1.5, _thread.interrupt_main)
    keyboard.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(run(acts.noted, str(tmp_path), iter(range(10_000)), executor=two.address, chunk=1))
    finally:
        keyboard.join()
        signal.signal(signal.SIGINT, before)
    _quiet(tmp_path)
    begun = time.monotonic()
    assert len(list(run(acts.add, 0, range(4), executor=two.address))) == 4
    assert time.monotonic() - begun < 5


def _quiet(folder: Path) -> None:
    """Make sure that nothing is done any more, but for what was under way."""
    time.sleep(0.5)
    done = len(list(folder.iterdir()))
    time.sleep(0.7)
    assert len(list(folder.iterdir())) == done > 0


def test_addresses_at_which_nothing_is_are_told_at_once() -> None:
    begun = time.monotonic()
    for address, fields in [
        ("tcp://127.0.0.1:1", "Connection refused"),
        ("tcp://no-such-host.invalid:8786", ""),
        ("tcp://127.0.0.1:99999", "out of range"),
        ("tcp://127.0.0.1", "the port is missing"),
    ]:
        with pytest.raises(UsageError, match=f"no Dask scheduler answers at {address}: .*{fields}"):
            list(run(acts.add, 0, [1], executor=address))
    assert time.monotonic() - begun < 30


def test_what_answers_but_is_no_scheduler_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.setattr(cluster, "CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(UsageError, match=f"no Dask scheduler answers at {address}"):
            list(run(acts.add, 0, [1], executor=address))


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"pip install 'forensix\[cluster\]'"):
        list(run(acts.add, 0, [1], executor="tcp://127.0.0.1:1"))


def test_a_scheduler_that_dies_ends_the_run(tmp_path: Path) -> None:
    with Cluster(tmp_path) as actual:
        actual.add(1)
        results = run(acts.act, str(tmp_path), ["sleep:0.05"] * 400, executor=actual.address, chunk=2)
        values = [next(results).value for _ in range(10)]
        actual.scheduler.kill()
        begun = time.monotonic()
        with pytest.raises(ForensixError, match=r"scheduler is gone.*what was finished is kept"):
            for done in results:
                values.append(done.value)
        assert len(values) >= 10 and time.monotonic() - begun < 30


def test_a_client_that_is_closed_ends_the_run_in_a_sentence(two: Cluster, tmp_path: Path) -> None:
    client = distributed.Client(two.address, set_as_default=False)
    results = run(acts.act, str(tmp_path), ["sleep:0.05"] * 400, executor=client, chunk=2)
    next(results)
    client.close()
    with pytest.raises(ForensixError, match=r"client was closed.*what was finished is kept"):
        list(results)
    with pytest.raises(UsageError, match="this Dask client is closed: make another one"):
        list(run(acts.add, 0, [1], executor=client))


def test_a_cluster_without_workers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "NO_WORKERS_S", 1)
    with Cluster(tmp_path) as actual, pytest.raises(ForensixError, match="no worker for 1 s"):
        list(run(acts.add, 0, [1], executor=actual.address))


@pytest.mark.slow
def test_items_that_end_their_workers_are_given_up_and_those_beside_them_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "marks"
    folder.mkdir()
    items = [0, "once:a", 1, "die:1", *range(2, 20)]
    with Cluster(tmp_path, allowed_failures=1) as actual:
        actual.add(2, nanny=True)
        # A nanny whose worker dies while both are starting gives up, which is not what this is about.
        done = {
            results.index: results
            for results in run(acts.act_late, str(folder), items, executor=actual.address, chunk=4)
        }
    assert sorted(done) == list(range(len(items)))
    assert {index: results.lost for index, results in done.items() if results.lost} == {3: 2}
    assert [done[i].value for i in range(len(items)) if i != 3] == [item for item in items if item != "die:1"]


def test_a_result_that_gets_lost_between_client_and_scheduler_is_made_again(
    two: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, lost = distributed.Future.result, []

    def lose(future: distributed.Future, timeout: float | None = None) -> object:
        if not lost:
            lost.append(future)
            # As when the worker that holds it dies while it is fetched, and nobody hears of it again.
            future._state.reset()
            raise TimeoutError
        return result(future, timeout)

    monkeypatch.setattr(distributed.Future, "result", lose)
    monkeypatch.setattr(cluster, "IDLE_S", 1)
    results = list(run(acts.add, 1, range(20), executor=two.address, chunk=4))
    assert lost
    assert sorted(done.index for done in results) == list(range(20))
    assert sorted(done.value[0] for done in results) == list(range(1, 21))


@pytest.mark.slow
def test_workers_of_another_release_are_told(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import forensix\nforensix.__version__ = '0.0.1'\n")
    with Cluster(tmp_path) as actual:
        actual.add(1, path=[str(tmp_path)])
        with pytest.raises(UsageError, match=r"the worker tcp://\S+ runs forensix 0\.0\.1, and the caller"):
            list(run(acts.add, 0, [1], executor=actual.address))
