"""Worker processes: the same results as in this process, whatever dies."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forensix.errors import ForensixError, UsageError
from forensix.executors import ENOUGH, Done, local, run
from tests.executors import acts


def values(results: Iterator[Done]) -> list[object]:
    return [done.value for done in sorted(results, key=lambda done: done.index)]


def test_the_same_results_here_and_elsewhere_and_each_worker_takes_many() -> None:
    here = values(run(acts.add, 10, range(40), executor="here"))
    there = values(run(acts.add, 10, range(40), executor=2))
    assert [value for value, _ in here] == [value for value, _ in there] == list(range(10, 50))
    pids = {pid for _, pid in there}
    assert {pid for _, pid in here} == {os.getpid()}
    assert 1 <= len(pids) <= 2 and os.getpid() not in pids


def test_few_items_stay_in_this_process() -> None:
    assert {pid for _, pid in values(run(acts.add, 0, range(ENOUGH - 1)))} == {os.getpid()}


def test_results_in_order_and_no_more_taken_than_fits() -> None:
    taken = []

    def items() -> Iterator[int]:
        for item in range(100_000):
            taken.append(item)
            yield item

    results = run(acts.slow_first, 1.0, items(), executor=2, ordered=True)
    assert [next(results).value for _ in range(50)] == list(range(50))
    assert len(taken) < 200
    results.close()


def test_a_worker_that_dies_once_costs_nothing(tmp_path: Path) -> None:
    items = [0, 1, "once:a", 2, "once:b", *range(3, 12)]
    assert values(run(acts.act, str(tmp_path), items, executor=2)) == items


def test_an_item_that_kills_two_workers_is_given_up_and_the_others_are_not(tmp_path: Path) -> None:
    items = [0, "die:1", 1, 2, "die:2", *range(3, 12)]
    results = {done.index: done for done in run(acts.act, str(tmp_path), items, executor=2, ordered=True)}
    assert list(results) == list(range(len(items)))
    assert {index: done.lost for index, done in results.items() if done.lost} == {1: 2, 4: 2}
    assert [results[i].value for i in (0, 2, 3, 5)] == [0, 1, 2, 3]


def test_an_item_whose_worker_was_killed_for_what_others_held_is_tried_again_with_nothing_beside_it(
    tmp_path: Path,
) -> None:
    items = ["6", 1, 2, "6", 3, 4, 5, 6]
    assert values(run(acts.crowded, str(tmp_path), items, executor=2)) == items


def test_an_item_whose_workers_were_killed_is_said_to_have_met_the_end_of_memory_and_others_are_not(
    tmp_path: Path,
) -> None:
    (killed, *_) = run(acts.act, str(tmp_path), ["die:1"], executor=1)
    assert killed.killed and "as the system does where memory runs out" in killed.end
    assert "memory" not in Done(0, lost=2).end


def test_workers_killed_from_outside_are_replaced() -> None:
    actual, pids = [], set()
    for done in run(acts.add, 0, range(400), executor=2):
        actual.append(done.value[0])
        if len(actual) in (20, 200) and done.value[1] not in pids:
            pids.add(done.value[1])
            os.kill(done.value[1], signal.SIGKILL)
    assert sorted(actual) == list(range(400))
    assert pids


def test_workers_that_keep_dying_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_DEATHS_IN_A_ROW", 4)
    with pytest.raises(ForensixError, match=r"keep dying.*signal 9"):
        list(run(acts.act, str(tmp_path), [f"die:{i}" for i in range(9)], executor=1))


def test_workers_that_may_start_no_thread_end_the_run_in_words_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    refusing = (
        "import runpy, sys, threading; del sys.argv[0]\n"
        'def refuse(_): raise RuntimeError("can\'t start new thread")\n'
        "threading.Thread.start = refuse; runpy.run_module('forensix.executors.child', run_name='__main__')"
    )
    monkeypatch.setattr(local, "_DEATHS_IN_A_ROW", 2)
    monkeypatch.setattr(local.interpreter, "command", lambda *words: [sys.executable, "-c", refusing, *words])
    with pytest.raises(ForensixError, match=r"keep dying \(the system lets no further thread start\)"):
        list(run(acts.add, 0, [1], executor=1))
    assert capfd.readouterr().err == ""


def test_an_exception_ends_the_run_with_what_it_was(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="told"):
        list(run(acts.act, str(tmp_path), [1, "raise:told", 2], executor=1))
    with pytest.raises(RuntimeError, match="Unusual: not usual"):
        list(run(acts.unusual, None, [1], executor=1))


def test_large_items_and_results_do_not_block_each_other() -> None:
    items = [bytes(3_000_000 + i) for i in range(6)]
    assert [len(v) for v in values(run(acts.big, None, items, executor=1))] == [len(item) for item in items]


def test_what_cannot_be_sent_is_said() -> None:
    with pytest.raises(UsageError, match="executor='here'"):
        list(run(acts.add, (i for i in ()), [1], executor=1))


@pytest.mark.parametrize("executor", [0, -1, True, 1.5, "three", "localhost:8786", object()])
def test_wrong_executors_stop_at_once(executor: object) -> None:
    with pytest.raises(UsageError, match="executor"):
        run(acts.add, 0, [], executor=executor)  # type: ignore[arg-type]


def _living(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}/status").exists()
            and "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()]  # fmt: skip


def _wait_until(true: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return true()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_workers_end_with_their_parent_and_leave_nothing(tmp_path: Path) -> None:
    code = (
        "from tests.executors import acts\nfrom forensix.executors import run\n"
        "for done in run(acts.add, 0, iter(int, 1), executor=2):\n"
        "    print(done.value[1], flush=True)\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = sorted({int(parent.stdout.readline()) for _ in range(200)})
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert _wait_until(lambda: not _living(pids))
    # A worker that had not answered yet is not among them: it tidies up once it has loaded what it was sent.
    assert _wait_until(lambda: not list(tmp_path.iterdir()))


def test_leaving_early_ends_the_workers() -> None:
    results = run(acts.add, 0, iter(int, 1), executor=2)
    pids = sorted({next(results).value[1] for _ in range(50)})
    results.close()
    assert not _living(pids)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_each_worker_has_a_folder_of_its_own_which_goes_with_it_amid_an_item(temporary: Path) -> None:
    results = run(acts.copying, "sleep:60", [0, 1], executor=1)
    folder = Path(next(results).value)
    assert folder.parent == temporary
    assert _wait_until(lambda: bool(list(folder.rglob("copy"))))
    results.close()
    assert not list(temporary.iterdir())


def test_workers_that_die_leave_no_copies(temporary: Path) -> None:
    assert [done.lost for done in run(acts.copying, "die:", [1], executor=1)] == [2]
    assert not list(temporary.iterdir())


def test_workers_amid_an_item_leave_no_copies_when_their_parent_is_killed(temporary: Path) -> None:
    code = (
        "from tests.executors import acts\nfrom forensix.executors import run\n"
        "list(run(acts.copying, 'sleep:60', [1, 2], executor=2))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    assert _wait_until(lambda: len(list(temporary.rglob("copy"))) == 2)
    parent.kill()
    parent.wait()
    assert _wait_until(lambda: not list(temporary.iterdir()))
