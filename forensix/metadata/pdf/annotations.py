"""What lies on a page of a PDF: kind, place and drawing of its annotations.

References
----------
ISO 32000-2:2020, 12.5.5 (how the appearance of an annotation is put into its rectangle).
"""

import math
from collections.abc import Iterator

import pikepdf

from forensix.metadata.pdf.geometry import UNIT, Box, Matrix, as_matrix, is_finite, placed, product
from forensix.metadata.pdf.layers import Layers

ANNOTATIONS = 2000
NOTES = (
    "/FreeText", "/Stamp", "/Square", "/Circle", "/Polygon", "/PolyLine", "/Line", "/Ink", "/Highlight", "/Underline",
    "/Squiggly", "/StrikeOut",
)  # fmt: skip
"""Annotations that people lay over what is printed, or that may be drawn so; icons stand beside it."""
ASIDE = ("/Link", "/Popup")
"""Annotations that leave nothing on a page, of which some pages hold hundreds."""
HIDDEN_FLAGS = 1 << 1 | 1 << 5


def listed(page: pikepdf.Page) -> list[pikepdf.Dictionary]:
    """Return the annotations of a page that may show something."""
    annotations = page.obj.get("/Annots")
    found = list(annotations) if isinstance(annotations, pikepdf.Array) else []
    return [item for item in found if isinstance(item, pikepdf.Dictionary) and item.get("/Subtype") not in ASIDE]


def shown(
    page: pikepdf.Page, layers: Layers, most: int = ANNOTATIONS, flags: int = HIDDEN_FLAGS
) -> Iterator[tuple[str, pikepdf.Dictionary, Box]]:
    """Yield kind, entries and place, in points, of the first annotations of a page, without those that are hidden.

    ``flags`` are the bits of ``/F`` that hide one.
    """
    unit = unit_pt(page)
    for item in listed(page)[:most]:
        if "/Rect" not in item or layers.hidden(item.get("/OC")):
            continue
        box = upright([unit * float(v) for v in item.Rect])
        if not int(item.get("/F", 0)) & flags and is_finite(box):
            yield str(item.get("/Subtype", "")), item, box


def looks(
    page: pikepdf.Page, layers: Layers, kinds: tuple[str, ...]
) -> Iterator[tuple[pikepdf.Dictionary, pikepdf.Stream, Matrix]]:
    """Yield annotations of some kinds and what each shows, with the matrix that puts it on the page."""
    for kind, item, box in shown(page, layers):
        stream = look(item) if kind in kinds else None
        matrix = None if stream is None else put(stream, box)
        if stream is not None and matrix is not None:
            yield item, stream, matrix


def put(stream: pikepdf.Stream, box: Box) -> Matrix | None:
    """Return the matrix that puts a drawing into the place of its annotation; ``None`` for one without extent."""
    x0, y0, x1, y1 = box
    own = as_matrix(list(stream.get("/Matrix", pikepdf.Array(UNIT))))
    a, b, c, d = placed(own, *(float(v) for v in stream.BBox))
    if c <= a or d <= b:
        return None
    across, up = (x1 - x0) / (c - a), (y1 - y0) / (d - b)
    return product(own, (across, 0, 0, up, x0 - a * across, y0 - b * up))


def look(item: pikepdf.Dictionary) -> pikepdf.Stream | None:
    """Return the drawing of an annotation in its present state."""
    drawings = item.get("/AP")
    stream = drawings.get("/N") if isinstance(drawings, pikepdf.Dictionary) else None
    if isinstance(stream, pikepdf.Dictionary) and not isinstance(stream, pikepdf.Stream):
        stream = stream.get(str(item.get("/AS", "/Off")))
    return stream if isinstance(stream, pikepdf.Stream) and "/BBox" in stream else None


def unit_pt(page: pikepdf.Page) -> float:
    """Return how many points a unit of a page's coordinates is."""
    unit = float(page.obj.get("/UserUnit", 1))
    return unit if math.isfinite(unit) and unit > 0 else 1.0


def upright(corners: list[float]) -> Box:
    """Return the box of two opposite corners."""
    a, b, c, d = corners
    return min(a, c), min(b, d), max(a, c), max(b, d)
