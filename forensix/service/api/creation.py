"""The row of a new task, written with its job in one transaction, when its upload lies in the storage."""

import contextlib
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from forensix.service.api.uploads import Upload
from forensix.service.data.database import Database, tasks, tokens
from forensix.service.data.jobs import Jobs, next_turn
from forensix.service.errors import bad_token

_ROW = ("id", "account_id", "task", "status", "explain", "transcribe", "additional_info", "url", "upload", "file_name",
        "created_at", "attempts", "turn")  # fmt: skip
# A row comes into being only beside its token, which cannot be revoked before the transaction ends.
_INSERT = sa.insert(tasks).from_select(
    _ROW,
    sa.select(*(sa.bindparam(name, type_=tasks.c[name].type) for name in _ROW))
    .where(tokens.c.id == sa.bindparam("the_token"))
    .with_for_update(read=True, key_share=True, of=tokens),
)


def create_task(database: Database, queue: Jobs, row: Mapping[str, Any], token_id: str, upload: Upload | None) -> None:
    """Write a task and its job, if the token that came with it is still good; blocks.

    When it fails, nothing is left of the upload; but where nobody can tell whether the row was written, because the
    database went away meanwhile, the upload stays, for the task or for retention to delete.

    Raises
    ------
    Refusal
        401: the token was revoked, or its account removed, since it was looked at.
    """
    committing = False
    try:
        with database.write() as connection:
            turn = next_turn(connection, row["account_id"])
            values = {**row, "turn": turn, "the_token": token_id}
            if not connection.execute(_INSERT, values).rowcount:
                raise bad_token("the token was revoked")
            queue.create(connection, row["id"], turn)
            committing = True
    except Exception as error:
        is_unknown = committing and _is_lost(error)
        if is_unknown and _is_there(database, row["id"]):
            return
        if upload is not None and not is_unknown:
            # What that fails with matters less than what came before.
            with contextlib.suppress(Exception):
                upload.discard()
        raise


def _is_there(database: Database, task_id: str) -> bool:
    """Return whether a task is there; where it is not, it may still come, as the database goes on with it."""
    try:
        with database.read() as connection:
            return connection.scalar(sa.select(tasks.c.id).where(tasks.c.id == task_id)) is not None
    except sa.exc.SQLAlchemyError:
        return False


def _is_lost(error: Exception) -> bool:
    """Return whether an error says nothing about what became of a commit, as a connection that breaks says nothing."""
    return not isinstance(error, sa.exc.DBAPIError) or error.connection_invalidated
