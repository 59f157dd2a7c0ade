"""What the drawing of a PDF's pages shows: text that something was drawn over, and scanned pages.

Somebody who changes a printed amount without the means to change the text puts a box, a picture or a note over it and
writes on top; the old text stays underneath. A form field does the same. Letters are placed by the widths that their
font states. A shape that is no box covers what painting it makes invisible over 4 pt in both directions. What patterns,
and strips narrower than that, cover is not seen.
"""

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import pikepdf

from forensix.errors import first_line
from forensix.metadata.facts import Fact, Problem
from forensix.metadata.pdf import added, fields, layers, lines, stamps, words
from forensix.metadata.pdf.annotations import ANNOTATIONS, NOTES, listed, look, looks, shown, unit_pt, upright
from forensix.metadata.pdf.drawing import draw
from forensix.metadata.pdf.geometry import BROAD_PT, Box, area_of, common
from forensix.metadata.pdf.layers import Layers
from forensix.metadata.pdf.marks import LEAST_LETTERS, Budget, Drawing, Letters, Mark, TooLong
from forensix.metadata.pdf.paint import colour, is_alike
from forensix.metadata.pdf.painting import Effort, Sheet
from forensix.metadata.pdf.paths import is_upright
from forensix.metadata.pdf.streams import FAULTS

PAGES = 300
PAGES_S = 10.0
"""After so many seconds no other page is begun."""
MOST_PAGES = 100_000
MOST_PT = 150.0
"""Up to which height, or width where it is smaller, a box is no ground of a page."""

TOLD = 20
"""Places of a page that are told."""
MOST_PICTURE = 0.25
"""Share of the page that a picture over text may take: scans are laid over the text that was read from them."""

SCAN_SHARE = 0.85
SLACK_PT = 1.0
"""A box may reach so far beyond the one that it lies on."""


def facts(pdf: pikepdf.Pdf) -> tuple[list[Fact], list[Problem]]:
    """Return a dict per place for each of these, and ``pdf.scan``, how many pages a picture fills.

    ``pdf.covered_text``, ``pdf.covered_picture``, ``pdf.redaction``, ``pdf.unseen_text``, ``pdf.replaced_text``,
    ``pdf.other_font``, ``pdf.uneven_amount``, ``pdf.added_words``, ``pdf.field``, ``pdf.touched_up``. Where each page
    bears a line that a court stamped (`stamps`), ``pdf.court_stamp`` is that of the first.
    """
    items: list[Fact] = []
    stamped: list[str | None] = []
    problems: list[Problem] = []
    budget, effort, scanned, with_text = Budget(layers=layers.read(pdf)), Effort(), 0, 0
    anew = fields.are_drawn_anew(pdf)
    n_pages, until = len(pdf.pages), time.monotonic() + PAGES_S
    for number, page in enumerate(list(pdf.pages)[: PAGES + 1] if n_pages < MOST_PAGES else (), 1):
        if number > PAGES or time.monotonic() > until:
            problems.append(_stopped(number))
            break
        try:
            found, is_scan, has_text, is_cut = _page(pdf, page, number, budget, effort, anew=anew)
            stamped.append(stamps.of_court(page))
        except TooLong:
            problems.append(_stopped(number))
            break
        except FAULTS as error:
            if "unfilterable" in str(error):
                # What qpdf says of filters that it does not know, as Brotli in newer documents.
                problems.append(_problem(f"page {number} is compressed as nothing here can read", number))
                continue
            sentence = f"the content of page {number} cannot be read: {first_line(error)}"
            problems.append(Problem(sentence, f"page {number}"))
            continue
        if is_cut and len(problems) < TOLD:
            problems.append(_problem(f"not all of page {number} was read: it draws more than is looked at", number))
        items += found
        scanned += is_scan
        with_text += has_text
    if n_pages >= MOST_PAGES:
        problems.append(_stopped(1))
    if scanned:
        items.append(Fact("pdf.scan", scanned, "pages that one picture fills and that show no text of their own"))
    if len(stamped) == n_pages and all(stamped):
        items.append(Fact("pdf.court_stamp", stamped[0], "last line of page 1's content, of its kind on each page"))
    items.append(Fact("pdf.text_pages", with_text, "content of the pages"))
    return items, problems


def _page(
    pdf: pikepdf.Pdf, page: pikepdf.Page, number: int, budget: Budget, effort: Effort, *, anew: bool
) -> tuple[list[Fact], bool, bool, bool]:
    """Return the facts of a page, whether it is a scan, whether it shows text, and whether something was left out."""
    unit = unit_pt(page)
    box = upright([unit * float(v) for v in page.mediabox])
    area = area_of(box)
    crop = common(box, upright([unit * float(v) for v in page.cropbox]))
    widgets = list(looks(page, budget.layers, ("/Widget",)))
    notes = [(form, matrix) for _, form, matrix in looks(page, budget.layers, NOTES)]
    drawing, is_cut = draw(pdf, page, budget, [(form, matrix) for _, form, matrix in widgets], notes)
    is_cut |= len(listed(page)) > ANNOTATIONS
    redactions = list(_annotations(page, drawing, budget.layers))
    letters = Letters(drawing.marks)
    below = _Covered(pdf, letters, effort)
    visible = drawing.n_text - drawing.n_hidden_text
    share = max((area_of(m.box) / area for m in drawing.marks if m.kind == "image" and area > 0), default=0.0)
    where = f"content of page {number}"
    places = {
        "pdf.covered_text": chain(_covered(drawing.marks, below, area), _below_fields(drawing, below, area)),
        "pdf.covered_picture": _laid_over(drawing.marks, letters, area),
        "pdf.unseen_text": words.unseen(drawing, crop),
        "pdf.replaced_text": words.replaced(drawing, letters, crop),
        "pdf.uneven_amount": lines.uneven(drawing),
        "pdf.added_words": added.words(page, drawing, unit),
    }
    items = [
        Fact(key, {"page": number, **place}, where) for key, found in places.items() for place in islice(found, TOLD)
    ]
    if drawing.n_touched_up:
        items.append(Fact("pdf.touched_up", {"page": number, "marks": drawing.n_touched_up}, where))
    items += [] if anew else _contradictions([field for field, _, _ in widgets], drawing, number)
    items += [
        Fact("pdf.other_font", {"page": number, **place}, f"{where}, font object {place['object']}")
        for place in islice(words.other_fonts(drawing), TOLD)
    ]
    items += [
        Fact("pdf.redaction", {"page": number, "box_pt": _rounded(box), "under": text}, f"annotation of page {number}")
        for box in redactions
        if (text := _text(letters.inside(box)))
    ]
    if unit != 1:
        # Viewers draw a page in its own coordinates, and places are told in them.
        items = [
            replace(f, value={**f.value, "box_pt": _rounded(f.value["box_pt"], unit)}) if "box_pt" in f.value else f
            for f in items
        ]
    return items, share > SCAN_SHARE and visible == 0, visible > 0, is_cut or below.is_cut


def _stopped(page: int) -> Problem:
    return _problem(f"what page {page} and those after it draw was not read: the document is too long", page)


def _problem(message: str, page: int) -> Problem:
    return Problem(message, f"page {page}", grave=False, unread=True)


def _contradictions(forms: list[pikepdf.Dictionary], drawing: Drawing, page: int) -> Iterator[Fact]:
    for form, marks in zip(forms, drawing.forms, strict=False):
        record = fields.contradiction(form, marks)
        if record:
            yield Fact("pdf.field", {"page": page, **record}, f"form field, object {form.objgen[0]}")


class _Covered:
    """The words of a page that lie where a mark covers it."""

    def __init__(self, pdf: pikepdf.Pdf, letters: Letters, effort: Effort) -> None:
        self.pdf, self.letters, self.effort = pdf, letters, effort

    @property
    def is_cut(self) -> bool:
        """Whether something was left out."""
        return self.letters.is_cut or self.effort.n_pixels < 0

    def words(self, mark: Mark, first: int = 0, last: float = math.inf) -> str:
        """Return the words of marks from ``first`` and before ``last`` there."""
        found = self.letters.inside(mark.box, first, last)
        if found and mark.shape:
            sheet = Sheet(self.pdf, self.effort, mark.box)
            sheet.cover(mark.shape, even_odd=mark.even_odd)
            hidden = sheet.hidden()
            found = self.letters.inside(mark.box, first, last, lambda x, y: sheet.reaches(hidden, (x, y, x, y)))
        return "" if self.is_cut else _text(found)


def _covered(marks: list[Mark], covered: _Covered, area: float) -> Iterator[dict[str, Any]]:
    """Yield what covers text drawn before it, with the text drawn on it afterwards."""
    for i, mark in _covers(marks, area):
        under = covered.words(mark, last=i)
        if _n_alphanumeric(under) < LEAST_LETTERS:
            continue
        over = covered.words(mark, first=i)
        # What is written again as it was, in one piece or in several, and however often, is no change.
        if _once(under) != _once(over) and not covered.is_cut:
            kind = "ground" if _is_ground(mark, marks[:i]) else _kind(mark)
            yield _cover(mark, kind, under, over)


def _once(text: str) -> str:
    """Return words without spaces, once where they are written several times over, as for a heavier print."""
    parts = text.split()
    length = next((n for n in range(1, len(parts)) if parts == parts[:n] * (len(parts) // n)), len(parts))
    return "".join(parts[:length])


def _is_ground(mark: Mark, before: list[Mark]) -> bool:
    """Say whether a box has the colour of the box that it lies on, as of a row of a table or of tinted paper."""
    grounds = (one for one in reversed(before) if one.kind == "box" and one.opaque and _encloses(one.box, mark.box))
    ground = next(grounds, None)
    return ground is not None and is_alike(mark.colour, ground.colour)


def _encloses(outer: Box, inner: Box) -> bool:
    a, b, c, d = (one - other for one, other in zip(outer, inner, strict=True))
    return max(a, b) <= SLACK_PT and min(c, d) >= -SLACK_PT


def _below_fields(drawing: Drawing, covered: _Covered, area: float) -> Iterator[dict[str, Any]]:
    """Yield what form fields without words cover of the page's own text."""
    for _, mark in _covers(drawing.empty, area):
        under = covered.words(mark, last=drawing.n_own)
        if _n_alphanumeric(under) >= LEAST_LETTERS:
            yield _cover(mark, "field", under, "")


def _cover(mark: Mark, kind: str, under: str, over: str) -> dict[str, Any]:
    record = {"box_pt": _rounded(mark.box), "cover": kind, "under": under[:200], "over": over[:200]}
    return record if all(map(is_upright, mark.shape)) else {**record, "is_box": False}


def _laid_over(marks: list[Mark], letters: Letters, area: float) -> Iterator[dict[str, Any]]:
    """Yield boxes with text on them, and pictures, that lie on a picture that fills the page."""
    pages = [i for i, m in enumerate(marks) if m.kind == "image" and area > 0 and area_of(m.box) > SCAN_SHARE * area]
    for i, mark in _covers(marks, area) if pages else ():
        over = _text(letters.inside(mark.box, first=i))
        if i > pages[0] and (mark.kind == "image" or _n_alphanumeric(over) >= LEAST_LETTERS):
            yield {"box_pt": _rounded(mark.box), "cover": _kind(mark), "over": over[:200]}


def _covers(marks: list[Mark], area: float) -> list[tuple[int, Mark]]:
    """Return what is of a size to cover a line or a passage, and hides what lies below."""
    return [
        (i, mark)
        for i, mark in enumerate(marks)
        if mark.kind != "text"
        and mark.opaque
        # Words of a page that is turned stand on end.
        and BROAD_PT <= min(mark.box[2] - mark.box[0], mark.box[3] - mark.box[1]) <= MOST_PT
        and (mark.kind != "image" or area_of(mark.box) <= MOST_PICTURE * area)
    ]


def _kind(mark: Mark) -> str:
    return "picture" if mark.kind == "image" else "white" if mark.colour == "white" else "filled"


def _n_alphanumeric(text: str) -> int:
    return sum(letter.isalnum() for letter in text)


def _text(found: list[tuple[int, str]]) -> str:
    return " ".join(text.strip() for _, text in found if text.strip())


def _annotations(page: pikepdf.Page, drawing: Drawing, layers: Layers) -> Iterator[Box]:
    """Add notes with a background to what a page draws; yield the places of redactions that were not carried out."""
    for kind, item, box in shown(page, layers):
        if kind == "/Redact":
            yield box
        ground = item.get({"/FreeText": "/C", "/Square": "/IC"}.get(kind, "/None"))
        if look(item) is not None:
            # Its drawing is on the page already.
            continue
        if not isinstance(ground, pikepdf.Array) or not len(ground) or float(item.get("/CA", 1)) < 0.9:
            continue
        operator = "k" if len(ground) == 4 else "rg"
        drawing.marks.append(Mark("box", box, colour(operator, list(ground))))
        note = str(item.get("/Contents", "")) if kind == "/FreeText" else ""
        if note.strip():
            middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
            drawing.marks.append(Mark("text", box, letters=((note[:200], *middle),)))


def _rounded(box: Iterable[float], unit: float = 1.0) -> list[float]:
    return [round(v / unit, 1) for v in box]
