"""The drawing of a page of a PDF, with the notes and the form fields on it, or of a form alone."""

from collections.abc import Iterable

import pikepdf

from forensix.metadata.pdf import paint
from forensix.metadata.pdf.annotations import unit_pt
from forensix.metadata.pdf.geometry import Matrix
from forensix.metadata.pdf.marks import Budget, Drawing, Mark
from forensix.metadata.pdf.operators import Reader


def draw(
    pdf: pikepdf.Pdf,
    page: pikepdf.Page,
    budget: Budget,
    forms: Iterable[tuple[pikepdf.Stream, Matrix]] = (),
    notes: Iterable[tuple[pikepdf.Stream, Matrix]] = (),
) -> tuple[Drawing, bool]:
    """Return what a page draws, then its ``notes``, and then what form fields (``forms``) with words in them do.

    Notes and fields stand where the matrix of each puts them. The second value says whether the page draws more than
    is looked at, so that something was left out.

    Raises
    ------
    TooLong
        The budget is spent.
    """
    reader = Reader(pdf, budget)
    contents = page.obj.get("/Contents")
    streams = list(contents)[:200] if isinstance(contents, pikepdf.Array) else [contents]
    unit = unit_pt(page)
    begin = paint.START | {"matrix": (unit, 0.0, 0.0, unit, 0.0, 0.0)}
    reader.run(reader.inflated(streams), page.obj.get("/Resources") or page.resources, begin, 0)
    reader.drawing.n_own = len(reader.drawing.marks)
    for note, matrix in notes:
        reader.run(reader.inflated([note]), note.get("/Resources"), paint.within(paint.START, note, matrix), 1)
    for form, matrix in forms:
        n_marks = len(reader.drawing.marks)
        reader.run(reader.inflated([form]), form.get("/Resources"), paint.within(paint.START, form, matrix), 1)
        written = [mark for mark in reader.drawing.marks[n_marks:] if mark.kind == "text"]
        reader.drawing.forms.append(written)
        # Empty fields lie over lines and hints of printed forms.
        if not written:
            reader.drawing.empty += reader.drawing.marks[n_marks:]
            del reader.drawing.marks[n_marks:]
    spent = min(reader.n_operators, reader.n_letters, reader.n_boxes, reader.n_texts) < 0
    return reader.drawing, spent or reader.is_cut


def form_marks(pdf: pikepdf.Pdf, budget: Budget, form: pikepdf.Stream, matrix: Matrix) -> list[Mark]:
    """Return what a form draws by itself, where a matrix puts it.

    Raises
    ------
    TooLong
        The budget is spent.
    """
    reader = Reader(pdf, budget)
    reader.run(reader.inflated([form]), form.get("/Resources"), paint.within(paint.START, form, matrix), 1)
    return reader.drawing.marks
