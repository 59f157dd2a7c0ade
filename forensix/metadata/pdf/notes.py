"""Comments that were added after signing: which hide what was signed, and which write words of their own.

A signature allows comments, and a comment may draw anything: a kind is only a name. So the drawing of each is painted
on a sheet. What it makes invisible over 4 pt in both directions it hides, whatever shapes it is put together from;
lines that strike words out are thinner, and highlighters let through what is dark. Drawings of pictures count as
opaque. Words of a comment that stand so near to what is printed that they read as a part of it are told apart from
words that stand alone. Without a drawing of its own a comment is painted by what it states; marks of words, which every
viewer draws thin or lets through, are left out then.

References
----------
ISO 32000-2:2020, 12.5.5 (appearances), 12.5.6 (kinds of annotations).
"""

from collections.abc import Iterator
from typing import Any

import pikepdf

from forensix.metadata.facts import Fact
from forensix.metadata.pdf import layers, painting, signature_bytes
from forensix.metadata.pdf.annotations import NOTES, listed, look, looks, put, shown, unit_pt, upright
from forensix.metadata.pdf.drawing import draw, form_marks
from forensix.metadata.pdf.geometry import EVERYWHERE, Box, area_of, common
from forensix.metadata.pdf.marks import LEAST_LETTERS, Budget, Drawing, Letters, TooLong
from forensix.metadata.pdf.objects import View
from forensix.metadata.pdf.painting import Painted, Sheet
from forensix.metadata.pdf.streams import FAULTS

ICONS = ("/Text", "/FileAttachment", "/Caret")
MOST_ICON_PT = 36.0
"""Side up to which such a comment is an icon, which hides words only by white or by words of its own."""

PAGES, READ_PAGES = 10_000, 100
"""Pages of a document that are looked at, and those with comments of which it is read what lies below."""
ANNOTATIONS, PAINTED, TOLD = 20_000, 1000, 40
"""Annotations of a page, comments of a document that are painted, and records that are told."""
HIDDEN = 1 << 1
"""Bit of ``/F`` that hides an annotation on the screen and on paper."""
NEAR_PT = 12.0
"""Up to which distance, a line's height, words of a comment may be read together with printed ones."""
MOST_GROUND = 0.5
"""Share of a page from which on what is painted is its paper."""


def facts(pdf: pikepdf.Pdf, view: View) -> Iterator[Fact]:
    """Yield ``pdf.note`` for comments that hide something or write, and ``pdf.notes``, how many there are.

    Both tell of what was written after the first signature and of signed documents only. Of the records, which hold
    ``page``, ``kind``, ``object``, ``hides``, ``writes``, ``touches``, ``says``, ``under`` and ``written_at``, the last
    written are told; ``touches`` says whether words of a comment, which ``says`` repeats, stand by printed ones or on a
    picture. ``pdf.notes`` holds ``n`` and ``unread``, how many were not looked at.
    """
    signed = [r["covered_to"] for r in signature_bytes.dictionaries(view.data) if not r["usage_rights"]]
    if not signed:
        return
    reader = _Notes(pdf, view, min(signed))
    found = sorted(reader.laid(), key=lambda record: -record["written_at"])
    yield Fact("pdf.notes", {"n": reader.n, "unread": reader.unread}, "annotations of the pages")
    for record in found[:TOLD]:
        yield Fact("pdf.note", record, f"annotation of page {record['page']}, object {record['object']}")


class _Notes:
    """Goes through the comments that were written behind an offset."""

    def __init__(self, pdf: pikepdf.Pdf, view: View, after: int) -> None:
        self.pdf, self.view, self.after = pdf, view, after
        self.budget = Budget(layers=layers.read(pdf))
        self.effort = painting.Effort()
        self.n = self.unread = self.n_read = 0

    def laid(self) -> Iterator[dict[str, Any]]:
        """Yield a record for each comment that hides something or writes; count all of them."""
        for number, page in enumerate(self.pdf.pages, 1):
            if number > PAGES:
                self.unread += 1
                return
            drawing: Drawing | None = None
            letters: Letters | None = None
            is_read = False
            self.unread += len(listed(page)) > ANNOTATIONS
            for kind, item, box in shown(page, self.budget.layers, ANNOTATIONS, HIDDEN):
                written_at = self._written_at(item)
                if kind not in (*NOTES, *ICONS) or written_at <= self.after:
                    continue
                self.n += 1
                sheet = self._painted(kind, item, box, unit_pt(page)) if self.n <= PAINTED else None
                self.unread += sheet is None or sheet.is_unread
                hidden = sheet.hidden() if sheet else None
                if sheet is None or hidden is None or not (hidden.any() or sheet.n_text_bytes):
                    continue
                if not is_read:
                    drawing, is_read = self._drawing(page) if self.n_read < READ_PAGES else None, True
                    letters = Letters(drawing.marks) if drawing else None
                    self.n_read += 1
                hides, under = _below(sheet, hidden, drawing, page)
                # An icon may be a letter.
                writes = sheet.n_text_bytes > 0 and not (_is_icon(kind, box) and not hides)
                if hides or writes:
                    yield {
                        "page": number, "kind": kind.lstrip("/"), "object": item.objgen[0], "hides": hides,
                        "writes": writes, "touches": writes and _touches(box, drawing, letters),
                        "says": self._words(kind, item, box)[:200] if writes else "", "under": under[:200],
                        "written_at": written_at,
                    }  # fmt: skip

    def _written_at(self, item: pikepdf.Dictionary) -> int:
        """Return where the later of an annotation and its drawing stands."""
        stream = look(item)
        numbers = [part.objgen[0] for part in (item, stream) if part is not None]
        return max(self.view.offset(number) or 0 for number in numbers)

    def _painted(self, kind: str, item: pikepdf.Dictionary, box: Box, unit: float) -> Sheet:
        """Return what a comment draws; what cannot be read of it is said to be unread."""
        sheet = Sheet(self.pdf, self.effort, box, white_only=_is_icon(kind, box))
        try:
            stream = look(item)
            if stream is None:
                sheet.run(painting.stated(kind, item), pikepdf.Dictionary(), sheet.start(unit))
                sheet.n_text_bytes += kind in ("/Stamp", "/FreeText")
            elif (matrix := put(stream, box)) is not None:
                sheet.form(stream, matrix, sheet.start(), 0, pikepdf.Dictionary())
        except FAULTS:
            sheet.is_unread = True
        return sheet

    def _words(self, kind: str, item: pikepdf.Dictionary, box: Box) -> str:
        """Return the words that a comment shows; empty where they cannot be read."""
        stream = look(item)
        if stream is None:
            return str(item.get("/Contents", "")) if kind == "/FreeText" else ""
        matrix = put(stream, box)
        try:
            marks = form_marks(self.pdf, self.budget, stream, matrix) if matrix else []
        except (TooLong, *FAULTS):
            return ""
        return " ".join(mark.text.strip() for mark in marks if mark.kind == "text" and mark.text.strip())

    def _drawing(self, page: pikepdf.Page) -> Drawing | None:
        """Return what a page drew before, with its fields and the notes that were on it; nothing where that is cut."""
        there = [
            [(form, matrix) for item, form, matrix in looks(page, self.budget.layers, kinds)
             if self._written_at(item) <= self.after]
            for kinds in (("/Widget",), NOTES)
        ]  # fmt: skip
        try:
            drawing, is_cut = draw(self.pdf, page, self.budget, *there)
        except (TooLong, *FAULTS):
            return None
        return None if is_cut else drawing


def _is_icon(kind: str, box: Box) -> bool:
    return kind in ICONS and max(box[2] - box[0], box[3] - box[1]) <= MOST_ICON_PT


def _touches(box: Box, drawing: Drawing | None, letters: Letters | None) -> bool:
    """Say whether words in a box may be read together with what the page shows there, or with what was not read."""
    if drawing is None or letters is None:
        return True
    left, below, right, above = box
    around = left - NEAR_PT, below - NEAR_PT, right + NEAR_PT, above + NEAR_PT
    pictures = (common(around, mark.box) for mark in drawing.marks if mark.kind == "image")
    return bool(letters.inside(around)) or letters.is_cut or any(a < c and b < d for a, b, c, d in pictures)


def _below(sheet: Sheet, hidden: Painted, drawing: Drawing | None, page: pikepdf.Page) -> tuple[str, str]:
    """Return what a comment hides, empty for nothing, and which words."""
    if not hidden.any():
        return "", ""
    if drawing is None:
        return "what lies below, which was not read", ""
    texts = (mark for mark in drawing.marks if mark.kind == "text")
    parts = [
        "".join(letter for letter, x, y in mark.letters if sheet.reaches(hidden, (x, y, x, y)))
        for mark in texts
        if sheet.reaches(hidden, mark.box)
    ]
    under = " ".join(part.strip() for part in parts if part.strip())
    if sum(letter.isalnum() for letter in under) >= LEAST_LETTERS:
        return "words", under
    unit = unit_pt(page)
    paper = MOST_GROUND * area_of(upright([unit * float(v) for v in page.mediabox]))
    drawn = [box for box in drawing.grounds if area_of(box) < paper or box == EVERYWHERE]
    drawn += [mark.box for mark in drawing.marks if mark.kind == "image"]
    return ("pictures or lines", "") if any(sheet.reaches(hidden, box) for box in drawn) else ("", "")
