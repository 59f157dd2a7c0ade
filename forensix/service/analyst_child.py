"""The warm child of a worker: one analysis after another, with the models kept loaded. Run as a module by ``analyst``.

Messages are a length of eight bytes and that much JSON, requests on stdin, answers on stdout. What hostile bytes do
to a decoder happens one process further down, in the sandbox of ``forensix.media``.
"""

import errno
import faulthandler
import json
import os
import resource
import signal
import struct
import sys
import threading
import traceback
from typing import Any, BinaryIO

LENGTH = struct.Struct(">Q")
SETTINGS = "FORENSIX_ANALYST"
_NICE = 5


def main() -> None:
    """Answer requests until stdin ends."""
    settings = json.loads(os.environ.pop(SETTINGS))
    requests, answers = os.fdopen(0, "rb", buffering=0, closefd=False), _take_stdout()
    # Sent to a whole group, as some supervisors do, these are the worker's to act on.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _watch_parent(settings["parent"])
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _bound_memory(settings["data_bytes"])
    # Requests are answered and webhooks sent before the next frame is looked at.
    os.nice(_NICE)
    from forensix.analysis import analyze  # seconds, most of them torch's

    _send(answers, {"kind": "ready"})
    while (request := _receive(requests)) is not None:
        _follow_parent(True)
        answer = _answer(analyze, request)
        _follow_parent(False)
        _send(answers, answer)


def _answer(analyze: Any, request: dict[str, Any]) -> dict[str, Any]:
    from forensix.errors import InputError

    task = request["tasks"][0]
    source = request.pop("source")
    try:
        report = analyze(source, **request)
        wire = report.to_wire(task)
    except InputError as error:
        return {"kind": "failed", "error": str(error), "code": error.code}
    except MemoryError:
        return {"kind": "memory"}
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return {"kind": "disk_full", "errno": error.errno}
        # Where, not what: messages may repeat what a file or its name says.
        where = "".join(traceback.format_tb(error.__traceback__))[-4000:]
        return {"kind": "broken", "error": type(error).__name__, "where": where}
    if wire["status"] != "completed":
        return {"kind": "failed", "error": wire["error"], "code": report.codes.get(task, "input")}
    return {"kind": "completed", "result": wire["result"], "preview": wire.get("preview")}


def _bound_memory(data_bytes: int) -> None:
    """Stop an allocation that is too large to be seen coming; the parent's measuring stops slow growth earlier."""
    if data_bytes and sys.platform.startswith("linux"):
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))


def _take_stdout() -> BinaryIO:
    """Keep the answer pipe for ourselves; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return answers


def _watch_parent(parent: int) -> None:
    """End this process soon after its parent, on every platform.

    Not PR_SET_PDEATHSIG: that signal comes when the *thread* that started us ends, and executors end threads.
    """

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _follow_parent(on: bool) -> None:
    """Have the kernel end us when the parent's end of stdin closes, even inside native code that holds the GIL.

    The signal also comes when a request arrives, so only while none can.
    """
    import fcntl

    try:
        fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(0, fcntl.F_GETFL)
        fcntl.fcntl(0, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)
    except (AttributeError, OSError):
        return


def _receive(requests: BinaryIO) -> dict[str, Any] | None:
    prefix = _read(requests, LENGTH.size)
    if prefix is None:
        return None
    body = _read(requests, LENGTH.unpack(prefix)[0])
    return None if body is None else dict(json.loads(body))


def _read(pipe: BinaryIO, n_bytes: int) -> bytes | None:
    data = b""
    while len(data) < n_bytes:
        chunk = pipe.read(n_bytes - len(data))
        if not chunk:
            return None
        data += chunk
    return data


def _send(pipe: BinaryIO, message: dict[str, Any]) -> None:
    body = json.dumps(message, allow_nan=False).encode()
    view = memoryview(LENGTH.pack(len(body)) + body)
    while view:
        view = view[pipe.write(view) :]


if __name__ == "__main__":
    main()
