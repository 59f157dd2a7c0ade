"""Uploads: counted, sniffed and streamed; whatever goes wrong on the way, nothing is left."""

import asyncio
import errno
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from forensix.service.api import stalling
from tests.service.api.uploads.bodies import LIMIT, TASK, Pieces, content_of, opening, post, stream
from tests.service.in_process import BOUNDARY, JPEG, Account, Api, multipart, refused


def test_every_byte_is_kept(api: Api, account: Account) -> None:
    # Line ends and beginnings of boundaries inside, over several pieces.
    inside = f"\r\n--{BOUNDARY[:-1]}\r\n\r\n--".encode()
    content = JPEG + (inside + bytes(range(256)) * 100) * 70
    assert 1024**2 < len(content) < LIMIT
    answer = post(account, ('name="explain"', b"true"), ('name="file"; filename="a.jpg"', content))
    assert content_of(api, answer) == content
    after = post(account, ('name="file"; filename="a.jpg"', content), ('name="explain"', b"true"))
    assert content_of(api, after) == content
    assert api.row(after.json()["report_id"])["explain"] is True


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_bodies_in_small_chunks(api: Api, account: Account, size: int) -> None:
    _, body = multipart(('name="explain"', b"true"), ('name="file"; filename="a.jpg"', JPEG))

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(body), size):
            yield body[at : at + size]

    assert content_of(api, stream(account, chunks())) == JPEG


def test_the_limit_itself_is_allowed_and_a_byte_more_is_not(api: Api, account: Account) -> None:
    complete = JPEG + bytes(LIMIT - len(JPEG))
    assert len(content_of(api, post(account, ('name="file"; filename="a.jpg"', complete)))) == LIMIT
    with api.leaves_nothing():
        refused(post(account, ('name="file"; filename="a.jpg"', complete + b"\0")), 413, "too_large")


def test_past_the_limit_the_rest_is_not_read(api: Api, account: Account) -> None:
    body = Pieces(opening() + JPEG, bytes(64 * 1024), 1000)
    with api.leaves_nothing():
        refused(stream(account, body.__aiter__()), 413, "too_large")
    assert body.asked <= LIMIT // (64 * 1024) + 2


def test_a_stated_length_is_enough_to_refuse(api: Api, account: Account) -> None:
    async def asked() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            headers = account.headers | {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
            headers["Content-Length"] = str(33 * 1024**2)
            return await client.post(TASK, headers=headers, content=asked())

    with api.leaves_nothing():
        answer = asyncio.run(send())
        refused(answer, 413, "too_large")
    assert answer.headers["connection"] == "close"


def test_wrong_content_is_refused_before_the_rest_is_read(api: Api, account: Account) -> None:
    body = Pieces(opening() + b"plain text, again and again\n" * 10, b"more text\n" * 6000, 40)
    with api.leaves_nothing():
        refused(stream(account, body.__aiter__()), 415, "unsupported_media")
    assert body.asked <= 3


def test_bodies_that_are_cut_off(api: Api, account: Account) -> None:
    kind, body = multipart(('name="explain"', b"true"), ('name="file"; filename="a.jpg"', JPEG * 2000))
    headers = account.headers | kind
    with api.leaves_nothing():
        for length in (*range(0, 300, 7), len(body) // 2, len(body) - 3, len(body) - 5):
            answer = api.client.post(TASK, headers=headers, content=body[:length])
            assert refused(answer, 400, "bad_form")["error"]
        refused(post(account, ('name="file"; filename="a.jpg"', JPEG), end=False), 400, "bad_form")


def test_a_client_that_goes_away_leaves_nothing(api: Api, account: Account) -> None:
    sent: list[Any] = []
    messages = [
        {"type": "http.request", "body": opening() + JPEG + bytes(2 * 1024**2), "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": TASK,
        "raw_path": TASK.encode(),
        "query_string": b"",
        "headers": [
            (b"authorization", account.token.encode()),
            (b"content-type", f"multipart/form-data; boundary={BOUNDARY}".encode()),
            (b"transfer-encoding", b"chunked"),
        ],
        "client": ("192.0.2.1", 1),
    }
    with api.leaves_nothing():
        asyncio.run(api.app(scope, receive, send))
    assert sent == []


def test_a_client_that_stalls_is_let_go(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalling, "STALL_S", 0.2)

    async def stalls() -> AsyncIterator[bytes]:
        yield opening() + JPEG + bytes(2 * 1024**2)
        await asyncio.sleep(30)

    with api.leaves_nothing():
        refused(stream(account, stalls()), 400, "bad_form")


def test_a_client_that_drips_is_let_go(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalling, "STALL_S", 0.4)
    drops = Pieces(opening() + JPEG, b"x", 1000)

    async def drips() -> AsyncIterator[bytes]:
        async for drop in drops:
            yield drop
            await asyncio.sleep(0.1)

    with api.leaves_nothing():
        refused(stream(account, drips()), 400, "bad_form")
    assert drops.asked < 20


def test_a_slow_client_that_goes_on_is_waited_for(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalling, "STALL_S", 0.4)
    pieces = Pieces(opening() + JPEG, bytes(1024), 15)

    async def slowly() -> AsyncIterator[bytes]:
        async for piece in pieces:
            yield piece
            await asyncio.sleep(0.1)

    assert len(content_of(api, stream(account, slowly()))) == len(JPEG) + 15 * 1024


@pytest.mark.parametrize("step", ["write", "close"])
def test_a_full_disk(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    write = api.context.storage.write

    def failing(key: str) -> Any:
        file = write(key)

        def fail(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        setattr(file, step, fail)
        return file

    monkeypatch.setattr(api.context.storage, "write", failing)
    for content in (JPEG, JPEG + bytes(2 * 1024**2)):
        with api.leaves_nothing():
            refused(post(account, ('name="file"; filename="a.jpg"', content)), 503, "unavailable")


def test_a_database_that_is_gone(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise sa.exc.OperationalError("BEGIN", {}, Exception("server closed the connection"))

    monkeypatch.setattr(api.context.database, "write", gone)
    before = api.stored()
    answer = post(account, ('name="file"; filename="a.jpg"', JPEG))
    body = refused(answer, 503, "unavailable")
    assert not re.search("server closed|OperationalError|BEGIN", body["error"])
    assert api.stored() == before


def test_so_many_uploads_at_a_time(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.service.api.routes.tasks.MAX_UPLOADS", 0)
    with api.leaves_nothing():
        refused(post(account, ('name="file"; filename="a.jpg"', JPEG)), 503, "busy")
    assert not api.context.uploads


def test_one_account_leaves_room_for_others(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.service.api.routes.tasks.MAX_UPLOADS_OF_ACCOUNT", 1)
    other = api.account()
    answers: list[httpx.Response] = []

    async def slow() -> AsyncIterator[bytes]:
        yield opening() + JPEG
        answers.extend([await asyncio.to_thread(account.create), await asyncio.to_thread(other.create)])
        yield f"\r\n--{BOUNDARY}--\r\n".encode()

    assert content_of(api, stream(account, slow())) == JPEG
    refused(answers[0], 503, "busy")
    assert answers[1].status_code == 200
    assert not api.context.uploads
