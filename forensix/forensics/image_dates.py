"""Dates of a picture: EXIF within itself, against XMP and against GPS."""

from forensix.forensics import dates
from forensix.forensics.dates import Difference, Moment
from forensix.forensics.findings import Finding, finding, place
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


def rules(facts: Facts, *, second_sign: bool) -> list[Finding]:
    """Return the claims on dates; a mismatch is suspect only with a second sign of editing, or where it is
    impossible."""
    moments = [_moment(facts, key, offset) for key, offset in EXIF]
    found = [*_defaults(facts)]
    differences = [*_within(moments), *_against_xmp(facts, moments), *_against_gps(facts, moments)]
    if differences:
        found.append(_mismatch(differences, second_sign))
    shown = [m for m in moments if m is not None and not dates.default_name(m)]
    if shown:
        values = [f"{m.name.removeprefix('exif.')} {m.fact.value}" for m in shown]
        found.append(
            finding(
                "benign",
                "The file says when it was made",
                f"{place(shown[0].fact)}: {', '.join(values)}. The clock of the device may have been wrong.",
                "metadata",
                "dates",
                facts=[m.fact for m in shown],
                values=values,
            )
        )
    return found


def _moment(facts: Facts, key: str, offset_key: str) -> Moment | None:
    fact = facts.fact(key)
    offset = facts.get(offset_key)
    return None if fact is None else dates.parse(fact, offset=str(offset) if offset else None)


def _within(moments: list[Moment | None]) -> list[Difference]:
    original, digitised, modified = moments
    pairs = [(original, digitised), (original or digitised, modified)]
    return [d for a, b in pairs if a is not None and b is not None and (d := dates.difference(a, b)) is not None]


def _against_xmp(facts: Facts, moments: list[Moment | None]) -> list[Difference]:
    found = []
    for key, index in XMP:
        fact, exif = facts.fact(key), moments[index]
        moment = dates.parse(fact) if fact is not None else None
        if moment is None or exif is None:
            continue
        difference = dates.difference(exif, moment)
        # A later ModifyDate in XMP is what any cataloguing program writes.
        if difference is not None and not (index == 2 and difference.seconds > 0):
            found.append(difference)
    return found


def _against_gps(facts: Facts, moments: list[Moment | None]) -> list[Difference]:
    day, time = facts.fact("exif.gps.DateStamp"), facts.get("exif.gps.TimeStamp")
    local = moments[0] or moments[1]
    if day is None or local is None or not isinstance(time, list) or len(time) != 3 or None in time:
        return []
    hour, minute, second = (int(float(t)) for t in time)
    text = f"{day.value} {hour:02}:{minute:02}:{second:02}Z"
    moment = dates.parse(Fact("exif.gps.DateStamp", text, day.where, day.offset))
    difference = dates.zone_difference(local, moment) if moment is not None else None
    return [difference] if difference is not None else []


def _mismatch(differences: list[Difference], second_sign: bool) -> Finding:
    backwards = [d for d in differences if _is_modified(d) and d.seconds < -86400]
    severity = "suspect" if second_sign else "benign"
    told = "; ".join(
        f"{place(d.second.fact)} says {d.second.fact.value}, {place(d.first.fact)} says {d.first.fact.value} "
        f"({dates.span(d.seconds)} {'later' if d.seconds > 0 else 'earlier'})"
        for d in differences[:4]
    )
    reason = (
        "Other signs of editing stand beside it."
        if second_sign
        else "Nothing else speaks of editing: rotating, copying or a clock that was set explain it as well."
    )
    if backwards:
        reason += " A change that is dated before the capture means that a clock or a date was set."
    moments = [m.fact for d in differences for m in (d.first, d.second)]
    return finding(
        severity,  # type: ignore[arg-type]
        "Dates in the file do not agree",
        f"{told}. {reason}",
        "dates",
        "dates",
        facts=list({id(f): f for f in moments}.values()),
        values=[f"{d.first.name}: {d.first.fact.value} / {d.second.name}: {d.second.fact.value}" for d in differences],
        flags=["METADATA_ERROR"] if second_sign else [],
    )


def _is_modified(difference: Difference) -> bool:
    return difference.second.name == "exif.ModifyDate"


def _defaults(facts: Facts) -> list[Finding]:
    known = [f for key, _ in EXIF if (f := facts.fact(key)) is not None]
    defaults = [
        (f, dates.default_name(m)) for f in known if (m := dates.parse(f)) is not None and dates.default_name(m)
    ]
    defaults += [(f, "an empty date") for f in known if str(f.value).strip() and dates.is_empty(f)]
    if not defaults:
        return []
    first, name = defaults[0]
    return [
        finding(
            "benign",
            "A date is a clock's default",
            f"{place(first)}: {first.value} is {name}; the clock of the device was not set, or a program left the "
            f"field "
            "empty.",
            "metadata",
            "dates",
            facts=[f for f, _ in defaults],
        )
    ]
