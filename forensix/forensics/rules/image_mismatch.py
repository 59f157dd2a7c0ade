"""Dates of a picture that do not agree: EXIF in itself, against XMP, IPTC, GPS and a phone's clock."""

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import dates
from forensix.forensics.rules.dates import Difference, Moment
from forensix.forensics.rules.image_dates import (
    CHANGED,
    DAY_S,
    IPTC,
    XMP,
    exif_moments,
    iptc_moments,
    satellites_moment,
)
from forensix.metadata.facts import Facts

OF_THE_ORIGINAL = ("iptc.DateCreated", "xmp.photoshop.DateCreated")
"""When what the picture shows was made, which of a scan is when the original was."""

YEAR_S = 365 * DAY_S


def mismatch(facts: Facts, *, second_sign: bool) -> list[Finding]:
    """Return the claim on dates that do not agree.

    It is suspect where dates of the capture disagree and a ``second_sign`` speaks of editing, or where a camera would
    have written both in one moment; a later date of change is what any program leaves, and says no more than that one
    was used.
    """
    moments = exif_moments(facts)
    differences = [*_within(moments), *_against_xmp(facts, moments), *_against_iptc(facts, moments)]
    differences += _against_utc(facts, moments)
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
    for moment, (_, _, index) in zip(iptc_moments(facts), IPTC, strict=True):
        first = moments[index]
        for key in (key for key, of in XMP if of == index and first is None):
            fact = facts.fact(key)
            first = dates.parse(fact) if fact is not None else None
        difference = dates.difference(first, moment) if first is not None and moment is not None else None
        if difference is not None:
            differences.append(difference)
    return differences


def _against_utc(facts: Facts, moments: list[Moment | None]) -> list[Difference]:
    """Compare the capture with clocks that know no zone: the satellites', and a Samsung phone's own behind the end."""
    local, taken = moments[0] or moments[1], facts.fact("samsung.taken")
    clocks = [satellites_moment(facts), dates.parse(taken) if taken is not None else None]
    compared = [dates.zone_difference(local, utc) for utc in clocks if local is not None and utc is not None]
    return [difference for difference in compared if difference is not None]


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
