"""Scores that are kept: by content, model and settings, so that no file is scored twice and a killed run goes on.

One SQLite file. Rows are added in transactions: whoever is killed amid one loses that one and nothing else, and
several runs may use a store at once.
"""

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self

from forensix.errors import UsageError

Row = dict[str, Any]

_BUSY_S = 120
_AT_ONCE = 500
_FORM = 1
_KEEP_ROWS = 200
_KEEP_S = 2.0


class Store:
    """A file of scores; close it, or use it in a ``with`` statement.

    Raises
    ------
    UsageError
        The file cannot be made, is no store, or is damaged.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=_BUSY_S, isolation_level=None)
        except (sqlite3.Error, OSError) as error:
            raise self._refusal(error) from None
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._execute("SELECT COUNT(*) FROM scores").fetchone()[0])

    def get(self, keys: Iterable[str]) -> dict[str, Row]:
        """Return the rows that there are of these keys."""
        distinct = list(dict.fromkeys(keys))
        rows: dict[str, Row] = {}
        for at in range(0, len(distinct), _AT_ONCE):
            some = distinct[at : at + _AT_ONCE]
            marks = ",".join("?" * len(some))
            for key, row in self._execute(f"SELECT key, row FROM scores WHERE key IN ({marks})", some):
                rows[key] = json.loads(row)
        return rows

    def put(self, rows: Mapping[str, Row]) -> None:
        """Keep rows: all of them or, where the process ends amid it or the file was removed, none."""
        encoded = [(key, json.dumps(row, allow_nan=False)) for key, row in rows.items()]
        self._execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", encoded)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            # A full disk ends the transaction by itself.
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            # Gone once another run of the same evaluation has finished: there is nothing left to go on with.
            if self.path.exists():
                raise self._refusal(error) from None

    def takes(self) -> bool:
        """Return whether rows can be added: a cache that others share may be only for reading."""
        if not os.access(self.path, os.W_OK) or not os.access(self.path.parent, os.W_OK):
            return False
        self._execute("BEGIN IMMEDIATE")
        self._execute("ROLLBACK")
        return True

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def delete(self) -> None:
        """Close and remove the file."""
        self.close()
        for suffix in ("", "-journal", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _prepare(self) -> None:
        self._execute("PRAGMA synchronous=NORMAL")
        form = self._execute("PRAGMA user_version").fetchone()[0]
        if form not in (0, _FORM):
            raise UsageError(f"{self.path} was written by another release of forensix: delete it, or name another")
        if form == 0:
            self._execute("CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, row TEXT) WITHOUT ROWID")
            self._execute(f"PRAGMA user_version={_FORM}")

    def _execute(self, statement: str, values: Iterable[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(statement, list(values))
        except sqlite3.Error as error:
            raise self._refusal(error) from None

    def _refusal(self, error: Exception) -> UsageError:
        if isinstance(error, sqlite3.OperationalError | OSError):
            return UsageError(f"scores cannot be kept in {self.path} ({error}): name another folder, or cache=False")
        return UsageError(f"{self.path} is no store of scores, or is damaged ({error}): delete it, or name another")


class Stores:
    """Where an evaluation looks scores up and keeps them: the output's own while it is written, and the cache."""

    def __init__(self, stack: contextlib.ExitStack, own: Store | None, cache: Path | None) -> None:
        self._read = [] if own is None else [own]
        self._written = list(self._read)
        self.notes: list[str] = []
        if cache is not None:
            shared = stack.enter_context(Store(cache))
            self._read.append(shared)
            if shared.takes():
                self._written.append(shared)
            else:
                self.notes.append(f"{cache} can only be read: what was scored now is not kept there.")
        self._waiting: dict[str, Row] = {}
        self._kept_at = time.monotonic()
        self.n_cached = self.n_scored = 0

    def get(self, keys: Iterable[str]) -> dict[str, Row]:
        """Return the rows that there are of these keys."""
        asked_for = list(keys)
        rows: dict[str, Row] = {}
        for store in self._read:
            rows |= store.get(key for key in asked_for if key not in rows)
        self.n_cached += len(rows)
        return rows

    def keep(self, key: str, row: Row) -> None:
        """Keep a row, soon; one with an error is tried again by later runs."""
        self.n_scored += 1
        if row.get("error") is None:
            self._waiting[key] = row
        if len(self._waiting) >= _KEEP_ROWS or time.monotonic() - self._kept_at > _KEEP_S:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self._waiting:
            for store in self._written:
                store.put(self._waiting)
        self._waiting = {}
        self._kept_at = time.monotonic()
