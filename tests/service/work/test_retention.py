"""Retention: what is due goes, what is not stays, and one worker at a time sees to it."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from forensix.service.data.database import deliveries, tasks, tokens
from forensix.service.work import retention
from tests.service.workshop import Workshop

HOUR_S = 3600


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    actual = Workshop(tmp_path, retention_uploads_h=2, retention_results_h=10)
    yield actual
    actual.close()


def aged(workshop: Workshop, hours: float, *, finished: bool = True) -> str:
    """Return a task that was created, and finished, so long ago."""
    task_id = workshop.task()
    if finished:
        workshop.finish(task_id)
    then = time.time() - hours * HOUR_S
    with workshop.database.write() as connection:
        mine = sa.update(tasks).where(tasks.c.id == task_id)
        connection.execute(mine.values(created_at=then, finished_at=then if finished else None))
    return task_id


def kept(workshop: Workshop) -> set[str]:
    with workshop.database.read() as connection:
        return set(connection.execute(sa.select(tasks.c.id)).scalars())


def stored(workshop: Workshop) -> set[str]:
    return {key for key, _ in workshop.storage.listing()}


def make_pass(workshop: Workshop) -> dict[str, int]:
    return retention.make_pass(workshop.settings, workshop.database, workshop.jobs, workshop.storage)


def test_uploads_go_first_and_results_later(workshop: Workshop) -> None:
    new, old, ancient = (aged(workshop, hours) for hours in (1, 3, 11))
    unfinished = aged(workshop, 100, finished=False)
    done = make_pass(workshop)
    assert (done["uploads"], done["results"]) == (2, 1)
    assert kept(workshop) == {new, old, unfinished}
    assert stored(workshop) == {new, unfinished}
    assert workshop.row(old)["upload"] is None
    assert workshop.row(old)["result"] is not None
    assert ancient not in kept(workshop)
    again = make_pass(workshop)
    assert (again["uploads"], again["results"]) == (0, 0)


def test_deliveries_go_with_their_task(workshop: Workshop) -> None:
    workshop.webhook("http://127.0.0.1:1/")
    aged(workshop, 11)
    make_pass(workshop)
    with workshop.database.read() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(deliveries)).scalar_one() == 0


def test_files_that_no_task_points_to_go_after_an_hour(workshop: Workshop) -> None:
    task_id = workshop.task()
    for key in ("orphan", "arriving"):
        file = workshop.storage.write(key)
        file.write(b"data")
        file.close()
    for key in ("orphan", task_id):
        os.utime(workshop.home / "files" / key, (time.time() - 2 * HOUR_S,) * 2)
    assert make_pass(workshop)["orphans"] == 1
    assert stored(workshop) == {task_id, "arriving"}


def test_records_of_jobs_that_ended_go(workshop: Workshop) -> None:
    ended, waiting = workshop.task(), workshop.task()
    workshop.jobs._client.cancel_workflow(ended)
    assert workshop.jobs.forget(time.time() - 60) == 0
    assert workshop.jobs.forget(time.time() + 60) == 1
    left = workshop.jobs._client.list_workflows()
    assert [job.workflow_id for job in left] == [waiting]


def test_expired_tokens_go(workshop: Workshop) -> None:
    now = int(time.time())
    common = {"account_id": workshop.account_id(), "ends_with": "abcdef", "issued_at": 0}
    with workshop.database.write() as connection:
        for name, expires_at in (("old", now - 10), ("good", now + 1000)):
            connection.execute(sa.insert(tokens).values(common | {"id": name, "expires_at": expires_at}))
    assert make_pass(workshop)["tokens"] == 1
    with workshop.database.read() as connection:
        assert list(connection.execute(sa.select(tokens.c.id)).scalars()) == ["good"]


def test_a_step_that_fails_does_not_keep_the_others_from_being_made(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(workshop, 11)

    def fail(key: str) -> None:
        raise OSError("the storage is away")

    monkeypatch.setattr(workshop.storage, "delete", fail)
    done = make_pass(workshop)
    assert "uploads" not in done and "tokens" in done and "jobs" in done
    monkeypatch.undo()
    assert make_pass(workshop)["results"] == 1


def test_a_clock_that_was_ahead_does_not_put_off_the_next_pass(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = time.time() + 365 * 86400
    with monkeypatch.context() as patch:
        patch.setattr(retention.time, "time", lambda: ahead)
        assert retention.take_turn(workshop.database)
    assert retention.take_turn(workshop.database)
    assert not retention.take_turn(workshop.database)


def test_of_workers_that_ask_together_one_gets_the_turn(workshop: Workshop) -> None:
    turns: list[bool] = []
    threads = [
        threading.Thread(target=lambda: turns.append(retention.take_turn(workshop.database, every_s=1)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turns) == [False] * 7 + [True]
    assert not retention.take_turn(workshop.database, every_s=60)
    time.sleep(1.05)
    assert retention.take_turn(workshop.database, every_s=1)
