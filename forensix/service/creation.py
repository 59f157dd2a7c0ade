"""Rows of new tasks, written with their jobs in as few transactions as their arrival allows.

Threads that come while another is committing wait for its turn to end, and the first of them writes for all: a commit
costs as much for sixteen rows as for one.
"""

import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import sqlalchemy as sa

from forensix.service.database import Database, tasks, tokens
from forensix.service.errors import bad_token

_INSERT = sa.insert(tasks)
_GOOD = (
    sa.select(tokens.c.id)
    .where(tokens.c.id.in_(sa.bindparam("ids", expanding=True)))
    .with_for_update(read=True, key_share=True)
)


class Queue(Protocol):
    """The queue, as far as the API is concerned."""

    def create(self, connection: sa.Connection, row: Mapping[str, Any]) -> None:
        """Put a task into the queue, in the transaction that makes its row."""

    def depth(self) -> int:
        """Return how many tasks are unfinished."""

    def close(self) -> None:
        """Close its connections."""


class Creations:
    """Writes the rows of new tasks; called from several threads."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database, self._queue = database, queue
        self._turn = threading.Lock()
        self._arrived: deque[_Arrival] = deque()

    def insert(self, row: Mapping[str, Any], token_id: str) -> None:
        """Write a task and its job, if the token that came with it is still good; blocks.

        Raises
        ------
        Refusal
            401: the token was revoked, or its account removed, since it was looked at.
        """
        mine = _Arrival(row, token_id)
        self._arrived.append(mine)
        with self._turn:
            if not mine.done:
                self._write([self._arrived.popleft() for _ in range(len(self._arrived))])
        if mine.error is not None:
            raise mine.error

    def _write(self, arrived: "Sequence[_Arrival]") -> None:
        try:
            with self._database.write() as connection:
                good = set(connection.scalars(_GOOD, {"ids": [each.token_id for each in arrived]}))
                written = [each for each in arrived if each.token_id in good]
                if written:
                    connection.execute(_INSERT, [dict(each.row) for each in written])
                for each in written:
                    self._queue.create(connection, each.row)
        except Exception as error:
            for each in arrived:
                each.error, each.done = error, True
            return
        for each in arrived:
            if each.token_id not in good:
                each.error = bad_token("the token was revoked")
            each.done = True


class _Arrival:
    def __init__(self, row: Mapping[str, Any], token_id: str) -> None:
        self.row, self.token_id = row, token_id
        self.done = False
        self.error: Exception | None = None
