"""Connections to public addresses only, within one deadline: what downloads and webhooks go through.

The host is resolved here, every answer is checked, and the connection goes to the address that was checked while Host
and TLS keep the name, so that an answer that changes between check and use changes nothing.
"""

import time
from collections.abc import Collection
from typing import Any

import httpcore

from forensix.errors import FetchError
from forensix.media import addresses
from forensix.media.sniff import shorten

_STEP_S = 15.0
_PIECE_BYTES = 1 << 12


class Deadline:
    """What is left of the time for one exchange, name resolution and redirects included."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def step_s(self, timeout_s: float | None = None) -> float:
        """Return the time for one step, at most ``timeout_s``; httpcore's time-out when none is left."""
        left_s = self._end - time.monotonic()
        if left_s <= 0:
            raise httpcore.ReadTimeout("no time left")
        return min(left_s, _STEP_S if timeout_s is None else timeout_s)

    def limits(self) -> dict[str, Any]:
        """Return the time-outs of a request, as httpcore takes them among its extensions."""
        return {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), self.step_s())}


class GuardedBackend(httpcore.NetworkBackend):
    """Connect to checked addresses only, and never past the deadline.

    ``private_hosts`` may be reached although their addresses are private.
    """

    def __init__(self, clock: Deadline, private_hosts: Collection[str] = ()) -> None:
        self._clock = clock
        self._private_hosts = frozenset(map(_bare, private_hosts))
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.NetworkStream:
        """Resolve, check and connect.

        Raises
        ------
        FetchError
            The host is unknown, or one of its addresses is private.
        """
        ips = addresses.resolve(host, port, self._clock.step_s(timeout))
        if _bare(host) not in self._private_hosts and not all(map(addresses.is_public, ips)):
            raise FetchError(f"the host {shorten(host)} has a private address, which must not be reached")
        failure: Exception = httpcore.ConnectError("no address")
        for address in ips[:4]:
            try:
                connected = self._backend.connect_tcp(
                    address, port, self._clock.step_s(timeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Timed(connected, self._clock)
        raise failure


class _Timed(httpcore.NetworkStream):
    """A connection on which a peer that drips byte by byte cannot outlast the deadline."""

    def __init__(self, stream: httpcore.NetworkStream, clock: Deadline) -> None:
        self._stream, self._clock = stream, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.step_s(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # The time-out holds for each system call: in small pieces, a peer that hardly reads cannot outlast it either.
        for start in range(0, len(buffer), _PIECE_BYTES):
            self._stream.write(buffer[start : start + _PIECE_BYTES], self._clock.step_s(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> "_Timed":
        secured = self._stream.start_tls(ssl_context, server_hostname, self._clock.step_s(timeout))
        return _Timed(secured, self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _bare(host: str) -> str:
    return host.lower().strip("[].")
