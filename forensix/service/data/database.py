"""The tables that API and workers share, on SQLite or PostgreSQL, and transactions on them.

Times are seconds since 1970, UTC. A row of ``tokens`` is what makes a token good: deleting it ends the token at once.
A task's status changes only by ``UPDATE ... WHERE status = 'in_progress'``, so that a result is written once.
"""

import contextlib
import functools
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from forensix.errors import ForensixError
from forensix.service.settings import Settings

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x666F7265
_BUSY_MS = 30_000
_LOG_PAGES = 4000
_CACHE_KIB = 16 * 1024
_KNOWS_SUBSECONDS = (3, 42)
SILENT_S = 30.0
"""A worker that gave no sign of life for so long is gone for good."""

metadata = sa.MetaData()


def _account(**options: Any) -> sa.Column[str]:
    return sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, **options)


accounts = sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("webhook_secret", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
)

tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),  # the token's jti
    _account(index=True),
    sa.Column("ends_with", sa.Text, nullable=False),
    sa.Column("issued_at", sa.BigInteger, nullable=False),
    sa.Column("expires_at", sa.BigInteger, nullable=False),
)

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),  # report_id, and the id of the workflow
    _account(index=True),
    sa.Column("task", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("explain", sa.Boolean, nullable=False),
    sa.Column("transcribe", sa.Boolean, nullable=False),
    sa.Column("additional_info", sa.Text),
    sa.Column("url", sa.Text),
    sa.Column("upload", sa.Text),  # key in the storage
    sa.Column("file_name", sa.Text),
    sa.Column("result", sa.Text),  # JSON of the specification's ``result``
    sa.Column("preview", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("error_code", sa.Text),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Column("started_at", sa.Double),
    sa.Column("finished_at", sa.Double),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("turn", sa.Integer, nullable=False, server_default="0"),  # lower ones are analysed before
    sa.Index("ix_tasks_status_finished_at", "status", "finished_at"),
    sa.Index("ix_tasks_upload", "upload"),
)

webhooks = sa.Table(
    "webhooks",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    _account(),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("created_at", sa.Double, nullable=False),
    sa.Index("ix_webhooks_account_id_event", "account_id", "event"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("task_id", sa.Text, sa.ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("webhook_id", sa.Text, primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("last_status", sa.Integer),
    sa.Column("delivered_at", sa.Double),
    sa.Index("ix_deliveries_webhook_id_delivered_at", "webhook_id", "delivered_at"),
)

keys = sa.Table(
    "keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

workers = sa.Table(
    "workers",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("started_at", sa.Double, nullable=False),
    sa.Column("heartbeat_at", sa.Double, nullable=False),
)


class Database:
    """Connections to the one database; safe to use from several threads, to be made anew after a fork."""

    def __init__(self, settings: Settings, *, connections: int = 10) -> None:
        options: dict[str, Any] = {"pool_size": connections, "max_overflow": connections, "pool_timeout": 15}
        # An error's text ends up in the log; the values of its statement must not.
        options["hide_parameters"] = True
        if settings.is_sqlite:
            path = Path(settings.sqlalchemy_url.removeprefix("sqlite:///").partition("?")[0])
            _make_private(path)
            options["connect_args"] = {"timeout": _BUSY_MS / 1000, "check_same_thread": False}
            # The connection that wrote last knows the pages; another would read them again.
            options["pool_use_lifo"] = True
        else:
            options["pool_pre_ping"] = True
        self.engine = sa.create_engine(settings.sqlalchemy_url, **options)
        if settings.is_sqlite:
            sa.event.listen(self.engine, "connect", functools.partial(_set_up_sqlite, settings.sync))
            sa.event.listen(self.engine, "begin", _begin_sqlite)
            check = functools.partial(_check_in_place, path, _number(path))
            for event in ("do_connect", "checkout"):
                sa.event.listen(self.engine, event, check)
        self._writing = self.engine.execution_options(forensix_write=True)
        # Writers of one process take turns here: SQLite's own waiting is sleeping, which is slow and unfair.
        self._turn = threading.RLock() if settings.is_sqlite else contextlib.nullcontext()

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that only reads."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that writes: committed at the end, rolled back by an exception."""
        with self._turn, self._writing.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def migrate(settings: Settings) -> None:
    """Bring the tables to the newest revision; several processes may call this at once.

    Raises
    ------
    ForensixError
        When the database cannot be reached, or was written by a newer forensix.
    """
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    database = Database(settings, connections=1)
    try:
        # One transaction, and one process at a time: the others wait here and then find nothing left to do.
        with database.write() as connection:
            if not settings.is_sqlite:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            config = Config()
            config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
    except CommandError as error:
        words = "cannot be migrated; was it used by a newer forensix?"
        raise ForensixError(f"the database {settings.shown_database} {words} ({error})") from None
    except sa.exc.DBAPIError as error:
        raise unusable(settings, error) from None
    finally:
        database.close()


def _make_private(path: Path) -> None:
    # Password hashes and the key that signs tokens: for nobody else, also in a folder that others may read. What SQLite
    # makes beside it gets the same mode.
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
        raise ForensixError(f"there is no folder for the database {path}, and none can be made: {why}") from None
    with contextlib.suppress(OSError):
        if not path.exists():
            path.touch(mode=0o600)
        elif path.is_file() and path.stat().st_mode & 0o007:
            path.chmod(path.stat().st_mode & 0o770)


def _check_in_place(path: Path, number: int | None, *_: Any) -> None:
    # SQLite goes on with a file that was deleted or replaced, and all that is written to it is lost when it is closed.
    if _number(path) != number:
        raise sqlite3.OperationalError(f"{path} was deleted or replaced: put it back, or start the service again")


def _number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _set_up_sqlite(sync: bool, connection: Any, _record: Any) -> None:
    # Transactions are begun by _begin_sqlite, not by the driver's guess at what a statement does.
    connection.isolation_level = None
    cursor = connection.cursor()
    # Before the change to WAL, which takes a lock of its own.
    cursor.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    cursor.execute("PRAGMA journal_mode=WAL")
    # Either keeps the database whole; NORMAL may forget the last answers when the power fails, and only then.
    cursor.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
    cursor.execute("PRAGMA foreign_keys=ON")
    # A page that changes often is carried over into the database once, and not at every turn of a short log.
    cursor.execute(f"PRAGMA wal_autocheckpoint={_LOG_PAGES}")
    cursor.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    cursor.close()


@sa.event.listens_for(sa.Engine, "connect")
def _teach_subseconds(connection: Any, _record: Any) -> None:
    # DBOS's tables take the time from it, on connections of its own too; older releases of SQLite answer NULL.
    if isinstance(connection, sqlite3.Connection) and sqlite3.sqlite_version_info < _KNOWS_SUBSECONDS:
        connection.create_function("unixepoch", 1, lambda what: round(time.time(), 3) if what == "subsec" else None)


def _begin_sqlite(connection: sa.Connection) -> None:
    # A transaction that starts by reading could not become a writer once another has written: begin as one.
    write = connection.get_execution_options().get("forensix_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def unusable(settings: Settings, error: sa.exc.DBAPIError) -> ForensixError:
    """Return what an operator is told about a database that refuses."""
    reason = next(iter(str(error.orig).strip().splitlines()), "no reason given")
    denied = getattr(error.orig, "sqlstate", None) == "42501"
    remedy = "; let its role own it: ALTER DATABASE ... OWNER TO ..." if denied else ""
    return ForensixError(f"the database {settings.shown_database} cannot be used: {reason}{remedy}")
