"""Are the bytes of a document those that the office program wrote?

LibreOffice, OpenOffice and what derives from them put the MD5 of everything that stands before the trailer into the
trailer of each PDF that they export (``PDFWriterImpl::emitTrailer``, `vcl/source/pdf/pdfwriter_impl.cxx` of
LibreOffice), whatever the version of the format. What is appended later leaves these bytes alone, and what writes the
document anew puts another comment behind the header; so they differ where somebody changed them in place. Left out are
documents that the office program signed, since it fills in the signature last, and encrypted ones.
"""

import hashlib
import re

from forensix.metadata.facts import Fact

HEADER = re.compile(rb"%PDF-\d\.\d\n%\xc3\xa4\xc3\xbc\xc3\xb6\xc3\x9f\n")
TRAILER = re.compile(rb"trailer\n<<(?:(?!startxref|trailer)[^\x00]){0,1500}?/DocChecksum */([0-9A-F]{32})")


def changed(data: bytes, start: int) -> Fact | None:
    """Return the checksum of a document that begins at ``start`` where its bytes are not those it was made of."""
    if not HEADER.match(data, start):
        return None
    digest, at, first = hashlib.md5(usedforsecurity=False), start, None
    for trailer in TRAILER.finditer(data, start):
        digest.update(data[at : trailer.start()])
        at = trailer.start()
        # What is appended may repeat the entry, which is still that of the first trailer.
        if digest.hexdigest().upper().encode() == trailer[1]:
            return None
        first = first or trailer
    if first is None or b"/Encrypt" in first[0] or data.find(b"/ByteRange", start, first.start()) >= 0:
        return None
    return Fact("pdf.checksum", first[1].decode(), "trailer /DocChecksum", first.start(1))
