"""Claims about photographs inside a PDF, by the records that each keeps of itself.

That a photograph names a camera, a program or a place is told and no more. A photograph that was taken after every date
of the document is suspect: one of the two was dated wrongly.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from forensix.forensics.findings import Finding, device_name, finding, place
from forensix.forensics.rules import dates, pdf_dates
from forensix.metadata.facts import Fact, Facts

LATER = timedelta(days=2)
"""By how much clocks and zones may differ."""
TOLD = 40


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what photographs say of themselves, and which of them are younger than the document."""
    pictures = facts.records("pdf.picture")
    if not pictures:
        return
    placed = any("latitude" in f.value and "longitude" in f.value for f in pictures)
    yield finding(
        "benign",
        f"Pictures in the document keep records of their own ({len(pictures)})",
        "They name the camera, the program or the time, as the file of a photograph does"
        + (", and the place where they were taken" if placed else "")
        + ". The records were in the pictures before they came into the document.",
        "metadata",
        "privacy" if placed else "origin",
        facts=pictures[:TOLD],
        values=[f"{f.where}: {_words(f.value)}" for f in pictures[:TOLD]],
    )
    yield from _younger(facts, pictures)


def _words(record: dict[str, Any]) -> str:
    device = device_name(record.get("make"), record.get("model"))
    rest = {key: value for key, value in record.items() if key not in ("make", "model")}
    words = [f"{key} {value:.5f}" if isinstance(value, float) else f"{key} {value}" for key, value in rest.items()]
    return ", ".join([*([device] if device else []), *words])


def _younger(facts: Facts, pictures: list[Fact]) -> Iterator[Finding]:
    last = pdf_dates.latest(facts)
    if last is None:
        return
    latest, dated = last
    young = []
    for fact in pictures:
        moment = dates.parse(Fact(fact.key, fact.value.get("taken", ""), fact.where, fact.offset))
        if moment is not None and not dates.default_name(moment) and moment.local - latest.replace(tzinfo=None) > LATER:
            young.append(fact)
    if young:
        yield finding(
            "suspect",
            "A picture in the document is younger than the document says it is",
            f"{place(young[0])} was taken {young[0].value['taken']} by its own record, but no date in the document is "
            f"later than {latest.date().isoformat()} ({place(dated)}). A camera whose clock ran ahead does this; so do "
            "dates of the document that were written in.",
            "dates",
            "dates",
            facts=[*young[:TOLD], dated],
            values=[f"{f.where}: {f.value['taken']}" for f in young[:TOLD]] + [latest.isoformat()],
            flags=("METADATA_ERROR",),
        )
