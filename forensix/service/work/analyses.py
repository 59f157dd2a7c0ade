"""The analysis of one task, as a job: take it on, analyse, write the outcome once, queue its delivery.

The body may run again at any point. Every start is counted in the row; a task whose analysis was started twice and
never ended took its worker down twice, and is failed instead of taking down the next one. What the worker gives back
on purpose does not count.
"""

import contextlib
import json
import logging
import re
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from forensix.errors import UsageError
from forensix.schema import ForensicResult
from forensix.service.data import marks
from forensix.service.data.database import Database, tasks
from forensix.service.data.jobs import Jobs
from forensix.service.data.reports import description_of
from forensix.service.data.storage import Storage
from forensix.service.settings import Settings
from forensix.service.work import deliveries
from forensix.service.work.analyst import Analyst, Answer, Stopped
from forensix.service.work.retry import Away, Retry, is_passing
from forensix.tasks.catalogue import describe, task_names

_LOG = logging.getLogger(__name__)

MAX_STARTS = 2
STORAGE_S = 600.0
"""How long storage that cannot be read is waited for; a file that alone cannot be read must not hold a worker up."""
_DATA_URI = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,")
_KILLED = Answer(
    error="the analysis was stopped twice together with the program that ran it; this file seems to cause it",
    code="killed_worker",
)
_NO_TASK = Answer(
    error="this analysis is no longer to be had here: its package was removed or does not load; ask the operator",
    code="task_gone",
)
_NO_UPLOAD = Answer(error="the uploaded file is no longer there; create the task again", code="upload_gone")


class Analyses:
    """What a worker needs to run analyses; ``chosen`` are its components by slot, and where their networks run."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        jobs: Jobs,
        storage: Storage,
        analyst: Analyst,
        retry: Retry,
        scratch: Path,
        chosen: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._settings, self._database, self._jobs, self._storage = settings, database, jobs, storage
        self._analyst, self._retry, self._scratch = analyst, retry, scratch
        self._chosen = dict(chosen)

    def run(self, task_id: str) -> None:
        """Analyse a task that is still in progress.

        Raises
        ------
        Stopped
            The worker is stopping; the task is as it was before.
        """
        row = self._retry.insist(lambda: self._start(task_id))
        if row is None:
            return
        begun = time.monotonic()
        try:
            until = begun + STORAGE_S
            again = row["attempts"] < MAX_STARTS
            if not _is_offered(row["task"]):
                answer = _NO_TASK
            else:
                answer = self._retry.insist(lambda: self._analyse(row, until)) if again else _KILLED
        except Stopped:
            self._retry.insist(lambda: self._unstart(task_id), even_when_stopping=True)
            raise
        except Exception:
            # The storage, not the file: whatever is wrong here must not leave the task in progress.
            _LOG.exception("task %s could not be analysed", task_id)
            answer = Answer(error="the analysis could not be run; create the task again", code="internal")
        self._retry.insist(lambda: self._finish(row, answer), even_when_stopping=True)
        outcome = answer.code or "completed"
        fields = {"task_id": task_id, "task": row["task"], "outcome": outcome, "seconds": time.monotonic() - begun}
        if answer.where:
            _LOG.error("an analysis broke down\n%s", answer.where, extra={"fields": fields})
        _LOG.info("analysed", extra={"fields": fields})

    def _start(self, task_id: str) -> Mapping[str, Any] | None:
        mine = sa.and_(tasks.c.id == task_id, tasks.c.status == "in_progress")
        with self._database.write() as connection:
            row = connection.execute(sa.select(tasks).where(mine)).mappings().one_or_none()
            if row is None:
                return None
            started = {"attempts": tasks.c.attempts + 1, "started_at": time.time()}
            connection.execute(sa.update(tasks).where(mine).values(started))
            return dict(row)

    def _unstart(self, task_id: str) -> None:
        mine = sa.and_(tasks.c.id == task_id, tasks.c.status == "in_progress", tasks.c.attempts > 0)
        with self._database.write() as connection:
            connection.execute(sa.update(tasks).where(mine).values(attempts=tasks.c.attempts - 1, started_at=None))

    def _analyse(self, row: Mapping[str, Any], until: float) -> Answer:
        request = {
            "tasks": [row["task"]],
            "explain": row["explain"],
            "transcribe": row["transcribe"],
            "additional_info": row["additional_info"],
            "private_hosts": list(self._settings.private_hosts),
            "limits": {"max_bytes": self._settings.max_upload_bytes},
            **self._chosen,
        }
        if row["upload"] is None:
            return self._analyst.analyse(request | {"source": row["url"]})
        try:
            with contextlib.ExitStack() as stack:
                path = self._fetched(stack, row["upload"], until)
                # Without a name of its own it gets a plain one: the key must not show.
                name = row["file_name"] or "upload"
                return self._analyst.analyse(request | {"source": str(path), "name": name})
        except FileNotFoundError:
            return _NO_UPLOAD

    def _fetched(self, stack: contextlib.ExitStack, key: str, until: float) -> Path:
        try:
            return stack.enter_context(self._storage.local(key, self._scratch))
        except FileNotFoundError as error:
            if time.monotonic() > until or marks.is_there(self._database, self._storage):
                raise
            raise Away("the storage is not that of the database") from error
        except OSError as error:
            # As long as the storage is away, a queue must not be burnt.
            if time.monotonic() > until or is_passing(error):
                raise
            raise Away("the storage cannot be read") from error

    def _finish(self, row: Mapping[str, Any], answer: Answer) -> None:
        # Claims hold no pictures, and a file that they quote may spell what looks like one.
        bare = not self._settings.data_uris and description_of(row["task"]).result is not ForensicResult
        outcome = _columns(answer, bare=bare)
        mine = sa.and_(tasks.c.id == row["id"], tasks.c.status == "in_progress")
        with self._database.write() as connection:
            written = connection.execute(sa.update(tasks).where(mine).values(outcome))
            if written.rowcount:
                deliveries.begin(connection, self._jobs, self._settings, row)


def _is_offered(task: str) -> bool:
    """Return whether a task can be loaded; a package that was there when the task was created may be gone."""
    try:
        describe(task)
    except UsageError as error:
        _LOG.error("%s", error)
        return False
    return task in task_names()


def _columns(answer: Answer, *, bare: bool) -> dict[str, Any]:
    common: dict[str, Any] = {"finished_at": time.time()}
    if answer.result is None:
        return common | {"status": "failed", "error": _plain(answer.error or ""), "error_code": answer.code}
    result, preview = answer.result, answer.preview
    if bare:
        result, preview = _bare(result), _bare(preview)
    # ASCII, so that a NUL in a file's metadata, which PostgreSQL does not store, is an escape.
    text = json.dumps(result, separators=(",", ":"), ensure_ascii=True)
    return common | {"status": "completed", "result": text, "preview": preview}


def _bare(value: Any) -> Any:
    """Return JSON in which pictures are the bare base64."""
    if isinstance(value, str):
        return _DATA_URI.sub("", value, count=1) if _DATA_URI.match(value) else value
    if isinstance(value, Mapping):
        return {key: _bare(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_bare(each) for each in value]
    return value


def _plain(text: str) -> str:
    return text.replace("\x00", "")
