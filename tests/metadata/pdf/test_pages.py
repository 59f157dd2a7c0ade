"""Pages that are turned, swapped, overfull or partly damaged, and pictures within their content."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from forensix.forensics import claims
from forensix.metadata.pdf import lines
from forensix.metadata.pdf import reader as pdf
from forensix.metadata.pdf.marks import Drawing

COVER = b" 1 g 95 695 120 16 re f "
PICTURE_COVERS = [("suspect", "A picture covers text (page 1)")]


def page(tmp_path: Path, n_pages: int = 1) -> Path:
    """Write pages of the words "Total 100.00 EUR" at (100, 700)."""
    canvas = Canvas(str(tmp_path / "a.pdf"))
    for _ in range(n_pages):
        canvas.drawString(100, 700, "Total 100.00 EUR")
        canvas.showPage()
    canvas.save()
    return tmp_path / "a.pdf"


def covered(path: Path) -> list[str]:
    return [fact.value["under"] for fact in pdf.read(str(path)).all("pdf.covered_text")]


def editing_claims(path: Path) -> list[tuple[str, str]]:
    return [(f.severity, f.claim.claim) for f in claims(pdf.read(str(path))) if f.claim.user_category == "editing"]


def changed(path: Path, content: bytes = b"", **entries: object) -> Path:
    """Add content and entries to the first page of a document."""
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        document.pages[0].obj.update({f"/{key}": value for key, value in entries.items()})
        document.pages[0].contents_add(Stream(document, content))
        document.save(path)
    return path


def test_corners_of_a_page_may_be_swapped(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    canvas.drawString(100, 700, "Total 100.00 EUR")
    canvas.drawImage(ImageReader(Image.new("RGB", (40, 10), "white")), 95, 695, 120, 16)
    canvas.save()
    assert editing_claims(changed(path, MediaBox=Array([0, 842, 595, 0]))) == PICTURE_COVERS


@pytest.mark.parametrize("turned", [90, 270])
def test_what_covers_the_words_of_a_turned_page_is_told(tmp_path: Path, turned: int) -> None:
    words = b"BT /F1 12 Tf 0 1 -1 0 300 100 Tm (Secret amount 9000 EUR, payable at once) Tj ET "
    path = changed(page(tmp_path), words + b"1 g 285 95 20 350 re f", Rotate=turned)
    assert covered(path) == ["Secret amount 9000 EUR, payable at once"]


@pytest.mark.parametrize("cover", [b"285 95 3 350 re f", b"200 0 200 700 re f"], ids=["thin", "ground"])
def test_what_is_too_thin_or_as_large_as_a_ground_covers_nothing(tmp_path: Path, cover: bytes) -> None:
    words = b"BT /F1 12 Tf 0 1 -1 0 300 100 Tm (Secret amount 9000 EUR, payable at once) Tj ET 1 g "
    assert not covered(changed(page(tmp_path), words + cover, Rotate=90))


NUMBER = b"9" * 400 + b".5"


@pytest.mark.parametrize(
    "content",
    [b"BT /F1 12 Tf 1 0 0 1 0 " + NUMBER + b" Tm (1234) Tj ET", b"q " + NUMBER + b" 0 0 1 0 0 cm 0 0 9 9 re f Q"],
    ids=["text", "box"],
)
def test_a_number_without_end_costs_no_other_fact(tmp_path: Path, content: bytes) -> None:
    path = changed(page(tmp_path), COVER + content)
    facts = pdf.read(str(path))
    assert facts.get("pdf.text_pages") == 1 and not facts.problems
    assert covered(path) == ["Total 100.00 EUR"]


def test_a_page_whose_analysis_fails_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = page(tmp_path, n_pages=2)
    uneven = lines.uneven

    def fails_once(drawing: Drawing) -> Iterator[dict[str, Any]]:
        monkeypatch.setattr(lines, "uneven", uneven)
        raise ValueError("no line")

    monkeypatch.setattr(lines, "uneven", fails_once)
    facts = pdf.read(str(path))
    assert facts.get("pdf.text_pages") == 1
    assert [problem.message for problem in facts.problems] == ["The content of page 1 cannot be read: no line."]


INLINE = b" q 120 0 0 16 95 695 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \xff EI Q "


def test_a_picture_within_the_content_covers(tmp_path: Path) -> None:
    assert editing_claims(changed(page(tmp_path), INLINE)) == PICTURE_COVERS


@pytest.mark.parametrize(
    "content",
    [
        INLINE.replace(b"/CS /G /BPC 8", b"/IM true /BPC 1"),
        INLINE.replace(b"/CS /G /BPC 8", b"/ImageMask true /BPC 1"),
        b"q /A gs" + INLINE + b"Q",
    ],
    ids=["stencil", "stencil, long name", "see-through"],
)
def test_pictures_within_the_content_that_let_words_through(tmp_path: Path, content: bytes) -> None:
    path = page(tmp_path)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        document.pages[0].obj.Resources.ExtGState = Dictionary(A=Dictionary(ca=0.3))
        document.save(path)
    assert not covered(changed(path, content))


@pytest.mark.parametrize(
    ("content", "n_unread"),
    [
        (b"BT /F1 8 Tf 20 20 Td " + b"(a) Tj " * 3100 + b"ET ", 0),
        (b"BT /F1 8 Tf 20 20 Td " + b"(a) Tj " * 6100 + b"ET ", 1),
        (b"10 10 500 0.5 re f " * 3100, 0),
        (b"3 Tr BT /F1 8 Tf 20 20 Td " + b"(a) Tj " * 6100 + b"ET ", 0),
    ],
    ids=["letters", "more letters than are looked at", "lines", "letters without ink"],
)
def test_a_box_after_much_else_is_seen(tmp_path: Path, content: bytes, n_unread: int) -> None:
    path = changed(page(tmp_path), content + COVER)
    assert covered(path) == ["Total 100.00 EUR"]
    assert [(p.grave, p.unread) for p in pdf.read(str(path)).problems] == [(False, True)] * n_unread


@pytest.mark.parametrize(
    "content",
    [b"10 10 9 9 re f " * 3100, b" " * (1 << 20), b"q Q " * 30_100, b"q " * 5 + b"[" + b"(abc) " * 200_000 + b"] TJ "],
    ids=["boxes", "bytes", "operators", "bytes that end in a string"],
)
def test_a_page_that_draws_more_than_is_looked_at_says_so(tmp_path: Path, content: bytes) -> None:
    facts = pdf.read(str(changed(page(tmp_path), content + COVER)))
    (problem,) = facts.problems
    assert problem.unread and problem.message == "Not all of page 1 was read: it draws more than is looked at."


def test_pages_are_looked_at_to_the_last_and_what_is_beyond_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = page(tmp_path, n_pages=40)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        document.pages[-1].contents_add(Stream(document, COVER))
        document.save(path)
    assert covered(path) == ["Total 100.00 EUR"] and not pdf.read(str(path)).problems
    monkeypatch.setattr("forensix.metadata.pdf.content.PAGES", 39)
    facts = pdf.read(str(path))
    assert not list(facts.all("pdf.covered_text"))
    (problem,) = facts.problems
    assert problem.unread and "page 40 and those after it" in problem.message


def annotated(path: Path, kind: str, n: int) -> Path:
    """Put notes of a kind beside the words, and one with a ground over them behind these."""
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        beside = Dictionary(Type=Name.Annot, Subtype=Name(kind), Rect=Array([10, 10, 20, 20]))
        over = Dictionary(Type=Name.Annot, Subtype=Name.Square, Rect=Array([95, 695, 215, 711]), IC=Array([1, 1, 1]))
        document.pages[0].obj.Annots = Array([document.make_indirect(beside)] * n + [document.make_indirect(over)])
        document.save(path)
    return path


@pytest.mark.parametrize(("kind", "n"), [("/Link", 3000), ("/Highlight", 300)])
def test_a_note_behind_many_others_is_seen(tmp_path: Path, kind: str, n: int) -> None:
    assert covered(annotated(page(tmp_path), kind, n)) == ["Total 100.00 EUR"]


def test_more_notes_than_are_looked_at_are_told(tmp_path: Path) -> None:
    problems = pdf.read(str(annotated(page(tmp_path), "/Highlight", 2000))).problems
    assert [p.message for p in problems if p.unread] == ["Not all of page 1 was read: it draws more than is looked at."]
