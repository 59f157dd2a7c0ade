"""Bodies of uploads, whole, in pieces and cut off, and what sends them."""

import asyncio
from collections.abc import AsyncIterator

import httpx

from tests.service.in_process import BOUNDARY, Account, Api, multipart

LIMIT = 3 * 1024**2
TASK = "/tasks/face_manipulation"


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
