"""What was measured on the stored pixels, said of the picture as it is shown: turned as its orientation tag says."""

import io
from typing import Any

import numpy as np
from PIL import Image

from forensix.forensics.traces.preview_difference import EXIF_TURNS, turned

AXES = {
    2: ((-1, 0), (0, 1)), 3: ((-1, 0), (0, -1)), 4: ((1, 0), (0, -1)), 5: ((0, 1), (1, 0)), 6: ((0, -1), (1, 0)),
    7: ((0, -1), (-1, 0)), 8: ((0, 1), (-1, 0)),
}  # fmt: skip
"""What a displacement (x, y) is multiplied by for each orientation of EXIF but 1."""
MAP_QUALITY = 85


def upright(traces: dict[str, Any], size: tuple[int, int], orientation: int) -> dict[str, Any]:
    """Return traces with maps, boxes and displacements turned by an orientation of EXIF.

    ``size`` is (width, height) of the stored picture, in whose pixels the boxes are (x, y, width, height).
    """
    if orientation not in EXIF_TURNS:
        return traces
    return {name: _turned(value, size, orientation) for name, value in traces.items()}


def _turned(value: Any, size: tuple[int, int], orientation: int) -> Any:
    if isinstance(value, bytes):
        return _turned_map(value, orientation)
    if not isinstance(value, dict):
        return value
    axes = np.array(AXES[orientation])
    changed: dict[str, Any] = {}
    if value.get("map"):
        changed["map"] = _turned_map(value["map"], orientation)
    if "shift" in value:
        changed["shift"] = [int(v) for v in axes @ value["shift"]]
    if any(value.get("box", ())):
        corner, extent, whole = np.array(value["box"][:2]), np.array(value["box"][2:]), np.array(size)
        # Twice the distance of the box's middle from the picture's, which is what turns.
        middle = axes @ (2 * corner + extent - whole)
        wide = abs(axes) @ extent
        changed["box"] = [*((middle + abs(axes) @ whole - wide) // 2).tolist(), *wide.tolist()]
    return {**value, **changed}


def _turned_map(jpeg: bytes, orientation: int) -> bytes:
    if not jpeg:
        return jpeg
    buffer = io.BytesIO()
    turned(Image.open(io.BytesIO(jpeg)), orientation).save(buffer, "JPEG", quality=MAP_QUALITY)
    return buffer.getvalue()
