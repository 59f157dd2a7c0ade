"""A real ``forensix serve``, in a temporary home and on a free port, and a receiver of its webhooks.

    from tests.service.running import serving

    with serving(tmp_path, workers=0) as service:
        httpx.post(f"{service.base_url}/auth/tokens", auth=service.account("anna"))

A session's tests share the one that the fixture ``service`` of ``tests/service/conftest.py`` starts.
"""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

REPOSITORY = Path(__file__).resolve().parents[2]
FORENSIX = (sys.executable, "-P", "-m", "forensix")
START_S = 120.0
STOP_S = 45.0


@dataclass(frozen=True)
class Service:
    """A service that runs: ``log`` is the file that both its outputs go to."""

    base_url: str
    home: Path
    log: Path
    environment: Mapping[str, str]
    process: "subprocess.Popen[bytes]"

    def account(self, name: str) -> tuple[str, str]:
        """Add an account with a random password; return both, ready for ``auth=`` of httpx."""
        password = secrets.token_urlsafe(12)
        self.command("account", "add", name, text=password + "\n")
        return name, password

    def command(self, *arguments: str, text: str = "") -> str:
        """Run a command of ``forensix`` on the service's home and return what it printed."""
        done = subprocess.run(
            [*FORENSIX, *arguments],
            input=text,
            env=dict(self.environment),
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )
        assert done.returncode == 0, f"forensix {' '.join(arguments)}: {done.stderr or done.stdout}"
        return done.stdout

    def token(self, auth: tuple[str, str]) -> str:
        """Return a new bearer token of an account."""
        answer = httpx.post(f"{self.base_url}/auth/tokens", auth=auth, timeout=30)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["token"])


def environment(home: Path, **settings: object) -> dict[str, str]:
    """Return the environment of a service whose everything lies under ``home``; ``settings`` as ``workers=0``."""
    remaining = {key: value for key, value in os.environ.items() if not key.startswith(("FORENSIX_", "PYTEST_"))}
    built = {f"FORENSIX_{name.upper()}": str(value) for name, value in settings.items()}
    path = os.pathsep.join(filter(None, (str(REPOSITORY), remaining.get("PYTHONPATH", ""))))
    return remaining | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "FORENSIX_HOME": str(home)} | built


def free_port() -> int:
    """Return a port that nothing listened on a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextlib.contextmanager
def serving(
    home: Path, arguments: Sequence[str] = (), folder: Path | None = None, **settings: object
) -> Iterator[Service]:
    """Run ``forensix serve`` on a free port until the block ends; it must be ready, and stop when it is told to.

    It works in ``folder``, in its home unless one is named. By default one worker, loopback open for downloads and
    webhooks, and no rate limit that tests would meet.
    """
    home.mkdir(parents=True, exist_ok=True)
    defaults: dict[str, object] = {"workers": 1, "private_hosts": "127.0.0.1,localhost"}
    env = environment(home, **(defaults | settings))
    port = free_port()
    log = home / "serve.log"
    command = [*FORENSIX, "serve", "--host", "127.0.0.1", "--port", str(port), *arguments]
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, env=env, cwd=folder or home, stdout=output, stderr=output, start_new_session=True
        )
    service = Service(f"http://127.0.0.1:{port}", home, log, env, process)
    try:
        wait_until(lambda: _ready(service), START_S, "the service to be ready", log=lambda: tail(log))
        yield service
    finally:
        stop(process)


def _ready(service: Service) -> bool:
    assert service.process.poll() is None, f"forensix serve ended at once:\n{tail(service.log)}"
    with contextlib.suppress(httpx.HTTPError):
        return httpx.get(f"{service.base_url}/readyz", timeout=5).status_code == 200
    return False


def stop(process: "subprocess.Popen[bytes]") -> int:
    """End a process as a supervisor does, and everything that it started when it does not go; return its status."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        return process.kill() or process.wait()
    finally:
        # It leads a session of its own, so what is left of it has its group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def wait_until(
    done: Callable[[], bool], timeout_s: float, what: str, *, log: Callable[[], str] = str, every_s: float = 0.05
) -> None:
    """Wait for a condition; fail with what it was, and with what ``log`` returns."""
    end = time.monotonic() + timeout_s
    while not done():
        assert time.monotonic() < end, f"waited {timeout_s:.0f} s for {what}\n{log()}"
        time.sleep(every_s)


def uploads(home: Path) -> list[str]:
    """Return the names of the files in a home's storage that are uploads, or parts of some that arrive."""
    return sorted(path.name for path in (home / "files").iterdir() if path.suffix != ".mark")


def tail(log: Path, n_characters: int = 4000) -> str:
    """Return the end of a log."""
    return log.read_text(errors="replace")[-n_characters:] if log.exists() else ""


@dataclass(frozen=True)
class Delivery:
    """One POST that came; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    at_s: float


@dataclass
class Receiver:
    """A webhook receiver on loopback.

    It answers with the statuses in ``answers``, one after another, and with 200 after those; each after ``delay_s``.
    """

    answers: list[int] = field(default_factory=list)
    delay_s: float = 0.0
    deliveries: list[Delivery] = field(default_factory=list)
    port: int = 0

    def url(self, path: str = "/") -> str:
        """Return the address to register; ``path`` tells deliveries apart."""
        return f"http://127.0.0.1:{self.port}{path}"

    def wait(self, n: int = 1, *, path: str | None = None, timeout_s: float = 60.0) -> list[Delivery]:
        """Return the deliveries, of one path where it is given, as soon as there are ``n``."""
        wait_until(lambda: len(self.to(path)) >= n, timeout_s, f"{n} deliveries to {path or 'any path'}")
        return self.to(path)

    def to(self, path: str | None = None) -> list[Delivery]:
        """Return the deliveries so far, of one path where it is given."""
        return [delivery for delivery in self.deliveries if path in {None, delivery.path}]


@contextlib.contextmanager
def receiving(answers: Sequence[int] = (), delay_s: float = 0.0) -> Iterator[Receiver]:
    """Listen for webhooks on a free port of loopback until the block ends."""
    receiver = Receiver(list(answers), delay_s)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.deliveries.append(Delivery(self.path, headers, body, time.time()))
            time.sleep(receiver.delay_s)
            status = receiver.answers.pop(0) if receiver.answers else 200
            with contextlib.suppress(ConnectionError):
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("location", receiver.url("/redirected"))
                self.send_header("content-length", "0")
                self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def children(process_id: int) -> list[int]:
    actual = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process_id)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in actual.stdout.split()]


def alive(process_id: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process_id}/status").read_text()
    except FileNotFoundError:
        return False
