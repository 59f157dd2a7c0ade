"""Covers of other kinds than a rectangle of the page: drawings of annotations, and paths that are nearly rectangles."""

from pathlib import Path

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from reportlab.pdfgen.canvas import Canvas

from forensix.forensics import claims
from forensix.metadata.pdf import reader as pdf

BOX = b"1 g 0 0 60 16 re f"
AMOUNT = b" 0 g BT /F 11 Tf 4 4 Td (900.00) Tj ET"
OTHER_WORDS = "A white box covers text, and other text is written on the box (page 1)"
NO_WORDS = "A white box hides text (page 1)"


def statement(path: Path) -> Path:
    canvas = Canvas(str(path))
    canvas.drawString(100, 700, "Total 100.00 EUR")
    canvas.save()
    return path


def told(path: Path) -> list[str]:
    return [f.claim.claim for f in claims(pdf.read(str(path))) if f.severity == "suspect"]


def noted(tmp_path: Path, kind: str, content: bytes, **entries: object) -> Path:
    """Lay an annotation with a drawing of its own over the amount."""
    with pikepdf.open(statement(tmp_path / "a.pdf")) as document:
        look = Stream(document, content)
        look.update({"/Type": Name.XObject, "/Subtype": Name.Form, "/BBox": Array([0, 0, 60, 16])})
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        picture = Stream(document, bytes([255]), Width=1, Height=1, BitsPerComponent=8, ColorSpace=Name.DeviceGray)
        picture.update({"/Subtype": Name.Image})
        look.Resources = Dictionary(
            Font=Dictionary(F=font),
            XObject=Dictionary(I=picture),
            ExtGState=Dictionary(M=Dictionary(BM=Name.Multiply)),
        )
        note = Dictionary(Type=Name.Annot, Subtype=Name(f"/{kind}"), Rect=Array([128, 696, 188, 712]))
        note.AP = Dictionary(N=document.make_indirect(look))
        note.update({f"/{key}": value for key, value in entries.items()})
        document.pages[0].obj.Annots = Array([document.make_indirect(note)])
        document.save(tmp_path / "b.pdf")
    return tmp_path / "b.pdf"


@pytest.mark.parametrize("kind", ["FreeText", "Stamp", "Square"])
def test_a_note_whose_drawing_covers_an_amount(tmp_path: Path, kind: str) -> None:
    assert told(noted(tmp_path, kind, BOX + AMOUNT)) == [OTHER_WORDS]
    assert told(noted(tmp_path, kind, b"q 60 0 0 16 0 0 cm /I Do Q")) == ["A picture covers text (page 1)"]


def test_what_a_note_draws_goes_before_the_colour_that_it_states(tmp_path: Path) -> None:
    assert told(noted(tmp_path, "FreeText", AMOUNT, C=Array([1, 1, 1]), Contents="900.00")) == []


@pytest.mark.parametrize(
    ("kind", "content", "flags"),
    [
        ("Stamp", BOX + AMOUNT, 2),  # hidden
        ("Stamp", b"/M gs " + BOX, 0),  # a highlighter
        ("Text", BOX, 0),  # an icon
        ("Highlight", BOX, 0),
    ],
)
def test_notes_that_cover_nothing(tmp_path: Path, kind: str, content: bytes, flags: int) -> None:
    assert told(noted(tmp_path, kind, content, F=flags)) == []


def painted(tmp_path: Path, path: bytes) -> list[str]:
    with pikepdf.open(statement(tmp_path / "a.pdf")) as document:
        document.pages[0].contents_add(b"q 1 g " + path + b" Q")
        document.save(tmp_path / "b.pdf")
    return told(tmp_path / "b.pdf")


ROUNDED = (
    b"130 696 m 186 696 l 188 696 188 698 188 698 c 188 710 l 188 712 186 712 186 712 c "
    b"130 712 l 128 712 128 710 128 710 c 128 698 l 128 696 130 696 130 696 c "
)
SLANTED = b"128 696 m 188 696.4 l 188.2 712 l 128.3 711.8 l h "
ARROW = b"128 696 m 188 696 l 190 704 l 188 712 l 128 712 l 126 704 l h "
DIAMOND = b"128 704 m 158 690 l 188 704 l 158 718 l h "
FRAME = b"120 690 m 196 690 l 196 718 l 120 718 l h 126 694 m 192 694 l 192 714 l 126 714 l h "


@pytest.mark.parametrize("path", [ROUNDED, SLANTED, ARROW])
def test_a_path_that_is_nearly_a_rectangle_covers(tmp_path: Path, path: bytes) -> None:
    assert painted(tmp_path, path + b"f") == [NO_WORDS]


@pytest.mark.parametrize("path", [DIAMOND + b"f", FRAME + b"f*", ROUNDED + b"S", ROUNDED + b"n"])
def test_paths_that_leave_words_to_read_cover_nothing(tmp_path: Path, path: bytes) -> None:
    assert painted(tmp_path, path) == []
