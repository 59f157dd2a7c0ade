"""Rows of new tasks, written with their jobs in as few transactions as their arrival allows.

What comes while a transaction is being committed is written by the next one: a commit costs as much for sixteen rows as
for one, and so does a word from one thread to another. Uploads are stored beside the statements, and before the commit.
"""

import asyncio
import contextlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import sqlalchemy as sa

from forensix.service.api.uploads import Upload
from forensix.service.data.database import Database, tasks, tokens
from forensix.service.errors import bad_token

_ROW = ("id", "account_id", "task", "status", "explain", "transcribe", "additional_info", "url", "upload", "file_name",
        "created_at", "attempts")  # fmt: skip
_TOKEN = "the_token"
# A row comes into being only beside its token, which cannot be revoked before the transaction ends.
_INSERT = sa.insert(tasks).from_select(
    _ROW,
    sa.select(*(sa.bindparam(name, type_=tasks.c[name].type) for name in _ROW))
    .where(tokens.c.id == sa.bindparam(_TOKEN))
    .with_for_update(read=True, key_share=True, of=tokens),
)
_GOOD = sa.select(tokens.c.id).where(tokens.c.id.in_(sa.bindparam("ids", expanding=True)))
_THERE = sa.select(tasks.c.id).where(tasks.c.id.in_(sa.bindparam("ids", expanding=True)))


class Queue(Protocol):
    """The queue, as far as the API is concerned."""

    def create(self, connection: sa.Connection, task_ids: Sequence[str]) -> None:
        """Put tasks into the queue, in the transaction that makes their rows."""

    def depth(self) -> int:
        """Return how many tasks are unfinished."""

    def close(self) -> None:
        """Close its connections."""


class Creations:
    """Writes rows of new tasks in one thread, their uploads in another: what arrives meanwhile is the next batch."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database, self._queue = database, queue
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="forensix-creations")
        self._storing = ThreadPoolExecutor(1, thread_name_prefix="forensix-uploads")
        self._lock = threading.Lock()
        self._arrived: list[_Arrival] = []
        self._working = False

    async def create(self, row: Mapping[str, Any], token_id: str, upload: Upload | None) -> None:
        """Write a task and its job, if the token that came with it is still good, and its upload if that is not stored.

        When it fails, nothing is left of the upload; but where nobody can tell whether the row was written, because the
        database went away meanwhile, the upload stays, for the task or for retention to delete.

        Raises
        ------
        Refusal
            401: the token was revoked, or its account removed, since it was looked at.
        """
        mine = _Arrival(row, token_id, upload)
        with self._lock:
            self._arrived.append(mine)
            idle, self._working = not self._working, True
        if idle:
            self._thread.submit(self._work)
        # A client that goes away now has a task all the same.
        await asyncio.shield(mine.written)

    def close(self) -> None:
        """End the threads, when they have done what they are at."""
        self._thread.shutdown()
        self._storing.shutdown()

    def _work(self) -> None:
        while True:
            with self._lock:
                batch, self._arrived = self._arrived, []
                self._working = bool(batch)
            if not batch:
                return
            # By token, as tokens are ended: of two that lock in different orders each could wait for the other.
            batch.sort(key=lambda each: each.token_id)
            storing = self._storing.submit(_store, batch)
            try:
                self._write(batch, storing)
            except _NotStored:
                self._write([each for each in batch if each.error is None], storing)
            finally:
                # Until then nothing can be discarded.
                storing.result()
            for each in batch:
                if each.error is not None and not each.unknown:
                    each.discard()
            for loop in {each.loop for each in batch}:
                # A loop that is closed has nobody left who waits.
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(_tell, [each for each in batch if each.loop is loop])

    def _write(self, stored: "Sequence[_Arrival]", storing: "Future[None]") -> None:
        if not stored:
            return
        good = {each.token_id for each in stored}
        committing = False
        try:
            with self._database.write() as connection:
                rows = [{name: each.row[name] for name in _ROW} | {_TOKEN: each.token_id} for each in stored]
                if connection.execute(_INSERT, rows).rowcount < len(rows):
                    good = set(connection.scalars(_GOOD, {"ids": sorted(good)}))
                self._queue.create(connection, [each.row["id"] for each in stored if each.token_id in good])
                storing.result()
                if any(each.error is not None for each in stored):
                    raise _NotStored
                committing = True
        except _NotStored:
            raise
        except Exception as error:
            unknown = committing and _is_lost(error)
            written = self._written(stored) if unknown else set()
            for each in stored:
                if each.row["id"] not in written:
                    each.error, each.unknown = error, unknown
            if not committing:
                return
        for each in stored:
            if each.token_id not in good:
                each.error, each.unknown = bad_token("the token was revoked"), False

    def _written(self, stored: "Sequence[_Arrival]") -> set[str]:
        """Return the ids of tasks that are there; of others the row may still come, as the database goes on with it."""
        try:
            with self._database.read() as connection:
                return set(connection.scalars(_THERE, {"ids": [each.row["id"] for each in stored]}))
        except sa.exc.SQLAlchemyError:
            return set()


class _NotStored(Exception):
    """Some of a batch's uploads could not be stored; their tasks must not come into being."""


class _Arrival:
    """A task to be written, and the future that its request waits for."""

    def __init__(self, row: Mapping[str, Any], token_id: str, upload: Upload | None) -> None:
        self.row, self.token_id, self.upload = row, token_id, upload
        self.loop = asyncio.get_running_loop()
        self.written: asyncio.Future[None] = self.loop.create_future()
        self.error: Exception | None = None
        self.unknown = False
        """Whether the row may be there in spite of the error."""

    def store(self) -> None:
        """Bring the upload into the storage."""
        try:
            if self.upload is not None:
                self.upload.store()
        except Exception as error:
            self.error = error

    def discard(self) -> None:
        """Leave nothing of the upload behind; what that fails with matters less than what came before."""
        if self.upload is not None:
            with contextlib.suppress(Exception):
                self.upload.discard()


def _store(arrivals: "Sequence[_Arrival]") -> None:
    for each in arrivals:
        each.store()


def _is_lost(error: Exception) -> bool:
    """Return whether an error says nothing about what became of a commit, as a connection that breaks says nothing."""
    return not isinstance(error, sa.exc.DBAPIError) or error.connection_invalidated


def _tell(batch: Sequence[_Arrival]) -> None:
    for each in batch:
        if each.written.done():
            continue
        if each.error is None:
            each.written.set_result(None)
        else:
            each.written.set_exception(each.error)
