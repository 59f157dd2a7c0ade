"""Claims about the dates of a PDF: information against itself, against XMP, and against what can be.

A later ModDate is what every second save leaves behind, and programs that update only one of two dates leave them
apart: both are told and no more. Dates that cannot be are suspect: in the future, before there was PDF, a change dated
a day or more before the making, a signature older than the document. Whether a program is younger than the dates beside
it is in `pdf_producers`.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import dates
from forensix.forensics.rules.dates import DEFAULTS, made, span
from forensix.metadata.facts import Fact, Facts

PDF_DATE = re.compile(
    r"^\s*(?:D:)?\s*(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?\s*(?:(Z|[+-])\s*(?:(\d\d)'?:?(\d\d)?'?)?)?\s*'?$"
)
FIRST_PDF = datetime(1993, 1, 1, tzinfo=UTC)
PAIRS = (("pdf.info.CreationDate", "xmp.xmp.CreateDate"), ("pdf.info.ModDate", "xmp.xmp.ModifyDate"))
STATED = (*(key for keys in PAIRS for key in keys), "xmp.xmp.MetadataDate")
SAME_S = 2
IMPOSSIBLE = timedelta(days=1)
"""A change dated longer than this before the making is no matter of clocks and zones."""


def parse(text: object) -> datetime | None:
    """Return a PDF or ISO 8601 date with its time zone (UTC where none is given), ``None`` where it is no date.

    >>> parse("D:20200102030405+02'00'").isoformat()
    '2020-01-02T03:04:05+02:00'
    """
    value = str(text).strip()
    if re.match(r"^\d{4}-\d\d", value):
        try:
            when = datetime.fromisoformat(value if len(value) > 7 else f"{value}-01")
        except ValueError:
            return None
        return when if when.tzinfo else when.replace(tzinfo=UTC)
    match = PDF_DATE.match(value)
    if not match:
        return None
    year, *rest = (int(p) if p else None for p in match.groups()[:6])
    month, day, hour, minute, second = (r if r is not None else d for r, d in zip(rest, (1, 1, 0, 0, 0), strict=True))
    sign, hours, minutes = match.group(7), int(match.group(8) or 0), int(match.group(9) or 0)
    zone = (
        timezone(timedelta(hours=hours, minutes=minutes) * (-1 if sign == "-" else 1))
        if hours < 24 and minutes < 60
        else UTC
    )
    try:
        return datetime(year or 0, month, day, hour, minute, min(second, 59), tzinfo=zone)
    except ValueError:
        return None


def latest(facts: Facts) -> tuple[datetime, Fact] | None:
    """Return the latest date that the document states, with the fact that does; ``None`` where it states none."""
    stated = [(when, f) for f in facts.items if f.key in STATED and (when := parse(f.value)) is not None]
    return max(stated, key=lambda row: row[0], default=None)


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims about dates."""
    created, modified = facts.fact("pdf.info.CreationDate"), facts.fact("pdf.info.ModDate")
    creation, change = parse(created.value) if created else None, parse(modified.value) if modified else None
    for fact in (created, modified):
        if fact is not None and str(fact.value).strip():
            yield from _plausible(fact)
    if created and modified and creation and change:
        yield from _order(created, modified, creation, change)
    yield from _made(facts)
    yield from _made_again(facts)
    for info_key, xmp_key in PAIRS:
        yield from _against_xmp(facts.fact(info_key), facts.fact(xmp_key))
    signed = [f for f in facts.records("pdf.signature") if f.value.get("signed_at")]
    for fact in signed:
        when = parse(fact.value["signed_at"])
        if when and creation and (creation - when) > timedelta(days=1):
            yield finding(
                "suspect",
                "The document was signed before it was made, by its own dates",
                f"The signature of {fact.value.get('signer')} says {when.isoformat()}, but the document says it was "
                f"made at {creation.isoformat()}. One of the two clocks was wrong, or a date was written in.",
                "dates",
                "dates",
                facts=[fact, *([created] if created else [])],
                values=[when.isoformat(), creation.isoformat()],
                flags=("METADATA_ERROR",),
            )


def _made(facts: Facts) -> Iterator[Finding]:
    """Yield the claim on when the document was made and changed, by dates that were set."""
    told: dict[datetime, Fact] = {}
    for keys in PAIRS:
        stated = [(when, f) for f in facts.firsts(keys) if (when := parse(f.value)) is not None]
        real = [(when, f) for when, f in stated if (when.year, when.month, when.day) not in DEFAULTS]
        for when, fact in real[:1]:
            if all(abs((when - other).total_seconds()) > SAME_S for other in told):
                told[when] = fact
    if told:
        yield made(list(told.values()), [_said(when, fact) for when, fact in told.items()])


def _said(when: datetime, fact: Fact) -> str:
    """Return a date with its zone where it states one."""
    match = PDF_DATE.match(str(fact.value).strip())
    return (when.replace(tzinfo=None) if match and not match[7] else when).isoformat()


def _made_again(facts: Facts) -> Iterator[Finding]:
    """Yield a claim where a later version states another date of making than the one before it."""
    versions = [f for f in facts.records("pdf.revision") if f.value.get("created")]
    for before, after in pairwise(versions):
        there, here = parse(before.value["created"]), parse(after.value["created"])
        if not there or not here or abs((here - there).total_seconds()) <= SAME_S or _zone_only(here - there):
            continue
        first, later = before.value["index"], after.value["index"]
        yield finding(
            "suspect",
            f"Version {later} states another date of making than version {first}",
            f"Version {first} says that the document was made at {there.isoformat()}, version {later} at "
            f"{here.isoformat()}. Programs that save a document again keep the date of its making and date the change "
            "beside it. A date that was written in leaves this; so do programs that date every save as a making.",
            "dates",
            "dates",
            facts=[before, after],
            values=[f"version {first}: {there.isoformat()}", f"version {later}: {here.isoformat()}"],
            flags=("METADATA_ERROR",),
        )


def _plausible(fact: Fact) -> Iterator[Finding]:
    when = parse(fact.value)
    name = fact.key.rsplit(".", 1)[-1]
    if when is None:
        yield _date(fact, "benign", f"{name} is not a date", "The date does not follow the form that PDF asks for.")
        return
    default = DEFAULTS.get((when.year, when.month, when.day))
    if default:
        yield _date(fact, "benign", f"{name} was never set", f"The date is {default}.")
    elif when < FIRST_PDF:
        yield _date(
            fact,
            "suspect",
            f"{name} is older than PDF itself",
            "No PDF could be written before 1993. A clock that was not set does this; so does a date of the content.",
        )
    elif when > (now := dates.now()).replace(tzinfo=UTC) + timedelta(days=1):
        yield _date(
            fact,
            "suspect",
            f"{name} is in the future",
            f"The date is yet to come {dates.by_the_clock(now)}. A clock that was set wrongly does this; so do dates "
            "that were written in.",
        )


def _date(fact: Fact, severity: str, claim: str, why: str) -> Finding:
    return finding(severity, claim, why, "dates", "dates", facts=[fact], flags=("METADATA_ERROR",))  # type: ignore[arg-type]


def _order(created: Fact, modified: Fact, creation: datetime, change: datetime) -> Iterator[Finding]:
    gap = change - creation
    if abs(gap.total_seconds()) <= SAME_S:
        return
    values = [f"CreationDate {creation.isoformat()}", f"ModDate {change.isoformat()}"]
    zones, apart = _zone_only(gap), span(gap.total_seconds())
    if gap > timedelta(0):
        yield finding(
            "benign",
            "The document was changed after it was made, by its own dates",
            f"{modified.where} says {change.isoformat()}, {apart} after the document was made. Any later save "
            "leaves this behind, so by itself it shows no manipulation.",
            "dates",
            "dates",
            facts=[created, modified],
            values=values,
            flags=("FILE_EDITED",),
        )
        return
    yield finding(
        "suspect" if -gap > IMPOSSIBLE else "benign",
        "The document was changed before it was made, by its own dates",
        f"{modified.where} says {change.isoformat()}, {apart} before the document was made, which is impossible"
        + (
            "; the difference is a whole number of hours, so a time zone was probably mishandled."
            if zones
            else ". A clock that was set in between does this; so do dates that were written in."
        ),
        "dates",
        "dates",
        facts=[created, modified],
        values=values,
        flags=("METADATA_ERROR",),
    )


def _against_xmp(info: Fact | None, packet: Fact | None) -> Iterator[Finding]:
    if info is None or packet is None:
        return
    first, second = parse(info.value), parse(packet.value)
    if not first or not second or abs((first - second).total_seconds()) <= SAME_S:
        return
    name = info.key.rsplit(".", 1)[-1]
    gap = first - second
    yield finding(
        "benign",
        f"{name} differs between document information and XMP",
        f"The document information says {first.isoformat()}, XMP says {second.isoformat()}: "
        f"{span(gap.total_seconds())} apart. "
        + (
            "The difference is a whole number of hours, so a time zone was probably mishandled."
            if _zone_only(gap)
            else "A program that updates only one of the two leaves this behind."
        ),
        "dates",
        "dates",
        facts=[info, packet],
        values=[first.isoformat(), second.isoformat()],
        flags=("METADATA_ERROR",),
    )


def _zone_only(gap: timedelta) -> bool:
    """Say whether a difference can be a time zone: whole half hours, at most 16 hours."""
    seconds = abs(gap.total_seconds())
    return seconds <= 16 * 3600 and seconds % 1800 in (0, 1, 1799)
