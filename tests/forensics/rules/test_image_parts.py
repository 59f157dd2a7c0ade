"""Pictures and videos that a JPEG holds beside the one that is shown."""

import base64
import struct
from pathlib import Path

import pytest
from PIL import Image

import forensix
from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.forensics.rules import shared
from forensix.media import open_media
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.reader import read_facts
from tests.forensics.rules.pictures import CAMERA, named, noted
from tests.making import write_image, write_video
from tests.metadata import making_images as make

SHOWN = make.gradient(256, 192)
MOTION = "The file holds a video beside its picture (a motion photo)"


def findings_of(data: bytes, folder: Path) -> tuple[Finding, ...]:
    path = folder / "picture.jpg"
    path.write_bytes(data)
    with open_media(path) as media:
        return claims(read_facts(media), media)


def refocused(before: Image.Image) -> bytes:
    """Return a JPEG whose XMP holds the picture before its background was blurred, and a map of depth."""
    data = {"image": make.encoded(before), "depthmap": make.encoded(before.convert("L"), "PNG")}
    fields = " ".join(
        f"xmlns:{name}='http://ns.google.com/photos/1.0/{name}/' {name}:Data='{base64.b64encode(raw).decode()}'"
        for name, raw in data.items()
    )
    return make.jpeg(make.xmp_segment(make.xmp_packet(fields)), image=SHOWN)


def test_the_picture_from_before_the_blur_is_told_and_compared_and_the_map_of_depth_is_named(tmp_path: Path) -> None:
    findings = findings_of(refocused(SHOWN), tmp_path)
    assert noted(findings) == []
    named(findings, "The file holds the picture as it was before its background was blurred")
    named(findings, "The file holds maps that belong to its picture (1 depth map)")
    assert named(findings, "The embedded preview shows this picture").pictures[0][1][:2] == b"\xff\xd8"
    assert noted(findings_of(refocused(make.noise(256, 192)), tmp_path)) == [
        "An embedded preview shows another picture"
    ]


def behind(picture: Image.Image | None, *tags: make.Tag, data: bytes = b"\x13\x57" * 400) -> bytes:
    """Return a JPEG with data of no known kind behind it, and in them a picture."""
    inside = make.encoded(picture) if picture else b""
    start = make.exif_segment(make.tiff_block(list(tags), exif=[(0x9003, make.ASCII, "2020:01:02 03:04:05")]))
    return make.jpeg(start, image=SHOWN, tail=data + inside)


def test_a_picture_in_the_data_after_the_end_is_told_and_compared(tmp_path: Path) -> None:
    findings = findings_of(behind(make.gradient(128, 96), *CAMERA), tmp_path)
    assert noted(findings) == []
    trailer = named(findings, "Data stands after the end of the content")
    assert trailer.claim.value[1] == "data with a JPEG of 128 x 96 in it"
    assert named(findings, "The embedded preview shows this picture").facts[0].value["name"] == "JPEG after the end"


@pytest.mark.parametrize(
    ("inside", "tags", "expected"),
    [
        (make.noise(128, 96), CAMERA, ["An embedded preview shows another picture"]),
        (make.noise(128, 96).convert("L"), CAMERA, []),
        (make.gradient(128, 96), [], ["Data stands after the end of the content"]),
        (None, CAMERA, ["Data stands after the end of the content"]),
    ],
    ids=["another", "a grey map", "no camera", "none"],
)
def test_what_data_after_the_end_hold_decides_whether_they_are_suspect(
    inside: Image.Image | None, tags: list[make.Tag], expected: list[str], tmp_path: Path
) -> None:
    assert noted(findings_of(behind(inside, *tags), tmp_path)) == expected


def test_what_is_left_of_a_longer_file_behind_a_picture_accuses_nobody(tmp_path: Path) -> None:
    remains = bytes(400) + b"\x13\x57" * 400
    assert noted(findings_of(behind(make.noise(128, 96), *CAMERA, data=remains), tmp_path)) == []


def test_the_video_of_a_motion_photo_is_said_not_to_have_been_looked_at(tmp_path: Path) -> None:
    clip = write_video(tmp_path / "clip.mp4", n_frames=5).read_bytes()
    path = tmp_path / "motion.jpg"
    path.write_bytes(make.jpeg(tail=clip))
    report = forensix.analyze(path, ["forensic_analysis"])
    said = "the file holds a video behind the picture (a motion photo), which was not looked at"
    assert report.warnings == (said,) and "Has clip" not in report.to_html()
    assert MOTION in set(report.claims()["claim"])
    path.write_bytes(make.jpeg(tail=clip[:40]))
    assert not forensix.analyze(path, ["forensic_analysis"]).warnings


def test_the_video_of_a_motion_photo_in_a_heic_file_is_told(tmp_path: Path) -> None:
    clip = write_video(tmp_path / "clip.mp4", n_frames=5).read_bytes()
    path = write_image(tmp_path / "motion.heic", SHOWN, container="heif")
    still = path.read_bytes()
    path.write_bytes(still + struct.pack(">I4s", 8 + len(clip), b"mpvd") + clip)
    with open_media(path) as media:
        findings = claims(read_facts(media), media)
    assert noted(findings) == [] and named(findings, MOTION).facts[0].offset == len(still)
    assert forensix.analyze(path, ["forensic_analysis"]).warnings
    path.write_bytes(still)
    assert not forensix.analyze(path, ["forensic_analysis"]).warnings


def test_the_video_behind_another_block_of_a_samsung_phone_is_told(tmp_path: Path) -> None:
    block = b"\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data1704000000000" + b"\0\0\x30\x0a\x10\0\0\0MotionPhoto_Data"
    clip = write_video(tmp_path / "clip.mp4", n_frames=5).read_bytes()
    findings = findings_of(make.jpeg(image=SHOWN, tail=block + clip + b"SEFH\0\0\0\0SEFT"), tmp_path)
    assert noted(findings) == [] and named(findings, MOTION)


@pytest.mark.parametrize(
    ("maker", "size", "severity"), [("DJI", 2000, "benign"), ("DJI", 9000, "suspect"), ("M", 2000, "suspect")]
)
def test_a_little_behind_the_index_of_a_drones_thermal_picture_is_its_own(maker: str, size: int, severity: str) -> None:
    named_by = [Fact("exif.Make", maker, "IFD0"), Fact("device.make", maker, "IFD0"), Fact("jpeg.mpf", {}, "APP2 MPF")]
    value = {"size": size, "kind": "data of no known kind", "head": "e8 bf 9f af 7f"}
    facts = Facts("image", "jpeg", (*named_by, Fact("file.trailer", value, "after the index", 100)))
    assert named(shared.rules(facts), "Data stands after the end of the content").severity == severity


def test_that_a_preview_shows_another_picture_is_told_before_all_else(tmp_path: Path) -> None:
    exif = [(0x9003, make.ASCII, "2093:01:02 03:04:05")]
    block = make.tiff_block(CAMERA, exif=exif, thumbnail=make.encoded(make.noise(80, 60)))
    path = tmp_path / "replaced.jpg"
    path.write_bytes(make.jpeg(make.exif_segment(block), image=SHOWN))
    sentence = forensix.analyze(path, ["forensic_analysis"]).headline
    said = 'The file calls for an explanation: "An embedded preview shows another picture" and 1 more suspect claim'
    assert sentence.startswith(said)
