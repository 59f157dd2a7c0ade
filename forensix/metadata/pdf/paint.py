"""Colours and graphics states of a PDF's drawing: what is white, and what lets through what lies below it.

References
----------
ISO 32000-2:2020, 8.6 (colour spaces), 11 (transparency).
"""

from typing import Any

import pikepdf

from forensix.metadata.pdf.fonts import Font
from forensix.metadata.pdf.geometry import EVERYWHERE, UNIT, Matrix, common, placed

_DEVICE = {"/DeviceGray": 1, "/G": 1, "/CalGray": 1, "/DeviceRGB": 3, "/RGB": 3, "/CalRGB": 3, "/DeviceCMYK": 4}
DEVICE = {"g": "light", "rg": "light", "k": "ink"}
"""How the numbers of operators are to be read that set a colour space of their own."""

COLOURS = ("g", "rg", "k", "sc", "scn", "G", "RG", "K", "SC", "SCN", "cs", "CS")
"""Operators that set a colour or the space that the next one is named in."""

CLEAR = 0.02
"""Up to which opacity nothing is seen of what is painted."""

ALIKE = 0.02
"""Components that differ by no more look the same."""

START: dict[str, Any] = {
    "matrix": UNIT, "clip": EVERYWHERE, "fill": "0", "stroke": "0", "space": "", "stroke space": "", "width": 1.0,
    "font": Font(), "size": 12.0, "mode": 0, "spacing": 0.0, "words": 0.0, "scale": 1.0,
    "graphics": {}, "clear": False, "alpha": 1.0, "masked": False, "in words": False,
    "group clear": False, "group alpha": 1.0, "group masked": False,
}  # fmt: skip
"""The graphics state in which a page begins; ``graphics`` is what `held` returns, the last three are what a group
that is drawn now is laid on the page with."""


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


def is_alike(one: str, other: str) -> bool:
    """Say whether two colours, as `colour` gives them, look the same: neither white nor a pattern.

    Examples
    --------
    >>> is_alike("0.92 0.92 0.92", "0.91"), is_alike("0.5", "0.4"), is_alike("white", "white")
    (True, False, False)
    """
    try:
        a, b = ([float(v) for v in words.split()] for words in (one, other))
    except ValueError:
        return False
    if {len(a), len(b)} == {1, 3}:
        a, b = (values * 3 if len(values) == 1 else values for values in (a, b))
    return len(a) == len(b) and all(abs(x - y) <= ALIKE for x, y in zip(a, b, strict=True))


def take(state: dict[str, Any], operator: str, values: list[Any], resources: Any) -> None:
    """Take one of `COLOURS` into a graphics state: small letters fill, large ones stroke."""
    kind = operator.lower()
    in_space, painted = ("space", "fill") if kind == operator else ("stroke space", "stroke")
    if kind == "cs":
        state[painted], state[in_space] = "0", space(resources, values[0])
    else:
        state[in_space] = DEVICE.get(kind, state[in_space])
        state[painted] = colour(kind, values, state[in_space])


def held(before: dict[str, Any], graphics: Any) -> dict[str, Any]:
    """Return what graphics states say of opacity, after one that leaves out what another said ``before``."""
    if not isinstance(graphics, pikepdf.Dictionary):
        return before
    return before | {key: graphics[key] for key in ("/ca", "/CA", "/BM", "/SMask") if key in graphics}


def opacity(graphics: dict[str, Any]) -> float:
    """Return how opaque what is filled is, from 0 to 1, by what `held` returns."""
    return float(graphics.get("/ca", 1))


def lets_through(graphics: dict[str, Any]) -> bool:
    """Say whether what is painted shows what lies below, by what `held` returns: a highlighter does."""
    blend = graphics.get("/BM", "/Normal")
    if isinstance(blend, pikepdf.Array) and len(blend):
        # Of several the first one counts that a program knows.
        blend = blend[0]
    alpha = min(opacity(graphics), float(graphics.get("/CA", 1)))
    return alpha < 0.9 or str(blend) not in ("/Normal", "/Compatible") or is_masked(graphics)


def is_masked(graphics: dict[str, Any]) -> bool:
    """Say whether what is painted goes through a soft mask, which may have the shape of words."""
    return str(graphics.get("/SMask", "/None")) != "/None"


def within(state: dict[str, Any], form: pikepdf.Stream, matrix: Matrix) -> dict[str, Any]:
    """Return the state in which a form begins that a matrix places: its box cuts what it draws."""
    try:
        left, below, right, above = (float(v) for v in form.get("/BBox", ()))
        cut = placed(matrix, left, below, right, above)
    except (TypeError, ValueError):
        cut = EVERYWHERE
    return state | {"matrix": matrix, "clip": common(state["clip"], cut)}
