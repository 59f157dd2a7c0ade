"""Children are forked from a process of one thread that holds nothing of ours, and that may die at any time."""

import contextlib
import os
import signal
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forensix.errors import BrokenMedia, ReadingStopped
from forensix.media import sandbox, template
from forensix.media.sandbox import call, stream
from forensix.media.template import TEMPLATE
from forensix.metadata.child import READERS
from tests.media.test_sandbox import wait_gone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks nothing")
TARGETS = "tests.media.targets:"
DECODERS = ("media.images", "media.streams", "media.paper", "forensics.traces.pixels", "perturb.video")


def template_pid() -> int:
    """Return the number of the process that children are forked from, which is their parent."""
    return int(call("os:getppid"))


def test_it_is_one_process_of_one_thread_whatever_it_has_loaded() -> None:
    modules = [*(f"forensix.{name}" for name in DECODERS), *READERS.values(), "numpy", "jpeglib"]
    loaded = call(TARGETS + "environment", modules=modules)["modules"]
    assert set(modules) <= set(loaded) and "torch" not in loaded
    pid = template_pid()
    assert pid == template_pid() != os.getpid()
    assert len(os.listdir(f"/proc/{pid}/task")) == 1


def test_it_may_open_few_files_since_each_child_closes_all_that_may_be_open() -> None:
    """Where a container allows any number of them, a Python that closes one by one would be long at it."""
    limits = Path(f"/proc/{template_pid()}/limits").read_text().splitlines()
    (files,) = [line for line in limits if line.startswith("Max open files")]
    assert int(files.split()[3]) <= 4096


def test_it_is_told_modules_and_never_what_the_function_gets(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"")
    assert call("os.path:getsize", str(path)) == 0
    memory = Path(f"/proc/{template_pid()}/mem")
    with memory.open("rb") as pages, Path(f"/proc/{template_pid()}/maps").open() as maps:
        for line in maps:
            first, last = (int(part, 16) for part in line.split()[0].split("-"))
            if "rw" in line.split()[1]:
                pages.seek(first)
                assert str(path).encode() not in pages.read(last - first)


@pytest.mark.parametrize("ask", [sandbox.prepare, lambda modules: call("os:getpid", then=modules)])
def test_it_loads_what_the_next_child_will_want_while_nothing_is_asked(ask: Callable[[list[str]], object]) -> None:
    TEMPLATE.close()
    ask(["no.such.module", "colorsys", "tabnanny"])
    end_s = time.monotonic() + 30
    while not {"colorsys", "tabnanny"} <= set(call(TARGETS + "environment")["modules"]):
        assert time.monotonic() < end_s
    assert "torch" not in call(TARGETS + "environment")["modules"]


def test_children_cannot_reach_it_nor_each_other() -> None:
    with_another = stream(TARGETS + "endless", 16)
    next(with_another)
    # The streams, the lifeline, the answer pipe, and the folder that is listed.
    assert call("os:listdir", "/proc/self/fd") == ["0", "1", "2", "3", "4", "5"]
    with_another.close()


def test_a_child_that_comes_after_one_that_died_knows_nothing_of_it() -> None:
    with pytest.raises(BrokenMedia, match="SIGSEGV"):
        call(TARGETS + "crash")
    assert call(TARGETS + "count_calls") == call(TARGETS + "count_calls") == 1


def test_it_is_started_again_when_it_has_ended() -> None:
    pid = template_pid()
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert template_pid() != pid


def test_children_end_with_it() -> None:
    items = stream(TARGETS + "pid_then_sleep")
    next(items)
    os.kill(template_pid(), signal.SIGKILL)
    with pytest.raises(ReadingStopped, match="the system killed"):
        next(items)


def test_a_child_that_it_left_behind_is_ended() -> None:
    items = stream(TARGETS + "hold_the_gil")
    pid = next(items)
    os.kill(template_pid(), signal.SIGKILL)
    items.close()
    assert wait_gone(pid, 10)


def test_where_it_cannot_start_children_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    TEMPLATE.close()
    monkeypatch.setattr("forensix.media.template._SCRIPT", Path("/no/such/file.py"))
    assert template_pid() == os.getpid()


def test_where_no_process_may_start_that_is_said_and_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container limits how many there are: the second child finds no place, the first and the third do."""
    full = """
        import os, runpy
        fork, asked = os.fork, []
        def may_fail():
            asked.append(1)
            if len(asked) == 2:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            return fork()
        os.fork = may_fail
    """
    script = tmp_path / "full.py"
    script.write_text(f"{textwrap.dedent(full)}runpy.run_path({str(template._SCRIPT)!r}, run_name='__main__')\n")
    TEMPLATE.close()
    monkeypatch.setattr(template, "_SCRIPT", script)
    with contextlib.closing(stream(TARGETS + "endless", 16)) as first:
        next(first)
        with pytest.raises(ReadingStopped, match="no further process or thread"):
            call(TARGETS + "count_calls")
        next(first)
        assert call(TARGETS + "count_calls") == 1
    TEMPLATE.close()


def test_many_threads_share_it() -> None:
    answers: list[object] = []
    threads = [threading.Thread(target=lambda i=i: answers.extend(call(TARGETS + "echo", i))) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(8))


def test_a_fork_of_this_process_has_one_of_its_own() -> None:
    pid = template_pid()
    read, write = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(write, b"other" if template_pid() != pid else b"same")
            TEMPLATE.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 5) == b"other"
    assert template_pid() == pid
    assert sandbox.call(TARGETS + "echo", 1) == [1]
