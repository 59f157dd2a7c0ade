"""Comments that were added after signing: what they draw tells whether they are harmless, not their kind."""

from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.generic import pdf_name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import signers

from forensix.forensics.findings import Finding
from forensix.metadata.pdf import notes
from tests.forensics.rules.test_pdf_rules import findings_of, pick
from tests.forensics.rules.test_pdf_signatures import severe, signed, updated
from tests.metadata.pdf.test_facts import page

Change = Callable[[IncrementalPdfFileWriter], None]
LAID = ["Notes or stamps were laid on the document after Test Signer signed it"]
OVER, BESIDE = (100, 690, 300, 720), (100, 390, 300, 420)
BOX = b"100 690 200 30 re "


def commented(
    *drawings: bytes | None,
    kind: str = "Highlight",
    place: tuple[float, ...] = OVER,
    state: dict[str, generic.PdfObject] | None = None,
    of_page: int = 0,
    **entries: generic.PdfObject,
) -> Change:
    """Return a change that adds comments in one go; ``state`` is what ``/G gs`` sets."""

    def change(writer: IncrementalPdfFileWriter) -> None:
        first = writer.root["/Pages"]["/Kids"][of_page]
        box = generic.ArrayObject(map(generic.FloatObject, place))
        states = named(G=named(**state or {}))
        listed = generic.ArrayObject(first.get("/Annots", ()))
        for drawing in drawings:
            note = named(Type=pdf_name("/Annot"), Subtype=pdf_name(f"/{kind}"), Rect=box, **entries)
            if drawing is not None:
                form = named(Subtype=pdf_name("/Form"), BBox=box, Resources=named(ExtGState=states))
                note[pdf_name("/AP")] = named(N=writer.add_object(generic.StreamObject(form, drawing)))
            listed.append(writer.add_object(note))
        first[pdf_name("/Annots")] = listed
        writer.update_container(first)

    return change


def named(**entries: generic.PdfObject) -> generic.DictionaryObject:
    return generic.DictionaryObject({pdf_name(f"/{key}"): value for key, value in entries.items()})


def numbers(*values: float) -> generic.ArrayObject:
    return generic.ArrayObject(map(generic.FloatObject, values))


def after(tmp_path: Path, signer: signers.SimpleSigner, *changes: Change) -> tuple[Finding, ...]:
    path = page(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer)
    for change in changes:
        data = updated(data, change)
    path.write_bytes(data)
    return findings_of(path)


MULTIPLY, HALF = {"BM": pdf_name("/Multiply")}, {"ca": generic.FloatObject(0.5)}
LIGHTEN = {"BM": pdf_name("/Lighten")}
ELLIPSE = (
    b"100 705 m 100 713 144 720 200 720 c 256 720 300 713 300 705 c "
    b"300 697 256 690 200 690 c 144 690 100 697 100 705 c "
)
ROUND = b"100 690 m 300 690 l 300 720 l 100 720 l 100 690 l "
LINES = b"".join(b"100 %d m 300 %d l S " % (y, y) for y in range(690, 721))


@pytest.mark.parametrize(
    ("kind", "drawing", "state"),
    [
        ("Highlight", b"1 1 0 rg " + BOX + b"f", {}),
        ("Highlight", b"/G gs 0 g " + BOX + b"f", MULTIPLY),  # blackened
        ("Highlight", b"/G gs 1 g " + BOX + b"f", LIGHTEN),
        ("Underline", b"/G gs 1 g " + (BOX + b"f ") * 4, HALF),
        ("StrikeOut", b"14 w 100 704 m 300 704 l S", {}),
        ("Ink", b"1 G 1.5 w " + LINES, {}),
        ("Circle", b"1 g " + ELLIPSE + b"f", {}),
        ("Polygon", b"1 g " + ROUND + ROUND.replace(b"m", b"l") + b"f", {}),
        ("Text", b"1 1 0 rg " + BOX + b"f", {}),
        ("Stamp", b"BT (PAID) Tj ET", {}),
    ],
)
def test_a_comment_that_hides_words_or_writes_is_suspect(
    tmp_path: Path, signer: signers.SimpleSigner, kind: str, drawing: bytes, state: dict[str, generic.PdfObject]
) -> None:
    findings = after(tmp_path, signer, commented(drawing, kind=kind, state=state))
    assert severe(findings) == LAID
    claim = pick(findings, LAID[0])
    assert "can cover what was signed" in claim.claim.explanation
    assert [v for v in claim.claim.value if v.startswith(f"{kind} on page 1 ")]


@pytest.mark.parametrize(
    ("kind", "drawing", "state"),
    [
        ("Highlight", b"/G gs 1 1 0 rg " + BOX + b"f", MULTIPLY),
        ("Highlight", b"/G gs 1 1 0 rg " + BOX + b"f", HALF),
        ("Underline", b"100 698 m 300 698 l S", {}),
        ("StrikeOut", b"1.5 w 100 704 m 300 704 l S", {}),
        ("Ink", b"2 w 100 700 m 120 710 150 690 200 715 c 220 690 l S", {}),
        ("Circle", ELLIPSE + b"S", {}),
        ("Square", b"100 690 200 30 re 102 718 m 298 718 l 298 692 l 102 692 l f", {}),  # a frame of two turns
        ("Square", b"100 690 200 30 re 102 692 196 26 re f*", {}),
        ("Square", b"0 0 50 50 re W n 1 g " + BOX + b"f", {}),  # cut off
        ("Highlight", None, {}),
        ("Circle", None, {}),
    ],
)
def test_a_comment_through_which_words_are_read_is_none(
    tmp_path: Path, signer: signers.SimpleSigner, kind: str, drawing: bytes, state: dict[str, generic.PdfObject]
) -> None:
    assert severe(after(tmp_path, signer, commented(drawing, kind=kind, state=state))) == []


@pytest.mark.parametrize(
    ("kind", "entries"),
    [
        ("Circle", {"IC": numbers(1, 1, 1)}),
        ("Square", {"IC": numbers(1)}),
        ("Polygon", {"IC": numbers(0, 0, 0, 0), "Vertices": numbers(100, 690, 300, 690, 300, 720, 100, 720)}),
        (
            "Ink",
            {"InkList": generic.ArrayObject([numbers(100, 704, 300, 704)]), "BS": named(W=generic.FloatObject(20))},
        ),
        ("Line", {"L": numbers(100, 704, 300, 704), "Border": numbers(0, 0, 20)}),
        ("Stamp", {}),
    ],
)
def test_a_comment_without_a_drawing_is_painted_by_what_it_states(
    tmp_path: Path, signer: signers.SimpleSigner, kind: str, entries: dict[str, generic.PdfObject]
) -> None:
    assert severe(after(tmp_path, signer, commented(None, kind=kind, **entries))) == LAID
    see_through = commented(None, kind=kind, CA=generic.FloatObject(0.3), **entries)
    assert severe(after(tmp_path, signer, see_through)) == (LAID if kind == "Stamp" else [])


def test_what_hides_nothing_of_the_page_is_no_cover(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    drawing = b"1 g 100 390 200 30 re f"
    assert severe(after(tmp_path, signer, commented(drawing, kind="Square", place=BESIDE))) == []


def test_an_icon_hides_words_by_white_only(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    place = (100, 695, 120, 715)
    for colour, expected in ((b"1 1 0 rg ", []), (b"1 g ", LAID)):
        change = commented(colour + b"100 695 20 20 re f", kind="Text", place=place)
        assert severe(after(tmp_path, signer, change)) == expected


def test_a_cover_is_found_among_many_comments(
    tmp_path: Path, signer: signers.SimpleSigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = [b"101 691 198 28 re S"] * 60
    cover = b"1 g " + BOX + b"f"
    for order in ((*frames, cover), (cover, *frames)):
        assert severe(after(tmp_path, signer, commented(*order))) == LAID
    later = commented(*frames)
    assert severe(after(tmp_path, signer, commented(cover), later)) == LAID
    monkeypatch.setattr(notes, "PAINTED", 30)
    sentence = "Comments came after Test Signer signed it, and not all of them could be looked at"
    assert severe(after(tmp_path, signer, commented(*frames, cover))) == [sentence]


def test_the_drawings_of_a_document_are_painted_within_bounds(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    drawing = b"101 691 198 28 re S " * 30_000
    sentence = "Comments came after Test Signer signed it, and not all of them could be looked at"
    assert severe(after(tmp_path, signer, commented(*[drawing] * 8))) == [sentence]


def test_comments_that_were_there_before_signing_are_no_later_ones(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = page(tmp_path / "a.pdf")
    data = updated(path.read_bytes(), commented(b"1 g " + BOX + b"f", kind="Stamp"))
    path.write_bytes(updated(signed(data, signer), commented(b"101 691 198 28 re S", kind="Square")))
    assert severe(findings_of(path)) == []


def test_what_a_comment_hides_is_read_on_any_page(
    tmp_path: Path, signer: signers.SimpleSigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        for _ in range(19):
            document.pages.append(document.pages[0])
        document.save(path)
    data = signed(path.read_bytes(), signer)
    cover = b"1 g " + BOX + b"f"
    for place, expected in ((OVER, LAID), (BESIDE, [])):
        drawing = cover if place == OVER else cover.replace(b"690", b"390")
        path.write_bytes(updated(data, commented(drawing, kind="Square", place=place, of_page=19)))
        assert severe(findings_of(path)) == expected
    path.write_bytes(updated(data, commented(cover, kind="Square", of_page=19)))
    assert pick(findings_of(path), LAID[0]).claim.value[1] == "Square on page 20 hides words: An invoice over 100"
    monkeypatch.setattr(notes, "READ_PAGES", 0)
    hides = "Square on page 20 hides what lies below, which was not read"
    assert pick(findings_of(path), LAID[0]).claim.value[1] == hides


@pytest.mark.parametrize("kind", ["Stamp", "FreeText"])
def test_words_of_a_comment_that_stand_alone_accuse_nobody_and_are_told_on_top(
    tmp_path: Path, signer: signers.SimpleSigner, kind: str
) -> None:
    words = b"BT /F 12 Tf 110 400 Td (Received, 3 May) Tj ET"
    findings = after(tmp_path, signer, commented(words, kind=kind, place=BESIDE))
    assert severe(findings) == []
    claim = pick(findings, "Comments that came after signing write words (page 1)")
    assert claim.severity == "benign" and claim.remark == "comments that came after signing write words (page 1)"
    assert claim.claim.value == (f"{kind} on page 1 writes 'Received, 3 May'",)


@pytest.mark.parametrize("place", [(60, 695, 95, 715), (100, 715, 200, 740), (200, 695, 240, 712)])
def test_words_of_a_comment_close_to_printed_ones_are_suspect(
    tmp_path: Path, signer: signers.SimpleSigner, place: tuple[float, ...]
) -> None:
    words = b"BT /F 12 Tf %d %d Td (9) Tj ET" % (place[0] + 1, place[1] + 4)
    assert severe(after(tmp_path, signer, commented(words, kind="FreeText", place=place))) == LAID
