"""What is answered to bytes that are no HTTP, before any application sees a request."""

import json
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from forensix.service.api.http_protocol import LingeringProtocol
from forensix.service.errors import SLUGS
from tests.service.running import wait_until


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server whose application never answers."""

    async def silent(_scope: object, receive: object, _send: object) -> None:
        while (await receive())["type"] != "http.disconnect":  # type: ignore[operator]
            pass

    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(silent, http=LingeringProtocol, lifespan="off", log_config=None, ws="none")  # type: ignore[arg-type]
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_until(lambda: server.started, 10, "the server")
    yield listening.getsockname()[1]
    server.should_exit = server.force_exit = True
    thread.join(10)


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


def test_a_malformed_body_of_head_gets_no_body(port: int) -> None:
    head, body = ask(port, b"HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert body == b""


def ask(port: int, sent: bytes) -> tuple[bytes, bytes]:
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent)
        while piece := connection.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body
