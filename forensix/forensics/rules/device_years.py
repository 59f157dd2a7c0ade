"""Telephones and their systems that are younger than every date of what they are said to have made.

Telephones take the time from their network, while other cameras forget theirs, so only telephones are held to it. Their
systems can be tried out some months before they come out, in the same year. Only what a system writes itself, when it
records, is read for its version: what edits a photograph later may leave its own there beside the date of the capture.

References
----------
Apple, "Identify your iPhone model" (HT201296) and the release notes of iOS; Google, "Pixel phone hardware tech specs".
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import dates
from forensix.forensics.rules.dates import Moment
from forensix.metadata.facts import Fact, Facts

YEARS = {
    r"iPhone 4S?$": 2010, r"iPhone 5$": 2012, r"iPhone 5[sc]": 2013, r"iPhone 6( Plus)?$": 2014, r"iPhone 6s": 2015,
    r"iPhone 7": 2016, r"iPhone (8|X$)": 2017, r"iPhone X[RS]": 2018, r"iPhone 11": 2019, r"iPhone 12": 2020,
    r"iPhone 13": 2021, r"iPhone 14": 2022, r"iPhone 15": 2023, r"iPhone 16": 2024,
    r"iPhone 17": 2025,
    r"Pixel( XL)?$": 2016, r"Pixel 2": 2017, r"Pixel 3": 2018, r"Pixel 4": 2019, r"Pixel 5": 2020, r"Pixel 6": 2021,
    r"Pixel 7": 2022, r"Pixel 8": 2023, r"Pixel 9": 2024, r"Pixel 10": 2025,
}  # fmt: skip
"""The year in which telephones came out, by how their name begins."""

VOICE_MEMOS = re.compile(r"com\.apple\.VoiceMemos \((?:iOS|iPhone Version|iPad Version) (\d+)\.")
"""How Voice Memos names the system that it runs on."""

VIDEO_IOS = re.compile(r"(\d+)\.\d+(?:\.\d+)?")
"""The same of a video of an iPhone or iPad: the number alone."""

FIRST_IOS, LAST_IOS = 7, 18
"""Versions of iOS that came out one a year, the first of these in 2013; the next one is called 26."""


def year(device: str) -> int | None:
    """Return the year in which a telephone came out, ``None`` where it is none whose year is known.

    >>> year("iPhone 13 mini"), year("NIKON D3400")
    (2021, None)
    """
    return next((y for name, y in YEARS.items() if re.match(name, device.strip())), None)


def year_of_ios(version: int) -> int | None:
    """Return the year in which a version of iOS came out, ``None`` where it is not known.

    >>> year_of_ios(12), year_of_ios(26)
    (2018, 2025)
    """
    return 2025 if version == 26 else 2006 + version if FIRST_IOS <= version <= LAST_IOS else None


def of_recording(facts: Facts) -> tuple[Fact, int] | None:
    """Return what names the telephone of a recording or its system, and the later of the years of these two."""
    model, software = facts.fact("device.model"), facts.fact("container.tag.com.apple.quicktime.software")
    known = [(model, year(str(model.value)))] if model is not None else []
    if model is not None and software is not None and re.match("iPhone|iPad", str(model.value)):
        version = VIDEO_IOS.fullmatch(str(software.value))
        known += [(software, year_of_ios(int(version[1])))] if version else []
    memos = facts.fact("container.tag.©too")
    version = VOICE_MEMOS.match(str(memos.value)) if memos is not None else None
    known += [(memos, year_of_ios(int(version[1])))] if memos is not None and version else []
    return max(((fact, n) for fact, n in known if n is not None), key=lambda row: row[1], default=None)


def too_young(named: Fact, year: int, moments: Iterable[Moment], kind: str) -> Iterator[Finding]:
    """Yield the claim on a device, or the system of one, that came out in a year after all dates of what it made."""
    stated = [m for m in moments if not dates.default_name(m)]
    if not stated or (last := max(stated, key=lambda moment: moment.local)).local >= datetime(year, 1, 1):
        return
    what, original = ("device", "print") if kind == "picture" else ("device or its system", "film")
    yield finding(
        "suspect",
        f"The {what} is younger than the dates of the {kind}",
        f"{place(named)} says {str(named.value).strip()[:80]!r}, which came out in {year}, but no date in the file is "
        f"later than {last.fact.value} ({place(last.fact)}). A clock that was set back by hand does this, "
        f"and a copy of an old {original} that was given the {original}'s date; so does a date or a name that was "
        "written in.",
        "dates",
        "dates",
        facts=[named, last.fact],
        flags=["METADATA_ERROR"],
    )
