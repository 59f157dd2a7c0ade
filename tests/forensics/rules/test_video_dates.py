"""Dates of a movie, of its tracks and of its tags against each other."""

import struct
from fractions import Fraction
from pathlib import Path

import av
import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata.av import reader
from forensix.metadata.facts import Fact, Facts
from tests.forensics.rules import pick
from tests.forensics.rules.test_video_rules import facts

DAYS = ["2019-07-24T08:25:57Z", "2020-08-28T08:25:57Z"]
EARLIER = "The movie was made before all of its tracks, by their own dates"
APART = "The movie and its tracks were made at different times, by their own dates"


def dated(movie: str, *tracks: str) -> list[Finding]:
    items = [("container.movie.created", movie)]
    for n, track in enumerate(tracks, 1):
        items += [(f"container.track.{n}.created", track), (f"container.media.{n}.created", track)]
    return claims(facts(*items))


@pytest.mark.parametrize(
    ("movie", "tracks", "said", "severity"),
    [
        (DAYS[0], DAYS[1:] * 2, EARLIER, "suspect"),
        (DAYS[1], DAYS[:1] * 2, APART, "benign"),
        # A track that was added later stands beside one of the movie's own day.
        (DAYS[0], DAYS, APART, "benign"),
        # Clocks and zones.
        (DAYS[0], ["2019-07-24T20:25:57Z"], APART, "benign"),
    ],
    ids=["movie first", "tracks first", "track added", "hours"],
)
def test_a_movie_dated_before_all_of_its_tracks_is_told_apart(
    movie: str, tracks: list[str], said: str, severity: str
) -> None:
    told = [f for f in dated(movie, *tracks) if f.claim.claim in (EARLIER, APART)]
    assert [(f.claim.claim, f.severity) for f in told] == [(said, severity)]
    assert said == APART or "dated 401 days later" in told[0].claim.explanation


def test_the_date_of_a_track_is_no_tag() -> None:
    items = ("container.movie.created", DAYS[0]), ("container.media.1.created", DAYS[1])
    findings = claims(facts(*items, ("stream.tag.creation_time", DAYS[1].replace("Z", ".000000Z"))))
    assert pick(findings, EARLIER) and not [f for f in findings if "A tag gives another date" in f.claim.claim]


@pytest.mark.parametrize(
    ("tags", "claimed"),
    [
        ([DAYS[0]] * 3, {"3 tags give another date than the header": 3}),
        ([DAYS[0], "2019-07-24T10:25:57+0200"], {"2 tags give another date than the header": 2}),
        ([DAYS[0], "2021-10-03T08:25:57Z"], {"A tag gives another date than the header": 2}),
        ([DAYS[1]] * 2, {}),
    ],
    ids=["same", "another zone", "earlier and later", "none"],
)
def test_tags_that_say_the_same_other_date_are_told_together(tags: list[str], claimed: dict[str, int]) -> None:
    items = [(f"container.tag.{n}.creation_time", tag) for n, tag in enumerate(tags)]
    findings = claims(facts(("container.movie.created", DAYS[1]), *items))
    told = [f for f in findings if "another date than the header" in f.claim.claim]
    assert {f.claim.claim for f in told} == set(claimed)
    assert sum(len(f.facts) - 1 for f in told) == sum(claimed.values())
    assert all(f.facts[0].value in f.claim.explanation for f in told)


@pytest.mark.parametrize(
    ("key", "where", "began", "severity"),
    [
        ("com.apple.quicktime.creationdate", "moov/meta/ilst", "2020-08-28T10:25:57+0200", "suspect"),
        ("date", "moov/udta/date", "2020-08-28T10:25:57+0200", "suspect"),
        # Exported later, or within what zones and the recording take.
        ("date", "moov/udta/date", "2018-08-28T10:25:57+0200", "benign"),
        ("date", "moov/udta/date", "2019-07-24T20:25:57Z", "benign"),
        ("date", "moov/udta/date", "2019-07-24T10:25:50+0200", ""),
        # Any tag of this name in a list says when a work came out.
        ("date", "moov/meta/ilst/date", "2020-08-28T10:25:57+0200", ""),
        ("creation_time", "moov/meta/ilst", "2020-08-28T10:25:57+0200", "benign"),
    ],
)
def test_a_header_dated_before_recording_began_is_suspect(key: str, where: str, began: str, severity: str) -> None:
    header = Fact("container.movie.created", DAYS[0], "moov/mvhd", 8)
    findings = claims(Facts("video", "mov", (header, Fact(f"container.tag.{key}", began, where, 16))))
    said = "The header's date lies before the recording began"
    told = [f for f in findings if f.claim.claim == said or "another date than the header" in f.claim.claim]
    assert [f.severity for f in told] == ([severity] if severity else [])
    assert all((f.claim.claim == said) == (severity == "suspect") for f in told)


@pytest.mark.parametrize(
    ("named", "claimed"),
    [
        ({"device.model": "iPhone 13"}, True),
        ({"device.model": "iPhone 6", "container.tag.com.apple.quicktime.software": "14.2"}, True),
        ({"device.model": "iPhone 6", "container.tag.com.apple.quicktime.software": "12.3"}, False),
        ({"device.model": "MacBookPro15,2", "container.tag.com.apple.quicktime.software": "14.2"}, False),
        ({"container.tag.©too": "com.apple.VoiceMemos (iPhone Version 17.5.1 (Build 21F90))"}, True),
        ({"container.tag.©too": "com.apple.VoiceMemos (iOS 12.3)"}, False),
        ({"container.tag.©too": "com.apple.VoiceMemos (iOS 99.3)"}, False),
    ],
)
def test_a_telephone_records_nothing_before_it_or_its_system_came_out(named: dict[str, str], claimed: bool) -> None:
    said = "The device or its system is younger than the dates of the recording"
    told = [f for f in claims(facts(*named.items(), ("container.movie.created", DAYS[0]))) if f.claim.claim == said]
    assert [f.severity for f in told] == (["suspect"] if claimed else [])
    # A header that is dated later is that of a copy, and a clock that was never set says nothing.
    for created in ("2025-01-01T08:25:57Z", "1904-01-01T00:00:00Z"):
        findings = claims(facts(*named.items(), ("container.movie.created", created)))
        assert not [f for f in findings if f.claim.claim == said]


@pytest.mark.parametrize(
    ("made", "severity"),
    [
        # Local time that is written as universal.
        ("2017-04-18T07:31:03Z", None),
        ("2021-04-17T17:31:03Z", "suspect"),
        # A clock that lost its time.
        ("2016-01-01T00:05:00Z", "benign"),
    ],
)
def test_the_date_of_the_header_is_held_against_the_time_of_the_satellites(made: str, severity: str | None) -> None:
    told = claims(facts(("container.movie.created", made), ("gps.satellite_time", "2017-04-17T17:31:03Z")))
    found = [f.severity for f in told if f.claim.claim == "The header's date is not that of the satellites"]
    assert found == ([severity] if severity else [])


@pytest.mark.parametrize(("fix", "when"), [(3, "2017-04-17T17:31:03Z"), (0, None)])
def test_the_time_of_the_satellites_is_read_from_telemetry_where_the_receiver_had_a_fix(
    tmp_path: Path, fix: int, when: str | None
) -> None:
    """FFmpeg writes no telemetry, so a track of pictures is made one."""
    path = tmp_path / "a.mp4"
    payload = b"GPSFL\x04\0\x01" + struct.pack(">I", fix) + b"GPSUU\x10\0\x01170417173103.000"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mjpeg", rate=10)
        stream.width, stream.height, stream.pix_fmt = 16, 16, "yuvj420p"
        packet = av.Packet(payload)
        packet.stream, packet.pts, packet.dts, packet.duration, packet.time_base = stream, 0, 0, 1, Fraction(1, 10)
        container.mux(packet)
    path.write_bytes(path.read_bytes().replace(b"mp4v", b"gpmd").replace(b"vide", b"meta"))
    assert reader.read(str(path), "mp4").get("gps.satellite_time") == when
