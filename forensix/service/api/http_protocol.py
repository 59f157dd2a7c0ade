"""Connections that are closed so that the answer arrives, although the rest of the request was not read.

A socket that is closed while bytes come in is reset, and many a client then reports the reset and never reads what the
answer said. So our half is closed first, and what still comes is thrown away, until the client is done or for a moment.
Connections on which no request comes are closed, and so are those whose client does not take its answer, which would
lie in memory as long; and there are never so many that none is left for files and database.
"""

import asyncio
import contextlib
import resource
from functools import cache
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from forensix.service.api.stalling import SLOWEST_BYTES_PER_S, STALL_S
from forensix.service.errors import bad_form

LINGER_S = 2.0
"""Longest time for a client to notice that it was answered."""
HEAD_S = 15.0
"""Longest time for the head of a request, and for its beginning on a new connection."""


class LingeringProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, but for how a connection ends before the request did, or begins without one, for
    clients that do not read, and for the answer to what is no HTTP: JSON, as all answers are."""

    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection."""
        self._closing = _ClosingTransport(transport, self)
        super().connection_made(self._closing)  # type: ignore[arg-type]
        if len(self.connections) > max_connections():
            transport.abort()
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it was answered already."""
        if not self._closing.ends:
            super().data_received(data)
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take note that the connection is gone."""
        self._closing.forget()
        if self._head is not None:
            self._head.cancel()
        self._stop_looking()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Take note that more is to be sent than the client has taken, and look now and then whether it goes on."""
        super().pause_writing()
        self.look_at_sending()

    def resume_writing(self) -> None:
        """Take note that the client has caught up."""
        if not self._closing.is_closing():
            self._stop_looking()
        super().resume_writing()

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing of a client that would rather speak HTTP/2, as many offer it, and is answered in HTTP/1.1."""

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, and close the connection."""
        refusal = bad_form("the request is not valid HTTP/1.1")
        body = refusal.body()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"cache-control", b"no-store"),
            (b"connection", b"close"),
        ]
        response = h11.Response(status_code=refusal.status, headers=headers, reason=b"Bad Request")
        # An answer may be under way already, and one to HEAD has no body.
        with contextlib.suppress(h11.LocalProtocolError):
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        if self.cycle is not None:
            # What the application still says, of a request whose body went wrong, goes nowhere and is no error.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.transport.close()

    def look_at_sending(self) -> None:
        """End the connection when the client takes what is still to be sent too slowly, or not at all."""
        if self._unread is None:
            self._unread = self.loop.call_later(STALL_S, self._look, self._closing.get_write_buffer_size())

    def _look(self, left_bytes: int) -> None:
        self._unread = None
        if left_bytes - self._closing.get_write_buffer_size() < STALL_S * SLOWEST_BYTES_PER_S:
            self._closing.abort()
        else:
            self.look_at_sending()

    def _stop_looking(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _watch(self) -> None:
        idle = self.conn.their_state is h11.IDLE
        if idle and self._head is None:
            self._head = self.loop.call_later(HEAD_S, self._closing.close)
        elif not idle and self._head is not None:
            self._head.cancel()
            self._head = None


@cache
def max_connections() -> int:
    """Return how many connections one process takes: half of the files that it may open."""
    return max(1, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


class _ClosingTransport:
    """A transport, but for `close`."""

    def __init__(self, transport: asyncio.Transport, protocol: LingeringProtocol) -> None:
        self._transport, self._protocol = transport, protocol
        self._timer: asyncio.TimerHandle | None = None
        self.ends = False
        self.write = transport.write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self.ends or self._transport.is_closing()

    def close(self) -> None:
        if self.ends or self._transport.is_closing():
            return
        unread = self._protocol.conn.their_state in (h11.SEND_BODY, h11.ERROR)
        if not unread or not self._transport.can_write_eof():
            self._transport.close()
            # It closes once all is sent.
            self._protocol.look_at_sending()
            return
        self.ends = True
        try:
            self._transport.write_eof()
        except OSError:  # the client has reset the connection
            self._transport.abort()
            return
        self._transport.resume_reading()
        self._timer = self._protocol.loop.call_later(LINGER_S, self._transport.close)

    def forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
