"""``forensix serve``: the API in this process, workers beside it, all of them ended together.

A worker that dies is started again, after a wait that grows while it keeps dying. Workers hold the other end of a pipe
to this process: when it goes without a word, killed for instance, they notice and finish.
"""

import asyncio
import contextlib
import logging
import re
import resource
import signal
import socket
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from forensix import interpreter
from forensix.errors import UsageError
from forensix.service.settings import Settings
from forensix.service.stopping import stop_at_signals

if TYPE_CHECKING:
    import uvicorn

LOG = logging.getLogger("forensix.service.server")

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_STEADY_S = 60.0
"""A worker that lived this long did not die of how it was started."""
_EXTRA_S = 5.0
_KEEP_ALIVE_S = 30
_BACKLOG = 2048
_FILES = 8192


def serve(settings: Settings, host: str, port: int, arguments: Sequence[str] = ()) -> int:
    """Migrate the database, start API and workers, and serve until a signal ends it; return the exit status.

    ``arguments`` are added to the workers' command.

    Raises
    ------
    UsageError
        The address cannot be listened on.
    ForensixError
        The database or the storage cannot be used.
    """
    # First of all: what follows takes a second to load.
    listening = _listen(host, port)

    import uvicorn

    from forensix.service import logs

    # Loading the application describes all tasks, and may warn of one.
    logs.set_up(settings.log_level)

    from forensix.service.api.app import create_app
    from forensix.service.api.http_protocol import LingeringProtocol
    from forensix.service.data import jobs
    from forensix.service.data.database import migrate

    _open_more_files()
    migrate(settings)
    jobs.prepare(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(settings),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            http=LingeringProtocol,
            ws="none",
            proxy_headers=bool(settings.proxies),
            forwarded_allow_ips=list(settings.proxies),
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=max(1, round(settings.shutdown_s)),
        )
    )

    def stop(_number: int, _frame: object) -> None:
        server.should_exit = True

    # The server's own handlers stand before these while it runs; these hold before, and when it repeats the signal.
    stop_at_signals(stop)
    print(_greeting(settings, listening), flush=True)
    asyncio.run(_run(server, settings, listening, arguments))
    return 0 if server.started else 1


class Fleet:
    """The workers that this process looks after."""

    def __init__(
        self, settings: Settings, ending: Callable[[], bool] = lambda: False, command: list[str] | None = None
    ) -> None:
        self._settings, self._ending = settings, ending
        self._command = command or interpreter.command("forensix", "worker", "--with-parent")
        self._stopping = asyncio.Event()
        self._running: set[Process] = set()
        self._keepers: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the workers."""
        self._keepers = [asyncio.create_task(self._keep(number)) for number in range(self._settings.workers)]

    async def stop(self) -> None:
        """End the workers: those that do not finish in time are killed, and their jobs run again elsewhere."""
        self._stopping.set()
        for process in self._running:
            _signal(process, signal.SIGTERM)
        # The keepers end with their workers, also with one that is only being started: none is left behind.
        waiting, wait_s = set(self._keepers), self._settings.shutdown_s + _EXTRA_S
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=wait_s)
            wait_s = 1
            for process in self._running:
                LOG.warning("a worker did not finish in time and is killed", extra={"fields": {"pid": process.pid}})
                _signal(process, signal.SIGKILL)
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _keep(self, number: int) -> None:
        wait_s = _FIRST_WAIT_S
        while not self._stopping.is_set():
            begun = time.monotonic()
            try:
                # It would be made for the worker's own files anyway.
                self._settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
                process = await asyncio.create_subprocess_exec(
                    *self._command, stdin=PIPE, env=interpreter.environment(), cwd=self._settings.home
                )
            except OSError as error:
                # Out of memory, processes or files: that passes, and the service must not stay without workers.
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
                fields = {"worker": number, "reason": error.strerror, "again_in_s": wait_s}
                LOG.error("a worker could not be started and is tried again", extra={"fields": fields})
                await self._wait(wait_s)
                continue
            self._running.add(process)
            LOG.info("a worker started", extra={"fields": {"worker": number, "pid": process.pid}})
            if self._stopping.is_set():
                _signal(process, signal.SIGTERM)
            try:
                status = await process.wait()
            finally:
                self._running.discard(process)
            if self._stopping.is_set() or self._ending():
                return
            wait_s = _FIRST_WAIT_S if time.monotonic() - begun > _STEADY_S else min(2 * wait_s, _LONGEST_WAIT_S)
            fields = {"worker": number, "pid": process.pid, "status": status, "again_in_s": wait_s}
            LOG.error("a worker ended and is started again", extra={"fields": fields})
            await self._wait(wait_s)

    async def _wait(self, wait_s: float) -> None:
        """Wait that long, or until the fleet stops."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await self._stopping.wait()


async def _run(
    server: "uvicorn.Server", settings: Settings, listening: socket.socket, arguments: Sequence[str]
) -> None:
    command = interpreter.command("forensix", "worker", "--with-parent", *arguments)
    fleet = Fleet(settings, lambda: server.should_exit, command)
    fleet.start()
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.should_exit and not serving.done():
            await asyncio.sleep(0.1)
    finally:
        # Both at once: uploads that are arriving, and analyses that are going on, have the same time to finish.
        await asyncio.gather(fleet.stop(), serving)


def _listen(host: str, port: int) -> socket.socket:
    listening = None
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        # With the protocol named: asyncio switches Nagle's delay off only on sockets that say TCP.
        listening = socket.socket(address[0], socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address[4])
        listening.listen(_BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        if listening is not None:
            listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{host} port {port} cannot be listened on: {reason}; name another --host or --port") from None
    return listening


def _open_more_files() -> None:
    # What shells and supervisors set by default is meant for programs without clients.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def _greeting(settings: Settings, listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    name = f"[{host}]" if ":" in host else host
    workers = f"{settings.workers} worker{'' if settings.workers == 1 else 's'}" if settings.workers else "no workers"
    return (
        f"forensix serves http://{name}:{port} with {workers}; Ctrl+C ends it\n"
        f"database {settings.shown_database}\n"
        f"uploads  {_without_password(settings.storage_url)}"
    )


def _without_password(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def _signal(process: Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(number)
