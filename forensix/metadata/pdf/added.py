"""Words that PyMuPDF wrote onto a page on which another program's words were.

Its ``insert_text`` and ``insert_textbox`` add a stream to a page's content in a form of their own, whatever the font:
``q BT 1 0 0 1 x y Tm /font size Tf ... [<...>]TJ ET Q``. They stand exactly on the baseline of a line of the page where
whoever wrote them had it looked up, as when words of this line are replaced. Several lines written in one go have
another form, and words that were turned; of a page with such nothing is told.

References
----------
PyMuPDF, ``Shape.insert_text`` and ``Shape.insert_textbox`` (``pymupdf/__init__.py``).
"""

import re
from collections.abc import Iterator
from typing import Any

import pikepdf

from forensix.metadata.pdf.marks import Drawing, Mark
from forensix.metadata.pdf.streams import inflated

STREAMS, MOST_BYTES, MOST_SPOTS = 200, 1 << 16, 40
"""Of a page; one with more such texts was made with the library."""

NEAR_PT = 0.5
"""How far from where it is said to stand the first letter of a text may begin."""

SAME_LINE_PT = 0.05
"""Where a baseline was looked up, numbers that were rounded when they were written are off by less."""

_BLOCK = re.compile(rb"(?:\A|\n)q\n(?:/\S+ BDC\n)?(?:/\S+ gs\n)?BT\n([^()]{1,20000}?)\nET\n(?:EMC\n)?Q\n")
_TEXT = re.compile(rb"1 0 0 1 (-?[\d.]+) (-?[\d.]+) Tm[ \n]/\S+ [\d.]+ Tf [\w. /]{0,120}\[<[\dA-Fa-f]*>\]TJ")


def words(page: pikepdf.Page, drawing: Drawing, unit: float) -> Iterator[dict[str, Any]]:
    """Yield ``words`` that were added to a page with words of its own, and those ``beside`` them on one baseline."""
    spots = list(_spots(page.obj.get("/Contents"), unit))
    runs = [mark for mark in drawing.marks[: drawing.n_own] if mark.kind == "text" and mark.text.strip()]
    if not spots or len(spots) > MOST_SPOTS:
        return
    is_added = [any(_is_at(mark, spot) for spot in spots) for mark in runs]
    own = [mark for mark, is_new in zip(runs, is_added, strict=True) if not is_new and any(map(str.isalnum, mark.text))]
    for mark in (mark for mark, is_new in zip(runs, is_added, strict=True) if is_new and own):
        beside = [run.text.strip() for run in own if abs(run.box[1] - mark.box[1]) <= SAME_LINE_PT]
        box = [round(v, 1) for v in mark.box]
        yield {"words": mark.text.strip()[:200], "beside": " ".join(beside)[:200], "box_pt": box}


def _is_at(mark: Mark, spot: tuple[float, float]) -> bool:
    return abs(mark.box[0] - spot[0]) <= NEAR_PT and abs(mark.box[1] - spot[1]) <= SAME_LINE_PT


def _spots(contents: Any, unit: float) -> Iterator[tuple[float, float]]:
    """Yield where each text begins that was added to the content of a page, in points; none where not all are read."""
    if not isinstance(contents, pikepdf.Array) or len(contents) > STREAMS:
        return
    streams = [stream for stream in list(contents)[1:] if isinstance(stream, pikepdf.Stream)]
    blocks = [block[1] for stream in streams for block in _BLOCK.finditer(inflated(stream, MOST_BYTES))]
    texts = [_TEXT.findall(block) for block in blocks]
    if all(
        len(found) == block.count(b"TJ") and b" cm\n" not in block for found, block in zip(texts, blocks, strict=True)
    ):
        yield from ((unit * float(x), unit * float(y)) for found in texts for x, y in found)
