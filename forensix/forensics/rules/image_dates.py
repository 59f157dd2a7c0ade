"""Dates of a picture: EXIF within itself, against XMP, against IPTC and against GPS."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import dates
from forensix.forensics.rules.dates import Difference, Moment
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

OF_THE_ORIGINAL = ("iptc.DateCreated", "xmp.photoshop.DateCreated")
"""When what the picture shows was made, which of a scan is when the original was."""

CHANGED = ("exif.ModifyDate", "xmp.xmp.ModifyDate")
DAY_S = 86_400.0
YEAR_S = 365 * DAY_S
BEFORE_S = 2 * DAY_S
"""How long before it was made a picture may have been changed by the clocks of two devices in two places."""

FARTHEST_H = 4.5
"""No country keeps a time this many hours from the sun's own."""

TOOLKIT = re.compile(r"\b(?:19|20)\d\d/\d\d/\d\d\b")
"""The day on which Adobe's XMP library was built, as it writes it of itself."""


def mismatch(facts: Facts, *, second_sign: bool) -> list[Finding]:
    """Return the claim on dates that do not agree.

    It is suspect where dates of the capture disagree and a ``second_sign`` speaks of editing, or where a camera would
    have written both in one moment; a later date of change is what any program leaves, and says no more than that one
    was used.
    """
    moments = [_moment(facts, key, offset) for key, offset in EXIF]
    differences = [*_within(moments), *_against_xmp(facts, moments), *_against_iptc(facts, moments)]
    differences += _against_gps(facts, moments)
    scanned = [d for d in differences if _is_scan(facts, d)]
    is_suspect = second_sign and any(d.second.name not in CHANGED and d not in scanned for d in differences)
    parted = [d for d in differences if _is_parted(facts, d)]
    # What the claim is suspect for is told first.
    ordered = [*parted, *(d for d in differences if d not in parted)]
    reason = _reason(ordered, is_suspect=is_suspect, is_parted=bool(parted), is_scan=bool(scanned))
    return [_mismatch(ordered, reason, is_suspect=is_suspect or bool(parted))] if differences else []


def _is_scan(facts: Facts, difference: Difference) -> bool:
    """Tell whether two dates can be those of a scan: EXIF keeps when a picture was taken and when it was digitised.

    Digital cameras, which write both at once, leave a maker's note beside them. What is scanned is mostly years old.
    Agencies and archives give a scan the date of the original, or of what it shows, as the date that it was created.
    """
    if facts.fact("exif.MakerNote") is not None:
        return False
    if difference.second.name in OF_THE_ORIGINAL:
        return difference.seconds < 0
    return _is_of_capture(difference) and difference.seconds > YEAR_S


def _is_parted(facts: Facts, difference: Difference) -> bool:
    """Tell whether a camera's two dates of the capture lie days apart: it writes both in the same moment.

    No real photograph of `benchmarks.forensic_false_alarms` has them days apart, but for defaults of clocks.
    """
    return _is_of_capture(difference) and abs(difference.seconds) > DAY_S and facts.fact("exif.MakerNote") is not None


def _is_of_capture(difference: Difference) -> bool:
    return (difference.first.name, difference.second.name) == ("exif.DateTimeOriginal", "exif.CreateDate")


def is_changed_later(claim: Finding) -> bool:
    """Tell whether a mismatch holds a date of change more than a day from the capture."""
    dated = {f.key: m for f in claim.facts if (m := dates.parse(f)) is not None}
    changed, taken = dated.get("exif.ModifyDate"), dated.get("exif.DateTimeOriginal") or dated.get("exif.CreateDate")
    return changed is not None and taken is not None and abs((changed.local - taken.local).total_seconds()) > DAY_S


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on dates that cannot be, on a clock's defaults, and on when the file says it was made."""
    moments = [_moment(facts, key, offset) for key, offset in EXIF]
    yield from _defaults(facts)
    yield from _impossible(facts, moments)
    yield from _toolkit(facts)
    yield from _zone(facts)
    entries = [m for m in moments if m is not None and not dates.default_name(m)]
    if moments[0] is None and moments[1] is None:
        entries = [*(m for m in _iptc(facts) if m is not None and not dates.default_name(m)), *entries]
    if entries:
        done = "last changed" if all(m.name in CHANGED for m in entries) else "made"
        texts = [m.text for m in entries]
        satellites = _satellites(facts)
        if satellites is not None and not dates.default_name(satellites):
            entries.append(satellites)
            texts.append(f"{satellites.fact.value.removesuffix('Z')} UTC (GPS)")
        yield dates.made([m.fact for m in entries], texts, done=done)


def _impossible(facts: Facts, moments: list[Moment | None]) -> Iterator[Finding]:
    """Yield the claim on dates that contradict time itself: no day, after now, or changed long before it was made."""
    known = [m for m in moments if m is not None]
    known += [m for key, _ in XMP if (f := facts.fact(key)) is not None and (m := dates.parse(f)) is not None]
    known += [m for m in _iptc(facts) if m is not None]
    known = [m for m in known if not dates.default_name(m)]
    sentences, evidence = [], []
    for moment in known:
        if moment.local > datetime.now() + timedelta(days=1):
            sentences.append(f"{place(moment.fact)} says {moment.fact.value}, which is yet to come")
            evidence.append(moment.fact)
    for fact in (f for key, _ in EXIF if (f := facts.fact(key)) is not None and dates.is_no_day(f)):
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
    moments += [m for m in _iptc(facts) if m is not None]
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


def _moment(facts: Facts, key: str, offset_key: str) -> Moment | None:
    fact = facts.fact(key)
    offset = facts.get(offset_key)
    return None if fact is None else dates.parse(fact, offset=str(offset) if offset else None)


def _within(moments: list[Moment | None]) -> list[Difference]:
    original, digitised, modified = moments
    pairs = [(original, digitised), (original or digitised, modified)]
    return [d for a, b in pairs if a is not None and b is not None and (d := dates.difference(a, b)) is not None]


def _against_xmp(facts: Facts, moments: list[Moment | None]) -> list[Difference]:
    differences = []
    for key, index in XMP:
        fact, exif = facts.fact(key), moments[index]
        moment = dates.parse(fact) if fact is not None else None
        if moment is None or exif is None:
            continue
        difference = dates.difference(exif, moment)
        # A later ModifyDate in XMP is what any cataloguing program writes.
        if difference is not None and not (index == 2 and difference.seconds > 0):
            differences.append(difference)
    return differences


def _against_iptc(facts: Facts, moments: list[Moment | None]) -> list[Difference]:
    """Compare IPTC's dates with those of EXIF, or where there are none with the one of XMP that repeats them."""
    differences = []
    for moment, (_, _, index) in zip(_iptc(facts), IPTC, strict=True):
        first = moments[index]
        for key in (key for key, of in XMP if of == index and first is None):
            fact = facts.fact(key)
            first = dates.parse(fact) if fact is not None else None
        difference = dates.difference(first, moment) if first is not None and moment is not None else None
        if difference is not None:
            differences.append(difference)
    return differences


def _iptc(facts: Facts) -> list[Moment | None]:
    """Return IPTC's dates of making and of digitising, each with its time where that is there."""
    moments = []
    for day_key, time_key, _ in IPTC:
        day, time = facts.fact(day_key), facts.get(time_key)
        text = f"{day.value} {time or ''}".strip() if day is not None else ""
        moments.append(dates.parse(Fact(day.key, text, day.where, day.offset)) if day is not None else None)
    return moments


def _against_gps(facts: Facts, moments: list[Moment | None]) -> list[Difference]:
    satellites, local = _satellites(facts), moments[0] or moments[1]
    difference = dates.zone_difference(local, satellites) if local is not None and satellites is not None else None
    return [difference] if difference is not None else []


def _satellites(facts: Facts) -> Moment | None:
    """Return the moment that GPS gave, in UTC, where its day and its time are there."""
    day, time = facts.fact("exif.gps.DateStamp"), facts.get("exif.gps.TimeStamp")
    if day is None or not isinstance(time, list) or len(time) != 3 or None in time:
        return None
    hour, minute, second = (int(float(t)) for t in time)
    text = f"{day.value} {hour:02}:{minute:02}:{second:02}Z"
    return dates.parse(Fact("exif.gps.DateStamp", text, day.where, day.offset))


def _mismatch(differences: list[Difference], reason: str, *, is_suspect: bool) -> Finding:
    words = "; ".join(
        f"{place(d.second.fact)} says {d.second.text}, {dates.span(d.seconds)} "
        f"{'later' if d.seconds > 0 else 'earlier'} than {place(d.first.fact)} ({d.first.text})"
        for d in differences[:4]
    )
    moments = [m.fact for d in differences for m in (d.first, d.second)]
    return finding(
        "suspect" if is_suspect else "benign",
        "The file was changed after it was made, by its own dates"
        if _are_later(differences)
        else "Dates in the file do not agree",
        f"{words}. {reason}",
        "dates",
        "dates",
        facts=list({id(f): f for f in moments}.values()),
        values=[f"{d.first.name}: {d.first.fact.value} / {d.second.name}: {d.second.fact.value}" for d in differences],
        flags=["METADATA_ERROR"] if is_suspect else [],
    )


def _reason(differences: list[Difference], *, is_suspect: bool, is_parted: bool, is_scan: bool) -> str:
    """Return what dates that do not agree can come from."""
    if is_parted:
        return (
            "A camera, whose own notes the file holds, writes when a picture was taken and when it was digitised in "
            "the same moment, so one of the two was written later. Whoever puts a date right that a wrong clock gave, "
            "or gives an old picture that was copied with a camera its own date, leaves this; so does a date that is "
            "false."
        )
    if is_suspect:
        return "Other signs of editing stand beside it, and the moment of capture is among what disagrees."
    if _are_later(differences):
        return "Rotating, copying and captioning leave this as well as any change of the content."
    if is_scan:
        return (
            "A scan of an older picture has two such dates: when it was taken and when it was digitised. A date that "
            "was written in looks the same."
        )
    return "Rotating, copying, captioning or a clock that was set explain it as well."


def _are_later(differences: list[Difference]) -> bool:
    return all(d.second.name in CHANGED and d.seconds > 0 for d in differences)


def _defaults(facts: Facts) -> Iterator[Finding]:
    known = [f for key, _ in EXIF if (f := facts.fact(key)) is not None]
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
