"""The process that sandboxed children are forked from: it has loaded what they need, and it never sees a file.

Started by ``template`` as a script of a fresh, isolated interpreter, with a socket as its standard input. A message is
the settings of one child, with five descriptors: the child's three streams, its lifeline (see ``fresh``), and a control
that is told how the child ended and whose end ends it; or, without descriptors, the modules to load while nothing else
is asked. Requests go through the child's own stream and never come here. It has one thread and an empty network, and it
ends with its owner, its children with it.
"""

import contextlib
import importlib
import json
import os
import resource
import selectors
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

MAX_MESSAGE_BYTES = 1 << 16
_OPEN_FILES = 4096
"""One a child, and a few."""


def main() -> None:
    """Fork children until the owner is gone."""
    settings = json.loads(os.environ.pop("FORENSIX_CHILD"))
    sys.path[:] = [*settings["path"], *(entry for entry in sys.path if entry not in settings["path"])]
    from forensix.media.child import leave_network

    leave_network()
    # A child closes all that may be open: some containers allow a thousand million, and some Pythons close one by one.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES if hard < 0 else min(_OPEN_FILES, hard), hard))
    owner = socket.socket(fileno=0)
    owner.send(b"1")
    _serve(owner)
    os._exit(0)


def _serve(owner: socket.socket) -> None:
    controls: dict[int, int] = {}
    woken, wakes = os.pipe()
    for end in (woken, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    selector = selectors.DefaultSelector()
    for source in (owner.fileno(), woken):
        selector.register(source, selectors.EVENT_READ)
    ahead: deque[str] = deque()
    while True:
        asked = selector.select(0 if ahead else None)
        if not asked:
            _load([ahead.popleft()])
        for key, _ in asked:
            if key.fd == owner.fileno():
                message, descriptors, _, _ = socket.recv_fds(owner, MAX_MESSAGE_BYTES, 5)
                if not message:
                    for pid in controls:
                        _kill(pid)
                        os.waitpid(pid, 0)
                    return
                settings = json.loads(message)
                if not descriptors:
                    ahead.extend(settings["modules"])
                    continue
                ahead.extend(settings["then"])
                if (started := _fork(settings, descriptors)) is not None:
                    controls[started] = descriptors[-1]
                    selector.register(descriptors[-1], selectors.EVENT_READ, started)
            elif key.fd == woken:
                os.read(woken, 4096)
                for pid, code in _ends():
                    control = controls.pop(pid)
                    with contextlib.suppress(KeyError):
                        selector.unregister(control)
                    _tell(control, code)
            elif key.data in controls:
                # Its end is collected above and nowhere else, so the number is still its own.
                selector.unregister(key.fd)
                _kill(key.data)


def _ends() -> Iterator[tuple[int, int]]:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended[0], os.waitstatus_to_exitcode(ended[1])


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        # A child that has no group of its own yet is killed by itself.
        os.kill(pid, signal.SIGKILL)
        os.killpg(pid, signal.SIGKILL)


def _load(modules: Iterable[str]) -> None:
    for name in modules:
        # What fails here fails in the child as well, which says so.
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def _fork(settings: dict[str, Any], descriptors: list[int]) -> int | None:
    """Return the child's process; none where the system allows no further one, which the control is told."""
    _load(settings["modules"])
    pid = None
    try:
        if not (pid := os.fork()):
            _become_child(settings, descriptors)
    except OSError:
        _tell(descriptors[-1], os.EX_OSERR)
    for descriptor in descriptors[:-1]:
        os.close(descriptor)
    return pid


def _tell(control: int, code: int) -> None:
    with contextlib.suppress(OSError):
        os.write(control, code.to_bytes(4, "little", signed=True))
    os.close(control)


def _become_child(settings: dict[str, Any], descriptors: list[int]) -> NoReturn:
    try:
        from forensix.media import child

        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        for number in range(4):
            os.dup2(descriptors[number], number)
        # Above all the socket to the owner and the controls of other children.
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        child.take_limits(settings)
        child.serve({**settings, "parent": os.getppid(), "lifeline": 3})
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
