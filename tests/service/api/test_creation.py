"""What is left of an upload whose request ends, or whose row may or may not have been written."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from forensix.service.data import storage
from tests.service.in_process import JPEG, Api, multipart, refused, running_api
from tests.service.running import wait_until

FILE = 'name="file"; filename="a.jpg"'


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with running_api(tmp_path, sync=True) as running:
        yield running


@pytest.mark.parametrize(("step", "size"), [("write", 3 << 20), ("close", 1000)])
def test_an_upload_is_discarded_when_its_request_ends_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, size: int
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    right = getattr(storage._FolderFile, step)

    def slow(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(20)
        return right(*arguments)

    monkeypatch.setattr(storage._FolderFile, step, slow)

    async def send(api: Api, headers: dict[str, str], body: bytes) -> httpx.Response:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            sending = asyncio.create_task(client.post("/tasks/face_manipulation", headers=headers, content=body))
            assert await asyncio.to_thread(begun.wait, 20)
            sending.cancel()
            await asyncio.sleep(0.2)
            go_on.set()
            return await sending

    with running_api(tmp_path, sync=True) as api:
        account = api.account()
        kind, body = multipart((FILE, JPEG + bytes(size)))
        with api.leaves_nothing():
            refused(asyncio.run(send(api, account.headers | kind, body)), 503, "busy")


def test_storage_that_hangs_holds_up_nobody_who_reads(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    account, go_on = api.account(), threading.Event()
    report_id = account.created()
    right = storage._FolderFile.close

    def slow(file: storage._FolderFile) -> None:
        assert go_on.wait(30)
        right(file)

    monkeypatch.setattr(storage._FolderFile, "close", slow)
    with ThreadPoolExecutor(25) as pool:
        creations = [pool.submit(account.create) for _ in range(24)]
        try:
            wait_until(lambda: api.context.uploads.total() == 24, 60, "the uploads")
            polling = pool.submit(account.get, f"/tasks/face_manipulation/{report_id}")
            assert polling.result(10).status_code == 200
        finally:
            go_on.set()
        assert [creation.result().status_code for creation in creations] == [200] * 24


def test_an_upload_is_discarded_when_its_folder_does_not_reach_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_folder: str) -> None:
        raise OSError("no")

    monkeypatch.setattr(storage, "_sync_folder", fail)
    with running_api(tmp_path, sync=True) as api, api.leaves_nothing():
        refused(api.account().create(), 503, "unavailable")


def create(api: Api, *, written: bool, lost: bool) -> httpx.Response:
    """Create a task whose commit fails, with the row ``written`` or not, and the connection ``lost`` or not."""
    account = api.account()

    def fail(connection: sa.Connection) -> None:
        if connection.get_execution_options().get("forensix_write"):
            if written:
                connection.connection.commit()
            raise sa.exc.OperationalError("COMMIT", {}, Exception("gone"), connection_invalidated=lost)

    engine = api.context.database.engine
    sa.event.listen(engine, "commit", fail)
    try:
        return account.create()
    finally:
        sa.event.remove(engine, "commit", fail)


def test_a_task_that_was_written_although_the_connection_was_lost_is_answered(api: Api) -> None:
    answer = create(api, written=True, lost=True)
    assert answer.status_code == 200
    assert api.stored() == (1, [api.row(answer.json()["report_id"])["upload"]])


def test_an_upload_whose_row_may_still_come_stays_for_retention(api: Api) -> None:
    refused(create(api, written=False, lost=True), 503, "unavailable")
    n_tasks, files = api.stored()
    assert (n_tasks, len(files)) == (0, 1)


def test_an_upload_whose_row_was_refused_is_discarded(api: Api) -> None:
    with api.leaves_nothing():
        refused(create(api, written=False, lost=False), 503, "unavailable")


def test_of_tasks_that_come_together_only_the_one_whose_upload_fails_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right, closed = storage._FolderFile.close, []

    def close(file: storage._FolderFile) -> None:
        closed.append(file)
        if len(closed) == 2:
            raise OSError("no")
        right(file)

    monkeypatch.setattr(storage._FolderFile, "close", close)

    async def send(api: Api, headers: dict[str, str], body: bytes) -> list[httpx.Response]:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            # All wait to write.
            with api.context.database.write():
                posts = (client.post("/tasks/face_manipulation", headers=headers, content=body) for _ in range(3))
                sending = [asyncio.create_task(post) for post in posts]
                await asyncio.sleep(1)
            return await asyncio.gather(*sending)

    with running_api(tmp_path) as api:
        account = api.account()
        kind, body = multipart((FILE, JPEG))
        answers = asyncio.run(send(api, account.headers | kind, body))
        assert sorted(answer.status_code for answer in answers) == [200, 200, 503]
        report_ids = sorted(answer.json()["report_id"] for answer in answers if answer.status_code == 200)
        assert api.stored() == (2, report_ids)
