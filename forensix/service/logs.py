"""Logs as JSON, one object a line; a line break in a message cannot start a line of its own.

What clients send does not belong here: no bodies, no URLs, no tokens, no file names; paths stand as the route's
template. Every line of a request carries its id.
"""

import datetime as dt
import json
import logging
import re
import secrets
import sys
import time
from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("forensix_request_id", default="")
"""Id of the request that is being answered, empty outside of requests."""

_OFFERED = re.compile(r"[A-Za-z0-9._-]{8,64}")
_MAX_MESSAGE = 8000
_SELDOM_S = 30.0


def set_up(level: str) -> None:
    """Send all logs of this process to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Others' lines hold what ours leave out: clients of object stores write what they sign, with its keys.
    root.setLevel(max(logging.WARNING, logging.getLevelName(level)))
    for own in ("forensix", "uvicorn"):
        logging.getLogger(own).setLevel(level)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


def choose_id(offered: str | None) -> str:
    """Return the id that a client offered when it is one, a new one otherwise."""
    return offered if offered and _OFFERED.fullmatch(offered) else secrets.token_hex(8)


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object; ``extra={"fields": {...}}`` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage()[:_MAX_MESSAGE],
        }
        if current := request_id.get():
            line["request_id"] = current
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)[-_MAX_MESSAGE:]
        return json.dumps(line, ensure_ascii=True, default=str)


class Seldom(logging.Filter):
    """Lets what begins alike, up to the first colon, through twice a minute: a loop that fails would fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._next_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        now = time.monotonic()
        self._next_s = {beginning: until for beginning, until in self._next_s.items() if until > now}
        beginning = record.getMessage().partition(":")[0]
        if beginning in self._next_s:
            return False
        self._next_s[beginning] = now + _SELDOM_S
        return True
