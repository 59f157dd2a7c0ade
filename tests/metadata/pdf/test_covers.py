"""Covers of other kinds than a rectangle of the page: drawings of annotations, and paths that are nearly rectangles."""

from pathlib import Path

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from reportlab.pdfgen.canvas import Canvas

from forensix.forensics import claims
from forensix.metadata.pdf import reader as pdf
from tests.metadata.pdf.test_facts import appended

BOX = b"1 g 0 0 60 16 re f"
AMOUNT = b" 0 g BT /F 11 Tf 4 4 Td (900.00) Tj ET"
OTHER_WORDS = "A white box covers text, and other text is written on the box (page 1)"
NO_WORDS = "A white box hides text (page 1)"
SHAPE = "A white shape hides text (page 1)"


def statement(path: Path) -> Path:
    canvas = Canvas(str(path))
    canvas.drawString(100, 700, "Total 100.00 EUR")
    canvas.save()
    return path


def painted_over(path: Path, producer: str, *, creator: str = "") -> None:
    canvas = Canvas(str(path))
    canvas.setProducer(producer)
    canvas.setCreator(creator)
    canvas.drawString(100, 700, "Total 100.00 EUR")
    canvas.setFillGray(1)
    canvas.rect(90, 690, 300, 30, stroke=0, fill=1)
    canvas.setFillGray(0)
    canvas.drawString(100, 704, "Total 900.00 EUR")
    canvas.save()


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


@pytest.mark.parametrize("kind", ["FreeText", "Stamp", "Square", "Circle", "Ink", "Highlight"])
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
        ("Highlight", b"/M gs " + BOX, 0),
        ("Text", BOX, 0),  # an icon
    ],
)
def test_notes_that_cover_nothing(tmp_path: Path, kind: str, content: bytes, flags: int) -> None:
    assert told(noted(tmp_path, kind, content, F=flags)) == []


def painted(tmp_path: Path, path: bytes, **states: Dictionary) -> list[str]:
    with pikepdf.open(statement(tmp_path / "a.pdf")) as document:
        page = document.pages[0]
        page.obj.Resources.ExtGState = Dictionary({f"/{name}": state for name, state in states.items()})
        page.contents_add(b"q 1 g " + path + b" Q")
        document.save(tmp_path / "b.pdf")
    return told(tmp_path / "b.pdf")


ROUNDED = (
    b"130 696 m 186 696 l 188 696 188 698 188 698 c 188 710 l 188 712 186 712 186 712 c "
    b"130 712 l 128 712 128 710 128 710 c 128 698 l 128 696 130 696 130 696 c "
)
SLANTED = b"128 696 m 188 696.4 l 188.2 712 l 128.3 711.8 l h "
ARROW = b"128 696 m 188 696 l 190 704 l 188 712 l 128 712 l 126 704 l h "
DIAMOND = b"128 704 m 158 690 l 188 704 l 158 718 l h "
FRAME = b"126 690 m 198 690 l 198 718 l 126 718 l h 132 694 m 192 694 l 192 714 l 132 714 l h "


ELLIPSE = (
    b"124 704 m 124 714 140 722 158 722 c 176 722 192 714 192 704 c "  # the upper half
    b"192 694 176 686 158 686 c 140 686 124 694 124 704 c "
)
RING = ELLIPSE + (
    b"127 704 m 127 713 142 719 158 719 c 174 719 189 713 189 704 c "
    b"189 695 174 689 158 689 c 142 689 127 695 127 704 c "
)
BENT = b"1 G 14 w 128 702 m 150 705 l 168 703 l 190 704 l "
WAVE = b"1 G 14 w 128 704 m 150 708 168 700 190 704 c "
PEN = b"1 G 14 w 128 704 m " + b"".join(b"%.1f %d l " % (128 + k / 2, 703 + k % 3) for k in range(124))
MANY = b"".join(b"%d 500 m %d 505 l %d 500 l h " % (k, k + 3, k + 6) for k in range(150))
TURNED = b"q 0.999 0.045 -0.045 0.999 130 694 cm 0 0 62 16 re f Q "


@pytest.mark.parametrize(
    "path",
    [
        ROUNDED + b"f",
        SLANTED + b"f",
        ARROW + b"f",
        DIAMOND + b"f",
        ELLIPSE + b"f",
        ELLIPSE + b"h 300 300 m 320 330 l 340 300 l f",
        BENT + b"S",
        WAVE + b"S",
        PEN + b"S",
        MANY + ELLIPSE + b"f",
        TURNED,
    ],
)
def test_a_shape_that_leaves_nothing_to_see_covers(tmp_path: Path, path: bytes) -> None:
    assert painted(tmp_path, path) == [SHAPE]
    words = b" 0 g BT /F1 11 Tf 134 700 Td (900.00) Tj ET"
    assert painted(tmp_path, path + words) == [OTHER_WORDS.replace("box", "shape")]
    assert "0.0" in pdf.read(str(tmp_path / "b.pdf")).get("pdf.covered_text")["under"]


THIN = BENT.replace(b"14", b"1")


@pytest.mark.parametrize(
    "path", [FRAME + b"f*", ROUNDED + b"S", ROUNDED + b"n", RING + b"f*", ELLIPSE + b"S", THIN + b"S"]
)
def test_paths_that_leave_words_to_read_cover_nothing(tmp_path: Path, path: bytes) -> None:
    assert painted(tmp_path, path) == []


RECTANGLE = b"128 696 60 16 re "
AROUND = b"126 690 72 28 re 132 694 60 20 re "


@pytest.mark.parametrize("state", [Dictionary(ca=0.3), Dictionary(BM=Name.Multiply), Dictionary(ca=0.3, CA=0.3)])
def test_a_state_that_does_not_speak_of_opacity_leaves_it(tmp_path: Path, state: Dictionary) -> None:
    assert painted(tmp_path, b"/A gs /B gs " + RECTANGLE + b"f", A=state, B=Dictionary(SA=True)) == []
    assert painted(tmp_path, b"/A gs /B gs " + RECTANGLE + b"f", A=state, B=Dictionary(ca=0.8)) == []
    back = Dictionary(ca=1, CA=1, BM=Name.Normal)
    assert painted(tmp_path, b"/A gs /B gs " + RECTANGLE + b"f", A=state, B=back) == [NO_WORDS]
    one_of = Dictionary(ca=1, CA=1, BM=Array([Name.Normal, Name.Multiply]))
    assert painted(tmp_path, b"/A gs /B gs " + RECTANGLE + b"f", A=state, B=one_of) == [NO_WORDS]
    assert painted(tmp_path, b"q /A gs Q " + RECTANGLE + b"f", A=state) == [NO_WORDS]


@pytest.mark.parametrize(
    "path",
    [
        b"/Pattern cs /P scn 1 1 1 rg " + RECTANGLE + b"f",
        b"/Pattern cs /P scn 0 0 0 0 k " + RECTANGLE + b"f",
        b"/Pattern cs /P scn 1 g " + RECTANGLE + b"f",
        b"/Pattern CS /P SCN 1 1 1 RG 16 w 128 704 m 188 704 l S",
    ],
)
def test_operators_of_the_device_colours_leave_the_space_that_was_set(tmp_path: Path, path: bytes) -> None:
    assert painted(tmp_path, path) == [NO_WORDS]


@pytest.mark.parametrize("operator", [b"f*", b"B*", b"b*"])
def test_a_frame_of_two_rectangles_covers_nothing(tmp_path: Path, operator: bytes) -> None:
    assert painted(tmp_path, AROUND + operator) == []
    assert painted(tmp_path, RECTANGLE * 2 + operator) == []


@pytest.mark.parametrize(
    "path",
    [
        AROUND + b"f",
        RECTANGLE + b"f*",
        RECTANGLE * 3 + b"f*",
        RECTANGLE + b"300 696 60 16 re f*",
        RECTANGLE + b"180 698 4 4 re f*",  # a small hole
        AROUND + RECTANGLE + b"f*",  # a box within the frame
    ],
)
def test_rectangles_of_one_path_that_do_cover(tmp_path: Path, path: bytes) -> None:
    assert painted(tmp_path, path) == [NO_WORDS]


INNER = b"132 694 m 192 694 l 192 714 l 132 714 l h "
BACKWARDS = b"132 694 m 132 714 l 192 714 l 192 694 l h "
OUTER = b"126 690 m 198 690 l 198 718 l 126 718 l h "


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (OUTER + INNER + b"f", [NO_WORDS]),
        (OUTER + INNER + b"f*", []),
        (OUTER + BACKWARDS + b"f", []),
        (b"126 690 72 28 re 132 714 60 -20 re f", []),
        (b"126 690 72 28 re " + BACKWARDS + b"f", []),
        (INNER + b"300 300 m 340 300 l 340 320 l 300 320 l h f", [NO_WORDS]),
        (BACKWARDS + b"f", [NO_WORDS]),
        (OUTER + b"126 704 m 158 692 l 192 704 l 158 716 l h f", [SHAPE]),
        (OUTER + b"126 704 m 158 692 l 192 704 l 158 716 l h f*", []),  # a hole of another shape
    ],
)
def test_parts_of_one_path_cover_by_the_rule_of_its_winding(tmp_path: Path, path: bytes, expected: list[str]) -> None:
    assert painted(tmp_path, path) == expected


@pytest.mark.parametrize(("mode", "expected"), [(0, [NO_WORDS]), (7, [])])
def test_what_is_cut_to_the_shape_of_words_covers_no_box(tmp_path: Path, mode: int, expected: list[str]) -> None:
    words = b"q BT %d Tr /F1 12 Tf 300 300 Td (A) Tj ET " % mode
    assert painted(tmp_path, words + RECTANGLE + b"f Q") == expected
    assert painted(tmp_path, words + b"Q " + RECTANGLE + b"f") == [NO_WORDS]


def with_form(tmp_path: Path, content: bytes, form: bytes, **entries: object) -> Path:
    """Let a page draw a form by the name F; the state A is see-through."""
    with pikepdf.open(statement(tmp_path / "a.pdf")) as document:
        page = document.pages[0]
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        item = Stream(document, form, Type=Name.XObject, Subtype=Name.Form, BBox=Array([0, 0, 612, 792]))
        item.Resources = Dictionary(Font=Dictionary(F=font), ExtGState=Dictionary(B=Dictionary(ca=1)))
        item.update({f"/{key}": value for key, value in entries.items()})
        page.obj.Resources.update(
            {
                "/XObject": Dictionary(F=item),
                "/ExtGState": Dictionary(A=Dictionary(ca=0.3), Z=Dictionary(ca=0)),
            }
        )
        page.contents_add(b"q " + content + b" Q")
        document.save(tmp_path / "b.pdf")
    return tmp_path / "b.pdf"


GROUP = Dictionary(S=Name.Transparency)


@pytest.mark.parametrize(
    ("content", "form", "entries", "expected"),
    [
        (b"/F Do", b"1 g " + RECTANGLE + b"f", {}, [NO_WORDS]),
        (b"1 g /F Do", RECTANGLE + b"f", {}, [NO_WORDS]),
        (b"0 0 20 20 re W n /F Do", b"1 g " + RECTANGLE + b"f", {}, []),
        (b"/F Do", b"1 g " + RECTANGLE + b"f", {"BBox": Array([20, 20, 0, 0])}, []),
        (b"/F Do", b"1 g " + RECTANGLE + b"f", {"BBox": Array([Name.A, 0, 1])}, [NO_WORDS]),
        (b"/F Do", b"1 g 0 0 612 792 re f", {"BBox": Array([188, 712, 128, 696])}, [NO_WORDS]),
        (b"/F Do", b"1 g 0 0 60 16 re f", {"BBox": Array([0, 0, 60, 16]), "Matrix": Array([1, 0, 0, 1, 128, 696])},
         [NO_WORDS]),
        (b"/A gs /F Do", b"1 g " + RECTANGLE + b"f", {}, []),
        (b"/A gs /F Do", b"/B gs 1 g " + RECTANGLE + b"f", {}, [NO_WORDS]),
        (b"/A gs /F Do", b"/B gs 1 g " + RECTANGLE + b"f", {"Group": GROUP}, []),
    ],
    ids=["plain", "colour", "clip", "cut off", "no box", "cut to size", "placed", "state", "state of its own", "group"],
)  # fmt: skip
def test_a_form_begins_with_what_its_page_has_set(
    tmp_path: Path, content: bytes, form: bytes, entries: dict[str, object], expected: list[str]
) -> None:
    assert told(with_form(tmp_path, content, form, **entries)) == expected


@pytest.mark.parametrize(
    ("content", "why"), [(b"1 g /F Do", ["white"]), (b"/Z gs /F Do", ["transparent"]), (b"/F Do", [])]
)
def test_words_of_a_form_have_the_colour_and_the_opacity_of_the_page(
    tmp_path: Path, content: bytes, why: list[str]
) -> None:
    path = with_form(tmp_path, content, b"BT /F 12 Tf 100 500 Td (Secret amount 9000 EUR) Tj ET")
    assert [fact.value["why"] for fact in pdf.read(str(path)).all("pdf.unseen_text")] == why


def test_the_drawing_of_a_note_is_cut_to_its_box(tmp_path: Path) -> None:
    cut = noted(tmp_path, "Stamp", b"1 g 0 0 6 16 re f 20 20 600 16 re f -60 0 60 16 re f")
    assert [fact.value["box_pt"] for fact in pdf.read(str(cut)).all("pdf.covered_text")] == []
    assert told(noted(tmp_path, "Stamp", b"1 g -100 -100 300 200 re f")) == [NO_WORDS]


@pytest.mark.parametrize(
    ("creator", "under", "is_header"),
    [
        ("HeadlessChrome/150.0.0.0", "Item {} for 20.00 EUR", True),
        ("HeadlessChrome/150.0.0.0", "Item for 20.00 EUR", False),  # the same words are hidden on each page
        ("Writer", "Item {} for 20.00 EUR", False),
    ],
)
def test_a_header_that_a_browser_prints_on_each_page(tmp_path: Path, creator: str, under: str, is_header: bool) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.setCreator(creator)
    canvas.setProducer(creator)
    for number in range(3):
        canvas.drawString(100, 700, under.format(number))
        canvas.setFillGray(1)
        canvas.rect(90, 690, 300, 30, stroke=0, fill=1)
        canvas.setFillGray(0)
        canvas.drawString(100, 704, "News of the day")
        canvas.showPage()
    canvas.save()
    found = claims(pdf.read(str(tmp_path / "a.pdf")))
    covers = [f.claim.claim for f in found if "covers text" in f.claim.claim]
    assert [c for c in covers if c.startswith("A white box")] == told(tmp_path / "a.pdf")
    header = "A box that comes again on further pages covers text (pages 1 to 3)"
    assert covers == [header if is_header else OTHER_WORDS.replace("page 1", "pages 1 to 3")]


def test_what_powerpoint_drew_itself_over_words_is_a_part_of_a_slide(tmp_path: Path) -> None:
    painted_over(tmp_path / "a.pdf", "Microsoft® PowerPoint® 2016")
    header, mark, rest = (tmp_path / "a.pdf").read_bytes().split(b"\n", 2)
    own = b"\n".join((header, b"%\xb5\xb5\xb5\xb5", b"%".ljust(len(mark) - 6), rest))
    (tmp_path / "own.pdf").write_bytes(own)
    (tmp_path / "more.pdf").write_bytes(appended(own, {2: b"<< /Some /Change >>"}))
    with pikepdf.open(tmp_path / "own.pdf") as document:
        document.save(tmp_path / "anew.pdf")
    assert told(tmp_path / "own.pdf") == []
    slide = "A part of a slide covers text (page 1)"
    assert slide in [f.claim.claim for f in claims(pdf.read(str(tmp_path / "own.pdf")))]
    assert all(OTHER_WORDS in told(tmp_path / other) for other in ("a.pdf", "anew.pdf", "more.pdf"))


def test_one_place_of_a_printed_web_page_is_told_for_itself(tmp_path: Path) -> None:
    painted_over(tmp_path / "a.pdf", "Skia/PDF m150", creator="HeadlessChrome/150.0.0.0")
    assert told(tmp_path / "a.pdf") == [OTHER_WORDS]


@pytest.mark.parametrize(("angle", "expected"), [(0, [NO_WORDS]), (3, [NO_WORDS]), (90, [NO_WORDS]), (45, [])])
def test_a_watermark_below_the_ground_of_a_table_is_no_hidden_text(
    tmp_path: Path, angle: float, expected: list[str]
) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    canvas.translate(300, 400)
    canvas.saveState()
    canvas.rotate(angle)
    canvas.drawCentredString(0, 0, "DRAFT OF MAY")
    canvas.restoreState()
    canvas.setFillGray(1)
    canvas.rect(-60, -60, 120, 120, stroke=0, fill=1)
    canvas.save()
    assert told(tmp_path / "a.pdf") == expected


@pytest.mark.parametrize("unit", [0.02, 0.5, 1, 10, 100])
def test_covers_are_measured_in_points_whatever_the_unit_of_the_page(tmp_path: Path, unit: float) -> None:
    for made, expected in (
        (lambda: noted(tmp_path, "Stamp", BOX + AMOUNT), OTHER_WORDS),
        (lambda: with_form(tmp_path, b"/F Do", b"1 g " + RECTANGLE + b"f"), NO_WORDS),
    ):
        with pikepdf.open(made(), allow_overwriting_input=True) as document:
            page = document.pages[0]
            page.MediaBox = Array([float(v) / unit for v in page.mediabox])
            page.obj.UserUnit = unit
            for note in page.obj.get("/Annots", []):
                note.Rect = Array([float(v) / unit for v in note.Rect])
            page.contents_add(b"q %f 0 0 %f 0 0 cm" % (1 / unit, 1 / unit), prepend=True)
            document.save(tmp_path / "c.pdf")
        assert told(tmp_path / "c.pdf") == [expected]
        (cover,) = pdf.read(str(tmp_path / "c.pdf")).all("pdf.covered_text")
        assert np.abs(np.array(cover.value["box_pt"]) * unit - (128, 696, 188, 712)).max() <= 0.05 * max(unit, 1)
