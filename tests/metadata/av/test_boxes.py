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
