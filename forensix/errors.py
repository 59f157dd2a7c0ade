"""Every error that forensix raises on purpose.

    ForensixError
    ├── UsageError            the call is wrong: unknown task, component, parameter
    │   └── MissingExtra      an optional package is needed; the message names the command that installs it
    ├── InputError            this input cannot be analysed; others can
    │   ├── InputNotFound     no such file, or it cannot be read
    │   ├── InputChanged      it was written to, moved or deleted while it was read
    │   ├── UnsupportedMedia  not one of the formats that forensix reads
    │   ├── BrokenMedia       recognised, but cannot be decoded
    │   │   └── ReadingStopped    by time, memory or the system: on another machine it may be decoded
    │   ├── LimitExceeded     too large, too long, too many pixels
    │   └── FetchError        a URL that cannot, or must not, be fetched
    ├── ModelError            a model cannot be used
    │   ├── ModelNotFound     no model of that name
    │   ├── WeightsMissing    known model, weights not on this machine
    │   └── WeightsMismatch   weights differ from their card: hash, key or shape
    ├── ServiceError          a service refused a request of its client, or did not answer
    │   └── UntrustedWebhook  a delivery that is not signed by the service, or too old
    └── BrokeDown             never raised: stands in a report for what the program did wrong

Messages are one sentence for a person: what was expected, what came, what to do. A notebook shows it below the lines
that called, without ours.
"""

import errno
import traceback
from pathlib import Path
from typing import TypeGuard

_SHELL = "IPython"
_OURS = Path(__file__).parent


class ForensixError(Exception):
    """Base of all errors raised on purpose; ``code`` is a stable slug for machines."""

    code = "error"

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows in place of every frame."""
        frames = [
            frame for frame in traceback.extract_tb(self.__traceback__) if _SHELL not in Path(frame.filename).parts
        ]
        ours = next((i for i, frame in enumerate(frames) if Path(frame.filename).is_relative_to(_OURS)), len(frames))
        return [*traceback.format_list(frames[:ours]), f"{type(self).__name__}: {self}"]


class UsageError(ForensixError, ValueError):
    """The call itself is wrong."""

    code = "usage"


class MissingExtra(UsageError):
    """An optional package is not installed."""

    code = "missing_extra"


class InputError(ForensixError):
    """This input cannot be analysed."""

    code = "input"


class InputNotFound(InputError):
    """The path does not exist or cannot be read."""

    code = "not_found"


class InputChanged(InputError):
    """The file was written to, replaced, moved or deleted while it was read: what was read is of no one state."""

    code = "changed"


class UnsupportedMedia(InputError):
    """The content is not one of the formats that forensix reads."""

    code = "unsupported_media"


class BrokenMedia(InputError):
    """The format is recognised but the content cannot be decoded."""

    code = "broken_media"


class ReadingStopped(BrokenMedia):
    """Time, memory or the system ended the decoding, which says nothing of the content."""


class LimitExceeded(InputError):
    """Larger, longer or wider than the limits allow."""

    code = "limit_exceeded"


class FetchError(InputError):
    """The URL cannot be fetched, or points somewhere that must not be reached."""

    code = "fetch"


class ModelError(ForensixError):
    """A model cannot be used."""

    code = "model"


class ModelNotFound(ModelError):
    """No model has that name."""

    code = "model_not_found"


class WeightsMissing(ModelError):
    """The model is known but its weights are not on this machine."""

    code = "weights_missing"


class WeightsMismatch(ModelError):
    """The weights on this machine are not the ones that the card describes."""

    code = "weights_mismatch"


class ServiceError(ForensixError):
    """A service refused a request, or gave no answer: then ``status`` is None.

    ``report_id`` is that of the task that was waited for.
    """

    code = "service"

    def __init__(
        self, message: str, *, status: int | None = None, code: str | None = None, report_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.report_id = status, report_id
        self.code = code or type(self).code


class UntrustedWebhook(ServiceError):
    """A delivery that the service did not sign, or that is too old to be taken."""

    code = "untrusted_webhook"


class BrokeDown(ForensixError):
    """An analysis of one file ended with an exception that nobody raised on purpose, which is the cause of this."""

    code = "internal"

    @classmethod
    def of(cls, name: str, cause: BaseException, blamed: str = "") -> "BrokeDown":
        """Return the error of a file's name for an exception that was caught; ``blamed`` says of what is not ours."""
        last = traceback.extract_tb(cause.__traceback__)[-1]
        if refused := _refused_by_the_system(cause):
            blamed = f", as the system lets no further {refused} (raise the limit)"
        error = cls(
            f"the analysis of {name} broke down{blamed or ', which is an error of the program and not of the file'}: "
            f"{type(cause).__name__} in {Path(last.filename).name}, line {last.lineno}: {cause}"
        )
        error.__cause__ = cause
        return error

    @property
    def frames(self) -> str:
        """The lines of the traceback and the kind of exception; not what it says, which may repeat what a file says."""
        assert self.__cause__ is not None
        return "".join(traceback.format_tb(self.__cause__.__traceback__)) + type(self.__cause__).__name__


def first_line(error: object) -> str:
    """Return the first line of what an exception or a warning says, 300 characters at most.

    It is the name of its type where it says nothing.

    Examples
    --------
    >>> first_line(ValueError("no table\\nat all")), first_line(OSError())
    ('no table', 'OSError')
    """
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def _refused_by_the_system(error: BaseException) -> str:
    """Return what a limit refused: a process (fork's EAGAIN), a thread (Python says so in words alone), or a file."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "file be opened"
    is_process = isinstance(error, OSError) and error.errno == errno.EAGAIN and error.filename is None
    is_thread = isinstance(error, RuntimeError) and str(error) == "can't start new thread"
    return "process or thread start" if is_process or is_thread else ""


def is_disk_full(error: BaseException) -> TypeGuard[OSError]:
    """Return whether an exception says that there is no room for files, or none for one so large.

    That is no fault of the file or the program.
    """
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
