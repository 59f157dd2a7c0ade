"""What the queue's client writes for a job, written again for further jobs without the client's work in between.

The client builds its statements anew for every job, which is half of what a creation costs the database's thread. So
two calls of it, a second apart, are listened to. Where all that they sent to the driver is the same but for the job's
id and a random UUID, these statements are sent for many jobs at once; where anything else differs, in this or a later
release of the client, the client is called for every job as if nothing had been here.
"""

import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

_APART_S = 1.0
"""Time between the two calls: a time stamp among the values shows."""
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Call = Callable[[sa.Connection, str], None]


@dataclass(frozen=True)
class _Step:
    """A statement, and how to make each of its values: in order, or by name."""

    statement: str
    values: "Mapping[str, _Value] | tuple[_Value, ...]"

    def parameters(self, job_id: str) -> Any:
        if isinstance(self.values, Mapping):
            return {name: value.made(job_id) for name, value in self.values.items()}
        return tuple(value.made(job_id) for value in self.values)


@dataclass(frozen=True)
class _Value:
    """A value as it was sent: the pieces of text around the job's id, or the value itself, or a random UUID."""

    value: Any
    pieces: tuple[str, ...] | None = None
    random: bool = False

    def made(self, job_id: str) -> Any:
        if self.pieces is not None:
            return job_id.join(self.pieces)
        return str(uuid.uuid4()) if self.random else self.value


class Replay:
    """Calls ``call`` for each job, or sends what it would send. For one thread, and one database."""

    def __init__(self, call: Call, apart_s: float = _APART_S) -> None:
        self._call, self._apart_s = call, apart_s
        self._first: tuple[float, list[_Step]] | None = None
        self._steps: list[_Step] | None = None
        self._listening = True

    @property
    def knows(self) -> bool:
        """Whether the statements are known, and the client is no longer called."""
        return self._steps is not None

    def send(self, connection: sa.Connection, job_ids: Sequence[str]) -> None:
        """Write jobs in the transaction of ``connection``."""
        rest = list(job_ids)
        while rest and self._steps is None:
            self._learn(connection, rest.pop(0))
        if rest and self._steps is not None:
            for step in self._steps:
                connection.exec_driver_sql(step.statement, [step.parameters(job_id) for job_id in rest])

    def _learn(self, connection: sa.Connection, job_id: str) -> None:
        now = time.monotonic()
        if not self._listening or (self._first is not None and now - self._first[0] < self._apart_s):
            self._call(connection, job_id)
            return
        sent = self._heard(connection, job_id)
        if self._first is None:
            self._first = now, sent
        else:
            self._steps = _same(self._first[1], sent)
            self._listening = False

    def _heard(self, connection: sa.Connection, job_id: str) -> list[_Step]:
        sent: list[_Step] = []

        def hear(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
            if many or not isinstance(parameters, Mapping | tuple | list):
                self._listening = False
            elif isinstance(parameters, Mapping):
                sent.append(_Step(statement, {name: _value(each, job_id) for name, each in parameters.items()}))
            else:
                sent.append(_Step(statement, tuple(_value(each, job_id) for each in parameters)))

        sa.event.listen(connection, "before_cursor_execute", hear)
        try:
            self._call(connection, job_id)
        finally:
            sa.event.remove(connection, "before_cursor_execute", hear)
        return sent


def _value(value: Any, job_id: str) -> _Value:
    if isinstance(value, str) and job_id in value:
        return _Value(None, tuple(value.split(job_id)))
    return _Value(value, random=isinstance(value, str) and _UUID.fullmatch(value) is not None)


def _same(first: list[_Step], second: list[_Step]) -> list[_Step] | None:
    """Return the steps, if those of two calls differ in nothing but ids and UUIDs."""
    if len(first) != len(second) or not first:
        return None
    for one, other in zip(first, second, strict=True):
        if one.statement != other.statement or not one.statement.lstrip().upper().startswith("INSERT"):
            return None
        pairs = _pairs(one.values, other.values)
        if pairs is None or not all(_alike(a, b) for a, b in pairs):
            return None
    return second


def _pairs(one: Any, other: Any) -> list[tuple[_Value, _Value]] | None:
    if isinstance(one, Mapping):
        return [(one[name], other[name]) for name in one] if one.keys() == other.keys() else None
    return list(zip(one, other, strict=True)) if len(one) == len(other) else None


def _alike(one: _Value, other: _Value) -> bool:
    if one.random and other.random:
        # A UUID that stays is no random one, and must stay.
        return bool(one.value != other.value)
    if type(one.value) is type(other.value) and type(one.value).__module__.startswith("psycopg."):
        # The driver wraps what becomes JSON, and its wrappers are never equal.
        return bool(one.value.obj == other.value.obj)
    return bool(one == other)
