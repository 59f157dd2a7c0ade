"""The child may crash, hang, swell, talk and lie; the parent gets one sentence, and nothing stays behind."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from forensix.errors import BrokenMedia, LimitExceeded, ReadingStopped, UsageError
from forensix.media.sandbox import call, stream
from forensix.media.template import TEMPLATE

TARGETS = "tests.media.targets:"
ROOT = Path(__file__).parents[2]
FRESH = "from forensix.media.template import TEMPLATE; TEMPLATE.fork = lambda *_: None"


@pytest.fixture(
    params=["fresh", pytest.param("forked", marks=pytest.mark.skipif(sys.platform != "linux", reason="forks nothing"))],
    autouse=True,
)
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every guarantee holds of both kinds of children."""
    if request.param == "fresh":
        monkeypatch.setattr(TEMPLATE, "fork", lambda *_: None)
    return str(request.param)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie that init has yet to reap counts as gone.
    status = Path(f"/proc/{pid}/status")
    return not (status.exists() and "State:\tZ" in status.read_text())


def wait_gone(pid: int, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not _is_alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_values_cross_unchanged() -> None:
    values = [None, True, 3, -1.5, "ä\n\0", b"\0\xff", [], {}, [1, [2]], {"a": {"b": [b"x"]}}, {"$": "bytes", "at": 7}]
    assert call(TARGETS + "echo", *values) == values


@pytest.mark.parametrize("dtype", ["u1", "i2", "<i8", "f4", "f8", "?"])
def test_arrays_cross_with_shape_and_type(dtype: str) -> None:
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)[:, ::-1]
    (back,) = call(TARGETS + "echo", array)
    assert back.dtype == array.dtype
    assert back.flags.writeable
    np.testing.assert_array_equal(back, array)


def test_large_arguments_do_not_deadlock() -> None:
    (back,) = call(TARGETS + "echo", b"x" * (20 << 20))
    assert len(back) == 20 << 20


def test_objects_do_not_cross() -> None:
    with pytest.raises(TypeError, match="set cannot cross"):
        call(TARGETS + "echo", {1, 2})
    with pytest.raises(TypeError, match="ndarray cannot cross"):
        call(TARGETS + "echo", np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="not finite"):
        call(TARGETS + "echo", float("inf"))
    with pytest.raises(BrokenMedia, match="not finite"):
        call(TARGETS + "not_finite")


def test_stream_yields_everything_in_order() -> None:
    assert list(stream(TARGETS + "count", 1000)) == list(range(1000))


def test_our_errors_come_back_as_they_were() -> None:
    with pytest.raises(LimitExceeded) as caught:
        call(TARGETS + "raise_ours")
    assert str(caught.value) == "clip.mp4 runs for 99 minutes; the limit is 30"


def test_other_errors_become_one_sentence() -> None:
    with pytest.raises(BrokenMedia) as caught:
        call(TARGETS + "raise_other")
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value).partition("first line")[0]


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("crash", "crashed on this file \\(SIGSEGV\\)"),
        ("nonsense", "was corrupted by it"),
        ("no_such_function", "could not be read"),
    ],
)
def test_a_child_that_dies_or_lies_is_broken_media(target: str, sentence: str) -> None:
    with pytest.raises(BrokenMedia, match=sentence):
        call(TARGETS + target, timeout_s=20)


def test_what_the_system_ends_is_told_from_what_the_file_does() -> None:
    """As it ends what takes most of the memory where that runs out."""
    with pytest.raises(ReadingStopped, match="the system killed what read this file"):
        call(TARGETS + "kill_itself", timeout_s=20)
    # As what cannot be loaded or started there does: a file that nobody touched was called malformed for it.
    with pytest.raises(ReadingStopped, match="ended without a result"):
        call(TARGETS + "leave", timeout_s=20)
    with pytest.raises(BrokenMedia) as crashed:
        call(TARGETS + "crash", timeout_s=20)
    assert not isinstance(crashed.value, ReadingStopped)


@pytest.mark.parametrize("target", ["sleep", "spin", "flood_stderr"])
def test_time_out_ends_the_child(target: str) -> None:
    start = time.monotonic()
    with pytest.raises(ReadingStopped, match=r"took longer than 0\.7 s"):
        call(TARGETS + target, timeout_s=0.7)
    assert time.monotonic() - start < 3


def test_time_out_counts_waiting_not_the_consumer() -> None:
    items = stream(TARGETS + "count", 3, timeout_s=1.5)
    assert next(items) == 0
    time.sleep(2)
    assert list(items) == [1, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces RLIMIT_AS")
def test_memory_is_bounded() -> None:
    with pytest.raises(ReadingStopped, match="more than 512 MB of memory"):
        call(TARGETS + "swell", memory_bytes=512 << 20)


def test_files_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(BrokenMedia, match="too large"):
        call(TARGETS + "write_file", str(tmp_path / "x"))
    assert (tmp_path / "x").stat().st_size == 0
    assert call(TARGETS + "write_file", str(tmp_path / "y"), file_bytes=100) == 4


def test_open_files_are_bounded() -> None:
    with pytest.raises(BrokenMedia, match=r"[Tt]oo many open files"):
        call(TARGETS + "open_many", __file__)


def test_network_and_programs_are_off(listener) -> None:
    assert "PermissionError" in call(TARGETS + "connect", "127.0.0.1", listener.port)
    assert "PermissionError" in call(TARGETS + "run_program")
    assert listener.contacts == 0


def test_the_downloader_reaches_no_private_address(listener) -> None:
    for host in ("127.0.0.1", "localhost", "2130706433", "0.0.0.0"):
        answer = call(TARGETS + "connect", host, listener.port, network=True)
        assert answer.startswith("PermissionError: a private address"), (host, answer)
    assert "PermissionError" in call(TARGETS + "run_program", network=True)
    assert listener.contacts == 0


def test_environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    monkeypatch.setenv("SOME_SECRET", "hunter2")
    actual = call(TARGETS + "environment")
    assert not {"HTTPS_PROXY", "SOME_SECRET", "HOME", "FORENSIX_CHILD"} & set(actual["variables"])
    assert "torch" not in actual["modules"]


def test_the_child_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert call(TARGETS + "talk") == "value"
    assert capfd.readouterr() == ("", "")


def test_leaving_early_kills_the_child() -> None:
    items = stream(TARGETS + "endless", 1 << 20)
    pid = next(items)[0]
    assert _is_alive(pid)
    items.close()
    assert wait_gone(pid)


def test_nothing_starts_before_the_first_item() -> None:
    before = set(Path("/proc").glob("[0-9]*")) if Path("/proc").exists() else set()
    items = stream("no.such.module:function")
    del items
    assert not [p for p in set(Path("/proc").glob("[0-9]*")) - before if b"media/child.py" in _command(p)]


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("target", ["pid_then_sleep", "hold_the_gil"])
def test_no_orphan_survives_a_killed_parent(target: str, start: str) -> None:
    script = textwrap.dedent(f"""
        {FRESH if start == "fresh" else ""}
        import sys
        from forensix.media.sandbox import stream
        items = stream("{TARGETS}{target}", timeout_s=600)
        print(next(items), flush=True)
        next(items)
    """)
    # No main guard, as in a notebook.
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert wait_gone(pid, 10)


def test_without_the_limits_of_a_system_nothing_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(UsageError, match="WSL"):
        call(TARGETS + "echo", 1)


def test_starting_is_quick() -> None:
    call(TARGETS + "echo")
    took_s = []
    for _ in range(3):
        start = time.monotonic()
        call("os.path:basename", "/a/b")
        took_s.append(time.monotonic() - start)
    assert min(took_s) < 1
