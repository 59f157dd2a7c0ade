"""What is deleted when its time has come, and what must not be lost: a pass a minute, by whichever worker is first.

Uploads go a while after their task was created, finished tasks with their results and deliveries later. What no row
points to goes as well: files of uploads that broke off, records of jobs that ended, expired tokens. Every step may be
repeated, so a pass that is cut off is finished by the next.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from forensix.service.data.database import Database, keys, tasks, tokens
from forensix.service.data.jobs import Jobs
from forensix.service.data.storage import Storage
from forensix.service.data.tokens import end_tokens
from forensix.service.settings import Settings
from forensix.service.work import leases

_LOG = logging.getLogger(__name__)

EVERY_S = 60.0
ORPHANS_EVERY_S = 3600.0
_TURN = "retention_at"
_ORPHANS_TURN = "retention_orphans_at"
_BATCH = 200
_HOUR_S = 3600.0
# Of what no row points to: an upload's file is there shortly before its row.
_ORPHAN_S = _HOUR_S
_JOB_RECORDS_S = _HOUR_S
# A task is queued in the transaction that makes its row; this long after, a missing job is no race.
_REVIVE_S = 60.0


def take_turn(database: Database, name: str = _TURN, *, every_s: float = EVERY_S) -> bool:
    """Return whether it is this worker that makes the next pass; one of those that ask at the same time is told so."""
    now = time.time()
    with database.write() as connection:
        last = connection.execute(sa.select(keys.c.value).where(keys.c.name == name)).scalar_one_or_none()
        if last is None:
            try:
                connection.execute(sa.insert(keys).values(name=name, value=str(now)))
            except sa.exc.IntegrityError:
                return False
            return True
        # One that lies ahead was written by a clock that was wrong: without a pass nothing would be deleted or revived.
        if 0 <= now - float(last) < every_s:
            return False
        mine = sa.and_(keys.c.name == name, keys.c.value == last)
        return connection.execute(sa.update(keys).where(mine).values(value=str(now))).rowcount == 1


def make_pass(settings: Settings, database: Database, jobs: Jobs, storage: Storage) -> dict[str, int]:
    """Delete what is due, queue again what got lost, and return how much of each."""
    now = time.time()
    steps: dict[str, Callable[[], int]] = {
        "uploads": lambda: delete_uploads(database, storage, now - settings.retention_uploads_h * _HOUR_S),
        "results": lambda: delete_results(database, storage, now - settings.retention_results_h * _HOUR_S),
        "tokens": lambda: delete_tokens(database, now),
        "jobs": lambda: _forget_jobs(jobs, now - _JOB_RECORDS_S),
        "given_back": lambda: leases.give_back_orphans(database, jobs),
        "revived": lambda: revive(database, jobs, now - _REVIVE_S),
    }
    # Lists the whole storage, so not as often.
    if take_turn(database, _ORPHANS_TURN, every_s=ORPHANS_EVERY_S):
        steps["orphans"] = lambda: delete_orphans(database, storage, now - _ORPHAN_S)
    done: dict[str, int] = {}
    for name, step in steps.items():
        try:
            done[name] = step()
        except Exception:
            # Storage that is away must not keep the database growing, nor the other way round.
            _LOG.exception("retention could not finish with %s", name)
    if any(done.values()):
        _LOG.info("retention", extra={"fields": {name: n for name, n in done.items() if n}})
    return done


def delete_uploads(database: Database, storage: Storage, created_before: float) -> int:
    """Delete the uploads of tasks that are finished and old enough."""
    due = sa.and_(tasks.c.upload.is_not(None), tasks.c.status != "in_progress", tasks.c.created_at < created_before)
    n_deleted = 0
    for batch in _batches(database, sa.select(tasks.c.id, tasks.c.upload).where(due)):
        for _, key in batch:
            storage.delete(key)
        # The file first: a row without its file does no harm, a file without its row would be found later only.
        with database.write() as connection:
            ids = [task_id for task_id, _ in batch]
            connection.execute(sa.update(tasks).where(tasks.c.id.in_(ids)).values(upload=None))
        n_deleted += len(batch)
    return n_deleted


def delete_results(database: Database, storage: Storage, finished_before: float) -> int:
    """Delete finished tasks that are old enough, with their uploads and deliveries."""
    due = sa.and_(tasks.c.status.in_(("completed", "failed")), tasks.c.finished_at < finished_before)
    n_deleted = 0
    for batch in _batches(database, sa.select(tasks.c.id, tasks.c.upload).where(due)):
        for _, key in batch:
            if key is not None:
                storage.delete(key)
        with database.write() as connection:
            ids = [task_id for task_id, _ in batch]
            n_deleted += connection.execute(sa.delete(tasks).where(tasks.c.id.in_(ids))).rowcount
    return n_deleted


def delete_orphans(database: Database, storage: Storage, stored_before: float) -> int:
    """Delete stored files that no task points to."""
    n_deleted = storage.sweep(time.time() - stored_before)
    old = [key for key, stored_at in storage.listing() if stored_at < stored_before]
    for start in range(0, len(old), _BATCH):
        batch = old[start : start + _BATCH]
        with database.read() as connection:
            known = set(connection.execute(sa.select(tasks.c.upload).where(tasks.c.upload.in_(batch))).scalars())
        for key in set(batch) - known:
            storage.delete(key)
            n_deleted += 1
    return n_deleted


def delete_tokens(database: Database, expired_before: float) -> int:
    """Delete tokens that have expired."""
    with database.write() as connection:
        return len(end_tokens(connection, tokens.c.expires_at < int(expired_before)))


def revive(database: Database, jobs: Jobs, created_before: float) -> int:
    """Queue tasks again that are in progress without a job that could end that."""
    waiting = sa.and_(tasks.c.status == "in_progress", tasks.c.created_at < created_before)
    with database.read() as connection:
        ids = list(connection.execute(sa.select(tasks.c.id).where(waiting).order_by(tasks.c.created_at)).scalars())
    lost: list[str] = []
    for start in range(0, len(ids), _BATCH):
        lost += jobs.revive(ids[start : start + _BATCH])
    if lost:
        _LOG.warning("tasks without a job were queued again", extra={"fields": {"task_ids": lost[:20]}})
    return len(lost)


def _forget_jobs(jobs: Jobs, ended_before: float) -> int:
    n_forgotten = 0
    while n := jobs.forget(ended_before):
        n_forgotten += n
    return n_forgotten


def _batches(database: Database, query: sa.Select[Any]) -> Iterator[list[tuple[str, str]]]:
    """Yield what a query finds, some at a time; what is yielded must no longer be found when the next is asked for."""
    while True:
        with database.read() as connection:
            batch = [(row[0], row[1]) for row in connection.execute(query.limit(_BATCH))]
        if not batch:
            return
        yield batch
