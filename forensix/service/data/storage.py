"""Where uploads lie: a folder, or anything that fsspec reaches by URL.

A file becomes visible whole or not at all. In a folder it is written beside its place and renamed; with ``sync`` it is
brought to the disk before that, so that what an answer promised survives a power cut as the database does; the last
room on the disk is left to analyses and results, without which what waits could never be finished and deleted.
Elsewhere it is gathered in a temporary file and put in one call, which object stores do in one step. Keys are made by
the service, never from what a user sent. What goes wrong is an ``OSError``, wherever the files lie; an object store
that takes connections and does not answer goes wrong after 20 s, and 2 s more for every MB of the file.
"""

import contextlib
import datetime as dt
import errno
import logging
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from forensix.errors import MissingExtra, UsageError

_LOG = logging.getLogger(__name__)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")
_PARTIAL = ".partial"
_MARK = ".mark"
_READY = "ready-"

# An analysis keeps up to 58 MB of samples (30 min at 16 kHz) and 32 MB of a download or a copy beside the uploads.
_ROOM_BYTES = 128 * 1024**2
# Of a small disk, which is given small files.
_ROOM_PART = 8

# Longest time for a request to storage elsewhere, beside that for the file it takes there.
_PATIENCE_S = 20.0
_SLOWEST_BYTES_PER_S = 512 * 1024
# For clients of S3: two attempts within the patience, where s3fs by itself makes 25 of 15 s.
_S3 = {"connect_timeout": 4, "read_timeout": 9, "retries": {"total_max_attempts": 2}}


class Writing(Protocol):
    """A file that is being stored."""

    def write(self, data: bytes, /) -> Any:
        """Add ``data`` at the end."""

    def close(self) -> None:
        """Make the file visible, whole, or leave nothing; but what storage elsewhere took and did not confirm may be
        there, for retention to delete."""

    def discard(self) -> None:
        """Forget it; nothing was ever visible. Harmless after `close`."""


class Storage:
    """Files by key, under one URL; ``sync`` brings each to the disk of a folder before it is visible.

    Raises
    ------
    UsageError
        The URL is of a kind that fsspec does not know, or names a file.
    MissingExtra
        It knows the kind, but the package for it is not installed.
    OSError
        The storage cannot be reached, or not be used; so do all methods say it.
    """

    def __init__(self, url: str, *, sync: bool = False) -> None:
        import fsspec

        self._sync = sync

        try:
            self._fs, self._root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            scheme = url.partition("://")[0]
            raise MissingExtra(f"storage at {scheme}:// needs a further package: {error}") from None
        except ValueError as error:
            raise UsageError(f"FORENSIX_STORAGE_URL is not valid: {error}") from None
        self._folder = Path(self._root) if "file" in _protocols(self._fs) else None
        if self._folder:
            try:
                # People's media: for nobody but the service.
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise UsageError(f"FORENSIX_STORAGE_URL names {self._root}, which is no folder: name another") from None
        else:
            # Others store and delete too: what was listed once says nothing of what is there now.
            self._fs.dircache.use_listings_cache = False
            if "s3" in _protocols(self._fs):
                # What an operator has set for fsspec goes before.
                self._fs.retries, self._fs.config_kwargs = 1, _S3 | self._fs.config_kwargs
            _ask(self._fs, "makedirs", self._root, exist_ok=True)

    def write(self, key: str) -> Writing:
        """Return a file to write to; it is visible under ``key`` once it is closed."""
        path = self._path(key)
        if self._folder:
            return _FolderFile(path, self._sync)
        return _SpooledFile(self._fs, path)

    def read(self, key: str) -> IO[bytes]:
        """Open a stored file.

        Raises
        ------
        FileNotFoundError
            There is none under ``key``.
        """
        path = self._path(key)
        with _as_os_error():
            opened: IO[bytes] = self._fs.open(path, "rb")
        return opened

    @contextlib.contextmanager
    def local(self, key: str, scratch: Path) -> Iterator[Path]:
        """Yield a local path of a stored file: the file itself in a folder, else a copy in ``scratch``.

        Raises
        ------
        FileNotFoundError
            There is none under ``key``.
        """
        path = self._path(key)
        if self._folder:
            if not self._folder.is_dir():
                raise OSError("the folder of the storage is not there")
            os.stat(path)
            yield Path(path)
            return
        copy = scratch / key
        try:
            with _as_os_error():
                self._fs.get_file(path, str(copy))
            yield copy
        finally:
            copy.unlink(missing_ok=True)

    def delete(self, key: str) -> None:
        """Delete a stored file; harmless when it is gone already."""
        path = self._path(key)
        with contextlib.suppress(FileNotFoundError):
            _ask(self._fs, "rm_file", path)

    def leave_mark(self, mark: str) -> None:
        """Store an empty file beside the others that `has_mark` finds and `listing` passes over."""
        path = self._path(mark) + _MARK
        if self._folder:
            Path(path).touch(mode=0o600)
        else:
            _SpooledFile(self._fs, path).close()

    def has_mark(self, mark: str) -> bool:
        """Return whether `leave_mark` was called with ``mark``, by whatever process."""
        path = self._path(mark) + _MARK
        return Path(path).exists() if self._folder else bool(_ask(self._fs, "exists", path))

    def listing(self) -> Iterator[tuple[str, float]]:
        """Yield the key of every stored file and the time it was stored, in seconds since 1970."""
        entries: list[dict[str, Any]] = []
        # In an object store a folder is there while something is in it.
        with contextlib.suppress(FileNotFoundError), _as_os_error():
            entries = self._fs.ls(self._root, detail=True)
        for entry in entries:
            name = entry["name"].rstrip("/").rpartition("/")[2]
            if entry["type"] == "file" and _KEY.fullmatch(name):
                yield name, _stored_at(entry)

    def sweep(self, older_than_s: float) -> int:
        """Delete what broken-off uploads left behind in a folder, and return how many files that were."""
        if not self._folder:
            return 0
        swept = 0
        for path in self._folder.glob(f"*{_PARTIAL}"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - older_than_s:
                    path.unlink()
                    swept += 1
        return swept

    def ready(self) -> bool:
        """Return whether a file can be stored now; why not goes to the log."""
        key = _READY + secrets.token_hex(8)
        try:
            file = self.write(key)
            try:
                file.write(b"ready")
                file.close()
            finally:
                file.discard()
            self.delete(key)
        except Exception as error:
            # What a package for elsewhere says may hold a secret; what the system says of a folder does not.
            reason = getattr(error, "strerror", None) or type(error.__cause__ or error).__name__
            _LOG.warning("the storage is not ready: %s", reason)
            return False
        return True

    def _path(self, key: str) -> str:
        if not _KEY.fullmatch(key):
            raise ValueError(f"a storage key has letters, digits, - and _ only, not {key!r}")
        return f"{self._root.rstrip('/')}/{key}"


class _FolderFile:
    """Written beside its place and renamed into it."""

    def __init__(self, path: str, sync: bool) -> None:
        self._path, self._sync = path, sync
        self._partial = f"{path}.{secrets.token_hex(4)}{_PARTIAL}"
        descriptor = os.open(self._partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(descriptor, "wb")

    def write(self, data: bytes, /) -> int:
        disk = shutil.disk_usage(os.path.dirname(self._path))
        if disk.free - len(data) < min(_ROOM_BYTES, disk.total // _ROOM_PART):
            raise OSError(errno.ENOSPC, f"{disk.free // 1024**2} MB are free, which analyses need to finish")
        return self._file.write(data)

    def close(self) -> None:
        try:
            self._file.flush()
            if self._sync:
                os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._partial, self._path)
        except BaseException:
            self.discard()
            raise
        if self._sync:
            try:
                _sync_folder(os.path.dirname(self._path))
            except BaseException:
                os.unlink(self._path)
                raise

    def discard(self) -> None:
        # What is still buffered need not reach the disk, which may be full.
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._partial)


class _SpooledFile:
    """Gathered here in a file without a name, of which nothing is left however the process ends; put in one call."""

    def __init__(self, fs: Any, path: str) -> None:
        self._fs, self._path = fs, path
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close and discard

    def write(self, data: bytes, /) -> int:
        return self._file.write(data)

    def close(self) -> None:
        try:
            time_s = self._file.tell() / _SLOWEST_BYTES_PER_S
            self._file.seek(0)
            _ask(self._fs, "put_file", f"/dev/fd/{self._file.fileno()}", self._path, more_s=time_s)
        finally:
            self.discard()

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._file.close()


def _ask(fs: Any, method: str, *args: Any, more_s: float = 0, **options: Any) -> Any:
    """Return what a method of storage elsewhere does, within the patience and ``more_s``."""
    if fs.async_impl:
        # Clients of S3 limit the wait for an answer to what was sent, but wait without limit to be let send it.
        options["timeout"] = _PATIENCE_S + more_s
    with _as_os_error():
        try:
            return getattr(fs, method)(*args, **options)
        except TimeoutError:
            raise TimeoutError("the storage does not answer") from None


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    """Say in the words of a folder what goes wrong elsewhere, where each package has exceptions of its own."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"the storage cannot be used ({type(error).__name__})") from error


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _stored_at(entry: dict[str, Any]) -> float:
    # Each file system of fsspec names it its own way.
    for name in ("mtime", "LastModified", "last_modified", "created", "updated"):
        value = entry.get(name)
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, dt.datetime):
            return value.timestamp()
    # Unknown is taken for new: rather keep a file than delete one that is being used.
    return time.time()
