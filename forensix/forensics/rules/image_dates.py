"""Dates of a picture that cannot be or were never set, and when it says that it was made.

Whether its dates agree is of `forensix.forensics.rules.image_mismatch`.
"""

import re
from collections.abc import Iterator
from datetime import timedelta

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import dates
from forensix.forensics.rules.dates import Moment
from forensix.metadata.facts import Fact, Facts

EXIF = (
    ("exif.DateTimeOriginal", "exif.OffsetTimeOriginal"),
    ("exif.CreateDate", "exif.OffsetTimeDigitized"),
    ("exif.ModifyDate", "exif.OffsetTime"),
)
XMP = (
    ("xmp.exif.DateTimeOriginal", 0),
    ("xmp.photoshop.DateCreated", 0),
    ("xmp.xmp.CreateDate", 1),
    ("xmp.xmp.ModifyDate", 2),
)
"""Which EXIF date (by its place above) an XMP date repeats."""

IPTC = (
    ("iptc.DateCreated", "iptc.TimeCreated", 0),
    ("iptc.DigitalCreationDate", "iptc.DigitalCreationTime", 1),
)
"""The same of IPTC's dates, whose day and time are two records, of which the second may be missing."""

CHANGED = ("exif.ModifyDate", "xmp.xmp.ModifyDate")
DAY_S = 86_400.0
BEFORE_S = 2 * DAY_S
"""How long before it was made a picture may have been changed by the clocks of two devices in two places."""

FARTHEST_H = 4.5
"""No country keeps a time this many hours from the sun's own."""

TOOLKIT = re.compile(r"\b(?:19|20)\d\d/\d\d/\d\d\b")
"""The day on which Adobe's XMP library was built, as it writes it of itself."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on dates that cannot be, on a clock's defaults, and on when the file says it was made."""
    moments = exif_moments(facts)
    yield from _defaults(facts)
    yield from _impossible(facts, moments)
    yield from _toolkit(facts)
    yield from _zone(facts)
    entries = [m for m in moments if m is not None and not dates.default_name(m)]
    if moments[0] is None and moments[1] is None:
        entries = [*(m for m in iptc_moments(facts) if m is not None and not dates.default_name(m)), *entries]
    if entries:
        done = "last changed" if all(m.name in CHANGED for m in entries) else "made"
        texts = [m.text for m in entries]
        satellites = satellites_moment(facts)
        if satellites is not None and not dates.default_name(satellites):
            entries.append(satellites)
            texts.append(f"{satellites.fact.value.removesuffix('Z')} UTC (GPS)")
        yield dates.made([m.fact for m in entries], texts, done=done)


def _impossible(facts: Facts, moments: list[Moment | None]) -> Iterator[Finding]:
    """Yield the claim on dates that contradict time itself: no day, after now, or changed long before it was made."""
    known = [m for m in moments if m is not None]
    known += [m for f in facts.firsts(key for key, _ in XMP) if (m := dates.parse(f)) is not None]
    known += [m for m in iptc_moments(facts) if m is not None]
    known = [m for m in known if not dates.default_name(m)]
    sentences, evidence = [], []
    now = dates.now()
    for moment in known:
        if moment.local > now + timedelta(days=1):
            to_come = f"which is yet to come {dates.by_the_clock(now)}"
            sentences.append(f"{place(moment.fact)} says {moment.fact.value}, {to_come}")
            evidence.append(moment.fact)
    for fact in (f for f in facts.firsts(key for key, _ in EXIF) if dates.is_no_day(f)):
        sentences.append(f"{place(fact)} says {fact.value}, and there is no such day")
        evidence.append(fact)
    by_key = {m.name: m for m in reversed(known)}
    for earlier, later in (
        ("exif.DateTimeOriginal", "exif.ModifyDate"),
        ("xmp.xmp.CreateDate", "xmp.xmp.ModifyDate"),
    ):
        first, last = by_key.get(earlier), by_key.get(later)
        if first is None or last is None or (first.local - last.local).total_seconds() <= BEFORE_S:
            continue
        sentences.append(
            f"{place(last.fact)} says that it was changed {last.fact.value}, "
            f"{dates.span((first.local - last.local).total_seconds())} before {first.fact.value}, when by "
            f"{place(first.fact)} it was made"
        )
        evidence += [first.fact, last.fact]
    if not sentences:
        return
    yield finding(
        "suspect",
        "A date in the file cannot be right",
        f"{'; '.join(sentences)}. A clock that was wrong or was corrected in between leaves this; so does a date "
        "that was written in.",
        "dates",
        "dates",
        facts=list({id(f): f for f in evidence}.values()),
        flags=["METADATA_ERROR"],
    )


def _toolkit(facts: Facts) -> Iterator[Finding]:
    """Yield the claim that the library that wrote the XMP is younger than every date that the file states."""
    toolkit = facts.fact("xmp.toolkit")
    built = TOOLKIT.search(str(toolkit.value)) if toolkit is not None else None
    keys = [*(key for key, _ in EXIF), *(key for key, _ in XMP), "xmp.xmp.MetadataDate"]
    moments = [m for key in keys for f in facts.all(key) if (m := dates.parse(f)) is not None]
    moments += [m for m in iptc_moments(facts) if m is not None]
    written = facts.fact("xmp.xmp.MetadataDate") or facts.fact("xmp.xmp.ModifyDate")
    if toolkit is None or built is None or written is None or not moments:
        return
    day = dates.parse(Fact(toolkit.key, built[0].replace("/", "-"), toolkit.where, toolkit.offset))
    last = max(moments, key=lambda moment: moment.local)
    if day is None or (day.local - last.local).total_seconds() <= DAY_S:
        return
    yield finding(
        "suspect",
        "The program that wrote the metadata is younger than the dates in it",
        f"{place(toolkit)}: the library that wrote the XMP was built on {built[0]}, "
        f"{dates.span((day.local - last.local).total_seconds())} after the latest date in the file "
        f"({last.fact.value}, {place(last.fact)}). The dates were set back, or the computer's clock was wrong.",
        "dates",
        "dates",
        facts=[toolkit, last.fact],
        values=[built[0], last.fact.value],
        flags=["METADATA_ERROR"],
    )


def _zone(facts: Facts) -> Iterator[Finding]:
    """Yield the claim that the time zone is none that is kept at the position."""
    zone, position = facts.fact("exif.OffsetTimeOriginal"), facts.fact("gps.longitude")
    match = re.fullmatch(r"([+-])(\d\d):(\d\d)", str(zone.value).strip()) if zone is not None else None
    if zone is None or position is None or match is None:
        return
    stated_h = (int(match[2]) + int(match[3]) / 60) * (-1 if match[1] == "-" else 1)
    sun_h = position.value / 15
    gap_h = abs((stated_h - sun_h + 12) % 24 - 12)
    if gap_h < FARTHEST_H:
        return
    yield finding(
        "benign",
        "The place and the time zone do not fit",
        f"{place(zone)} says {zone.value}, but at {abs(position.value):.1f} degrees "
        f"{'west' if position.value < 0 else 'east'} the sun keeps UTC{sun_h:+.1f} h, and no country is "
        f"{gap_h:.0f} hours off it. Cameras that keep the zone of home on a journey do this, and telephones in an "
        "aeroplane; so does a place or a zone that was written in.",
        "dates",
        "dates",
        facts=[zone, position],
        values=[str(zone.value), f"{position.value:.4f}"],
    )


def exif_moments(facts: Facts) -> list[Moment | None]:
    """Return EXIF's dates of taking, of digitising and of change, each in its zone where that is there."""
    moments = []
    for key, offset_key in EXIF:
        fact, offset = facts.fact(key), facts.get(offset_key)
        moments.append(None if fact is None else dates.parse(fact, offset=str(offset) if offset else None))
    return moments


def iptc_moments(facts: Facts) -> list[Moment | None]:
    """Return IPTC's dates of making and of digitising, each with its time where that is there."""
    moments = []
    for day_key, time_key, _ in IPTC:
        day, time = facts.fact(day_key), facts.get(time_key)
        text = f"{day.value} {time or ''}".strip() if day is not None else ""
        moments.append(dates.parse(Fact(day.key, text, day.where, day.offset)) if day is not None else None)
    return moments


def satellites_moment(facts: Facts) -> Moment | None:
    """Return the moment that GPS gave, in UTC, where its day and its time are there."""
    day, time = facts.fact("exif.gps.DateStamp"), facts.get("exif.gps.TimeStamp")
    if day is None or not isinstance(time, list) or len(time) != 3 or None in time:
        return None
    hour, minute, second = (int(float(t)) for t in time)
    text = f"{day.value} {hour:02}:{minute:02}:{second:02}Z"
    return dates.parse(Fact("exif.gps.DateStamp", text, day.where, day.offset))


def _defaults(facts: Facts) -> Iterator[Finding]:
    known = facts.firsts(key for key, _ in EXIF)
    defaults = [
        (f, dates.default_name(m)) for f in known if (m := dates.parse(f)) is not None and dates.default_name(m)
    ]
    defaults += [(f, "an empty date") for f in known if str(f.value).strip() and dates.is_empty(f)]
    if not defaults:
        return
    first, name = defaults[0]
    shown = f"{first.value} is {name}" if re.search(r"\d", str(first.value)) else "the field is blank"
    yield finding(
        "benign",
        "A date was never set",
        f"{place(first)}: {shown}. The device's clock was not set, or a program left the field empty.",
        "metadata",
        "dates",
        facts=[f for f, _ in defaults],
    )
