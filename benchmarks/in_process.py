"""Measure without children: what forensix runs in its sandbox is run in this process, so that no clock runs out.

On a machine that others share, the sandbox's limits of time end a reading that is slow for their sake, and the claims
that rest on it are missing. Here the same functions get the same arguments and give the same values, without limits;
what ExifTool adds, which no claim rests on, is left out. For files that are known to be harmless only.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any
from unittest import mock

from forensix.errors import BrokenMedia, ForensixError
from forensix.media import wire


def call(target: str, *args: object, **_: object) -> Any:
    """Return what a function named ``package.module:function`` returns, as it would come out of the sandbox."""
    module, _, name = target.partition(":")
    folder = tempfile.tempdir
    try:
        value = getattr(import_module(module), name)(*_crossed(list(args)))
        return [*map(_crossed, value)] if isinstance(value, Iterator) else _crossed(value)
    except ForensixError:
        raise
    except Exception as error:
        raise BrokenMedia(f"reading this file failed: {error}") from error
    finally:
        # What reads coefficients names a folder of its own for the process.
        tempfile.tempdir = folder


def stream(target: str, *args: object, **limits: object) -> Iterator[Any]:
    """Yield what a generator function yields, as it would come out of the sandbox."""
    yield from call(target, *args, **limits)


def _crossed(value: object) -> Any:
    """Return a value as it is on the other side of a pipe: tuples are lists there."""
    data = b"".join(bytes(chunk) for chunk in wire.pack(value))
    start, length = wire.PREFIX.size, wire.header_length(data[: wire.PREFIX.size])
    tree, sizes = wire.read_header(data[start : start + length], 1 << 40)
    buffers, at = [], start + length
    for size in sizes:
        buffers.append(bytearray(data[at : at + size]))
        at += size
    return wire.unpack(tree, buffers)


@contextlib.contextmanager
def in_process() -> Iterator[None]:
    """Have everything that opens, reads and measures a file do so in this process."""
    places = ("media.sandbox", "media.opening", "media.medium")
    with contextlib.ExitStack() as stack:
        for place in places:
            stack.enter_context(mock.patch(f"forensix.{place}.call", call))
        stack.enter_context(mock.patch("forensix.metadata.reader.stream", stream))
        stack.enter_context(mock.patch("forensix.metadata.exiftool.answers", lambda path: {}))
        yield
