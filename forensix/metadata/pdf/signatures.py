"""Digital signatures of a PDF: who signed, does the digest hold, what it covers, and what was changed afterwards.

Trust is not looked up anywhere: without a list of trusted issuers and without a network, a signature can be whole and
its signer still unknown. What came after a signature is compared by pyHanko's difference analysis.

References
----------
ISO 32000-2:2020, 12.8; ETSI EN 319 142-1.
"""

import logging
import re
from typing import Any

from forensix.metadata.facts import Fact, Problem
from forensix.metadata.pdf import signature_bytes

SIGNATURES = 30
_LOCKED = re.compile(r"because the form field (.{1,200}) is locked")
"""What pyHanko says where a field was changed that the signer locked."""


def facts(path: str, data: bytes) -> tuple[list[Fact], list[Problem]]:
    """Return one fact for each signature (``pdf.signature``), or what the raw bytes show where it cannot be read."""
    blank = [
        Fact("pdf.signature.no_range", record, "signature dictionary", record["offset"])
        for record in signature_bytes.without_range(data)
    ]
    raw = [r for r in signature_bytes.dictionaries(data) if any(r["byte_range"]) or not blank]
    if not raw and b"/Sig" not in data and b"/ObjStm" not in data:
        return blank, []
    if not raw and not re.search(rb"/SigFlags|/FT\s*/Sig", data):
        return blank, []
    problems: list[Problem] = []
    try:
        validated = _validated(path, data)
    except Exception as error:
        why = "the document is locked" if b"/Encrypt" in data else f"pyHanko gives up ({type(error).__name__})"
        problems.append(
            Problem(f"what came after a signature cannot be told: {why}", "signature", grave=False, unread=True)
        )
        validated = []
    # Kinds that pyHanko does not know (adbe.pkcs7.sha1) and damaged ones are told by their bytes.
    read = {tuple(f.value["byte_range"][:4]) for f in validated if f.value["intact"] is not None}
    validated = [f for f in validated if f.value["intact"] is not None or not _known(f, raw)]
    validated += [_from_bytes(data, r) for r in raw if tuple(r["byte_range"][:4]) not in read]
    return validated + blank, problems


def _known(fact: Fact, raw: list[dict[str, Any]]) -> bool:
    return any(tuple(r["byte_range"][:4]) == tuple(fact.value["byte_range"][:4]) for r in raw)


def _from_bytes(data: bytes, raw: dict[str, Any]) -> Fact:
    """Return the fact of a signature dictionary that only its bytes tell of."""
    where = "signature dictionary"
    try:
        checked = signature_bytes.checked(data, raw)
    except Exception as error:  # As everywhere with hostile bytes.
        if raw["usage_rights"]:
            return Fact("pdf.usage_rights", {**raw, "holds": False}, where, raw["offset"])
        return Fact(
            "pdf.signature.unread", {**raw, "error": str(error)[:200] or type(error).__name__}, where, raw["offset"]
        )
    if raw["usage_rights"]:
        holds = bool(checked.get("intact") and checked.get("valid"))
        return Fact("pdf.usage_rights", {**raw, "holds": holds}, where, raw["offset"])
    if checked.get("empty"):
        return Fact("pdf.signature.empty", checked, where, raw["offset"])
    ranges = raw["byte_range"]
    covers_file = _only_its_value_is_left_out(ranges, data)
    # What lies before the first range, or between further ones, is covered by nothing.
    is_unclear = len(ranges) != 4 or ranges[0] != 0
    record = {
        **_blank(ranges),
        **_certificate(checked.pop("certificate")),
        **checked,
        "coverage": "unclear" if is_unclear else "entire_file" if covers_file else None,
        "from_bytes": True,
    }
    return Fact("pdf.signature", record, where, raw["offset"])


def _validated(path: str, data: bytes) -> list[Fact]:
    from pyhanko.pdf_utils.reader import PdfFileReader

    for name in ("pyhanko", "pyhanko_certvalidator"):
        # An unknown issuer is no error here, and its traceback is no use to anybody.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    signatures: list[Fact] = []
    with open(path, "rb") as file:
        reader = PdfFileReader(file, strict=False)
        if reader.encrypted:
            reader.decrypt(b"")
        for signature in reader.embedded_signatures[:SIGNATURES]:
            record = _record(signature)
            record["moved"] = _is_moved(record["byte_range"], signature.pkcs7_content, data)
            if record["coverage"] == "unclear" and _only_its_value_is_left_out(record["byte_range"], data):
                # pyHanko wants the brackets of the value left out as well; some signers sign one of them.
                record |= {"coverage": "entire_file", "modification": None, "allowed_kept": None}
            end = record["covered_to"] or None
            fact = Fact("pdf.signature", record, f"signature field {record['field']}", end and record["offset"])
            # One that is shown on several pages may be listed once for each.
            if fact not in signatures:
                signatures.append(fact)
    return signatures


def _only_its_value_is_left_out(ranges: list[int], data: bytes) -> bool:
    """Say whether a byte range covers the whole file but for hexadecimal digits in one gap."""
    if len(ranges) != 4 or ranges[0] != 0 or abs(ranges[2] + ranges[3] - len(data)) > 2:
        return False
    gap = data[ranges[1] : ranges[2]]
    return len(gap) > 2 and re.fullmatch(rb"<?[0-9A-Fa-f\s]*>?", gap) is not None


def _is_moved(ranges: list[int], value: bytes, data: bytes) -> bool:
    """Say whether a signature's value stands elsewhere than in the gap that its byte range leaves for it."""
    if len(ranges) != 4:
        return False
    digits, gap = value.hex().encode(), data[ranges[0] + ranges[1] : ranges[2]]
    return digits not in gap.lower() and digits in data.lower()


def _blank(ranges: list[int]) -> dict[str, Any]:
    """Return the record of a signature of which nothing is known yet but its byte range."""
    return {
        "field": "",
        "timestamp_only": False,
        "byte_range": ranges,
        "offset": ranges[1] if len(ranges) > 1 else None,
        "covered_to": ranges[-2] + ranges[-1] if len(ranges) >= 2 else 0,
        "intact": None,
        "valid": None,
        "trusted": False,
        "coverage": None,
        "modification": None,
        "changed_fields": [],
        "overwritten": [],
        "moved": False,
        "allowed": None,
        "allowed_kept": None,
        "errors": [],
        "from_bytes": False,
    }


def _record(signature: Any) -> dict[str, Any]:
    record = _blank([int(r) for r in signature.byte_range])
    record |= {
        "field": str(signature.field_name),
        "timestamp_only": signature.sig_object.get("/Type") == "/DocTimeStamp",
        "signed_revision": signature.signed_revision,
    }
    for key in ("Name", "Reason", "Location", "ContactInfo", "M", "Filter", "SubFilter"):
        value = signature.sig_object.get(f"/{key}")
        value = getattr(value, "decrypted", value)  # in an encrypted document
        if value is not None:
            record[key.lower()] = str(value)[:300]
    for part in (_signer, _integrity, _trust):
        try:
            record.update(part(signature))
        except Exception as error:
            record["errors"].append(f"{type(error).__name__}: {str(error)[:200]}")
    return record


def _signer(signature: Any) -> dict[str, Any]:
    stamp = signature.self_reported_timestamp
    level = signature.docmdp_level
    return {
        **_certificate(signature.signer_cert),
        "signed_at": stamp.isoformat() if stamp else None,
        "allowed": level.name.lower() if level is not None else None,
    }


def _certificate(certificate: Any) -> dict[str, Any]:
    return {
        "signer": certificate.subject.native.get("common_name") or certificate.subject.human_friendly,
        "subject": certificate.subject.human_friendly,
        "issuer": certificate.issuer.human_friendly,
        "self_signed": certificate.self_signed in ("yes", "maybe"),
        "serial": format(certificate.serial_number, "x"),
        "valid_from": certificate.not_valid_before.isoformat(),
        "valid_to": certificate.not_valid_after.isoformat(),
    }


def _integrity(signature: Any) -> dict[str, Any]:
    from forensix.metadata.pdf.signature_changes import overwritten, policy

    signature.compute_integrity_info(policy())
    summary = signature.summarise_integrity_info()
    out: dict[str, Any] = {"coverage": signature.coverage.name.lower(), "allowed_kept": summary.get("docmdp_ok")}
    changes = summary.get("diff_result")
    if changes is None:
        return out
    level = getattr(changes, "modification_level", None)
    if level is None:
        locked = _LOCKED.search(str(changes))
        return {
            **out,
            "modification": "other",
            "modification_words": _words(changes),
            "locked_field": locked[1] if locked else None,
        }
    fields = sorted(map(str, changes.changed_form_fields))[:40]
    written = overwritten(signature, fields) if fields else []
    return {**out, "modification": level.name.lower(), "changed_fields": fields, "overwritten": written}


def _words(changes: object) -> str:
    """Return the reason that pyHanko gives, without the Python objects that some of its sentences list or name."""
    sentence = str(changes).partition("\n")[0].partition(": ")[0].rstrip(".")
    return re.sub(r"Reference\(idnum=(\d+), generation=\d+\)", r"object \1", sentence)[:300]


def _trust(signature: Any) -> dict[str, Any]:
    from pyhanko.sign.validation import validate_pdf_signature, validate_pdf_timestamp
    from pyhanko_certvalidator import ValidationContext

    context = ValidationContext(trust_roots=[], allow_fetching=False)
    status: Any
    if signature.sig_object.get("/Type") == "/DocTimeStamp":
        status = validate_pdf_timestamp(signature, context, skip_diff=True)
    else:
        status = validate_pdf_signature(signature, context, skip_diff=True)
    return {
        "intact": bool(status.intact),
        "valid": bool(status.valid),
        "digest": str(status.md_algorithm),
        "mechanism": str(getattr(status, "pkcs7_signature_mechanism", "")),
    }
