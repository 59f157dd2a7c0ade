"""Claims about the programs that a PDF names, beside each other and beside its dates.

A program cannot have written a document before it existed: the latest date that the document states must not lie before
the year in which the named version came out (``program_years.csv``; where a version was tried out in public before, the
earlier year stands). The producer is written twice, in the document information and in XMP, by the program that saved
last; two different ones mean that the last program updated one of the two only.
"""

import csv
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from forensix.forensics import software
from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import pdf_after_signing, pdf_dates, video_tags
from forensix.metadata.facts import Fact, Facts

STATED = re.compile(r"modified (using|by|with) ([^;,(]{2,60})", re.IGNORECASE)

OF_ITEXT = "; modified using "
"""What iText and OpenPDF write behind the producer, in these words, when they sign as well as when they change a
document (``PdfStamperImp.close``, ``PdfDocument.close``)."""

OFFICE = re.compile(r"(libre|open)office", re.IGNORECASE)
OFFICE_PARTS = re.compile(r"Writer|Calc|Impress|Draw|Math")
"""What both suites write as the creator, beside their own name as the producer."""

PLACEHOLDERS = ("anonymous", "(anonymous)", "unspecified", "(unspecified)")
"""What ReportLab writes where nobody named a creator."""

INVOICE = re.compile(r"(factur-x|zugferd-invoice|xrechnung|order-x)\.xml", re.IGNORECASE)
"""What the data of an electronic invoice are called, which are attached to a document that is already made."""

ATTACHING = "PyPDF"
"""The library with which bookkeeping programs (Odoo, the Python library factur-x) attach them."""

CROSSMARK = re.compile(r"\.Crossmark(DomainExclusive|MajorVersionDate)$", re.IGNORECASE)
"""What Crossref's pdfmark, which is built on iText, writes into articles for publishers."""

OF_WRITER = {"qpdf": r"qpdf|pikepdf", "MuPDF": r"mupdf|fitz", "Microsoft Office": ""}
"""How programs name what wrote the file; what makes documents of its own writes none anew."""


@lru_cache(maxsize=1)
def years() -> tuple[tuple[re.Pattern[str], int, str], ...]:
    """Return pattern, year and name of each version whose first year is known."""
    with Path(__file__).with_name("program_years.csv").open(encoding="utf-8", newline="") as file:
        return tuple((re.compile(row["pattern"]), int(row["year"]), row["program"]) for row in csv.DictReader(file))


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what programs contradict, and where one says in words that it modified the document."""
    yield from _too_young(facts)
    yield from _two_producers(facts)
    yield from _written_anew(facts)
    if attaching := attached_by(facts):
        yield finding(
            "benign",
            f"{ATTACHING} attached the data of an electronic invoice",
            f"{place(attaching[0])} names {ATTACHING}, and {invoice_data(facts)[0].value} is attached: bookkeeping "
            "programs do so with this library. It can merge, cut and stamp documents as well.",
            "software",
            "origin",
            facts=[*attaching, *invoice_data(facts)],
        )
    stated = modified(facts)
    if stated:
        is_itext = OF_ITEXT in str(stated[0].value)
        stamp = facts.fact("pdf.court_stamp") if is_itext else None
        mark = next((f for f in facts.items if CROSSMARK.search(f.key)), None) if is_itext else None
        signatures = pdf_after_signing.holding(facts) if is_itext else []
        reasons = [stamp] if stamp else [mark] if mark else signatures
        yield finding(
            "benign" if reasons else "suspect",
            f"The document says that it was modified with {modifier(stated[0])}",
            f"{place(stated[0])}: {str(stated[0].value)[:200]}. "
            + (
                f"Filing systems of American courts stamp a line on each page so, and each page bears one: "
                f"{str(stamp.value)[:160]!r}. Other changes with this program leave the same words."
                if stamp
                else f"{place(mark)} holds Crossref's mark of an article, which publishers add with this library. "
                "Other changes with it leave the same words."
                if mark
                else "Signing with this library writes the same words, and a signature holds for the document as it "
                "is: what was changed before, its signer stands for."
                if signatures
                else "Services add a stamp, a signature or a number this way; what was modified is not said."
            ),
            "software",
            "editing",
            facts=[*stated, *reasons],
            flags=() if reasons else ("FILE_EDITED", "SUSPECT_SOFTWARE_"),
            details=() if reasons else (("source", "software"),),
        )


def names(facts: Facts) -> list[Fact]:
    """Return the facts that name a program, without parts of an office suite that another of them names."""
    attaching = attached_by(facts)
    named = [
        f
        for f in video_tags.made_with(facts)
        if str(f.value).strip().lower() not in PLACEHOLDERS and f not in attaching
    ]
    suite = any(OFFICE.search(str(f.value)) for f in named)
    return [f for f in named if not (suite and OFFICE_PARTS.fullmatch(str(f.value).strip()))]


def invoice_data(facts: Facts) -> list[Fact]:
    """Return the attached files that are the data of an electronic invoice."""
    return [f for f in facts.all("pdf.embedded_file") if INVOICE.fullmatch(str(f.value))]


def attached_by(facts: Facts) -> list[Fact]:
    """Return the facts that name the library with which the data of an electronic invoice were attached."""
    named = [f for f, program in software.named(video_tags.made_with(facts)) if program.name == ATTACHING]
    return named if invoice_data(facts) else []


def modified(facts: Facts) -> list[Fact]:
    """Return the facts that say in words that a program modified the document."""
    return [f for f in video_tags.made_with(facts) if STATED.search(str(f.value))]


def modifier(stated: Fact) -> str:
    """Return the program that modified a document, by what the document says."""
    match = STATED.search(str(stated.value))
    return match[2].strip() if match else "another program"


def _too_young(facts: Facts) -> Iterator[Finding]:
    last = pdf_dates.latest(facts)
    if last is None:
        return
    latest, dated = last
    for fact in video_tags.made_with(facts):
        known = [(year, name) for pattern, year, name in years() if pattern.search(str(fact.value))]
        year, name = max(known, default=(0, ""))
        if latest.year < year:
            yield finding(
                "suspect",
                f"{name} is younger than the document says it is",
                f"{place(fact)} names {str(fact.value)[:100]}, which came out in {year}, but no date in the document "
                f"is later than {latest.date().isoformat()} ({place(dated)}). A clock that was set back does this; so "
                "do dates that were written in.",
                "dates",
                "dates",
                facts=[fact, dated],
                flags=("METADATA_ERROR",),
            )
            return


def _two_producers(facts: Facts) -> Iterator[Finding]:
    info, packet = facts.fact("pdf.info.Producer"), facts.fact("xmp.pdf.Producer")
    if info is None or packet is None:
        return
    first, second = software.identify(info.value), software.identify(packet.value)
    # The library that attaches the data of an invoice updates one of the two.
    if first is None or second is None or first == second or packet in attached_by(facts):
        return
    # iText and pyHanko name themselves behind the producer, and are told by themselves.
    if str(info.value).startswith(str(packet.value)):
        return
    yield finding(
        "suspect",
        "The document names two different programs as its producer",
        f"{place(info)} says {str(info.value)[:100]}, {place(packet)} says {str(packet.value)[:100]}. The program that "
        "saved last writes both; one that updates a single one, or leaves the old XMP in place, does this.",
        "software",
        "versions",
        facts=[info, packet],
        flags=("METADATA_ERROR",),
    )


def _written_anew(facts: Facts) -> Iterator[Finding]:
    """Tell of a library that wrote the bytes, where the document names others only."""
    writer = facts.fact("pdf.writer")
    names = video_tags.made_with(facts)
    # What was appended later leaves the header as it was.
    if writer is None or not names or len(list(facts.all("pdf.revision"))) > 1:
        return
    if any(re.search(OF_WRITER[str(writer.value)], str(f.value), re.I) for f in names):
        return
    yield finding(
        "benign",
        f"The file was written anew by {writer.value}, which it does not name",
        f"{place(writer)}: the four bytes there are those of {writer.value}, while {place(names[0])} says "
        f"{str(names[0].value)[:100]!r}. Changing words of a page leaves this; so do repairing, splitting, signing and "
        "preparing for the web. No earlier version is kept, so what was changed, if anything, cannot be seen.",
        "software",
        "versions",
        facts=[writer, names[0]],
    )
