"""Rules on the dates of a picture."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.metadata.facts import Fact, Facts
from tests.forensics.rules.pictures import CAMERA, TAKEN, judge, named, with_tags
from tests.metadata import making_images as make

UNSET = "A date was never set"


def test_a_date_mismatch_needs_a_second_sign(tmp_path: Path) -> None:
    later = (0x0132, make.ASCII, "2021:05:06 07:08:09")
    alone = named(judge(with_tags(later), tmp_path), "The file was changed after it was made, by its own dates")
    assert alone.severity == "benign" and alone.claim.type == "dates"
    # An editor that is named explains a later change, but no other moment of capture.
    edited = judge(with_tags(later, (0x0131, make.ASCII, "GIMP 2.10")), tmp_path)
    assert named(edited, "The file was changed after it was made, by its own dates").severity == "benign"
    other = [(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0x9004, make.ASCII, "2020:03:02 03:04:05")]
    edited = judge(with_tags((0x0131, make.ASCII, "GIMP 2.10"), exif=other), tmp_path)
    assert named(edited, "Dates in the file do not agree").severity == "suspect"


@pytest.mark.parametrize(("note", "severity"), [(False, "benign"), (True, "suspect")])
def test_a_scan_of_an_old_print_that_an_editor_saved_is_not_suspected_for_its_two_dates(
    note: bool, severity: str, tmp_path: Path
) -> None:
    two = [(0x9003, make.ASCII, "1968:07:14 00:00:00"), (0x9004, make.ASCII, "2024:03:02 03:04:05")]
    if note:
        two.append((0x927C, make.UNDEFINED, b"a camera's own note"))
    dated = named(
        judge(with_tags((0x0131, make.ASCII, "GIMP 2.10"), exif=two), tmp_path), "Dates in the file do not agree"
    )
    assert dated.severity == severity
    assert ("A scan of an older picture has two such dates" in dated.claim.explanation) is not note


@pytest.mark.parametrize(
    ("digitised", "note", "severity"),
    [
        ("2023:01:02 03:04:05", True, "suspect"),
        ("2017:01:02 03:04:05", True, "suspect"),
        ("2020:01:02 23:04:05", True, "benign"),
        ("2023:01:02 03:04:05", False, "benign"),
    ],
)
def test_a_camera_writes_both_dates_of_the_capture_in_one_moment(
    digitised: str, note: bool, severity: str, tmp_path: Path
) -> None:
    tags = [(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0x9004, make.ASCII, digitised)]
    tags += [(0x927C, make.UNDEFINED, b"a camera's own note")] if note else []
    dated = named(judge(with_tags(exif=tags), tmp_path), "Dates in the file do not agree")
    assert dated.severity == severity
    assert ("writes when a picture was taken" in dated.claim.explanation) is (severity == "suspect")
    assert dated.claim.value[0].startswith("exif.DateTimeOriginal: 2020:01:02 03:04:05 / exif.CreateDate: ")


def test_a_clock_that_was_never_set_parts_no_dates(tmp_path: Path) -> None:
    tags = [(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0x9004, make.ASCII, "2002:12:08 12:00:00")]
    tags.append((0x927C, make.UNDEFINED, b"a camera's own note"))
    actual = judge(with_tags(exif=tags), tmp_path)
    assert "Dates in the file do not agree" not in [f.claim.claim for f in actual]


@pytest.mark.parametrize(
    ("changed", "severity"),
    [
        ("2020:01:02 03:04:06", None),
        ("2019:12:25 03:04:05", "suspect"),
        ("2093:01:02 03:04:05", "suspect"),
        ("2021:02:30 10:00:00", "suspect"),
    ],
)
def test_a_date_that_cannot_be(changed: str, severity: str | None, tmp_path: Path) -> None:
    actual = judge(with_tags((0x0132, make.ASCII, changed)), tmp_path)
    assert {f.severity for f in actual if f.claim.claim == "A date in the file cannot be right"} == (
        {severity} if severity else set()
    )


def test_a_date_to_come_is_told_with_the_clock_that_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The battery of a machine without a network runs empty, and its clock begins anew."""
    monkeypatch.setattr("forensix.forensics.rules.dates.now", lambda: datetime(2010, 1, 1))
    said = named(judge(with_tags(), tmp_path), "A date in the file cannot be right").claim.explanation
    assert "2020:01:02 03:04:05, which is yet to come by the clock of the machine that analysed this file" in said
    assert "which said 2010-01-01" in said


def test_the_zone_of_the_machine_accuses_no_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was taken just now in the Pacific, west of the date line, and is looked at east of it."""
    taken = f"{datetime.now(UTC) + timedelta(hours=13):%Y:%m:%d %H:%M:%S}"
    monkeypatch.setenv("TZ", "Etc/GMT+12")
    time.tzset()
    try:
        found = judge(with_tags(exif=[(0x9003, make.ASCII, taken), (0x9004, make.ASCII, taken)]), tmp_path)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "A date in the file cannot be right" not in [f.claim.claim for f in found]


def test_a_toolkit_younger_than_every_date(tmp_path: Path) -> None:
    packet = make.xmp_packet('xmp:MetadataDate="2012-07-08T09:10:11"')
    for built, claimed in (("2017/05/06", True), ("2011/05/06", False)):
        written = packet.replace("<x:xmpmeta ", f"<x:xmpmeta x:xmptk='Adobe XMP Core 5.6-c140 79.1, {built}-01:08:21' ")
        assert written != packet
        actual = judge(make.jpeg(make.xmp_segment(written)), tmp_path)
        younger = [
            f for f in actual if f.claim.claim == "The program that wrote the metadata is younger than the dates in it"
        ]
        assert [f.severity for f in younger] == (["suspect"] if claimed else [])


def test_dates_against_xmp(tmp_path: Path) -> None:
    packet = make.xmp_packet('xmp:CreateDate="2019-07-08T09:10:11"')
    actual = judge(with_tags(extra=make.xmp_segment(packet)), tmp_path)
    assert "xmp.xmp.CreateDate" in named(actual, "Dates in the file do not agree").claim.value[0]


def test_an_unset_clock_is_named(tmp_path: Path) -> None:
    actual = judge(with_tags(exif=[(0x9003, make.ASCII, "1970:01:01 00:00:00")]), tmp_path)
    assert "Unix" in named(actual, UNSET).claim.explanation


@pytest.mark.parametrize(
    ("blank", "said"), [("    :  :     :  :  ", "the field is blank"), ("0000:00:00 00:00:00", "is an empty date")]
)
def test_a_blank_date_is_told_in_words(blank: str, said: str, tmp_path: Path) -> None:
    explanation = named(judge(with_tags(exif=[(0x9003, make.ASCII, blank)]), tmp_path), UNSET).claim.explanation
    assert said in explanation and "  " not in explanation


def test_when_it_was_made_is_told_with_the_zone_and_with_what_gps_says(tmp_path: Path) -> None:
    gps = [(7, make.RATIONAL, [1, 4, 5]), (29, make.ASCII, "2020:01:02")]
    block = make.tiff_block(CAMERA, exif=[*TAKEN, (0x9011, make.ASCII, "+02:00")], gps=gps)
    claim = named(judge(make.jpeg(make.exif_segment(block)), tmp_path), "The file says when it was made").claim
    assert claim.value == (
        "DateTimeOriginal 2020:01:02 03:04:05 +02:00",
        "CreateDate 2020:01:02 03:04:05",
        "DateStamp 2020:01:02 01:04:05 UTC (GPS)",
    )
    assert all(value in claim.explanation for value in claim.value)


def test_a_date_of_change_alone_says_when_it_was_changed(tmp_path: Path) -> None:
    block = make.tiff_block([*CAMERA, (0x0132, make.ASCII, "2020:01:02 03:04:05")])
    changed = named(judge(make.jpeg(make.exif_segment(block)), tmp_path), "The file says when it was last changed")
    assert changed.claim.value == ("ModifyDate 2020:01:02 03:04:05",)


@pytest.mark.parametrize(
    ("zone", "degrees", "side", "claimed"),
    [("-07:00", 2, "E", True), ("-07:00", 122, "W", False), ("+08:00", 75, "E", False), ("+14:00", 157, "W", False)],
)
def test_a_place_where_nobody_keeps_the_time_zone(
    zone: str, degrees: int, side: str, claimed: bool, tmp_path: Path
) -> None:
    gps = [(1, make.ASCII, "N"), (2, make.RATIONAL, [40, 0, 0])]
    gps += [(3, make.ASCII, side), (4, make.RATIONAL, [degrees, 0, 0])]
    block = make.tiff_block(CAMERA, exif=[*TAKEN, (0x9011, make.ASCII, zone)], gps=gps)
    actual = judge(make.jpeg(make.exif_segment(block)), tmp_path)
    claim = [f.severity for f in actual if f.claim.claim == "The place and the time zone do not fit"]
    assert claim == (["benign"] if claimed else [])


def test_iptcs_dates_tell_when_it_was_made_where_exif_does_not(tmp_path: Path) -> None:
    block = b"".join(iptc(n, text) for n, text in ((55, "20180112"), (60, "211913+0100"), (62, "20190203")))
    (claim,) = [
        f.claim
        for f in judge(make.jpeg(make.photoshop_segment(make.resource(0x0404, block))), tmp_path)
        if f.claim.claim == "The file says when it was made"
    ]
    assert claim.value == ("DateCreated 20180112 211913+0100", "DigitalCreationDate 20190203")


def iptc(number: int, text: str) -> bytes:
    return b"\x1c\x02" + bytes([number]) + len(text).to_bytes(2, "big") + text.encode()


TAKEN_AT, EDITOR = "2020:01:02 03:04:05", Fact("exif.Software", "GIMP 2.10", "here")
NOTE = Fact("exif.MakerNote", b"a camera's own note", "here")


@pytest.mark.parametrize(
    ("items", "beside", "severity"),
    [
        ({"DateCreated": "20200102", "TimeCreated": "030405"}, (), None),
        ({"DateCreated": "20200102", "TimeCreated": "030405+0900"}, (), None),
        ({"DateCreated": "20200101", "TimeCreated": "180405+0000"}, (), None),
        ({"DateCreated": "20200103"}, (), None),
        ({"DateCreated": "20200000"}, (), None),
        ({"DateCreated": "20200302"}, (), "benign"),
        ({"DateCreated": "20200102", "TimeCreated": "123456"}, (), "benign"),
        ({"DigitalCreationDate": "20200302", "DigitalCreationTime": "030405"}, (), "benign"),
        ({"DateCreated": "20200302"}, (EDITOR,), "suspect"),
        # What an archive gives a scan is the date of what was scanned.
        ({"DateCreated": "19680714"}, (EDITOR,), "benign"),
        ({"DateCreated": "19680714"}, (EDITOR, NOTE), "suspect"),
    ],
)
def test_iptcs_dates_are_held_against_exifs(
    items: dict[str, str], beside: tuple[Fact, ...], severity: str | None
) -> None:
    exif = (Fact(f"exif.{name}", TAKEN_AT, "EXIF") for name in ("DateTimeOriginal", "CreateDate"))
    records = (Fact(f"iptc.{name}", text, "IPTC") for name, text in items.items())
    found = claims(Facts("image", "jpeg", (*exif, *records, *beside)))
    told = [f.severity for f in found if f.claim.claim == "Dates in the file do not agree"]
    assert told == ([severity] if severity else [])


def test_iptcs_date_is_held_against_xmps_where_exif_has_none() -> None:
    def told(day: str) -> list[str]:
        facts = (Fact("xmp.photoshop.DateCreated", "2018-01-12T21:19:13", "XMP"), Fact("iptc.DateCreated", day, "IPTC"))
        return [f.claim.claim for f in claims(Facts("image", "jpeg", facts)) if "do not agree" in f.claim.claim]

    assert told("20180112") == [] and len(told("20180312")) == 1


@pytest.mark.parametrize(
    ("taken_s", "zone", "editor", "differs"),
    [
        (1577927045, "+02:00", b"", False),
        (1577927045, "", b"", False),
        (1577927045 + 86400, "", b"", True),
        (1577927045 + 86400, "", b"PhotoEditor_Re_Edit_Data{}", False),  # when the gallery saved it
        (1577927045 + 7200, "+02:00", b"", True),
    ],
)
def test_a_date_that_is_not_the_clock_of_a_samsung_phone(
    taken_s: int, zone: str, editor: bytes, differs: bool, tmp_path: Path
) -> None:
    block = make.tiff_block(CAMERA, exif=[*TAKEN, *([(0x9011, make.ASCII, zone)] if zone else [])])
    tail = b"\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data%d" % (1000 * taken_s) + editor + b"SEFH\0\0\0\0SEFT"
    found = [
        f for f in judge(make.jpeg(make.exif_segment(block), tail=tail), tmp_path) if "do not agree" in f.claim.claim
    ]
    assert [(f.severity, "Image_UTC_Data" in f.claim.explanation) for f in found] == [("benign", True)] * differs
