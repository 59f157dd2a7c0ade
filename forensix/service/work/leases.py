"""Who works here: leases of workers, their signs of life, and the jobs of those that are gone.

A worker takes the first free lease of its host, so that one that was killed and started again finds its own jobs under
its old name. Every worker writes a sign of life and watches the others'. Silence is measured with the watcher's own
clock and only while the database answers it, so that neither clocks that differ nor a database that was away make the
living look dead. A worker whose lease was taken all the same ends itself; what it still writes no longer counts.
"""

import contextlib
import logging
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from forensix.service.data.database import SILENT_S, Database, workers
from forensix.service.data.jobs import Jobs

_LOG = logging.getLogger(__name__)

_BOOT = Path("/proc/sys/kernel/random/boot_id")
BEAT_S = 2.0


@dataclass(frozen=True)
class Lease:
    """A worker's name among the others, which is also what DBOS knows it by, and the process that holds it."""

    id: str
    host: str
    pid: int
    started_at: float


class Replaced(Exception):
    """Another worker took this one for dead and its jobs over."""


def host_name() -> str:
    """Return a name for this machine or container, as it runs now: processes of one name see each other's ids."""
    # Machines can share a host name, above all those made from one image, but not what a start is given.
    return f"{socket.gethostname()}{_namespace()}{_boot()}"


def _namespace() -> str:
    try:
        namespace = os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""
    # Containers can share a host name, but not this.
    return "" if namespace == "4026531836" else f"-{namespace}"


def _boot() -> str:
    try:
        return "-" + _BOOT.read_text().strip()[:8]
    except OSError:
        return ""


def take_lease(database: Database, host: str | None = None) -> Lease:
    """Take the first lease of this host that nobody alive holds."""
    host = host or host_name()
    while True:
        lease = Lease("", host, os.getpid(), time.time())
        with contextlib.suppress(sa.exc.IntegrityError), database.write() as connection:
            leases = {row["id"]: row for row in _rows(connection, workers.c.host == host)}
            index = 0
            while (row := leases.get(f"{host}/{index}")) is not None and not _has_no_process(row, host):
                index += 1
            lease = Lease(f"{host}/{index}", host, lease.pid, lease.started_at)
            if row is None or _seize(connection, row, lease):
                if row is None:
                    connection.execute(sa.insert(workers).values(_columns(lease)))
                return lease


def leave(database: Database, lease: Lease) -> None:
    """Give up a lease, when no job is left under its name."""
    with database.write() as connection:
        connection.execute(sa.delete(workers).where(_held_by(lease)))


def held(database: Database) -> set[str]:
    """Return the leases that are held, also by workers whose end nobody has noticed yet."""
    with database.read() as connection:
        return set(connection.execute(sa.select(workers.c.id)).scalars())


class Watch:
    """One worker's signs of life, and its eye on the others."""

    def __init__(self, database: Database, jobs: Jobs, lease: Lease) -> None:
        self._database, self._jobs, self._lease = database, jobs, lease
        self._heartbeats: dict[str, tuple[float, float]] = {}

    def beat(self) -> None:
        """Write a sign of life.

        Raises
        ------
        Replaced
            The lease is another's now.
        """
        with self._database.write() as connection:
            alive = sa.update(workers).where(_held_by(self._lease)).values(heartbeat_at=time.time())
            if connection.execute(alive).rowcount == 0:
                raise Replaced(self._lease.id)

    def look(self) -> list[str]:
        """Take over the jobs of workers that are gone, and return the places that they had."""
        now = time.monotonic()
        with self._database.read() as connection:
            rows = _rows(connection, workers.c.id != self._lease.id)
        self._heartbeats = {
            row["id"]: (row["heartbeat_at"], now)
            if self._heartbeats.get(row["id"], (None,))[0] != row["heartbeat_at"]
            else self._heartbeats[row["id"]]
            for row in rows
        }
        gone = [
            row
            for row in rows
            if now - self._heartbeats[row["id"]][1] > SILENT_S or _has_no_process(row, self._lease.host)
        ]
        return [row["id"] for row in gone if self._take_over(row)]

    def forget(self) -> None:
        """Start observing anew: the database was away, and silence says nothing."""
        self._heartbeats.clear()

    def _take_over(self, row: Mapping[str, Any]) -> bool:
        # Under our process while it lasts: should we die over it, it falls silent once more.
        mine = Lease(row["id"], row["host"], self._lease.pid, time.time())
        with self._database.write() as connection:
            if not _seize(connection, row, mine):
                return False
        jobs = self._jobs.unfinished([row["id"]])
        for job_id, queue, _ in jobs:
            self._jobs.give_back(job_id, queue)
        leave(self._database, mine)
        fields = {"worker": row["id"], "jobs": len(jobs)}
        _LOG.warning("a worker is gone; its jobs were put back into the queue", extra={"fields": fields})
        return True


def give_back_all(jobs: Jobs, lease: Lease) -> int:
    """Put all jobs that a stopping worker still holds back into their queues; return how many."""
    rows = jobs.unfinished([lease.id])
    for job_id, queue, _ in rows:
        jobs.give_back(job_id, queue)
    return len(rows)


def give_back_orphans(database: Database, jobs: Jobs) -> int:
    """Put jobs whose worker has no lease at all back into their queues; return how many."""
    rows = jobs.unfinished()
    # Looked up second: a worker has its lease before it has a job.
    known = held(database)
    orphans = [(job_id, queue) for job_id, queue, executor in rows if executor not in known]
    for job_id, queue in orphans:
        jobs.give_back(job_id, queue)
    return len(orphans)


def _rows(connection: sa.Connection, where: sa.ColumnElement[bool]) -> list[Mapping[str, Any]]:
    return [dict(row) for row in connection.execute(sa.select(workers).where(where)).mappings()]


def _columns(lease: Lease) -> dict[str, Any]:
    return {
        "id": lease.id,
        "host": lease.host,
        "pid": lease.pid,
        "started_at": lease.started_at,
        "heartbeat_at": time.time(),
    }


def _seize(connection: sa.Connection, row: Mapping[str, Any], lease: Lease) -> bool:
    """Take a lease from a process, unless it has shown a sign of life or another was quicker."""
    unchanged = sa.and_(
        workers.c.id == row["id"], workers.c.pid == row["pid"], workers.c.heartbeat_at == row["heartbeat_at"]
    )
    return connection.execute(sa.update(workers).where(unchanged).values(_columns(lease))).rowcount == 1


def _held_by(lease: Lease) -> sa.ColumnElement[bool]:
    return sa.and_(workers.c.id == lease.id, workers.c.pid == lease.pid, workers.c.started_at == lease.started_at)


def _has_no_process(row: Mapping[str, Any], host: str) -> bool:
    """Return whether a worker of this host has ended; of other hosts only silence tells."""
    if row["host"] != host:
        return False
    try:
        os.kill(row["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
