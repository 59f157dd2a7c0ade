"""One upload on its way into the storage: counted, sniffed, never decoded, its name never part of a path.

Bytes are gathered in memory up to a piece and written by a thread, so that the event loop never waits for the disk; a
small file is written in one go by the thread that writes the task's row.
"""

import contextlib
import re
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from forensix.errors import BrokenMedia, UnsupportedMedia
from forensix.media.sniff import HEAD_BYTES, sniff
from forensix.media.values import limit_text
from forensix.service.data.storage import Storage, Writing
from forensix.service.errors import Refusal, too_large
from forensix.tasks.catalogue import TaskDescription, descriptions

PIECE_BYTES = 1 << 20
MAX_NAME = 200
Run = Callable[..., Coroutine[Any, Any, Any]]
"""Awaits a blocking function in a thread: ``await run(function, *arguments)``."""


class Discarded(Exception):
    """An upload is to be written that was discarded: its request ended meanwhile."""


class Upload:
    """A file that is arriving; ``key`` is its place in the storage once ``store`` has returned.

    It can be discarded while another thread writes: that waits for the writing, and what comes later writes nothing.
    """

    def __init__(self, store: Storage, key: str, name: str | None, *, task: TaskDescription, max_bytes: int) -> None:
        self.key, self.name = key, name
        self.size_bytes = 0
        self._store, self._task, self._max_bytes = store, task, max_bytes
        self._pieces: list[bytes] = []
        self._held_bytes = 0
        self._has_format = self._stored = self._discarded = False
        self._lock = threading.RLock()
        self._writer: Writing | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes.

        Raises
        ------
        Refusal
            413: more than allowed; 415: the first bytes are of nothing that the task takes.
        """
        self.size_bytes += len(data)
        if self.size_bytes > self._max_bytes:
            raise file_too_large(self._max_bytes)
        self._pieces.append(data)
        self._held_bytes += len(data)
        if not self._has_format and self.size_bytes >= HEAD_BYTES:
            self._sniff()

    @property
    def is_full(self) -> bool:
        """Whether a piece has been gathered that should be written."""
        return self._held_bytes >= PIECE_BYTES

    def finish(self) -> None:
        """Take note that the last byte came.

        Raises
        ------
        Refusal
            400: it is empty; 415: it is of nothing that the task takes.
        """
        if not self._has_format:
            self._sniff()

    def write(self) -> None:
        """Write what was gathered; blocks.

        Raises
        ------
        Discarded
            It was discarded before.
        """
        with self._lock:
            if self._discarded:
                raise Discarded
            if self._writer is None:
                self._writer = self._store.write(self.key)
            pieces, self._pieces, self._held_bytes = self._pieces, [], 0
            self._writer.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def store(self) -> None:
        """Write the rest and make the file visible, or leave nothing behind; blocks. A second call does nothing.

        Raises
        ------
        Discarded
            It was discarded before.
        """
        with self._lock:
            if self._stored:
                return
            try:
                self.write()
                assert self._writer is not None
                self._writer.close()
            except BaseException:
                with contextlib.suppress(Exception):
                    self.discard()
                raise
            self._stored = True

    def discard(self) -> None:
        """Leave nothing behind; blocks."""
        with self._lock:
            self._discarded, self._pieces = True, []
            if self._writer is not None:
                self._writer.discard()
            if self._stored:
                self._store.delete(self.key)
            self._stored, self._writer = False, None

    def _sniff(self) -> None:
        self._has_format = True
        head = b"".join(self._pieces)[:HEAD_BYTES]
        try:
            file_format = sniff(head, self.name or "the upload")
        except BrokenMedia as error:
            raise Refusal(400, error.code, str(error)) from None
        except UnsupportedMedia as error:
            raise Refusal(415, error.code, str(error)) from None
        if file_format.broken and not self._task.examines_broken:
            examiners = " or ".join(task.name for task in descriptions() if task.examines_broken)
            raise Refusal(415, "unsupported_media", f"{file_format.broken}; only {examiners} can examine such a file")
        if not file_format.kinds & self._task.accepts:
            taken = ", ".join(sorted(self._task.accepts))
            raise Refusal(
                415, "unsupported_media", f"{self._task.name} takes {taken}; this file is {file_format.format}"
            )


def display_name(raw: bytes) -> str | None:
    """Return a client's file name fit for reports: its last part, printable, bounded; None when nothing is left."""
    text = raw.decode("utf-8", "replace")
    last = re.split(r"[\\/]", text)[-1]
    clean = "".join(c if c.isprintable() else "_" for c in last).strip()
    if clean in ("", ".", ".."):
        return None
    return clean if len(clean) <= MAX_NAME else clean[: MAX_NAME - 24] + clean[-24:]


def file_too_large(max_bytes: int) -> Refusal:
    """Return the refusal of a file of more than ``max_bytes``."""
    return too_large(f"the file is larger than {limit_text(max_bytes)}; cut it, or lower its resolution")
