"""The service without its API: accounts and tasks written as the API writes them, and real workers to do them."""

import contextlib
import io
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from PIL import Image

from forensix.service.data import accounts, jobs
from forensix.service.data.database import Database, deliveries, migrate, tasks, webhooks
from forensix.service.data.jobs import Jobs
from forensix.service.data.storage import Storage
from forensix.service.settings import Settings
from forensix.service.work.deliveries import begin
from forensix.tasks.catalogue import describe
from tests.making import picture
from tests.service.running import environment, stop, tail, wait_until

DONE_S = 90.0


def png(shift: int = 0) -> bytes:
    """Return a small picture that no other ``shift`` gives."""
    file = io.BytesIO()
    Image.fromarray(picture(64, 48, shift=shift)).save(file, "PNG")
    return file.getvalue()


class Workshop:
    """A database with one account, its storage and its queue."""

    def __init__(self, home: Path, **settings: Any) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.changes: dict[str, Any] = {"private_hosts": "127.0.0.1,localhost", "workers": 1} | settings
        self.settings = Settings(home=home, **self.changes)
        migrate(self.settings)
        jobs.prepare(self.settings)
        self.database = Database(self.settings)
        self.storage = Storage(self.settings.storage_url, sync=self.settings.sync)
        self.jobs = Jobs(self.settings, self.database)
        self.secret = self.account()

    def account(self, name: str = "anna") -> str:
        """Add an account and return its webhook secret."""
        with self.database.write() as connection:
            return accounts.add(connection, name, secrets.token_urlsafe(12))

    def account_id(self, name: str = "anna") -> str:
        with self.database.read() as connection:
            return connection.execute(
                sa.text("SELECT id FROM accounts WHERE name = :name"), {"name": name}
            ).scalar_one()

    def task(self, data: bytes | None = None, *, account: str = "anna", **columns: Any) -> str:
        """Create a task as the API does and return its id; by default a forensic analysis of a small picture."""
        task_id = str(uuid.uuid4())
        row: dict[str, Any] = {
            "id": task_id,
            "account_id": self.account_id(account),
            "task": "forensic_analysis",
            "status": "in_progress",
            "explain": True,
            "transcribe": True,
            "created_at": time.time(),
            "attempts": 0,
        }
        if "url" not in columns:
            file = self.storage.write(task_id)
            file.write(png() if data is None else data)
            file.close()
            row |= {"upload": task_id, "file_name": "picture.png"}
        row |= columns
        with self.database.write() as connection:
            row.setdefault("turn", jobs.next_turn(connection, row["account_id"]))
            connection.execute(sa.insert(tasks).values(row))
            self.jobs.create(connection, row["id"], row["turn"])
        return task_id

    def finish(self, task_id: str) -> None:
        """Finish a task as a worker does, without analysing it; its delivery is queued."""
        row = self.row(task_id)
        done = {"status": "completed", "result": '{"claim_lists":{}}', "finished_at": time.time()}
        with self.database.write() as connection:
            connection.execute(sa.update(tasks).where(tasks.c.id == task_id).values(done))
            begin(connection, self.jobs, self.settings, row)

    def queued(self) -> list[Any]:
        """Return the jobs that wait, first created first."""
        waiting = ["ENQUEUED", "DELAYED"]
        return self.jobs._client.list_workflows(status=waiting, load_output=False)

    def webhook(self, url: str, *, task: str = "forensic_analysis", account: str = "anna") -> str:
        """Register a URL and return its id."""
        webhook_id = secrets.token_urlsafe(8)
        row = {"id": webhook_id, "account_id": self.account_id(account), "event": describe(task).event, "url": url}
        with self.database.write() as connection:
            connection.execute(sa.insert(webhooks).values(row | {"created_at": time.time()}))
        return webhook_id

    def unregister(self, webhook_id: str) -> None:
        """Remove a URL."""
        with self.database.write() as connection:
            connection.execute(sa.delete(webhooks).where(webhooks.c.id == webhook_id))

    def remove(self, task_id: str) -> None:
        """Remove a task's row."""
        with self.database.write() as connection:
            connection.execute(sa.delete(tasks).where(tasks.c.id == task_id))

    def row(self, task_id: str) -> Mapping[str, Any]:
        """Return a task's row."""
        with self.database.read() as connection:
            return dict(connection.execute(sa.select(tasks).where(tasks.c.id == task_id)).mappings().one())

    def delivery(self, task_id: str, webhook_id: str) -> Mapping[str, Any] | None:
        """Return how far a delivery is."""
        mine = sa.and_(deliveries.c.task_id == task_id, deliveries.c.webhook_id == webhook_id)
        with self.database.read() as connection:
            actual = connection.execute(sa.select(deliveries).where(mine)).mappings().one_or_none()
            return None if actual is None else dict(actual)

    def wait(self, *task_ids: str, timeout_s: float = DONE_S) -> list[Mapping[str, Any]]:
        """Return the rows of tasks as soon as all are finished."""
        unfinished = sa.and_(tasks.c.id.in_(task_ids), tasks.c.status == "in_progress")

        def done() -> bool:
            with self.database.read() as connection:
                return connection.execute(sa.select(sa.func.count()).where(unfinished)).scalar_one() == 0

        wait_until(done, timeout_s, "tasks to finish", log=self.log)
        return [self.row(task_id) for task_id in task_ids]

    def start(self, **settings: Any) -> "subprocess.Popen[bytes]":
        """Start ``forensix worker``."""
        env = environment(self.home, **(self.changes | settings))
        with (self.home / "worker.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "forensix", "worker"],
                env=env,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @contextlib.contextmanager
    def working(self, n: int = 1, **settings: Any) -> Iterator[list["subprocess.Popen[bytes]"]]:
        """Run workers until the block ends."""
        processes = [self.start(**settings) for _ in range(n)]
        try:
            yield processes
        finally:
            for process in processes:
                if process.poll() is None:
                    stop(process)

    def log(self) -> str:
        """Return the end of what the workers have written."""
        return tail(self.home / "worker.log")

    def close(self) -> None:
        """Close the connections."""
        self.jobs.close()
        self.database.close()


class Gate:
    """A site with one picture; whoever asks while it is shut waits until it opens."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.n_asked = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/picture.png"

    def wait(self, n: int = 1, timeout_s: float = DONE_S) -> None:
        """Wait until it was asked ``n`` times."""
        wait_until(lambda: self.n_asked >= n, timeout_s, f"{n} downloads")


@contextlib.contextmanager
def gate() -> Iterator[Gate]:
    """Run a site that is shut at first: a task with its URL is being analysed for as long as a test likes."""
    actual, data = Gate(), png()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            actual.n_asked += 1
            actual.open.wait(60)
            with contextlib.suppress(ConnectionError):
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    actual.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield actual
    finally:
        actual.open.set()
        server.shutdown()
        server.server_close()


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process as the kernel does when memory runs out, and wait until it is gone."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
