"""Accounts: a name, an argon2 hash, and the secret that webhooks are signed with.

A password is checked at the same cost whether or not the name exists, so that answers do not tell which names do.
"""

import base64
import secrets
import time
import uuid
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import sqlalchemy as sa

from forensix.errors import UsageError
from forensix.service.data.database import Database, accounts, tasks, tokens
from forensix.service.data.tokens import end_tokens

if TYPE_CHECKING:
    from pwdlib import PasswordHash

MAX_NAME = 100
MAX_PASSWORD = 1000
MIN_PASSWORD = 8


@dataclass(frozen=True, slots=True)
class Account:
    """An account as the command line lists it."""

    id: str
    name: str
    created_at: float


def add(connection: sa.Connection, name: str, password: str) -> str:
    """Make an account and return its webhook secret.

    Raises
    ------
    UsageError
        The name is taken or not allowed, or the password is too short.
    """
    if not name or len(name) > MAX_NAME or ":" in name or not name.isprintable() or name != name.strip():
        raise UsageError(f"a name has 1 to {MAX_NAME} printable characters and no colon: got {name[:MAX_NAME]!r}")
    row = {
        "id": str(uuid.uuid4()),
        "name": name,
        "password_hash": _hash(password),
        # The form that libraries for the Standard Webhooks convention expect.
        "webhook_secret": "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode(),
        "created_at": time.time(),
    }
    if connection.scalar(sa.select(accounts.c.id).where(accounts.c.name == name)):
        raise UsageError(f"there is an account {name} already; change its password with: forensix account password")
    try:
        connection.execute(sa.insert(accounts).values(row))
    except sa.exc.IntegrityError:
        raise UsageError(f"there is an account {name} already") from None
    return str(row["webhook_secret"])


def check(database: Database, name: str, password: str) -> str | None:
    """Return the account's id when the password is right, None when it is not or nobody has that name."""
    row = None
    if name.isprintable():
        query = sa.select(accounts.c.id, accounts.c.password_hash).where(accounts.c.name == name)
        with database.read() as connection:
            row = connection.execute(query).first()
    # A hash that nothing matches: an unknown name takes as long as a wrong password.
    right = _hasher().verify(password[:MAX_PASSWORD], row.password_hash if row else _decoy())
    return row.id if row and right and len(password) <= MAX_PASSWORD else None


def set_password(connection: sa.Connection, name: str, password: str) -> None:
    """Replace the password of an account; its tokens stay good.

    Raises
    ------
    UsageError
        Nobody has that name, or the password is too short.
    """
    hashed = _hash(password)
    changed = connection.execute(sa.update(accounts).where(accounts.c.name == name).values(password_hash=hashed))
    if not changed.rowcount:
        raise _unknown(connection, name)


def webhook_secret(connection: sa.Connection, name: str) -> str:
    """Return the secret that signs the webhooks of an account.

    Raises
    ------
    UsageError
        Nobody has that name.
    """
    secret = connection.scalar(sa.select(accounts.c.webhook_secret).where(accounts.c.name == name))
    if secret is None:
        raise _unknown(connection, name)
    return str(secret)


def list_all(connection: sa.Connection) -> list[Account]:
    """Return all accounts by name."""
    rows = connection.execute(sa.select(accounts.c.id, accounts.c.name, accounts.c.created_at).order_by("name"))
    return [Account(row.id, row.name, row.created_at) for row in rows]


def remove(connection: sa.Connection, name: str) -> list[str]:
    """Delete an account with its tokens, webhooks and tasks; return the storage keys of its uploads.

    Raises
    ------
    UsageError
        Nobody has that name.
    """
    account_id = connection.scalar(sa.select(accounts.c.id).where(accounts.c.name == name))
    if account_id is None:
        raise _unknown(connection, name)
    # First, as in a creation: those under way end before, and none begins after.
    end_tokens(connection, tokens.c.account_id == account_id)
    keys = connection.scalars(
        sa.select(tasks.c.upload).where(tasks.c.account_id == account_id, tasks.c.upload.is_not(None))
    )
    uploads = list(keys)
    # The foreign keys take the rest along.
    connection.execute(sa.delete(accounts).where(accounts.c.id == account_id))
    return uploads


def _hash(password: str) -> str:
    if not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise UsageError(f"a password has {MIN_PASSWORD} to {MAX_PASSWORD} characters: got {len(password)}")
    return _hasher().hash(password)


@cache
def _hasher() -> "PasswordHash":
    from pwdlib import PasswordHash

    return PasswordHash.recommended()


@cache
def _decoy() -> str:
    return _hasher().hash(secrets.token_urlsafe(32))


def warm_up() -> None:
    """Make the hash that unknown names are checked against, so that the first of them takes no longer."""
    _decoy()


def _unknown(connection: sa.Connection, name: str) -> UsageError:
    known = ", ".join(account.name for account in list_all(connection)[:20]) or "none yet"
    return UsageError(f"there is no account {name!r}; there are: {known}")
