"""Places of workers, and jobs of those that fell silent or died."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from forensix.service.data.database import Database, workers
from forensix.service.work import leases
from tests.service.data.test_jobs import names_held
from tests.service.workshop import Workshop


def _lease(database: Database, lease: str, *, host: str, pid: int = 1) -> None:
    now = time.time()
    row = {"id": lease, "host": host, "pid": pid, "started_at": now, "heartbeat_at": now}
    with database.write() as connection:
        connection.execute(sa.insert(workers).values(row))


def _take(workshop: Workshop, task_id: str, lease: str) -> None:
    """Have a job be run by a worker of that lease, as far as the queue knows."""
    table = "workflow_status" if workshop.settings.is_sqlite else "dbos.workflow_status"
    with workshop.database.write() as connection:
        connection.execute(
            sa.text(f"UPDATE {table} SET status = 'PENDING', executor_id = :lease WHERE workflow_uuid = :id"),
            {"lease": lease, "id": task_id},
        )


def test_places_are_numbered_and_used_again(workshop: Workshop) -> None:
    first, second = (leases.take_lease(workshop.database, "here") for _ in range(2))
    assert (first.id, second.id) == ("here/0", "here/1")
    leases.leave(workshop.database, first)
    assert leases.take_lease(workshop.database, "here").id == "here/0"
    _lease(workshop.database, "here/2", host="here", pid=_no_process())
    assert leases.take_lease(workshop.database, "here").id == "here/2"
    assert leases.take_lease(workshop.database, "there").id == "there/0"


def test_machines_of_one_host_name_do_not_take_each_others_places(
    workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(boot_id: str) -> str:
        (tmp_path / "boot_id").write_text(boot_id + "\n")
        monkeypatch.setattr(leases, "_BOOT", tmp_path / "boot_id")
        return leases.host_name()

    first, second = start("11111111-a"), start("22222222-b")
    # On one of them there is no process of the number that works on the other.
    _lease(workshop.database, f"{first}/0", host=first, pid=_no_process())
    lease = leases.take_lease(workshop.database)
    assert lease.id == f"{second}/0"
    assert leases.Watch(workshop.database, workshop.jobs, lease).look() == []
    assert names_held(workshop) == sorted([f"{first}/0", f"{second}/0"])


def test_a_worker_whose_place_was_taken_learns_of_it(workshop: Workshop) -> None:
    lease = leases.take_lease(workshop.database, "here")
    watch = leases.Watch(workshop.database, workshop.jobs, lease)
    watch.beat()
    with workshop.database.write() as connection:
        connection.execute(sa.update(workers).values(pid=lease.pid + 1))
    with pytest.raises(leases.Replaced):
        watch.beat()


def test_jobs_of_a_host_that_fell_silent_are_taken_over(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(leases.time, "monotonic", lambda: clock[0])
    watch = leases.Watch(workshop.database, workshop.jobs, leases.take_lease(workshop.database, "here"))
    _lease(workshop.database, "there/0", host="there")
    _lease(workshop.database, "alive/0", host="alive")
    task_id, other = workshop.task(), workshop.task()
    _take(workshop, task_id, "there/0")
    _take(workshop, other, "alive/0")
    for _ in range(5):
        assert watch.look() == []
        clock[0] += 10
        with workshop.database.write() as connection:
            alive = sa.update(workers).where(workers.c.id == "alive/0")
            connection.execute(alive.values(heartbeat_at=workers.c.heartbeat_at + 1))
        if clock[0] == 140:
            break
    assert watch.look() == ["there/0"]
    assert [job.workflow_id for job in workshop.queued()] == [task_id]
    assert names_held(workshop) == ["alive/0", "here/0"]


def test_silence_while_the_database_was_away_says_nothing(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(leases.time, "monotonic", lambda: clock[0])
    watch = leases.Watch(workshop.database, workshop.jobs, leases.take_lease(workshop.database, "here"))
    _lease(workshop.database, "there/0", host="there")
    assert watch.look() == []
    clock[0] += 60
    watch.forget()
    assert watch.look() == []
    clock[0] += leases.SILENT_S + 1
    assert watch.look() == ["there/0"]


def test_jobs_of_a_dead_process_of_this_host_are_taken_over_at_once(workshop: Workshop) -> None:
    watch = leases.Watch(workshop.database, workshop.jobs, leases.take_lease(workshop.database, "here"))
    _lease(workshop.database, "here/1", host="here", pid=_no_process())
    task_id = workshop.task()
    _take(workshop, task_id, "here/1")
    assert watch.look() == ["here/1"]
    assert [job.workflow_id for job in workshop.queued()] == [task_id]
    assert watch.look() == []


def test_jobs_of_a_worker_that_nobody_knows_are_given_back(workshop: Workshop) -> None:
    leases.take_lease(workshop.database, "here")
    mine, orphan = workshop.task(), workshop.task()
    _take(workshop, mine, "here/0")
    _take(workshop, orphan, "nowhere/7")
    assert leases.give_back_orphans(workshop.database, workshop.jobs) == 1
    assert [job.workflow_id for job in workshop.queued()] == [orphan]


def _no_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid
