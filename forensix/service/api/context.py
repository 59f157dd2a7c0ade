"""What all requests share: settings, database, storage, queue, counters, and threads for what blocks."""

import asyncio
import base64
import binascii
import contextvars
import functools
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import sqlalchemy as sa
from starlette.requests import Request

from forensix.service.api.limits import Rates
from forensix.service.api.metrics import Metrics
from forensix.service.api.probe import Probe
from forensix.service.data import accounts, marks
from forensix.service.data.database import Database, tasks
from forensix.service.data.jobs import Jobs
from forensix.service.data.storage import Storage
from forensix.service.data.tokens import Bearer, Tokens
from forensix.service.errors import bad_password, bad_token, busy, rate_limited
from forensix.service.settings import Settings

T = TypeVar("T")

MAX_WAITING_PASSWORDS = 32
_SETTLE_S = 5.0
_FRESH_S = 0.5
"""How long a look at the depth of the queue holds for further creations."""


class Context:
    """Made once an application; ``of(request)`` finds it."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.database = settings, Database(settings, connections=16)
        self.storage, self.queue = Storage(settings.storage_url, sync=settings.sync), Jobs(settings, self.database)
        marks.leave(self.database, self.storage)
        self.tokens = Tokens(settings, self.database)
        self.rates = Rates(settings)
        self.metrics = Metrics()
        self._threads = ThreadPoolExecutor(16, thread_name_prefix="forensix-api")
        # Of their own: storage that is away or slow takes minutes to say so, and must not hold up those who only read.
        self._storage_threads = ThreadPoolExecutor(16, thread_name_prefix="forensix-storage")
        # Of their own, and few: each takes 64 MB and a core, and must not hold up anything else.
        self._password_threads = ThreadPoolExecutor(2, thread_name_prefix="forensix-password")
        self._waiting_passwords = 0
        self._asked = -_FRESH_S
        self._depth = 0
        self.readiness = {
            "database": Probe(self._database_answers, self.run),
            "storage": Probe(self._storage_takes_files, self.store),
        }
        """What must work for tasks to be taken on."""
        self.uploads: Counter[str] = Counter()
        """How many are arriving, by account."""

    @staticmethod
    def of(request: Request) -> "Context":
        """Return the context of the application that answers a request."""
        context: Context = request.app.state.context
        return context

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Await a blocking function in a thread; log lines of it carry the request's id."""
        return await _in(self._threads, function, *args)

    async def store(self, function: Callable[..., T], *args: Any) -> T:
        """Await a function that waits for the storage, as `run` does, in a thread of the storage's."""
        return await _in(self._storage_threads, function, *args)

    async def account_by_password(self, request: Request) -> str:
        """Return the account that HTTP Basic credentials are for.

        Raises
        ------
        Refusal
            401: missing or wrong; 429: too often wrong, or too many requests; 503: too many others are being checked.
        """
        address = request.client.host if request.client else ""
        self.rates.check_address(address)
        name, password = _basic(request)
        if self._waiting_passwords >= MAX_WAITING_PASSWORDS:
            raise busy("too many passwords are being checked", 2)
        self._waiting_passwords += 1
        try:
            check = functools.partial(self._check_password, address, name, password)
            loop = asyncio.get_running_loop()
            account = await loop.run_in_executor(self._password_threads, check)
        finally:
            self._waiting_passwords -= 1
        if account is None:
            raise bad_password()
        self._welcome(request, account)
        return account

    async def account_by_token(self, request: Request) -> str:
        """Return the account that a bearer token speaks for.

        Raises
        ------
        Refusal
            401: missing or not good; 429: too many requests.
        """
        return (await self.bearer(request)).account_id

    async def bearer(self, request: Request) -> Bearer:
        """Return what a bearer token says.

        Raises
        ------
        Refusal
            401: missing or not good; 429: too many requests.
        """
        bearer = await self.run(self.tokens.check, _bearer(request))
        self._welcome(request, bearer.account_id)
        return bearer

    async def bearer_of_creation(self, request: Request) -> Bearer:
        """Return who creates a task, when there is room for it.

        Raises
        ------
        Refusal
            401: missing or not good; 429: too many requests, or too many unfinished tasks of the account; 503: of all.
        """
        bearer = await self.bearer(request)
        limit = self.settings.account_queue_limit
        if limit and await self.run(self._unfinished, bearer.account_id) >= limit:
            raise rate_limited(f"tasks of this account are unfinished ({limit} may be)", 30)
        if time.monotonic() - self._asked > _FRESH_S:
            self._asked, self._depth = time.monotonic(), await self.run(self.queue.depth)
        if self._depth >= self.settings.queue_limit:
            raise busy(f"{self._depth} tasks are unfinished, which is as many as are taken on", 30)
        return bearer

    def count_creation(self) -> None:
        """Take note of a new task until the queue is looked at again."""
        self._depth += 1

    async def settle(self) -> None:
        """Wait until uploads that were broken off have cleared away what they stored, which takes threads."""
        end = time.monotonic() + _SETTLE_S
        while self.uploads and time.monotonic() < end:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """End the threads, when they have done what they are at, and the connections."""
        self._threads.shutdown()
        self._storage_threads.shutdown()
        self._password_threads.shutdown()
        self.queue.close()
        self.database.close()

    def _database_answers(self) -> bool:
        with self.database.read() as connection:
            return bool(connection.scalar(sa.text("SELECT 1")) == 1)

    def _storage_takes_files(self) -> bool:
        return self.storage.ready()

    def _unfinished(self, account: str) -> int:
        of_account = sa.and_(tasks.c.account_id == account, tasks.c.status == "in_progress")
        with self.database.read() as connection:
            return int(connection.scalar(sa.select(sa.func.count()).where(of_account)) or 0)

    def _check_password(self, address: str, name: str, password: str) -> str | None:
        # Once more: those that waited for a thread beside this one may have used up the limit.
        self.rates.check_address(address)
        account = accounts.check(self.database, name, password)
        if account is None:
            self.rates.count_wrong_password(address)
        return account

    def _welcome(self, request: Request, account: str) -> None:
        request.state.account = account
        self.rates.count_request(account)


async def _in(threads: ThreadPoolExecutor, function: Callable[..., T], *args: Any) -> T:
    call = functools.partial(contextvars.copy_context().run, function, *args)
    return await asyncio.get_running_loop().run_in_executor(threads, call)


def _basic(request: Request) -> tuple[str, str]:
    scheme, _, encoded = _authorization(request).partition(" ")
    if scheme.lower() != "basic":
        raise bad_password()
    try:
        name, colon, password = base64.b64decode(encoded.strip(), validate=True).decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        raise bad_password() from None
    if not colon:
        raise bad_password()
    return name, password


def _bearer(request: Request) -> str:
    value = _authorization(request)
    scheme, blank, token = value.partition(" ")
    if not blank:
        token = value
    elif scheme.lower() != "bearer":
        raise bad_token("the Authorization header is not a bearer token", is_given=False)
    token = token.strip()
    if not token:
        raise bad_token("the token is missing", is_given=False)
    return token


def _authorization(request: Request) -> str:
    values = request.headers.getlist("authorization")
    # Two of them could be read differently by a proxy and by us.
    return values[0].strip() if len(values) == 1 else ""
