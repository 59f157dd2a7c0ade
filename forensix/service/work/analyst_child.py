"""The warm child of a worker: one analysis after another, with the models kept loaded. Run as a module by ``analyst``.

Messages are a length of eight bytes and that much JSON, requests on stdin, answers on stdout. What hostile bytes do
to a decoder happens one process further down, in the sandbox of ``forensix.media``.
"""

import faulthandler
import json
import os
import resource
import signal
import struct
import sys
from typing import Any, BinaryIO

from forensix.media.child import follow_parent, take_stdout, watch_parent

LENGTH = struct.Struct(">Q")
SETTINGS = "FORENSIX_ANALYST"
_NICE = 5


def main() -> None:
    """Answer requests until stdin ends."""
    settings = json.loads(os.environ.pop(SETTINGS))
    requests, answers = os.fdopen(0, "rb", buffering=0, closefd=False), take_stdout()
    # Sent to a whole group, as some supervisors do, these are the worker's to act on.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_parent(settings["parent"])
    follow_parent(settings["lifeline"])
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _bound_memory(settings["data_bytes"])
    # Requests are answered and webhooks sent before the next frame is looked at.
    os.nice(_NICE)
    from forensix.analysis import analyze  # seconds, most of them torch's

    _send(answers, {"kind": "ready"})
    while (request := _receive(requests)) is not None:
        _send(answers, _answer(analyze, request))


def _answer(analyze: Any, request: dict[str, Any]) -> dict[str, Any]:
    from forensix.errors import BrokeDown, ForensixError, InputError, MissingExtra, UsageError, is_disk_full
    from forensix.media import Limits

    task = request["tasks"][0]
    source = request.pop("source")
    try:
        limits = Limits(**request.pop("limits", {}))
        report = analyze(source, limits=limits, **request)
        wire = report.to_wire(task)
    except InputError as error:
        return {"kind": "failed", "error": str(error), "code": error.code}
    except ForensixError as error:
        return _broken(str(error))
    except MemoryError:
        return {"kind": "memory"}
    except Exception as error:
        if is_disk_full(error):
            return {"kind": "disk_full", "errno": error.errno}
        return _broken(BrokeDown.of("", error).frames)
    if task in report.tracebacks:
        return _broken(report.tracebacks[task])
    if report.codes.get(task) in (UsageError.code, MissingExtra.code):  # of what the operator chose or set
        return _broken(report.errors[task])
    if wire["status"] != "completed":
        return {"kind": "failed", "error": wire["error"], "code": report.codes.get(task, "input")}
    return {"kind": "completed", "result": wire["result"], "preview": wire.get("preview")}


def _broken(where: str) -> dict[str, Any]:
    return {"kind": "broken", "where": where[-4000:]}


def _bound_memory(data_bytes: int) -> None:
    """Stop an allocation that is too large to be seen coming; the parent's measuring stops slow growth earlier."""
    if data_bytes and sys.platform.startswith("linux"):
        resource.setrlimit(resource.RLIMIT_DATA, (data_bytes, data_bytes))


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
