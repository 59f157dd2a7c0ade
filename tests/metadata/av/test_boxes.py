"""What the boxes of an ISO file say together: which are there, which are twice, and what stands beside them."""

import struct
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata.av import reader as container
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
