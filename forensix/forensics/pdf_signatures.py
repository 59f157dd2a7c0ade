"""Claims about digital signatures of PDFs: who signed, whether it holds, and what came after.

A digest that does not hold, or a change that the signature does not allow, is critical. A signer whom nobody on this
machine vouches for is told, and is no sign of tampering: no list of trusted issuers is used.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding
from forensix.metadata.facts import Fact, Facts

FINE = ("none", "lta_updates")
ALLOWED_WORDS = {
    "no_changes": "no changes at all",
    "fill_forms": "filling forms and signing only",
    "annotate": "filling forms, signing and comments only",
}


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims of each signature."""
    size = facts.get("file.size")
    for fact in facts.all("pdf.signature"):
        if fact.key == "pdf.signature.unread":
            yield _unread(fact, size)
        elif isinstance(fact.value, dict):
            yield from _signature(fact, size)


def _unread(fact: Fact, size: int | None) -> Finding:
    beyond = (size or 0) - int(fact.value.get("covered_to") or 0)
    more = f" {beyond} bytes of the file lie behind what it covers." if size and beyond > 0 else ""
    return finding(
        "suspect",
        "A signature is there but cannot be checked",
        f"The bytes hold a signature ({fact.where} at byte {fact.offset}), but the document is locked or too damaged "
        "to "
        f"check it.{more}",
        "signature",
        "integrity",
        facts=[fact],
        values=[str(fact.value.get("byte_range"))],
    )


def _signature(fact: Fact, size: int | None) -> Iterator[Finding]:
    record: dict[str, Any] = fact.value
    who = str(record.get("signer") or record.get("name") or "an unnamed signer")
    what = "time stamp" if record["timestamp_only"] else "signature"
    details = () if record["timestamp_only"] else (("digital_signature_by", who),)
    common = {"facts": [fact], "details": details}
    if record["intact"] is False or record["valid"] is False:
        why = (
            "the bytes it covers are not the bytes that were signed"
            if record["intact"] is False
            else "its value does not fit the signer's key"
        )
        yield finding(
            "critical",
            f"The {what} of {who} is broken",
            f"The {what} in the field {record['field']} does not hold: {why}. The document was changed or damaged "
            "after "
            "signing.",
            "signature",
            "integrity",
            values=[who],
            flags=("FILE_EDITED",),
            **common,  # type: ignore[arg-type]
        )
        return
    if record["intact"] is None:
        yield finding(
            "suspect",
            f"The {what} of {who} cannot be checked",
            f"The {what} in the field {record['field']} could not be checked: {'; '.join(record['errors'])[:300]}",
            "signature",
            "integrity",
            values=[who],
            **common,  # type: ignore[arg-type]
        )
    else:
        yield finding(
            "benign",
            f"Signed by {who}" if not record["timestamp_only"] else f"Time stamp by {who}",
            f"The {what} in the field {record['field']} holds: the bytes it covers are unchanged. "
            f"{_certificate(record)}",
            "signature",
            "integrity",
            values=[v for v in (who, record.get("issuer"), record.get("signed_at"), record.get("reason")) if v],
            **common,  # type: ignore[arg-type]
        )
    yield from _coverage(fact, who, what, size)
    yield from _after(fact, who, what)
    yield from _certificate_dates(fact, who)


def _certificate(record: dict[str, Any]) -> str:
    if record.get("self_signed"):
        vouched = "The certificate is signed by its own holder, so anyone could have made it in this name"
    else:
        issuer = record.get("issuer")
        vouched = f"The certificate was issued by {issuer}; whether that issuer can be trusted was not looked up"
    allowed = ALLOWED_WORDS.get(str(record.get("allowed")))
    limits = f" The signer allows {allowed} afterwards." if allowed else ""
    return f"{vouched}.{limits}"


def _coverage(fact: Fact, who: str, what: str, size: int | None) -> Iterator[Finding]:
    record = fact.value
    ranges = record["byte_range"]
    starts_late = bool(ranges) and ranges[0] != 0
    if record["coverage"] not in ("unclear",) and not starts_late:
        return
    yield finding(
        "critical",
        f"The {what} of {who} does not cover the document",
        f"A signature covers all bytes but its own value; this one covers the ranges {ranges} of "
        f"{size or 'all the'} bytes, so what it protects is not what is shown.",
        "signature",
        "integrity",
        facts=[fact],
        values=[str(ranges)],
        flags=("FILE_EDITED",),
    )


def _after(fact: Fact, who: str, what: str) -> Iterator[Finding]:
    record = fact.value
    level = record.get("modification")
    if level is None or (level in FINE and record.get("allowed_kept") is not False):
        return
    fields = record.get("changed_fields") or []
    named = f" Changed fields: {', '.join(fields[:10])}." if fields else ""
    if level == "other" or record.get("allowed_kept") is False:
        words = (
            record.get("modification_words") or "the change is neither a filled form, a comment nor another signature"
        )
        yield finding(
            "critical",
            f"The document was changed after {who} signed it",
            f"What was added after the {what} in the field {record['field']} is more than a signature allows: "
            f"{words}.{named}",
            "signature",
            "integrity",
            facts=[fact],
            values=[who, *fields[:10]],
            flags=("FILE_EDITED",),
        )
        return
    yield finding(
        "benign",
        f"Added to after {who} signed it, as the signature allows",
        f"After the {what} in the field {record['field']} only {str(level).replace('_', ' ')} came, which the "
        "signature "
        f"allows.{named}",
        "signature",
        "versions",
        facts=[fact],
        values=[level, *fields[:10]],
    )


def _certificate_dates(fact: Fact, who: str) -> Iterator[Finding]:
    record = fact.value
    signed, begins, ends = record.get("signed_at"), record.get("valid_from"), record.get("valid_to")
    if not (signed and begins and ends) or begins[:19] <= signed[:19] <= ends[:19]:
        return
    yield finding(
        "suspect",
        f"The certificate of {who} was not valid at the time of signing",
        f"The signature says it was made at {signed}, but the certificate is valid from {begins} to {ends}. The time "
        "is the "
        "signer's own word.",
        "signature",
        "integrity",
        facts=[fact],
        values=[signed, begins, ends],
    )
