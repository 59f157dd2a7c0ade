"""Comments that were added to a PDF after signing: which may pass for what was signed, and which stand by themselves.

A comment that hides something, or writes by what is printed or over it, can make the page say something else. One that
writes where nothing is printed says what whoever added it wanted to say: that is told, with its words.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules.pdf_unseen import pages
from forensix.metadata.facts import Fact, Facts


def laid(facts: Facts, covered_to: int) -> list[Fact]:
    """Return the comments behind a signature that hide something, or write by what is printed."""
    notes = [f for f in facts.all("pdf.note") if f.key == "pdf.note" and f.value["written_at"] > covered_to]
    return [f for f in notes if f.value["hides"] or f.value["touches"]]


def written(facts: Facts) -> Iterator[Finding]:
    """Tell of comments behind the first signature that hide nothing and write where nothing is printed."""
    notes = [f for f in facts.all("pdf.note") if f.key == "pdf.note"]
    beside = [f for f in notes if not f.value["hides"] and not f.value["touches"]]
    if beside:
        yield finding(
            "benign",
            f"Comments that came after signing write words ({pages(beside)})",
            "They stand by themselves, where nothing is printed, and hide nothing. No signature before them covers "
            "them, so anyone may have written them.",
            "signature",
            "versions",
            facts=beside,
            values=[words(f.value) for f in beside],
            remark=f"comments that came after signing write words ({pages(beside)})",
        )


def are_unread(facts: Facts) -> bool:
    """Say whether comments that came after signing were not all looked at."""
    notes = facts.get("pdf.notes")
    return notes is None or notes["unread"] > 0


def words(record: dict[str, Any]) -> str:
    """Return what a comment does, in words."""
    under = f": {record['under']}" if record["under"] else ""
    does = [f"hides {record['hides']}{under}"] if record["hides"] else []
    says = record["says"]
    does += [f"writes {says!r}" if says else "writes words"] if record["writes"] else []
    return f"{record['kind']} on page {record['page']} {' and '.join(does)}"
