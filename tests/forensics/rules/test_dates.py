"""Dates: reading them, and which differences say something."""

import pytest

from forensix.forensics.rules import dates
from forensix.metadata.facts import Fact


def moment(text: str, offset: str | None = None) -> dates.Moment:
    actual = dates.parse(Fact("d", text, "x"), offset=offset)
    assert actual is not None
    return actual


@pytest.mark.parametrize(
    ("text", "local", "hours"),
    [
        ("2008:05:30 15:56:01", "2008-05-30T15:56:01", None),
        ("2008-05-30T15:56:01.250+02:00", "2008-05-30T15:56:01", 2),
        ("D:20080530155601-03'30'", "2008-05-30T15:56:01", -3.5),
        ("2008-05-30T15:56Z", "2008-05-30T15:56:00", 0),
        ("20080530", "2008-05-30T00:00:00", None),
        ("2008: 5:30  9:56: 1", "2008-05-30T09:56:01", None),
        ("MON SEP 10 20:52:00 2012\n", "2012-09-10T20:52:00", None),
        ("Sun May  4 09:05:06 2008", "2008-05-04T09:05:06", None),
    ],
)
def test_spellings(text: str, local: str, hours: float | None) -> None:
    actual = moment(text)
    assert actual.local.isoformat() == local
    assert (actual.offset.total_seconds() / 3600 if actual.offset is not None else None) == hours


@pytest.mark.parametrize(("text", "offset"), [("9999:12:31 23:59:59", "-05:00"), ("0001:01:01 00:00:00", "+01:00")])
def test_a_date_whose_zone_leads_out_of_the_calendar_is_compared_without_it(text: str, offset: str) -> None:
    first = moment(text, offset)
    assert first.utc is None
    assert dates.difference(first, first) is None and dates.zone_difference(first, first) is None


@pytest.mark.parametrize(
    "text",
    ["", "0000:00:00 00:00:00", "    :  :     :  :  ", "2008:13:45 00:00:00", "yesterday", "2014:09:259 13:05:12Z"],
)
def test_no_dates(text: str) -> None:
    assert dates.parse(Fact("d", text, "x")) is None


@pytest.mark.parametrize(
    ("first", "second", "differ"),
    [
        ("2020:01:01 10:00:00", "2020:01:01 10:00:03", False),
        ("2020:01:01 10:00:00", "2020:01:01 12:34:00", True),
        ("2020:01:01 10:00:00", "2020-01-01T12:00:00+02:00", False),
        ("2020:01:01 10:00:00", "2020-01-03T12:00:00+02:00", True),
        ("2020-01-01T10:00:00Z", "2020-01-01T12:00:00+02:00", False),
        ("2020-01-01", "2020:01:01 23:00:00", False),
        ("2020:01:01 18:16:41", "2020-01-01T00:00:00+00:00", False),
        ("2020:01:01 18:16:41", "2020-01-05T00:00:00+00:00", True),
        ("1970:01:01 00:00:00", "2020:01:01 10:00:00", False),
    ],
)
def test_differences(first: str, second: str, differ: bool) -> None:
    assert (dates.difference(moment(first), moment(second)) is not None) == differ


def test_a_clock_in_utc_allows_any_zone() -> None:
    utc = moment("2020:01:01 02:00:00Z")
    assert dates.zone_difference(moment("2020:01:01 14:00:00"), utc) is None
    assert dates.zone_difference(moment("2020:01:02 14:00:00"), utc) is not None
    assert dates.zone_difference(moment("2020:01:01 14:00:00", "+12:00"), utc) is None
    assert dates.zone_difference(moment("2020:01:01 14:00:00", "+02:00"), utc) is not None


def test_defaults_have_names() -> None:
    assert "QuickTime" in dates.default_name(moment("1904-01-01 00:00:00"))
    assert "Unix" in dates.default_name(moment("1970-01-01 00:00:00"))
    assert dates.default_name(moment("2020-01-01 00:00:00")) is None


@pytest.mark.parametrize(
    ("text", "no_day"), [("2021:02:30 10:00:00", True), ("2020:02:29", False), ("2021:00:00", False)]
)
def test_a_day_that_no_calendar_has(text: str, no_day: bool) -> None:
    assert dates.is_no_day(Fact("d", text, "x")) is no_day


def test_a_date_is_said_with_the_offset_that_it_is_compared_with() -> None:
    assert moment("2021:05:01 10:00:00", "+05:45").text == "2021:05:01 10:00:00 +05:45"
    assert moment("2021:05:01 10:00:00", "-03:30").text == "2021:05:01 10:00:00 -03:30"
    assert moment("2021-05-01T10:00:00Z").text == "2021-05-01T10:00:00Z"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (59.7, "1 minute"),
        (90, "1.5 minutes"),
        (3599, "about 1 hour"),
        (-3600, "1 hour"),
        (2 * 3600 + 55 * 60, "about 2.9 hours"),
        (82_800, "23 hours"),
        (86_399, "about 1 day"),
        (300 * 86_400, "300 days"),
        (3 * 365 * 86_400, "about 3 years"),
    ],
)
def test_a_span_is_rounded_and_not_cut_off(seconds: float, said: str) -> None:
    assert dates.span(seconds) == said
