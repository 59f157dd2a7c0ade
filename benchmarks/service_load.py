"""How many creations a second the service accepts, beside a bare handler that stores the same upload; then webhooks.

    python benchmarks/service_load.py > benchmarks/results/service_load.md

Both are run by the same uvicorn configuration, one after the other at every number of clients, each in turn several
times; the table gives medians. The bare handler parses the same multipart form with Starlette and writes the file: no
account, no checks, no database. Tasks are not analysed meanwhile. Then one worker finishes small tasks, and the time
from a task's completion, as the database has it, to the arrival of its webhook is taken.
"""

import argparse
import asyncio
import contextlib
import itertools
import os
import shlex
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import httpx
import numpy as np

from forensix.tasks.catalogue import describe
from tests import making
from tests.service.running import free_port, receiving, serving, stop, wait_until

TASK = "ai_generated_image_detection"
WEBHOOK_TASK = "forensic_analysis"


@dataclass
class Run:
    """What one server did in one stretch of time."""

    seconds: float
    latencies_s: list[float] = field(default_factory=list)
    refused: int = 0
    cpu_s: float = 0.0
    """Time that the server's process had on any core."""

    @property
    def rate_hz(self) -> float:
        """Accepted requests a second."""
        return len(self.latencies_s) / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Processor time of one accepted request."""
        return 1000 * self.cpu_s / max(1, len(self.latencies_s))

    def quantile_ms(self, q: float) -> float:
        """The time that a share ``q`` of the accepted requests stays below."""
        return 1000 * float(np.quantile(self.latencies_s, q)) if self.latencies_s else float("nan")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one run")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--kib", type=int, nargs="+", default=[64, 256, 1024], help="sizes of the upload")
    parser.add_argument("--webhooks", type=int, default=100, help="tasks whose delivery is timed")
    parser.add_argument("--bare", type=int, metavar="PORT", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        serve_bare(options.bare, options.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        creations(place, options)
        webhooks(place, options.webhooks)


def creations(place: Path, options: argparse.Namespace) -> None:
    print("# Creations a second, beside a bare handler\n")
    command = shlex.join(["python", "benchmarks/service_load.py", *sys.argv[1:]])
    print(f"`{command}`, on SQLite, one API process: medians.\n")
    columns = ("KiB", "clients", "forensix, 1/s", "bare, 1/s", "ratio", "forensix p50, p99 ms", "bare p50, p99 ms")
    columns += ("forensix, CPU ms each", "bare, CPU ms each", "refused")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    quiet = {"workers": 0, "account_rate": 0, "queue_limit": 10_000_000, "log_level": "WARNING"}
    with serving(place / "home", **quiet) as service, bare(place / "bare") as (bare_port, bare_pid):
        head = [f"Authorization: Bearer {service.token(service.account('anna'))}"]
        servers = (
            (int(service.base_url.rpartition(":")[2]), service.process.pid, service.home / "files"),
            (bare_port, bare_pid, place / "bare"),
        )
        for kib, clients in itertools.product(options.kib, options.clients):
            request = message(f"/tasks/{TASK}", head, *form(place, kib))
            runs: tuple[list[Run], list[Run]] = ([], [])
            for _ in range(options.repeats):
                for (port, pid, files), done in zip(servers, runs, strict=True):
                    done.append(measured(port, pid, request, clients, options.seconds))
                    for stored in files.iterdir():
                        stored.unlink()
            print(row(kib, clients, *runs), flush=True)


def measured(port: int, pid: int, request: bytes, clients: int, seconds: float) -> Run:
    asyncio.run(load(port, request, clients, seconds / 6))
    before = cpu_s(pid)
    run = asyncio.run(load(port, request, clients, seconds))
    run.cpu_s = cpu_s(pid) - before
    return run


def row(kib: int, clients: int, ours: list[Run], theirs: list[Run]) -> str:
    rates = [statistics.median(run.rate_hz for run in runs) for runs in (ours, theirs)]
    cpu = [f"{statistics.median(run.cpu_ms for run in runs):.2f}" for runs in (ours, theirs)]
    refused = sum(run.refused for run in (*ours, *theirs))
    return (
        f"| {kib} | {clients} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[0] / rates[1]:.2f} | {quantiles(ours)} "
        f"| {quantiles(theirs)} | {cpu[0]} | {cpu[1]} | {refused} |"
    )


def cpu_s(pid: int) -> float:
    """Return the processor time that a process has used, of all its threads (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def quantiles(runs: list[Run]) -> str:
    return ", ".join(f"{statistics.median(run.quantile_ms(q) for run in runs):.1f}" for q in (0.5, 0.99))


def form(place: Path, kib: int) -> tuple[str, bytes]:
    """Return the content type and the multipart body of a picture of so many KiB."""
    picture = making.write_image(place / "picture.jpg").read_bytes()
    picture += b"\0" * (kib * 1024 - len(picture))
    request = httpx.Request(
        "POST", "http://x", data={"explain": "true"}, files={"file": ("picture.jpg", picture, "image/jpeg")}
    )
    return request.headers["content-type"], request.read()


def message(path: str, head: list[str], content_type: str, body: bytes) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: x", *head, f"Content-Type: {content_type}", f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


async def load(port: int, request: bytes, clients: int, seconds: float) -> Run:
    """Send the same request from so many connections at once, each again as soon as it is answered."""
    run = Run(seconds)
    end = time.perf_counter() + seconds

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (begun := time.perf_counter()) < end:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            if head.split(b" ", 2)[1] == b"200":
                run.latencies_s.append(time.perf_counter() - begun)
            else:
                run.refused += 1
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return run


@contextlib.contextmanager
def bare(folder: Path) -> Iterator[tuple[int, int]]:
    """Run the bare handler in a process of its own and give its port and process id."""
    folder.mkdir()
    port = free_port()
    command = [sys.executable, __file__, "--bare", str(port), "--folder", str(folder)]
    process = subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, start_new_session=True)

    def ready() -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"http://127.0.0.1:{port}/").status_code == 404
        return False

    try:
        wait_until(ready, 30, "the bare handler")
        yield port, process.pid
    finally:
        stop(process)


def serve_bare(port: int, folder: Path) -> None:
    """Store uploads and answer with an id; uvicorn and its socket are set up as ``forensix.service.server`` does."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def store(request: Request) -> JSONResponse:
        report_id = str(uuid.uuid4())
        async with request.form() as sent:
            (folder / report_id).write_bytes(await sent["file"].read())
        return JSONResponse({"report_id": report_id, "success": True})

    app = Starlette(routes=[Route(f"/tasks/{TASK}", store, methods=["POST"])])
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    listening.listen(2048)
    options = {"access_log": False, "server_header": False, "ws": "none", "timeout_keep_alive": 30}
    uvicorn.Server(uvicorn.Config(app, log_config=None, **options)).run(sockets=[listening])


def webhooks(place: Path, n: int) -> None:
    """Time deliveries from the completion of their tasks."""
    paper = making.write_pdf(place / "paper.pdf").read_bytes()
    with serving(place / "second", workers=1, account_rate=0, log_level="WARNING") as service, receiving() as receiver:
        headers = {"Authorization": f"Bearer {service.token(service.account('anna'))}"}
        with httpx.Client(base_url=service.base_url, headers=headers, timeout=60) as http:
            http.post(f"/webhooks/{describe(WEBHOOK_TASK).event}", data={"url": receiver.url()}).raise_for_status()
            for _ in range(n):
                http.post(f"/tasks/{WEBHOOK_TASK}", files={"file": ("paper.pdf", paper)}).raise_for_status()
        receiver.wait(n, timeout_s=600)
        with sqlite3.connect(service.home / "forensix.db") as database:
            finished = dict(database.execute("SELECT id, finished_at FROM tasks").fetchall())
    arrived: dict[str, float] = {}
    for delivery in receiver.deliveries:
        arrived.setdefault(httpx.Response(200, content=delivery.body).json()["id"], delivery.at_s)
    late_s = [arrived[report_id] - finished[report_id] for report_id in finished]
    p50, p95 = (float(np.quantile(late_s, q)) for q in (0.5, 0.95))
    print("\n## From completion to the webhook\n")
    print("| tasks | delivered | p50 s | p95 s | longest s |\n|---|---|---|---|---|")
    print(f"| {n} | {len(arrived)} | {p50:.2f} | {p95:.2f} | {max(late_s):.2f} |")


if __name__ == "__main__":
    main()
