"""Claims about digital signatures of PDFs: who signed, whether it holds, and what came after.

A digest that does not hold, content of the pages that was changed after signing, or a change that the signer forbade is
critical. What was added and cannot be explained in full is suspect. A signer whom nobody on this machine vouches for is
told, and is no sign of tampering: no list of trusted issuers is used. Usage rights, by which Adobe unlocks functions of
its free reader, are no signature of anybody's content. Compared with an independent checker in
``benchmarks/results/forensic_signatures.md``.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import pdf_comments, pdf_dates
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.pdf.changes import drawing_changed

FINE = ("none", "lta_updates")
ALLOWED_WORDS = {
    "no_changes": "no changes at all",
    "fill_forms": "filling forms and signing only",
    "annotate": "filling forms, signing and comments only",
}
ADDED_WORDS = {
    "form_filling": "filled form fields or further signatures",
    "annotations": "comments, filled form fields or further signatures",
}


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims of each signature."""
    size = facts.get("file.size")
    for fact in facts.all("pdf.usage_rights"):
        yield _usage_rights(fact)
    for fact in facts.all("pdf.signature"):
        if fact.key == "pdf.signature.unread":
            yield _unread(fact, size)
        elif fact.key == "pdf.signature.empty":
            yield _empty(fact)
        elif isinstance(fact.value, dict):
            yield from _signature(facts, fact, size)
    yield from pdf_comments.written(facts)
    yield from _certificate_dates(facts)


def sound(record: dict[str, Any]) -> bool:
    """Tell whether a signature holds and nothing came after it but further signatures and what proves them later."""
    return bool(record["intact"] and record["valid"] and record["modification"] in (None, *FINE))


def kept(facts: Facts, record: dict[str, Any]) -> bool:
    """Tell whether a signature holds and only what it allows came after it, no comment among it that may mislead."""
    if sound(record):
        return True
    is_allowed = record["intact"] and record["valid"] and record.get("allowed_kept") is not False
    if not is_allowed or record["modification"] not in ADDED_WORDS:
        return False
    is_comment = record["modification"] == "annotations"
    return not is_comment or not (pdf_comments.laid(facts, record["covered_to"]) or pdf_comments.are_unread(facts))


def _usage_rights(fact: Fact) -> Finding:
    return finding(
        "benign",
        "The document carries usage rights for Adobe's reader",
        f"The {fact.where} at byte {fact.offset} unlocks saving, commenting or signing in Adobe's free reader. It is "
        "no signature of the author or of a reader, and any other program that saves the document ends it, so it was "
        "not checked.",
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
        values=[str(fact.value["byte_range"])],
    )


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
        values=[str(fact.value.get("byte_range"))],
    )


def _place(record: dict[str, Any]) -> str:
    return f"in the field {record['field']}" if record["field"] else f"at byte {record['offset']}"


def _signature(facts: Facts, fact: Fact, size: int | None) -> Iterator[Finding]:
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
            f"The {what} {_place(record)} does not hold: {why}. The document was changed or damaged after signing.",
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
            f"The {what} {_place(record)} could not be checked: {'; '.join(record['errors'])[:300]}",
            "signature",
            "integrity",
            values=[who],
            **common,  # type: ignore[arg-type]
        )
    else:
        yield finding(
            "benign",
            f"Signed by {who}" if not record["timestamp_only"] else f"Time stamp by {who}",
            f"The {what} {_place(record)} holds: the bytes it covers are unchanged. {_certificate(record)}",
            "signature",
            "integrity",
            values=[v for v in (who, record.get("issuer"), record.get("signed_at"), record.get("reason")) if v],
            **common,  # type: ignore[arg-type]
        )
    ranges = record["byte_range"]
    if record["coverage"] == "unclear" or (ranges and ranges[0] != 0):
        yield _coverage(fact, who, what, size)
    elif record["from_bytes"]:
        yield from _unjudged(fact, who, what, size)
    else:
        yield from _after(facts, fact, who, what)


def _certificate(record: dict[str, Any]) -> str:
    if record.get("self_signed"):
        vouched = "The certificate is signed by its own holder, so anyone could have made it in this name"
    else:
        issuer = record.get("issuer")
        vouched = f"The certificate was issued by {issuer}; whether that issuer can be trusted was not looked up"
    allowed = ALLOWED_WORDS.get(str(record.get("allowed")))
    limits = f" The signer allows {allowed} afterwards." if allowed else ""
    return f"{vouched}.{limits}"


def _coverage(fact: Fact, who: str, what: str, size: int | None) -> Finding:
    ranges = fact.value["byte_range"]
    return finding(
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


def _unjudged(fact: Fact, who: str, what: str, size: int | None) -> Iterator[Finding]:
    """Tell what lies behind a signature in a document that could not be opened."""
    beyond = (size or 0) - int(fact.value["covered_to"])
    if beyond > 2:
        yield finding(
            "benign",
            f"What came after {who} signed it was not looked at",
            f"{beyond} bytes lie behind what the {what} covers. Further signatures stand there, and so may changes; "
            "the document could not be opened to tell.",
            "signature",
            "versions",
            facts=[fact],
            values=[f"{beyond} bytes"],
        )


def _after(facts: Facts, fact: Fact, who: str, what: str) -> Iterator[Finding]:
    record = fact.value
    level = record.get("modification")
    forbidden = record.get("allowed") is not None and record.get("allowed_kept") is False
    if level is None or (level in FINE and not forbidden):
        return
    fields = record.get("changed_fields") or []
    named = f" Changed fields: {', '.join(fields[:10])}." if fields else ""
    later = [f for f in facts.all("pdf.revision") if f.value["end_offset"] > record["covered_to"] + 2]
    drawn = [f for f in later if drawing_changed(f.value)]
    if level == "other" and drawn:
        roles = ", ".join(dict.fromkeys(role for f in drawn for role in drawing_changed(f.value)))
        why = f"A later version changes what draws the pages ({roles}; {drawn[0].where})."
    elif record.get("locked_field"):
        why = f"The field {record['locked_field']} was changed, which the signer locked."
    elif forbidden:
        allowed = ALLOWED_WORDS.get(str(record["allowed"]), str(record["allowed"]))
        why = f"The signer allows {allowed}; what was added is more."
    else:
        why = ""
    if why:
        yield finding(
            "critical",
            f"The document was changed after {who} signed it",
            f"The {what} {_place(record)} holds for the version that was signed. {why}{named}",
            "signature",
            "integrity",
            facts=[fact, *drawn[:5]],
            values=[who, *fields[:10]],
            flags=("FILE_EDITED",),
        )
    elif level == "other":
        words = record.get("modification_words") or "neither filled forms, comments nor other signatures"
        yield finding(
            "suspect",
            f"Something was added after {who} signed it that signing does not explain",
            f"The {what} {_place(record)} holds for the version that was signed. The pages' own content is as it was, "
            f"but what was added is not only forms, comments and signatures: {words}.{named}",
            "signature",
            "versions",
            facts=[fact, *later[:5]],
            values=[who, *fields[:10]],
            flags=("FILE_EDITED",),
        )
    elif (laid := pdf_comments.laid(facts, record["covered_to"])) or (
        level == "annotations" and pdf_comments.are_unread(facts)
    ):
        yield finding(
            "suspect",
            f"Notes or stamps were laid on the document after {who} signed it"
            if laid
            else f"Comments came after {who} signed it, and not all of them could be looked at",
            f"The {what} {_place(record)} holds for the version that was signed, and allows comments. These can cover "
            "what was signed and say something else there, so what lies below them has to be looked at.",
            "signature",
            "versions",
            facts=[fact, *laid[:10], *later[:5]],
            values=[who, *(pdf_comments.words(f.value) for f in laid[:10])],
        )
    else:
        yield finding(
            "benign",
            f"Added to after {who} signed it, as the signature allows",
            f"After the {what} {_place(record)} only {ADDED_WORDS.get(str(level), str(level))} came, which the "
            f"signature allows.{named}",
            "signature",
            "versions",
            facts=[fact],
            values=[level, *fields[:10]],
        )


def _certificate_dates(facts: Facts) -> Iterator[Finding]:
    """Yield one claim for each certificate that was used outside its time."""
    by_certificate: dict[tuple[str, str, str], list[Fact]] = {}
    for fact in facts.all("pdf.signature"):
        record = fact.value if isinstance(fact.value, dict) else {}
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
