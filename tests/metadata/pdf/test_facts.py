"""Facts of PDFs: on documents that the test makes, revision by revision."""

import io
import re
import zlib
from pathlib import Path

import pikepdf
import pytest
from reportlab.pdfgen.canvas import Canvas

from forensix.metadata.pdf import changes as pdf_changes
from forensix.metadata.pdf import history as pdf_history
from forensix.metadata.pdf import reader as pdf
from forensix.metadata.pdf import syntax


def page(path: Path, text: str = "An invoice over 100", **info: str) -> Path:
    canvas = Canvas(str(path), pageCompression=0)
    canvas.setTitle(info.get("title", "Invoice"))
    canvas.drawString(100, 700, text)
    canvas.showPage()
    canvas.save()
    return path


def appended(data: bytes, objects: dict[int, bytes], info: int | None = None) -> bytes:
    """Append one incremental update by hand, as any program may write it."""
    history = pdf_history.walk(data)
    out, rows = bytearray(data), []
    for number, body in objects.items():
        rows.append((number, len(out)))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n"
    for number, offset in rows:
        out += b"%d 1\n%010d 00000 n \n" % (number, offset)
    root = history.trailer["Root"]
    size = max(max(objects) + 1, history.trailer["Size"])
    out += b"trailer\n<< /Size %d /Root %d 0 R /Prev %d " % (size, root.number, history.revisions[-1].startxref)
    out += b"/Info %d 0 R " % info if info else b""
    return bytes(out + b">>\nstartxref\n%d\n%%%%EOF\n" % start)


def content_number(path: Path) -> int:
    with pikepdf.open(path) as document:
        return document.pages[0].obj.Contents.objgen[0]


def stream(body: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n" % len(body) + body + b"\nendstream"


@pytest.mark.parametrize(("number", "is_shown"), [(90, True), (91, False)])
def test_a_drawing_that_nothing_leads_to_changes_no_page(tmp_path: Path, number: int, is_shown: bool) -> None:
    """An earlier version names object 90 before it is there; nothing names object 91."""
    path = page(tmp_path / "a.pdf")
    data = appended(path.read_bytes(), {80: b"<< /Inner 90 0 R >>"})
    drawing = b"<< /Type /XObject /Subtype /Form /BBox [0 0 100 100] /Length 0 >>\nstream\n\nendstream"
    path.write_bytes(appended(data, {number: drawing}))
    later = pdf.read(str(path)).all("pdf.revision")
    assert [f.value["content_changed"] for f in later] == [False, False, is_shown]


def test_the_drawing_of_a_signature_that_no_page_lists_changes_no_page(tmp_path: Path) -> None:
    """PDFBox keeps an empty drawing for a signature that is not to be seen, and its page need not list the field."""
    path = page(tmp_path / "a.pdf")
    catalog = pdf_history.walk(path.read_bytes()).trailer["Root"].number
    with pikepdf.open(path) as document:
        pages = document.Root.Pages.objgen[0]
    objects = {
        catalog: b"<< /Type /Catalog /Pages %d 0 R /AcroForm << /SigFlags 3 /Fields [90 0 R] >> >>" % pages,
        90: b"<< /FT /Sig /T (Signature1) /Subtype /Widget /Rect [0 0 0 0] /AP 91 0 R >>",
        91: b"<< /N 92 0 R >>",
        92: b"<< /Type /XObject /Subtype /Form /BBox [0 0 0 0] /Length 0 >>\nstream\n\nendstream",
    }
    path.write_bytes(appended(path.read_bytes(), objects))
    later = pdf.read(str(path)).records("pdf.revision")[1].value
    assert "page content" not in later["roles"] and not later["content_changed"]


def test_one_version_has_no_later_revision(tmp_path: Path) -> None:
    facts = pdf.read(str(page(tmp_path / "a.pdf")))
    assert [f.value["index"] for f in facts.all("pdf.revision")] == [1]
    assert facts.problems == ()
    assert facts.get("pdf.info.Title") == "Invoice"
    assert facts.get("pdf.pages") == 1


def test_a_document_that_is_attached_uncompressed_is_no_version(tmp_path: Path) -> None:
    path, inner = tmp_path / "a.pdf", page(tmp_path / "inner.pdf").read_bytes()
    with pikepdf.open(page(tmp_path / "outer.pdf")) as document:
        document.attachments["inner.pdf"] = inner
        document.save(path, compress_streams=False, static_id=True)
    assert path.read_bytes().count(b"%%EOF") == 2
    assert [f.value["index"] for f in pdf.read(str(path)).all("pdf.revision")] == [1]


def test_a_page_with_a_filter_that_is_not_known_is_unread_and_not_malformed(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.open(page(tmp_path / "plain.pdf")) as document:
        document.pages[0].obj.Contents.write(b"brotli", filter=pikepdf.Name.BrotliDecode)
        document.save(path)
    problems = pdf.read(str(path)).problems
    assert [(p.grave, p.unread) for p in problems] == [(False, True)], problems


def test_each_revision_is_told_with_its_bytes_and_its_words(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    first = path.read_bytes()
    number = content_number(path)
    second = appended(first, {number: stream(b"BT /F1 12 Tf 100 700 Td (An invoice over 900) Tj ET")})
    third = appended(second, {900: b"<< /Producer (somebody) /ModDate (D:20240102030405Z) >>"}, info=900)
    path.write_bytes(third)
    facts = pdf.read(str(path))
    rows = [f.value for f in facts.all("pdf.revision")]
    assert [r["end_offset"] for r in rows] == [len(first), len(second), len(third)]
    assert rows[1]["content_changed"] and rows[1]["named"] == [f"changed page content (page 1), object {number}"]
    assert not rows[2]["content_changed"] and rows[2]["roles"] == {"document information": 1}
    assert all(r["in_chain"] for r in rows)


def test_a_font_whose_name_is_an_object_of_its_own_is_told_by_that_name(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        name = document.make_indirect(pikepdf.Name.Helvetica)
        font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=name)
        document.pages[0].Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=document.make_indirect(font)))
        document.save(path)
    data = path.read_bytes()
    found = re.search(rb"(\d+) 0 obj\s*<<[^>]*/BaseFont (\d+ 0 R)", data)
    assert found is not None
    number = int(found[1])
    font_again = b"<< /Type /Font /Subtype /Type1 /Encoding /WinAnsiEncoding /BaseFont " + found[2] + b" >>"
    path.write_bytes(appended(data, {number: font_again}))
    _, later = pdf.read(str(path)).all("pdf.revision")
    assert later.value["named"] == [f"changed font (F1 Helvetica), object {number}"]


def test_each_step_of_reading_tells_what_is_known_by_then(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    first, *_, last = pdf.parts(str(path))
    assert first.get("pdf.version") == "1.3" and first.get("pdf.text_pages") is None
    assert last.get("pdf.text_pages") == 1 and last == pdf.read(str(path))


@pytest.mark.parametrize(
    ("kids", "moved"),
    [
        ([0, 2], "page 2 is taken out"),
        ([2], "pages 1, 2 are taken out"),
        ([1, 0, 2], "the pages are in another order"),
        ([0, 1, 2, 2], ""),
    ],
)
def test_pages_that_a_later_version_leaves_out_or_moves_change_what_is_shown(
    kids: list[int], moved: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.new() as document:
        for _ in range(3):
            document.add_blank_page()
        document.save(path)
    with pikepdf.open(path) as document:
        pages, tree = [p.obj.objgen[0] for p in document.pages], document.Root.Pages.objgen[0]
    references = " ".join(f"{pages[i]} 0 R" for i in kids)
    body = f"<< /Type /Pages /Kids [{references}] /Count {len(kids)} >>".encode()
    path.write_bytes(appended(path.read_bytes(), {tree: body}))
    row = [f.value for f in pdf.read(str(path)).all("pdf.revision")][1]
    assert row["pages_moved"] == moved and row["content_changed"] == bool(moved)


@pytest.mark.parametrize(("more", "grave"), [(0, False), (1, True)])
def test_an_array_of_bytes_that_java_wrote_is_no_grave_fault(more: int, grave: bool, tmp_path: Path) -> None:
    data = page(tmp_path / "a.pdf").read_bytes()
    length = (len(data) + more).to_bytes(4, "big")
    (tmp_path / "a.pdf").write_bytes(
        b"\xac\xed\x00\x05ur\x00\x02[B\xac\xf3\x17\xf8\x06\x08T\xe0\x02\x00\x00xp" + length + data
    )
    assert [p.grave for p in pdf.read(str(tmp_path / "a.pdf")).problems if "header starts" in p.message] == [grave]


def test_xmp_that_stands_unencrypted_in_an_encrypted_document_is_read(tmp_path: Path) -> None:
    with pikepdf.open(page(tmp_path / "a.pdf")) as document:
        packet = b'<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"/><?xpacket end="w"?>'
        document.Root.Metadata = pikepdf.Stream(document, b"M" * len(packet), Type=pikepdf.Name.Metadata)
        lock = pikepdf.Encryption(owner="a", user="", R=3, aes=False, metadata=False)
        document.save(tmp_path / "b.pdf", encryption=lock, object_stream_mode=pikepdf.ObjectStreamMode.disable)
    data = (tmp_path / "b.pdf").read_bytes()
    with pikepdf.open(tmp_path / "b.pdf") as document:
        at = data.index(b"stream\n", data.index(b"%d 0 obj" % document.Root.Metadata.objgen[0])) + 7
    (tmp_path / "b.pdf").write_bytes(data[:at] + packet + data[at + len(packet) :])
    assert not [p for p in pdf.read(str(tmp_path / "b.pdf")).problems if "XMP" in p.message]


PHP = b"<br />\n<b>Deprecated</b>:  Function f() is deprecated in <b>C:\\slip.php</b> on line <b>41</b><br />\n"


@pytest.mark.parametrize(
    ("before", "grave"),
    [(b"\r\n\n", False), (b"\xef\xbb\xbf", False), (PHP * 2, False), (PHP + b"<script>", True), (b"GIF89a", True)],
)
def test_what_web_programs_print_before_the_header_is_no_grave_fault(
    before: bytes, grave: bool, tmp_path: Path
) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(before + path.read_bytes())
    assert [p.grave for p in pdf.read(str(path)).problems if "header starts" in p.message] == [grave]


@pytest.mark.parametrize("body", [b"<< /Type [1] >>", b"<< /Type << >> >>", b"<< /Type (Page) /S [1] /Subtype [1] >>"])
def test_an_object_of_a_type_that_is_no_name_hides_no_revision(body: bytes, tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(appended(path.read_bytes(), {900: body}))
    facts = pdf.read(str(path))
    assert [f.value["index"] for f in facts.all("pdf.revision")] == [1, 2]
    assert not any("cannot be read" in p.message for p in facts.problems)


def test_a_rewritten_object_that_is_the_same_is_no_change(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    data, number = path.read_bytes(), content_number(path)
    view = pdf_history.walk(data).revisions[0].entries[number]
    body = data[view[1] : data.index(b"endobj", view[1])].split(b"obj", 1)[1].strip()
    path.write_bytes(appended(data, {number: body}))
    record = list(pdf.read(str(path)).all("pdf.revision"))[1].value
    assert record["n_objects_changed"] == 0


def n_changed(path: Path, data: bytes) -> int:
    """Return how many objects the last version changes."""
    path.write_bytes(data)
    return int(list(pdf.read(str(path)).all("pdf.revision"))[-1].value["n_objects_changed"])


def deflated(content: bytes, level: int = 9) -> bytes:
    packed = zlib.compress(content, level)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(packed) + packed + b"\nendstream"


def test_a_stream_that_is_stored_otherwise_is_no_change(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    number, content = content_number(path), b"BT /F1 12 Tf 100 700 Td (100.00) Tj ET " * 9
    first = appended(path.read_bytes(), {number: stream(content)})
    packed = appended(first, {number: deflated(content)})
    assert n_changed(path, packed) == 0
    assert n_changed(path, appended(packed, {number: deflated(content, 1)})) == 0
    assert n_changed(path, appended(packed, {number: deflated(content.replace(b"1", b"9"))})) == 1


def test_a_changed_stream_is_told_whatever_else_it_holds(tmp_path: Path) -> None:
    """What looks like the end of an object inside it, or a length that is too short, ends no comparison."""
    path = page(tmp_path / "a.pdf")
    number, content = content_number(path), b"BT /F1 12 Tf 100 700 Td %endobj\n(100.00) Tj ET"
    for body in (stream(content), stream(content).replace(b"/Length %d" % len(content), b"/Length 9")):
        first = appended(path.read_bytes(), {number: body})
        assert n_changed(path, appended(first, {number: body.replace(b"100.00", b"900.00")})) == 1


def test_linearised_file_is_one_version(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    out = tmp_path / "linear.pdf"
    with pikepdf.open(path) as document:
        document.save(out, linearize=True)
    facts = pdf.read(str(out))
    assert facts.get("pdf.end_marks") == 2
    assert facts.get("pdf.linearized") == out.stat().st_size
    assert len(list(facts.all("pdf.revision"))) == 1
    assert facts.problems == ()


def test_object_streams_are_read(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "packed.pdf"
    with pikepdf.open(path) as document:
        document.save(out, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    data = out.read_bytes()
    history = pdf_history.walk(data)
    assert history.kinds == ("stream",)
    record = pdf_changes.changes(data, history)[0]
    assert record["roles"]["page"] == record["roles"]["page tree"] == 1 and record["roles"]["page content"] == 1


def test_locked_document_tells_its_lock(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "locked.pdf"
    with pikepdf.open(path) as document:
        document.save(out, encryption=pikepdf.Encryption(owner="boss", user="secret", R=6))
    facts = pdf.read(str(out))
    assert facts.get("pdf.encryption.locked") is True
    assert facts.get("pdf.encryption.method") == "AES-256"
    assert [(p.unread, p.grave) for p in facts.problems] == [(True, False)] and facts.is_stopped


def test_owner_password_alone_forbids(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "owned.pdf"
    allow = pikepdf.Permissions(extract=False)
    with pikepdf.open(path) as document:
        document.save(out, encryption=pikepdf.Encryption(owner="boss", user="", R=4, allow=allow))
    facts = pdf.read(str(out))
    assert facts.get("pdf.encryption.locked") is False
    assert "extract" in facts.get("pdf.encryption.forbidden")
    assert facts.get("pdf.info.Title") == "Invoice"


def test_scripts_files_links_and_layers_are_found(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "b.pdf"
    with pikepdf.open(path) as document:
        document.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")
        document.attachments["run.exe"] = b"MZ"
        link = pikepdf.Dictionary(S=pikepdf.Name.URI, URI="https://example.org/x")
        note = pikepdf.Dictionary(Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Link, Rect=[0, 0, 9, 9], A=link)
        document.pages[0].Annots = document.make_indirect([document.make_indirect(note)])
        layer = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name="under"))
        document.Root.OCProperties = pikepdf.Dictionary(OCGs=[layer], D=pikepdf.Dictionary(OFF=[layer]))
        document.save(out)
    facts = pdf.read(str(out))
    assert facts.get("pdf.open_action") == "JavaScript"
    assert facts.get("pdf.action.JavaScript") == "app.alert(1)"
    assert facts.get("pdf.embedded_file") == "run.exe"
    assert facts.get("pdf.uri") == "https://example.org/x"
    assert facts.get("pdf.layer.hidden") == "under"


def test_text_on_a_white_box_over_text_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    canvas.drawString(100, 700, "Total 100.00")
    canvas.setFillColorRGB(1, 1, 1)
    canvas.rect(95, 695, 120, 16, stroke=0, fill=1)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.drawString(100, 700, "Total 900.00")
    canvas.save()
    covered = pdf.read(str(path)).fact("pdf.covered_text")
    assert covered is not None
    assert (
        covered.value["cover"] == "white"
        and covered.value["under"] == "Total 100.00"
        and covered.value["over"] == "Total 900.00"
    )


def test_shading_drawn_before_the_text_is_no_cover(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path))
    canvas.setFillColorRGB(1, 1, 1)
    canvas.rect(95, 695, 120, 16, stroke=0, fill=1)
    canvas.setFillColorRGB(0, 0, 0)
    canvas.drawString(100, 700, "Total 900.00")
    canvas.save()
    assert pdf.read(str(path)).fact("pdf.covered_text") is None


def test_header_offset_and_bytes_behind_the_end(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    path.write_bytes(b"garbage\n" + data + b"PK\x03\x04 hidden")
    facts = pdf.read(str(path))
    said = " ".join(p.message for p in facts.problems)
    assert "The header starts at byte 8" in said
    assert "11 bytes follow the end mark" in said
    assert facts.get("pdf.pages") == 1
    assert "leads to byte" not in said


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"%PDF-", b"%PXF-", "header %PDF is missing"),
        (b"startxref", b"startxxxx", "startxref is missing"),
        (b"%%EOF", b"%%EXX", "end mark %%EOF is missing"),
        (b"/Root", b"/Roof", "catalog"),
    ],
)
def test_a_missing_piece_is_named(tmp_path: Path, old: bytes, new: bytes, words: str) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))
    assert any(words in p.message for p in pdf.read(str(path)).problems)


def test_wrong_stream_length_and_offsets_are_named(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    at = data.index(b"endstream")
    path.write_bytes(data[:at] + b"   more   " + data[at:])
    said = " ".join(p.message for p in pdf.read(str(path)).problems)
    assert "ends after" in said or "leads to byte" in said
    assert "no cross-reference section" in said


def test_a_stream_that_begins_behind_a_lone_carriage_return_is_no_grave_fault(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    # As Illustrator wrote it in the nineties.
    path.write_bytes(path.read_bytes().replace(b"\nstream\n", b"\nstream\r"))
    problems = pdf.read(str(path)).problems
    assert problems and not any(problem.grave for problem in problems), problems


def test_syntax_reads_what_the_format_allows() -> None:
    value, end = syntax.parse(b"<< /A#20B [1 -2.5 (a\\)\\101(b)) <4a4B5> null true] /R 12 0 R >> rest", 0)
    assert value == {"A B": [1, -2.5, b"a)A(b)", b"JKP", None, True], "R": syntax.Ref(12, 0)}
    assert end == 62


@pytest.mark.parametrize("raw", [b"<< /A", b"[" * 100, b"(" * 100, b"<41", b"<< 1 2 >>", b""])
def test_syntax_refuses_what_does_not_end(raw: bytes) -> None:
    with pytest.raises(syntax.SyntaxFault):
        syntax.parse(raw, 0)


def test_versions_for_the_command_line(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    path.write_bytes(appended(data, {content_number(path): stream(b"BT ET")}))
    rows = pdf.versions(str(path))
    assert [r[0] for r in rows] == [1, 2] and rows[1][3] == "page content"
    document = pikepdf.open(io.BytesIO(path.read_bytes()[: rows[0][1]]))
    assert len(document.pages) == 1


def listed_again(data: bytes) -> bytes:
    """Append a section that only lists an object that is there already."""
    last = pdf_history.walk(data).revisions[-1]
    number, (_, offset, _) = next((n, e) for n, e in last.entries.items() if e[0] == "at")
    trailer = b"<< /Size %d /Root %d 0 R /Prev %d >>" % (
        last.trailer["Size"],
        last.trailer["Root"].number,
        last.startxref,
    )
    table = b"xref\n%d 1\n%010d 00000 n \ntrailer\n" % (number, offset) + trailer
    return data + table + b"\nstartxref\n%d\n%%%%EOF\n" % len(data)


def test_a_section_that_lists_objects_again_is_no_version_of_its_own(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    twice = listed_again(path.read_bytes())
    changed = appended(twice, {content_number(path): stream(b"BT ET")})
    path.write_bytes(changed)
    records = [f.value for f in pdf.read(str(path)).all("pdf.revision")]
    assert [(r["index"], r["same_save"]) for r in records] == [(1, False), (1, True), (2, False)]
    assert [row[:2] for row in pdf.versions(str(path))] == [[1, len(twice)], [2, len(changed)]]


@pytest.mark.parametrize(("shown", "annotated", "n"), [(b"", False, 1), (b"BT ET", False, 2), (b"", True, 2)])
def test_empty_pages_that_a_program_writes_first_are_no_version(
    tmp_path: Path, shown: bytes, annotated: bool, n: int
) -> None:
    """As Illustrator wrote documents in the nineties."""
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        document.pages[0].obj.Contents = document.make_stream(shown)
        if annotated:
            document.pages[0].obj.Annots = pikepdf.Array()
        document.save(path, compress_streams=False)
    path.write_bytes(appended(path.read_bytes(), {content_number(path): stream(b"BT (words) Tj ET")}))
    records = [f.value for f in pdf.read(str(path)).all("pdf.revision")]
    assert [r["index"] for r in records] == list(range(1, n + 1))
    assert records[0]["start_offset"] == 0 and records[-1]["end_offset"] == path.stat().st_size
