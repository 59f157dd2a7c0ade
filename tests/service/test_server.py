"""``forensix serve`` as processes and sockets: what an application in this process cannot show."""

import asyncio
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from forensix.cli import main
from forensix.errors import UsageError
from forensix.service.server import Fleet, _listen, _without_password
from forensix.service.settings import Settings
from tests.service.in_process import BOUNDARY, JPEG
from tests.service.running import alive, children, serving, uploads, wait_until


@pytest.mark.slow
def test_an_api_without_workers(tmp_path: Path) -> None:
    with serving(tmp_path, workers=0, max_upload_bytes=100_000) as service:
        token = service.token(service.account("anna"))
        host, port = service.base_url.removeprefix("http://").split(":")
        head = (
            f"POST /tasks/face_manipulation HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        ).encode()

        # A length that cannot fit: answered without a byte of the body, and the connection is closed.
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head + b"Content-Length: 34603008\r\n\r\n")
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"connection: close" in answer.lower()
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "too_large"

        # No length at all: read up to the limit, and not further.
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'.encode() + JPEG
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(part) + chunk(bytes(120_000)))
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 413 ")

        # Two lengths, which a proxy may read the other way: what follows is not taken for a request.
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            hidden = f"GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
            lengths = f"Content-Length: {5 + len(hidden)}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode()
            connection.sendall(head + lengths + hidden)
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.count(b"HTTP/1.1 ") == 1

        # The token decides before the body does.
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head.replace(token.encode(), b"nonsense") + b"Content-Length: 5000\r\n\r\n")
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 401 ")

        # A client that goes away midway leaves nothing.
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head + b"Content-Length: 50000\r\n\r\n" + part)
        # One that sends slowly is served, and holds nobody up.
        body = part + bytes(500) + f"\r\n--{BOUNDARY}--\r\n".encode()
        others = httpx.Client(base_url=service.base_url)
        with others, socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(head + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
            for at in range(0, len(body), 200):
                connection.sendall(body[at : at + 200])
                time.sleep(0.02)
                assert others.get("/healthz").status_code == 200
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 200 ")
        report_id = json.loads(answer.partition(b"\r\n\r\n")[2])["report_id"]
        assert uploads(tmp_path) == [report_id]

        # Connections are kept, and nothing delays a small answer.
        with httpx.Client(base_url=service.base_url) as client:
            took_s = []
            for _ in range(20):
                begun = time.perf_counter()
                client.get("/healthz")
                took_s.append(time.perf_counter() - begun)
            assert sorted(took_s)[5] < 0.04

        # A second one on the same port says so in a sentence.
        command = [sys.executable, "-m", "forensix", "serve", "--port", port]
        done = subprocess.run(command, env=dict(service.environment), capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "name another" in done.stderr
        assert "Traceback" not in done.stderr

        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(20) == 0
        log = service.log.read_text()
        assert log.startswith(f"forensix serves {service.base_url} with no workers")
        assert "Traceback" not in log
        assert token not in log


@pytest.mark.slow
def test_workers_are_kept_and_end_with_the_service(tmp_path: Path) -> None:
    with serving(tmp_path, workers=2) as service:
        wait_until(lambda: len(children(service.process.pid)) == 2, 60, "two workers")
        first, second = children(service.process.pid)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: len({*children(service.process.pid)} - {first}) == 2, 60, "another worker")
        assert second in children(service.process.pid)
        workers = children(service.process.pid)
        # However the service ends: the workers see their pipe close.
        os.kill(service.process.pid, signal.SIGKILL)
        wait_until(lambda: not any(map(alive, workers)), 60, "the workers to end")


@pytest.mark.slow
@pytest.mark.skipif(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN, reason="nohup has it ignored")
def test_a_terminal_that_is_closed_ends_the_service_in_order(tmp_path: Path) -> None:
    with serving(tmp_path, workers=1) as service:
        wait_until(lambda: '"message": "worker started"' in service.log.read_text(), 60, "a worker")
        # As the system does it: to everything that was started from there.
        os.killpg(service.process.pid, signal.SIGHUP)
        assert service.process.wait(60) == 0
        log = service.log.read_text()
        assert "worker stopped" in log and "Traceback" not in log
        assert '"logger": "dbos"' not in log, "what the queue says of its own start is not asked for"


def test_the_fleet_restarts_and_stops(tmp_path: Path) -> None:
    settings = Settings.read(home=tmp_path, workers=2, shutdown_s=1)
    marks = tmp_path / "marks"
    code = f"import os, time; os.write(os.open({str(marks)!r}, os.O_APPEND | os.O_CREAT | os.O_WRONLY), b'x')"

    async def run(then: str, n: int) -> tuple[float, float]:
        """Return how long it took until ``n`` had started, and the stop."""
        fleet = Fleet(settings, command=[sys.executable, "-c", f"{code}; {then}"])
        begun = time.monotonic()
        fleet.start()
        while not marks.exists() or marks.stat().st_size < n:
            assert time.monotonic() - begun < 120
            await asyncio.sleep(0.02)
        started = time.monotonic()
        await fleet.stop()
        return started - begun, time.monotonic() - started

    # Each again after a second, then two: not in a busy loop.
    assert asyncio.run(run("raise SystemExit(1)", 5))[0] > 2.5
    marks.unlink()
    assert asyncio.run(run("time.sleep(60)", 2))[1] < 30
    assert marks.stat().st_size == 2


def test_a_worker_that_is_starting_when_the_fleet_stops_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.read(home=tmp_path, workers=2, shutdown_s=5)
    create, started = asyncio.create_subprocess_exec, []

    async def create_slowly(*arguments: Any, **others: Any) -> Any:
        process = await create(*arguments, **others)
        started.append(process)
        await asyncio.sleep(0.5 * (len(started) - 1))
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", create_slowly)

    async def run() -> None:
        code = "import signal, time; signal.signal(signal.SIGTERM, lambda *_: time.sleep(2) or exit()); time.sleep(60)"
        fleet = Fleet(settings, command=[sys.executable, "-c", code])
        fleet.start()
        await asyncio.sleep(0.3)
        await fleet.stop()

    asyncio.run(run())
    assert len(started) == 2
    assert all(process.returncode is not None for process in started)


def test_a_worker_that_could_not_be_started_is_tried_again(tmp_path: Path) -> None:
    settings = Settings.read(home=tmp_path, workers=1, shutdown_s=1)
    program, mark = tmp_path / "program", tmp_path / "mark"

    async def run() -> None:
        fleet = Fleet(settings, command=[str(program)])
        fleet.start()
        await asyncio.sleep(0.2)
        program.write_text(f"#!/bin/sh\ntouch {mark}\nsleep 60\n")
        program.chmod(0o700)
        await asyncio.sleep(1.5)
        await fleet.stop()

    asyncio.run(run())
    assert mark.exists()


@pytest.mark.slow
def test_a_client_that_is_refused_early_is_told_why(tmp_path: Path) -> None:
    with serving(tmp_path, workers=0) as service:
        token = service.token(service.account("anna"))
        (tmp_path / "text").write_bytes(b"plain text\n" * 3_000_000)
        (tmp_path / "large").write_bytes(JPEG + bytes(60 * 1024**2))

        def post(file: str, *arguments: str, sent: str = token) -> str:
            command = ["curl", "-sS", "-w", "%{http_code}", "-o", "/dev/null", "-H", f"Authorization: Bearer {sent}"]
            url = f"{service.base_url}/tasks/face_manipulation"
            done = subprocess.run(
                [*command, *arguments, "-F", f"file=@{tmp_path / file}", url],
                capture_output=True,
                text=True,
                check=False,
            )
            return done.stdout + done.stderr

        # Whether a reset overtakes the answer is chance.
        for _ in range(8):
            assert post("text") == post("text", "-H", "Expect:") == "415"
            assert post("large", "-H", "Expect:") == post("large", "-H", "Transfer-Encoding: chunked") == "413"
            assert post("text", "-H", "Expect:", sent="x") == "401"


@pytest.mark.slow
def test_a_client_that_goes_on_sending_is_cut_off(tmp_path: Path) -> None:
    with serving(tmp_path, workers=0) as service:
        host, port = service.base_url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(b"POST /tasks/voice_analysis HTTP/1.1\r\nHost: x\r\nContent-Length: 900000000\r\n\r\n")
            answer = read_all(connection)
            begun = time.monotonic()
            with pytest.raises(ConnectionError):
                while time.monotonic() - begun < 20:
                    connection.sendall(bytes(1000))
                    time.sleep(0.1)
        assert answer.startswith(b"HTTP/1.1 401 ")
        assert time.monotonic() - begun < 6


@pytest.mark.slow
def test_connections_without_requests_leave_room_and_are_closed(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # The service inherits it, and so does everything that it raises its own to.
    head_s = 4.0
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)); from forensix.cli import main;"
        f" from forensix.service.api import http_protocol; http_protocol.HEAD_S = {head_s}; main()"
    )
    monkey = pytest.MonkeyPatch()
    monkey.setattr("tests.service.running.FORENSIX", (sys.executable, "-c", code))
    try:
        with serving(tmp_path, workers=0) as service, contextlib.ExitStack() as open_:
            host, port = service.base_url.removeprefix("http://").split(":")
            begun = time.monotonic()
            first = open_.enter_context(socket.create_connection((host, int(port)), timeout=30))
            first.sendall(b"GET /healthz HTT")
            for n in range(500):
                open_.enter_context(socket.create_connection((host, int(port)), timeout=30))
                # The event loop takes all that wait at a time.
                time.sleep(0.1 if n % 20 == 0 else 0)
            assert first.recv(1000) == b""
            assert head_s - 0.1 < time.monotonic() - begun < head_s + 8
            wait_until(lambda: httpx.get(f"{service.base_url}/readyz", timeout=5).status_code == 200, 60, "room")
            assert "Too many open files" not in service.log.read_text()
    finally:
        monkey.undo()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == limits


@pytest.mark.slow
def test_an_upload_that_is_arriving_when_the_time_to_stop_is_over(tmp_path: Path) -> None:
    with serving(tmp_path, workers=0, shutdown_s=1) as service:
        token = service.token(service.account("anna"))
        host, port = service.base_url.removeprefix("http://").split(":")
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'.encode() + JPEG
        head = (
            f"POST /tasks/face_manipulation HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: 9000000\r\n\r\n"
        ).encode()
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(head + part + bytes(2 * 1024**2))
            wait_until(lambda: len(uploads(tmp_path)) == 1, 60, "the first piece of the upload")
            service.process.send_signal(signal.SIGTERM)
            answer = read_all(connection)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "busy"
        assert service.process.wait(20) == 0
        assert uploads(tmp_path) == []
        assert "Traceback" not in service.log.read_text()


def test_a_worker_that_will_not_stop_is_killed(tmp_path: Path) -> None:
    settings = Settings.read(home=tmp_path, workers=1, shutdown_s=0.1)
    deaf = tmp_path / "deaf"
    ignore = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    code = f"{ignore}; open({str(deaf)!r}, 'w').close(); time.sleep(60)"

    async def run() -> float:
        fleet = Fleet(settings, command=[sys.executable, "-c", code])
        fleet.start()
        while not deaf.exists():
            await asyncio.sleep(0.02)
        begun = time.monotonic()
        await fleet.stop()
        return time.monotonic() - begun

    assert 4 < asyncio.run(run()) < 40


def test_addresses_that_cannot_be_listened_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="in use"):
        _listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(UsageError) as error:
        _listen("nonesuch.invalid", 0)
    assert "Unknown error" not in str(error.value)


def test_what_is_shown_holds_no_password() -> None:
    assert _without_password("s3://key:word@bucket/files") == "s3://bucket/files"
    assert _without_password("file:///home/a@b/files") == "file:///home/a@b/files"
    for url, shown in (
        ("postgresql://anna:wo/rd@db:5432/x?password=word", "postgresql://db:5432/x"),
        ("sqlite:////home/anna/x.db", "sqlite:////home/anna/x.db"),
    ):
        assert Settings.read(database_url=url).shown_database == shown


@pytest.mark.parametrize(("name", "value"), [("workers", "many"), ("database_url", "mysql://anna:word@db/x")])
def test_wrong_settings_are_a_sentence(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(f"FORENSIX_{name.upper()}", value)
    for command in ("serve", "worker"):
        with pytest.raises(SystemExit) as stopped:
            main((command,))
        assert stopped.value.code == 2
        error = capsys.readouterr().err
        assert error.startswith(f"forensix: FORENSIX_{name.upper()} is not valid: ")
        assert "word@" not in error


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def read_all(connection: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    actual = b""
    while data := connection.recv(65536):
        actual += data
    return actual
