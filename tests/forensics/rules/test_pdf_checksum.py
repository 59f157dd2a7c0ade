"""The checksum that office programs write behind a document, on documents that the test makes."""

import hashlib
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.metadata.pdf import reader as pdf
from tests.forensics.rules import pick
from tests.metadata.pdf.test_facts import appended

CLAIM = "were changed after the office program wrote them"
DATE = b"D:20261129100000"


def document(*, extra: bytes = b"", trailer: bytes = b"") -> bytes:
    """Return a document as LibreOffice builds it: its last entry is the MD5 of what stands before the trailer."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
        b"<</Producer(LibreOffice 7.4)/CreationDate(%sZ)>>" % DATE,
        *([extra] if extra else []),
    ]
    out, rows = b"%PDF-1.6\n%\xc3\xa4\xc3\xbc\xc3\xb6\xc3\x9f\n", [b"0000000000 65535 f \n"]
    for number, body in enumerate(objects, 1):
        rows.append(b"%010d 00000 n \n" % len(out))
        out += b"%d 0 obj\n%s\nendobj\n\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n" % len(rows) + b"".join(rows)
    checksum = hashlib.md5(out, usedforsecurity=False).hexdigest().upper().encode()
    out += b"trailer\n<</Size %d/Root 1 0 R\n%s/Info 4 0 R\n/DocChecksum /%s\n>>\n" % (len(rows), trailer, checksum)
    return out + b"startxref\n%d\n%%%%EOF\n" % start


def told(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    return [f.claim.claim for f in claims(pdf.read(str(path))) if CLAIM in f.claim.claim]


def test_a_date_that_was_written_over_in_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    assert told(path, document()) == []
    assert told(path, document().replace(DATE, b"D:20240314100000")) != []
    claim = pick(claims(pdf.read(str(path))), CLAIM)
    assert (claim.severity, claim.claim.user_category) == ("suspect", "editing")
    at = claim.facts[0].offset
    assert at is not None and path.read_bytes()[at:].startswith(claim.facts[0].value.encode())


@pytest.mark.parametrize("forged", [False, True])
def test_what_was_appended_later_has_no_part_in_it(tmp_path: Path, forged: bool) -> None:
    data = document().replace(DATE, b"D:20240314100000") if forged else document()
    added = appended(data, {4: b"<</Producer(LibreOffice 7.4)/ModDate(D:20261130100000Z)>>"}, info=4)
    # A program that appends may repeat what the trailer before says.
    repeated = added.replace(b">>\nstartxref", b"/DocChecksum /" + b"A" * 32 + b"\n>>\nstartxref")
    assert [bool(told(tmp_path / "a.pdf", d)) for d in (added, repeated)] == [forged, forged]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (document().replace(b"\xc3\xa4\xc3\xbc\xc3\xb6\xc3\x9f", b"\xbf\xf7\xa2\xfe1234"), "written anew"),
        (document(extra=b"<</Type/Sig/ByteRange[0 0 0 0]>>").replace(b"[0 0 0 0]", b"[0 1 2 3]"), "signed by itself"),
        (document(trailer=b"/Encrypt 9 0 R\n").replace(DATE, b"D:20240314100000"), "encrypted"),
    ],
)
def test_programs_that_leave_an_old_checksum_are_not_told(tmp_path: Path, data: bytes, why: str) -> None:
    assert told(tmp_path / "a.pdf", data) == [], why
