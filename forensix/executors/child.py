"""A worker process of ``local``: it takes the function once, then answers item after item. Run as a module.

Messages go both ways over one socket, pickled: both ends are this program, and what a hostile file does to a decoder
happens one process further down, in the sandbox of ``forensix.media``.
"""

import os
import pickle
import queue
import shutil
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from forensix.executors.caller_modules import CallerModules

NO_THREAD = os.EX_OSERR
"""Status of a worker process that the system lets start no thread."""
_REMOVALS = 40


def main() -> None:
    """Answer until the other end is closed."""
    wire, folder = Connection(int(sys.argv[1])), sys.argv[2]
    try:
        places, work = wire.recv()
        sys.meta_path.insert(0, CallerModules(places))
        function, common = pickle.loads(work)
    except Exception as error:
        try:
            wire.send(("refused", None, f"{type(error).__name__}: {error}"))
        except OSError:
            _remove(folder)
        return
    items: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(wire, items, folder), daemon=True)
    try:
        listener.start()
    except RuntimeError:  # Python's word for it
        sys.exit(NO_THREAD)
    try:
        wire.send(("ready", None, None))
        while True:
            wire.send_bytes(_answer(function, common, *items.get()))
    except OSError:
        # The parent is gone; the listener tidies up and ends this process.
        listener.join()


def _listen(wire: Connection, items: "queue.SimpleQueue[tuple[int, Any]]", folder: str) -> None:
    """Take items as they come, so that the parent never waits to send; end with the parent, also amid an item.

    A parent that was killed cannot delete the folder of temporary files, so that is done here.
    """
    try:
        while True:
            items.put(wire.recv())
    except (EOFError, OSError):
        _remove(folder)
        os._exit(1)


def _remove(folder: str) -> None:
    """Delete the folder of temporary files, to which what is still at work may add meanwhile."""
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.05)


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
