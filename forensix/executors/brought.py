"""What is too large to go with every chunk of a cluster: each worker gets it once, also those that come later."""

from typing import Any

from distributed import WorkerPlugin

from forensix.executors import cluster


class Brought(WorkerPlugin):
    """Holds a message on every worker for as long as it is registered."""

    def __init__(self, digest: str, message: bytes) -> None:
        self._digest, self._message = digest, message

    def setup(self, worker: Any) -> None:
        """Put the message where chunks look for it."""
        cluster.brought[self._digest] = self._message

    def teardown(self, worker: Any) -> None:
        """Drop it again."""
        cluster.brought.pop(self._digest, None)
        cluster._unpacked.pop(self._digest, None)
