"""The outermost layer: an id for every request, one log line, counts, and an answer whatever fails."""

import asyncio
import logging
import time
from typing import Any

import sqlalchemy as sa
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forensix.errors import first_line
from forensix.service.api.context import Context
from forensix.service.errors import Refusal, busy, unavailable
from forensix.service.logs import choose_id, request_id

LOG = logging.getLogger("forensix.service.requests")

_METHODS = {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}
_QUIET = {"/healthz", "/readyz", "/metrics"}
_GONE = 499
"""Logged when the client left before it was answered."""


class RequestMiddleware:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app, self._context = app, context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            await _Exchange(self._app, self._context, scope, receive, send).run()
        else:
            await self._app(scope, receive, send)


def refused(refusal: Refusal, context: Context) -> Response:
    """Return the answer that refuses a request, and count it."""
    context.metrics.refused.labels(refusal.code).inc()
    return Response(refusal.body(), refusal.status, refusal.headers, media_type="application/json")


class _Exchange:
    """One request and its answer."""

    def __init__(self, app: ASGIApp, context: Context, scope: Scope, receive: Receive, send: Send) -> None:
        self._app, self._context = app, context
        # A HEAD is answered as a GET, without the body.
        self._method = scope["method"]
        self._scope = {**scope, "method": "GET"} if self._method == "HEAD" else scope
        self._receive, self._send = receive, send
        headers = dict(scope["headers"])
        self._id = choose_id(headers.get(b"x-request-id", b"").decode("latin-1"))
        self._body_left = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
        # A proxy that goes by the length would take what follows for another client's.
        self._two_lengths = b"content-length" in headers and b"transfer-encoding" in headers
        self._status = 0
        self._scope.setdefault("state", {})

    async def run(self) -> None:
        begun = time.perf_counter()
        mark = request_id.set(self._id)
        try:
            await self._app(self._scope, self._take, self._answer)
        except ClientDisconnect:
            self._status = self._status or _GONE
        except asyncio.CancelledError:
            # The server's time for stopping is over. This is the outermost layer: nobody else is to be told.
            await self._fail(busy("the service is stopping", 5))
        except Exception as error:
            await self._fail(error)
        finally:
            self._note(time.perf_counter() - begun)
            request_id.reset(mark)

    async def _take(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self._body_left = False
        return message

    async def _answer(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [
                *message.get("headers", ()),
                (b"x-request-id", self._id.encode()),
                (b"x-content-type-options", b"nosniff"),
                (b"cache-control", b"no-store"),
            ]
            if self._body_left or self._two_lengths:
                # Without this the server would go on reading what nobody wants.
                message["headers"].append((b"connection", b"close"))
        elif self._method == "HEAD":
            message["body"] = b""
        await self._send(message)

    async def _fail(self, error: Exception) -> None:
        refusal = _refusal(error)
        if refusal.code == "internal":
            LOG.error("unexpected error", exc_info=error)
        else:
            LOG.error("%s", type(error).__name__, extra={"fields": {"reason": first_line(error)}})
        self._context.metrics.refused.labels(refusal.code).inc()
        if self._status:
            return
        body = refusal.body()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers += [(name.lower().encode(), value.encode()) for name, value in refusal.headers.items()]
        await self._answer({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self._answer({"type": "http.response.body", "body": body})

    def _note(self, seconds: float) -> None:
        route = getattr(self._scope.get("route"), "path", "") or "-"
        method = self._method if self._method in _METHODS else "-"
        metrics = self._context.metrics
        metrics.requests.labels(method, route, str(self._status)).inc()
        metrics.seconds.labels(route).observe(seconds)
        level = logging.DEBUG if route in _QUIET else logging.INFO
        if not LOG.isEnabledFor(level):
            return
        client = self._scope.get("client")
        fields: dict[str, Any] = {
            "method": method,
            "route": route,
            "status": self._status,
            "ms": round(seconds * 1000, 1),
            "address": client[0] if client else None,
            "account": self._scope["state"].get("account"),
            "report_id": self._scope["state"].get("report_id"),
        }
        LOG.log(level, "request", extra={"fields": {k: v for k, v in fields.items() if v is not None}})


def _refusal(error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError | sa.exc.TimeoutError):
        return unavailable("database")
    if isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated:
        return unavailable("database")
    if isinstance(error, OSError):
        return unavailable("storage")
    return Refusal(500, "internal", "the service failed; its operator finds the reason under this request's id")
