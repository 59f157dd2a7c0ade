"""Connections as the server holds them: bytes that are no HTTP, and clients that do not read what they asked for."""

import asyncio
import errno
import json
import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import h11
import pytest
import uvicorn

from forensix.service.api.http_protocol import LingeringProtocol, _ClosingTransport
from forensix.service.errors import SLUGS
from tests.service.running import wait_until

LARGE = bytes(16 * 1024**2)
refused = threading.Event()
late: list[BaseException | None] = []


@pytest.fixture(scope="module")
def server() -> Iterator[uvicorn.Server]:
    """A server whose application never answers, but for /large, and /late when the test says so."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/large":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": LARGE})
        if scope["path"] == "/late":
            await asyncio.to_thread(refused.wait, 30)
            try:
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b""})
                late.append(None)
            except Exception as error:
                late.append(error)
        while (await receive())["type"] != "http.disconnect":
            pass

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application, http=LingeringProtocol, lifespan="off", log_config=None, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_until(lambda: server.started, 60, "the server")
    yield server
    server.should_exit = server.force_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def port(server: uvicorn.Server) -> int:
    return int(server.servers[0].sockets[0].getsockname()[1])


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nno header\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000,
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n",
    ],
    ids=["TLS", "header", "long", "lengths", "chunk"],
)
def test_what_is_no_http_is_refused_in_json(port: int, sent: bytes) -> None:
    head, body = ask(port, sent)
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"application/json" in head
    assert b"connection: close" in head.lower()
    answer = json.loads(body)
    assert answer == {"success": False, "error": "the request is not valid HTTP/1.1", "code": "bad_form"}
    assert answer["code"] in SLUGS


def test_what_is_answered_after_the_body_went_wrong_is_no_error(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"POST /late HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
        refused.set()
        wait_until(lambda: bool(late), 30, "the application to answer")
    assert late == [None]


@pytest.mark.parametrize("offered", [b"h2c", b"websocket"])
def test_a_client_that_offers_another_protocol_is_answered_and_not_warned_of(
    port: int, caplog: pytest.LogCaptureFixture, offered: bytes
) -> None:
    sent = b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: " + offered + b"\r\n\r\n"
    assert ask(port, sent)[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert caplog.messages == []


def test_a_malformed_body_of_head_gets_no_body(port: int) -> None:
    head, body = ask(port, b"HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert body == b""


@pytest.mark.parametrize("then_close", [False, True], ids=["kept", "closing"])
def test_a_client_that_does_not_read_is_let_go(
    server: uvicorn.Server, port: int, monkeypatch: pytest.MonkeyPatch, then_close: bool
) -> None:
    monkeypatch.setattr("forensix.service.api.http_protocol.STALL_S", 0.5)
    head = b"Connection: close\r\n" if then_close else b""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n")
        wait_until(lambda: len(server.server_state.connections) == 1, 60, "the connection")
        wait_until(lambda: not server.server_state.connections, 60, "the connection to end")


def test_a_client_that_reads_slowly_gets_all(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.service.api.http_protocol.STALL_S", 0.5)
    n_bytes = 0
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        while piece := connection.recv(1 << 20):
            n_bytes += len(piece)
            time.sleep(0.1)
    assert n_bytes > len(LARGE)


def test_a_client_that_has_reset_its_connection_is_no_error() -> None:
    class Transport:
        done: ClassVar[list[str]] = []

        def is_closing(self) -> bool:
            return False

        def can_write_eof(self) -> bool:
            return True

        def write(self, data: bytes) -> None:
            pass

        def write_eof(self) -> None:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

        def abort(self) -> None:
            self.done.append("abort")

    protocol = SimpleNamespace(conn=SimpleNamespace(their_state=h11.SEND_BODY))
    _ClosingTransport(Transport(), protocol).close()  # type: ignore[arg-type]
    assert Transport.done == ["abort"]


def ask(port: int, sent: bytes) -> tuple[bytes, bytes]:
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent)
        while piece := connection.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body
