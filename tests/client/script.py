"""What a service answers, in order, and what was asked of it."""

import base64
from dataclasses import dataclass, field
from typing import Any

from forensix.tasks.catalogue import describe

CLAIMS = {
    "audience": "a",
    "endsWith": "abcdef",
    "expiresAt": 20,
    "issuedAt": 10,
    "issuer": "i",
    "subject": "s",
}


SECRET = "whsec_" + base64.b64encode(b"k" * 24).decode()


@dataclass
class Script:
    """Answers in order (status, headers, body), None for a connection that is cut; and the requests that came."""

    answers: list[tuple[int, dict[str, str], Any] | None] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def ok(self, **body: Any) -> None:
        self.answers.append((200, {}, {"success": True, **body}))

    def refuse(self, status: int, code: str, **headers: str) -> None:
        body = {"success": False, "error": f"refused with {status}", "code": code}
        self.answers.append((status, {k.replace("_", "-"): v for k, v in headers.items()}, body))

    def task(self, task: str, status: str, **more: Any) -> None:
        self.answers.append((200, {}, {"id": "r1", "status": status, "event_type": describe(task).event, **more}))


def parts(request: dict[str, Any]) -> dict[str, tuple[bytes, bytes]]:
    """Return the head and the content of each part of a multipart body, in order."""
    boundary = request["headers"]["content-type"].partition("boundary=")[2].encode()
    actual = {}
    for part in request["body"].split(b"--" + boundary)[1:-1]:
        head, _, content = part.strip(b"\r\n").partition(b"\r\n\r\n")
        actual[head.split(b'name="')[1].split(b'"')[0].decode()] = (head, content)
    return actual
