"""What crosses the pipe to a sandboxed child: JSON with raw buffers beside it, never pickle.

A message is a fixed prefix, a JSON header and the bytes of its buffers. Byte strings and arrays stand in the header as
``{"$": ...}`` and travel out of band. Both sides treat the other as possibly hostile: sizes are bounded before anything
is allocated, and arrays are numbers only.
"""

import json
import math
import struct
import sys
from collections.abc import Mapping
from typing import Any

PREFIX = struct.Struct("<4sI")
MAGIC = b"fxw1"
MAX_HEADER_BYTES = 64 * 1024**2
_KINDS = "biuf"


def pack(value: object) -> list[bytes | memoryview]:
    """Return the message for ``value`` as chunks to be written one after the other.

    Raises
    ------
    TypeError
        For a value that is not JSON, bytes or a numeric array.
    ValueError
        For a float that is not finite, or a header beyond the bound.
    """
    buffers: list[bytes | memoryview] = []
    tree = _encode(value, buffers)
    header = json.dumps({"v": tree, "b": [len(b) for b in buffers]}, allow_nan=False).encode()
    if len(header) > MAX_HEADER_BYTES:
        raise ValueError(f"the message's header has {len(header)} bytes; at most {MAX_HEADER_BYTES} can cross")
    return [PREFIX.pack(MAGIC, len(header)) + header, *buffers]


def header_length(prefix: bytes | bytearray) -> int:
    """Return the length of the JSON header that follows ``prefix``; ValueError if it is none of ours or too long."""
    magic, length = PREFIX.unpack(prefix)
    if magic != MAGIC or length > MAX_HEADER_BYTES:
        raise ValueError("not a message")
    return int(length)


def read_header(header: bytes | bytearray, max_bytes: int) -> tuple[Any, list[int]]:
    """Return the encoded tree and the sizes of the buffers to read; ValueError beyond ``max_bytes`` in all."""
    message = json.loads(header, parse_constant=_refuse_constant)
    sizes = message["b"] if isinstance(message, dict) else None
    if not isinstance(sizes, list) or not all(type(n) is int and n >= 0 for n in sizes) or sum(sizes) > max_bytes:
        raise ValueError("the message's buffers are malformed or too large")
    return message["v"], sizes


def unpack(tree: object, buffers: list[bytearray]) -> Any:
    """Return the value that ``pack`` was given; tuples come back as lists, arrays writable."""
    if isinstance(tree, list):
        return [unpack(item, buffers) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if "$" not in tree:
        return {key: unpack(item, buffers) for key, item in tree.items()}
    if tree["$"] == "dict":
        return {str(key): unpack(item, buffers) for key, item in tree["items"]}
    buffer = buffers[tree["at"]]
    if tree["$"] == "bytes":
        return bytes(buffer)
    import numpy as np

    dtype = np.dtype(str(tree["dtype"]))
    if dtype.kind not in _KINDS:
        raise ValueError(f"arrays of {dtype} do not cross")
    return np.frombuffer(buffer, dtype).reshape([int(n) for n in tree["shape"]])


def _encode(value: object, buffers: list[bytes | memoryview]) -> object:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("a float that is not finite cannot cross")
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        buffers.append(bytes(value))
        return {"$": "bytes", "at": len(buffers) - 1}
    if isinstance(value, list | tuple):
        return [_encode(item, buffers) for item in value]
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("keys that cross must be strings")
        if "$" in value:
            return {"$": "dict", "items": [[key, _encode(item, buffers)] for key, item in value.items()]}
        return {key: _encode(item, buffers) for key, item in value.items()}
    # numpy is looked up, not imported: children that return plain JSON start without it.
    np = sys.modules.get("numpy")
    if np is not None and isinstance(value, np.generic):
        return _encode(value.item(), buffers)
    if np is not None and isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        array = np.ascontiguousarray(value)
        buffers.append(memoryview(array.reshape(-1).view(np.uint8)))
        return {"$": "array", "at": len(buffers) - 1, "dtype": array.dtype.str, "shape": list(value.shape)}
    raise TypeError(f"{type(value).__name__} cannot cross between processes; JSON values, bytes and arrays can")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
