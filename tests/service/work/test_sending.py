"""One POST to a webhook: its signature, where it may go, and how long it waits."""

import base64
import hashlib
import hmac
import socket
import ssl
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from forensix.service.work import posting
from tests.service.running import Receiver, receiving

LOOPBACK = ("127.0.0.1",)


EXAMPLE = "v1,T49pOLi9Y59Pd0W8q5zvP9qTIc61pr4XaCUOi3i6Wj4="


def send(url: str, **changes: Any) -> int:
    options: dict[str, Any] = {"message_id": "msg_1", "secret": "whsec_c2VjcmV0", "timeout_s": 1}
    return posting.post(url, b"{}", **(options | {"private_hosts": LOOPBACK} | changes))


def test_the_signature_is_that_of_the_convention(receiver: Receiver) -> None:
    secret = "whsec_" + base64.b64encode(b"sixteen bytes or more").decode()
    before = int(time.time())
    assert send(receiver.url("/hook?x=1"), secret=secret, message_id="msg_abc") == 200
    (got,) = receiver.deliveries
    assert got.path == "/hook?x=1"
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-id"] == "msg_abc"
    timestamp = got.headers["webhook-timestamp"]
    assert before <= int(timestamp) <= before + 5
    signed = f"msg_abc.{timestamp}.".encode() + got.body
    expected = hmac.new(b"sixteen bytes or more", signed, hashlib.sha256).digest()
    assert got.headers["webhook-signature"] == "v1," + base64.b64encode(expected).decode()


def test_the_signature_agrees_with_openssl() -> None:
    # printf 'msg_1.1614265330.{"test": 2432232314}' | openssl dgst -sha256 -hmac secret -binary
    signature = posting.sign("whsec_c2VjcmV0", "msg_1", 1614265330, b'{"test": 2432232314}')
    assert signature == EXAMPLE


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with receiving([status]) as receiver:
        assert send(receiver.url()) == status
        time.sleep(0.1)
        assert [got.path for got in receiver.deliveries] == ["/"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_private_addresses_are_not_called(receiver: Receiver, host: str) -> None:
    with pytest.raises(posting.NoAnswer):
        send(f"http://{host}:{receiver.port}/", private_hosts=())
    assert receiver.deliveries == []


def test_a_name_that_changes_its_address_after_the_check_is_not_followed(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    connected: list[str] = []

    def resolve(host: str, port: int, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(posting.NoAnswer):
        send(f"http://rebinding.example:{receiver.port}/", private_hosts=())
    assert connected == ["93.184.216.34"]
    assert receiver.deliveries == []


def test_a_certificate_of_nobody_is_not_trusted(tmp_path: Path) -> None:
    from tests.service.certificates import self_signed

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path, "127.0.0.1"))
    came: list[bytes] = []

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        try:
            with context.wrap_socket(connection, server_side=True) as secured:
                came.append(secured.recv(100))
        except OSError:
            return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        with pytest.raises(posting.NoAnswer):
            send(f"https://127.0.0.1:{listening.getsockname()[1]}/")
    assert came == []


@pytest.mark.parametrize("manner", ["silent", "dripping", "reading slowly"])
def test_slow_receivers_are_left_in_time(manner: str) -> None:
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            while not over.wait(0.05):
                try:
                    if manner == "dripping":
                        connection.sendall(b"H")
                    if manner == "reading slowly":
                        connection.recv(1)
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(posting.NoAnswer):
            posting.post(
                f"http://127.0.0.1:{listening.getsockname()[1]}/",
                b"x" * (32 << 20),
                message_id="msg_1",
                secret="whsec_c2VjcmV0",
                timeout_s=1,
                private_hosts=LOOPBACK,
            )
        assert time.monotonic() - begun < 30
        over.set()


def test_an_endless_answer_is_not_read() -> None:
    sent = 0

    def serve(listening: socket.socket) -> None:
        nonlocal sent
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                while True:
                    connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                    sent += 4096
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        begun = time.monotonic()
        assert send(f"http://127.0.0.1:{listening.getsockname()[1]}/") == 200
        assert time.monotonic() - begun < 0.9
        thread.join(5)
    # What the kernel buffers, no more.
    assert sent < 32 << 20


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "not a url", "http://127.0.0.1:99999/", "file:///etc"])
def test_what_is_no_url_is_no_answer(url: str) -> None:
    with pytest.raises(posting.NoAnswer):
        send(url)
