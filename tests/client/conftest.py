"""A service that answers as a script says, and a client of it."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from forensix.client import Client
from tests.client.script import Script


@pytest.fixture
def script() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            fields = {name.lower(): value for name, value in self.headers.items()}
            script.requests.append({"method": self.command, "path": self.path, "headers": fields, "body": body})
            answer = script.answers.pop(0)
            if answer is None:
                self.close_connection = True
                return
            status, headers, body = answer
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in (headers | {"content-length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - as http.server calls them

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield script
    server.shutdown()
    server.server_close()
    assert script.answers == [], "not everything was asked for"


@pytest.fixture
def client(script: Script) -> Iterator[Client]:
    with Client(script.url, token="t0ken", account=("anna", "secret"), patience_s=5) as client:
        yield client
