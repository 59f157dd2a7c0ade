"""Bearer tokens: JSON Web Tokens of one pinned algorithm, each good only while its row is in the database."""

import secrets
import time
from dataclasses import dataclass
from typing import Any

import jwt
import sqlalchemy as sa

from forensix.service.data.database import Database, accounts, keys, tokens
from forensix.service.errors import Refusal, bad_token, not_found
from forensix.service.settings import Settings

ALGORITHM = "HS256"
MAX_TOKENS = 1000
_KEY = "jwt"
_REQUIRED = ["aud", "exp", "iat", "iss", "jti", "sub"]


@dataclass(frozen=True, slots=True)
class Issued:
    """A token just made; ``token`` is shown this once."""

    id: str
    token: str
    claims: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a token says: its id and its account's."""

    id: str
    account_id: str


class Tokens:
    """Issues tokens and tells whose they are; the signing key lies in the database, so that all hosts share it."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database
        self._key: str | None = None

    def issue(self, account_id: str) -> Issued:
        """Make a token for an account; tokens of its that have expired are forgotten."""
        now = int(time.time())
        row = {
            "id": secrets.token_urlsafe(16),
            "account_id": account_id,
            "issued_at": now,
            "expires_at": now + int(self._settings.token_days * 86400),
        }
        claims = {
            "aud": self._settings.audience,
            "exp": row["expires_at"],
            "iat": now,
            "iss": self._settings.issuer,
            "jti": row["id"],
            "sub": account_id,
        }
        token = jwt.encode(claims, self._signing_key(), algorithm=ALGORITHM)
        row["ends_with"] = token[-6:]
        with self._database.write() as connection:
            mine = tokens.c.account_id == account_id
            end_tokens(connection, mine, tokens.c.expires_at <= now)
            # One token of an account after another, or two at once could both be the last. After tokens, as everywhere.
            if connection.scalar(LOCKED_ACCOUNT, {"id": account_id}) is None:
                raise bad_token("the account is gone")
            if (connection.scalar(sa.select(sa.func.count()).where(mine)) or 0) >= MAX_TOKENS:
                raise Refusal(400, "too_many", f"there are {MAX_TOKENS} tokens already; delete those not in use")
            connection.execute(sa.insert(tokens).values(row))
        return Issued(str(row["id"]), token, self._claims(row))

    def check(self, token: str) -> Bearer:
        """Return what a token says, if it is good.

        Raises
        ------
        Refusal
            401: not a token of this service, expired, or revoked.
        """
        try:
            claims = jwt.decode(
                token,
                self._signing_key(),
                algorithms=[ALGORITHM],
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                # Hosts' clocks differ: a token from a second ahead is no forgery.
                options={"require": _REQUIRED, "verify_iat": False, "strict_aud": True},
            )
        except jwt.ExpiredSignatureError:
            raise bad_token("the token has expired") from None
        except (jwt.InvalidTokenError, ValueError):
            raise bad_token("the token is not valid") from None
        bearer = Bearer(str(claims["jti"]), str(claims["sub"]))
        with self._database.read() as connection:
            owner = connection.scalar(_OWNER, {"id": bearer.id})
        if owner is None or owner != bearer.account_id:
            raise bad_token("the token was revoked")
        return bearer

    def listing(self, account_id: str, token_id: str | None = None) -> dict[str, dict[str, Any]]:
        """Return the claims of an account's tokens, or of one of them, by token id.

        Raises
        ------
        Refusal
            404: the account has no such token.
        """
        query = sa.select(tokens).where(tokens.c.account_id == account_id, tokens.c.expires_at > time.time())
        if token_id is not None:
            query = query.where(tokens.c.id == token_id)
        with self._database.read() as connection:
            rows = connection.execute(query.order_by(tokens.c.issued_at, tokens.c.id)).mappings().all()
        if token_id is not None and not rows:
            raise _no_token()
        return {row["id"]: self._claims(row) for row in rows}

    def delete(self, account_id: str, token_id: str | None = None) -> list[str]:
        """End an account's tokens, or one of them, at once; return the ids of those that ended.

        Raises
        ------
        Refusal
            404: the account has no such token.
        """
        which = [tokens.c.account_id == account_id]
        if token_id is not None:
            which.append(tokens.c.id == token_id)
        with self._database.write() as connection:
            deleted = end_tokens(connection, *which)
        if token_id is not None and not deleted:
            raise _no_token()
        return deleted

    def _claims(self, row: Any) -> dict[str, Any]:
        return {
            "audience": self._settings.audience,
            "endsWith": row["ends_with"],
            "expiresAt": row["expires_at"],
            "issuedAt": row["issued_at"],
            "issuer": self._settings.issuer,
            "subject": row["account_id"],
        }

    def _signing_key(self) -> str:
        if self._key is None:
            self._key = _read_key(self._database)
        return self._key


def end_tokens(connection: sa.Connection, *which: sa.ColumnElement[bool]) -> list[str]:
    """Delete the tokens for which all of ``which`` holds; return their ids, sorted.

    They are locked by id, byte by byte: of two that lock in different orders each could wait for the other.
    """
    by_id = tokens.c.id if connection.dialect.name == "sqlite" else sa.collate(tokens.c.id, "C")
    ids = list(connection.scalars(sa.select(tokens.c.id).where(*which).order_by(by_id).with_for_update()))
    if ids:
        connection.execute(_END, [{"ended": each} for each in ids])
    return ids


def _read_key(database: Database) -> str:
    query = sa.select(keys.c.value).where(keys.c.name == _KEY)
    try:
        with database.write() as connection:
            key = connection.scalar(query)
            if key is None:
                key = secrets.token_urlsafe(48)
                connection.execute(sa.insert(keys).values(name=_KEY, value=key))
    except sa.exc.IntegrityError:
        # Another process was first.
        with database.read() as connection:
            key = connection.scalar(query)
    return str(key)


def _no_token() -> Refusal:
    return not_found("there is no such token; GET /auth/tokens lists those that there are")


LOCKED_ACCOUNT = sa.select(accounts.c.id).where(accounts.c.id == sa.bindparam("id")).with_for_update(key_share=True)
"""The account ``id``, locked until the transaction ends: what is counted and then added is added by one at a time."""
_END = sa.delete(tokens).where(tokens.c.id == sa.bindparam("ended"))
_OWNER = sa.select(tokens.c.account_id).where(tokens.c.id == sa.bindparam("id"))
