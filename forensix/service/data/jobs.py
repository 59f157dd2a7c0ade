"""The durable queue: DBOS on the same database, so that a row and the job for it are written in one transaction.

A job is a DBOS workflow without steps: its whole body may run again, and every body is written so that this does no
harm. Arguments are JSON. The version is that of the arguments, not of forensix: jobs survive an upgrade.
"""

import datetime as dt
import zlib
from collections.abc import Iterable
from typing import Any, Final, Literal

import sqlalchemy as sa

from forensix.service.data.database import Database, tasks, unusable
from forensix.service.settings import Settings

APPLICATION = "forensix"
VERSION = "1"
"""Raised when the arguments of a job change; workers of one version leave the jobs of another alone."""

ANALYSES = "analyses"
DELIVERIES = "deliveries"
"""First attempts, to receivers that answered last time."""
RETRIES = "retries"
"""Further attempts, and whatever goes to receivers that are down: they wait for each other, and nobody for them."""
QUEUES = (ANALYSES, DELIVERIES, RETRIES)

NONE_YET = "none"
"""Stands for the webhook in the delivery of a task for which none is registered."""

ANALYSE: Final = "analyse"
DELIVER: Final = "deliver"

FORGOTTEN_AT_ONCE = 500
_DELIVERIES_A_WORKER = 64
_DELIVERIES_A_RECEIVER = 4
_RETRY_POLL_S = 0.5
# The lowest that waits, and the account's highest.
_TURNS = sa.select(
    sa.func.min(tasks.c.turn).filter(tasks.c.started_at.is_(None)),
    sa.func.max(tasks.c.turn).filter(tasks.c.account_id == sa.bindparam("the_account_id")),
).where(tasks.c.status == "in_progress")
_LIVE = ("ENQUEUED", "PENDING", "DELAYED")


class Jobs:
    """Puts jobs into the queue and looks at it; what runs them is the worker."""

    def __init__(self, settings: Settings, database: Database) -> None:
        from dbos import DBOSClient, DBOSPortableJSONSerializer

        self._database = database
        self._client = DBOSClient(
            system_database_url=settings.connection_url,
            serializer=DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            system_database_pool_size=2,
            lazy=True,
            retry_connection_errors=False,
        )

    def create(self, connection: sa.Connection, task_id: str, turn: int) -> None:
        """Queue the analysis of a task, in the transaction that makes its row with that `next_turn`."""
        self._enqueue(connection, ANALYSE, ANALYSES, task_id, task_id, priority=turn)

    def deliver(
        self, connection: sa.Connection, task_id: str, webhook_id: str, attempt: int, *, delay_s: float, retry: bool
    ) -> None:
        """Queue one attempt to deliver a task to one webhook; a second call for the same attempt changes nothing."""
        # A receiver is a partition; tasks that have none yet are spread over a few.
        partition = f"none-{zlib.crc32(task_id.encode()) % 16}" if webhook_id == NONE_YET else webhook_id
        self._enqueue(
            connection,
            DELIVER,
            RETRIES if retry else DELIVERIES,
            delivery_id(task_id, webhook_id, attempt),
            task_id,
            webhook_id,
            attempt,
            delay_s=delay_s,
            partition=partition,
        )

    def depth(self) -> int:
        """Return how many tasks are unfinished, those that are being analysed included."""
        with self._database.read() as connection:
            waiting = sa.select(sa.func.count()).select_from(tasks).where(tasks.c.status == "in_progress")
            return int(connection.execute(waiting).scalar_one())

    def unfinished(self, executor_ids: Iterable[str] | None = None) -> list[tuple[str, str, str]]:
        """Return id, queue and executor of the jobs that are being run, by the named executors or by any."""
        workflows = self._client.list_workflows(
            status="PENDING",
            executor_id=None if executor_ids is None else list(executor_ids),
            application_name=APPLICATION,
            load_input=False,
            load_output=False,
        )
        return [(job.workflow_id, job.queue_name or ANALYSES, job.executor_id or "") for job in workflows]

    def give_back(self, job_id: str, queue: str) -> None:
        """Put a job that is being run back into its queue; what its runner still writes about it no longer counts."""
        self._client.resume_workflow(job_id, queue_name=queue)

    def revive(self, task_ids: list[str]) -> list[str]:
        """Queue those tasks again whose analysis is neither waiting nor running, and return their ids.

        That takes a defect, or a database that was restored from a copy; a task must not stay in progress for ever.
        """
        workflows = self._client.list_workflows(workflow_ids=task_ids, load_input=False, load_output=False)
        status = {job.workflow_id: job.status for job in workflows}
        lost = [task_id for task_id in task_ids if status.get(task_id) not in _LIVE]
        ended = [task_id for task_id in lost if task_id in status]
        if ended:
            self._client.delete_workflows(ended)
        for task_id in lost:
            with self._database.write() as connection:
                turn = connection.scalar(sa.select(tasks.c.turn).where(tasks.c.id == task_id))
                if turn is not None:
                    self.create(connection, task_id, turn)
        return lost

    def forget(self, finished_before_s: float) -> int:
        """Delete the records of jobs that ended before a time, at most `FORGOTTEN_AT_ONCE`; return how many."""
        ended = self._client.list_workflows(
            status=["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
            application_name=APPLICATION,
            completed_before=dt.datetime.fromtimestamp(finished_before_s, dt.UTC).isoformat(),
            limit=FORGOTTEN_AT_ONCE,
            load_input=False,
            load_output=False,
        )
        if ended:
            self._client.delete_workflows([job.workflow_id for job in ended])
        return len(ended)

    def close(self) -> None:
        """Close the connections that looking at the queue has opened."""
        self._client.destroy()

    def _enqueue(
        self,
        connection: sa.Connection,
        job: Literal["analyse", "deliver"],
        queue: str,
        job_id: str,
        *args: Any,
        delay_s: float = 0,
        partition: str | None = None,
        priority: int = 0,
    ) -> None:
        options: dict[str, Any] = {
            "workflow_name": job,
            "queue_name": queue,
            "workflow_id": job_id,
            "app_version": VERSION,
        }
        if delay_s > 0:
            options["delay_seconds"] = delay_s
        if partition is not None:
            options["queue_partition_key"] = partition
        if priority > 0:
            options["priority"] = priority
        self._client.enqueue_in_transaction(connection, options, *args)  # type: ignore[arg-type]


def next_turn(connection: sa.Connection, account_id: str) -> int:
    """Return the turn of an account's next task: one after its last, but not before the task that is analysed next.

    So accounts that have tasks take turns, however many each hands in, and nobody waits for ever.

    References
    ----------
    Goyal, Vin and Cheng, "Start-time fair queueing", 1996, with tasks of one size.
    """
    first, last = connection.execute(_TURNS, {"the_account_id": account_id}).one()
    return max(first or 0, (last or 0) + 1, 1)


def delivery_id(task_id: str, webhook_id: str, attempt: int) -> str:
    """Return the id of the job of one attempt, so that it exists once."""
    return f"{task_id}.{webhook_id}.{attempt}"


def prepare(settings: Settings) -> None:
    """Bring the queue's own tables to the newest revision; several processes may call this at once.

    Raises
    ------
    ForensixError
        The database cannot be reached, or refuses.
    """
    from dbos import DBOS

    try:
        DBOS.migrate(settings.connection_url)
    except sa.exc.DBAPIError as error:
        raise unusable(settings, error) from None


def register_queues(settings: Settings) -> None:
    """Say how each queue is worked off; called by a worker after DBOS has been launched."""
    from dbos import DBOS

    # One process, one analysis: what it is killed for is one job, and the next process has its own models.
    DBOS.register_queue(ANALYSES, worker_concurrency=1, polling_interval_sec=settings.poll_s)
    for name, poll_s in ((DELIVERIES, settings.poll_s), (RETRIES, max(settings.poll_s, _RETRY_POLL_S))):
        DBOS.register_queue(
            name,
            worker_concurrency=_DELIVERIES_A_WORKER,
            partition_worker_concurrency=_DELIVERIES_A_RECEIVER,
            polling_interval_sec=poll_s,
        )
