"""Rules on PDFs, each on a document that the test makes."""

from datetime import UTC, datetime
from pathlib import Path

import pikepdf
import pytest

from forensix.errors import BrokenMedia, InputNotFound, UsageError
from forensix.forensics import claims, result, revisions
from forensix.forensics.findings import Finding
from forensix.forensics.rules import pdf_dates
from forensix.metadata.facts import Fact, Facts, Problem
from forensix.metadata.pdf import reader as pdf
from tests.forensics.rules import pick
from tests.metadata.making_images import xmp_packet
from tests.metadata.pdf.test_facts import appended, content_number, listed_again, page, stream


def findings_of(path: Path) -> tuple[Finding, ...]:
    return claims(pdf.read(str(path)))


def facts(*items: tuple[str, object]) -> Facts:
    return Facts("pdf", "pdf", tuple(Fact(key, value, "made up", 0) for key, value in items))


def dated(path: Path, **info: str) -> Path:
    out = path.with_name("dated.pdf")
    with pikepdf.open(path) as document:
        for key, value in info.items():
            document.docinfo[f"/{key}"] = value
        document.save(out)
    return out


def test_plain_document_is_not_suspected(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pikepdf.new() as document:
        document.add_blank_page()
        document.docinfo["/Producer"] = "Microsoft Word for Microsoft 365"
        document.docinfo["/CreationDate"] = document.docinfo["/ModDate"] = "D:20240102030405+01'00'"
        document.save(path)
    assert [f.claim.claim for f in findings_of(path) if f.severity != "benign"] == []


def test_later_version_of_the_page_is_suspect(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    path.write_bytes(appended(path.read_bytes(), {number: stream(b"BT /F1 12 Tf 100 700 Td (900) Tj ET")}))
    findings = findings_of(path)
    assert pick(findings, "The file holds 2 versions").severity == "suspect"
    change = pick(findings, "Version 2 changes page content")
    assert (change.severity, change.claim.type, change.claim.user_category) == ("suspect", "versions", "editing")
    assert "FILE_EDITED" in result(findings).red_flags


@pytest.mark.parametrize(("n_times", "severity"), [(1, "benign"), (2, "suspect")])
def test_a_version_that_attaches_the_first_file_needs_no_explanation(
    tmp_path: Path, n_times: int, severity: str
) -> None:
    """The data of electronic invoices are attached so; the second ones take the place of the first."""
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path) as document:
        root, pages_at = document.Root.objgen[0], document.Root.Pages.objgen[0]
    for n in range(n_times):
        file, named = 900 + 2 * n, 901 + 2 * n
        entry = b"<< /Type /Filespec /F (invoice.xml) /EF << /F %d 0 R >> >>" % file
        catalog = b"<< /Type /Catalog /Pages %d 0 R /Names << /EmbeddedFiles << /Names [(a) %d 0 R] >> >> >>"
        content = b"<< /Type /EmbeddedFile /Length 9 >>\nstream\n<total/>%d\nendstream" % n
        objects = {file: content, named: entry, root: catalog % (pages_at, named)}
        path.write_bytes(appended(path.read_bytes(), objects))
    assert pick(findings_of(path), f"The file holds {n_times + 1} versions").severity == severity


def test_what_a_document_says_modified_it_explains_that_it_was_saved_again() -> None:
    """Courts stamp what is filed so, and it was told twice."""
    saved = facts(
        ("pdf.id", ["aa", "bb"]),
        ("pdf.info.Producer", "Acrobat Distiller 17.0; modified using iText 7.1.6 by iText Group NV"),
        ("pdf.info.CreationDate", "D:20240102030405Z"),
        ("pdf.info.ModDate", "D:20240105030405Z"),
    )
    found = claims(saved)
    assert pick(found, "modified with iText 7.1.6").severity == "suspect"
    assert pick(found, "The document was saved again").severity == "benign"


@pytest.mark.parametrize(("name", "severity"), [("factur-x.xml", "benign"), ("notes.xml", "suspect")])
def test_the_data_of_an_electronic_invoice_explain_that_it_was_saved_again(name: str, severity: str) -> None:
    saved = facts(
        ("pdf.id", ["aa", "bb"]),
        ("pdf.info.CreationDate", "D:20240102030405Z"),
        ("pdf.info.ModDate", "D:20240105030405Z"),
        ("pdf.embedded_file", name),
    )
    assert pick(claims(saved), "The document was saved again").severity == severity


@pytest.mark.parametrize(("name", "is_invoice"), [("factur-x.xml", True), ("notes.xml", False)])
def test_pypdf_is_no_editor_where_it_attached_the_data_of_an_electronic_invoice(name: str, is_invoice: bool) -> None:
    made = facts(("pdf.info.Producer", "WeasyPrint 62.3"), ("xmp.pdf.Producer", "pypdf"), ("pdf.embedded_file", name))
    assert sum(f.severity == "suspect" for f in claims(made)) == (0 if is_invoice else 2)


def test_a_version_that_changes_no_page_is_said_to_change_none(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(appended(path.read_bytes(), {900: b"<< /Title (Another) >>"}, info=900))
    said = pick(findings_of(path), "The file holds 2 versions").claim.explanation
    assert "No later version changes what the pages themselves draw" in said and "changing a page" not in said


def test_versions_are_numbered_as_they_are_counted(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    path.write_bytes(appended(listed_again(path.read_bytes()), {number: stream(b"BT (900) Tj ET")}))
    findings = findings_of(path)
    whole = pick(findings, "The file holds 2 versions")
    assert [value.split(":")[0] for value in whole.claim.value or ()] == ["1", "2"]
    pick(findings, "Version 2 changes page content")
    assert pick(findings, "A second cross-reference section lists the same objects").severity == "benign"


@pytest.mark.parametrize(
    ("part", "entries", "words"),
    [
        ("page", b"/CropBox [0 0 595 600]", "cut or turned otherwise"),
        ("page", b"/Rotate 180", "cut or turned otherwise"),
        ("font", b"/Encoding << /Differences [49 /nine] >>", "changes fonts"),
        ("page", b"/CropBox [0 0 595.2756 841.8898]", ""),
        ("page", b"/Rotate 0 /Dur 5", ""),
    ],
)
def test_a_version_that_draws_the_same_content_otherwise_is_suspect(
    tmp_path: Path, part: str, entries: bytes, words: str
) -> None:
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path) as document:
        item = document.pages[0].obj if part == "page" else document.pages[0].obj.Resources.Font.F1
        number = item.objgen[0]
        if "/Rotate" in item:
            del item["/Rotate"]
        body = item.unparse(resolved=True)
    path.write_bytes(appended(path.read_bytes(), {number: body[:-2] + entries + b" >>"}))
    findings = findings_of(path)
    change = pick(findings, f"Version 2 changes {part}")
    assert change.severity == ("suspect" if words else "benign") and words in change.claim.explanation
    shows = "changes what the pages show" in pick(findings, "The file holds 2 versions").claim.explanation
    assert shows == bool(words)


@pytest.mark.parametrize(("later", "told"), [("20190101120000Z", True), ("20240102040405+01'00'", False)])
def test_a_later_version_with_another_date_of_making(tmp_path: Path, later: str, told: bool) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    for date in ("20240102030405Z", later):
        data = appended(data, {900: f"<< /CreationDate (D:{date}) >>".encode()}, info=900)
    path.write_bytes(data)
    claim = "Version 3 states another date of making than version 2"
    assert [f.severity for f in findings_of(path) if f.claim.claim == claim] == ["suspect"] * told


def test_second_section_of_one_save_is_no_version(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    first = int(data.rsplit(b"startxref\n", 1)[1].split()[0])
    trailer = b"xref\n0 0\ntrailer\n<< /Size 99 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n" % (first, len(data))
    entry = b"xref\n5 1\n%010d 00000 n \n" % data.index(b"5 0 obj")
    path.write_bytes(data + trailer.replace(b"xref\n0 0\n", entry, 1))
    findings = findings_of(path)
    assert not [f for f in findings if "versions of the document" in f.claim.claim]


def test_later_moddate_alone_is_benign(tmp_path: Path) -> None:
    path = dated(
        page(tmp_path / "a.pdf"), CreationDate="D:20200101120000Z", ModDate="D:20210101120000Z", Producer="Some Writer"
    )
    claim = pick(findings_of(path), "changed after it was made")
    assert (claim.severity, claim.claim.type) == ("benign", "dates")


def test_an_editor_is_told_once_and_not_by_its_dates(tmp_path: Path) -> None:
    path = dated(
        page(tmp_path / "a.pdf"),
        CreationDate="D:20200101120000Z",
        ModDate="D:20210101120000Z",
        Producer="Adobe Photoshop 25.0",
    )
    findings = findings_of(path)
    assert pick(findings, "changed after it was made").severity == "benign"
    assert pick(findings, "names the editing program Adobe Photoshop").severity == "suspect"


@pytest.mark.parametrize("writer", [(), (("pdf.writer", "MuPDF"),)])
def test_an_identifier_is_not_alone_where_the_bytes_are_another_programs(writer: tuple[tuple[str, str], ...]) -> None:
    found = claims(facts(("pdf.id", ["aa" * 16, "bb" * 16]), ("pdf.info.Producer", "LibreOffice 7.4"), *writer))
    said = pick(found, "identifier says that it was saved again").claim.explanation
    assert ("Nothing else in the file says so" in said) is not any("was written anew" in f.claim.claim for f in found)


def test_an_editor_explains_another_save() -> None:
    ids = ["aa" * 16, "bb" * 16]
    dates = (("pdf.info.CreationDate", "D:20200101120000Z"), ("pdf.info.ModDate", "D:20210101120000Z"))
    alone = claims(facts(("pdf.id", ids), *dates))
    beside = claims(facts(("pdf.id", ids), *dates, ("pdf.info.Producer", "iLovePDF")))
    assert pick(alone, "saved again").severity == "suspect"
    assert pick(beside, "saved again").severity == "benign"
    assert "iLovePDF, which the document names, explains it" in pick(beside, "saved again").claim.explanation


@pytest.mark.parametrize(
    ("producer", "severity"), [("pypdf", "suspect"), ("pdftk-java 3.2.2", "suspect"), ("pikepdf 8.15.1", "benign")]
)
def test_what_puts_documents_together_is_an_editor_and_what_only_stamps_them_is_none(
    producer: str, severity: str
) -> None:
    assert [f.severity for f in claims(facts(("pdf.info.Producer", producer))) if f.claim.type == "software"] == [
        severity
    ]


@pytest.mark.parametrize(
    ("creator", "producer", "told"),
    [
        ("Writer", "LibreOffice 7.4", ["The file was written by LibreOffice"]),
        ("Calc", "OpenOffice.org 3.3", ["The file was written by OpenOffice"]),
        ("anonymous", "ReportLab PDF Library - (opensource)", ["The file was written by ReportLab"]),
        (
            "Writer",
            "GPL Ghostscript 10.00",
            ["The file was converted or rewritten by Ghostscript", "The file names a program that is not known here"],
        ),
    ],
)
def test_a_part_of_a_suite_is_no_program_beside_it(creator: str, producer: str, told: list[str]) -> None:
    named = claims(facts(("pdf.info.Creator", creator), ("pdf.info.Producer", producer)))
    assert [f.claim.claim for f in named if f.claim.type == "software"] == told


def test_earlier_moddate_and_time_zones(tmp_path: Path) -> None:
    path = dated(page(tmp_path / "a.pdf"), CreationDate="D:20200101120000+02'00'", ModDate="D:20200101120000+02'00'")
    assert not [f for f in findings_of(path) if f.claim.type == "dates"]
    path = dated(page(tmp_path / "a.pdf"), CreationDate="D:20200101120000Z", ModDate="D:20200101090500Z")
    earlier = pick(findings_of(path), "changed before it was made")
    assert earlier.severity == "benign" and "about 2.9 hours before the document was made" in earlier.claim.explanation
    path = dated(page(tmp_path / "a.pdf"), CreationDate="D:20200101120000Z", ModDate="D:20110101120000Z")
    assert pick(findings_of(path), "changed before it was made").severity == "suspect"


@pytest.mark.parametrize(("seconds", "told"), [(0, False), (2, False), (3, True)])
def test_dates_two_seconds_apart_are_of_one_save(seconds: int, told: bool) -> None:
    """Programs take the time twice while they write, and some keep even seconds only."""
    made, later = "D:20200101120000Z", f"D:2020010112000{seconds}Z"
    changed = claims(facts(("pdf.info.CreationDate", made), ("pdf.info.ModDate", later)))
    beside = claims(facts(("pdf.info.CreationDate", later), ("xmp.xmp.CreateDate", "2020-01-01T12:00:00Z")))
    assert any("changed after it was made" in f.claim.claim for f in changed) is told
    assert any("CreationDate differs" in f.claim.claim for f in beside) is told


def test_xmp_date_differs(tmp_path: Path) -> None:
    path = dated(page(tmp_path / "a.pdf"), CreationDate="D:20200101120000Z", ModDate="D:20200101120000Z")
    out = tmp_path / "x.pdf"
    with pikepdf.open(path) as document:
        with document.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False) as packet:
            packet["xmp:ModifyDate"] = "2020-03-01T12:00:00Z"
        document.save(out)
    assert pick(findings_of(out), "ModDate differs between document information and XMP").claim.type == "dates"


@pytest.mark.parametrize(
    ("date", "words"),
    [
        ("D:19700101000000Z", "was never set"),
        ("D:19850101000000Z", "older than PDF"),
        ("D:29990101000000Z", "in the future"),
        ("yesterday", "is not a date"),
    ],
)
def test_dates_that_cannot_be(tmp_path: Path, date: str, words: str) -> None:
    assert pick(findings_of(dated(page(tmp_path / "a.pdf"), CreationDate=date)), words).claim.type == "dates"


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (
            (("pdf.info.CreationDate", "D:20200101120000+02'00'"), ("pdf.info.ModDate", "D:20210101120000Z")),
            ("CreationDate 2020-01-01T12:00:00+02:00", "ModDate 2021-01-01T12:00:00+00:00"),
        ),
        (
            (("pdf.info.CreationDate", "D:20200101120000"), ("pdf.info.ModDate", "D:20200101120001")),
            ("CreationDate 2020-01-01T12:00:00",),
        ),
        ((("xmp.xmp.CreateDate", "2020-01-01T12:00:00Z"),), ("CreateDate 2020-01-01T12:00:00+00:00",)),
        ((("pdf.info.CreationDate", "D:19700101000000Z"), ("pdf.info.ModDate", "yesterday")), ()),
    ],
    ids=["changed later", "one save", "XMP alone", "never set"],
)
def test_a_document_says_when_it_was_made(items: tuple[tuple[str, str], ...], said: tuple[str, ...]) -> None:
    found = [f for f in claims(facts(*items)) if f.claim.claim == "The file says when it was made"]
    assert [(f.severity, f.claim.type, f.claim.user_category, f.claim.value) for f in found] == (
        [("benign", "metadata", "dates", said)] if said else []
    )


def test_dates_are_read_with_their_zone() -> None:
    assert pdf_dates.parse("D:20240229235959-05'30'") == datetime(2024, 3, 1, 5, 29, 59, tzinfo=UTC)
    assert pdf_dates.parse("2024-02-29T23:59:59+01:00") == datetime(2024, 2, 29, 22, 59, 59, tzinfo=UTC)
    assert pdf_dates.parse("D:2024") == datetime(2024, 1, 1, tzinfo=UTC)
    assert pdf_dates.parse("D:20241301") is None


def test_lock_is_a_finding_and_no_error(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "locked.pdf"
    with pikepdf.open(path) as document:
        document.save(out, encryption=pikepdf.Encryption(owner="boss", user="secret"))
    findings = findings_of(out)
    assert pick(findings, "opens only with a password").claim.type == "security"
    assert result(findings).document_details.password_protected is True


def test_script_at_opening_is_suspect_and_form_checks_are_not(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "b.pdf"
    with pikepdf.open(path) as document:
        document.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.launchURL('x')")
        document.save(out)
    assert pick(findings_of(out), "holds JavaScript").severity == "suspect"
    with pikepdf.open(path) as document:
        document.Root.Extra = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="AFNumber_Format(2, 0)")
        document.save(out)
    assert pick(findings_of(out), "holds JavaScript").severity == "benign"


def test_launch_action_and_executable_attachment(tmp_path: Path) -> None:
    path, out = page(tmp_path / "a.pdf"), tmp_path / "b.pdf"
    with pikepdf.open(path) as document:
        document.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.Launch, F="cmd.exe")
        document.attachments["invoice.js"] = b"x"
        document.save(out)
    findings = findings_of(out)
    assert pick(findings, "start another program").severity == "suspect"
    assert pick(findings, "carries other files").severity == "suspect"


@pytest.mark.parametrize(
    ("target", "severity"),
    [
        ({"F": "Instructions.pdf"}, "benign"),
        ({"F": "forms/Instructions 2.PDF"}, "benign"),
        ({"F": "Instructions.pdf", "Win": {"F": "cmd.exe"}}, "suspect"),
        ({"F": "//host/Instructions.pdf"}, "suspect"),
        ({"F": "\\\\host\\Instructions.pdf"}, "suspect"),
        ({"F": "run.exe"}, "suspect"),
    ],
)
def test_a_document_that_a_form_opens_is_no_program(tmp_path: Path, target: dict, severity: str) -> None:
    with pikepdf.open(page(tmp_path / "a.pdf"), allow_overwriting_input=True) as document:
        inner = {
            key: pikepdf.Dictionary(**value) if isinstance(value, dict) else value for key, value in target.items()
        }
        document.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.Launch, **inner)
        document.save(tmp_path / "a.pdf")
    words = "can open another document" if severity == "benign" else "start another program"
    assert pick(findings_of(tmp_path / "a.pdf"), words).severity == severity


@pytest.mark.parametrize(
    ("kind", "severity"),
    [("Launch", "suspect"), ("ImportData", "suspect"), ("SubmitForm", "benign"), ("GoToE", "benign")],
)
def test_an_action_that_reaches_for_what_is_on_the_machine_is_suspect(kind: str, severity: str) -> None:
    (found,) = [f for f in claims(facts((f"pdf.action.{kind}", "x"))) if "such actions" in f.claim.explanation]
    assert found.severity == severity


def test_a_scan_is_told_by_its_program_or_by_pages_that_are_pictures_without_text() -> None:
    found = claims(facts(("pdf.info.Producer", "PFU PDF Library 1.3.1"), ("pdf.text_pages", 1)))
    assert pick(found, "looks like a scan").severity == "benign"
    assert result(found).document_details.source == "physical"
    assert not [f for f in claims(facts(("pdf.scan", 1), ("pdf.text_pages", 1))) if "scan" in f.claim.claim]


@pytest.mark.parametrize(
    ("creator", "saved", "severity"),
    [
        ("Writer", "20210101120000", "suspect"),
        ("Writer", "20200101120101", "suspect"),
        ("Writer", "20200101120059", "benign"),
        ("Acrobat PDFMaker 19 for Word", "20200101120011", "benign"),
        ("Word \u7528 Acrobat PDFMaker 19", "20200101120011", "benign"),
        ("Acrobat PDFMaker 19 for Word", "20200101130000", "suspect"),
    ],
)
def test_unequal_identifier_with_a_later_date(creator: str, saved: str, severity: str, tmp_path: Path) -> None:
    assert saved_again(tmp_path, saved, Creator=creator).severity == severity


@pytest.mark.parametrize(
    ("producer", "xmp", "severity"),
    [
        ("iTextSharp 4.0.7 (based on iText 2.0.7)", "", "benign"),
        ("3-Heights(TM) PDF Optimization Shell 6.3.1.5 (http://www.pdf-tools.com)", "", "benign"),
        ("iTextSharp 4.0.7 (based on iText 2.0.7)", xmp_packet("xmp:Label='a'"), "suspect"),
        ("GPL Ghostscript 9.5", "", "suspect"),
    ],
)
def test_what_updates_documents_explains_a_later_date(producer: str, xmp: str, severity: str, tmp_path: Path) -> None:
    assert saved_again(tmp_path, "20210101120000", xmp, Producer=producer).severity == severity


def saved_again(tmp_path: Path, saved: str, xmp: str = "", **info: str) -> Finding:
    """Return what is found of a document whose identifier says that it was saved again."""
    path = dated(page(tmp_path / "a.pdf"), CreationDate="D:20200101120000Z", ModDate=f"D:{saved}Z", **info)
    out = tmp_path / "b.pdf"
    with pikepdf.open(path) as document:
        if xmp:
            document.Root.Metadata = document.make_stream(xmp.encode(), Type=pikepdf.Name.Metadata)
        document.trailer.ID = [b"a" * 16, b"b" * 16]
        document.save(out, static_id=True)
    claim = pick(findings_of(out), "saved again after it was made")
    assert ("FILE_EDITED" in result((claim,)).red_flags) == (claim.severity == "suspect")
    return claim


@pytest.mark.parametrize(("n_more", "is_told"), [(39, False), (40, True)])
def test_that_not_all_versions_were_looked_at_is_told(tmp_path: Path, n_more: int, is_told: bool) -> None:
    path = page(tmp_path / "a.pdf")
    data, number = path.read_bytes(), content_number(path)
    for n in range(n_more):
        data = appended(data, {number: stream(b"BT /F1 12 Tf 100 700 Td (%d) Tj ET" % n)})
    path.write_bytes(data)
    claim = pick(findings_of(path), f"The file holds {n_more + 1} versions")
    assert ("Versions after the 40th were not looked at one by one." in claim.claim.explanation) is is_told


def test_malformed_is_suspect(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(path.read_bytes()[:-30])
    assert pick(findings_of(path), "malformed").claim.type == "structure"


def test_versions_can_be_listed_and_taken_out(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    first = path.read_bytes()
    path.write_bytes(appended(first, {content_number(path): stream(b"BT ET")}))
    rows = revisions.revisions(path)
    assert [(r.index, r.end_offset) for r in rows] == [(1, len(first)), (2, path.stat().st_size)]
    assert rows[1].n_objects_changed == 1 and rows[1].summary == "page content"
    out = tmp_path / "first.pdf"
    assert revisions.extract(path, 1, out) == rows[0]
    assert out.read_bytes() == first
    with pytest.raises(UsageError, match="exists already"):
        revisions.extract(path, 1, out)
    with pytest.raises(UsageError, match="versions 1 to 2"):
        revisions.extract(path, 3, tmp_path / "c.pdf")
    with pytest.raises(InputNotFound):
        revisions.revisions(tmp_path / "none.pdf")
    (tmp_path / "no.pdf").write_bytes(b"no document")
    with pytest.raises(BrokenMedia):
        revisions.revisions(tmp_path / "no.pdf")


@pytest.mark.parametrize(
    ("producer", "date", "young"),
    [
        ("LibreOffice 7.3", "D:20110101120000Z", True),
        ("LibreOffice 7.3", "D:20220101120000Z", False),
        ("macOS Version 12.6 (Build 21G115) Quartz PDFContext", "D:20190101120000Z", True),
        ("pdfTeX-1.40.23", "D:20210601120000Z", False),
        ("Skia/PDF m131", "D:20120314100000Z", True),
        ("Skia/PDF m156", "D:20240601120000Z", True),
        ("Skia/PDF m156", "D:20260601120000Z", False),
        ("Some Writer 7", "D:19990101120000Z", False),
    ],
)
def test_no_program_writes_before_it_exists(tmp_path: Path, producer: str, date: str, young: bool) -> None:
    path = dated(page(tmp_path / "a.pdf"), CreationDate=date, ModDate=date, Producer=producer)
    fields = [f for f in findings_of(path) if "is younger than the document" in f.claim.claim]
    assert [f.severity for f in fields] == (["suspect"] if young else [])


@pytest.mark.parametrize(("more", "number"), [("", 1), ("Microsoft Word 2016; ", 0)])
def test_two_producers_contradict_each_other(tmp_path: Path, more: str, number: int) -> None:
    path = dated(page(tmp_path / "a.pdf"), Producer=f"{more}pyHanko 0.21.0")
    out = tmp_path / "x.pdf"
    with pikepdf.open(path) as document:
        with document.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False) as packet:
            packet["pdf:Producer"] = "Microsoft Word 2016"
        document.save(out)
    told = [f.severity for f in findings_of(out) if "two different programs as its producer" in f.claim.claim]
    assert told == ["suspect"] * number


def test_a_converter_is_told_and_a_stated_modification_is_suspect(tmp_path: Path) -> None:
    path = dated(page(tmp_path / "a.pdf"), Producer="iText 2.1.7 by 1T3XT")
    assert [f.claim.claim for f in findings_of(path) if f.severity != "benign"] == []
    path = dated(page(tmp_path / "a.pdf"), Producer="Some Writer; modified using iText 2.1.7 by 1T3XT")
    assert pick(findings_of(path), "modified with iText 2.1.7").severity == "suspect"


@pytest.mark.parametrize(("key", "severity"), [("CrossmarkDomainExclusive", "benign"), ("doi", "suspect")])
def test_the_mark_of_an_article_explains_a_stated_modification(tmp_path: Path, key: str, severity: str) -> None:
    info = {key: "true", "Producer": "Acrobat Distiller 10.1.8 (Windows); modified using iText 5.3.5"}
    path = dated(page(tmp_path / "a.pdf"), **info)
    assert pick(findings_of(path), "modified with iText 5.3.5").severity == severity


@pytest.mark.parametrize(
    ("last", "severity"),
    [
        (
            b"Q q BT 1 0 0 rg /F1 12 Tf 20 767 Td (Case 4:08-cv-02214-SBA  Document 27  Page 1 of 2)Tj ( )Tj ET Q",
            "benign",
        ),
        (b"Q BT /F1 12 Tf 20 767 Td (Appellate Case: 22-1801  Page: 1  Entry ID: 5237514)Tj ET Q", "benign"),
        (b"Q BT /F1 12 Tf 20 767 Td (Case 4:08-cv-02214  Document 27  Page 1)Tj (guilty)Tj ET Q", "suspect"),
        (b"Q BT /F1 12 Tf 20 767 Td (Case 4:08-cv-02214  Document 27  Page 1)Tj ET 0 0 99 99 re f Q", "suspect"),
        (b"Q BT /F1 12 Tf 20 767 Td (Invoice 4-08  Document 27  Page 1)Tj ET Q", "suspect"),
    ],
)
@pytest.mark.parametrize("stamped", [1, 2])
def test_the_line_that_courts_stamp_on_each_page_explains_a_stated_modification(
    tmp_path: Path, last: bytes, severity: str, stamped: int
) -> None:
    """In the two ways that versions of iText write it, and in ways that they do not; also where a page has none."""
    with pikepdf.new() as document:
        for number in (1, 2):
            made = document.add_blank_page()
            parts = (b"q", b"0 0 9 9 re f", last if number <= stamped else b"Q")
            made.obj.Contents = pikepdf.Array([document.make_stream(part) for part in parts])
        document.docinfo["/Producer"] = "Acrobat Distiller; modified using iText 2.1.7 by 1T3XT"
        document.save(tmp_path / "a.pdf")
    found = pick(findings_of(tmp_path / "a.pdf"), "modified with iText 2.1.7")
    assert found.severity == (severity if stamped == 2 else "suspect")


def test_a_document_for_a_certificate_is_not_malformed(corpora: Path) -> None:
    findings = findings_of(corpora / "forensics" / "pdf" / "0109_minimal-with-field-pubkey-aes256.pdf")
    assert pick(findings, "opens only with a certificate").severity == "benign"
    assert not [f for f in findings if f.claim.type == "structure" and f.severity != "benign"]


@pytest.mark.parametrize(
    ("producer", "mark", "named"),
    [
        ("ReportLab PDF Library", b"\xbf\xf7\xa2\xfe", "qpdf"),
        ("Microsoft Word 2016", b"\xc2\xb5\xc2\xb6", "MuPDF"),
        ("pikepdf 10.1", b"\xbf\xf7\xa2\xfe", None),
        ("MuPDF 1.24", b"\xc2\xb5\xc2\xb6", None),
        ("Microsoft Word 2016", b"\xe2\xe3\xcf\xd3", None),
    ],
)
def test_a_library_that_wrote_the_file_and_is_not_named(
    tmp_path: Path, producer: str, mark: bytes, named: str | None
) -> None:
    path = dated(page(tmp_path / "a.pdf"), Producer=producer)
    with pikepdf.open(path) as document:
        document.save(tmp_path / "again.pdf")
    data = (tmp_path / "again.pdf").read_bytes()
    assert data[10:14] == b"\xbf\xf7\xa2\xfe", "as qpdf writes it"
    path.write_bytes(data.replace(b"\xbf\xf7\xa2\xfe", mark, 1))
    findings = [f for f in findings_of(path) if "was written anew" in f.claim.claim]
    assert [f.claim.claim for f in findings] == (
        [f"The file was written anew by {named}, which it does not name"] * bool(named)
    )
    assert all(f.severity == "benign" and f.facts[0].offset == 10 for f in findings)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("A part cannot be read: TypeError: x.", False),
        ("The document cannot be opened: the file is damaged.", False),
        ("The parser had to repair it: the file is damaged.", True),
    ],
)
def test_no_program_is_missed_where_it_could_not_be_read(message: str, told: bool) -> None:
    findings = claims(Facts("pdf", "pdf", problems=(Problem(message, "document"),)))
    assert any("does not say which program wrote it" in f.claim.claim for f in findings) == told


@pytest.mark.parametrize(
    ("key", "value", "claim", "said"),
    [
        ("pdf.form.xfa", True, "holds an XFA form", ()),
        ("pdf.scan", 1, "looks like a scan", ("1 page",)),
        ("pdf.scan", 3, "looks like a scan", ("3 pages",)),
        ("pdf.encryption.forbidden", ["modify_form"], "opens without a password", ("unknown method", "modify form")),
        ("exif.GPSInfo", 90, "GPS block holds no position", ()),
    ],
)
def test_a_value_is_in_words_or_left_out(key: str, value: object, claim: str, said: tuple[str, ...]) -> None:
    assert pick(claims(facts((key, value))), claim).claim.value == said


def test_a_block_without_a_position_names_what_it_holds() -> None:
    block = facts(("exif.GPSInfo", 90), ("exif.gps.VersionID", [2, 2, 0, 0]), ("exif.gps.Altitude", 0.0))
    assert pick(claims(block), "GPS block holds no position").claim.value == ("VersionID", "Altitude")


def test_a_block_whose_position_is_blank_says_so() -> None:
    named = {"Latitude": [None, None, None], "LatitudeRef": "", "DateStamp": "2020:01:02"}
    claim = pick(claims(facts(("exif.GPSInfo", 90), *((f"exif.gps.{k}", v) for k, v in named.items()))), "no position")
    assert claim.claim.value == ("DateStamp",) and "there without a value" in claim.claim.explanation
