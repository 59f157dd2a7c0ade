"""JPEGs that lost their last bytes: what a decoder gives of them all the same, as viewers show it.

What is missing is grey there. Which pixels those are is found by decoding once more with other bytes in place of the
lost ones: what these change was not in the file. Scans that are missing as a whole would leave the whole picture
coarse, so every coefficient has to have come to its last bit, as far as the headers of the scans say.
"""

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_MISSING = 1 / 64
"""Share of the pixels from which on a picture is not taken for whole. It is an eighth of the rows of a cell in which
previews are compared with pictures, so grey rows stay below the difference that counts there."""

MAX_PIXELS = 60_000_000
END = b"\xff\xd9"
FILL = b"\x55"
"""Neither zeros nor ones: tables have no code of ones alone, and zeros may stand for blocks that are even."""

MOST_BLOCK_BYTES = 208
"""Most that the code of a block takes: 64 values of 26 bits."""

MOST_UNIT_BLOCKS = 10
"""Most blocks that one unit of all colours holds."""

SCAN = 0xDA
"""The kind of a segment that a scan begins with."""

_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]", re.DOTALL)


def completed(data: bytes) -> tuple[bytes, float] | None:
    """Return a JPEG with an end put behind it, and the share of its pixels that is missing.

    ``None`` where it is too large to look, where more than `MOST_MISSING` is missing, or where it is broken otherwise.
    """
    import numpy as np

    body = data.rstrip(b"\xff")
    if not _has_all_scans(body):
        return None
    try:
        with Image.open(io.BytesIO(body + END), formats=["JPEG"]) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            given = np.asarray(image)
            fill = FILL * (MOST_BLOCK_BYTES * MOST_UNIT_BLOCKS * (image.width // 8 + MOST_UNIT_BLOCKS))
        with Image.open(io.BytesIO(body + fill + END), formats=["JPEG"]) as image:
            differs = given != np.asarray(image)
    except (OSError, SyntaxError, ValueError, MemoryError):
        return None
    missing = _from_first(differs.any(axis=2) if differs.ndim == 3 else differs)
    return (body + END, missing) if missing <= MOST_MISSING else None


def share(missing: float) -> str:
    """Return the share of the pixels that is missing, in words."""
    return f"{100 * missing:.1f} %" if missing >= 0.0005 else "less than 0.1 %"


def _from_first(differs: "NDArray[np.bool_]") -> float:
    """Return the share of what is written from the first pixel that differs on, bool (H, W): row of blocks by row."""
    import numpy as np

    height, width = differs.shape
    rows = np.flatnonzero(differs.any(axis=1))
    if not rows.size:
        return 0.0
    top, bottom = int(rows[0]), min(int(rows[0]) + 16, height)
    left = int(differs[top:bottom].any(axis=0).argmax())
    return float(((bottom - top) * (width - left) + (height - bottom) * width) / (height * width))


def segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield kind and body of each segment of a JPEG up to its end; what lies between them is passed over."""
    at = 2
    while (marker := _NEXT_MARKER.search(data, at)) is not None and marker[0] != END:
        at = marker.end() + int.from_bytes(data[marker.end() : marker.end() + 2], "big")
        yield marker[0][1], data[marker.end() + 2 : at]


def _has_all_scans(data: bytes) -> bool:
    """Tell whether the scans that have begun hold every coefficient of every colour to its last bit."""
    missing: set[tuple[int, int]] | None = None
    for kind, body in segments(data):
        if kind in (0xC0, 0xC1, 0xC2) and len(body) >= 6 + 3 * body[5]:
            missing = {(body[6 + 3 * i], k) for i in range(body[5]) for k in range(64)}
        elif kind == SCAN and missing is not None and body and len(body) >= 4 + 2 * body[0]:
            colours, (first, last, bits) = body[1 : 1 + 2 * body[0] : 2], body[1 + 2 * body[0] :][:3]
            if bits & 15 == 0:
                missing = {(colour, k) for colour, k in missing if colour not in colours or not first <= k <= last}
    return missing == set()
