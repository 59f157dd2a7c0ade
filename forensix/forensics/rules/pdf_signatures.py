"""Claims about digital signatures of PDFs: who signed, whether it holds, and what it covers.

A digest that does not hold is critical where the file is laid out as it was signed, and suspect where it was written
anew, as shops do that send the invoices of their sellers as one document; what came after is judged by
`pdf_after_signing`. A signer whom nobody on this machine vouches for is told, and is no sign of tampering: no list of
trusted issuers is used. Usage rights, by which Adobe unlocks functions of its free reader, are no signature of
anybody's content. Compared with an independent checker in ``benchmarks/results/forensic_signatures.md``.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, joined
from forensix.forensics.rules import pdf_after_signing, pdf_comments, pdf_dates
from forensix.metadata.facts import Fact, Facts


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims of each signature."""
    size = facts.get("file.size")
    for fact in facts.all("pdf.usage_rights"):
        yield _usage_rights(fact)
    for fact in facts.all("pdf.signature"):
        if fact.key == "pdf.signature.unread":
            yield _unread(fact, size)
        elif fact.key == "pdf.signature.no_range":
            yield _no_range(fact)
        elif fact.key == "pdf.signature.empty":
            yield _empty(fact)
        elif isinstance(fact.value, dict):
            yield from _signature(facts, fact, size)
    yield from pdf_comments.written(facts)
    yield from _certificate_dates(facts)


def _usage_rights(fact: Fact) -> Finding:
    return finding(
        "benign",
        "The document carries usage rights for Adobe's reader",
        f"The {fact.where} at byte {fact.offset} unlocks saving, commenting or signing in Adobe's free reader. It is "
        "no signature of the author or of a reader, and any other program that saves the document ends it, so that "
        "it does not hold accuses nobody.",
        "security",
        "security",
        facts=[fact],
        values=["usage rights (UR3)"],
    )


def _empty(fact: Fact) -> Finding:
    return finding(
        "benign",
        "A signature was prepared but never made",
        f"The {fact.where} at byte {fact.offset} keeps a place for a signature value and holds zeros only.",
        "signature",
        "integrity",
        facts=[fact],
        values=_stretches(fact),
    )


def _stretches(fact: Fact) -> list[str]:
    """Return in words what a signature says it covers."""
    ranges = fact.value.get("byte_range") or []
    pairs = zip(ranges[::2], ranges[1::2], strict=False)
    return [f"{length} bytes from byte {start}" for start, length in pairs]


def _unread(fact: Fact, size: int | None) -> Finding:
    beyond = (size or 0) - int(fact.value.get("covered_to") or 0)
    more = f" {beyond} bytes of the file lie behind what it covers." if size and beyond > 0 else ""
    return finding(
        "suspect",
        "A signature is there but cannot be checked",
        f"The {fact.where} at byte {fact.offset} holds a signature that could not be read: {fact.value.get('error')}."
        f"{more} Damage does this; so does a kind of signature that is not known here.",
        "signature",
        "integrity",
        facts=[fact],
        values=_stretches(fact),
    )


def _no_range(fact: Fact) -> Finding:
    return finding(
        "suspect",
        "A signature does not say which bytes it covers",
        f"The {fact.where} at byte {fact.offset} holds a whole signature value, but no range of bytes that it is of "
        "(ByteRange), or one of nothing. What signs needs that range to make the value, and writes both, so the range "
        "was taken out later: nobody can tell any more whether the document is the one that was signed.",
        "signature",
        "integrity",
        facts=[fact],
        flags=("FILE_EDITED", "METADATA_ERROR"),
    )


def _signature(facts: Facts, fact: Fact, size: int | None) -> Iterator[Finding]:
    record: dict[str, Any] = fact.value
    who = str(record.get("signer") or record.get("name") or "an unnamed signer")
    what = "time stamp" if record["timestamp_only"] else "signature"
    at = pdf_after_signing.place(record)
    details = () if record["timestamp_only"] else (("digital_signature_by", who),)
    common = {"facts": [fact], "details": details}
    if record["intact"] is False and record["moved"]:
        yield finding(
            "suspect",
            f"The {what} of {who} was made in another file",
            f"The {what} {at} does not hold, and its value no longer stands where the bytes that it covers leave room "
            "for it: the document was written anew after signing, as programs do that join documents, print or save "
            "them. Whether what is shown is what was signed can no longer be told: ask for the file as it was signed.",
            "signature",
            "integrity",
            values=[who],
            flags=("FILE_EDITED",),
            **common,  # type: ignore[arg-type]
        )
        return
    if record["intact"] is False or record["valid"] is False:
        why = (
            "the bytes it covers are not the bytes that were signed"
            if record["intact"] is False
            else "its value does not fit the signer's key"
        )
        yield finding(
            "critical",
            f"The {what} of {who} is broken",
            f"The {what} {at} does not hold: {why}. The document was changed or damaged after signing.",
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
            f"The {what} {at} could not be checked: {'; '.join(record['errors'])[:300]}",
            "signature",
            "integrity",
            values=[who],
            **common,  # type: ignore[arg-type]
        )
    else:
        yield finding(
            "benign",
            f"Signed by {who}" if not record["timestamp_only"] else f"Time stamp by {who}",
            f"The {what} {at} holds: the bytes it covers are unchanged. {_certificate(record)}",
            "signature",
            "integrity",
            values=[v for v in (who, record.get("issuer"), record.get("signed_at"), record.get("reason")) if v],
            **common,  # type: ignore[arg-type]
        )
    ranges = record["byte_range"]
    if record["coverage"] == "unclear" or (ranges and ranges[0] != 0):
        yield _coverage(fact, who, what, size)
    elif record["from_bytes"]:
        yield from pdf_after_signing.unjudged(fact, who, what, size)
    elif pdf_after_signing.uncompared(record):
        yield from pdf_after_signing.not_compared(fact, who, what, size)
    else:
        yield from pdf_after_signing.after(facts, fact, who, what)


def _certificate(record: dict[str, Any]) -> str:
    if record.get("self_signed"):
        vouched = "The certificate is signed by its own holder, so anyone could have made it in this name"
    else:
        issuer = record.get("issuer")
        vouched = f"The certificate was issued by {issuer}; whether that issuer can be trusted was not looked up"
    allowed = pdf_after_signing.ALLOWED_WORDS.get(str(record.get("allowed")))
    limits = f" The signer allows {allowed} afterwards." if allowed else ""
    return f"{vouched}.{limits}"


def _coverage(fact: Fact, who: str, what: str, size: int | None) -> Finding:
    stretches = _stretches(fact)
    return finding(
        "critical",
        f"The {what} of {who} does not cover the document",
        f"A signature covers all bytes but its own value; this one covers "
        f"{joined(stretches) or 'none'}{f', of {size} in all' if size else ''}, so what it protects is not what "
        "is shown.",
        "signature",
        "integrity",
        facts=[fact],
        values=stretches,
        flags=("FILE_EDITED",),
    )


def _certificate_dates(facts: Facts) -> Iterator[Finding]:
    """Yield one claim for each certificate that was used outside its time."""
    by_certificate: dict[tuple[str, str, str], list[Fact]] = {}
    for fact in facts.records("pdf.signature"):
        record = fact.value
        signed, begins, ends = (str(record.get(k) or "") for k in ("signed_at", "valid_from", "valid_to"))
        when, first, last = (pdf_dates.parse(text) for text in (signed, begins, ends))
        if when and first and last and not first <= when <= last:
            by_certificate.setdefault((str(record.get("signer")), begins, ends), []).append(fact)
    for (who, begins, ends), dates in by_certificate.items():
        times = list(dict.fromkeys(str(f.value["signed_at"]) for f in dates))
        yield finding(
            "suspect",
            f"The certificate of {who} was not valid at the time of signing",
            f"The signature says it was made at {', '.join(times[:5])}, but the certificate is valid from {begins} to "
            f"{ends}. The time is the signer's own word; a clock set wrongly does this as well.",
            "signature",
            "integrity",
            facts=dates,
            values=[*times, begins, ends],
        )
