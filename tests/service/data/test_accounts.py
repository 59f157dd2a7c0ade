"""Accounts: the commands, what is kept of a password, and what an answer may tell."""

import asyncio
import contextlib
import io
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from forensix.cli import main
from forensix.errors import UsageError
from forensix.service import commands
from forensix.service.data import accounts
from forensix.service.data.database import Database, migrate, tasks, tokens
from forensix.service.data.database import accounts as table
from forensix.service.data.storage import Storage
from forensix.service.settings import Settings
from tests.service.in_process import JPEG, running_api
from tests.service.postgres import postgres, program


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DATABASE_URL", "STORAGE_URL", "PRIVATE_HOSTS"):
        monkeypatch.delenv(f"FORENSIX_{name}", raising=False)
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    settings = Settings.read(home=tmp_path)
    migrate(settings)
    with contextlib.closing(Database(settings)) as database:
        yield database


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, typed: str = "") -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as stopped:
        main(("account", *arguments))
    return int(stopped.value.code or 0)


def test_an_account_by_the_commands(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "add", "anna", typed="a long password\n") == 0
    secret = capsys.readouterr().out.strip()
    assert secret.startswith("whsec_")
    assert run(monkeypatch, "secret", "anna") == 0
    assert capsys.readouterr().out.strip() == secret
    assert run(monkeypatch, "list") == 0
    assert capsys.readouterr().out.startswith("anna ")

    database = Database(Settings.read())
    assert accounts.check(database, "anna", "a long password")
    assert run(monkeypatch, "password", "anna", typed="another password\n") == 0
    assert accounts.check(database, "anna", "a long password") is None
    assert accounts.check(database, "anna", "another password")

    assert run(monkeypatch, "add", "anna", typed="a long password\n") == 2
    assert "already" in capsys.readouterr().err
    assert run(monkeypatch, "secret", "bert") == 2
    assert "anna" in capsys.readouterr().err
    assert run(monkeypatch, "remove", "anna") == 0
    assert accounts.check(database, "anna", "another password") is None
    database.close()


def test_removing_an_account_removes_what_it_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_api(tmp_path) as api:
        mine, other = api.account(), api.account()
        gone, remaining = mine.created(), other.created()
        mine.webhooks("POST", url="https://example.org/hook")
        assert api.stored() == (2, sorted([gone, remaining]))
        monkeypatch.setenv("FORENSIX_HOME", str(tmp_path))
        assert run(monkeypatch, "remove", mine.auth[0]) == 0
        assert api.stored() == (1, [remaining])
        assert mine.get(f"/tasks/face_manipulation/{gone}").status_code == 401
        assert other.get(f"/tasks/face_manipulation/{remaining}").status_code == 200


def test_removing_an_account_while_the_storage_is_away_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_api(tmp_path) as api:
        mine = api.account()
        mine.created()
        monkeypatch.setenv("FORENSIX_HOME", str(tmp_path))

        def away(_storage: Storage, _key: str) -> None:
            raise OSError("the storage cannot be used (EndpointConnectionError)")

        monkeypatch.setattr(Storage, "delete", away)
        assert run(monkeypatch, "remove", mine.auth[0]) == 1
        said = capsys.readouterr().err
        assert f"account {mine.auth[0]} is removed, its 1 uploads are not all deleted yet: the storage cannot" in said
        assert api.stored()[0] == 0


def test_a_password_that_is_no_text(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What Python makes of a byte that is no UTF-8 on standard input.
    assert run(monkeypatch, "add", "anna", typed="a long \udcff password\n") == 2
    assert "UTF-8" in capsys.readouterr().err


def test_a_database_that_is_none(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "forensix.db").write_bytes(bytes(range(256)) * 40)
    assert run(monkeypatch, "list") == 1
    shown = f"sqlite:///{home / 'forensix.db'}"
    assert f"the database {shown} cannot be used: file is not a database" in capsys.readouterr().err


def test_a_home_that_is_a_file(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "a.txt").touch()
    monkeypatch.setenv("FORENSIX_HOME", str(home / "a.txt"))
    assert run(monkeypatch, "list") == 1
    assert f"there is no folder for the database {home / 'a.txt' / 'forensix.db'}" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "a:b", "line\nbreak", " blank ", "x" * 101, "zero\0byte"])
def test_names_that_cannot_be(database: Database, name: str) -> None:
    with database.write() as connection, pytest.raises(UsageError):
        accounts.add(connection, name, "a long password")


@pytest.mark.parametrize("password", ["", "short", "x" * 1001])
def test_passwords_that_cannot_be(database: Database, password: str) -> None:
    with database.write() as connection, pytest.raises(UsageError, match="characters"):
        accounts.add(connection, "anna", password)


def test_only_an_argon2_hash_is_kept(database: Database) -> None:
    with database.write() as connection:
        accounts.add(connection, "anna", "a long password")
        row = connection.execute(sa.select(table)).mappings().one()
    assert row["password_hash"].startswith("$argon2id$")
    assert "a long password" not in str(dict(row))


def test_an_unknown_name_costs_as_much_as_a_wrong_password(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.write() as connection:
        accounts.add(connection, "anna", "a long password")
    hasher = accounts._hasher()
    checked: list[str] = []
    verify = hasher.verify
    monkeypatch.setattr(hasher, "verify", lambda password, hash: checked.append(hash) or verify(password, hash))
    for name in ("anna", "nobody", "zero\0byte"):
        assert accounts.check(database, name, "wrong password") is None
    # The same work each time: one verification, of a hash with the same parameters.
    assert len(checked) == 3
    assert len({hash.rsplit("$", 2)[0] for hash in checked}) == 1


def test_checking_a_password_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "check", lambda *_: time.sleep(1.0))

    async def ask(app: object) -> tuple[float, int]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            slow = asyncio.create_task(client.post("/auth/tokens", auth=("anna", "a long password")))
            await asyncio.sleep(0.1)
            begun = time.perf_counter()
            assert (await client.get("/healthz")).status_code == 200
            took_s = time.perf_counter() - begun
            return took_s, (await slow).status_code

    with running_api(tmp_path) as api:
        took_s, status = asyncio.run(ask(api.app))
    assert took_s < 0.5
    assert status == 401


def test_a_missing_extra_is_named_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(commands, "_NEEDED", ("fastapi", "no_such_package"))
    for arguments in (("serve",), ("worker",), ("account", "list")):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        error = capsys.readouterr().err
        assert "no_such_package" in error
        assert "pip install 'forensix[service]'" in error


def test_an_account_may_be_removed_while_its_upload_arrives(tmp_path: Path) -> None:
    with running_api(tmp_path) as api:
        account = api.account()
        account.created()
        with api.context.database.write() as connection:
            accounts.remove(connection, account.auth[0])
        before = api.stored()
        # Its token was looked at a moment ago, which does not make it good now.
        answer = account.create(file=("a.jpg", JPEG))
        assert answer.status_code == 401
        assert api.stored() == before


@pytest.mark.skipif(program("postgres") is None, reason="PostgreSQL is not installed")
def test_an_account_is_removed_while_it_creates(tmp_path: Path) -> None:
    with postgres() as server, running_api(tmp_path, database_url=server.url) as api:
        account, database = api.account(), api.context.database

        def remove() -> None:
            with database.write() as connection:
                accounts.remove(connection, account.auth[0])

        with ThreadPoolExecutor(1) as pool:
            with database.write() as connection:
                # What a creation locks first, and then, by its foreign key, the account.
                connection.execute(sa.select(tokens.c.id).with_for_update(read=True, key_share=True))
                removed = pool.submit(remove)
                time.sleep(0.5)
                row = {"id": "x", "account_id": account.id, "task": "voice_analysis", "status": "in_progress"}
                flags = {"explain": False, "transcribe": True, "created_at": time.time(), "attempts": 0}
                connection.execute(sa.insert(tasks).values(row | flags))
            removed.result(10)
        assert api.stored()[0] == 0
