"""The client itself: one method an operation, and the two that make them a flow, `wait` and `analyze`."""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import quote

import httpx

from forensix.client import answers
from forensix.client.answers import Answer, T, Token, TokenClaims, Webhook, answer, check_task, part, task_report
from forensix.errors import InputNotFound, ServiceError, UsageError
from forensix.schema import TaskReport
from forensix.tasks.catalogue import describe

_LONGEST_POLL_S = 5.0
_SIGN_OUT_S = 5.0
"""Longest wait for the end of a token, on closing."""
_TOKEN = re.compile(r"[!-~]+")


class Client:
    """One account at one service.

    Parameters
    ----------
    base_url
        Where the service is, for example ``"https://forensix.example.org"``.
    token
        A bearer token, for tasks and webhooks.
    account
        Name and password, for tokens; without ``token``, one is created when it is first needed, and ended by `close`.
    timeout_s
        Longest silence of the service while it is sent a request or answers one.
    patience_s
        How long a request that the service puts off, or a poll without an answer, is sent again.

    Raises
    ------
    UsageError
        ``base_url`` is not an address, or ``token`` holds what no token holds.

    Examples
    --------
    >>> client = Client("http://127.0.0.1:8000", token="...")
    >>> report_id = client.create("face_manipulation", "clip.mp4")  # doctest: +SKIP
    >>> client.wait("face_manipulation", report_id).status  # doctest: +SKIP
    'completed'
    """

    def __init__(
        self,
        base_url: str,
        *,
        token: str | None = None,
        account: tuple[str, str] | None = None,
        timeout_s: float = 30.0,
        patience_s: float = 60.0,
    ) -> None:
        if not base_url.startswith(("http://", "https://")):
            raise UsageError(f"the address of a service begins with http:// or https://: got {base_url!r}")
        if token is not None and not _TOKEN.fullmatch(token):
            raise UsageError("a token has no blanks, line breaks or letters beyond ASCII: strip what a file held")
        self.base_url = base_url.rstrip("/")
        self._token = token
        self._account = account
        self._made_id: str | None = None
        self._patience_s = patience_s
        try:
            self._http = httpx.Client(base_url=self.base_url, timeout=timeout_s)
        except httpx.InvalidURL as error:
            raise UsageError(f"{base_url!r} is not an address: {error}") from None

    @classmethod
    def sign_in(
        cls, base_url: str, name: str, password: str, *, timeout_s: float = 30.0, patience_s: float = 60.0
    ) -> Self:
        """Return a client that has created a token for an account; `close`, or the end of ``with``, ends the token.

        Raises
        ------
        ServiceError
            Unknown name or wrong password (status 401).
        """
        client = cls(base_url, account=(name, password), timeout_s=timeout_s, patience_s=patience_s)
        try:
            client._make_token()
        except BaseException:
            client.close()
            raise
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.base_url}>"

    def close(self) -> None:
        """End the token that this client made for itself, if the service answers soon, and close the connections.

        An account has room for 1000 tokens, and each that is left behind is good for weeks.
        """
        made_id, self._made_id = self._made_id, None
        try:
            if made_id is not None:
                path = f"/auth/tokens/{_quoted(made_id)}"
                with contextlib.suppress(ServiceError):
                    answer(lambda: self._send("DELETE", path, timeout=_SIGN_OUT_S), patience_s=0)
        finally:
            self._http.close()

    # Tasks

    def create(
        self,
        task: str,
        file: str | os.PathLike[str] | bytes | None = None,
        *,
        url: str | None = None,
        explain: bool | None = None,
        transcribe: bool | None = None,
        additional_info: str | None = None,
        name: str | None = None,
    ) -> str:
        """Hand in a file or a URL for analysis.

        Parameters
        ----------
        task
            A name of ``forensix.tasks.task_names()``.
        file
            A path, which is streamed, or the bytes of a file. Exactly one of ``file`` and ``url``.
        url
            A direct link to a medium, or one of a platform.
        explain
            Also give evidence; not for ``forensic_analysis``, which always gives claims. The service's default is no.
        transcribe
            Also give the words; for ``voice_analysis`` only. The service's default is yes.
        additional_info
            Text that the result echoes; for ``forensic_analysis`` only.
        name
            File name to tell the service; by default that of the path.

        Returns
        -------
        str
            The report id, for `get` and `wait`.

        Raises
        ------
        UsageError
            Unknown task, an option that the task does not have, both or neither of file and URL.
        InputNotFound
            The file is not there.
        ServiceError
            Refused; or the answer was lost, and the task may have been created or not.
        """
        check_task(task)
        if (file is None) == (url is None):
            raise UsageError("give exactly one of file and url")
        options = {"explain": explain, "transcribe": transcribe, "additional_info": additional_info}
        chosen = {key: value for key, value in options.items() if value is not None}
        if wrong := sorted(set(chosen) - set(describe(task).options)):
            raise UsageError(f"{task} does not take {', '.join(wrong)}: leave it out")
        fields = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in chosen.items()}
        if url is not None:
            fields["url"] = url

        def send() -> httpx.Response:
            with _opened(file, name) as upload:
                # What is asked for comes before the file, so that the service can decide on the file's first bytes.
                parts: dict[str, Any] = {key: (None, value) for key, value in fields.items()}
                return self._send("POST", f"/tasks/{task}", files=parts | ({"file": upload} if upload else {}))

        return part(answer(send, self._patience_s), lambda fields: answers.of_type(str, fields["report_id"]))

    def get(self, task: str, report_id: str) -> TaskReport:
        """Return a task as it stands: its status, and its result once it is completed.

        Raises
        ------
        ServiceError
            Status 404 for an id that this account does not have.
        """
        return task_report(task, self._ask("GET", f"/tasks/{task}/{_quoted(report_id)}", dict))

    def wait(self, task: str, report_id: str, *, timeout_s: float = 600.0, poll_s: float = 0.2) -> TaskReport:
        """Poll a task until it is completed or failed, first every ``poll_s`` and then less often.

        Raises
        ------
        ServiceError
            Code ``still_in_progress`` after ``timeout_s``; the task goes on. Or an answer is lost or refused. Both have
            the ``report_id``.
        """
        end = time.monotonic() + timeout_s
        while (report := self._polled(task, report_id)).status == "in_progress":
            left_s = end - time.monotonic()
            if left_s <= 0:
                message = f"{task} {report_id} is not finished after {timeout_s:g} s; it goes on: wait again later"
                raise ServiceError(message, code="still_in_progress", report_id=report_id)
            time.sleep(min(poll_s, left_s))
            poll_s = min(poll_s * 1.5, _LONGEST_POLL_S)
        return report

    def _polled(self, task: str, report_id: str) -> TaskReport:
        try:
            return self.get(task, report_id)
        except ServiceError as error:
            after = "" if error.status == httpx.codes.NOT_FOUND else "; it may go on: wait again"
            message = f"{task} {report_id}: {error}{after}"
            raise ServiceError(message, status=error.status, code=error.code, report_id=report_id) from error

    def analyze(
        self,
        task: str,
        file: str | os.PathLike[str] | bytes | None = None,
        *,
        timeout_s: float = 600.0,
        **options: Any,
    ) -> TaskReport:
        """Create a task and wait for it; takes the options of `create` and raises what `create` and `wait` do.

        A task that failed is returned, with a sentence in ``error``.
        """
        return self.wait(task, self.create(task, file, **options), timeout_s=timeout_s)

    # Webhooks

    def register_webhook(self, event: str, url: str) -> str:
        """Have every finished task of an event posted to an address; return the registration's id.

        ``event`` is that of a task (``forensix.tasks.describe(NAME).event``), or another of the specification's names.
        """
        return self._ask(
            "POST", f"/webhooks/{_quoted(event)}", lambda fields: answers.of_type(str, fields["id"]), data={"url": url}
        )

    def webhooks(self, event: str) -> tuple[Webhook, ...]:
        """Return the addresses that are registered for an event."""
        return self._ask("GET", f"/webhooks/{_quoted(event)}", answers.webhooks_of)

    def delete_webhook(self, event: str, webhook_id: str) -> None:
        """Remove one address of an event."""
        self._ask("DELETE", f"/webhooks/{_quoted(event)}/{_quoted(webhook_id)}", dict)

    def delete_webhooks(self, event: str) -> None:
        """Remove all addresses of an event."""
        self._ask("DELETE", f"/webhooks/{_quoted(event)}", dict)

    # Tokens

    def create_token(self) -> Token:
        """Create another bearer token for the account."""
        return self._ask("POST", "/auth/tokens", answers.token_of)

    def tokens(self) -> dict[str, TokenClaims]:
        """Return what each token of the account says, by its id."""
        return self._ask("GET", "/auth/tokens", answers.claims_of)

    def token(self, token_id: str) -> TokenClaims:
        """Return what one token says."""
        return self._ask("GET", f"/auth/tokens/{_quoted(token_id)}", lambda fields: answers.claims_of(fields)[token_id])

    def delete_token(self, token_id: str) -> tuple[str, ...]:
        """End a token at once; return the ids that were deleted."""
        return self._ask("DELETE", f"/auth/tokens/{_quoted(token_id)}", answers.deleted_of)

    def delete_tokens(self) -> tuple[str, ...]:
        """End every token of the account and return their ids; this client creates another when it needs one."""
        deleted = self._ask("DELETE", "/auth/tokens", answers.deleted_of)
        self._token = self._made_id = None
        return deleted

    # Requests

    def _make_token(self) -> str:
        made = self.create_token()
        self._token, self._made_id = made.token, made.id
        return made.token

    def _ask(self, method: str, path: str, read: Callable[[Answer], T], **content: Any) -> T:
        fields = answer(lambda: self._send(method, path, **content), self._patience_s, repeat_lost=method == "GET")
        return part(fields, read)

    def _send(self, method: str, path: str, **content: Any) -> httpx.Response:
        if path.startswith("/auth/"):
            if self._account is None:
                raise UsageError("tokens are managed with name and password: use Client.sign_in")
            content["auth"] = self._account
        else:
            content["headers"] = {"Authorization": f"Bearer {self._token or self._make_token()}"}
        try:
            return self._http.request(method, path, **content)
        except UnicodeEncodeError:
            # Which is not repeated: it may be the password.
            raise UsageError("text must be UTF-8, and what was to be sent holds half of a surrogate pair") from None


@contextlib.contextmanager
def _opened(
    file: str | os.PathLike[str] | bytes | None, name: str | None
) -> Iterator[tuple[str, IO[bytes] | bytes] | None]:
    """Yield a file as a part of a form: opened anew for every attempt."""
    if file is None:
        yield None
    elif isinstance(file, bytes):
        yield _named(name or "upload"), file
    else:
        path = Path(file)
        try:
            opened = path.open("rb")
        except (OSError, ValueError) as error:
            raise InputNotFound(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        with opened:
            yield _named(name or os.fsencode(path.name).decode("utf-8", "replace")), opened


def _named(name: str) -> str:
    """Return a file's name as UTF-8 can hold it: one of another coding has bytes in it that are none."""
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in name)


def _quoted(part: str) -> str:
    return quote(part, safe="", errors="replace")
