"""The API in the test's own process, without workers: what it answers, and what it leaves in database and storage."""

import contextlib
import itertools
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa
from fastapi import FastAPI
from starlette.testclient import TestClient

from forensix.service.api.app import create_app
from forensix.service.api.context import Context
from forensix.service.data import accounts, jobs
from forensix.service.data.database import migrate, tasks
from forensix.service.settings import Settings

JPEG = b"\xff\xd8\xff\xe0" + bytes(range(256)) * 4
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(100)
MP4 = b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + bytes(100)
PDF = b"%PDF-1.7\n" + bytes(100)
BOUNDARY = "a-boundary-of-the-tests"

_numbers = itertools.count()


class Api:
    """A running application and what lies behind it."""

    def __init__(self, app: FastAPI, client: TestClient) -> None:
        self.app, self.client = app, client
        self.context: Context = app.state.context
        self.settings = self.context.settings

    def account(self) -> "Account":
        """Make an account with a token."""
        name, password = f"account-{next(_numbers)}", secrets.token_urlsafe(12)
        with self.context.database.write() as connection:
            accounts.add(connection, name, password)
            account_id = next(each.id for each in accounts.list_all(connection) if each.name == name)
        return Account(self, account_id, name, password, self.context.tokens.issue(account_id).token)

    def stored(self) -> tuple[int, list[str]]:
        """Return how many tasks there are, and the names of all uploads in the storage, unfinished ones included."""
        folder = Path(self.settings.storage_url.removeprefix("file://"))
        with self.context.database.read() as connection:
            n_tasks = connection.scalar(sa.select(sa.func.count()).select_from(tasks)) or 0
        return n_tasks, sorted(path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".mark")

    @contextlib.contextmanager
    def leaves_nothing(self) -> Iterator[None]:
        """Fail when the block leaves a task or a file behind."""
        before = self.stored()
        yield
        assert self.stored() == before

    def row(self, report_id: str) -> Mapping[str, Any]:
        """Return a task's row."""
        with self.context.database.read() as connection:
            return dict(connection.execute(sa.select(tasks).where(tasks.c.id == report_id)).mappings().one())


class Account:
    """An account with a token, and the requests that it makes."""

    def __init__(self, api: Api, account_id: str, name: str, password: str, token: str) -> None:
        self.api, self.id, self.auth, self.token = api, account_id, (name, password), token
        self.headers = {"Authorization": f"Bearer {token}"}

    def tokens(self, method: str = "POST", path: str = "") -> httpx.Response:
        """Ask /auth/tokens with the password."""
        return self.api.client.request(method, f"/auth/tokens{path}", auth=self.auth)

    def create(self, task: str = "face_manipulation", file: Any = ("a.jpg", JPEG), **fields: Any) -> httpx.Response:
        """Create a task by multipart; ``file=None`` sends none."""
        parts: list[Any] = [(name, (None, str(value))) for name, value in fields.items()]
        if file is not None:
            parts.append(("file", file))
        return self.api.client.post(f"/tasks/{task}", headers=self.headers, files=parts)

    def created(self, task: str = "face_manipulation", **fields: Any) -> str:
        """Create a task and return its id."""
        answer = self.create(task, **fields)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["report_id"])

    def get(self, path: str) -> httpx.Response:
        """Ask with the token."""
        return self.api.client.get(path, headers=self.headers)

    def webhooks(
        self, method: str = "GET", event: str = "voice_analysis_complete", path: str = "", **form: str
    ) -> httpx.Response:
        """Ask /webhooks/EVENT."""
        return self.api.client.request(method, f"/webhooks/{event}{path}", headers=self.headers, data=form or None)


@contextlib.contextmanager
def running_api(home: Path, **changes: Any) -> Iterator[Api]:
    """Run the API on a new home until the block ends."""
    settings = Settings.read(home=home, workers=0, **({"account_rate": 0, "password_rate": 0} | changes))
    migrate(settings)
    jobs.prepare(settings)
    app = create_app(settings)
    with TestClient(app) as client:
        yield Api(app, client)


def multipart(*parts: tuple[str, bytes], end: bool = True) -> tuple[dict[str, str], bytes]:
    """Return headers and body of a multipart request; each part is what follows ``form-data; `` and its content."""
    body = b"".join(
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"
        for disposition, content in parts
    )
    if end:
        body += f"--{BOUNDARY}--\r\n".encode()
    return {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}, body


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Check that an answer is a refusal as the design has it, and return its body."""
    assert answer.status_code == status, answer.text
    body: dict[str, Any] = answer.json()
    assert set(body) == {"success", "error", "code"}
    assert body["success"] is False
    assert body["code"] == code
    assert body["error"]
    assert "\n" not in body["error"]
    assert "Traceback" not in body["error"]
    if status == 401:
        assert "www-authenticate" in answer.headers
    if status in (429, 503):
        assert int(answer.headers["retry-after"]) >= 1
    return body
