"""Colours and graphics states of a PDF's drawing: what is white, and what lets through what lies below it.

References
----------
ISO 32000-2:2020, 8.6 (colour spaces), 11 (transparency).
"""

from typing import Any

import pikepdf

_DEVICE = {"/DeviceGray": 1, "/G": 1, "/CalGray": 1, "/DeviceRGB": 3, "/RGB": 3, "/CalRGB": 3, "/DeviceCMYK": 4}
CLEAR = 0.02
"""Up to which opacity nothing is seen of what is painted."""


def entry(resources: Any, kind: str, name: Any) -> Any:
    """Return what a page's resources hold by the name that an operator gives."""
    table = resources.get(kind) if isinstance(resources, pikepdf.Dictionary) else None
    return table.get(name) if isinstance(table, pikepdf.Dictionary) and isinstance(name, pikepdf.Name) else None


def space(resources: Any, name: Any) -> str:
    """Return how the components of a colour space are to be read.

    ``light`` grows brighter with its numbers, ``ink`` and ``tint`` darker; of an ``other`` (an indexed one, a pattern)
    numbers say nothing.
    """
    named = entry(resources, "/ColorSpace", name)
    item = named if named is not None else name
    if isinstance(item, pikepdf.Array) and len(item):
        kind = str(item[0])
        if kind in ("/Separation", "/DeviceN"):
            return "tint"
        count = item[1].get("/N") if kind == "/ICCBased" and isinstance(item[1], pikepdf.Stream) else _DEVICE.get(kind)
    else:
        count = _DEVICE.get(str(item))
    return {1: "light", 3: "light", 4: "ink"}.get(int(count), "other") if count else "other"


def colour(operator: str, values: list[Any], space: str = "") -> str:
    """Return ``white``, ``pattern`` or the components of a colour that an operator sets.

    ``space`` is what `space` says of the colour space that ``sc`` and ``scn`` name their numbers in.
    """
    try:
        numbers = [float(v) for v in values]
    except (TypeError, ValueError):
        return "pattern"
    if operator == "k" or (
        operator in ("sc", "scn") and (space in ("ink", "tint") or (not space and len(numbers) == 4))
    ):
        light = all(v <= 0.02 for v in numbers)
    else:
        light = space != "other" and all(v >= 0.98 for v in numbers)
    return "white" if light else " ".join(f"{v:g}" for v in numbers)


def opacity(graphics: Any) -> float | None:
    """Return how opaque what is filled under a graphics state is, from 0 to 1; ``None`` where it does not say."""
    if not isinstance(graphics, pikepdf.Dictionary) or "/ca" not in graphics:
        return None
    return float(graphics.get("/ca", 1))


def lets_through(graphics: Any) -> bool:
    """Say whether a graphics state shows what lies below: a highlighter's does."""
    if not isinstance(graphics, pikepdf.Dictionary):
        return False
    blend, mask = graphics.get("/BM", "/Normal"), graphics.get("/SMask", "/None")
    alpha = min(float(graphics.get("/ca", 1)), float(graphics.get("/CA", 1)))
    return alpha < 0.9 or str(blend) not in ("/Normal", "/Compatible") or str(mask) != "/None"
