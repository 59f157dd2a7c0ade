"""The sandboxed child: takes its limits, then reads one request, runs one function, writes messages, ends; or becomes
another program under the same limits.

Started by ``sandbox`` as a script of a fresh, isolated interpreter, or forked from the ``template``, which is one that
has loaded modules. No request is read before the limits hold.
"""

import gc
import json
import os
import resource
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_PROCESS_EVENTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "pty.spawn")


def main() -> None:
    """Take the limits, then serve one request or become the program."""
    settings = json.loads(os.environ.pop("FORENSIX_CHILD"))
    take_limits(settings)
    if not settings["network"]:
        leave_network()
    if "program" in settings:
        # The limits and the empty network stay with what takes our place.
        os.execve(settings["program"][0], settings["program"], settings["environment"])
    serve(settings)


def serve(settings: dict[str, Any]) -> NoReturn:
    """Serve one request and leave; the limits hold already."""
    requests, answers = os.fdopen(0, "rb", buffering=0, closefd=False), take_stdout()
    watch_parent(settings["parent"])
    follow_parent(settings["lifeline"])
    # Only now: from here on the modules of forensix and of its dependencies can be found.
    sys.path[:] = [*settings["path"], *(entry for entry in sys.path if entry not in settings["path"])]
    # What reports an error is loaded before there is one: by then files or memory may have run out.
    from forensix.errors import ForensixError
    from forensix.media import wire

    sys.addaudithook(_guard_network if settings["network"] else _refuse_network)
    sys.addaudithook(_refuse_programs)
    # Decoded frames refer to themselves in circles; they are looked for often, as a few dozen large ones fill memory.
    gc.freeze()
    gc.set_threshold(50)
    status = 0
    try:
        target, args, streams = _read_request(wire, requests, settings["memory_bytes"])
        function = _find(target)
        if streams:
            for item in function(*args):
                _send(wire, answers, {"kind": "item", "value": item})
            _send(wire, answers, {"kind": "end"})
        else:
            _send(wire, answers, {"kind": "value", "value": function(*args)})
    except (BrokenPipeError, KeyboardInterrupt):
        status = 1
    except BaseException as error:
        status = 1
        _send(wire, answers, _describe(error, ForensixError))
    # Nothing is left to flush or join, and finalisers of native libraries after hostile input are best not run.
    os._exit(status)


def take_limits(settings: dict[str, Any]) -> None:
    """Bound memory, processor time, open files and what may be written, for good."""
    limits = {
        "RLIMIT_AS": settings["memory_bytes"],
        "RLIMIT_CPU": settings["cpu_s"],
        "RLIMIT_FSIZE": settings["file_bytes"],
        "RLIMIT_NOFILE": 256,
        "RLIMIT_CORE": 0,
    }
    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        try:
            hard = resource.getrlimit(kind)[1]
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))
        except (ValueError, OSError):
            # macOS has RLIMIT_AS but may refuse to set it; the others still hold.
            continue


def leave_network() -> None:
    """Enter an empty network namespace where the kernel lets an ordinary user do so."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    # Root keeps its user namespace: in a new one it could no longer read files of other users.
    flags = _CLONE_NEWNET if os.geteuid() == 0 else _CLONE_NEWNET | _CLONE_NEWUSER
    try:
        ctypes.CDLL(None).unshare(flags)
    except (OSError, AttributeError):
        return


def _refuse_programs(event: str, args: tuple[Any, ...]) -> None:
    if event in _PROCESS_EVENTS:
        raise PermissionError(f"{event} is switched off while media are read")


def _refuse_network(event: str, args: tuple[Any, ...]) -> None:
    # An event loop makes itself a pair of local sockets; they lead nowhere, because connecting and binding are refused.
    if event == "socket.__new__" and args[1] == socket.AF_UNIX:
        return
    if event.startswith("socket."):
        raise PermissionError(f"{event} is switched off while media are decoded")


def _guard_network(event: str, args: tuple[Any, ...]) -> None:
    """Let through what goes to a numeric public address: what a name resolved to is looked at, not the name."""
    if event not in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        return
    from forensix.media.addresses import is_public

    address = args[1]
    if event == "socket.bind" or not isinstance(address, tuple) or not is_public(str(address[0])):
        raise PermissionError("a private address, which downloads must not reach")


def take_stdout() -> BinaryIO:
    """Keep the answer pipe for ourselves; whatever a library prints goes to the captured stderr."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return answers


def watch_parent(parent: int) -> None:
    """End this process soon after its parent, on every platform.

    Not PR_SET_PDEATHSIG: that signal comes when the *thread* that started us ends, and executors end threads.
    """

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(1.0)
        os._exit(1)

    try:
        threading.Thread(target=watch, daemon=True).start()
    except RuntimeError:  # the system allows no further one
        os._exit(os.EX_OSERR)


def follow_parent(lifeline: int) -> None:
    """Have the kernel end us when the parent's end of a pipe closes, even inside native code that holds the GIL.

    Nobody may write to that pipe: the signal would come then as well, and late where the processor is busy.
    """
    import fcntl

    try:
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except (AttributeError, OSError):
        return


def _read_request(wire: Any, requests: BinaryIO, max_bytes: int) -> tuple[str, list[Any], bool]:
    header = _read(requests, wire.header_length(_read(requests, wire.PREFIX.size)))
    tree, sizes = wire.read_header(header, max_bytes)
    request = wire.unpack(tree, [_read(requests, size) for size in sizes])
    return request["target"], request["args"], request["streams"]


def _read(pipe: BinaryIO, n_bytes: int) -> bytearray:
    data = bytearray(n_bytes)
    view, done = memoryview(data), 0
    while done < n_bytes:
        count = pipe.readinto(view[done:])  # type: ignore[attr-defined]
        if not count:
            os._exit(1)
        done += count
    return data


def _send(wire: Any, answers: BinaryIO, message: object) -> None:
    for chunk in wire.pack(message):
        view = memoryview(chunk)
        while view:
            view = view[answers.write(view) :]


def _find(target: str) -> Any:
    import importlib

    module_name, _, function_name = target.partition(":")
    named: Any = importlib.import_module(module_name)
    for part in function_name.split("."):
        named = getattr(named, part)
    return named


def _describe(error: BaseException, ours: type[Exception]) -> dict[str, object]:
    if isinstance(error, ours):
        return {"kind": "error", "error": type(error).__name__, "message": str(error)}
    if isinstance(error, MemoryError):
        return {"kind": "error", "error": "MemoryError", "message": ""}
    traceback.print_exception(error)
    return {"kind": "error", "error": type(error).__name__, "message": _first_line(str(error))}


def _first_line(text: str) -> str:
    lines: Iterator[str] = (line.strip() for line in text.splitlines())
    line = next((line for line in lines if line), "")
    return "".join(c for c in line if c.isprintable())[:200]


if __name__ == "__main__":
    main()
