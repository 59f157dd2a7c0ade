"""An object store of a test's own: moto's S3, on a free port of loopback, which can be away for a while."""

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator

from moto.server import ThreadedMotoServer

from tests.service.running import free_port


class ObjectStore:
    """An S3 that forgets nothing while it is away."""

    def __init__(self) -> None:
        self._port = free_port()
        self._server: ThreadedMotoServer | None = None

    @property
    def environment(self) -> dict[str, str]:
        """Return what tells any client of S3 of it, forensix's included."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
            "AWS_ACCESS_KEY_ID": "forensix",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def start(self) -> None:
        """Come, or come back."""
        self._server = ThreadedMotoServer("127.0.0.1", self._port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        """Go away."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()

    @contextlib.contextmanager
    def silent(self) -> Iterator[list[socket.socket]]:
        """Take connections, read nothing and say nothing until the block ends; yield those that come."""
        taken: list[socket.socket] = []

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(listening.accept()[0])

        self.stop()
        listening = socket.create_server(("127.0.0.1", self._port))
        thread = threading.Thread(target=take)
        thread.start()
        try:
            yield taken
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for each in (listening, *taken):
                each.close()
            self.start()


@contextlib.contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run an object store until the block ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = ObjectStore()
    store.start()
    try:
        yield store
    finally:
        store.stop()
