"""JSON as the service sends it: compact, UTF-8, never NaN."""

import json
from typing import Any

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON; NaN and infinity are a `ValueError`."""
    return _ENCODER.encode(value).encode()
