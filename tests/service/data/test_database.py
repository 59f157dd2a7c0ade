"""The embedded database's file, and connections to PostgreSQL: what is set on their sockets, the queue's as well."""

import os
import socket
import time
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from forensix.errors import ForensixError
from forensix.service.data.database import migrate
from forensix.service.data.jobs import Jobs, prepare
from forensix.service.settings import Settings
from tests.service.in_process import refused, running_api
from tests.service.postgres import postgres, program


def test_nobody_else_can_read_the_embedded_database(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with running_api(tmp_path) as api:
        api.account()
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("forensix.db*")}
    assert modes == dict.fromkeys(("forensix.db", "forensix.db-wal", "forensix.db-shm"), 0o600)
    file = tmp_path / "forensix.db"
    file.chmod(0o664)
    with running_api(tmp_path):
        # A group that the operator gave it to keeps it.
        assert file.stat().st_mode & 0o777 == 0o660


def test_nothing_is_taken_on_into_a_database_whose_file_was_deleted(tmp_path: Path) -> None:
    file, aside = tmp_path / "forensix.db", tmp_path / "aside.db"
    with running_api(tmp_path) as api:
        account = api.account()
        for other in (None, b""):  # it is gone, or another took its place
            file.rename(aside)
            if other is not None:
                file.write_bytes(other)
            refused(account.create(), 503, "unavailable")
            aside.rename(file)
            account.created()


def test_any_release_of_sqlite_knows_the_time_that_the_queue_asks_for(tmp_path: Path) -> None:
    engine = sa.create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.begin() as connection:
        connection.execute(
            sa.text("CREATE TABLE a (b INTEGER, c INTEGER NOT NULL DEFAULT (unixepoch('subsec') * 1000))")
        )
        connection.execute(sa.text("INSERT INTO a (b) VALUES (1)"))
        assert abs(connection.scalar(sa.text("SELECT c FROM a")) - 1000 * time.time()) < 60_000
    engine.dispose()


@pytest.mark.skipif(program("postgres") is None, reason="PostgreSQL is not installed")
def test_connections_give_up_a_host_that_vanished(tmp_path: Path) -> None:
    def options(engine: sa.Engine) -> dict[str, int]:
        names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
        with engine.connect() as connection:
            descriptor = os.dup(connection.connection.dbapi_connection.pgconn.socket)  # type: ignore[union-attr]
            with socket.socket(fileno=descriptor) as actual:
                assert actual.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                return {name: actual.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in names}

    with postgres() as server:
        for url, idle_s in ((server.url, 10), (f"{server.url}?keepalives_idle=20", 20)):
            with running_api(tmp_path, database_url=url) as api:
                queue = api.context.queue
                assert isinstance(queue, Jobs)
                for engine in (api.context.database.engine, queue._client._sys_db.engine):
                    assert options(engine) == {
                        "TCP_KEEPIDLE": idle_s,
                        "TCP_KEEPINTVL": 5,
                        "TCP_KEEPCNT": 3,
                        "TCP_USER_TIMEOUT": 15000,
                    }


@pytest.mark.skipif(program("postgres") is None, reason="PostgreSQL is not installed")
def test_a_role_that_does_not_own_its_database_is_told_so(tmp_path: Path) -> None:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as owner:
        owner.execute("CREATE ROLE guest LOGIN")
        settings = Settings.read(home=tmp_path, database_url=server.url.replace("forensix@", "guest@"))
        with pytest.raises(ForensixError, match="permission denied for schema public; let its role own it"):
            migrate(settings)
        owner.execute("GRANT ALL ON SCHEMA public TO guest")
        migrate(settings)
        with pytest.raises(ForensixError, match="permission denied for database postgres; let its role own it"):
            prepare(settings)
