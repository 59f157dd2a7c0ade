"""From HTTP to the specification's objects: sending again what may be sent again, and errors as one sentence."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import httpx
from pydantic import ValidationError

from forensix.errors import ServiceError, UsageError
from forensix.schema import SPEC_VERSION, TaskReport
from forensix.tasks.catalogue import describe, task_names

Answer = dict[str, Any]
T = TypeVar("T")

_PUT_OFF = (429, 503)
_GATEWAY = (502, 503, 504)
"""What a proxy answers while the service behind it starts anew."""
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
_LOST = (httpx.NetworkError, httpx.TimeoutException, httpx.RemoteProtocolError)
_FIRST_LOST_S = 0.25
_LONGEST_LOST_S = 5.0


@dataclass(frozen=True)
class TokenClaims:
    """What a token says of itself; times are Unix seconds."""

    audience: str
    ends_with: str
    expires_at: int
    issued_at: int
    issuer: str
    subject: str


@dataclass(frozen=True)
class Token:
    """A new bearer token: ``token`` is told only once."""

    id: str
    token: str
    claims: TokenClaims

    def __repr__(self) -> str:
        return f"Token(id={self.id!r}, token='...{self.claims.ends_with}')"


@dataclass(frozen=True)
class Webhook:
    """A registered address."""

    id: str
    url: str


def answer(send: Callable[[], httpx.Response], patience_s: float, *, repeat_lost: bool = False) -> Answer:
    """Send until there is an answer that is not put off, for at most ``patience_s``, and return its object.

    A request whose answer was lost, or that a proxy answered in the service's place, is sent again with
    ``repeat_lost``, and when no connection was made: it can then have done nothing.
    """
    end = time.monotonic() + patience_s
    lost_s = _FIRST_LOST_S
    delay_s: float | None
    while True:
        try:
            response = send()
        except httpx.RequestError as error:
            again = isinstance(error, _LOST if repeat_lost else _NOT_SENT)
            if not again or time.monotonic() + lost_s > end:
                raise ServiceError(_lost(error, harmless=repeat_lost or again), code="no_answer") from error
            delay_s = lost_s
        else:
            delay_s = _retry_after_s(response)
            if delay_s is None and repeat_lost and response.status_code in _GATEWAY:
                delay_s = lost_s
            if delay_s is None or time.monotonic() + delay_s > end:
                return _object(response)
        time.sleep(delay_s)
        lost_s = min(2 * lost_s, _LONGEST_LOST_S)


def task_report(task: str, fields: Answer) -> TaskReport:
    """Return the typed object of a task's answer; fields that a newer service adds are passed over.

    Raises
    ------
    ServiceError
        It is not an object of this version of the specification.
    """
    check_task(task)
    try:
        result = fields.get("result")
        if result is not None:
            # By the task: a bare {"class_name": "real"} fits more than one kind of result.
            kind = describe(task).result
            # Others may be of a kind that takes any field.
            extra: Literal["ignore"] | None = "ignore" if kind.model_config.get("extra") == "forbid" else None
            fields = {**fields, "result": kind.model_validate(result, extra=extra)}
        return TaskReport.model_validate(fields, extra="ignore")
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        message = f"the answer of {task} is not of version {SPEC_VERSION} of the interface: {where}: {first['msg']}"
        raise ServiceError(message, code="unexpected_answer") from None


def part(fields: Answer, read: Callable[[Answer], T]) -> T:
    """Return what ``read`` takes out of an answer.

    Raises
    ------
    ServiceError
        It is not there, as where another program answers at the address.
    """
    try:
        return read(fields)
    except (KeyError, TypeError, AttributeError):
        message = f"the answer is not of version {SPEC_VERSION} of the interface: is this the address of the service?"
        raise ServiceError(message, code="unexpected_answer") from None


def of_type(kind: type[T], value: Any) -> T:
    """Return a value of an answer; `part` tells of the TypeError where it is of another type."""
    if not isinstance(value, kind):
        raise TypeError(f"a {kind.__name__} was expected, not a {type(value).__name__}")
    return value


def check_task(task: str) -> None:
    """Raise UsageError for a task that neither the specification nor an installed package has."""
    if task not in task_names():
        describe(task)  # says so where its package is here and cannot be loaded
        raise UsageError(f"there is no task {task!r}: choose from {', '.join(task_names())}")


def _object(response: httpx.Response) -> Answer:
    try:
        fields = response.json()
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        fields = {"success": False, "error": f"status {response.status_code}, and no JSON object", "code": "no_object"}
    if response.status_code != httpx.codes.OK or fields.get("success") is False:
        message = str(fields.get("error") or f"the service answered with status {response.status_code}")
        raise ServiceError(message, status=response.status_code, code=str(fields.get("code") or "refused"))
    return fields


def _retry_after_s(response: httpx.Response) -> float | None:
    """Return how long the service asks to wait before the request is sent again, or None when it does not."""
    value = response.headers.get("retry-after", "")
    return float(value) if response.status_code in _PUT_OFF and value.isascii() and value.isdigit() else None


def _lost(error: httpx.RequestError, *, harmless: bool) -> str:
    after = "" if harmless else "; what was asked for may have been done: look before asking again"
    return f"the service did not answer ({str(error) or type(error).__name__}){after}"


def token_claims(fields: Answer) -> TokenClaims:
    """Return the claims of a token as the service tells them."""
    return TokenClaims(
        audience=of_type(str, fields["audience"]),
        ends_with=of_type(str, fields["endsWith"]),
        expires_at=of_type(int, fields["expiresAt"]),
        issued_at=of_type(int, fields["issuedAt"]),
        issuer=of_type(str, fields["issuer"]),
        subject=of_type(str, fields["subject"]),
    )


def token_of(fields: Answer) -> Token:
    """Return the new token of an answer."""
    return Token(of_type(str, fields["id"]), of_type(str, fields["token"]), token_claims(fields["claims"]))


def claims_of(fields: Answer) -> dict[str, TokenClaims]:
    """Return what the tokens of an answer say, by their ids."""
    return {key: token_claims(value) for key, value in fields["claims"].items()}


def webhooks_of(fields: Answer) -> tuple[Webhook, ...]:
    """Return the registered addresses of an answer."""
    return tuple(Webhook(of_type(str, row["id"]), of_type(str, row["url"])) for row in fields["urls"])


def deleted_of(fields: Answer) -> tuple[str, ...]:
    """Return the ids of an answer's deleted tokens."""
    return tuple(of_type(str, deleted) for deleted in of_type(list, fields["deleted_tokens"]))
