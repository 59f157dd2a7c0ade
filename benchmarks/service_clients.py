"""What benchmarks ask of a service, and what they count of its answers, tasks and deliveries."""

import collections
import contextlib
import itertools
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import sqlalchemy as sa

from forensix.service.data.database import deliveries, tasks
from tests.service.running import Delivery, Receiver, Service
from tests.service.workshop import Workshop, png


def attempts_noted(workshop: Workshop, webhook_id: str) -> list[int]:
    with workshop.database.read() as connection:
        query = sa.select(deliveries.c.attempts).where(deliveries.c.webhook_id == webhook_id)
        return list(connection.execute(query).scalars())


@contextlib.contextmanager
def listening(port: int) -> Iterator[Receiver]:
    """Receive webhooks at a port on which nobody listened."""
    receiver = Receiver(port=port)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.deliveries.append(Delivery(self.path, headers, body, time.time()))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()


def record_changes(workshop: Workshop) -> None:
    """Have the database keep every change of a task's status."""
    with workshop.database.write() as connection:
        connection.execute(sa.text("CREATE TABLE changes (task_id TEXT, status TEXT)"))
        insert = "INSERT INTO changes VALUES (new.id, new.status);"
        if workshop.settings.is_sqlite:
            statements = [f"CREATE TRIGGER changed AFTER UPDATE OF status ON tasks BEGIN {insert} END"]
        else:
            statements = [
                f"CREATE FUNCTION changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {insert} RETURN new; END $$",
                "CREATE TRIGGER changed AFTER UPDATE OF status ON tasks FOR EACH ROW EXECUTE FUNCTION changed()",
            ]
        for statement in statements:
            connection.execute(sa.text(statement))


def changes(workshop: Workshop) -> collections.Counter[str]:
    """Return how often each task's status was written."""
    with workshop.database.read() as connection:
        return collections.Counter(connection.execute(sa.text("SELECT task_id FROM changes")).scalars())


def past(workshop: Workshop, n: float) -> bool:
    """Return whether that many tasks are done."""
    done = sa.select(sa.func.count()).where(tasks.c.status != "in_progress")
    with workshop.database.read() as connection:
        return int(connection.execute(done).scalar_one()) >= n


def messages(receiver: Receiver) -> collections.Counter[str]:
    """Return how often each message id came."""
    return collections.Counter(got.headers["webhook-id"] for got in list(receiver.deliveries))


def expected(ids: list[str]) -> set[str]:
    """Return the message ids of tasks."""
    return {f"msg_{task_id}" for task_id in ids}


def clients(service: Service) -> httpx.Client:
    """Return a client with a token of a new account."""
    token = service.token(service.account("anna"))
    return httpx.Client(base_url=service.base_url, headers={"authorization": f"Bearer {token}"}, timeout=60)


_NUMBERS = itertools.count()


def attempt(client: httpx.Client, url: str | None = None) -> httpx.Response:
    """Create a task, or fail to."""
    if url is not None:
        return client.post("/tasks/forensic_analysis", data={"url": url})
    return client.post("/tasks/forensic_analysis", files={"file": ("picture.png", png(next(_NUMBERS)))})


def create(client: httpx.Client, url: str | None = None) -> str:
    """Create a task and return its id."""
    answer = attempt(client, url)
    if answer.status_code != 200:
        raise SystemExit(f"a task could not be created: {answer.status_code} {answer.text}")
    return str(answer.json()["report_id"])


def states(client: httpx.Client, ids: list[str]) -> collections.Counter[str]:
    """Return how many tasks are in which state."""
    return collections.Counter(client.get(f"/tasks/forensic_analysis/{each}").json()["status"] for each in ids)


def answering(client: httpx.Client) -> bool:
    """Return whether the API is ready."""
    return client.get("/readyz").status_code == 200
