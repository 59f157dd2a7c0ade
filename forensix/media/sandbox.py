"""Run a function on untrusted bytes in a child process that may crash, hang or swell without harm.

The child is a fresh interpreter, or a fork of one that has only loaded modules (so scripts without a main guard and
notebooks work), with a clean environment, limits on memory, processor time, open files and file sizes, and no network.
It ends when its parent does. Time-outs count the time spent waiting for the child, not what a consumer does between two
items, and kill its whole process group.

    call("forensix.media.images:probe", path, ...)       one result
    stream("forensix.media.streams:frames", path, ...)   a generator; leaving it early kills the child
"""

import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from forensix import errors
from forensix.interpreter import NO_WINDOWS, import_path
from forensix.media import wire
from forensix.media.fresh import Fresh
from forensix.media.template import TEMPLATE, Forked

_LOG = logging.getLogger(__name__)
_CHILD = Path(__file__).with_name("child.py")
_PIPE_BYTES = 1024**2
_STDERR_BYTES = 16 * 1024
_KEPT_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "__PYVENV_LAUNCHER__")
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    # One thread each: pools would reserve address space that the memory limit counts.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}


def prepare(modules: Sequence[str] = ()) -> None:
    """Start what children are forked from, have it load what they will import, and return at once.

    ``modules`` are loaded one after the other while nothing else is asked of it; the first children then wait less.
    """
    TEMPLATE.prepare(_environment(), modules)


def call(
    target: str,
    *args: object,
    timeout_s: float = 30,
    memory_bytes: int = 2 << 30,
    network: bool = False,
    file_bytes: int = 0,
    modules: Sequence[str] = (),
    then: Sequence[str] = (),
) -> Any:
    """Return what the function ``target`` ("package.module:function") returns for ``args``, run in a child.

    Arguments and result are JSON values, bytes, numeric arrays, and lists and dicts of them. ``network`` and
    ``file_bytes`` (the largest file it may write) are for the downloader only. ``modules`` are those that the function
    will import beside its own: children share what is loaded of them. ``then`` are those that the next call will want:
    they are loaded while this one is at work.

    Raises
    ------
    ForensixError
        Whatever subclass the function raised, with its sentence.
    ReadingStopped
        The child ran out of memory or time, or the system killed it or let it start nothing.
    BrokenMedia
        The function failed otherwise, or the child died.
    """
    child = _Child(
        target, args, timeout_s, memory_bytes, network=network, file_bytes=file_bytes, modules=modules, then=then
    )
    try:
        return child.next_message()["value"]
    finally:
        child.kill()


def stream(
    target: str,
    *args: object,
    timeout_s: float = 30,
    memory_bytes: int = 2 << 30,
    modules: Sequence[str] = (),
    then: Sequence[str] = (),
) -> Iterator[Any]:
    """Yield what the generator function ``target`` yields for ``args``, run in a child; like ``call`` otherwise.

    The child runs at most a pipe's worth ahead of the consumer, so memory stays flat.
    """
    child = _Child(target, args, timeout_s, memory_bytes, modules=modules, then=then, streams=True)
    try:
        while (message := child.next_message())["kind"] == "item":
            yield message["value"]
    finally:
        child.kill()


class _Child:
    def __init__(
        self,
        target: str,
        args: tuple[object, ...],
        timeout_s: float,
        memory_bytes: int,
        *,
        network: bool = False,
        file_bytes: int = 0,
        modules: Sequence[str] = (),
        then: Sequence[str] = (),
        streams: bool = False,
    ) -> None:
        self._target, self._timeout_s, self._memory_bytes = target, timeout_s, memory_bytes
        self._left_s, self._clock = timeout_s, time.monotonic()
        self._stderr = b""
        self._selector = selectors.DefaultSelector()
        request = wire.pack({"target": target, "args": list(args), "streams": streams})
        settings = {
            "memory_bytes": memory_bytes,
            "file_bytes": file_bytes,
            # A backstop behind the time-out; decoders use a few threads.
            "cpu_s": int(4 * timeout_s) + 10,
            "network": network,
            "modules": [target.partition(":")[0], *modules],
            "then": list(then),
            "path": import_path(),
        }
        self._process = _start(settings)
        self._in, self._out, self._err = self._process.stdin, self._process.stdout, self._process.stderr
        try:
            for pipe in (self._in, self._out, self._err):
                os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]
            self._widen(self._out)
            self._selector.register(self._err, selectors.EVENT_READ)  # type: ignore[arg-type]
            self._write(request)
            self._selector.register(self._out, selectors.EVENT_READ)  # type: ignore[arg-type]
        except BaseException:
            self.kill()
            raise

    def next_message(self) -> dict[str, Any]:
        """Return the next message that is not an error; raise what it says otherwise."""
        self._clock = time.monotonic()
        try:
            header = self._read(wire.header_length(self._read(wire.PREFIX.size)))
            tree, sizes = wire.read_header(header, self._memory_bytes)
            message = wire.unpack(tree, [self._read(size) for size in sizes])
            kind = message["kind"]
            self._spend()
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            _LOG.debug("%s answered nonsense", self._target, exc_info=True)
            raise errors.BrokenMedia("the process that read this file was corrupted by it and was stopped") from error
        if kind == "error":
            raise self._error(str(message["error"]), str(message["message"]))
        return dict(message)

    def kill(self) -> None:
        """End the child and all that it started; harmless when it is gone already."""
        self._process.end()
        self._selector.close()
        for pipe in (self._in, self._out, self._err):
            pipe.close()  # type: ignore[union-attr]
        if self._stderr:
            _LOG.debug("%s wrote to stderr:\n%s", self._target, self._stderr.decode(errors="replace"))
            self._stderr = b""

    def _error(self, name: str, message: str) -> Exception:
        known = getattr(errors, name, None)
        if isinstance(known, type) and issubclass(known, errors.ForensixError):
            return known(message)
        if name == "MemoryError":
            return errors.ReadingStopped(f"reading this file needs more than {self._memory_bytes >> 20} MB of memory")
        self._drain_stderr()
        return errors.BrokenMedia(f"this file could not be read: {message or name}")

    def _death(self) -> errors.BrokenMedia:
        self._drain_stderr()
        # A child that closed its pipe but lives on is not waited for.
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = 0
        if code == -signal.SIGXCPU:
            return self._too_slow()
        if code == -signal.SIGKILL:
            # Nothing that a file holds sends that signal.
            return errors.ReadingStopped("the system killed what read this file, as it does where memory runs out")
        if code == os.EX_OSERR:
            return errors.ReadingStopped(
                "the system lets no further process or thread start, which reading this file needs: raise the limit"
            )
        if code < 0:
            return errors.BrokenMedia(f"the decoder crashed on this file ({_signal_name(-code)})")
        if b"MemoryError" in self._stderr:
            return self._error("MemoryError", "")  # type: ignore[return-value]
        # Decoders that fail say so or crash: what cannot be loaded or started on this machine ends without a word.
        return errors.ReadingStopped("what reads this file ended without a result")

    def _too_slow(self) -> errors.ReadingStopped:
        return errors.ReadingStopped(f"reading this file took longer than {self._timeout_s:g} s and was stopped")

    def _read(self, n_bytes: int) -> bytearray:
        data = bytearray(n_bytes)
        view, done = memoryview(data), 0
        while done < n_bytes:
            count = self._out.readinto(view[done:])  # type: ignore[union-attr]
            if count is None:
                self._wait()
            elif count == 0:
                raise self._death()
            else:
                done += count
        return data

    def _write(self, chunks: list[bytes | memoryview]) -> None:
        self._selector.register(self._in, selectors.EVENT_WRITE)  # type: ignore[arg-type]
        for chunk in chunks:
            view = memoryview(chunk)
            while view:
                try:
                    count = self._in.write(view)  # type: ignore[union-attr]
                except BrokenPipeError:
                    raise self._death() from None
                if count is None:
                    self._wait()
                else:
                    view = view[count:]
        self._selector.unregister(self._in)  # type: ignore[arg-type]

    def _wait(self) -> None:
        self._spend()
        if any(key.fileobj is self._err for key, _ in self._selector.select(self._left_s)):
            self._drain_stderr()
        self._spend()

    def _spend(self) -> None:
        """Take the time since the clock was last looked at from what is left."""
        now = time.monotonic()
        self._left_s -= now - self._clock
        self._clock = now
        if self._left_s <= 0:
            raise self._too_slow()

    def _drain_stderr(self) -> None:
        chunk = None
        # Bounded, so that a flood cannot keep us from looking at the clock.
        for _ in range(64):
            chunk = self._err.read(_STDERR_BYTES)  # type: ignore[union-attr]
            if not chunk:
                break
            self._stderr = (self._stderr + chunk)[-_STDERR_BYTES:]
        if chunk == b"" and any(key.fileobj is self._err for key in self._selector.get_map().values()):
            self._selector.unregister(self._err)  # type: ignore[arg-type]

    @staticmethod
    def _widen(pipe: Any) -> None:
        """Let the child run a little ahead; the default of 64 KB costs a switch per few rows of a frame."""
        import fcntl

        try:
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except (AttributeError, OSError):
            return


def _start(settings: dict[str, Any]) -> Forked | Fresh:
    """Return a child that waits for its request."""
    if sys.platform == "win32":
        raise errors.UsageError(NO_WINDOWS)
    environment = _environment()
    # The template has no network, so a child that needs one cannot come from there.
    if not settings["network"] and (forked := TEMPLATE.fork(settings, environment)) is not None:
        return forked
    command = [sys.executable, "-I", "-B", "-X", "utf8", str(_CHILD)]
    return Fresh(command, "FORENSIX_CHILD", settings, environment, stderr=subprocess.PIPE, cwd="/")


def _environment() -> dict[str, str]:
    return _ENVIRONMENT | {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
