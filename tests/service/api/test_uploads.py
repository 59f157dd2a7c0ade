"""Uploads: counted, sniffed and streamed; whatever goes wrong on the way, nothing is left."""

import asyncio
import errno
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from forensix.service.api import stalling
from tests.service.in_process import BOUNDARY, JPEG, PNG, Account, Api, multipart, refused, running_api

LIMIT = 3 * 1024**2
TASK = "/tasks/face_manipulation"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running_api(tmp_path_factory.mktemp("home"), max_upload_bytes=LIMIT) as running:
        yield running


@pytest.fixture(scope="module")
def account(api: Api) -> Account:
    return api.account()


def post(account: Account, *parts: tuple[str, bytes], end: bool = True, **headers: str) -> httpx.Response:
    kind, body = multipart(*parts, end=end)
    return account.api.client.post(TASK, headers=account.headers | kind | headers, content=body)


def stream(account: Account, body: AsyncIterator[bytes]) -> httpx.Response:
    """Send a body piece by piece, to the application itself: the client sees how much of it was asked for."""

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(account.api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            headers = account.headers | {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
            return await client.post(TASK, headers=headers, content=body)

    return asyncio.run(send())


def opening(disposition: str = 'name="file"; filename="a.jpg"') -> bytes:
    return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode()


class Pieces:
    """A body that counts how many of its pieces were asked for."""

    def __init__(self, first: bytes, piece: bytes, n: int, last: bytes = f"\r\n--{BOUNDARY}--\r\n".encode()) -> None:
        self.first, self.piece, self.n, self.last = first, piece, n, last
        self.asked = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.first
        for _ in range(self.n):
            self.asked += 1
            yield self.piece
        yield self.last


def content_of(api: Api, answer: httpx.Response) -> bytes:
    assert answer.status_code == 200, answer.text
    with api.context.storage.read(answer.json()["report_id"]) as file:  # type: ignore[attr-defined]
        return file.read()  # type: ignore[no-any-return]


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


BROKEN = {
    "no boundary": ({"Content-Type": "multipart/form-data"}, b"--x\r\n"),
    "another boundary": (
        {"Content-Type": "multipart/form-data; boundary=other"},
        multipart(('name="file"; filename="a.jpg"', JPEG))[1],
    ),
    "a huge boundary": ({"Content-Type": "multipart/form-data; boundary=" + "x" * 5000}, b"--x\r\n"),
    "no headers": ({}, f"--{BOUNDARY}\r\n\r\nvalue\r\n--{BOUNDARY}--\r\n".encode()),
    "no name": ({}, opening("") + b"value\r\n" + f"--{BOUNDARY}--\r\n".encode()),
    "an attachment": (
        {},
        f'--{BOUNDARY}\r\nContent-Disposition: attachment; name="file"\r\n\r\nx\r\n--{BOUNDARY}--\r\n'.encode(),
    ),
    "a header without colon": ({}, f"--{BOUNDARY}\r\nContent Disposition\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()),
    "a huge header": ({}, f"--{BOUNDARY}\r\nX-A: {'a' * 100_000}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()),
    "many headers": ({}, f"--{BOUNDARY}\r\n{'X-A: a' * 1000}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()),
    "a preamble": ({}, b"preamble\r\n" + multipart(('name="url"', b"https://example.org/"))[1]),
    "text that is no UTF-8": ({}, multipart(('name="url"', b"https://example.org/\xff\xfe"))[1]),
    "many parts": ({}, multipart(*[(f'name="x{n}"', b"") for n in range(60)])[1]),
    "nothing but the end": ({}, f"--{BOUNDARY}--\r\n".encode()),
}


@pytest.mark.parametrize("case", BROKEN)
def test_malformed_multipart(api: Api, account: Account, case: str) -> None:
    changes, body = BROKEN[case]
    headers = account.headers | {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"} | changes
    with api.leaves_nothing():
        answer = api.client.post(TASK, headers=headers, content=body)
        assert answer.status_code == 400, answer.text
        assert answer.json()["code"] in ("bad_form", "file_or_url_missing")


@pytest.mark.parametrize("field", ["url", "nonesuch", "additional_info"])
def test_what_is_not_the_file_is_bounded(api: Api, account: Account, field: str) -> None:
    body = Pieces(opening(f'name="{field}"'), b"x" * 32 * 1024, 1000)
    with api.leaves_nothing():
        answer = stream(account, body.__aiter__())
    assert answer.status_code in (400, 413)
    assert body.asked <= 12


def test_what_follows_the_end_is_bounded(api: Api, account: Account) -> None:
    _, complete = multipart(('name="file"; filename="a.jpg"', JPEG))
    body = Pieces(complete, b"x" * 32 * 1024, 1000)
    with api.leaves_nothing():
        refused(stream(account, body.__aiter__()), 413, "too_large")
    assert body.asked <= 12


def test_a_form_without_a_file_is_bounded(api: Api, account: Account) -> None:
    headers = account.headers | {"Content-Type": "application/x-www-form-urlencoded"}
    with api.leaves_nothing():
        refused(api.client.post(TASK, headers=headers, content=b"url=" + b"x" * 300_000), 413, "too_large")
        refused(api.client.post(TASK, headers=headers, content=b"&".join([b"a=b"] * 100)), 400, "bad_form")
        refused(api.client.post(TASK, headers=headers, content=b"url=%ff%fe"), 400, "bad_form")
        refused(api.client.post(TASK, headers=headers, content=b"url=\xff"), 400, "bad_form")


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "identity, gzip"])
def test_compressed_bodies_are_not_unpacked(api: Api, account: Account, encoding: str) -> None:
    with api.leaves_nothing():
        answer = post(account, ('name="file"; filename="a.jpg"', JPEG), **{"Content-Encoding": encoding})
        refused(answer, 415, "unsupported_form")


@pytest.mark.parametrize("encoding", ["", " ", "identity", "Identity, identity"])
def test_no_compression_may_be_said(account: Account, encoding: str) -> None:
    answer = post(account, ('name="file"; filename="a.jpg"', JPEG), **{"Content-Encoding": encoding})
    assert answer.status_code == 200


def test_two_content_types_are_refused(api: Api, account: Account) -> None:
    kind, body = multipart(('name="file"; filename="a.jpg"', JPEG))
    other = "application/x-www-form-urlencoded"
    for second in (other, kind["Content-Type"]):
        headers = [*account.headers.items(), *kind.items(), ("Content-Type", second)]
        with api.leaves_nothing():
            refused(api.client.post(TASK, headers=headers, content=body), 400, "bad_form")


NAMES = {
    'filename="clip.mp4"': "clip.mp4",
    'filename="../../etc/passwd"': "passwd",
    'filename="/etc/passwd"': "passwd",
    r'filename="C:\\Users\\anna\\clip.mp4"': "clip.mp4",
    'filename="a\tb\x7fc.jpg"': "a_b_c.jpg",
    'filename=".."': None,
    'filename="写真.jpg"': "写真.jpg",
    # RFC 7578 forbids this form.
    "filename*=UTF-8''caf%C3%A9.jpg": None,
    'filename=""': None,
    "": None,
}


@pytest.mark.parametrize("given", NAMES)
def test_file_names_are_for_display_only(api: Api, account: Account, given: str) -> None:
    answer = post(account, (f'name="file"; {given}'.rstrip("; "), JPEG))
    assert answer.status_code == 200, answer.text
    report_id = answer.json()["report_id"]
    row = api.row(report_id)
    assert row["file_name"] == NAMES[given]
    assert row["upload"] == report_id
    assert report_id in api.stored()[1]


def test_long_names_keep_their_ends(api: Api, account: Account) -> None:
    answer = post(account, (f'name="file"; filename="{"x" * 3000}.jpg"', JPEG))
    name = api.row(answer.json()["report_id"])["file_name"]
    assert len(name) == 200
    assert name.endswith(".jpg")


def test_a_name_does_not_make_a_format(api: Api, account: Account) -> None:
    assert content_of(api, post(account, ('name="file"; filename="a.txt"', PNG))) == PNG
    with api.leaves_nothing():
        refused(post(account, ('name="file"; filename="a.jpg"', b"text\n" * 99)), 415, "unsupported_media")
        refused(post(account, ('name="file"; filename="a.jpg"', bytes(range(256)))), 415, "unsupported_media")


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
