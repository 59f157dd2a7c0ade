"""Jobs: durable with their row, run again when a worker dies, their outcome written once."""

import errno
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from forensix.service.data.database import tasks, workers
from forensix.service.data.storage import Storage
from forensix.service.work import analyses, retention
from forensix.service.work.analyses import Analyses, _columns
from forensix.service.work.analyst import Answer
from forensix.service.work.retry import Retry
from tests.making import raw_png
from tests.service.postgres import postgres, program
from tests.service.running import wait_until
from tests.service.workshop import Gate, Workshop, gate, kill


@pytest.fixture
def shut() -> Iterator[Gate]:
    with gate() as actual:
        yield actual


def write_log(workshop: Workshop) -> None:
    """Have the database keep every change of a task's status."""
    with workshop.database.write() as connection:
        connection.execute(sa.text("CREATE TABLE changes (task_id TEXT, status TEXT)"))
        connection.execute(
            sa.text(
                "CREATE TRIGGER changed AFTER UPDATE OF status ON tasks "
                "BEGIN INSERT INTO changes VALUES (new.id, new.status); END"
            )
        )


def changes(workshop: Workshop) -> list[tuple[str, str]]:
    with workshop.database.read() as connection:
        return [(row[0], row[1]) for row in connection.execute(sa.text("SELECT task_id, status FROM changes"))]


def names_held(workshop: Workshop) -> list[str]:
    with workshop.database.read() as connection:
        return sorted(connection.execute(sa.select(workers.c.id)).scalars())


def test_a_task_that_was_not_committed_has_no_job(workshop: Workshop) -> None:
    with pytest.raises(RuntimeError), workshop.database.write() as connection:
        connection.execute(sa.insert(tasks).values(_row(workshop, "lost")))
        workshop.jobs.create(connection, "lost", 1)
        raise RuntimeError
    assert workshop.queued() == []
    assert workshop.jobs.depth() == 0
    task_id = workshop.task()
    assert [job.workflow_id for job in workshop.queued()] == [task_id]
    assert workshop.jobs.depth() == 1


@pytest.mark.slow
def test_a_worker_does_what_comes(workshop: Workshop) -> None:
    bomb, words = workshop.task(raw_png(60_000, 60_000)), workshop.task(b"just words")
    private = workshop.task(url="http://127.0.0.2:9/picture.png")
    good = workshop.task(file_name="holiday.png", additional_info="note")
    gone = workshop.task()
    workshop.storage.delete(gone)
    with workshop.working():
        names = ("bomb", "words", "private", "good", "gone")
        rows = dict(zip(names, workshop.wait(bomb, words, private, good, gone), strict=True))
    assert {name: (row["status"], row["error_code"]) for name, row in rows.items()} == {
        "bomb": ("failed", "limit_exceeded"),
        "words": ("failed", "unsupported_media"),
        "private": ("failed", "fetch"),
        "good": ("completed", None),
        "gone": ("failed", "upload_gone"),
    }
    assert rows["good"]["result"].startswith('{"claim_lists"')
    assert all(row["finished_at"] >= row["started_at"] >= row["created_at"] for row in rows.values())
    assert all(row["attempts"] == 1 for row in rows.values())
    # An upload's key is the report's id: it is no file's name, and must not be shown as one.
    assert bomb not in rows["bomb"]["error"] and "picture.png" in rows["bomb"]["error"]
    assert names_held(workshop) == []


@pytest.mark.slow
def test_an_account_that_hands_in_much_does_not_keep_others_waiting(workshop: Workshop) -> None:
    workshop.account("bert")
    many = [workshop.task() for _ in range(6)]
    few = [workshop.task(account="bert") for _ in range(2)]
    workshop.account("cora")
    last = workshop.task(account="cora")
    with workshop.working():
        rows = workshop.wait(*many, *few, last)
    started = sorted(rows, key=lambda row: row["started_at"])
    order = [row["id"] for row in started]
    assert order == [many[0], few[0], last, many[1], few[1], *many[2:]]


@pytest.mark.slow
def test_killed_workers(workshop: Workshop, shut: Gate) -> None:
    """One kill: the job runs again, its outcome is written once. Two kills by one job: it fails, others do not wait."""
    write_log(workshop)
    once = workshop.task(url=shut.url)
    worker = workshop.start()
    try:
        shut.wait(1)
        (lease,) = names_held(workshop)
        kill(worker)
        assert workshop.row(once)["status"] == "in_progress"
        worker = workshop.start()
        shut.wait(2)
        assert names_held(workshop) == [lease]
        shut.open.set()
        (row,) = workshop.wait(once)
        assert (row["status"], row["attempts"]) == ("completed", 2)
        shut.open.clear()
        twice = workshop.task(url=shut.url)
        shut.wait(3)
        kill(worker)
        worker = workshop.start()
        shut.wait(4)
        after = workshop.task()
    finally:
        kill(worker)
    with workshop.working():
        row, other = workshop.wait(twice, after)
    assert (row["status"], row["error_code"]) == ("failed", "killed_worker")
    assert "twice" in row["error"]
    assert other["status"] == "completed"
    assert shut.n_asked == 4
    assert changes(workshop) == [(once, "completed"), (twice, "failed"), (after, "completed")]


@pytest.mark.slow
def test_workers_told_to_stop(workshop: Workshop, shut: Gate) -> None:
    """What cannot be finished in time is given back and does not count; what can, is finished; no new job is begun."""
    task_id, waiting = workshop.task(url=shut.url), workshop.task()
    with workshop.working(shutdown_s=1) as (worker,):
        shut.wait(1)
        begun = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
        assert time.monotonic() - begun < 10
    row = workshop.row(task_id)
    assert (row["status"], row["attempts"], row["started_at"]) == ("in_progress", 0, None)
    assert {job.workflow_id for job in workshop.queued()} == {task_id, waiting}
    assert names_held(workshop) == []
    assert list((workshop.home / "scratch").iterdir()) == []
    with workshop.working() as (worker,):
        shut.wait(2)
        worker.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        shut.open.set()
        assert worker.wait(30) == 0
    assert (workshop.row(task_id)["status"], workshop.row(task_id)["attempts"]) == ("completed", 1)
    assert workshop.row(waiting)["attempts"] == 0


def test_pictures_without_their_prefix() -> None:
    answer = Answer(
        result={"face": "data:image/png;base64,AAAA", "list": [{"text": "no data: here"}]}, preview="data:,x"
    )
    assert "data:image" in _columns(answer, bare=False)["result"]
    bare = _columns(answer, bare=True)
    assert bare["result"] == '{"face":"AAAA","list":[{"text":"no data: here"}]}'
    assert bare["preview"] == "data:,x"


def test_a_task_without_a_job_is_queued_again(workshop: Workshop) -> None:
    alive, lost, ended = (workshop.task() for _ in range(3))
    client = workshop.jobs._client
    client.delete_workflow(lost)
    client.cancel_workflow(ended)
    assert retention.revive(workshop.database, workshop.jobs, time.time() + 1) == 2
    assert {job.workflow_id for job in workshop.queued()} == {alive, lost, ended}
    assert retention.revive(workshop.database, workshop.jobs, time.time() + 1) == 0


# Places and signs of life.


class _Away:
    """Storage that cannot be reached, at first or for good."""

    def __init__(self, storage: Storage, n_failures: int) -> None:
        self.storage, self.n_failures = storage, n_failures

    def local(self, key: str, scratch: Path) -> Any:
        if self.n_failures > 0:
            self.n_failures -= 1
            raise ConnectionError(errno.ECONNREFUSED, "refused")
        return self.storage.local(key, scratch)


class _Ready:
    """Finds everything to be real, or what it is told, and keeps what it was asked."""

    def __init__(self, **result: Any) -> None:
        self.result = result or {"class_name": "real"}
        self.asked: list[Mapping[str, Any]] = []

    def analyse(self, request: Mapping[str, Any]) -> Answer:
        self.asked.append(request)
        assert Path(request["source"]).read_bytes()
        return Answer(result=self.result)


def _analyses(workshop: Workshop, storage: _Away) -> Analyses:
    shared = workshop.settings, workshop.database, workshop.jobs
    return Analyses(*shared, storage, _Ready(), Retry(), workshop.home)  # type: ignore[arg-type]


def test_storage_that_is_away_is_waited_for(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    task_id = workshop.task()
    _analyses(workshop, _Away(workshop.storage, 2)).run(task_id)
    assert workshop.row(task_id)["status"] == "completed"
    monkeypatch.setattr(analyses, "STORAGE_S", 0.3)
    lost = workshop.task()
    _analyses(workshop, _Away(workshop.storage, 10**6)).run(lost)
    assert workshop.row(lost)["status"] == "failed"


def test_components_and_device_go_with_every_analysis(workshop: Workshop) -> None:
    chosen, ready = {"device": "cpu", "batch_size": 4, "spoof": "aasist"}, _Ready()
    shared = workshop.settings, workshop.database, workshop.jobs, workshop.storage
    Analyses(*shared, ready, Retry(), workshop.home, chosen).run(workshop.task())  # type: ignore[arg-type]
    assert [{name: item[name] for name in chosen} for item in ready.asked] == [chosen]


def test_what_broke_down_is_logged_with_its_task(workshop: Workshop, caplog: pytest.LogCaptureFixture) -> None:
    answer = Answer(error="it broke down", code="internal", where="in a line")
    ready = SimpleNamespace(analyse=lambda request: answer)
    shared = workshop.settings, workshop.database, workshop.jobs, workshop.storage
    task_id = workshop.task()
    Analyses(*shared, ready, Retry(), workshop.home).run(task_id)  # type: ignore[arg-type]
    (record,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert record.getMessage() == "an analysis broke down\nin a line"
    assert vars(record)["fields"]["task_id"] == task_id


def test_what_a_claim_quotes_of_a_file_is_no_picture(workshop: Workshop) -> None:
    settings = workshop.settings.model_copy(update={"data_uris": False})
    ready = _Ready(value="data:image/png;base64,AAAA")
    shared = settings, workshop.database, workshop.jobs, workshop.storage
    ids = {task: workshop.task(task=task) for task in ("forensic_analysis", "ai_generated_image_detection")}
    for task_id in ids.values():
        Analyses(*shared, ready, Retry(), workshop.home).run(task_id)  # type: ignore[arg-type]
    assert workshop.row(ids["forensic_analysis"])["result"] == '{"value":"data:image/png;base64,AAAA"}'
    assert workshop.row(ids["ai_generated_image_detection"])["result"] == '{"value":"AAAA"}'


@pytest.mark.slow
@pytest.mark.skipif(program("postgres") is None, reason="PostgreSQL is not installed")
def test_two_workers_on_postgresql(tmp_path: Path, shut: Gate) -> None:
    """One is killed for good: the other takes its job over, once it has noticed, and does the rest."""
    with postgres() as server:
        workshop = Workshop(tmp_path, database_url=server.url)
        try:
            held = workshop.task(url=shut.url)
            with workshop.working() as (first,):
                shut.wait(1)
                with workshop.working():
                    wait_until(lambda: len(names_held(workshop)) == 2, 30, "the second worker", log=workshop.log)
                    kill(first)
                    shut.wait(2)
                    shut.open.set()
                    rows = workshop.wait(held, workshop.task())
            assert [(row["status"], row["attempts"]) for row in rows] == [("completed", 2), ("completed", 1)]
        finally:
            workshop.close()


def _row(workshop: Workshop, task_id: str) -> dict[str, Any]:
    return {
        "id": task_id,
        "account_id": workshop.account_id(),
        "task": "forensic_analysis",
        "status": "in_progress",
        "explain": True,
        "transcribe": True,
        "created_at": 0.0,
        "attempts": 0,
    }
