"""Whether storage is the one that goes with the database: a file in it has the name that the database knows.

Each host is told of both by itself. A worker that has the one and not the other, because its own home or an empty mount
point took the place of the shared folder, would fail all tasks for uploads that are not there.
"""

import contextlib
import logging
import secrets

import sqlalchemy as sa

from forensix.service.data.database import Database, keys
from forensix.service.data.storage import Storage

_LOG = logging.getLogger(__name__)
_NAME = "storage"
_KNOWN = sa.select(keys.c.value).where(keys.c.name == _NAME)


def leave(database: Database, storage: Storage) -> None:
    """Mark storage as that of a database, as who takes uploads does; the log tells of storage that was another's.

    Where it cannot be marked, above all because the disk is full, that is logged: what is asked of it may still go.
    """
    try:
        known = _known(database)
        if known is None:
            mark = secrets.token_hex(8)
            storage.leave_mark(mark)
            with contextlib.suppress(sa.exc.IntegrityError), database.write() as connection:
                connection.execute(sa.insert(keys).values(name=_NAME, value=mark))
                return
            # Another process was first.
            known = _known(database) or mark
        if not storage.has_mark(known):
            storage.leave_mark(known)
            _LOG.warning("the storage is not the one that this database had; uploads that are not in it cannot be read")
    except OSError as error:
        _LOG.warning("the storage cannot be marked: %s", error.strerror or type(error).__name__)


def is_there(database: Database, storage: Storage) -> bool:
    """Return whether storage has the mark of a database, or the database has none yet.

    Raises
    ------
    OSError
        The storage cannot be asked.
    """
    known = _known(database)
    return known is None or storage.has_mark(known)


def _known(database: Database) -> str | None:
    with database.read() as connection:
        known: str | None = connection.scalar(_KNOWN)
    return known
