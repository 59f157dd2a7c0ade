"""Attached files and the checksums beside them, in documents that the test makes."""

import hashlib
from pathlib import Path

import pikepdf
import pytest

from forensix.forensics import claims
from forensix.metadata.pdf import reader as pdf

INVOICE = b"<Invoice><Total>439.50</Total></Invoice>"
MD5 = hashlib.md5(INVOICE, usedforsecurity=False)


def told(path: Path, now: bytes, checksum: bytes | None = None, **options: object) -> list[str]:
    """Attach a file, put another in its place, and return what is said of it."""
    with pikepdf.new() as document:
        document.add_blank_page()
        document.attachments["invoice.xml"] = pikepdf.AttachedFileSpec(document, INVOICE, mime_type="text/xml")
        stream = document.attachments["invoice.xml"].obj.EF.F
        stream.write(now)
        if checksum is not None:
            stream.Params.CheckSum = pikepdf.String(checksum)
        document.save(path, **options)
    found = [f for f in claims(pdf.read(str(path))) if "attached" in f.claim.claim]
    assert all(f.severity == "suspect" and "'invoice.xml'" in f.claim.explanation for f in found)
    return [f.claim.claim for f in found]


@pytest.mark.parametrize("checksum", [None, MD5.hexdigest().encode()])
def test_an_attached_file_that_was_exchanged(tmp_path: Path, checksum: bytes | None) -> None:
    now = INVOICE.replace(b"4", b"9")
    assert told(tmp_path / "a.pdf", now, checksum) == ["An attached file is not the one that was attached"]


@pytest.mark.parametrize(
    "checksum", [None, MD5.hexdigest().upper().encode(), b"\0" * 16, b"", b"md5 is not known", b"\xfe\xff" + b"x" * 18]
)
def test_attached_files_as_programs_write_them(tmp_path: Path, checksum: bytes | None) -> None:
    if checksum == b"md5 is not known":  # 16 bytes as well, in a document where they may be encrypted
        encryption = pikepdf.Encryption(owner="owner")
        assert told(tmp_path / "a.pdf", INVOICE, checksum, encryption=encryption) == []
    else:
        assert told(tmp_path / "a.pdf", INVOICE, checksum) == []
