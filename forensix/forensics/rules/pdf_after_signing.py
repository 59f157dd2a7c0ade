"""Claims about what came after a signature of a PDF, and whether that is what the signature allows.

Every version that was appended is compared with the one that was signed (`forensix.metadata.pdf.signature_changes`).
Content of the pages that was changed, and a change that the signer forbade, is critical; other values in fields that
were filled when they were signed, notes laid over the page, and what cannot be explained or compared are suspect.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import pdf_comments
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


def sound(record: dict[str, Any]) -> bool:
    """Tell whether a signature holds and nothing came after it but further signatures and what proves them later."""
    return bool(
        record["intact"] and record["valid"] and record["modification"] in (None, *FINE) and not uncompared(record)
    )


def uncompared(record: dict[str, Any]) -> bool:
    """Tell whether the document could be opened, and yet not compared with the version that was signed."""
    return not record["from_bytes"] and record["modification"] is None and record["coverage"] != "entire_file"


def kept(facts: Facts, record: dict[str, Any]) -> bool:
    """Tell whether a signature holds and only what it allows came after it, no comment among it that may mislead."""
    if sound(record):
        return True
    is_allowed = record["intact"] and record["valid"] and record.get("allowed_kept") is not False
    if not is_allowed or record["modification"] not in ADDED_WORDS or _signed_values_changed(record):
        return False
    is_comment = record["modification"] == "annotations"
    return not is_comment or not (pdf_comments.laid(facts, record["covered_to"]) or pdf_comments.are_unread(facts))


def holding(facts: Facts) -> list[Fact]:
    """Return the signatures of a document if each holds and only what it allows came after it, else none.

    A time stamp by itself is none: nobody stands for the document.
    """
    signatures = list(facts.all("pdf.signature"))
    read = all(f.key == "pdf.signature" and isinstance(f.value, dict) for f in signatures)
    hold = read and all(kept(facts, f.value) for f in signatures)
    return signatures if hold and not all(f.value["timestamp_only"] for f in signatures) else []


def _signed_values_changed(record: dict[str, Any]) -> bool:
    """Tell whether fields hold other values than were signed, unless a form was certified so that it is filled."""
    return bool(record["overwritten"]) and record["allowed"] is None


def place(record: dict[str, Any]) -> str:
    """Return in words where a signature stands."""
    return f"in the field {record['field']}" if record["field"] else f"at byte {record['offset']}"


def unjudged(fact: Fact, who: str, what: str, size: int | None) -> Iterator[Finding]:
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


def not_compared(fact: Fact, who: str, what: str, size: int | None) -> Iterator[Finding]:
    """Tell that a later version could not be compared with the one that was signed."""
    beyond = (size or 0) - int(fact.value["covered_to"])
    if beyond > 2:
        why = "; ".join(fact.value["errors"])[:300] or "the program that compares them gave no reason"
        yield finding(
            "suspect",
            f"What came after {who} signed it could not be compared with what was signed",
            f"The {what} {place(fact.value)} holds for the version that was signed, and {beyond} bytes lie behind it. "
            f"They may change what is shown; they could not be told from what is allowed ({why}).",
            "signature",
            "versions",
            facts=[fact],
            values=[f"{beyond} bytes"],
        )


def after(facts: Facts, fact: Fact, who: str, what: str) -> Iterator[Finding]:
    """Yield the claim of what came after a signature, where something did."""
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
            f"The {what} {place(record)} holds for the version that was signed. {why}{named}",
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
            f"The {what} {place(record)} holds for the version that was signed. The pages' own content is as it was, "
            f"but what was added is not only forms, comments and signatures: {words}.{named}",
            "signature",
            "versions",
            facts=[fact, *later[:5]],
            values=[who, *fields[:10]],
            flags=("FILE_EDITED",),
        )
    elif _signed_values_changed(record):
        values = [f"{name}: {before!r} as signed, {after!r} now" for name, before, after in record["overwritten"][:10]]
        yield finding(
            "suspect",
            f"Fields that were filled when {who} signed hold other values now",
            f"The {what} {place(record)} holds for the version that was signed, and a signature allows that forms are "
            f"filled afterwards; but what stood in these fields was signed: {'; '.join(values)}.",
            "signature",
            "versions",
            facts=[fact, *later[:5]],
            values=values,
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
            f"The {what} {place(record)} holds for the version that was signed, and allows comments. These can cover "
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
            f"After the {what} {place(record)} only {ADDED_WORDS.get(str(level), str(level))} came, which the "
            f"signature allows.{named}",
            "signature",
            "versions",
            facts=[fact],
            values=[ADDED_WORDS.get(str(level), level), *fields[:10]],
        )
