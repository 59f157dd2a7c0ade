"""A camera that is named against the program that saved the file: benign alone, suspect beside a second sign."""

import hashlib
from pathlib import Path

from forensix.forensics.findings import Finding
from forensix.forensics.rules import image_writer
from forensix.metadata.facts import Fact, Facts
from tests.forensics.rules.pictures import CAMERA, TAKEN, judge, named, noted
from tests.metadata import making_images as make

CLAIM = "A camera is named, but another program saved the file"
CAPTION = make.photoshop_segment(make.resource(0x0404, b"\x1c\x02\x78\0\x05title"))


def resaved(*segments: bytes, tags: tuple[make.Tag, ...] = (), exif: tuple[make.Tag, ...] = ()) -> bytes:
    """Return a camera's EXIF in a file of the usual library, which begins with JFIF and has the standard's tables."""
    plain = make.jpeg()
    end = 4 + int.from_bytes(plain[4:6], "big")
    block = make.exif_segment(make.tiff_block([*CAMERA, *tags], exif=[*TAKEN, *exif]))
    assert plain[2:4] == b"\xff\xe0"
    return plain[:end] + block + b"".join(segments) + plain[end:]


def claim_of(data: bytes, folder: Path) -> Finding:
    return named(judge(data, folder), CLAIM)


def test_a_lone_resave_is_benign(tmp_path: Path) -> None:
    actual = claim_of(resaved(), tmp_path)
    assert actual.severity == "benign"
    assert "begins with JFIF" in actual.claim.explanation and "quality 75" in actual.claim.explanation


def test_a_thermal_camera_that_uses_the_library_is_no_other_program(tmp_path: Path) -> None:
    later, thermal = ((0x0132, make.ASCII, "2021:05:06 07:08:09"),), make.segment(0xE1, b"FLIR\0\1\0\0")
    assert claim_of(resaved(tags=later), tmp_path).severity == "suspect"
    assert CLAIM not in [f.claim.claim for f in judge(resaved(thermal, tags=later), tmp_path)]


def test_the_order_of_a_camera_is_not_claimed(tmp_path: Path) -> None:
    camera = make.jpeg(make.exif_segment(make.tiff_block(CAMERA, exif=TAKEN)))
    assert CLAIM not in [f.claim.claim for f in judge(camera, tmp_path)]


def test_a_caption_beside_it_is_suspect_and_alone_benign(tmp_path: Path) -> None:
    assert claim_of(resaved(CAPTION), tmp_path).severity == "suspect"
    alone = judge(make.jpeg(CAPTION), tmp_path)
    assert noted(alone) == [] and named(alone, "A program has added a block for captions").severity == "benign"


def test_a_caption_block_that_repeats_the_dates_is_an_operating_systems(tmp_path: Path) -> None:
    dates = b"\x1c\2\0\0\2\0\2" + b"\x1c\2\x37\0\x0820200102" + b"\x1c\2\x3c\0\x06030405"
    digest = make.resource(0x0425, hashlib.md5(dates).digest())
    repeated = make.photoshop_segment(make.resource(0x0404, dates) + digest)
    caption = make.photoshop_segment(make.resource(0x0404, dates + b"\x1c\2\x78\0\5title") + digest)
    link = make.photoshop_segment(make.resource(0x0404, dates) + digest + make.resource(0x040B, b"https://a.example"))
    actual = claim_of(resaved(repeated), tmp_path)
    assert actual.severity == "benign" and "a program wrote a caption block" in actual.claim.explanation
    assert claim_of(resaved(caption), tmp_path).severity == "suspect"
    assert claim_of(resaved(link), tmp_path).severity == "suspect"


def test_a_reduced_size_explains_it_and_another_shape_does_not(tmp_path: Path) -> None:
    # The picture is 64 x 48.
    reduced = resaved(CAPTION, exif=((0xA002, make.LONG, 640), (0xA003, make.LONG, 480)))
    cropped = resaved(exif=((0xA002, make.LONG, 640), (0xA003, make.LONG, 360)))
    assert claim_of(reduced, tmp_path).severity == "benign"
    assert claim_of(cropped, tmp_path).severity == "suspect"
    assert named(judge(cropped, tmp_path), "The picture has another size than its EXIF says").severity == "benign"


def sized(width: int, height: int, **stated: int) -> Facts:
    """Return the facts of a camera's JPEG of this size, with sizes that EXIF states elsewhere."""
    keys = {"wide": "exif.ImageWidth", "high": "exif.ImageLength"}
    keys |= {"related_wide": "exif.interop.RelatedImageWidth", "related_high": "exif.interop.RelatedImageLength"}
    named = [Fact("exif.Make", "Maker", "IFD0"), Fact("exif.Model", "One", "IFD0")]
    size = [Fact("image.size", [width, height], "SOF0")]
    return Facts("image", "jpeg", (*named, *size, *(Fact(keys[k], v, "EXIF") for k, v in stated.items())))


def test_every_size_that_exif_states_is_compared() -> None:
    assert image_writer.size(sized(4000, 3000, wide=4000, high=3000, related_wide=3000, related_high=4000)) is None
    reduced = image_writer.size(sized(640, 480, related_wide=2272, related_high=1704))
    cropped = image_writer.size(sized(1280, 1280, wide=2448, high=3264))
    assert reduced is not None and not reduced.is_cropped and "2272 x 1704" in reduced.text
    assert cropped is not None and cropped.is_cropped


def test_no_camera_writes_a_side_of_odd_length_but_panoramas_have_any() -> None:
    odd = image_writer.size(sized(461, 346))
    assert odd is not None and not odd.is_cropped and "461 x 346" in odd.text
    assert image_writer.size(sized(9001, 2345)) is None


def test_a_later_change_beside_it_is_suspect(tmp_path: Path) -> None:
    assert claim_of(resaved(tags=((0x0132, make.ASCII, "2021:05:06 07:08:09"),)), tmp_path).severity == "suspect"


def test_a_program_that_is_named_explains_it(tmp_path: Path) -> None:
    data = resaved(CAPTION).replace(b"Ver.1.00", b"GIMP 2.8")
    actual = claim_of(data, tmp_path)
    assert actual.severity == "benign" and "GIMP, which the file names, explains this" in actual.claim.explanation


def test_a_scanner_is_no_camera(tmp_path: Path) -> None:
    scan = resaved(CAPTION, tags=((0x010F, make.ASCII, "HP"), (0x0131, make.ASCII, "HP Scan")))
    findings = judge(scan, tmp_path)
    assert noted(findings) == [] and CLAIM not in [f.claim.claim for f in findings]
    named(findings, "The file was written by a scanner's program")
