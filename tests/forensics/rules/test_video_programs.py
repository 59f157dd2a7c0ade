"""Programs and devices that the tags and tracks of a video name: who wrote it, and what speaks against that."""

from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.metadata.av import reader as container
from tests.forensics.rules import pick
from tests.forensics.rules.test_video_rules import PHONE, facts
from tests.metadata.av.test_container_facts import video


def test_a_cameras_names_for_its_tracks_are_no_library_that_any_program_can_call() -> None:
    names = [f"GoPro {track}" for track in ("AVC", "AAC", "TCD", "MET")]
    findings = claims(
        facts(*(("container.handler", name) for name in names), ("container.compressor", "GoPro AVC encoder"))
    )
    recorder = pick(findings, "The file names GoPro as what recorded it")
    assert recorder.severity == "benign" and recorder.claim.value == (*names, "GoPro AVC encoder")
    assert not [f for f in findings if "library" in f.claim.claim]


@pytest.mark.parametrize(
    ("names", "is_told"),
    [
        (("Core Media Video", "GoPro AAC  "), True),
        (("VideoHandle", "Core Media Audio"), True),
        (("Core Media Video", "Core Media Audio", "Core Media Metadata"), False),
        (("VideoHandle", "SoundHandle"), False),
        (("Core Media Video", "SoundHandler"), False),  # a library's name for sound that it encoded
    ],
)
def test_tracks_that_bear_the_names_of_two_devices(names: tuple[str, ...], is_told: bool) -> None:
    findings = claims(facts(*(("container.handler", name) for name in names)))
    assert [f.severity for f in findings if f.claim.claim == "The tracks come from two devices"] == [
        "suspect"
    ] * is_told


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("HANDLER_NAME", "Core Media Video", None),
        ("HANDLER_NAME", "QuickTime", "The file was converted or rewritten by QuickTime"),
        ("COM.APPLE.QUICKTIME.SOFTWARE", "12.3", "The file names iOS as what recorded it"),
        ("COM.ANDROID.VERSION", "13", "The file names Android as what recorded it"),
    ],
)
def test_what_matroska_keeps_of_a_phone_names_its_system_and_no_converter(
    key: str, value: str, said: str | None
) -> None:
    named = [f.claim.claim for f in claims(facts((f"container.tag.{key}", value))) if f.claim.type == "software"]
    assert named == ([said] if said else [])


@pytest.mark.parametrize(
    ("value", "is_name"), [("1", False), ("false", False), ("UnknownApplication", False), ("Frobnicator 3", True)]
)
def test_a_switch_on_encoding_and_a_word_for_none_are_no_program(value: str, is_name: bool) -> None:
    findings = claims(facts(("container.tag.te_is_reencode", value)))
    assert any("a program that is not known here" in f.claim.claim for f in findings) is is_name


def test_a_phone_that_matroska_names_did_not_write_it(tmp_path: Path) -> None:
    tags = {"com.apple.quicktime.make": "Apple", "com.apple.quicktime.model": "iPhone 6"}
    findings = claims(container.read(str(video(tmp_path / "a.mkv", tags=tags)), "mkv"))
    assert pick(findings, "names the device that made it").claim.value == ("Apple", "iPhone 6")
    assert pick(findings, "names Apple iPhone 6 as its device, but FFmpeg wrote it").severity == "suspect"


@pytest.mark.parametrize(("maker", "is_suspect"), [("FFMP", True), ("appl", False), ("pana", False)])
def test_ffmpeg_speaks_against_a_phone_although_no_tag_names_it(maker: str, is_suspect: bool) -> None:
    findings = claims(facts(*PHONE, ("container.codec_maker", maker)))
    told = {f.claim.claim: f.severity for f in findings if f.claim.type == "software"}
    against = "The file names Apple iPhone 13 as its device, but FFmpeg wrote it"
    converted = "The file was converted or rewritten by FFmpeg"
    assert told == ({against: "suspect", converted: "benign"} if is_suspect else {})
