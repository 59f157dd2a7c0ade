"""Rules on PDFs that a layout program made, and on what it says of the layout."""

from pathlib import Path

import pikepdf
import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata.pdf import reader
from tests.forensics.rules import pick
from tests.metadata import making_images as make
from tests.metadata.pdf.test_facts import page

EXPORT = ("converted", "12:00:00", "from application/x-indesign to application/pdf")
SAVE = ("saved", "12:09:00", "")


def findings_of(path: Path, creator: str, steps: list[tuple[str, str, str]]) -> tuple[Finding, ...]:
    """Return what is found of a document that names a layout, saved two seconds after it was made."""
    rows = "".join(
        f"<rdf:li stEvt:action='{action}' stEvt:when='2024-01-02T{when}Z' stEvt:parameters='{parameters}'/>"
        for action, when, parameters in steps
    )
    body = f"<xmpMM:DerivedFrom stRef:documentID='xmp.did:1'/><xmpMM:History><rdf:Seq>{rows}</rdf:Seq></xmpMM:History>"
    with pikepdf.open(page(path), allow_overwriting_input=True) as document:
        document.docinfo["/Creator"] = creator
        document.docinfo["/CreationDate"], document.docinfo["/ModDate"] = "D:20240102120000Z", "D:20240102120009Z"
        document.Root.Metadata = document.make_stream(make.xmp_packet(body=body).encode(), Type=pikepdf.Name.Metadata)
        document.trailer.ID = [b"a" * 16, b"b" * 16]
        document.save(path, static_id=True)
    return claims(reader.read(str(path)))


@pytest.mark.parametrize("steps", [[EXPORT], [SAVE, ("saved", "11:00:00", ""), EXPORT], []])
def test_a_layout_that_was_made_a_pdf_accuses_nobody(tmp_path: Path, steps: list[tuple[str, str, str]]) -> None:
    findings = findings_of(tmp_path / "a.pdf", "Adobe InDesign CC 13.0 (Macintosh)", steps)
    assert [f.claim.claim for f in findings if f.severity != "benign"] == []
    assert "documentID: xmp.did:1" in pick(findings, "The document was exported from a layout").claim.value


def test_a_document_that_was_made_fit_to_be_archived_was_not_edited(tmp_path: Path) -> None:
    steps = [("converted", f"{hour}:00:00", "converted to PDF/A-2b") for hour in (12, 13)]
    findings = findings_of(tmp_path / "a.pdf", "Adobe InDesign CC 13.0", steps)
    assert pick(findings, "The file keeps an editing history").severity == "benign"


def test_what_came_after_a_layout_was_made_a_pdf_is_told(tmp_path: Path) -> None:
    findings = findings_of(tmp_path / "a.pdf", "Adobe InDesign CC 13.0 (Macintosh)", [EXPORT, SAVE])
    assert pick(findings, "The editing history holds 2 entries").severity == "suspect"
    findings = findings_of(tmp_path / "b.pdf", "Adobe Illustrator 25.4", [SAVE])
    assert pick(findings, "The file was derived from another file").severity == "suspect"
