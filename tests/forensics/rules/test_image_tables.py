"""The claim on Adobe's quantisation tables: benign alone, suspect beside a camera with a second sign, silent where a
tag says it."""

from pathlib import Path

import pytest

from forensix.forensics import result
from tests.forensics.rules.pictures import CAMERA, TAKEN, judge, named, noted
from tests.metadata import making_images as make

CLAIM = "The JPEG has tables that Adobe's programs write"
MARKER = make.segment(0xEE, b"Adobe\0\x64\0\0\0\0\1")
NOTES = (0x927C, make.UNDEFINED, b"Maker notes of one camera")


def profile(creator: bytes) -> bytes:
    body = bytearray(132)
    body[36:40], body[80:84] = b"acsp", creator
    return make.segment(0xE2, b"ICC_PROFILE\0\1\1" + bytes(body))


def picture(*segments: bytes) -> bytes:
    plain = make.encoded(make.gradient(), quality="medium")
    return plain[:2] + b"".join(segments) + plain[2:]


def camera(*notes: make.Tag) -> bytes:
    return make.exif_segment(make.tiff_block(CAMERA, exif=[*TAKEN, *notes]))


def test_the_tables_alone_are_benign(tmp_path: Path) -> None:
    actual = judge(picture(), tmp_path)
    assert named(actual, CLAIM).severity == "benign"
    assert noted(actual) == []
    assert result(actual).red_flags == {}
    assert "learnt from" in named(actual, "The JPEG was compressed with tables that Adobe writes").claim.explanation


@pytest.mark.parametrize("sign", [MARKER, profile(b"ADBE")])
def test_a_second_sign_makes_them_suspect_beside_a_camera(sign: bytes, tmp_path: Path) -> None:
    assert named(judge(picture(sign), tmp_path), CLAIM).severity == "benign"
    actual = judge(picture(camera(), sign), tmp_path)
    claim = named(actual, CLAIM)
    assert claim.severity == "suspect" and len(claim.facts) == 2
    assert result(actual).document_details.source == "software"
    assert set(result(actual).red_flags) == {"FILE_EDITED"}


def test_a_profile_of_another_maker_is_no_sign(tmp_path: Path) -> None:
    assert named(judge(picture(profile(b"appl")), tmp_path), CLAIM).severity == "benign"


def test_a_whole_camera_record_wants_two_more_signs(tmp_path: Path) -> None:
    item = judge(picture(camera(NOTES), MARKER), tmp_path)
    assert named(item, CLAIM).severity == "benign"
    both = judge(picture(camera(NOTES), MARKER, profile(b"ADBE")), tmp_path)
    assert named(both, CLAIM).severity == "suspect"
    without_notes = judge(picture(camera(), MARKER), tmp_path)
    assert named(without_notes, CLAIM).severity == "suspect"


def test_nothing_is_added_where_adobe_is_named(tmp_path: Path) -> None:
    tag = (0x0131, make.ASCII, "Adobe Photoshop CS6 (Windows)")
    data = picture(make.exif_segment(make.tiff_block([tag])), MARKER)
    assert CLAIM not in [f.claim.claim for f in judge(data, tmp_path)]


def test_the_standard_with_adobes_marker_is_not_claimed(tmp_path: Path) -> None:
    assert CLAIM not in [f.claim.claim for f in judge(make.jpeg(MARKER), tmp_path)]
