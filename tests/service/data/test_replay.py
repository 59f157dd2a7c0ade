"""Jobs that are written without the queue's client are those that it would have written."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from forensix.service.data import jobs
from forensix.service.data.database import Database, migrate
from forensix.service.data.jobs import Jobs
from forensix.service.data.replay import Replay
from forensix.service.settings import Settings
from tests.service.postgres import postgres, program

_PG = pytest.mark.skipif(program("postgres") is None, reason="PostgreSQL is not installed")


@contextmanager
def queue(settings: Settings) -> Iterator[tuple[Database, Jobs]]:
    migrate(settings)
    jobs.prepare(settings)
    database = Database(settings)
    found = Jobs(settings, database)
    try:
        yield database, found
    finally:
        found.close()
        database.close()


def written(database: Database, job_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of the queue's tables for a job, by table, with its id spelled as ``ID``."""
    sqlite = database.engine.dialect.name == "sqlite"
    meta = sa.MetaData(schema=None if sqlite else "dbos")
    meta.reflect(database.engine)
    found: dict[str, list[dict[str, Any]]] = {}
    with database.read() as connection:
        for table in meta.sorted_tables:
            if "workflow_uuid" in table.c:
                rows = connection.execute(sa.select(table).where(table.c.workflow_uuid == job_id)).mappings()
                found[table.name] = [
                    {name: v.replace(job_id, "ID") if isinstance(v, str) else v for name, v in row.items()}
                    for row in rows
                ]
    return found


@pytest.mark.parametrize("where", ["sqlite", pytest.param("postgresql", marks=_PG)])
def test_a_job_that_is_replayed_is_the_job_that_the_client_writes(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path))
    if where == "sqlite":
        compared(Settings.read())
        return
    with postgres() as server:
        monkeypatch.setenv("FORENSIX_DATABASE_URL", server.url)
        compared(Settings.read())


def compared(settings: Settings) -> None:
    ids = [str(uuid.uuid4()) for _ in range(6)]
    with queue(settings) as (database, found):
        with database.write() as connection:
            found.create(connection, ids[:1])
        assert not found._analyses.knows
        time.sleep(1.1)
        with database.write() as connection:
            found.create(connection, ids[1:4])
        assert found._analyses.knows, "the client sends something new: see what, and whether it may be sent again"
        with database.write() as connection:
            found.create(connection, ids[4:])
        rows = [written(database, job_id) for job_id in ids]
    # The database stamps the times.
    changing = {"creator_xid", "created_at", "updated_at", "retention_timestamp"}
    for table, first in rows[0].items():
        for other in rows[1:]:
            assert len(other[table]) == len(first)
            for one, another in zip(first, other[table], strict=True):
                assert {k: v for k, v in one.items() if k not in changing} == {
                    k: v for k, v in another.items() if k not in changing
                }
                assert another["created_at"] >= one["created_at"] if "created_at" in one else True
    status = [row["workflow_status"][0] for row in rows]
    assert len({row["creator_xid"] for row in status}) == 6, "no two jobs share it"
    assert status[5]["created_at"] > status[0]["created_at"], "stamped when it was written"
    assert sum(map(len, rows[5].values())) == 2, "a status and its input"


@pytest.mark.parametrize(
    "second", ["INSERT INTO jobs VALUES (:id, :other)", "UPDATE jobs SET other = :other WHERE id = :id", None]
)
def test_a_client_that_changes_is_called_for_every_job(second: str | None) -> None:
    """Another value each time, another kind of statement, or nothing sent: none of it may be sent again."""
    calls: list[str] = []

    def call(connection: sa.Connection, job_id: str) -> None:
        calls.append(job_id)
        if second is not None:
            connection.execute(sa.text(second), {"id": job_id, "other": len(calls)})

    engine = sa.create_engine("sqlite://")
    replay = Replay(call, apart_s=0)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE jobs (id TEXT PRIMARY KEY, other)")
        replay.send(connection, [str(uuid.uuid4()) for _ in range(5)])
        if second is not None and second.startswith("INSERT"):
            assert connection.exec_driver_sql("SELECT other FROM jobs ORDER BY other").scalars().all() == [
                1,
                2,
                3,
                4,
                5,
            ]
    assert len(calls) == 5 and not replay.knows


def test_calls_that_follow_at_once_are_not_compared() -> None:
    """Two time stamps of one moment would look like a constant."""
    calls = 0

    def call(connection: sa.Connection, job_id: str) -> None:
        nonlocal calls
        calls += 1
        connection.execute(sa.text("INSERT INTO jobs VALUES (:id, :at)"), {"id": job_id, "at": int(time.time())})

    engine = sa.create_engine("sqlite://")
    replay = Replay(call)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE jobs (id TEXT PRIMARY KEY, at)")
        replay.send(connection, [str(uuid.uuid4()) for _ in range(50)])
        assert calls == 50
        time.sleep(1.1)
        replay.send(connection, [str(uuid.uuid4()) for _ in range(50)])
    assert calls == 100 and not replay.knows
