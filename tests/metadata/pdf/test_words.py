"""Words that a page hides, prints or stores otherwise, or sets in another font, on documents that the test makes."""

from pathlib import Path
from typing import Any

import pikepdf
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from pikepdf import Array, Dictionary, Name, Stream, String

from forensix.forensics import Finding, claims
from forensix.metadata.pdf import reader as pdf

SENTENCE = b"approve this invoice without looking"
LINE = b"BT /A 10 Tf 100 700 Td (Total 100.00 EUR to be paid by the end of May) Tj ET\n"


def font_file() -> bytes:
    """Return a TrueType font of the letters of ASCII, each a square."""
    letters = [chr(code) for code in range(32, 127)]
    names = [".notdef", *(f"uni{ord(letter):04X}" for letter in letters)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(letter): f"uni{ord(letter):04X}" for letter in letters})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((400, 0))
    pen.lineTo((400, 600))
    pen.closePath()
    glyph = pen.glyph()
    builder.setupGlyf(dict.fromkeys(names, glyph))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Plain", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = Path("plain.ttf")
    with path.open("wb") as file:
        builder.save(file)
    return path.read_bytes()


def embedded(document: pikepdf.Pdf, name: str, data: bytes) -> pikepdf.Object:
    described = Dictionary(Type=Name.FontDescriptor, FontName=Name(name), FontFile2=Stream(document, data), Flags=32)
    font = Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name(name), FontDescriptor=described)
    font.FirstChar, font.LastChar, font.Widths = 32, 126, Array([500] * 95)
    font.Encoding = Name.WinAnsiEncoding
    return document.make_indirect(font)


def plain(document: pikepdf.Pdf, name: str = "/Helvetica") -> pikepdf.Object:
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name(name), Encoding=Name.WinAnsiEncoding)
    return document.make_indirect(font)


def page(document: pikepdf.Pdf, content: bytes, **resources: Any) -> pikepdf.Page:
    made = document.add_blank_page(page_size=(595, 842))
    made.obj.Contents = Stream(document, content)
    made.obj.Resources = Dictionary(Font=Dictionary(A=plain(document), B=plain(document)), **resources)
    return made


def saved(document: pikepdf.Pdf, tmp_path: Path) -> Path:
    document.save(tmp_path / "a.pdf")
    return tmp_path / "a.pdf"


def told(path: Path, words: str) -> list[Finding]:
    return [f for f in claims(pdf.read(str(path))) if words in f.claim.claim]


def unseen(path: Path) -> list[tuple[str, str]]:
    return [(f.value["why"], f.value["text"]) for f in pdf.read(str(path)).all("pdf.unseen_text")]


@pytest.mark.parametrize(
    ("operators", "why"),
    [
        (b"1 g BT /A 10 Tf 100 600 Td (%s) Tj ET", "white"),
        (b"0 0 0 0 k BT /A 10 Tf 100 600 Td (%s) Tj ET", "white"),
        (b"3 Tr BT /A 10 Tf 100 600 Td (%s) Tj ET", "without ink"),
        (b"/Clear gs BT /A 10 Tf 100 600 Td (%s) Tj ET", "transparent"),
        (b"BT /A 0.4 Tf 100 600 Td (%s) Tj ET", "tiny"),
        (b"BT /A 10 Tf 100 -80 Td (%s) Tj ET", "beside the page"),
    ],
)
def test_words_that_nobody_sees_are_told(tmp_path: Path, operators: bytes, why: str) -> None:
    with pikepdf.new() as document:
        page(document, LINE + operators % SENTENCE, ExtGState=Dictionary(Clear=Dictionary(ca=0)))
        path = saved(document, tmp_path)
    assert unseen(path) == [(why, SENTENCE.decode())]
    (claim,) = told(path, "that a reader does not see")
    assert SENTENCE.decode() in claim.claim.value[0]


@pytest.mark.parametrize(
    "operators",
    [
        b"0 0 1 rg 90 590 300 30 re f 1 g BT /A 10 Tf 100 600 Td (%s) Tj ET",
        b"0 0 1 rg 90 590 m 400 590 l 400 630 300 640 90 620 c f 1 g BT /A 10 Tf 100 600 Td (%s) Tj ET",
        b"/S sh 1 g BT /A 10 Tf 100 600 Td (%s) Tj ET",
        b"q 300 0 0 50 90 580 cm BI /W 1 /H 1 /BPC 8 /CS /G ID 0 EI Q 3 Tr BT /A 10 Tf 100 600 Td (%s) Tj ET",
        b"/Spot cs 1 scn BT /A 10 Tf 100 600 Td (%s) Tj ET",
        b"BT /A 10 Tf 100 600 Td (%s) Tj ET",
    ],
)
def test_words_on_a_ground_and_below_a_picture_are_seen(tmp_path: Path, operators: bytes) -> None:
    with pikepdf.new() as document:
        ink = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=[0, 0, 0, 1], N=1)
        spot = Array([Name.Separation, Name.Black, Name.DeviceCMYK, ink])
        page(document, LINE + operators % SENTENCE, ColorSpace=Dictionary(Spot=spot))
        path = saved(document, tmp_path)
    assert unseen(path) == []


@pytest.mark.parametrize(
    "operators",
    [
        b"1 g BT /A 30 Tf 100 600 Td (%s) Tj ET 1 Tr BT /A 30 Tf 100 600 Td (%s) Tj ET",
        b"0.2 g BT /A 30 Tf 101.5 598.5 Td (%s) Tj ET 1 g BT /A 30 Tf 100 600 Td (%s) Tj ET",
    ],
)
def test_white_words_with_an_outline_or_a_shadow_are_seen(tmp_path: Path, operators: bytes) -> None:
    with pikepdf.new() as document:
        page(document, LINE + operators % (SENTENCE, SENTENCE))
        path = saved(document, tmp_path)
    assert unseen(path) == []


def test_white_words_beside_the_same_words_are_not_seen(tmp_path: Path) -> None:
    with pikepdf.new() as document:
        line = b"1 g BT /A 10 Tf 100 600 Td (%s) Tj ET 0 g BT /A 10 Tf 100 560 Td (%s) Tj ET"
        page(document, LINE + line % (SENTENCE, SENTENCE))
        path = saved(document, tmp_path)
    assert unseen(path) == [("white", SENTENCE.decode())]


@pytest.mark.parametrize(("left", "is_told"), [(90, False), (450, True)])
def test_words_that_browsers_fill_through_a_mask_are_seen(tmp_path: Path, left: int, is_told: bool) -> None:
    """Words filled with a gradient: a group painted through a mask of their letters, then the words, transparent."""
    with pikepdf.new() as document:
        group = Dictionary(S=Name.Transparency, I=True)
        form = {"Subtype": Name.Form, "BBox": [0, 0, 595, 842], "Group": group}
        letters = Stream(document, b"BT /A 10 Tf 100 600 Td (%s) Tj ET" % SENTENCE, **form)
        states = Dictionary(
            Mask=Dictionary(SMask=Dictionary(S=Name.Alpha, G=letters)), Clear=Dictionary(ca=0, SMask=Name("/None"))
        )
        gradient = Stream(document, b"0.2 0 0.4 rg %d 590 100 40 re f" % left, **form)
        content = b"/Mask gs /Gradient Do /Clear gs BT /A 10 Tf 100 600 Td (%s) Tj ET" % SENTENCE
        page(document, LINE + content, ExtGState=states, XObject=Dictionary(Gradient=gradient))
        path = saved(document, tmp_path)
    assert bool(unseen(path)) == is_told


@pytest.mark.parametrize(("painted", "is_told"), [(10, True), (400, False)])
def test_where_too_much_is_painted_all_of_the_page_counts_as_painted(
    tmp_path: Path, painted: int, is_told: bool
) -> None:
    with pikepdf.new() as document:
        page(document, LINE + b"1 1 2 2 re f " * painted + b"1 g BT /A 10 Tf 100 600 Td (%s) Tj ET" % SENTENCE)
        path = saved(document, tmp_path)
    assert bool(unseen(path)) == is_told


def test_a_spot_of_full_black_is_no_white_box(tmp_path: Path) -> None:
    with pikepdf.new() as document:
        ink = Dictionary(FunctionType=2, Domain=[0, 1], C0=[0, 0, 0, 0], C1=[0, 0, 0, 1], N=1)
        spot = Array([Name.Separation, Name.Black, Name.DeviceCMYK, ink])
        page(document, LINE + b"/Spot cs 1 scn 100 695 90 16 re f", ColorSpace=Dictionary(Spot=spot))
        path = saved(document, tmp_path)
    assert [f.claim.claim for f in claims(pdf.read(str(path))) if "box" in f.claim.claim] == [
        "A filled box covers text (page 1)"
    ]


def test_a_box_that_is_clipped_away_covers_nothing(tmp_path: Path) -> None:
    def boxes(clip: bytes) -> list[Finding]:
        with pikepdf.new() as document:
            page(document, LINE + b"q %s re W n 1 g 100 695 90 16 re f Q" % clip)
            path = saved(document, tmp_path)
        return told(path, "A white box hides text")

    assert len(boxes(b"0 600 595 200")) == 1
    assert boxes(b"0 100 595 200") == []


def layered(tmp_path: Path, **default: Any) -> Path:
    """Write words in the layer "old" and, over them, words on a white box in the layer "new"."""
    with pikepdf.new() as document:
        old, new = (
            document.make_indirect(Dictionary(Type=Name.OCG, Name=String(name), Usage=usage))
            for name, usage in (
                ("old", Dictionary(Print=Dictionary(PrintState=Name.ON), View=Dictionary(ViewState=Name.OFF))),
                ("new", Dictionary()),
            )
        )
        content = LINE + (
            b"/P <</MCID 0>> BDC /Span BMC EMC EMC\n"
            b"/OC /Old BDC BT /A 10 Tf 300 600 Td (500.00) Tj ET EMC\n"
            b"/OC /New BDC 1 g 100 695 90 16 re f 0 g BT /A 10 Tf 100 700 Td (Total 900.00) Tj ET EMC\n"
        )
        page(document, content, Properties=Dictionary(Old=old, New=new))
        chosen = {key: Array([{"old": old, "new": new}[name] for name in names]) for key, names in default.items()}
        base = Dictionary(BaseState=Name.OFF) if "ON" in chosen else Dictionary()
        base.update({f"/{key}": value for key, value in chosen.items() if key != "AS"})
        if "AS" in chosen:
            base.AS = Array(
                [
                    Dictionary(Event=Name(f"/{e}"), Category=Array([Name(f"/{e}")]), OCGs=chosen["AS"])
                    for e in ("View", "Print")
                ]
            )
        document.Root.OCProperties = Dictionary(OCGs=Array([old, new]), D=base)
        return saved(document, tmp_path)


@pytest.mark.parametrize("default", [{"OFF": ["old"]}, {"ON": ["new"]}, {"AS": ["old"]}])
def test_words_of_a_layer_that_is_off_are_told(tmp_path: Path, default: dict[str, list[str]]) -> None:
    path = layered(tmp_path, **default)
    assert unseen(path) == [("layer old", "500.00")]
    assert not pdf.read(str(path)).problems
    (claim,) = told(path, "hidden layers (1)")
    assert claim.claim.value == ("old", "old: 500.00")
    assert [f.claim.value for f in told(path, "What is printed")] == (
        [("old: only on paper",)] if "AS" in default else []
    )
    assert told(path, "A white box covers text")


def test_a_box_in_a_layer_that_is_off_covers_nothing(tmp_path: Path) -> None:
    assert not told(layered(tmp_path, OFF=["new"]), "A white box")


def form(tmp_path: Path, value: str, shown: bytes, *, anew: bool = False, **entries: Any) -> Path:
    with pikepdf.new() as document:
        made = page(document, LINE)
        look = Stream(document, b"/Tx BMC BT /A 10 Tf 2 4 Td (%s) Tj ET EMC" % shown)
        look.update({"/Subtype": Name.Form, "/BBox": Array([0, 0, 90, 16])})
        look.Resources = Dictionary(Font=Dictionary(A=plain(document)))
        field = Dictionary(
            Subtype=Name.Widget,
            FT=Name.Tx,
            T=String("amount"),
            V=String(value),
            Rect=Array([300, 600, 390, 616]),
            **entries,
        )
        field.AP = Dictionary(N=document.make_indirect(look))
        made.obj.Annots = Array([document.make_indirect(field)])
        document.Root.AcroForm = Dictionary(Fields=made.obj.Annots, NeedAppearances=anew)
        return saved(document, tmp_path)


@pytest.mark.parametrize(
    ("stored", "shown", "flags", "is_told"),
    [("Off", "Yes", 0, True), ("Yes", "Yes", 0, False), ("Yes", "Off", 0, False), ("Off", "Yes", 1 << 15, False)],
    ids=["tick", "alike", "not drawn", "radio button"],
)
def test_a_box_that_shows_a_tick_and_stores_none(
    tmp_path: Path, stored: str, shown: str, flags: int, is_told: bool
) -> None:
    path = form(tmp_path, "", b"x")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        box = document.pages[0].Annots[0]
        box.FT, box.V, box.AS, box.Ff = Name.Btn, Name(f"/{stored}"), Name(f"/{shown}"), flags
        box.AP.N = Dictionary(Yes=box.AP.N, Off=box.AP.N)
        document.save(path)
    found = [f.claim.value for f in told(path, "A form field shows other words than it stores")]
    assert found == ([("amount: stored Off; shown Yes",)] if is_told else [])


@pytest.mark.parametrize(("value", "shown"), [("9,400.00", "2,400.00"), ("9000", "19,000.00"), ("A-7", "A-8")])
def test_a_field_that_stores_other_words_than_it_shows(tmp_path: Path, value: str, shown: str) -> None:
    (claim,) = told(form(tmp_path, value, shown.encode()), "A form field shows other words than it stores")
    assert claim.severity == "suspect"
    assert claim.claim.value == (f"amount: stored {value}; shown {shown}",)


@pytest.mark.parametrize(
    ("value", "shown", "options"),
    [
        ("2400", b"2,4 00", {}),
        ("a long text that does not fit", b"a long text that", {}),
        ("", b"Name", {}),
        ("Name", b"", {}),
        ("9400", b"2400", {"anew": True}),
        ("secret", b"xxxxxx", {"Ff": 1 << 13}),
        ("0.5", b"50 %", {"AA": Dictionary(F=Dictionary(S=Name.JavaScript, JS=String("AFPercent_Format(0)")))}),
    ],
)
def test_fields_that_may_show_something_else(tmp_path: Path, value: str, shown: bytes, options: dict[str, Any]) -> None:
    assert not told(form(tmp_path, value, shown, **options), "form field")


@pytest.mark.parametrize(
    ("place", "ground", "n_told"),
    [
        ([98, 697, 300, 713], b"1 g", 1),
        ([98, 697, 300, 713], b"0.9 0.9 1 rg", 1),
        ([98, 600, 300, 616], b"1 g", 0),
        ([98, 697, 300, 713], b"", 0),
    ],
)
def test_an_empty_field_over_printed_words(tmp_path: Path, place: list[int], ground: bytes, n_told: int) -> None:
    with pikepdf.new() as document:
        made = page(document, LINE)
        look = Stream(document, ground + b" 0 0 202 16 re f" if ground else b"/Tx BMC EMC")
        look.update({"/Subtype": Name.Form, "/BBox": Array([0, 0, 202, 16])})
        field = Dictionary(Subtype=Name.Widget, FT=Name.Tx, T=String("a"), Rect=Array(place))
        field.AP = Dictionary(N=document.make_indirect(look))
        made.obj.Annots = Array([document.make_indirect(field)])
        document.Root.AcroForm = Dictionary(Fields=made.obj.Annots)
        found = told(saved(document, tmp_path), "covers text") + told(tmp_path / "a.pdf", "hides text")
    assert [(f.severity, f.claim.claim) for f in found] == [
        ("benign", "A form field without words covers text (page 1)")
    ] * n_told
    assert all("Total 100.00 EUR" in f.claim.value[0] for f in found)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    monkeypatch.chdir(tmp_path)
    return font_file()


def mixed(tmp_path: Path, data: bytes, words: bytes, name: str) -> Path:
    with pikepdf.new() as document:
        made = page(document, LINE + b"BT /B 10 Tf 400 700 Td (%s) Tj ET" % words)
        made.obj.Resources.Font.A = embedded(document, "/AAAAAA+Plain", data)
        made.obj.Resources.Font.B = embedded(document, name, data) if "Plain" in name else plain(document, name)
        return saved(document, tmp_path)


@pytest.mark.parametrize(
    ("name", "kind"), [("/BBBBBB+Plain", "copy"), ("/Plain", "copy"), ("/Helvetica", "not embedded")]
)
def test_a_few_words_in_another_font_than_their_line(tmp_path: Path, data: bytes, name: str, kind: str) -> None:
    path = mixed(tmp_path, data, b"100.00", name)
    (fact,) = pdf.read(str(path)).all("pdf.other_font")
    assert (fact.value["words"], fact.value["kind"]) == ("100.00", kind)
    assert fact.offset == path.read_bytes().index(f"{fact.value['object']} 0 obj".encode())
    (claim,) = told(path, "A few words stand in another font")
    assert claim.severity == "benign"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/BBBBBB+Plain-Bold", b"100.00"),  # another style
        ("/BBBBBB+Plain", b"ZX"),  # letters that the first copy lacks
        ("/Helvetica", b"-"),
        ("/Helvetica", b"a second half of the line that is set in another font on purpose"),
    ],
)
def test_lines_of_two_fonts_that_are_ordinary(tmp_path: Path, data: bytes, name: str, words: bytes) -> None:
    assert not list(pdf.read(str(mixed(tmp_path, data, words, name))).all("pdf.other_font"))


@pytest.mark.parametrize(
    ("content", "places"),
    [
        (b"BT /F0 12 Tf 50 700 Td (Total 930.00) Tj ET\n/TouchUp_TextEdit MP\nBT ET", ["page 1, marks: 1"]),
        (b"/TouchUp_TextEdit MP /TouchUp_TextEdit MP", ["page 1, marks: 2"]),
        (b"BT /F0 12 Tf 50 700 Td (/TouchUp_TextEdit MP) Tj ET /Heading MP", []),
    ],
)
def test_words_that_were_edited_in_acrobat(tmp_path: Path, content: bytes, places: list[str]) -> None:
    with pikepdf.new() as document:
        page(document, content, F0=plain(document))
        found = told(saved(document, tmp_path), "edited or added in Acrobat")
    assert [(f.severity, place) for f in found for place in f.claim.value] == [("suspect", place) for place in places]


ADDED = b"\nq\nBT\n1 0 0 1 200 %s Tm\n/B 10 Tf 0 g [<3939392e3939>]TJ\nET\nQ\n"
"""How PyMuPDF writes words; 999.99 here."""

REDACTED = b"\nq\n198 698 40 12 re\nh\n1 1 1 RG 1 1 1 rg B\nQ\n" + ADDED.replace(b"Tm\n/B", b"Tm /Helv")
"""How its redactions do."""


@pytest.mark.parametrize(
    ("contents", "severities"),
    [
        ([LINE, ADDED % b"700"], ["suspect"]),
        ([LINE, b"q\n", b"Q\n" + ADDED % b"700.01"], ["suspect"]),
        ([LINE, ADDED % b"700.3"], ["benign"]),
        ([LINE, ADDED % b"700" + ADDED % b"20"], ["suspect", "benign"]),
        ([LINE, REDACTED % b"700.3"], ["suspect"]),
        # A box elsewhere, with an edge of another colour, and the font of other words.
        ([LINE, REDACTED % b"720.3"], ["benign"]),
        ([LINE, (REDACTED % b"700.3").replace(b"1 1 1 RG", b"0 0 0 RG")], ["benign"]),
        ([LINE, (REDACTED % b"700.3").replace(b"/Helv", b"/B")], ["benign"]),
        # Pages that were made so, as other programs write, turned, and several lines at once.
        ([b"", ADDED % b"700", ADDED % b"20"], []),
        ([LINE, (ADDED % b"700").replace(b"[<3939392e3939>]TJ", b"(999.99) Tj")], []),
        ([LINE, (ADDED % b"700").replace(b"BT\n", b"BT\n0 1 -1 0 0 0 cm\n")], []),
        ([LINE, (ADDED % b"700").replace(b"]TJ", b"]TJ\n0 -12 TD\n[<39>]TJ")], []),
        ([LINE, b"BT /B 10 Tf 200 700 Td (999.99) Tj ET"], []),
    ],
)
def test_words_that_pymupdf_added(tmp_path: Path, contents: list[bytes], severities: list[str]) -> None:
    with pikepdf.new() as document:
        made = page(document, b"")
        made.obj.Resources.Font.Helv = made.obj.Resources.Font.B
        made.obj.Contents = Array([Stream(document, content) for content in contents])
        found = told(saved(document, tmp_path), "with PyMuPDF")
    assert [f.severity for f in found] == severities
    assert all("999.99" in place for f in found for place in f.claim.value)
    assert all(("beside Total 100.00" in f.claim.value[0]) == ("into lines" in f.claim.claim) for f in found)
