"""Finished tasks on their way to the registered webhooks: one job an attempt and a receiver, in the durable queue.

An attempt looks up what is registered at that moment. A URL that no attempt has met before gets a job of its own, so
that no receiver waits for another; one that is no longer registered is not called, which counts as a failed attempt, as
does finding no URL at all. After the last attempt the result can only be polled. A delivery may come twice, never
not at all: the row that says it came is written after the receiver said so.
"""

import logging
import random
import time
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from forensix.service.data.database import Database, accounts, deliveries, tasks, webhooks
from forensix.service.data.jobs import NONE_YET, Jobs
from forensix.service.data.reports import description_of, report_bytes
from forensix.service.settings import Settings
from forensix.service.work import posting
from forensix.service.work.retry import Retry

_LOG = logging.getLogger(__name__)

_JITTER = 0.2


def begin(connection: sa.Connection, jobs: Jobs, settings: Settings, task: Mapping[str, Any]) -> None:
    """Queue the delivery of a task, in the transaction that finishes it."""
    registered = _registered(connection, task)
    if registered:
        _spread(connection, jobs, settings, task["id"], registered, 1)
    else:
        _again(connection, jobs, settings, task["id"], NONE_YET, 1)


class Deliveries:
    """What a worker needs to deliver."""

    def __init__(self, settings: Settings, database: Database, jobs: Jobs, retry: Retry) -> None:
        self._settings, self._database, self._jobs, self._retry = settings, database, jobs, retry

    def run(self, task_id: str, webhook_id: str, attempt: int) -> None:
        """Make one attempt to deliver a task to one webhook, and queue the next one if it fails.

        Raises
        ------
        Stopped
            The worker is stopping; the attempt counts as not made.
        """
        task = self._retry.insist(lambda: self._look_up(task_id, webhook_id, attempt))
        if task is None:
            return
        status: int | None = None
        if task["webhook_url"] is not None:
            status = self._post(task)
        delivered = status is not None and 200 <= status < 300
        self._retry.insist(lambda: self._note(task, webhook_id, attempt, status, delivered), even_when_stopping=True)
        # The URL may hold a secret, so it stays out of the log.
        fields = {"task_id": task_id, "webhook_id": webhook_id, "attempt": attempt, "status": status}
        if task["webhook_url"] is None:
            _LOG.debug("no webhook to deliver to", extra={"fields": fields})
        elif not delivered and attempt >= self._settings.webhook_attempts:
            _LOG.warning("not delivered, and not tried again", extra={"fields": fields})
        else:
            _LOG.info("delivered" if delivered else "not delivered", extra={"fields": fields})

    def _look_up(self, task_id: str, webhook_id: str, attempt: int) -> Mapping[str, Any] | None:
        """Return the task with its receiver's URL, None when there is nothing to do; start what was not met before."""
        columns = (*tasks.c, accounts.c.webhook_secret)
        query = sa.select(*columns).join(accounts, accounts.c.id == tasks.c.account_id).where(tasks.c.id == task_id)
        with self._database.write() as connection:
            # Locked, so that two attempts do not both take a new URL for theirs to start.
            row = connection.execute(query.with_for_update(of=tasks)).mappings().one_or_none()
            if row is None:
                return None
            task = dict(row)
            registered = _registered(connection, task)
            met = _met(connection, task_id)
            if webhook_id in met and met[webhook_id]["delivered_at"] is not None:
                return None
            new = [webhook for webhook in registered if webhook["id"] not in met]
            _spread(connection, self._jobs, self._settings, task_id, new, attempt)
            if webhook_id == NONE_YET and registered:
                return None
            url = next((webhook["url"] for webhook in registered if webhook["id"] == webhook_id), None)
            return task | {"webhook_url": url}

    def _post(self, task: Mapping[str, Any]) -> int | None:
        try:
            return posting.post(
                task["webhook_url"],
                report_bytes(task),
                message_id=f"msg_{task['id']}",
                secret=task["webhook_secret"],
                timeout_s=self._settings.webhook_timeout_s,
                private_hosts=self._settings.private_hosts,
            )
        except posting.NoAnswer as error:
            _LOG.info("no answer from a webhook: %s", error, extra={"fields": {"task_id": task["id"]}})
        except Exception:
            # A defect must not end the chain of attempts.
            _LOG.exception("a webhook could not be called", extra={"fields": {"task_id": task["id"]}})
        return None

    def _note(
        self, task: Mapping[str, Any], webhook_id: str, attempt: int, status: int | None, delivered: bool
    ) -> None:
        mine = sa.and_(deliveries.c.task_id == task["id"], deliveries.c.webhook_id == webhook_id)
        with self._database.write() as connection:
            done = {"attempts": attempt, "last_status": status, "delivered_at": time.time() if delivered else None}
            connection.execute(sa.update(deliveries).where(mine, deliveries.c.delivered_at.is_(None)).values(done))
            if not delivered:
                _again(connection, self._jobs, self._settings, task["id"], webhook_id, attempt)


def backoff_s(settings: Settings, attempt: int) -> float:
    """Return how long to wait after a failed attempt, the first being 1; with jitter, so that receivers recover."""
    wait_s: float = min(settings.webhook_backoff_s * 2 ** (attempt - 1), settings.webhook_backoff_max_s)
    return wait_s * random.uniform(1 - _JITTER, 1 + _JITTER)


def _registered(connection: sa.Connection, task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    event = description_of(task["task"]).event
    mine = sa.and_(webhooks.c.account_id == task["account_id"], webhooks.c.event == event)
    rows = connection.execute(sa.select(webhooks.c.id, webhooks.c.url).where(mine).order_by(webhooks.c.created_at))
    return [dict(row) for row in rows.mappings()]


def _met(connection: sa.Connection, task_id: str) -> dict[str, Mapping[str, Any]]:
    rows = connection.execute(sa.select(deliveries).where(deliveries.c.task_id == task_id)).mappings()
    return {row["webhook_id"]: dict(row) for row in rows}


def _spread(
    connection: sa.Connection,
    jobs: Jobs,
    settings: Settings,
    task_id: str,
    registered: list[Mapping[str, Any]],
    attempt: int,
) -> None:
    """Start a delivery for each webhook, at the attempt that met it."""
    for webhook in registered:
        fresh = {"task_id": task_id, "webhook_id": webhook["id"], "url": webhook["url"], "attempts": 0}
        connection.execute(sa.insert(deliveries).values(fresh))
        down = _is_down(connection, settings, webhook["id"])
        jobs.deliver(connection, task_id, webhook["id"], attempt, delay_s=0, retry=down)


def _is_down(connection: sa.Connection, settings: Settings, webhook_id: str) -> bool:
    """Return whether another delivery to this webhook has failed and still waits for its next attempt."""
    failed = sa.and_(
        deliveries.c.webhook_id == webhook_id,
        deliveries.c.delivered_at.is_(None),
        deliveries.c.attempts.between(1, settings.webhook_attempts - 1),
    )
    return connection.execute(sa.select(sa.exists().where(failed))).scalar_one()


def _again(
    connection: sa.Connection, jobs: Jobs, settings: Settings, task_id: str, webhook_id: str, attempt: int
) -> None:
    if attempt < settings.webhook_attempts:
        wait_s = backoff_s(settings, attempt)
        jobs.deliver(connection, task_id, webhook_id, attempt + 1, delay_s=wait_s, retry=True)
