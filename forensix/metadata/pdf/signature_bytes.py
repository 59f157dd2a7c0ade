"""Signatures of a PDF by their bytes alone: for what is locked, damaged, or of a kind that pyHanko leaves out.

A signature value and its byte range are never encrypted, so both can be read without a password and without an intact
structure: the bytes of the range are hashed and compared with what was signed. What came after the signature is not
judged here. Usage rights (``/Perms /UR3``), by which Adobe unlocks functions of its free reader, are told apart: they
protect no content and are removed by the first save of another program.

References
----------
ISO 32000-2:2020, 12.8.1 (byte range), 12.8.2.3 (usage rights); ISO 32000-1:2008, 12.8.3.3 (adbe.pkcs7.sha1).
"""

import hashlib
import re
from typing import Any

from forensix.metadata.pdf import syntax

SIGNATURES = 30
DICTIONARY_BYTES = 1 << 20
USAGE_RIGHTS = re.compile(rb"/TransformMethod\s*/UR3?\b|/Name\s*\(ARE (Acrobat|Production)")
SUBFILTER = re.compile(rb"/SubFilter\s*/([\w.]+)")
SIGNED_DATA = re.compile(rb"/Contents\s*<\s*308[0-4][0-9A-F]{0,16}06092A864886F70D010702", re.IGNORECASE)
"""How a signature's value begins: a sequence, and the identifier of signed data in CMS."""

RANGE = re.compile(rb"/ByteRange\s*+(\d++\s++\d++\s++R\b|\[\s*+\d++\s++\d++\s++\d++\s++[\d\s]*+\])")
CHECKED = ("adbe.pkcs7.detached", "ETSI.CAdES.detached", "adbe.pkcs7.sha1")


def dictionaries(data: bytes) -> list[dict[str, Any]]:
    """Return one record for each signature dictionary: byte range, offset, kind, and whether it holds usage rights."""
    signatures = []
    for match in list(re.finditer(rb"/ByteRange\s*(?=\[)", data))[:SIGNATURES]:
        try:
            ranges, _ = syntax.parse(data, match.end())
        except (syntax.SyntaxFault, ValueError):
            continue
        if not isinstance(ranges, list) or not all(isinstance(r, int) and r >= 0 for r in ranges) or len(ranges) < 4:
            continue
        around = _dictionary(data, match.start())
        subfilter = SUBFILTER.search(around)
        signatures.append(
            {
                "byte_range": ranges[:8],
                "offset": match.start(),
                "covered_to": ranges[-2] + ranges[-1],
                "usage_rights": USAGE_RIGHTS.search(around) is not None,
                "subfilter": subfilter[1].decode("ascii", "replace") if subfilter else "",
            }
        )
    return signatures


def without_range(data: bytes) -> list[dict[str, Any]]:
    """Return one record for each signature value whose dictionary does not say which bytes it covers."""
    signatures = []
    for match in list(SIGNED_DATA.finditer(data))[:SIGNATURES]:
        value_end = data.find(b">", match.end())
        if value_end < 0:
            continue
        start = max(data.rfind(word, 0, match.start()) for word in (b" obj", b"endobj"))
        end = data.find(b"endobj", value_end)
        before = data[max(start, match.start() - DICTIONARY_BYTES, 0) : match.start()]
        around = before + b" " + data[value_end + 1 : min(end, value_end + DICTIONARY_BYTES) if end > 0 else None]
        ranges = RANGE.search(around)
        if (ranges is None or not ranges[1].strip(b"[]0 \r\n\t")) and not USAGE_RIGHTS.search(around):
            signatures.append({"byte_range": [], "offset": match.start(), "end": value_end, "covered_to": 0})
    return signatures


def checked(data: bytes, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record with what its bytes show: ``empty``, or ``intact``, ``valid`` and the signer.

    Raises
    ------
    Exception
        The value is no CMS signature, or of a kind that is not known here; parsers of hostile bytes fail in many ways.
    """
    from asn1crypto import cms
    from pyhanko.sign.validation.generic_cms import validate_sig_integrity

    ranges = record["byte_range"]
    gap = data[ranges[0] + ranges[1] : ranges[2]].strip(b"<> \r\n\t")
    if re.fullmatch(rb"[0-9A-Fa-f\s]*", gap) is None:
        raise ValueError("its value is not written in hexadecimal digits")
    value = bytes.fromhex(gap.decode("ascii"))
    if not value.strip(b"\x00"):
        return {**record, "empty": True}
    if record["subfilter"] not in CHECKED:
        raise ValueError(f"signatures of the kind {record['subfilter'] or 'unnamed'} are not checked")
    content = cms.ContentInfo.load(value)["content"]
    signer = content["signer_infos"][0]
    certificate = next(c.chosen for c in content["certificates"] if _made_by(signer, c.chosen))
    algorithm = signer["digest_algorithm"]["algorithm"].native
    covered = b"".join(data[a : a + n] for a, n in zip(ranges[::2], ranges[1::2], strict=False))
    covers_file = ranges[0] == 0 and all(a + n <= len(data) for a, n in zip(ranges[::2], ranges[1::2], strict=False))
    kind, intact = content["encap_content_info"]["content_type"].native, True
    if record["subfilter"] == "adbe.pkcs7.sha1":
        signed = bytes(content["encap_content_info"]["content"].native or b"")
        intact = signed == hashlib.sha1(covered, usedforsecurity=False).digest()
    else:
        signed = covered
    fits, valid = validate_sig_integrity(signer, certificate, kind, hashlib.new(algorithm, signed).digest())
    return {**record, "intact": intact and fits and covers_file, "valid": bool(valid), "certificate": certificate}


def _made_by(signer: Any, certificate: Any) -> bool:
    named = signer["sid"].chosen
    if signer["sid"].name != "issuer_and_serial_number":
        return bool(named.native == certificate.key_identifier)
    serial, issuer = named["serial_number"].native, named["issuer"]
    return bool(serial == certificate.serial_number and issuer == certificate.issuer)


def _dictionary(data: bytes, at: int) -> bytes:
    """Return the bytes of the object around an offset."""
    start = max(data.rfind(b" obj", max(0, at - DICTIONARY_BYTES), at), 0)
    end = data.find(b"endobj", at, at + DICTIONARY_BYTES)
    return data[start : end if end > 0 else at + DICTIONARY_BYTES]
