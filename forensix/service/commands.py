"""The service's commands: ``forensix serve``, ``worker`` and ``account``; what is heavy is imported when they run."""

import argparse
import contextlib
import functools
import getpass
import importlib.util
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from forensix.errors import ForensixError, MissingExtra, UsageError
from forensix.tasks import command_line

if TYPE_CHECKING:
    from forensix.service.data.database import Database
    from forensix.service.settings import Settings

_NEEDED = (
    "alembic", "argon2", "dbos", "fastapi", "fsspec", "jwt", "prometheus_client", "psycopg", "pwdlib",
    "pydantic_settings", "python_multipart", "sqlalchemy", "uvicorn",
)  # fmt: skip


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to the parser of ``forensix``."""
    serve = commands.add_parser("serve", help="run the HTTP service with its workers")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen on (default: %(default)s)")
    command_line.register(serve)
    serve.set_defaults(run=_serve)

    worker = commands.add_parser("worker", help="analyse what the service has queued, on this or another host")
    worker.add_argument("--with-parent", action="store_true", help=argparse.SUPPRESS)
    command_line.register(worker)
    worker.set_defaults(run=_worker)

    account = commands.add_parser("account", help="make and look after the service's accounts")
    actions = account.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action, run, about in (
        ("add", _add, "make an account, with a password that is asked for or read from standard input"),
        ("secret", _secret, "print the secret that signs an account's webhooks"),
        ("password", _password, "give an account another password"),
        ("remove", _remove, "delete an account with its tokens, webhooks, tasks and uploads"),
    ):
        parser = actions.add_parser(action, help=about)
        parser.add_argument("name", metavar="NAME", help="of the account")
        parser.set_defaults(run=functools.partial(_on_database, run))
    actions.add_parser("list", help="one line per account").set_defaults(run=functools.partial(_on_database, _list))


def _serve(options: argparse.Namespace) -> int:
    settings = _settings()
    if not 0 <= options.port <= 65535:
        raise UsageError(f"--port takes a number from 0 to 65535: got {options.port}")
    # Before anything is started: each analysis would fail otherwise.
    chosen = command_line.checked(command_line.chosen(options))
    from forensix.service.server import serve

    return serve(settings, options.host, options.port, command_line.spelled(chosen))


def _worker(options: argparse.Namespace) -> int:
    settings = _settings()
    chosen = command_line.chosen(options)
    if options.with_parent:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    else:
        chosen = command_line.checked(chosen)
    from forensix.service import logs
    from forensix.service.data import jobs
    from forensix.service.data.database import migrate
    from forensix.service.work import worker

    logs.set_up(settings.log_level)
    migrate(settings)
    jobs.prepare(settings)
    return worker.run(settings, chosen) or 0


def _end_with_parent() -> None:
    """Wait for the pipe from ``forensix serve`` to close, which it does however that process ends."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _add(database: "Database", options: argparse.Namespace) -> int:
    from forensix.service.data import accounts

    password = _read_password()
    with database.write() as connection:
        secret = accounts.add(connection, options.name, password)
    print(f"account {options.name} added; its webhooks are signed with this secret:", file=sys.stderr)
    print(secret)
    return 0


def _secret(database: "Database", options: argparse.Namespace) -> int:
    from forensix.service.data import accounts

    with database.read() as connection:
        print(accounts.webhook_secret(connection, options.name))
    return 0


def _password(database: "Database", options: argparse.Namespace) -> int:
    from forensix.service.data import accounts

    with database.read() as connection:
        accounts.webhook_secret(connection, options.name)
    password = _read_password()
    with database.write() as connection:
        accounts.set_password(connection, options.name, password)
    print(f"account {options.name} has another password; its tokens stay good until they are deleted", file=sys.stderr)
    return 0


def _remove(database: "Database", options: argparse.Namespace) -> int:
    from forensix.service.data import accounts
    from forensix.service.data.storage import Storage

    settings = _settings()
    with database.write() as connection:
        uploads = accounts.remove(connection, options.name)
    try:
        storage = Storage(settings.storage_url, sync=settings.sync)
        for key in uploads:
            storage.delete(key)
    except OSError as error:
        left = f"account {options.name} is removed, its {len(uploads)} uploads are not all deleted yet"
        raise ForensixError(f"{left}: {error}; a worker deletes them within hours") from None
    print(f"account {options.name} removed, {len(uploads)} uploads with it", file=sys.stderr)
    return 0


def _list(database: "Database", _options: argparse.Namespace) -> int:
    from forensix.service.data import accounts

    with database.read() as connection:
        for account in accounts.list_all(connection):
            print(f"{account.name:32} {time.strftime('%Y-%m-%d', time.gmtime(account.created_at))}  {account.id}")
    return 0


def _settings() -> "Settings":
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtra(f"the service needs {', '.join(missing)}; install with: pip install 'forensix[service]'")
    from forensix.service.settings import Settings

    return Settings.read()


def _on_database(do: "Callable[[Database, argparse.Namespace], int]", options: argparse.Namespace) -> int:
    """Do it on the database, brought up to date; what the extra brings is imported once it is known to be there."""
    settings = _settings()
    from forensix.service.data.database import Database, migrate

    migrate(settings)
    with contextlib.closing(Database(settings, connections=1)) as database:
        return do(database, options)


def _read_password() -> str:
    if not sys.stdin.isatty():
        password = sys.stdin.readline().rstrip("\r\n")
        if any("\ud800" <= c <= "\udfff" for c in password):
            raise UsageError("the password is not UTF-8, which is what HTTP Basic authentication sends")
        return password
    password = getpass.getpass("Password: ")
    if getpass.getpass("Once more: ") != password:
        raise UsageError("the two passwords differ; nothing was changed")
    return password
