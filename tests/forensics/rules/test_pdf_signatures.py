"""Signatures of PDFs: each document is made by the test and signed with a certificate of its own."""

import asyncio
import hashlib
import io
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pikepdf
import pytest
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.pdf_utils.writer import copy_into_new_writer
from pyhanko.sign import fields, signers

from forensix.forensics import claims, result
from forensix.forensics.findings import Finding
from forensix.forensics.rules import pdf_after_signing, pdf_signatures
from forensix.media import open_media
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.pdf import reader as pdf
from forensix.metadata.pdf import signature_changes
from forensix.metadata.reader import read_facts
from tests.forensics.rules.test_pdf_rules import findings_of, pick
from tests.metadata.pdf.test_facts import appended, content_number, page, stream

FRAME = b"1 0 0 RG 101 691 198 28 re S"


def signed(
    data: bytes, signer: signers.SimpleSigner, field: str = "Sig1", allowed: fields.MDPPerm | None = None
) -> bytes:
    writer = IncrementalPdfFileWriter(io.BytesIO(data))
    meta = signers.PdfSignatureMetadata(
        field_name=field, md_algorithm="sha256", certify=allowed is not None, docmdp_permissions=allowed
    )
    out = signers.sign_pdf(writer, meta, signer=signer)
    return bytes(out.getvalue())


def updated(data: bytes, change: Callable[[IncrementalPdfFileWriter], None]) -> bytes:
    """Append one more version of a document, as a validator's program does."""
    writer = IncrementalPdfFileWriter(io.BytesIO(data))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_signature_that_the_form_lists_for_each_page_is_told_once(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path) as document:
        entries = {"/FT": pikepdf.Name.Sig, "/T": "Sig1", "/Type": pikepdf.Name.Annot, "/Subtype": pikepdf.Name.Widget}
        field = document.make_indirect(pikepdf.Dictionary({**entries, "/Rect": [0, 0, 0, 0], "/F": 132}))
        document.pages[0].obj.Annots = pikepdf.Array([field])
        document.Root.AcroForm = pikepdf.Dictionary(Fields=pikepdf.Array([field, field]), SigFlags=3)
        document.save(tmp_path / "b.pdf")
    path.write_bytes(signed((tmp_path / "b.pdf").read_bytes(), signer))
    assert len([f for f in findings_of(path) if f.claim.claim.startswith("Signed by")]) == 1


def proof(name: str, text: bytes) -> Callable[[IncrementalPdfFileWriter], None]:
    """Return a change that stores validation data, writing again what stood under the same name."""

    def change(writer: IncrementalPdfFileWriter) -> None:
        certificate = writer.add_object(generic.StreamObject(stream_data=text))
        entry = generic.DictionaryObject({generic.pdf_name("/Cert"): generic.ArrayObject([certificate])})
        remaining = generic.DictionaryObject(
            {generic.pdf_name("/VRI"): generic.DictionaryObject({generic.pdf_name(name): entry})}
        )
        writer.root[generic.pdf_name("/DSS")] = writer.add_object(remaining)
        writer.update_root()

    return change


def comment(kind: str, content: bytes = b"", drawing: bytes = FRAME) -> Callable[[IncrementalPdfFileWriter], None]:
    """Return a change that adds a comment with a ``drawing`` to the first page, and other ``content`` for the page."""

    def change(writer: IncrementalPdfFileWriter) -> None:
        first = writer.root["/Pages"]["/Kids"][0]
        box = generic.ArrayObject([generic.NumberObject(n) for n in (100, 690, 300, 720)])
        form = {"/Subtype": generic.pdf_name("/Form"), "/BBox": box}
        look = writer.add_object(generic.StreamObject({generic.pdf_name(k): v for k, v in form.items()}, drawing))
        entries = {
            "/Type": generic.pdf_name("/Annot"),
            "/Subtype": generic.pdf_name(kind),
            "/Rect": box,
            "/P": generic.IndirectObject(first.container_ref.idnum, 0, writer),
            "/AP": generic.DictionaryObject({generic.pdf_name("/N"): look}),
        }
        note = writer.add_object(generic.DictionaryObject({generic.pdf_name(k): v for k, v in entries.items()}))
        listed = first.get("/Annots", generic.ArrayObject())
        first[generic.pdf_name("/Annots")] = generic.ArrayObject([*listed, note])
        if content:
            first[generic.pdf_name("/Contents")] = writer.add_object(generic.StreamObject(stream_data=content))
        writer.update_container(first)

    return change


def unlocked(data: bytes, signer: signers.SimpleSigner, content: bytes = b"") -> bytes:
    """Append the version in which Adobe's Reader Extensions unlock functions of the free reader."""
    with pikepdf.open(io.BytesIO(data)) as document:
        catalog, number = document.Root.unparse()[:-2], len(document.objects) + 1
        root, drawn = document.Root.objgen[0], document.pages[0].Contents.objgen[0]
    blank = b"0" * 8192
    objects = {
        root: catalog + b" /Perms << /UR3 %d 0 R >> >>" % number,
        number: b"<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /adbe.pkcs7.detached /Name (ARE Production V6.1) "
        b"/ByteRange [0 1111111111 2222222222 3333333333] /Contents <" + blank + b"> >>",
    }
    out = appended(data, objects | ({drawn: stream(content)} if content else {}))
    start = out.index(b"<" + blank)
    end = start + len(blank) + 2
    for mark, value in ((b"1111111111", start), (b"2222222222", end), (b"3333333333", len(out) - end)):
        out = out.replace(mark, b"%-10d" % value, 1)
    digest = hashlib.sha256(out[:start] + out[end:]).digest()
    value = asyncio.run(signer.async_sign(digest, "sha256")).dump().hex().encode()
    return out[: start + 1] + value.ljust(len(blank), b"0") + out[end - 1 :]


def test_a_form_that_was_unlocked_for_the_free_reader_needs_no_explanation(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    held = unlocked(data, signer)
    drawn = unlocked(data, signer, b"BT /F1 12 Tf 100 700 Td (900) Tj ET")
    broken = held.replace(b"An invoice over 100", b"An invoice over 900")
    assert broken != held
    for changed, severity in ((held, "benign"), (drawn, "suspect"), (broken, "suspect")):
        path.write_bytes(changed)
        findings = findings_of(path)
        assert pick(findings, "The file holds 2 versions").severity == severity
        assert pick(findings, "usage rights").severity == "benign"


def severe(findings: tuple[Finding, ...]) -> list[str]:
    return [f.claim.claim for f in findings if f.claim.type == "signature" and f.severity != "benign"]


def test_signature_that_holds_is_benign(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(signed(path.read_bytes(), signer))
    # Through the child process, as a user's file goes: what it forbids must not keep signatures from being checked.
    with open_media(path) as media:
        findings = claims(read_facts(media), media)
    claim = pick(findings, "Signed by Test Signer")
    assert (claim.severity, claim.claim.type) == ("benign", "signature")
    assert "own holder" in claim.claim.explanation
    # Signing gives the document another second identifier, which is no further sign of having been saved again.
    assert not [f.claim.claim for f in findings if f.severity != "benign"]
    assert pick(findings, "The file holds 2 versions").severity == "benign"
    assert result(findings).document_details.digital_signature_by == "Test Signer"


@pytest.mark.parametrize("instead", [b"/ByteRange null", b"", b"/ByteRange [0 0 0 0]", b"/RangeByte [0 1 2 3]"])
def test_a_signature_that_no_longer_says_what_it_covers(
    instead: bytes, tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = page(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer)
    start = data.index(b"/ByteRange")
    end = data.index(b"]", start) + 1
    path.write_bytes(data[:start] + instead.ljust(end - start) + data[end:])
    found = findings_of(path)
    assert pick(found, "A signature does not say which bytes it covers").severity == "suspect"
    assert not any("never made" in f.claim.claim for f in found)


def test_a_visible_signature_changes_no_page(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    """The program leaves an empty drawing of the field that nothing leads to, beside the one that is shown."""
    path = page(tmp_path / "a.pdf")
    writer = IncrementalPdfFileWriter(io.BytesIO(path.read_bytes()))
    fields.append_signature_field(writer, fields.SigFieldSpec("Sig1", box=(300, 100, 500, 160)))
    meta = signers.PdfSignatureMetadata(field_name="Sig1", md_algorithm="sha256")
    path.write_bytes(signers.sign_pdf(writer, meta, signer=signer).getvalue())
    assert not [f.claim.claim for f in findings_of(path) if f.severity != "benign"]


def test_a_certified_form_may_be_signed_in_a_new_field_that_is_seen(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = page(tmp_path / "a.pdf")
    writer = IncrementalPdfFileWriter(io.BytesIO(signed(path.read_bytes(), signer, allowed=fields.MDPPerm.FILL_FORMS)))
    fields.append_signature_field(writer, fields.SigFieldSpec("Sig2", box=(300, 100, 500, 160)))
    meta = signers.PdfSignatureMetadata(field_name="Sig2", md_algorithm="sha256")
    path.write_bytes(signers.sign_pdf(writer, meta, signer=signer).getvalue())
    assert not severe(findings_of(path))


@pytest.mark.parametrize(
    ("drawing", "is_seal"),
    [
        (b"Q q q 80 0 0 40 310 110 cm /Seal Do Q BT 1 0 0 1 300 100 Tm 80 0 Td ET Q", True),
        (b"Q q q 80 0 0 40 100 690 cm /Seal Do Q Q", False),
        (b"q q 80 0 0 40 310 110 cm /Seal Do Q Q", False),
        (b"Q q BT /F1 12 Tf 310 110 Td (900) Tj ET Q", False),
    ],
)
def test_a_seal_that_is_drawn_on_the_page_within_the_field_of_its_signature_changes_no_page(
    tmp_path: Path, signer: signers.SimpleSigner, drawing: bytes, is_seal: bool
) -> None:
    """Platforms for electronic invoices draw it twice, in the field and on the page below."""
    writer = IncrementalPdfFileWriter(io.BytesIO(page(tmp_path / "a.pdf").read_bytes()))
    name, number = generic.pdf_name, generic.NumberObject
    names = {"/Type": "/XObject", "/Subtype": "/Image", "/ColorSpace": "/DeviceGray"}
    entries = {name(key): name(value) for key, value in names.items()}
    entries |= {name("/Width"): number(1), name("/Height"): number(1), name("/BitsPerComponent"): number(8)}
    seal = writer.add_object(generic.StreamObject(entries, stream_data=b"\x80"))
    means = generic.DictionaryObject({name("/XObject"): generic.DictionaryObject({name("/Seal"): seal})})
    before, behind = (writer.add_object(generic.StreamObject(stream_data=part)) for part in (b"q", drawing))
    writer.add_stream_to_page(0, before, means, prepend=True)
    writer.add_stream_to_page(0, behind)
    fields.append_signature_field(writer, fields.SigFieldSpec("Sig1", box=(300, 100, 500, 160)))
    meta = signers.PdfSignatureMetadata(field_name="Sig1", md_algorithm="sha256")
    path = tmp_path / "b.pdf"
    path.write_bytes(signers.sign_pdf(writer, meta, signer=signer).getvalue())
    assert all(f.severity == "benign" for f in findings_of(path)) == is_seal


def test_changed_byte_breaks_the_signature(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer)
    path.write_bytes(data.replace(b"An invoice over 100", b"An invoice over 900", 1))
    claim = pick(findings_of(path), "signature of Test Signer is broken")
    assert claim.severity == "critical"


def test_a_signature_that_came_with_a_document_that_was_written_anew_is_suspect(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(signed(path.read_bytes(), signer))
    with pikepdf.open(path) as document:
        document.add_blank_page()
        document.save(tmp_path / "b.pdf", static_id=True)
    findings = findings_of(tmp_path / "b.pdf")
    assert pick(findings, "The signature of Test Signer was made in another file").severity == "suspect"
    assert not [f for f in findings if f.severity == "critical"]


def test_change_after_signing_is_critical(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    data = signed(path.read_bytes(), signer)
    path.write_bytes(appended(data, {number: stream(b"BT /F1 12 Tf 100 700 Td (900) Tj ET")}))
    findings = findings_of(path)
    claim = pick(findings, "changed after Test Signer signed it")
    assert claim.severity == "critical"
    assert pick(findings, "Signed by Test Signer").severity == "benign"


@pytest.mark.parametrize(("is_broken", "severity"), [(False, "benign"), (True, "suspect")])
@pytest.mark.parametrize(
    ("producer", "claim"),
    [("Word; modified using iText 5.5.3", "modified with iText 5.5.3"), ("Word", "saved again after it was made")],
)
def test_a_signature_that_holds_explains_that_the_document_was_written_again(
    tmp_path: Path, signer: signers.SimpleSigner, producer: str, claim: str, is_broken: bool, severity: str
) -> None:
    """Signed as a whole, so that no earlier version is kept."""
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path) as document:
        document.docinfo["/Producer"] = producer
        document.docinfo["/CreationDate"], document.docinfo["/ModDate"] = "D:20200101120000Z", "D:20200201120000Z"
        document.save(tmp_path / "b.pdf", compress_streams=False)
    writer = copy_into_new_writer(PdfFileReader(io.BytesIO((tmp_path / "b.pdf").read_bytes())))
    meta = signers.PdfSignatureMetadata(field_name="Sig1", md_algorithm="sha256")
    data = signers.sign_pdf(writer, meta, signer=signer).getvalue()
    path.write_bytes(data.replace(b"An invoice", b"No invoice") if is_broken else data)
    assert pick(findings_of(path), claim).severity == severity


def test_second_signature_is_allowed(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    writer = IncrementalPdfFileWriter(io.BytesIO(path.read_bytes()))
    for name in ("Sig1", "Sig2"):
        fields.append_signature_field(writer, fields.SigFieldSpec(name))
    out = io.BytesIO()
    writer.write(out)
    path.write_bytes(signed(signed(out.getvalue(), signer), signer, "Sig2"))
    findings = findings_of(path)
    assert not [f for f in findings if f.severity == "critical"]
    assert len([f for f in findings if f.claim.claim == "Signed by Test Signer"]) == 2


def test_signature_over_part_of_the_file_is_critical(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer)
    ranges = PdfFileReader(io.BytesIO(data)).embedded_signatures[0].byte_range
    old = f"{ranges[2]} {ranges[3]}".encode()
    new = f"{ranges[2]} {ranges[3] - 50}".encode().ljust(len(old))
    assert old in data
    path.write_bytes(data.replace(old, new, 1))
    assert any(f.severity == "critical" and f.claim.type == "signature" for f in findings_of(path))


class InThreeDays(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + timedelta(days=3)


@pytest.mark.parametrize("clock", [datetime, InThreeDays])
def test_validation_data_may_be_added_and_written_again(
    clock: type[datetime], tmp_path: Path, signer: signers.SimpleSigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, name = page(tmp_path / "a.pdf"), "/" + "AB" * 20
    data = signed(path.read_bytes(), signer)
    monkeypatch.setattr("pyhanko.pdf_utils.metadata.info.datetime", clock)
    path.write_bytes(updated(updated(data, proof(name, b"one")), proof(name, b"two")))
    findings = findings_of(path)
    assert severe(findings) == []
    assert pick(findings, "The file holds 4 versions").severity == "benign"


def test_metadata_that_stand_in_no_wrapper_may_be_written_again(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    """ABCpdf writes bare RDF."""
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path) as document:
        document.Root.Metadata = document.make_stream(b"", Type=pikepdf.Name.Metadata)
        document.save(tmp_path / "b.pdf", object_stream_mode=pikepdf.ObjectStreamMode.disable)
    data = signed((tmp_path / "b.pdf").read_bytes(), signer)
    with pikepdf.open(io.BytesIO(data)) as document:
        number = document.Root.Metadata.objgen[0]
    bare = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
    path.write_bytes(appended(data, {number: b"<< /Type /Metadata" + stream(bare).removeprefix(b"<<")}))
    assert not severe(findings_of(path))


def test_validation_data_that_comes_a_second_later_brings_its_date(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path, name = page(tmp_path / "a.pdf"), "/" + "AB" * 20
    data = signed(path.read_bytes(), signer)
    time.sleep(1.1)  # the date is written into the document's information and its XMP packet
    path.write_bytes(updated(data, proof(name, b"one")))
    findings = findings_of(path)
    assert severe(findings) == []
    assert pick(findings, "The file holds 3 versions").severity == "benign"


@pytest.mark.parametrize(("signed_at", "n"), [("2024-03-01T05:00:30-05:00", 0), ("2024-03-01T05:00:30+05:00", 1)])
def test_a_certificate_is_held_against_the_moment_of_signing_whatever_its_zone(signed_at: str, n: int) -> None:
    record = {"signer": "A", "signed_at": signed_at, "valid_from": "2024-03-01T10:00:00+00:00",
              "valid_to": "2025-03-01T10:00:00+00:00"}  # fmt: skip
    facts = Facts("pdf", "pdf", items=(Fact("pdf.signature", record, "signature"),))
    assert len(list(pdf_signatures._certificate_dates(facts))) == n


def test_validation_data_is_no_way_to_change_a_page(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    number = content_number(path)
    data = signed(path.read_bytes(), signer)

    def change(writer: IncrementalPdfFileWriter) -> None:
        output = generic.IndirectObject(number, 0, writer)
        writer.root[generic.pdf_name("/DSS")] = generic.DictionaryObject(
            {generic.pdf_name("/Certs"): generic.ArrayObject([output])}
        )
        writer.update_root()

    altered = appended(updated(data, change), {number: stream(b"BT /F1 12 Tf 100 700 Td (900) Tj ET")})
    path.write_bytes(altered)
    assert pick(findings_of(path), "changed after Test Signer signed it").severity == "critical"


def test_page_taken_out_after_signing_is_critical(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path, two = page(tmp_path / "a.pdf"), tmp_path / "two.pdf"
    with pikepdf.open(path) as document:
        document.add_blank_page()
        document.save(two)

    def change(writer: IncrementalPdfFileWriter) -> None:
        pages = writer.root["/Pages"]
        del pages["/Kids"][1]
        pages[generic.pdf_name("/Count")] = generic.NumberObject(1)
        writer.update_container(pages["/Kids"])
        writer.update_container(pages)

    two.write_bytes(updated(signed(two.read_bytes(), signer), change))
    claim = pick(findings_of(two), "changed after Test Signer signed it")
    assert claim.severity == "critical" and "page tree" in claim.claim.explanation


@pytest.mark.parametrize(("key", "words"), [("/Pages", "(page tree; "), ("/OCProperties", "(layers; ")])
def test_other_pages_and_other_layers_that_the_catalog_names_after_signing_are_critical(
    tmp_path: Path, signer: signers.SimpleSigner, key: str, words: str
) -> None:
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path, allow_overwriting_input=True) as document:
        other = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.Pages, Count=1))
        first = pikepdf.Dictionary(document.pages[0].obj)
        first.update({"/Contents": pikepdf.Stream(document, b"BT /F1 12 Tf 100 700 Td (900) Tj ET"), "/Parent": other})
        other.Kids = pikepdf.Array([document.make_indirect(first)])
        layer = document.make_indirect(pikepdf.Dictionary(Type=pikepdf.Name.OCG, Name=pikepdf.String("amount")))
        layers = pikepdf.Array([layer])
        shown = document.make_indirect(pikepdf.Dictionary(OCGs=layers, D=pikepdf.Dictionary()))
        document.Root.update({"/Prepared": pikepdf.Dictionary(Pages=other, OCProperties=shown)})
        document.Root.OCProperties = pikepdf.Dictionary(OCGs=layers, D=pikepdf.Dictionary(OFF=layers))
        document.save(path)

    def change(writer: IncrementalPdfFileWriter) -> None:
        writer.root[generic.pdf_name(key)] = writer.root["/Prepared"].raw_get(key)
        writer.update_root()

    path.write_bytes(updated(signed(path.read_bytes(), signer), change))
    findings = findings_of(path)
    claim = pick(findings, "changed after Test Signer signed it")
    assert claim.severity == "critical" and words in claim.claim.explanation
    assert pick(findings, "Version 3 changes").severity == "suspect"


def test_unexplained_object_that_draws_nothing_is_suspect(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer)

    def change(writer: IncrementalPdfFileWriter) -> None:
        writer.root[generic.pdf_name("/Private")] = generic.pdf_string("a note")
        writer.update_root()

    path.write_bytes(updated(data, change))
    claim = pick(findings_of(path), "Something was added after Test Signer signed it")
    assert claim.severity == "suspect"


@pytest.mark.parametrize("allowed", [None, fields.MDPPerm.ANNOTATE])
def test_comments_may_be_added_where_the_signer_allows_them(
    tmp_path: Path, signer: signers.SimpleSigner, allowed: fields.MDPPerm | None
) -> None:
    path = page(tmp_path / "a.pdf")
    data = updated(signed(path.read_bytes(), signer, allowed=allowed), comment("/Highlight"))
    path.write_bytes(updated(data, comment("/Text")))
    findings = findings_of(path)
    assert severe(findings) == []
    added = pick(findings, "Added to after Test Signer signed it").claim
    assert "only comments" in added.explanation and added.value[0].startswith("comments, filled form fields")


def form(path: Path, value: str = "100") -> Path:
    """Make a document with the fields "amount" and "due"."""
    with pikepdf.open(page(path), allow_overwriting_input=True) as document:
        made = []
        for name in ("amount", "due"):
            look = pikepdf.Stream(document, b"", Subtype=pikepdf.Name.Form, BBox=[0, 0, 9, 9])
            field = pikepdf.Dictionary(FT=pikepdf.Name.Tx, T=name, V=value, Subtype=pikepdf.Name.Widget)
            field.Rect, field.AP = [0, 0, 9, 9], pikepdf.Dictionary(N=look)
            made.append(document.make_indirect(field))
        document.Root.AcroForm = pikepdf.Dictionary(Fields=made)
        document.pages[0].obj.Annots = pikepdf.Array(made)
        document.save(path)
    return path


def fill(writer: IncrementalPdfFileWriter) -> None:
    """Write 900 into the field "amount"."""
    field = writer.root["/AcroForm"]["/Fields"][0]
    field[generic.pdf_name("/V")] = generic.pdf_string("900")
    writer.update_container(field)


@pytest.mark.parametrize(
    ("allowed", "changes", "severity"),
    [
        (fields.MDPPerm.FILL_FORMS, (fill,), "benign"),
        (fields.MDPPerm.ANNOTATE, (fill, comment("/Text")), "benign"),
        (fields.MDPPerm.ANNOTATE, (fill, comment("/Square", drawing=b"1 g 100 690 200 30 re f")), "suspect"),
        (fields.MDPPerm.FILL_FORMS, (fill, comment("/Text")), "suspect"),
        (fields.MDPPerm.NO_CHANGES, (fill,), "suspect"),
        (None, (fill,), "suspect"),
    ],
)
def test_versions_that_a_certification_allows_call_for_no_explanation(
    tmp_path: Path,
    signer: signers.SimpleSigner,
    allowed: fields.MDPPerm | None,
    changes: tuple[Callable[[IncrementalPdfFileWriter], None], ...],
    severity: str,
) -> None:
    path = form(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer, allowed=allowed)
    for change in changes:
        data = updated(data, change)
    path.write_bytes(data)
    assert pick(findings_of(path), f"The file holds {2 + len(changes)} versions").severity == severity
    path.write_bytes(signed(updated(form(path).read_bytes(), fill), signer, allowed=allowed))
    assert pick(findings_of(path), "The file holds 3 versions").severity == "suspect", "changed before it was certified"


def test_a_field_that_the_signer_locked_is_critical_where_it_is_changed(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = form(tmp_path / "a.pdf")
    writer = IncrementalPdfFileWriter(io.BytesIO(path.read_bytes()))
    lock = fields.FieldMDPSpec(fields.FieldMDPAction.INCLUDE, ["amount"])
    fields.append_signature_field(writer, fields.SigFieldSpec("Sig1", field_mdp_spec=lock))
    meta = signers.PdfSignatureMetadata(field_name="Sig1", md_algorithm="sha256")
    path.write_bytes(updated(signers.sign_pdf(writer, meta, signer=signer).getvalue(), fill))
    claim = pick(findings_of(path), "changed after Test Signer signed it")
    assert claim.severity == "critical"
    assert "The field amount was changed, which the signer locked." in claim.claim.explanation


def test_only_fields_that_were_written_are_called_changed(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = form(tmp_path / "a.pdf", "")
    data = updated(signed(path.read_bytes(), signer), comment("/Text"))
    for changed, named in ((data, ""), (updated(data, fill), "Changed fields: amount.")):
        path.write_bytes(changed)
        words = pick(findings_of(path), "Added to after Test Signer signed it").claim.explanation
        assert words.partition("allows. ")[2] == named


def test_fields_that_were_empty_may_be_filled_after_signing_and_what_was_signed_may_not_change(
    tmp_path: Path, signer: signers.SimpleSigner
) -> None:
    path = form(tmp_path / "a.pdf", "")
    path.write_bytes(updated(signed(path.read_bytes(), signer), fill))
    findings = findings_of(path)
    assert pick(findings, "The file holds 3 versions").severity == "benign" and not severe(findings)

    path = form(tmp_path / "a.pdf", "100")
    path.write_bytes(updated(signed(path.read_bytes(), signer), fill))
    claim = pick(findings_of(path), "Fields that were filled when Test Signer signed hold other values now")
    assert claim.severity == "suspect" and "amount: '100' as signed, '900' now" in claim.claim.explanation
    path = form(tmp_path / "a.pdf", "100")
    path.write_bytes(updated(signed(path.read_bytes(), signer, allowed=fields.MDPPerm.FILL_FORMS), fill))
    assert not severe(findings_of(path)), "a form that was certified so that it can be filled"


def test_what_came_after_a_signature_and_cannot_be_compared_is_suspect(
    tmp_path: Path, signer: signers.SimpleSigner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("tables of two kinds")

    def found(data: bytes) -> tuple[Finding, ...]:
        path.write_bytes(data)
        read = pdf.read(str(path))
        return claims(replace(read, items=(*read.items, Fact("file.size", len(data), "file", 0))))

    monkeypatch.setattr(signature_changes.StandardDiffPolicy, "review_file", fails)
    path = form(tmp_path / "a.pdf", "")
    data = signed(path.read_bytes(), signer)
    assert not severe(found(data)), "nothing came after it"
    findings = found(updated(data, fill))
    claim = pick(findings, "What came after Test Signer signed it could not be compared")
    assert claim.severity == "suspect" and "tables of two kinds" in claim.claim.explanation
    assert pick(findings, "The file holds 3 versions").severity == "suspect"


def test_fields_that_lead_to_themselves_are_walked_in_bounds() -> None:
    kids = generic.ArrayObject()
    field = generic.DictionaryObject({generic.pdf_name("/T"): generic.pdf_string("a"), generic.pdf_name("/Kids"): kids})
    kids.extend([field] * 1000)
    form = generic.DictionaryObject({generic.pdf_name("/Fields"): generic.ArrayObject([field])})
    begun = time.perf_counter()
    assert "a" in signature_changes._values(generic.DictionaryObject({generic.pdf_name("/AcroForm"): form}))
    assert time.perf_counter() - begun < 10


def test_a_comment_between_two_signatures_is_no_change(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(signed(updated(signed(path.read_bytes(), signer), comment("/Text")), signer, "Sig2"))
    findings = findings_of(path)
    assert severe(findings) == []
    assert len([f for f in findings if f.claim.claim == "Signed by Test Signer"]) == 2


@pytest.mark.parametrize(
    ("kind", "allowed", "content", "severity", "words"),
    [
        ("/Text", fields.MDPPerm.FILL_FORMS, b"", "critical", "allows filling forms and signing only"),
        ("/Link", None, b"", "suspect", "not only forms, comments and signatures"),
        ("/Text", None, b"BT /F1 12 Tf 100 700 Td (900) Tj ET", "critical", "changes what draws the pages"),
    ],
)
def test_what_more_than_a_comment_came_is_told(
    tmp_path: Path,
    signer: signers.SimpleSigner,
    kind: str,
    allowed: fields.MDPPerm | None,
    content: bytes,
    severity: str,
    words: str,
) -> None:
    path = page(tmp_path / "a.pdf")
    path.write_bytes(updated(signed(path.read_bytes(), signer, allowed=allowed), comment(kind, content)))
    (claim,) = (f for f in findings_of(path) if f.claim.type == "signature" and f.severity != "benign")
    assert claim.severity == severity and words in claim.claim.explanation


def test_usage_rights_are_no_signature(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    with pikepdf.open(path) as document:
        rights = pikepdf.Dictionary(
            Type=pikepdf.Name.Sig,
            Filter=pikepdf.Name("/Adobe.PPKLite"),
            ByteRange=[0, 10, 20, 30],
            Contents=b"\x30" * 20,
            Reference=[pikepdf.Dictionary(TransformMethod=pikepdf.Name.UR3, Type=pikepdf.Name.SigRef)],
        )
        document.Root.Perms = pikepdf.Dictionary(UR3=document.make_indirect(rights))
        document.save(tmp_path / "b.pdf")
    findings = findings_of(tmp_path / "b.pdf")
    assert pick(findings, "usage rights").severity == "benign"
    assert not [f for f in findings if f.claim.type == "signature"]


def test_signature_in_a_damaged_document_is_checked_by_its_bytes(tmp_path: Path, signer: signers.SimpleSigner) -> None:
    path = page(tmp_path / "a.pdf")
    data = signed(path.read_bytes(), signer)
    path.write_bytes(data + b"%PDF-1.4 nothing follows\nstartxref\n7\n%%EOF\n")
    assert pick(findings_of(path), "Signed by Test Signer").severity == "benign"
    path.write_bytes(path.read_bytes().replace(b"An invoice over 100", b"An invoice over 900", 1))
    assert pick(findings_of(path), "signature of Test Signer is broken").severity == "critical"


def test_prepared_place_is_no_broken_signature(tmp_path: Path) -> None:
    path = page(tmp_path / "a.pdf")
    data = path.read_bytes()
    start = len(data) + len(
        b"900 0 obj\n<< /Type /Sig /SubFilter /adbe.pkcs7.detached /ByteRange [0 0000 0000 00] /Contents "
    )
    value = b"<" + b"0" * 200 + b">"
    ranges = b"[0 %04d %04d 00]" % (start, start + len(value))
    body = b"<< /Type /Sig /SubFilter /adbe.pkcs7.detached /ByteRange %s /Contents %s >>" % (ranges, value)
    path.write_bytes(appended(data, {900: body}))
    assert pick(findings_of(path), "prepared but never made").severity == "benign"


@pytest.mark.parametrize(("size", "is_more"), [(900, False), (1000, True)])
def test_a_signature_that_could_not_be_read_is_suspect(size: int, is_more: bool) -> None:
    value = {"error": "no CMS", "byte_range": [0, 100, 200, 700], "covered_to": 900}
    items = (Fact("file.size", size, "file", 0), Fact("pdf.signature.unread", value, "dictionary", 40))
    (finding,) = pdf_signatures.rules(Facts("pdf", "pdf", items))
    assert (finding.severity, finding.claim.claim) == ("suspect", "A signature is there but cannot be checked")
    assert ("bytes of the file lie behind" in finding.claim.explanation) is is_more
    assert finding.claim.value == ("100 bytes from byte 0", "700 bytes from byte 200")


@pytest.mark.parametrize(
    ("ranges", "said"), [([0, 10, 20, 30], ("10 bytes from byte 0", "30 bytes from byte 20")), ([], ())]
)
def test_what_a_signature_covers_is_told_in_words(ranges: list[int], said: tuple[str, ...]) -> None:
    value = {"name": "Alice", "field": "", "offset": 0, "timestamp_only": False, "intact": None, "valid": None}
    value |= {"errors": ["no CMS"], "byte_range": ranges, "coverage": "unclear", "from_bytes": True}
    items = (Fact("file.size", 7486, "file", 0), Fact("pdf.signature", value, "dictionary", 40))
    claim = pick(pdf_signatures.rules(Facts("pdf", "pdf", items)), "of Alice does not cover the document").claim
    assert claim.value == said and f"covers {' and '.join(said) or 'none'}, of 7486 in all," in claim.explanation


@pytest.mark.parametrize(
    ("said", "claim", "severity", "words"),
    [
        ({"intact": None}, "of Alice cannot be checked", "suspect", "no CMS"),
        ({"intact": False}, "of Alice is broken", "critical", "the bytes it covers are not the bytes that were signed"),
        ({"valid": False}, "of Alice is broken", "critical", "its value does not fit the signer's key"),
        ({"from_bytes": True}, "came after Alice signed it was not looked at", "benign", "86 bytes lie behind"),
        ({"modification": "annotations"}, "not all of them could be looked at", "suspect", "can cover what was signed"),
    ],
)
def test_what_a_signature_that_cannot_be_relied_on_lacks_is_told(
    said: dict[str, object], claim: str, severity: str, words: str
) -> None:
    value = {"name": "Alice", "field": "", "offset": 0, "timestamp_only": False, "intact": True, "valid": True}
    value |= {"errors": ["no CMS"], "byte_range": [0, 400, 500, 400], "covered_to": 900, "from_bytes": False}
    value |= {"coverage": "entire_revision", "modification": None, "allowed": None, "overwritten": [], "moved": False}
    items = (Fact("file.size", 986, "file", 0), Fact("pdf.signature", value | said, "dictionary", 40))
    facts = Facts("pdf", "pdf", items)
    found = pick(pdf_signatures.rules(facts), claim)
    assert found.severity == severity and words in found.claim.explanation
    assert severity == "benign" or not pdf_after_signing.holding(facts)


@pytest.mark.parametrize(("size", "is_told"), [(902, False), (903, True)])
@pytest.mark.parametrize("from_bytes", [False, True])
def test_a_line_end_behind_a_signature_is_nothing_that_came_after_it(
    from_bytes: bool, size: int, is_told: bool
) -> None:
    value = {"name": "Alice", "field": "", "offset": 0, "timestamp_only": False, "intact": True, "valid": True}
    value |= {"errors": [], "byte_range": [0, 400, 500, 400], "covered_to": 900, "from_bytes": from_bytes}
    value |= {"coverage": "entire_revision", "modification": None, "allowed": None, "overwritten": []}
    items = (Fact("file.size", size, "file", 0), Fact("pdf.signature", value, "dictionary", 40))
    said = [finding.claim.claim for finding in pdf_signatures.rules(Facts("pdf", "pdf", items))]
    assert any(claim.startswith("What came after Alice signed it") for claim in said) is is_told
