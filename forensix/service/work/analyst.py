"""A worker's warm child, seen from the worker: started when needed, measured while it works, killed past its limits.

Loading the models takes longer than most analyses, so the child is kept, and replaced after many jobs, when it has
grown, or when it had to be killed. Memory is what the child and the decoders below it hold that no file backs: a limit
of the address space, as the sandbox has it, does not suit torch, which reserves far more than it touches.
"""

import contextlib
import json
import logging
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from forensix import interpreter
from forensix.media.fresh import Fresh
from forensix.service.work.analyst_child import LENGTH, SETTINGS
from forensix.service.work.memory import anonymous_bytes, descendants

_LOG = logging.getLogger(__name__)
_START_S = 180.0
_LOOK_S = 0.2
_JOBS_A_CHILD = 200
# A child that rests on more than this part of the limit would leave too little of it for its next job.
_GROWN = 0.5
# Room between what is measured and what is merely mapped: stacks of threads, arenas, pages not yet touched.
_MAPPED_BYTES = 4 << 30
_STDERR_BYTES = 4096
# An interpreter closes its pipes some time before it ends, and with it go the networks.
_EXIT_S = 2.0
# What leads to the database and to other people's files is none of the child's business.
_WITHHELD = ("FORENSIX_DATABASE_URL", "FORENSIX_STORAGE_URL", "FSSPEC_", "AWS_", "PG", "GOOGLE_", "AZURE_")


class Stopped(Exception):
    """The worker is stopping; the job goes back into the queue."""


@dataclass(frozen=True)
class Answer:
    """What became of one analysis: a result, or a sentence and its slug; ``where`` is for the operator's log."""

    result: Mapping[str, Any] | None = None
    preview: str | None = None
    error: str | None = None
    code: str | None = None
    where: str = ""


class _Ended(Exception):
    """The child is gone without an answer; ``fresh`` when it had done no other job before."""

    def __init__(self, error: str, code: str, fresh: bool = True) -> None:
        super().__init__(error)
        self.error, self.code, self.fresh = error, code, fresh


class Analyst:
    """The warm child of one worker, for one job at a time."""

    def __init__(self, scratch: Path, *, time_s: float, memory_bytes: int, threads: int = 1) -> None:
        self._scratch, self._time_s, self._memory_bytes, self._threads = scratch, time_s, memory_bytes, threads
        self._child: _Child | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def analyse(self, request: Mapping[str, Any]) -> Answer:
        """Run one analysis: keywords of ``forensix.analyze`` in JSON, one task in ``tasks``.

        A child that dies or outgrows its limit gets a second chance only when it had done other jobs before: what they
        left behind may have been the cause. A job that takes a fresh child down is failed.

        Raises
        ------
        Stopped
            `stop` was called.
        OSError
            The disk is full.
        """
        with self._lock:
            while True:
                try:
                    return self._run(request)
                except _Ended as ended:
                    if self._stopped.is_set():
                        raise Stopped from None
                    if ended.fresh:
                        return Answer(error=ended.error, code=ended.code)

    def warm(self) -> None:
        """Start the child, so that the first job need not wait for it."""
        with self._lock, contextlib.suppress(_Ended, Stopped):  # the log has it
            self._ready()

    def stop(self) -> None:
        """End the child now, from any thread, and start no other."""
        self._stopped.set()
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the child when it has done its job."""
        with self._lock:
            self._drop()
        self._stopped.set()

    def _run(self, request: Mapping[str, Any]) -> Answer:
        child = self._ready()
        fresh = child.jobs == 0
        child.jobs += 1
        try:
            message = child.ask(request, self._time_s, self._memory_bytes)
        except _Ended as ended:
            self._drop()
            # Time is this job's own doing, whatever the child did before.
            raise _Ended(ended.error, ended.code, fresh or ended.code == "time_limit") from None
        if message["kind"] == "memory":
            self._drop()
            raise _Ended(*_out_of_memory(self._memory_bytes), fresh)
        grown = child.memory_bytes() > _GROWN * self._memory_bytes
        if child.jobs >= _JOBS_A_CHILD or (grown and not fresh):
            _LOG.info("the analysing process is replaced after %d jobs", child.jobs)
            self._drop()
        else:
            child.tidy()
        return _answer(message)

    def _ready(self) -> "_Child":
        if self._stopped.is_set():
            raise Stopped
        if self._child is None or not self._child.alive:
            self._drop()
            data_bytes = self._memory_bytes + _MAPPED_BYTES
            self._child = _Child(self._scratch, data_bytes, self._threads)
            if self._stopped.is_set():
                self._drop()
                raise Stopped
            try:
                self._child.wait_until_ready()
            except _Ended as ended:
                self._drop()
                if self._stopped.is_set():
                    raise Stopped from None
                _LOG.error("the analysing process did not start: %s", ended.code)
                raise _Ended("the analysis could not be started; create the task again", "internal") from None
        return self._child

    def _drop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.forget()
            self._child = None


class _Child:
    """One process: its pipes, its folder for temporary files, its memory."""

    def __init__(self, scratch: Path, data_bytes: int, threads: int) -> None:
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.jobs = 0
        self.scratch = Path(tempfile.mkdtemp(prefix="analyst-", dir=scratch))
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by forget
        self._kill = threading.Lock()
        self._is_killed = False
        self._process = Fresh(
            interpreter.command("forensix.service.work.analyst_child"),
            SETTINGS,
            {"data_bytes": data_bytes},
            _environment(self.scratch, threads),
            stderr=self._stderr,
            cwd=self.scratch,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._out.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)

    @property
    def alive(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Wait until everything is imported."""
        self._receive(time.monotonic() + _START_S, None, _START_S)

    def ask(self, request: Mapping[str, Any], time_s: float, memory_bytes: int) -> dict[str, Any]:
        """Send a request and return the answer; `_Ended` when there is none within the limits."""
        body = json.dumps(request).encode()
        try:
            # Small, and the child is waiting for it: this does not block.
            self._in.write(LENGTH.pack(len(body)) + body)
        except OSError:
            raise self._death() from None
        return self._receive(time.monotonic() + time_s, memory_bytes, time_s)

    def memory_bytes(self) -> int:
        """Return what the child and its descendants hold that is not backed by a file; 0 where /proc is missing."""
        return sum(map(anonymous_bytes, descendants(self._process.pid)))

    def kill(self) -> None:
        """End the process and wait for it; harmless when it is gone."""
        self._is_killed = True
        with self._kill:
            self._process.end()

    def tidy(self) -> None:
        """Delete what the last job left in the temporary folder and on stderr."""
        for path in self.scratch.iterdir():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        self._stderr.truncate(0)

    def forget(self) -> None:
        """Close the pipes and delete the temporary folder."""
        self._selector.close()
        for pipe in (self._in, self._out, self._stderr):
            pipe.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _receive(self, deadline: float, memory_bytes: int | None, time_s: float) -> dict[str, Any]:
        data = bytearray()
        needed = LENGTH.size
        while len(data) < needed:
            if self._selector.select(_LOOK_S):
                chunk = self._out.read(1 << 20)
                if chunk == b"":
                    raise self._death()
                data += chunk or b""
                if needed == LENGTH.size and len(data) >= needed:
                    needed += LENGTH.unpack(data[: LENGTH.size])[0]
                continue
            if time.monotonic() > deadline:
                self.kill()
                raise _Ended(f"the analysis took longer than {time_s:g} s and was stopped; send less", "time_limit")
            if memory_bytes is not None and self.memory_bytes() > memory_bytes:
                self.kill()
                raise _Ended(*_out_of_memory(memory_bytes))
        return dict(json.loads(data[LENGTH.size :]))

    def _death(self) -> _Ended:
        killed, by_us = False, self._is_killed
        with contextlib.suppress(subprocess.TimeoutExpired):
            killed = self._process.wait(_EXIT_S) == -signal.SIGKILL
        self.kill()
        end = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, end - _STDERR_BYTES))
        last_words = self._stderr.read().decode(errors="replace")
        if not by_us:
            _LOG.warning("the analysing process ended with status %s", self._process.returncode)
        _LOG.debug("its last words: %s", last_words.strip())
        if killed:
            why = "the system ended the analysis, as it does where memory runs out"
            return _Ended(f"{why}; it was tried in a fresh process: the operator can give it more memory", "crashed")
        return _Ended("the analysis crashed on this input; it was tried in a fresh process", "crashed")


def _answer(message: Mapping[str, Any]) -> Answer:
    if message["kind"] == "disk_full":
        raise OSError(message["errno"], os.strerror(message["errno"]))
    if message["kind"] == "completed":
        return Answer(result=message["result"], preview=message["preview"])
    if message["kind"] == "failed":
        return Answer(error=message["error"], code=message["code"])
    error = "the analysis broke down; the operator's log says where"
    return Answer(error=error, code="internal", where=message["where"])


def _out_of_memory(memory_bytes: int) -> tuple[str, str]:
    return f"the analysis needed more than {memory_bytes / 1024**3:.2g} GB of memory and was stopped", "memory_limit"


def _environment(scratch: Path, threads: int) -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith(_WITHHELD)}
    variables = interpreter.environment(variables)
    variables.setdefault("OMP_NUM_THREADS", str(threads))
    return variables | {"TMPDIR": str(scratch)}
