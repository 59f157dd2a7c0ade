"""What is too large to go with every chunk of a cluster: each worker gets it once, also those that come later."""

from typing import Any

from distributed import WorkerPlugin

from forensix.executors import messages


class MessagePlugin(WorkerPlugin):
    """Holds a message on every worker for as long as it is registered."""

    def __init__(self, digest: str, message: bytes) -> None:
        self._digest, self._message = digest, message

    def setup(self, worker: Any) -> None:
        """Put the message where chunks look for it."""
        messages.RECEIVED[self._digest] = self._message

    def teardown(self, worker: Any) -> None:
        """Drop it again."""
        messages.RECEIVED.pop(self._digest, None)
        messages.UNPACKED.pop(self._digest, None)
