"""The warm child: what it answers, what it survives, and what ends it."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import forensix
from forensix.errors import UsageError, WeightsMissing
from forensix.service.work import analyst_child
from forensix.service.work.analyst import Analyst, Answer, Stopped
from forensix.service.work.memory import anonymous_bytes, descendants
from tests.service.running import REPOSITORY, wait_until
from tests.service.workshop import Gate, gate, png

GB = 1 << 30


@pytest.fixture(scope="module")
def analyst(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Analyst]:
    actual = Analyst(tmp_path_factory.mktemp("scratch"), time_s=60, memory_bytes=4 * GB)
    yield actual
    actual.close()


def ask(source: Path | str, **changes: Any) -> dict[str, Any]:
    request = {"source": str(source), "tasks": ["forensic_analysis"], "private_hosts": ["127.0.0.1"]}
    return request | changes


def child(analyst: Analyst) -> int:
    assert analyst._child is not None
    return analyst._child._process.pid


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "picture.png"
    path.write_bytes(png())
    return path


def test_one_child_does_many_jobs(analyst: Analyst, picture: Path) -> None:
    first = analyst.analyse(ask(picture))
    pid = child(analyst)
    assert first.result is not None and set(first.result["claim_lists"]) == {"critical", "suspect", "benign"}
    assert analyst.analyse(ask(picture)).result == first.result
    assert child(analyst) == pid
    assert list(analyst._child.scratch.iterdir()) == []  # type: ignore[union-attr]


def test_a_file_that_cannot_be_analysed_is_told_in_a_sentence(analyst: Analyst, tmp_path: Path) -> None:
    path = tmp_path / "notes.png"
    path.write_text("just words")
    answer = analyst.analyse(ask(path, name="notes.png"))
    assert (answer.result, answer.code) == (None, "unsupported_media")
    assert "notes.png" in str(answer.error) and str(tmp_path) not in str(answer.error)


def test_the_largest_file_is_what_the_settings_say(analyst: Analyst, picture: Path) -> None:
    size = picture.stat().st_size
    assert analyst.analyse(ask(picture, limits={"max_bytes": size})).result is not None
    assert analyst.analyse(ask(picture, limits={"max_bytes": size - 1})).code == "limit_exceeded"


def test_a_defect_fails_one_job_and_does_not_show_its_inside(analyst: Analyst, picture: Path) -> None:
    answer = analyst.analyse(ask(picture, explain=object.__name__, limits="no limits"))
    assert answer.code == "internal"
    assert "AttributeError" not in str(answer.error)
    assert analyst.analyse(ask(picture)).result is not None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("what the file says"), {"kind": "broken"}),
        (OSError(errno.ENOSPC, "full"), {"kind": "disk_full", "errno": errno.ENOSPC}),
    ],
)
def test_a_task_that_breaks_down_tells_the_operator_where_and_not_what(
    picture: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: dict[str, Any]
) -> None:
    def run(*_: Any) -> None:
        raise error

    monkeypatch.setattr("forensix.tasks.forensic_analysis.ForensicAnalysis.run", run)
    answer = analyst_child._answer(forensix.analyze, ask(picture))
    where = answer.pop("where", "ValueError")
    assert answer == expected
    assert where.endswith("ValueError") and "what the file says" not in where


@pytest.mark.parametrize("error", [UsageError("the component does not load"), WeightsMissing("weights are not here")])
def test_what_the_operator_chose_wrongly_is_told_the_operator(
    picture: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def run(*_: Any) -> None:
        raise error

    monkeypatch.setattr("forensix.tasks.forensic_analysis.ForensicAnalysis.run", run)
    assert analyst_child._answer(forensix.analyze, ask(picture)) == {"kind": "broken", "where": str(error)}


def test_the_status_of_a_child_that_ends_by_itself_is_logged(
    tmp_path: Path, picture: Path, caplog: pytest.LogCaptureFixture
) -> None:
    analyst = Analyst(tmp_path / "scratch", time_s=60, memory_bytes=4 * GB)
    analyst.warm()
    analyst._child._in.write(analyst_child.LENGTH.pack(4) + b"junk")  # type: ignore[union-attr]
    assert analyst.analyse(ask(picture)).code == "crashed"
    assert "the analysing process ended with status 1" in caplog.messages
    analyst.close()


def test_a_child_that_is_ended_while_it_starts_is_no_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    analyst = Analyst(tmp_path, time_s=60, memory_bytes=4 * GB)
    warming = threading.Thread(target=analyst.warm)
    warming.start()
    wait_until(lambda: analyst._child is not None, 60, "the child")
    analyst.stop()
    warming.join(60)
    assert [record for record in caplog.records if record.levelname != "INFO"] == []
    analyst.close()


def test_the_child_knows_nothing_of_the_database(analyst: Analyst, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSIX_DATABASE_URL", "postgresql://user:secret@db/forensix")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("FSSPEC_S3_SECRET", "secret")
    analyst._drop()
    analyst.warm()
    environment = Path(f"/proc/{child(analyst)}/environ").read_bytes()
    assert b"secret" not in environment and b"FORENSIX_DATABASE_URL" not in environment


@pytest.fixture
def shut() -> Iterator[Gate]:
    with gate() as actual:
        yield actual


def test_time_runs_out(tmp_path: Path, shut: Gate) -> None:
    analyst = Analyst(tmp_path, time_s=1, memory_bytes=4 * GB)
    analyst.warm()
    pid, begun = child(analyst), time.monotonic()
    answer = analyst.analyse(ask(shut.url))
    assert answer.code == "time_limit" and "1 s" in str(answer.error)
    assert time.monotonic() - begun < 40
    assert not Path(f"/proc/{pid}").exists()
    assert list(tmp_path.iterdir()) == []


def test_memory_runs_out_also_below_the_child(tmp_path: Path, shut: Gate) -> None:
    analyst = Analyst(tmp_path, time_s=60, memory_bytes=8 << 20)
    begun = time.monotonic()
    answer = analyst.analyse(ask(shut.url))
    assert answer.code == "memory_limit"
    assert time.monotonic() - begun < 30
    assert list(tmp_path.iterdir()) == []


def test_memory_of_descendants_counts() -> None:
    below = "x = b'1' * (80 << 20); input()"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {below!r}])"
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
    try:
        wait_until(
            lambda: sum(map(anonymous_bytes, descendants(process.pid))) > 80 << 20, 60, "the grandchild's memory"
        )
        assert len(descendants(process.pid)) == 2
    finally:
        process.communicate(b"\n")


def in_thread(analyst: Analyst, request: dict[str, Any]) -> tuple[threading.Thread, list[Answer | BaseException]]:
    actual: list[Answer | BaseException] = []

    def run() -> None:
        try:
            actual.append(analyst.analyse(request))
        except BaseException as error:
            actual.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, actual


def test_a_fresh_child_that_crashes_fails_its_job(tmp_path: Path, shut: Gate) -> None:
    analyst = Analyst(tmp_path, time_s=60, memory_bytes=4 * GB)
    thread, actual = in_thread(analyst, ask(shut.url))
    shut.wait()
    os.kill(child(analyst), signal.SIGSEGV)
    thread.join(60)
    assert isinstance(actual[0], Answer) and actual[0].code == "crashed"
    assert "crashed on this input" in str(actual[0].error)
    analyst.close()


def test_a_fresh_child_that_the_system_killed_does_not_blame_the_input(tmp_path: Path, shut: Gate) -> None:
    analyst = Analyst(tmp_path, time_s=60, memory_bytes=4 * GB)
    thread, actual = in_thread(analyst, ask(shut.url))
    shut.wait()
    os.kill(child(analyst), signal.SIGKILL)
    thread.join(60)
    assert isinstance(actual[0], Answer) and actual[0].code == "crashed"
    assert "memory runs out" in str(actual[0].error) and "crashed" not in str(actual[0].error)
    analyst.close()


def test_a_used_child_that_crashes_is_given_the_benefit_of_the_doubt(tmp_path: Path, picture: Path, shut: Gate) -> None:
    analyst = Analyst(tmp_path / "scratch", time_s=60, memory_bytes=4 * GB)
    analyst.analyse(ask(picture))
    thread, actual = in_thread(analyst, ask(shut.url))
    shut.wait(1)
    os.kill(child(analyst), signal.SIGKILL)
    shut.wait(2)
    shut.open.set()
    thread.join(60)
    assert isinstance(actual[0], Answer) and actual[0].result is not None
    analyst.close()


def test_stopping_hands_the_job_back(tmp_path: Path, shut: Gate) -> None:
    analyst = Analyst(tmp_path, time_s=60, memory_bytes=4 * GB)
    thread, actual = in_thread(analyst, ask(shut.url))
    shut.wait()
    analyst.stop()
    thread.join(60)
    assert isinstance(actual[0], Stopped)
    with pytest.raises(Stopped):
        analyst.analyse(ask(shut.url))


def test_the_child_dies_with_its_parent_while_it_works(tmp_path: Path, shut: Gate) -> None:
    script = (
        "import sys; from pathlib import Path; from forensix.service.work.analyst import Analyst\n"
        f"a = Analyst(Path({str(tmp_path)!r}), time_s=60, memory_bytes=4 << 30); a.warm()\n"
        "print(a._child._process.pid, flush=True)\n"
        f"a.analyse({ask(shut.url)!r})\n"
    )
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        shut.wait()
        parent.kill()
    # Gone, or a zombie until whoever adopted it looks.
    wait_until(lambda: state(pid) in ("", "Z"), 60, "the child to end")


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""
