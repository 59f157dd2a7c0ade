"""Draw pages of a PDF with PDFium; runs in the sandbox.

A page is drawn as a viewer shows it, with annotations and filled fields; scripts are not in this build of PDFium, and
what a document refers to outside of itself is not fetched. The first bytes of a file up to the end of a saved version
are that version, so that it is drawn by leaving out the rest.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

LEAST_POINTS = 1.0
"""Smaller pages are not drawn: they would be blown up without bounds."""

MAX_SCALE = 4.0
MAX_ANNOTATIONS = 3000
"""A page with more, which would take long, is drawn where there are places to mark or it is of a version."""


MAX_LETTERS = 40_000
"""Of a page of a version: more of its text is not read."""


def draw(source: dict[str, str], jobs: list[dict[str, Any]], max_side_px: int) -> Iterator[dict[str, Any]]:
    """Yield one page for each job that can be done, in their order.

    Parameters
    ----------
    source
        Where the file lies.
    jobs
        ``page`` from 1, ``end`` of the version in bytes (None: the whole file), and ``boxes``, float (x0, y0, x1, y1)
        in points of the page.
    max_side_px
        The longer side of what is drawn.

    Yields
    ------
    ``job``, the position in ``jobs``; ``rgb``, uint8 (H, W, 3), None where the version has no such page; ``boxes`` in
    pixels of it, (left, top, right, bottom); ``text`` of a page of a version.
    """
    import pypdfium2

    data = Path(source["path"]).read_bytes()
    opened: dict[int | None, Any] = {}
    for i, job in enumerate(jobs):
        end = job["end"]
        try:
            if end not in opened:
                opened[end] = None
                document = pypdfium2.PdfDocument(data if end is None else data[:end])
                document.init_forms()
                opened[end] = document
            if opened[end] is None:
                continue
            if job["page"] > len(opened[end]):
                yield {"job": i, "rgb": None, "boxes": [], "text": ""}
            else:
                page = opened[end][job["page"] - 1]
                is_plain = end is None and not job["boxes"]
                if is_plain and pypdfium2.raw.FPDFPage_GetAnnotCount(page) > MAX_ANNOTATIONS:
                    continue
                text = "" if end is None else _text(page)
                yield {"job": i, **_drawn(page, job["boxes"], max_side_px), "text": text}
        except (pypdfium2.PdfiumError, _TooSmall):
            continue


class _TooSmall(Exception):
    """The page has hardly any size."""


def _text(page: Any) -> str:
    letters = page.get_textpage()
    text: str = letters.get_text_range(0, min(letters.count_chars(), MAX_LETTERS))
    return text


def _drawn(page: Any, boxes: list[list[float]], max_side_px: int) -> dict[str, Any]:
    longer = max(page.get_size())
    if not longer >= LEAST_POINTS:
        raise _TooSmall
    bitmap = page.render(scale=min(MAX_SCALE, max_side_px / longer), rev_byteorder=True, prefer_bgrx=True)
    place = bitmap.get_posconv(page)
    rgb = bitmap.to_numpy()[..., :3].copy()
    height, width = rgb.shape[:2]
    placed = []
    for x0, y0, x1, y1 in boxes:
        # All four corners: the page may be turned.
        corners = [place.to_bitmap(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = ([min(max(corner[axis], 0), side) for corner in corners] for axis, side in ((0, width), (1, height)))
        placed.append([min(xs), min(ys), max(xs), max(ys)])
    return {"rgb": rgb, "boxes": placed}
