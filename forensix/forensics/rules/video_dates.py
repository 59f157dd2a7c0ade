"""The dates of movie, tracks and media in a container, against each other and against what a device can have."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import dates, device_years
from forensix.metadata.facts import Fact, Facts

IMPOSSIBLE_S = 86400
"""A change dated longer than this before the making, or a movie before all of its tracks, is no matter of clocks."""

MADE = (
    "container.tag.com.apple.quicktime.creationdate",
    "container.tag.creationdate",
    "container.movie.created",
    "container.tag.DATE_RECORDED",
    "container.tag.©day",
    "container.tag.ICRD",
    "id3.TDRC",
    "id3.TYER",
    "id3v1.year",
    "vorbis.DATE",
    "xmp.xmp.CreateDate",
)
"""Where videos and recordings say when they were made, those first that state a time zone or a time."""

BEGAN = re.compile(r"com\.apple\.quicktime\.creationdate$|moov/udta/date$")
"""The key, or the place, of the date at which Apple's devices say that recording began. They date the header when the
file is written: in all 43 recordings with both that are in 432 public repositories at the same moment or later."""

ZONES_S = 26 * 3600
"""Cameras write their local time as if it were universal, and zones are no further apart than this."""

MOST_TAGS = 4
YEAR = re.compile(r"(?:19|20)\d\d(?:-\d\d)?")
OF_A_WORK = ("id3", "vorbis", "container.tag.ICRD", "container.tag.©day")
"""Fields that music has as well."""


def date_rules(facts: Facts) -> Iterator[Finding]:
    """Yield claims about dates that were never set, contradict each other, or cannot be, and on when it was made."""
    movie = [
        f for f in facts.items if re.fullmatch(r"container\.(movie|track\.\d+|media\.\d+)\.(created|modified)", f.key)
    ]
    moments = {f.key: m for f in movie if (m := dates.parse(f)) is not None}
    unset = [f for f in movie if f.key in moments and dates.default_name(moments[f.key])]
    if unset:
        yield finding(
            "benign",
            "Dates were never set",
            f"{place(unset[0])}: {unset[0].value} is {dates.default_name(moments[unset[0].key])}, not a date: the "
            "program that wrote the file left it empty.",
            "dates",
            "dates",
            facts=unset[:12],
        )
    length_s = float(facts.get("container.movie.duration_s") or 0)
    real = {k: m for k, m in moments.items() if not dates.default_name(m)}
    groups = sorted({k.rsplit(".", 1)[0] for k in real}, key=lambda g: g != "container.movie")
    for group in groups:
        creation, change = real.get(f"{group}.created"), real.get(f"{group}.modified")
        if creation and change:
            gap = (change.local - creation.local).total_seconds()
            # Recorders set the second date when recording ends.
            if not -2 <= gap <= length_s + 60:
                yield _gap(creation, change, gap)
                break
    yield from _between(real)
    yield from _tags(facts, real.get("container.movie.created"), length_s)
    yield from _satellites(facts, real.get("container.movie.created"))
    now = dates.now()
    late = [m.fact for m in real.values() if m.local > now + timedelta(days=2)]
    if late:
        yield finding(
            "suspect",
            "A date lies in the future",
            f"{place(late[0])}: {late[0].value} is yet to come {dates.by_the_clock(now)}.",
            "dates",
            "dates",
            facts=late,
            flags=("METADATA_ERROR",),
        )
    if young := device_years.of_recording(facts):
        tags = [f for f in facts.items if f.key in MADE or BEGAN.search(f.where)]
        stated = [*moments.values(), *(m for f in tags if (m := dates.parse(f)) is not None)]
        yield from device_years.too_young(*young, stated, "recording")
    yield from _made(facts)


def _tags(facts: Facts, base: dates.Moment | None, length_s: float) -> Iterator[Finding]:
    """Compare the dates in tags with that of the header; those that say one moment are told together."""
    if base is None:
        return
    # What FFmpeg calls a tag of a stream is the date of a track once more.
    own = (f for f in facts.items if not f.key.startswith("stream."))
    named = re.compile(r"creationdate|creation_?time$|\.IDIT$|DateTimeOriginal$", re.I)
    tags = [f for f in own if named.search(f.key) or BEGAN.search(f.where)]
    groups: dict[datetime, list[tuple[Fact, float]]] = {}
    for fact in tags:
        other = dates.parse(fact)
        if other is None or fact is base.fact:
            continue
        apart = dates.zone_difference(other, base) if other.offset is None else dates.difference(other, base)
        if apart and abs(apart.seconds) > length_s + 120:
            groups.setdefault((other.utc or other.local).replace(tzinfo=None), []).append((fact, abs(apart.seconds)))
    for when, group in groups.items():
        told, span = [f for f, _ in group], dates.span(max(seconds for _, seconds in group))
        n, more = len(told), len(told) - MOST_TAGS
        places = "; ".join(f"{place(f)} says {f.value}" for f in told[:MOST_TAGS])
        is_before = (when - base.local).total_seconds() > IMPOSSIBLE_S
        is_before = is_before and any(BEGAN.search(text) for f in told for text in (f.key, f.where))
        yield finding(
            "suspect" if is_before else "benign",
            "The header's date lies before the recording began"
            if is_before
            else f"{'A tag gives' if n == 1 else f'{n} tags give'} another date than the header",
            f"{places}{f'; and {more} more' if more > 0 else ''}. {place(base.fact)} says {base.fact.value}: {span} "
            + (
                "earlier. The tag says when recording began, and a header is dated when the file is written. A date "
                "that was written into either does this, as when a wrong one is put right."
                if is_before
                else "apart. Exporting and repackaging leave this behind."
            ),
            "dates",
            "dates",
            facts=[*told, base.fact],
            flags=("METADATA_ERROR",),
        )


def _satellites(facts: Facts, made: dates.Moment | None) -> Iterator[Finding]:
    """Hold the header's date against the time that the camera received; a clock that lost its time runs behind it."""
    fact = facts.fact("gps.satellite_time")
    received = dates.parse(fact) if fact else None
    if fact is None or received is None or made is None:
        return
    gap = (made.local - received.local).total_seconds()
    if abs(gap) <= ZONES_S:
        return
    ahead = gap > 0
    yield finding(
        "suspect" if ahead else "benign",
        "The header's date is not that of the satellites",
        f"{place(fact)} says {fact.value}, {place(made.fact)} says {made.fact.value}: {dates.span(abs(gap))} "
        f"{'later' if ahead else 'earlier'}, more than time zones explain. The camera received the first while it "
        "recorded. "
        + (
            "A program that exports the recording and dates it anew does so, and so do a clock that was set ahead "
            "and dates that were written in."
            if ahead
            else "A clock that lost its time, as after a change of the battery, does this; so do dates that were "
            "written in."
        ),
        "dates",
        "dates",
        facts=[fact, made.fact],
        flags=("METADATA_ERROR",),
        remark="" if ahead else "the header's date is not that of the satellites",
    )


def _made(facts: Facts) -> Iterator[Finding]:
    """Yield the claim on when the file was made, by dates that were set; what repeats a date is left out."""
    stated = [f for f in facts.firsts(MADE) if _is_set(f)]
    by_text = {str(f.value).strip(): f for f in reversed(stated)}
    told = [f for f in stated if f in by_text.values()]
    if told:
        of_a_work = all(f.key.startswith(OF_A_WORK) for f in told)
        note = " In music it is when the piece came out, and not when the file was written." if of_a_work else ""
        yield dates.made(told, [str(f.value) for f in told], note)


def _is_set(fact: Fact) -> bool:
    moment = dates.parse(fact)
    return not dates.default_name(moment) if moment else YEAR.fullmatch(str(fact.value).strip()) is not None


def _gap(creation: dates.Moment, change: dates.Moment, gap: float) -> Finding:
    values = f"{place(creation.fact)} says {creation.fact.value}, {place(change.fact)} says {change.fact.value}"
    if gap > 0:
        return finding(
            "benign",
            "The file was changed after it was made, by its own dates",
            f"{values}: {dates.span(gap)} later, longer than the recording lasts. Tagging, trimming and repackaging "
            "leave this behind.",
            "dates",
            "dates",
            facts=[creation.fact, change.fact],
            flags=("FILE_EDITED",),
        )
    return finding(
        "suspect" if gap < -IMPOSSIBLE_S else "benign",
        "The file was changed before it was made, by its own dates",
        f"{values}: {dates.span(gap)} earlier, which is impossible. A clock that was set in between does this; so do "
        "dates that were written in.",
        "dates",
        "dates",
        facts=[creation.fact, change.fact],
        flags=("METADATA_ERROR",),
    )


def _between(real: dict[str, dates.Moment]) -> Iterator[Finding]:
    """Compare the creation dates of movie, tracks and media."""
    creations = [m for k, m in real.items() if k.endswith(".created")]
    if len(creations) < 2:
        return
    first, last = min(creations, key=lambda m: m.local), max(creations, key=lambda m: m.local)
    gap = (last.local - first.local).total_seconds()
    if gap <= 60:
        return
    movie = real.get("container.movie.created")
    tracks = [m for m in creations if m is not movie]
    if movie and (tracks_from := min(m.local for m in tracks)) > movie.local + timedelta(seconds=IMPOSSIBLE_S):
        yield finding(
            "suspect",
            "The movie was made before all of its tracks, by their own dates",
            f"{place(movie.fact)} says {movie.fact.value}, and the first of the tracks is dated "
            f"{dates.span((tracks_from - movie.local).total_seconds())} later. Recorders and programs date the movie "
            "with its tracks or after them. A date that was written in does this; so may a program that put new tracks "
            "under an older header.",
            "dates",
            "dates",
            facts=[movie.fact, *(m.fact for m in tracks[:6])],
            flags=("METADATA_ERROR",),
        )
        return
    yield finding(
        "benign",
        "The movie and its tracks were made at different times, by their own dates",
        f"{place(first.fact)} says {first.fact.value}, {place(last.fact)} says {last.fact.value}: {dates.span(gap)} "
        "apart. Streams that were recorded before the file was put together show this.",
        "dates",
        "dates",
        facts=[first.fact, last.fact],
        flags=("METADATA_ERROR",),
    )
