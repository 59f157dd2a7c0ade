"""Letters of composite fonts that need no table of their own: where they stand, and which they are."""

from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream

from forensix.metadata.pdf import reader as pdf


def covered(path: Path, encoding: object, shown: bytes, box: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    """Write letters of 10 points at (100, 500) in a font that is not embedded, paint a box, and read what it covers."""
    with pikepdf.new() as document:
        page = document.add_blank_page(page_size=(300, 600))
        inner = Dictionary(Type=Name.Font, Subtype=Name.CIDFontType0, BaseFont=Name("/HeiseiMin-W3"), DW=1000)
        inner.W = Array([231, 632, 500])
        font = Dictionary(Type=Name.Font, Subtype=Name.Type0, BaseFont=inner.BaseFont, DescendantFonts=Array([inner]))
        font.Encoding = Stream(document, b"", WMode=1) if encoding is None else Name(f"/{encoding}")
        page.obj.Resources = Dictionary(Font=Dictionary(F=document.make_indirect(font)))
        x, y, width, height = box
        text = f"BT /F 10 Tf 100 500 Td <{shown.hex()}> Tj ET 0 g {x} {y} {width} {height} re f"
        page.contents_add(Stream(document, text.encode()))
        document.save(path)
    return [fact.value for fact in pdf.read(str(path)).all("pdf.covered_text")]


TOTAL = "合計金額一万円也"


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [("90ms-RKSJ-V", "cp932"), ("UniJIS-UCS2-V", "utf-16-be"), ("GBK-EUC-V", "gbk"), ("KSCms-UHC-V", "cp949")],
)
def test_words_that_run_down_a_page_are_covered_where_they_stand(encoding: str, codec: str, tmp_path: Path) -> None:
    """They were taken to run across, below what stands in the columns beside them."""
    shown = TOTAL.replace("円", "元").encode(codec)
    assert covered(tmp_path / "a.pdf", encoding, shown, (110, 490, 100, 20)) == []
    (place,) = covered(tmp_path / "a.pdf", encoding, shown, (90, 460, 20, 20))
    assert place["under"] == "金額"


def test_a_table_of_a_documents_own_says_that_its_words_run_down(tmp_path: Path) -> None:
    assert covered(tmp_path / "a.pdf", None, b"\x00\x01" * 8, (110, 490, 100, 20)) == []


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [("90ms-RKSJ-H", "cp932"), ("EUC-H", "euc_jp"), ("UniJIS-UCS2-HW-H", "utf-16-be"), ("UniJIS-UTF16-H", "utf-16-be")],
)
def test_letters_of_one_byte_and_of_two_have_the_widths_of_their_own(encoding: str, codec: str, tmp_path: Path) -> None:
    """Two figures were taken for one letter, and a number for a Chinese character."""
    shown = "1234円".encode(codec)
    half = encoding != "UniJIS-UTF16-H"
    begins = 100 + 4 * (5 if half else 10)
    (place,) = covered(tmp_path / "a.pdf", encoding, shown, (begins - (10 if half else 20), 495, 60, 20))
    assert place["under"] == "34円"
    assert covered(tmp_path / "a.pdf", encoding, shown, (begins + 11, 495, 60, 20)) == []


@pytest.mark.parametrize(("shown", "is_told"), [("120 לארשי ןהכ", False), ("920 יול השמ", True)])
def test_a_field_in_hebrew_shows_the_words_that_it_stores(shown: str, is_told: bool, tmp_path: Path) -> None:
    """Programs draw such letters from the left end of the line, the last one first."""
    codes = {letter: number for number, letter in enumerate(sorted(set(shown)), 1)}
    with pikepdf.new() as document:
        page = document.add_blank_page(page_size=(300, 600))
        inner = Dictionary(Type=Name.Font, Subtype=Name.CIDFontType2, DW=500)
        font = Dictionary(Type=Name.Font, Subtype=Name.Type0, Encoding=Name("/Identity-H"))
        font.DescendantFonts = Array([inner])
        rows = " ".join(f"<{code:04x}> <{letter.encode('utf-16-be').hex()}>" for letter, code in codes.items())
        font.ToUnicode = Stream(document, f"{len(codes)} beginbfchar {rows} endbfchar".encode())
        text = "".join(f"{codes[letter]:04x}" for letter in shown)
        look = Stream(document, f"BT /F 10 Tf 2 4 Td <{text}> Tj ET".encode())
        look.update({"/Subtype": Name.Form, "/BBox": Array([0, 0, 100, 16])})
        look.Resources = Dictionary(Font=Dictionary(F=document.make_indirect(font)))
        field = Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T="name", V="כהן ישראל 120")
        field.update({"/Rect": Array([50, 500, 150, 516]), "/AP": Dictionary(N=look)})
        page.obj.Annots = Array([document.make_indirect(field)])
        document.Root.AcroForm = Dictionary(Fields=page.obj.Annots)
        document.save(tmp_path / "a.pdf")
    told = [fact.value["shown"] for fact in pdf.read(str(tmp_path / "a.pdf")).all("pdf.field")]
    assert told == (["משה לוי 920"] if is_told else [])
