"""One analysis at a time, in a thread, so that the kernel goes on answering.

A thread cannot be ended from outside: stopping takes effect when the step under way is finished, and that is what the
widget says. What goes wrong becomes one sentence.
"""

import threading
import time
from collections.abc import Callable

from forensix.errors import ForensixError
from forensix.progress import Progress
from forensix.report import Report
from forensix.report.words import task_title

Work = Callable[[Progress], Report]

STOPPED = "Stopped: partial results are not shown."
_TELL_EVERY_S = 0.2


class Stopped(Exception):
    """Raised inside an analysis that shall end."""


class Running:
    """What runs, how far it is, and what came of it; ``on_change`` is called, from any thread, when that changes."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.report: Report | None = None
        self.message = ""
        """One sentence on what went wrong, or empty."""
        self.stage = ""
        """What is being done, in words."""
        self.share = 0.0
        """How much of it is done, 0 to 1."""
        self._notify, self._notified_at = on_change, 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._busy = False
        self._tasks: tuple[str, ...] = ()

    @property
    def busy(self) -> bool:
        """Whether an analysis is under way."""
        return self._busy

    @property
    def stopping(self) -> bool:
        """Whether it was asked to end and has not ended yet."""
        return self.busy and self._stop.is_set()

    def start(self, work: Work) -> None:
        """Begin; nothing happens where something is under way."""
        if self.busy:
            return
        self._stop.clear()
        self._tasks, self._busy = (), True
        self.report, self.message, self.stage, self.share = None, "", "opening", 0.0
        # A daemon: a kernel that is shut down does not wait for it.
        self._thread = threading.Thread(target=self._run, args=(work,), name="forensix-explorer", daemon=True)
        self._notify()
        self._thread.start()

    def stop(self) -> None:
        """Ask for the end, which comes when the step under way is finished."""
        if self.busy:
            self._stop.set()
            self._notify()

    def abandon(self) -> None:
        """Ask for the end, and tell nobody of it."""
        self._notify = lambda: None
        self._stop.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; return whether it came."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return not self.busy

    def expect(self, tasks: tuple[str, ...]) -> None:
        """Say which tasks there will be, in order, so that the share is one of the whole."""
        self._tasks = tasks
        self.check()

    def check(self) -> None:
        """Raise `Stopped` where the end was asked for."""
        if self._stop.is_set():
            raise Stopped

    def _run(self, work: Work) -> None:
        report, message = None, ""
        try:
            report = work(self._progress)
            self.check()
        except Stopped:
            report, message = None, STOPPED
        except ForensixError as error:
            message = str(error)
        except MemoryError:
            message = "This needs more memory than there is."
        except Exception as error:
            # A component of another package may raise anything; the log of a notebook is no place for it.
            reason = " ".join(str(error).split())[:300]
            message = f"The analysis broke off with {type(error).__name__}{f': {reason}' if reason else ''}."
        self.report, self.message, self.share, self.stage = report, message, 1.0 if report else 0.0, ""
        self._busy = False
        self._notify()

    def _progress(self, task: str, stage: str, done: float) -> None:
        self.check()
        place, n = (self._tasks.index(task), len(self._tasks)) if task in self._tasks else (0, 1)
        self.share = (place + min(max(done, 0.0), 1.0)) / n
        self.stage = f"{task_title(task)}: {stage}"
        if time.monotonic() - self._notified_at >= _TELL_EVERY_S:
            self._notified_at = time.monotonic()
            self._notify()
