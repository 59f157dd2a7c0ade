"""Dates that a file states, and whether they agree.

A date here is what the file says, to the second,
with its offset from UTC where that is said. Dates without an offset are
local time of an unknown place. Nothing is concluded from the date of the file on disk, which copying changes.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from forensix.forensics.findings import Finding, finding, literal, place
from forensix.metadata.facts import Fact

PATTERN = re.compile(
    # Not the three digits of a day of the year, as iOS 8 writes them: 2014:09:259.
    r"(\d{4})[:\-/.]?(\d{2})[:\-/.]?(\d{2})(?!\d(?!\d))"
    r"(?:[T ,]*(\d{2}):?(\d{2})(?::?(\d{2}))?(?:[.,](\d+))?)?\s*(Z|UTC|[+-]\d{2}'?:?\d{2})?"
)
DEFAULTS = {
    (1904, 1, 1): "the epoch of QuickTime and old Macintosh clocks",
    (1970, 1, 1): "the epoch of Unix clocks",
    (1980, 1, 1): "the epoch of DOS clocks and GPS",
    (1601, 1, 1): "the epoch of Windows clocks",
    (1, 1, 1): "an empty date",
}
CLOCK_DEFAULTS = {
    datetime(2002, 12, 8, 12): "what Android phones write without a clock",
    datetime(2000, 1, 1): "where the clocks of many devices begin",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
IN_WORDS = re.compile(
    rf"(?:mon|tue|wed|thu|fri|sat|sun),? +({'|'.join(MONTHS)}) +(\d{{1,2}}) +(\d\d:\d\d:\d\d) +(\d{{4}})", re.IGNORECASE
)
"""As C writes a date, and with it AVI and Flash: ``MON SEP 10 20:52:00 2012``."""

PADDED = re.compile(r"(?<=[: ]) (?=\d)")
"""Where some devices write a blank in place of a zero: ``2008: 5:30  9:56: 1``."""

TOLERANCE_S = 120
"""Differences up to here are exposure, processing and clock reading, not evidence."""

MOST_LETTERS = 80
"""Of a date that a claim repeats."""

SPANS = (
    (1, "second", 60),
    (60, "minute", 60),
    (3600, "hour", 24),
    (86_400, "day", 2 * 365.25),
    (365.25 * 86_400, "year", math.inf),
)
"""Units of time in seconds, their names, and from how many on the next unit is used."""


def now() -> datetime:
    """Return the moment in UTC, without a zone, so that the zone of the machine changes no claim.

    A date whose zone is not said may be 14 hours ahead of it.
    """
    return datetime.now(UTC).replace(tzinfo=None)


def by_the_clock(moment: datetime) -> str:
    """Return in words what a date was compared with: the clock here may be the one that is wrong."""
    return f"by the clock of the machine that analysed this file, which said {moment:%Y-%m-%d}"


@dataclass(frozen=True)
class Moment:
    """A stated date; ``offset`` is its distance from UTC where the file says it."""

    local: datetime
    offset: timedelta | None
    fact: Fact

    @property
    def utc(self) -> datetime | None:
        """The moment in UTC, or ``None`` where the offset is not said or leads out of the calendar."""
        try:
            return None if self.offset is None else self.local - self.offset
        except OverflowError:
            return None

    @property
    def text(self) -> str:
        """The date as the file states it, with its offset where another field says that."""
        said = str(self.fact.value).strip()
        if self.offset is None or _match(self.fact)[8]:  # type: ignore[index]
            return said
        minutes = round(self.offset.total_seconds() / 60)
        return f"{said} {'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"

    @property
    def name(self) -> str:
        """The field's name for a sentence."""
        return self.fact.key


@dataclass(frozen=True)
class Difference:
    """Two dates that should agree and do not; ``seconds`` is second minus first."""

    first: Moment
    second: Moment
    seconds: float


def parse(fact: Fact, *, offset: str | None = None) -> Moment | None:
    """Return the moment that a fact's text states, or ``None`` where it is empty or no date.

    >>> parse(Fact("exif.ModifyDate", "2008:05:30 15:56:01", "IFD0")).local.isoformat()
    '2008-05-30T15:56:01'
    """
    match = _match(fact)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(g or 0) for g in match.groups()[:6])
    try:
        local = datetime(year, month, day, hour, minute, min(second, 59))
    except ValueError:
        return None
    return Moment(local, _offset(match[8] or offset), fact)


def has_time(moment: Moment) -> bool:
    """Tell whether the text states a time of day as well: midnight is what programs write that know the day alone."""
    match = _match(moment.fact)
    return match is not None and match[4] is not None and moment.local.time() != time()


def is_no_day(fact: Fact) -> bool:
    """Tell whether a text states a day that no calendar has, such as the 30th of February."""
    match = _match(fact)
    if match is None or not all(int(match[i]) for i in (1, 2, 3)):
        return False
    try:
        datetime(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return True
    return False


def default_name(moment: Moment) -> str | None:
    """Name the clock default that a date is, or return ``None`` for a date that was set."""
    day = (moment.local.year, moment.local.month, moment.local.day)
    return CLOCK_DEFAULTS.get(moment.local) or DEFAULTS.get(day)


def is_empty(fact: Fact) -> bool:
    """Tell whether a date field holds no date: zeros, blanks or dashes, as devices write with an unset clock."""
    return not re.search(r"[1-9]", str(fact.value))


def made(facts: Sequence[Fact], texts: Sequence[str], note: str = "", done: str = "made") -> Finding:
    """Return the claim on when a file was made, or only changed: facts that say so, and each date as it is told."""
    values = [
        f"{fact.key.rsplit('.', 1)[-1]} {literal(text)[:MOST_LETTERS]}" for fact, text in zip(facts, texts, strict=True)
    ]
    return finding(
        "benign",
        f"The file says when it was {done}",
        f"{place(facts[0])}: {', '.join(values)}.{note} The device's clock may have been wrong, and dates are easily "
        "written.",
        "metadata",
        "dates",
        facts=facts,
        values=values,
    )


def difference(first: Moment, second: Moment) -> Difference | None:
    """Return how far two moments lie apart, or ``None`` where they agree.

    With an offset on one side only, whole quarter hours up to 15 h are put down to the unknown time zone.
    """
    if default_name(first) or default_name(second):
        return None
    if not has_time(first) or not has_time(second):
        days = abs((first.local.date() - second.local.date()).days)
        return Difference(first, second, (second.local - first.local).total_seconds()) if days > 1 else None
    if first.utc is not None and second.utc is not None:
        seconds = (second.utc - first.utc).total_seconds()
        # Programs often write the same wall-clock time with the zone of the machine they ran on.
        seconds = min(seconds, (second.local - first.local).total_seconds(), key=abs)
    else:
        seconds = (second.local - first.local).total_seconds()
        if (first.offset is None) != (second.offset is None):
            rest = (abs(seconds) + TOLERANCE_S) % 900
            if abs(seconds) <= 15 * 3600 and rest <= 2 * TOLERANCE_S:
                return None
    return Difference(first, second, seconds) if abs(seconds) > TOLERANCE_S else None


def zone_difference(local: Moment, utc: Moment) -> Difference | None:
    """Compare local time with a UTC clock (GPS): only what no time zone explains is a difference."""
    if default_name(local) or default_name(utc):
        return None
    if local.utc is not None:
        seconds = (local.utc - utc.local).total_seconds()
        return Difference(utc, local, seconds) if abs(seconds) > 3700 else None
    seconds = (local.local - utc.local).total_seconds()
    return Difference(utc, local, seconds) if abs(seconds) > 15 * 3600 else None


def span(seconds: float) -> str:
    """Return a stretch of time in the unit that a person would use, and say where it is rounded.

    >>> span(7200), span(86399)
    ('2 hours', 'about 1 day')
    """
    seconds = abs(seconds)
    counted = ((round(seconds / size, 1 if size > 1 else None), size, name, most) for size, name, most in SPANS)
    n, size, name = next((n, size, name) for n, size, name, most in counted if n < most)
    about = "" if abs(n * size - seconds) < 0.5 else "about "
    return f"{about}{n}".removesuffix(".0") + f" {name}{'' if n == 1 else 's'}"


def _match(fact: Fact) -> re.Match[str] | None:
    text = str(fact.value).strip().removeprefix("D:")
    if (words := IN_WORDS.fullmatch(text)) is not None:
        text = f"{words[4]}:{MONTHS.index(words[1].lower()) + 1:02}:{int(words[2]):02} {words[3]}"
    return PATTERN.match(PADDED.sub("0", text))


def _offset(text: str | None) -> timedelta | None:
    if not text:
        return None
    if text in ("Z", "UTC"):
        return timedelta(0)
    match = re.match(r"([+-])(\d{2})'?:?(\d{2})", text)
    if match is None:
        return None
    sign = -1 if match[1] == "-" else 1
    return sign * timedelta(hours=int(match[2]), minutes=int(match[3]))
