"""What the boxes of an ISO file say together: which are there, which are twice, and what stands beside them."""

import struct
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata.av import reader as container
from tests.forensics.rules import pick
from tests.metadata.av.test_container_facts import box, video


def told(path: Path) -> list[Finding]:
    """Return what calls for an explanation in a file."""
    return [f for f in claims(container.read(str(path), path.suffix[1:])) if f.severity != "benign"]


@pytest.mark.parametrize("where", ["between", "inside"])
def test_an_index_behind_thousands_of_boxes_is_not_said_to_be_missing(where: str, tmp_path: Path) -> None:
    path = video(tmp_path / "a.mov")
    data = path.read_bytes()
    at, many = data.index(b"moov") - 4, box(b"free", b"") * 3100
    size = struct.unpack_from(">I", data, at)[0]
    if where == "between":
        path.write_bytes(data[:at] + many + data[at:])
    else:
        path.write_bytes(data[:at] + box(b"moov", data[at + 8 : at + size] + many) + data[at + size :])
    assert told(path) == []


LIGOGPS = bytes(300) + struct.pack(">I4s", 500, b"SKIP") + b"LIGOGPSINFO\0" + b"2026/08/03 11:37:52" + bytes(400)


@pytest.mark.parametrize(
    ("tail", "severity"),
    [
        (LIGOGPS, "benign"),
        (struct.pack(">I4s", 0, b"\0\0\0\0") + b"PK\x03\x04" * 100, "suspect"),
        (b"PK\x03\x04\x14\0\0\0" + b"hidden" * 100, "suspect"),
        (b"\0\0\0\x05\xff\xfe\xfd\xfc" + b"hidden" * 100, "suspect"),
        (b"hidden words " * 100, "suspect"),
    ],
    ids=["dashcam", "zeros", "ZIP", "impossible size", "words"],
)
def test_data_behind_the_last_box_is_told_once(tail: bytes, severity: str, tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4")
    end = path.stat().st_size
    path.write_bytes(path.read_bytes() + tail)
    findings = claims(container.read(str(path), "mp4"))
    behind = pick(findings, "Data stands after the end of the content")
    assert behind.severity == severity and f"at byte {end}: {len(tail)} bytes" in behind.claim.explanation
    assert ("dashcams with LigoGPS" in behind.claim.explanation) is (tail is LIGOGPS)
    assert [f for f in findings if f.severity != "benign"] == ([behind] if severity == "suspect" else [])


def test_other_bytes_between_two_boxes_are_malformed(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4")
    data = path.read_bytes()
    at = data.index(b"moov") - 4
    path.write_bytes(data[:at] + struct.pack(">I4s", 20, b"\xff\xfe\xfd\xfc") + bytes(12) + data[at:])
    (malformed,) = told(path)
    assert "Other bytes stand where a box must begin (ff fe fd fc)" in malformed.claim.explanation
    assert malformed.facts[0].offset == at


@pytest.mark.parametrize(
    ("value", "is_malformed"), [(bytes(7) + b"\x01" + bytes(4), False), (b"hidden words", True)], ids=["empty", "words"]
)
def test_a_tag_without_a_value_as_imovie_writes_it_is_no_damage(
    value: bytes, is_malformed: bool, tmp_path: Path
) -> None:
    path = video(tmp_path / "a.mp4")
    data = path.read_bytes()
    at, tag = data.index(b"moov") - 4, struct.pack(">I4sI4s", 0, b"\xa9aut", 0, b"data") + value[4:]
    tags = box(b"meta", bytes(4) + box(b"hdlr", bytes(8) + b"mdir" + bytes(14)) + box(b"ilst", b"") + tag)
    index = box(b"moov", data[at + 8 :] + box(b"udta", tags))
    path.write_bytes(data[:at] + index)
    assert bool(told(path)) is is_malformed


def with_index(path: Path, change: tuple[bytes, bytes], name: bytes) -> tuple[int, int]:
    """Write the index once more with a change, call the former one ``name``, and return where both begin."""
    data = bytearray(path.read_bytes())
    at, end = data.index(b"moov") - 4, len(data)
    index = bytes(data[at:]).replace(*change)
    data[at + 4 : at + 8] = name
    path.write_bytes(bytes(data) + index)
    return at, end


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    tags = {"com.apple.quicktime.model": "iPhone 6", "title": "A walk"}
    return video(tmp_path / "a.mov", tags=tags, options={"movflags": "use_metadata_tags"})


@pytest.mark.parametrize(
    ("change", "severity"),
    [((b"iPhone 6", b"iPhone X"), "suspect"), ((b"A walk", b"A talk"), "benign"), ((b"none", b"none"), "benign")],
    ids=["device", "title", "nothing"],
)
def test_a_former_index_is_told_and_is_suspect_where_it_names_another_device(
    change: tuple[bytes, bytes], severity: str, phone: Path
) -> None:
    at, _ = with_index(phone, change, b"free")
    findings = claims(container.read(str(phone), "mov"))
    former = next(f for f in findings if "former index of the recording" in f.claim.claim)
    assert former.severity == severity and former.facts[0].offset == at
    assert all((word.decode() in former.claim.explanation) is (word != b"none") for word in change)
    assert [f for f in told(phone) if "former" in f.claim.claim] == ([former] if severity == "suspect" else [])


def test_two_indexes_are_told_with_their_places_and_what_they_disagree_on(phone: Path) -> None:
    places = with_index(phone, (b"iPhone 6", b"iPhone X"), b"moov")
    said = pick(claims(container.read(str(phone), "mov")), "malformed").claim.explanation
    assert "2 boxes moov where one belongs, at bytes {} and {}".format(*places) in said
    assert "model the first says 'iPhone 6', the second 'iPhone X'" in said


ZIP, GIVEN = b"PK\x03\x04" + bytes(range(256)) * 4, bytes.fromhex("ffcc8263f8554a938814587a02521fdd")


@pytest.mark.parametrize(
    ("name", "head", "body", "is_told"),
    [
        (b"free", b"", ZIP, True),
        (b"free", b"", b"0" * 4000, False),
        (b"skip", b"", bytes(4000), False),
        (b"free", b"", b"a word", False),
        (b"uuid", b"unknown to anyone", ZIP, True),
        (b"uuid", GIVEN, ZIP, False),
    ],
    ids=["ZIP", "filled", "zeros", "few", "unknown kind", "known kind"],
)
def test_data_in_boxes_that_players_skip_is_told(
    name: bytes, head: bytes, body: bytes, is_told: bool, tmp_path: Path
) -> None:
    path = video(tmp_path / "a.mp4")
    end, head = path.stat().st_size, head[:16]
    path.write_bytes(path.read_bytes() + box(name, head + body))
    findings = claims(container.read(str(path), "mp4"))
    skipped = [f for f in findings if f.claim.claim == "Boxes that players skip hold data"]
    assert [f.severity for f in skipped] == (["benign"] if is_told else [])
    for item in skipped:
        assert f"{len(body)} bytes in {name.decode()} at byte {end + 8 + len(head)}" in item.claim.explanation
        assert "first bytes 50 4b" in item.claim.explanation
