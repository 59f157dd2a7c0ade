"""A worker's folder for files in work, among them copies of uploads, and the end of those whose worker is gone.

Beside each folder in ``HOME/scratch`` lies a lock file, which its worker holds locked until it ends, however it ends. A
folder goes when nobody holds its lock nor the lease that it is named after: one database does not know the leases of
another whose workers share this home, and locks do not reach other hosts on every network disk. Only who holds the lock
creates or deletes the folder and the lock file.
"""

import contextlib
import fcntl
import itertools
import logging
import os
import shutil
from pathlib import Path

from forensix.service.data.database import Database
from forensix.service.work import leases

_LOG = logging.getLogger(__name__)
_LOCK = ".lock"


class Scratch:
    """One worker's folder in ``root``, empty at first; others leave it alone until it is closed or the process ends.

    Raises
    ------
    OSError
        The folder cannot be created.
    """

    def __init__(self, root: Path, lease: str) -> None:
        self._root, self._place = root, _place(lease)
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock: int | None = None
        # The first, unless a worker of another database is there, or somebody who deletes what was left in it.
        for number in itertools.count():
            self.folder = root / f"{self._place}.{number}"
            try:
                self._lock = _lock(self.folder)
            except OSError as error:
                _LOG.warning("what workers leave when they are killed stays: no lock in %s (%s)", root, error.strerror)
                break
            if self._lock is not None:
                break
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700, exist_ok=True)

    def clear(self, database: Database) -> int:
        """Delete what workers that are gone left in ``root``; return how many folders that were.

        Raises
        ------
        sqlalchemy.exc.SQLAlchemyError
            The database is away.
        OSError
            ``root`` cannot be read.
        """
        names = {
            path.name.removesuffix(_LOCK) for path in self._root.iterdir() if path.suffix == _LOCK or path.is_dir()
        }
        # Looked up second: a worker has its lease before it has a folder. Ours, others had before us.
        held = {_place(lease) for lease in leases.held(database)} - {self._place}
        gone = [name for name in names - {self.folder.name} if name.rpartition(".")[0] not in held]
        n_deleted = sum(_delete(self._root / name) for name in gone)
        if n_deleted:
            _LOG.info("files in work of workers that are gone were deleted", extra={"fields": {"folders": n_deleted}})
        return n_deleted

    def close(self) -> None:
        """Delete the folder with all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            _lock_file(self.folder).unlink()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _place(lease: str) -> str:
    return lease.replace("/", "-")


def _lock_file(folder: Path) -> Path:
    return folder.with_name(folder.name + _LOCK)


def _lock(folder: Path) -> int | None:
    """Return a descriptor that holds a folder's lock while it is open, or None where another has it.

    Raises
    ------
    OSError
        There are no locks on this disk.
    """
    path = _lock_file(folder)
    # Not inherited: processes that a worker started do not hold its lock when it is gone.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever had it may have deleted the file since we opened it; a lock on that keeps nobody out.
        if os.path.samestat(os.fstat(descriptor), path.stat()):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _delete(folder: Path) -> bool:
    """Delete a folder and its lock file unless a worker holds the lock; return whether a folder went."""
    try:
        lock = _lock(folder)
    except OSError:
        # Rather kept than taken from under a worker.
        return False
    if lock is None:
        return False
    try:
        was_there = folder.is_dir()
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            _lock_file(folder).unlink()
        return was_there and not folder.exists()
    finally:
        os.close(lock)
