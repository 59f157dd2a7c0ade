"""Words that PyMuPDF wrote onto a page on which another program's words were.

Its ``insert_text`` and ``insert_textbox`` add a stream to a page's content in a form of their own, whatever the font:
``q BT 1 0 0 1 x y Tm /font size Tf ... [<...>]TJ ET Q``. They stand exactly on the baseline of a line of the page where
whoever wrote them had it looked up, as when words of this line are replaced. Several lines written in one go have
another form, and words that were turned; of a page with such nothing is told.

Its redactions, which remove what stands in a box, paint the box in one colour and write in it with ``insert_textbox``,
all in one stream, in a font called ``Helv``.

References
----------
PyMuPDF, ``Shape.insert_text``, ``Shape.insert_textbox`` and ``apply_redactions`` (``pymupdf/__init__.py``).
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

_BLOCK = re.compile(rb"(?:\A|\n)q\n(?:/\S+ BDC\n)?(?:/\S+ gs\n)?BT\n((?:(?!BT\n)[^()])+?)\nET\n(?:EMC\n)?Q\n")
_NUMBER = rb"(-?\d{1,9}(?:\.\d{0,20})?)"
_TEXT = re.compile(rb"1 0 0 1 %b %b Tm[ \n]/(\S+) [\d.]+ Tf [\w. /]{0,120}\[<[\dA-Fa-f]*>\]TJ" % (_NUMBER, _NUMBER))
_BOX = re.compile(rb"q\n%b %b %b %b re\nh\n([\d. ]+) (?:RG|G) \5 (?:rg|g) B\nQ\n" % ((_NUMBER,) * 4))

Spot = tuple[float, float, bool]
"""Where a text begins, in points, and whether a redaction wrote it."""


def words(page: pikepdf.Page, drawing: Drawing, unit: float) -> Iterator[dict[str, Any]]:
    """Yield ``words`` that were added to a page with words of its own, and those ``beside`` them on one baseline.

    ``redacted`` says whether a redaction wrote them.
    """
    spots = list(_spots(page.obj.get("/Contents"), unit))
    runs = [mark for mark in drawing.marks[: drawing.n_own] if mark.kind == "text" and mark.text.strip()]
    if not spots or len(spots) > MOST_SPOTS:
        return
    found = [(mark, next((spot for spot in spots if _is_at(mark, spot)), None)) for mark in runs]
    own = [mark for mark, spot in found if spot is None and any(map(str.isalnum, mark.text))]
    for mark, spot in found:
        if spot is None or not own:
            continue
        beside = [run.text.strip() for run in own if abs(run.box[1] - mark.box[1]) <= SAME_LINE_PT]
        box = [round(v, 1) for v in mark.box]
        said = {"words": mark.text.strip()[:200], "beside": " ".join(beside)[:200]}
        yield {**said, "redacted": spot[2], "box_pt": box}


def _is_at(mark: Mark, spot: Spot) -> bool:
    return abs(mark.box[0] - spot[0]) <= NEAR_PT and abs(mark.box[1] - spot[1]) <= SAME_LINE_PT


def _spots(contents: Any, unit: float) -> Iterator[Spot]:
    """Yield where each text begins that was added to the content of a page; none where not all are read."""
    if not isinstance(contents, pikepdf.Array) or len(contents) > STREAMS:
        return
    spots = []
    for stream in (stream for stream in list(contents)[1:] if isinstance(stream, pikepdf.Stream)):
        raw = inflated(stream, MOST_BYTES)
        boxes = [tuple(map(float, box[:4])) for _, box in zip(range(MOST_SPOTS), _BOX.findall(raw), strict=False)]
        for block in _BLOCK.findall(raw):
            texts = _TEXT.findall(block)
            if len(texts) != block.count(b"TJ") or b" cm\n" in block:
                return
            for x, y, font in ((float(x), float(y), font) for x, y, font in texts):
                inside = (0 <= x - a + NEAR_PT <= width and 0 <= y - b <= height for a, b, width, height in boxes)
                spots.append((unit * x, unit * y, any(inside) and font == b"Helv"))
    yield from spots
