"""Insisting on a database that is away, full or locked, or a full disk: no job is given up for what will pass."""

import errno
import logging
import random
import threading
from collections.abc import Callable
from typing import TypeVar

import sqlalchemy as sa

from forensix.errors import first_line, is_disk_full
from forensix.service.work.analyst import Stopped

_LOG = logging.getLogger(__name__)
_FIRST_S = 0.2
_LONGEST_S = 10.0
T = TypeVar("T")


class Away(OSError):
    """What is needed cannot be reached at the moment."""


class Retry:
    """Repeats what may well succeed later, until it does or the worker stops."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        """No new work."""
        self.over = threading.Event()
        """Nor any more insisting on the old."""

    def insist(self, attempt: Callable[[], T], *, even_when_stopping: bool = False) -> T:
        """Call ``attempt``, again and again while the database or the disk cannot take it.

        Raises
        ------
        Stopped
            The worker is stopping before that has passed: another run of the job will do it.
        """
        wait_s = _FIRST_S
        stop = self.over if even_when_stopping else self.stopping
        while True:
            try:
                return attempt()
            except (sa.exc.SQLAlchemyError, OSError) as error:
                if not is_passing(error):
                    raise
                _LOG.warning("a job cannot go on (%s); trying again", first_line(error))
            if stop.wait(wait_s * random.uniform(0.5, 1)):
                raise Stopped
            wait_s = min(wait_s * 2, _LONGEST_S)


def is_passing(error: Exception) -> bool:
    """Return whether an error may pass: connection lost, refused or exhausted, disk full, locked, deadlock."""
    if isinstance(error, OSError):
        # A limit on the size of files does not pass.
        return isinstance(error, Away) or (is_disk_full(error) and error.errno != errno.EFBIG)
    if isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError | sa.exc.TimeoutError)
