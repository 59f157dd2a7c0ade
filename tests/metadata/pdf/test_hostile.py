"""Hostile PDFs: bombs, loops, deep nesting, truncation and mutation end in a problem, quickly and in bounds."""

import random
import time
import zlib
from pathlib import Path

import pikepdf
import pytest
from reportlab.pdfgen.canvas import Canvas

from forensix.metadata.facts import Facts
from forensix.metadata.pdf import reader as pdf
from forensix.metadata.pdf.objects import View

LIMIT_S = 10.0


def read(path: Path, data: bytes) -> Facts:
    path.write_bytes(data)
    start = time.perf_counter()
    facts = pdf.read(str(path))
    assert time.perf_counter() - start < LIMIT_S
    return facts


def said(facts: Facts) -> str:
    return " ".join(p.message for p in facts.problems)


def assembled(objects: dict[int, bytes], trailer: bytes = b"") -> bytes:
    out, offsets = bytearray(b"%PDF-1.7\n"), {}
    for number, body in objects.items():
        offsets[number] = len(out)
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for number, offset in offsets.items():
        out += b"%d 1\n%010d 00000 n \n" % (number, offset)
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, trailer, start)
    return bytes(out)


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>"


def test_stream_that_inflates_beyond_reason(tmp_path: Path) -> None:
    packed = zlib.compress(bytes(100 << 20), 1)
    body = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed) + packed + b"\nendstream"
    facts = read(tmp_path / "a.pdf", assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: body}))
    assert "exhaust memory" in said(facts)
    assert "was not opened" in said(facts)
    assert facts.fact("pdf.revision") is not None


def test_a_large_stream_with_bytes_behind_its_end(tmp_path: Path) -> None:
    packed = zlib.compress(random.Random(0).randbytes(3 << 20), 1) + bytes(2 << 20)
    body = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed) + packed + b"\nendstream"
    facts = read(tmp_path / "a.pdf", assembled({1: CATALOG, 2: PAGES, 3: PAGE, 5: body}))
    assert "damaged" not in said(facts)


def test_page_tree_in_a_circle(tmp_path: Path) -> None:
    pages = b"<< /Type /Pages /Kids [2 0 R] /Count 1 >>"
    assert "circle" in said(read(tmp_path / "a.pdf", assembled({1: CATALOG, 2: pages})))


def test_chain_of_sections_in_a_circle(tmp_path: Path) -> None:
    data = assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: b"<< /Length 0 >>\nstream\n\nendstream"})
    at = data.rindex(b"xref\n0 1")
    data = assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: b"<< /Length 0 >>\nstream\n\nendstream"}, b"/Prev %d" % at)
    assert "runs in a circle" in said(read(tmp_path / "a.pdf", data))


def test_nesting_without_end(tmp_path: Path) -> None:
    deep = b"[" * 5000 + b"]" * 5000
    facts = read(tmp_path / "a.pdf", assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: deep}))
    assert "not well formed" in said(facts)


def test_table_that_claims_a_billion_rows(tmp_path: Path) -> None:
    data = assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: b"null"}).replace(b"xref\n0 1\n", b"xref\n0 999999999\n")
    assert read(tmp_path / "a.pdf", data).problems


def test_xref_stream_with_absurd_widths(tmp_path: Path) -> None:
    body = b"<< /Type /XRef /W [0 0 0] /Index [0 999999999] /Size 9 /Root 1 0 R /Length 4 >>\nstream\nabcd\nendstream"
    data = b"%PDF-1.7\n1 0 obj\n" + body + b"\nendobj\nstartxref\n9\n%%EOF\n"
    assert read(tmp_path / "a.pdf", data).problems


def test_a_hundred_thousand_end_marks(tmp_path: Path) -> None:
    data = assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: b"null"}) + b"startxref\n9\n%%EOF\n" * 100_000
    facts = read(tmp_path / "a.pdf", data)
    assert facts.get("pdf.end_marks") == 100_001


def test_references_that_lead_to_themselves(tmp_path: Path) -> None:
    objects = {1: CATALOG, 2: PAGES, 3: PAGE, 4: b"<< /Length 4 0 R >>\nstream\nx\nendstream", 5: b"5 0 R"}
    assert read(tmp_path / "a.pdf", assembled(objects)).problems


@pytest.mark.parametrize(
    "data",
    [b"", b"%PDF-", b"%PDF-1.7\n%%EOF", b"%%EOF" * 50, b"\x00" * 4096, b"%PDF-1.7\nstartxref\n9999999999\n%%EOF"],
)
def test_scraps(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path / "a.pdf", data).problems


def test_truncations_and_mutations(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    for number in range(3):
        canvas.drawString(100, 700, f"page {number}")
        canvas.showPage()
    canvas.save()
    data = path.read_bytes()
    for share in range(5, 100, 5):
        assert read(path, data[: len(data) * share // 100]).problems, share
    chance = random.Random(4)
    for _ in range(40):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 8, 60))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        read(path, bytes(changed))


def test_one_object_that_many_rows_name_is_parsed_once(tmp_path: Path) -> None:
    long = b"[" + b"1 " * 60_000 + b"]"
    data = assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: long})
    at = data.index(b"4 0 obj")
    rows = b"".join(b"%d 1\n%010d 00000 n \n" % (number, at) for number in range(10, 1500))
    data = data.replace(b"trailer", rows + b"trailer").replace(b"/Size 5", b"/Size 1500")
    start = time.process_time()
    facts = read(tmp_path / "a.pdf", data)
    assert time.process_time() - start < 5 and "which is not there" in said(facts)


def test_a_stream_of_many_objects_is_searched_once(tmp_path: Path) -> None:
    numbers = range(10, 20_010)
    index = b" ".join(b"%d %d" % (number, 2 * i) for i, number in enumerate(numbers)) + b" "
    body = zlib.compress(index + b"7 " * len(numbers))
    head = b"<< /Type /ObjStm /N %d /First %d /Filter /FlateDecode /Length %d >>\nstream\n"
    data = b"%PDF-1.7\n5 0 obj\n" + head % (len(numbers), len(index), len(body)) + body + b"\nendstream\nendobj\n"
    entries = {5: ("at", 9, 0), **{number: ("in", 5, i) for i, number in enumerate(numbers)}}
    view = View(data, entries, {})
    start = time.process_time()
    assert all(view.get(number) == 7 for number in numbers)
    assert view.present(10) and not view.present(9)
    assert time.process_time() - start < 3


def test_a_table_that_names_itself_beside_it_is_read_once(tmp_path: Path) -> None:
    data = assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: b"null"}, b"/XRefStm 000")
    data = data.replace(b"/XRefStm 000", b"/XRefStm %03d" % data.index(b"xref\n"))
    assert read(tmp_path / "a.pdf", data).get("pdf.sections") == ["hybrid"]


@pytest.mark.parametrize(
    "entry",
    [
        b"/Info 9 0 R /Root 1 0 R",
        b"/Info << /object#20" + b"9" * 5000 + b" (x) /Producer (somebody) >>",
    ],
)
def test_a_key_that_looks_like_a_place_is_none(entry: bytes, tmp_path: Path) -> None:
    info = b"<< /object#20" + b"9" * 5000 + b" (x) /Producer (somebody) >>"
    facts = read(tmp_path / "a.pdf", assembled({1: CATALOG, 2: PAGES, 3: PAGE, 4: b"null", 9: info}, entry))
    assert facts.get("pdf.pages") == 1


def test_object_streams_within_each_other_are_no_place() -> None:
    view = View(b"", {5: ("in", 6, 0), 6: ("in", 5, 0)}, {})
    assert view.offset(5) is None and view.get(5) is None


def test_what_a_form_breaks_costs_no_more_than_the_form(tmp_path: Path) -> None:
    catalog = b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [5 0 R] /XFA [(datasets) 6 0 R] >> >>"
    field = b"<< /FT /Tx /T (a) /V (b) /Ff /Foo /Type /Annot /Subtype /Widget /Rect [0 0 9 9] /P 3 0 R >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Annots [5 0 R] >>"
    broken = b"<< /Length 9 /Filter /FlateDecode >>\nstream\nnot zlib!\nendstream"
    info = b"<< /Producer (somebody) >>"
    objects = {1: catalog, 2: PAGES, 3: page, 5: field, 6: broken, 7: info}
    facts = read(tmp_path / "a.pdf", assembled(objects, b"/Info 7 0 R"))
    assert facts.get("pdf.info.Producer") == "somebody" and facts.get("pdf.pages") == 1
    assert "the XFA form is damaged" in said(facts).lower() or "XFA form is damaged" in said(facts)


def drawn(path: Path, content: bytes) -> tuple[list[str], list[str]]:
    """Return the keys of the facts on words of a page that draws ``content``, and its problems."""
    with pikepdf.new() as document:
        document.add_blank_page(page_size=(612, 792))
        font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
        document.pages[0].obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F=font))
        document.pages[0].obj.Contents = pikepdf.Stream(document, content)
        document.save(path)
    facts = pdf.read(str(path))
    keys = ("pdf.covered_text", "pdf.replaced_text")
    return [f.key for f in facts.items if f.key in keys], [p.message for p in facts.problems]


def test_words_upon_words_are_compared_within_bounds(tmp_path: Path) -> None:
    begin, words = b"BT /F 12 Tf 1 0 0 1 100 700 Tm ", b"(abcd) ' "
    hidden = begin + words * 3000 + b"ET 1 g " + begin + b"(ab) ' " * 2000 + b"ET "
    covered = begin + words * 2900 + b"ET 1 g " + b"100 690 90 90 re f " * 300 + b"0 g " + begin + words * 2900 + b"ET "
    for content in (hidden, covered):
        started = time.process_time()
        found, problems = drawn(tmp_path / "a.pdf", content)
        assert problems == ["Not all of page 1 was read: it draws more than is looked at."]
        assert found == [] and time.process_time() - started < 6


def test_what_is_hidden_among_many_other_words_and_boxes_is_found(tmp_path: Path) -> None:
    hidden = b"3 Tr BT /F 4 Tf 20 20 Td " + b"(123) ' " * 2500 + b"ET 0 Tr "
    replaced = b"1 g BT /F 12 Tf 100 700 Td (100.00) Tj ET 0 g BT /F 12 Tf 100 700 Td (900.00) Tj ET "
    assert drawn(tmp_path / "a.pdf", hidden + replaced) == (["pdf.replaced_text"], [])
    covered = b"BT /F 12 Tf 100 700 Td (100.00) Tj ET 1 g 90 695 90 20 re f "
    boxes = b"".join(b"20 %d 6 6 re f " % (10 + i) for i in range(600))
    assert drawn(tmp_path / "a.pdf", covered + boxes) == (["pdf.covered_text"], [])


@pytest.mark.parametrize(
    "behind",
    [
        b"1" * 200_000,
        b"9 0 obj << /Contents <308200000006092A864886F70D010702AA> /ByteRange [0 0 0" + b" " * 200_000 + b">> endobj",
    ],
    ids=["digits", "range"],
)
def test_what_makes_a_search_go_back_ends_soon(behind: bytes, tmp_path: Path) -> None:
    assert read(tmp_path / "a.pdf", assembled({1: CATALOG, 2: PAGES, 3: PAGE}) + behind).fact("pdf.revision")


@pytest.mark.parametrize(("error", "unread"), [(MemoryError(), True), (ValueError("x"), False)])
@pytest.mark.parametrize("part", ["content.facts", "signatures.facts"])
def test_a_part_that_takes_too_much_memory_is_not_malformed(
    part: str, error: Exception, unread: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(f"forensix.metadata.pdf.{part}", fails)
    path = tmp_path / "a.pdf"
    page = Canvas(str(path))
    page.drawString(100, 700, "An invoice")
    page.save()
    (problem,) = pdf.read(str(path)).problems
    assert (problem.unread, problem.grave) == (unread, not unread)
    assert problem.message.startswith("A part cannot be read")
