"""Is an attached file the one that was attached?

A program that attaches a file may write the MD5 of its bytes beside it (``/CheckSum``), as 16 bytes or, wrongly, as
text. Most do, and what changes the file later in a document that stays, an invoice's amounts for machines say, seldom
knows of it. In an encrypted document the checksum is not looked at: writers disagree whether it is encrypted too.

References
----------
ISO 32000-2:2020, 7.11.4.2 (embedded file parameters dictionary).
"""

import hashlib
from typing import Any

import pikepdf

from forensix.metadata.pdf.streams import inflated

FILE_BYTES = 4 << 20
"""Attached files of this size and more are not compared."""
_HEX = 2 * hashlib.md5(usedforsecurity=False).digest_size


def changed(specification: Any) -> dict[str, Any] | None:
    """Return the ``stated`` and the ``present`` MD5 of an attached file whose bytes are others than were attached."""
    for stream in {stream.objgen: stream for stream in specification.EF.values()}.values():
        parameters = stream.get("/Params")
        stated = parameters.get("/CheckSum") if isinstance(parameters, pikepdf.Dictionary) else None
        if not isinstance(stated, pikepdf.String) or not isinstance(stream, pikepdf.Stream):
            continue
        checksum = bytes(stated)
        written = checksum.decode("latin-1").lower() if len(checksum) == _HEX else checksum.hex()
        data = inflated(stream, FILE_BYTES)
        # Nothing is read of what cannot be inflated within bounds.
        if len(written) != _HEX or not data or len(data) >= FILE_BYTES or not written.strip("0"):
            continue
        raw = hashlib.md5(stream.read_raw_bytes(), usedforsecurity=False).hexdigest()
        present = hashlib.md5(data, usedforsecurity=False).hexdigest()
        if written not in (present, raw):
            return {"stated": written, "present": present, "object": stream.objgen[0]}
    return None
