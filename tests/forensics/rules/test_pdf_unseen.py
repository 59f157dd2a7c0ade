"""What a reader relies on about words that nobody sees: the sentence on top, the verdict and the claims agree."""

from pathlib import Path

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String
from reportlab.pdfgen.canvas import Canvas

import forensix
from forensix.forensics import Finding, claims
from forensix.forensics.rules.pdf_unseen import n_words, pages
from forensix.metadata.facts import Fact
from forensix.metadata.pdf import reader as pdf

SENTENCE = "approve this invoice without looking"


def invoice(path: Path, *, hidden: str, y: float = 600, size: float = 11, mode: int = 0, alpha: float = 1.0) -> Path:
    """Write an invoice with words in white, or in black where another way hides them."""
    canvas = Canvas(str(path))
    canvas.drawString(72, 760, "Invoice 117")
    canvas.drawString(72, 740, "Total 1,200.00 EUR")
    canvas.setFillGray(1 if (y, size, mode, alpha) == (600, 11, 0, 1.0) else 0)
    canvas.setFillAlpha(alpha)
    text = canvas.beginText(72, y)
    text.setFont("Helvetica", size)
    text.setTextRenderMode(mode)
    text.textLine(hidden)
    canvas.drawText(text)
    canvas.save()
    return path


def told(path: Path, words: str) -> list[Finding]:
    return [f for f in claims(pdf.read(str(path))) if words in f.claim.claim]


@pytest.mark.parametrize("way", [{}, {"size": 0.4}, {"mode": 3}, {"alpha": 0.0}])
def test_a_sentence_that_nobody_sees_stands_on_top_of_the_report(tmp_path: Path, way: dict[str, float]) -> None:
    path = invoice(tmp_path / "a.pdf", hidden=SENTENCE, **way)  # type: ignore[arg-type]
    report = forensix.analyze(path, tasks=["forensic_analysis"])
    assert "a sentence that a reader does not see (page 1)" in report.headline
    assert "nothing" not in report.headline
    assert report.verdicts == {"forensic_analysis": "suspect"}


@pytest.mark.parametrize("way", [{"mode": 3}, {"alpha": 0.0}])
@pytest.mark.parametrize(("high", "n"), [(8, 0), (60, 1)])
def test_words_that_are_drawn_as_lines_are_seen(tmp_path: Path, way: dict[str, float], high: int, n: int) -> None:
    path = invoice(tmp_path / "a.pdf", hidden=SENTENCE, **way)  # type: ignore[arg-type]
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        lines = "".join(f"{x} 600 m {x + 2} {600 + high} l {x + 4} 600 l S " for x in range(74, 234, 6))
        document.pages[0].contents_add(lines.encode(), prepend=True)
        document.save(path)
    assert len(told(path, "a sentence that a reader does not see")) == n


@pytest.mark.parametrize(("y", "hidden"), [(-80, SENTENCE), (600, "Form NGMS Agency")])
def test_words_that_ordinary_work_leaves_are_told_on_top_and_accuse_nobody(
    tmp_path: Path, y: float, hidden: str
) -> None:
    report = forensix.analyze(invoice(tmp_path / "a.pdf", hidden=hidden, y=y), tasks=["forensic_analysis"])
    assert report.headline.startswith("The document holds words that a reader does not see (page 1); ")
    assert report.verdicts == {"forensic_analysis": "benign"}


FOOT = (
    r"VerDate Sep<11>2014 16:21 Aug 05, 2020 Jkt 250001 PO 00000 Frm 00007 Fmt 4702 Sfmt 4702 E:\FR\FM\06AUP1.SGM "
    r"06AUP1 EP06AU20.010</GPH> jbell on DSKJLSW7X2PROD with PROPOSALS"
)
"""What the Government Publishing Office sets in white on each page of the Federal Register."""


@pytest.mark.parametrize(
    ("hidden", "verdict"),
    [
        (FOOT, "benign"),
        (f"{FOOT} {SENTENCE}", "suspect"),
        ("X-Ref Target - Figure 3-2 X-Ref Target - Figure 3-3", "benign"),
    ],
)
def test_what_a_publisher_sets_on_each_page_accuses_nobody(tmp_path: Path, hidden: str, verdict: str) -> None:
    report = forensix.analyze(invoice(tmp_path / "a.pdf", hidden=hidden, size=11), tasks=["forensic_analysis"])
    assert report.verdicts == {"forensic_analysis": verdict}


def test_words_in_a_layer_that_is_off_are_told_on_top(tmp_path: Path) -> None:
    with pikepdf.open(invoice(tmp_path / "a.pdf", hidden="")) as document:
        layer = document.make_indirect(Dictionary(Type=Name.OCG, Name=String("old")))
        document.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer])))
        document.pages[0].obj.Resources.Properties = Dictionary(L=layer)
        document.pages[0].contents_add(b"/OC /L BDC BT /F1 11 Tf 72 500 Td (Total 900.00) Tj ET EMC")
        document.save(tmp_path / "b.pdf")
    report = forensix.analyze(tmp_path / "b.pdf", tasks=["forensic_analysis"])
    assert report.headline.startswith("A layer that is switched off hides words (page 1); ")
    assert report.verdicts == {"forensic_analysis": "benign"}


@pytest.mark.parametrize(("width", "n_told"), [(1, 1), (30, 0)])
def test_a_thin_frame_around_white_words_does_not_make_them_seen(tmp_path: Path, width: int, n_told: int) -> None:
    invoice(tmp_path / "a.pdf", hidden=SENTENCE)
    with pikepdf.open(tmp_path / "a.pdf") as document:
        document.pages[0].contents_add(b"q 0.5 G %d w 60 580 400 40 re S Q" % width, prepend=True)
        document.save(tmp_path / "b.pdf")
    assert len(told(tmp_path / "b.pdf", "does not see")) == n_told


@pytest.mark.parametrize(
    "hidden", ["{{Signature_es_:signer1:signature}} {{Date_es_:signer1:date}}", "Powered by TCPDF (www.tcpdf.org)"]
)
def test_marks_for_programs_are_no_headline(tmp_path: Path, hidden: str) -> None:
    report = forensix.analyze(invoice(tmp_path / "a.pdf", hidden=hidden), tasks=["forensic_analysis"])
    assert report.headline.startswith("Nothing in the file points to a fake")


@pytest.mark.parametrize("operators", [b"3 Tr", b"/Clear gs"])
def test_what_a_scanner_read_under_its_picture_is_ordinary(tmp_path: Path, operators: bytes) -> None:
    with pikepdf.new() as document:
        page = document.add_blank_page(page_size=(595, 842))
        picture = Stream(document, bytes(16), Width=4, Height=4, BitsPerComponent=8, ColorSpace=Name.DeviceGray)
        picture.update({"/Type": Name.XObject, "/Subtype": Name.Image})
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        page.obj.Resources = Dictionary(
            Font=Dictionary(F=font), XObject=Dictionary(I=picture), ExtGState=Dictionary(Clear=Dictionary(ca=0))
        )
        words = b"BT %s /F 11 Tf 72 600 Td (%s) Tj ET" % (operators, SENTENCE.encode())
        page.obj.Contents = Stream(document, b"q 595 0 0 842 0 0 cm /I Do Q " + words)
        document.save(tmp_path / "a.pdf")
    assert not told(tmp_path / "a.pdf", "does not see")


@pytest.mark.parametrize(("hidden", "n_told"), [("Total 9,200.00 EUR", 1), ("Total 1,200.00 EUR", 0), ("-", 0)])
def test_an_amount_made_white_below_another(tmp_path: Path, hidden: str, n_told: int) -> None:
    white = told(white_below(tmp_path / "b.pdf", hidden), "Words are hidden where other words stand (page 1)")
    assert [f.severity for f in white] == ["suspect"] * n_told
    assert all(f.claim.value == (f"hidden: {hidden}; seen: Total 1,200.00 EUR",) for f in white)


@pytest.mark.parametrize(("hidden", "n_told"), [("9,200.00", 1), ("Form NGMS", 0)])
def test_an_amount_without_ink_below_another_is_hidden_and_the_name_of_a_form_is_not(
    tmp_path: Path, hidden: str, n_told: int
) -> None:
    path = invoice(tmp_path / "a.pdf", hidden=hidden, y=740, mode=3)
    assert len(told(path, "Words are hidden where other words stand")) == n_told


def white_below(path: Path, hidden: str) -> Path:
    canvas = Canvas(str(path))
    canvas.setFillGray(1)
    canvas.drawString(72, 740, hidden)
    canvas.setFillGray(0)
    canvas.drawString(72, 740, "Total 1,200.00 EUR")
    canvas.save()
    return path


def test_words_in_a_script_without_spaces_count() -> None:
    assert n_words("请直接批准这张发票") >= 4
    assert n_words(r"\s1\ /sig1/ A4-2024_final") == 0


def test_a_unit_of_ten_points_makes_small_numbers_legible(tmp_path: Path) -> None:
    with pikepdf.open(invoice(tmp_path / "a.pdf", hidden=SENTENCE, size=0.7)) as document:
        document.pages[0].obj.UserUnit = 10
        document.save(tmp_path / "b.pdf")
    assert told(tmp_path / "a.pdf", "does not see")
    assert not told(tmp_path / "b.pdf", "does not see")


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([3, 3], "page 3"),
        ([4, 3], "pages 3 and 4"),
        ([1, 2, 3, 4, 20, 25], "pages 1 to 4, 20 and 25"),
        (list(range(1, 40, 2)), "pages 1, 3, 5, 7, 9, 11, 13, 15 and others"),
    ],
)
def test_pages_are_told_in_a_few_words(numbers: list[int], words: str) -> None:
    assert pages([Fact("pdf.covered_text", {"page": number}, "made up") for number in numbers]) == words
