"""A worker process of ``local``: it takes the function once, then answers item after item. Run as a module.

Messages go both ways over one socket, pickled: both ends are this program, and what a hostile file does to a decoder
happens one process further down, in the sandbox of ``forensix.media``.
"""

import os
import pickle
import queue
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from forensix.executors.caller_modules import CallerModules


def main() -> None:
    """Answer until the other end is closed."""
    wire = Connection(int(sys.argv[1]))
    try:
        places, work = wire.recv()
        sys.meta_path.insert(0, CallerModules(places))
        function, common = pickle.loads(work)
    except Exception as error:
        wire.send(("refused", None, f"{type(error).__name__}: {error}"))
        return
    items: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(wire, items), daemon=True).start()
    wire.send(("ready", None, None))
    while True:
        wire.send_bytes(_answer(function, common, *items.get()))


def _listen(wire: Connection, items: "queue.SimpleQueue[tuple[int, Any]]") -> None:
    """Take items as they come, so that the parent never waits to send; end with the parent, also amid an item."""
    try:
        while True:
            items.put(wire.recv())
    except (EOFError, OSError):
        os._exit(1)


def _answer(function: Any, common: Any, index: int, item: Any) -> bytes:
    try:
        return pickle.dumps(("done", index, function(common, item)))
    except Exception as error:
        try:
            answer = pickle.dumps(("raised", index, error))
            pickle.loads(answer)
        except Exception:
            return pickle.dumps(("raised", index, RuntimeError(f"{type(error).__name__}: {error}")))
        return answer


if __name__ == "__main__":
    main()
