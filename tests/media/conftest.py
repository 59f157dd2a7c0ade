"""A listening socket that counts who comes, for everything that must not be contacted."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest


class Listener:
    """Counts connections to a port of this machine."""

    def __init__(self) -> None:
        self.contacts = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.contacts += 1
            connection.close()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    actual = Listener()
    yield actual
    actual.close()


@pytest.fixture
def quiet_and_quick(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Fail where something is printed, or where a bad input keeps a caller waiting."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 30
    assert capfd.readouterr() == ("", "")
