"""What covers the text of a page, on documents that the test makes."""

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from forensix.forensics import claims
from forensix.metadata.pdf import reader as pdf

Draw = Callable[[Canvas], None]


def drawn(tmp_path: Path, *steps: Draw) -> Path:
    """Write a page of the words "Total 100.00 EUR" at (100, 700), then the steps."""
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    canvas.drawString(100, 700, "Total 100.00 EUR")
    for step in steps:
        step(canvas)
    canvas.save()
    return path


def box(x: float, width: float, white: bool = True, alpha: float = 1.0) -> Draw:
    def step(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.setFillColorRGB(*[1.0 if white else 0.0] * 3, alpha=alpha)
        canvas.rect(x, 695, width, 16, stroke=0, fill=1)
        canvas.restoreState()

    return step


def words(text: str, y: float = 700) -> Draw:
    return lambda canvas: canvas.drawString(100, y, text)


def in_form(step: Draw) -> Draw:
    def outer(canvas: Canvas) -> None:
        canvas.beginForm("over")
        step(canvas)
        canvas.endForm()
        canvas.doForm("over")

    return outer


def stroke(canvas: Canvas) -> None:
    canvas.saveState()
    canvas.setStrokeColorRGB(1, 1, 1)
    canvas.setLineWidth(16)
    canvas.line(95, 703, 215, 703)
    canvas.restoreState()


def picture(canvas: Canvas) -> None:
    canvas.drawImage(ImageReader(Image.new("RGB", (40, 10), "white")), 95, 695, 120, 16)


def covered(path: Path) -> list[dict[str, Any]]:
    return [fact.value for fact in pdf.read(str(path)).all("pdf.covered_text")]


def editing_claims(path: Path) -> list[tuple[str, str]]:
    return [(f.severity, f.claim.claim) for f in claims(pdf.read(str(path))) if f.claim.user_category == "editing"]


@pytest.mark.parametrize("cover", [box(95, 120), in_form(box(95, 120)), stroke], ids=["box", "form", "stroke"])
def test_what_is_painted_over_text_is_found_with_the_text_below(tmp_path: Path, cover: Draw) -> None:
    path = drawn(tmp_path, cover, words("Total 900.00 EUR"))
    (actual,) = covered(path)
    assert (actual["cover"], actual["under"], actual["over"]) == ("white", "Total 100.00 EUR", "Total 900.00 EUR")
    assert editing_claims(path) == [
        ("suspect", "A white box covers text, and other text is written on the box (page 1)")
    ]
    (claim,) = [f.claim for f in claims(pdf.read(str(path))) if f.severity == "suspect"]
    assert claim.value == ("below: Total 100.00 EUR; on top: Total 900.00 EUR",)


def test_other_words_on_a_box_of_another_colour(tmp_path: Path) -> None:
    path = drawn(tmp_path, box(95, 120, white=False), words("Total 900.00 EUR"))
    assert editing_claims(path) == [
        ("suspect", "A filled box covers text, and other text is written on the box (page 1)")
    ]


@pytest.mark.parametrize(("above", "n_covers"), [(["100.00"] * 3, 0), (["100.00", "900.00"], 1), (["100.000"], 1)])
def test_words_that_are_printed_again_for_a_heavier_print_are_no_others(
    above: list[str], n_covers: int, tmp_path: Path
) -> None:
    start = 100 + stringWidth("Total ", "Helvetica", 12)

    def write(canvas: Canvas) -> None:
        for text in above:
            canvas.drawString(start, 700, text)

    assert len(covered(drawn(tmp_path, box(128, 44, white=False), write))) == n_covers


def test_a_stamp_that_is_drawn_again_with_its_ground_is_no_change(tmp_path: Path) -> None:
    """Of words that were drawn twice below and once on top, or letter by letter on top, each is still read."""
    start = 100 + stringWidth("Total ", "Helvetica", 12)

    def letter_by_letter(canvas: Canvas) -> None:
        at = start
        for letter in "100.00":
            canvas.drawString(at, 700, letter)
            at += stringWidth(letter, "Helvetica", 12)

    twice = words("Total 100.00 EUR")
    assert covered(drawn(tmp_path, twice, box(95, 120, white=False), twice)) == []
    assert covered(drawn(tmp_path, box(128, 38, white=False), letter_by_letter)) == []
    assert len(covered(drawn(tmp_path, twice, box(95, 120), words("Total 10.00 EUR")))) == 1


def tinted(grey: float, *, x: float, width: float) -> Draw:
    def step(canvas: Canvas) -> None:
        canvas.saveState()
        canvas.setFillGray(grey)
        canvas.rect(x, 590, width, 26, stroke=0, fill=1)
        canvas.restoreState()

    return step


@pytest.mark.parametrize(
    ("grey", "claim"),
    [
        (0.92, ("suspect", "A box of the colour of what it lies on hides text (page 1)")),
        (0.3, ("benign", "A filled box covers text (page 1)")),
    ],
)
def test_a_box_in_the_colour_of_its_ground_leaves_no_trace(tmp_path: Path, grey: float, claim: tuple[str, str]) -> None:
    row = tinted(0.91, x=60, width=400)
    path = drawn(tmp_path, row, words("Deposit 100.00 EUR", y=600), tinted(grey, x=95, width=180))
    assert editing_claims(path) == [claim]
    remarks = [f.remark for f in claims(pdf.read(str(path))) if f.claim.claim == claim[1]]
    assert remarks == (["words lie below a box and can still be copied (page 1)"] if claim[0] == "benign" else [""])


@pytest.mark.parametrize("font", ["Helvetica", "Helvetica-Bold", "Times-Roman", "Times-BoldItalic", "Courier"])
def test_a_box_beside_a_line_in_a_standard_font_covers_none_of_it(font: str, tmp_path: Path) -> None:
    """Such a font states no widths. Taken for half an em each, narrow letters reached below what stands beside them."""
    line = "still filling it till illicit"

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, 12)
        canvas.drawString(100, 500, line)
        canvas.setFillGray(1)
        canvas.rect(100 + canvas.stringWidth(line, font, 12) + 1, 490, 200, 30, stroke=0, fill=1)

    assert covered(drawn(tmp_path, draw)) == []


def test_only_the_letters_below_the_box_are_told(tmp_path: Path) -> None:
    path = drawn(tmp_path, box(132, 40, white=False))
    assert [(actual["cover"], actual["under"]) for actual in covered(path)] == [("filled", "100.00")]
    assert editing_claims(path) == [("benign", "A filled box covers text (page 1)")]


def test_a_picture_over_text(tmp_path: Path) -> None:
    path = drawn(tmp_path, picture)
    assert covered(path)[0]["under"] == "Total 100.00 EUR"
    assert editing_claims(path) == [("suspect", "A picture covers text (page 1)")]


@pytest.mark.parametrize(
    "step",
    [box(95, 120, alpha=0.4), box(300, 120), lambda canvas: (box(95, 120)(canvas), words("Total 100.00 EUR")(canvas))],
    ids=["highlighter", "elsewhere", "written again"],
)
def test_what_hides_nothing_is_not_told(tmp_path: Path, step: Draw) -> None:
    path = drawn(tmp_path, step)
    assert not covered(path) and not editing_claims(path)


@pytest.mark.parametrize(
    ("annotation", "claim"),
    [
        (
            Dictionary(Subtype=Name.FreeText, C=Array([1, 1, 1]), Contents="900.00"),
            ("suspect", "A white box covers text, and other text is written on the box (page 1)"),
        ),
        (Dictionary(Subtype=Name.Square, IC=Array([0, 0, 0])), ("benign", "A filled box covers text (page 1)")),
        (Dictionary(Subtype=Name.Redact), ("benign", "Words are marked for redaction but still there (page 1)")),
        (Dictionary(Subtype=Name.FreeText, C=Array([1, 1, 1]), F=2), None),
        (Dictionary(Subtype=Name.Highlight, C=Array([1, 1, 0])), None),
    ],
    ids=["note", "square", "redaction", "hidden", "highlight"],
)
def test_notes_over_text(tmp_path: Path, annotation: Dictionary, claim: tuple[str, str] | None) -> None:
    path = drawn(tmp_path)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        annotation.Rect = Array([130, 695, 175, 712])
        document.pages[0].obj.Annots = Array([document.make_indirect(annotation)])
        document.save(path)
    assert editing_claims(path) == ([claim] if claim else [])


@pytest.mark.parametrize(
    ("ground", "matrix", "flags", "expected"),
    [
        (b"1 g 0 0 90 34 re f EMC BT ET %", (1, 0, 0, 1), 0, ["A form field without words covers text (page 1)"]),
        (b"1 g", (1, 0, 0, 1), 0, ["A white box covers text, and other text is written on the box (page 1)"]),
        (b"1 0 0 rg", (0, 1, -1, 0), 0, ["A filled box covers text, and other text is written on the box (page 1)"]),
        (b"1 g", (1, 0, 0, 1), 2, []),
    ],
    ids=["empty", "field", "turned", "hidden"],
)
def test_a_form_field_over_text(
    tmp_path: Path, ground: bytes, matrix: tuple[int, ...], flags: int, expected: list[str]
) -> None:
    path = drawn(tmp_path)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        look = Stream(document, b"/Tx BMC " + ground + b" 0 0 90 34 re f BT 0 g /F1 12 Tf 20 12 Td (900.00) Tj ET EMC")
        look.BBox, look.Matrix = Array([0, 0, 90, 34]), Array([*matrix, 0, 0])
        look.Resources = document.pages[0].obj.Resources
        field = Dictionary(
            Subtype=Name.Widget, FT=Name.Tx, T="amount", Rect=Array([130, 695, 172, 712]), F=flags,
            AP=Dictionary(N=document.make_indirect(look)),
        )  # fmt: skip
        fields = Array([document.make_indirect(field)])
        document.pages[0].obj.Annots, document.Root.AcroForm = fields, Dictionary(Fields=fields)
        document.save(path)
    assert [claim for _, claim in editing_claims(path)] == expected
    assert [place["under"] for place in covered(path)] == ["100.00"] * len(expected)


def test_letters_of_a_composite_font_are_read_by_its_table(tmp_path: Path) -> None:
    path = drawn(tmp_path)
    table = b"1 beginbfrange <0001> <000a> <0030> endbfrange 1 beginbfchar <0020> <20ac> endbfchar"
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        inner = Dictionary(Type=Name.Font, Subtype=Name.CIDFontType2, DW=500, W=Array([1, 10, 600]))
        font = Dictionary(Type=Name.Font, Subtype=Name.Type0, DescendantFonts=Array([inner]))
        font.ToUnicode = Stream(document, table)
        page = document.pages[0]
        page.obj.Resources.Font.T = document.make_indirect(font)
        # Four figures of 6 points each from x = 100 on, then the box over the last two and the sign behind them.
        content = b"BT /T 10 Tf 100 500 Td <00020003000400050020> Tj ET 0 g 112 495 40 16 re f"
        page.contents_add(Stream(document, content))
        document.save(path)
    assert [actual["under"] for actual in covered(path)] == ["34\u20ac"]


def test_fonts_without_end_are_read_within_bounds(tmp_path: Path) -> None:
    path = drawn(tmp_path)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        page = document.pages[0]
        widths = document.make_indirect(Array([1, Array([600] * 20_000)]))
        font = Dictionary(Type=Name.Font, Subtype=Name.Type0, DescendantFonts=Array([Dictionary(W=widths)]))
        font.ToUnicode = Stream(document, b"1 beginbfrange <0001> <ffff> <0030> endbfrange " * 20_000)
        page.obj.Resources.Font = Dictionary(T=font)
        page.contents_add(Stream(document, b"/T 10 Tf " * 20_000 + b"0 g 95 695 120 16 re f"))
        document.save(path)
    begun = time.process_time()
    assert covered(path) and time.process_time() - begun < 10


def test_a_form_that_draws_itself_ends(tmp_path: Path) -> None:
    path = drawn(tmp_path)
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        form = Stream(document, b"/F Do " * 40 + b"0 g 112 495 40 16 re f", Subtype=Name.Form)
        form.Resources = Dictionary(XObject=Dictionary(F=form))
        page = document.pages[0]
        page.obj.Resources.XObject = Dictionary(F=form)
        page.contents_add(Stream(document, b"/F Do"))
        document.save(path)
    facts = pdf.read(str(path))
    assert facts.get("pdf.text_pages") == 1


def test_what_is_laid_over_a_scan_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    buffer = io.BytesIO()
    Image.effect_noise((200, 280), 40).save(buffer, "JPEG")
    canvas = Canvas(str(path), pagesize=(595, 842))
    canvas.drawImage(ImageReader(buffer), 0, 0, 595, 842)
    plain = path.with_name("plain.pdf")
    box(95, 120)(canvas)
    words("Total 900.00 EUR")(canvas)
    canvas.save()
    assert editing_claims(path) == [("benign", "Something is laid over a picture that fills the page (page 1)")]
    canvas = Canvas(str(plain), pagesize=(595, 842))
    canvas.drawImage(ImageReader(buffer), 0, 0, 595, 842)
    words("Total 900.00 EUR")(canvas)
    canvas.save()
    assert editing_claims(plain) == []
