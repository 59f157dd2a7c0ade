"""What recordings that were cut, joined or added to without encoding anew are told to be."""

from pathlib import Path

import numpy as np

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata.av import reader
from tests.forensics.rules import pick
from tests.metadata.av.test_container_facts import sound


def found(path: Path, data: bytes) -> tuple[Finding, ...]:
    path.write_bytes(data)
    return claims(reader.read(str(path), path.suffix[1:]))


def suspected(findings: tuple[Finding, ...]) -> list[str]:
    return [f.claim.claim for f in findings if f.severity != "benign"]


def test_bytes_behind_the_last_frame_of_flac_are_told(tmp_path: Path) -> None:
    data = sound(tmp_path / "a.flac", "flac").read_bytes()
    hidden = b"PK\x03\x04" + np.random.default_rng(0).bytes(40_000)
    told = pick(found(tmp_path / "b.flac", data + hidden), "Data stands after the end of the content")
    assert told.severity == "suspect" and f"{len(hidden)} bytes" in told.claim.value
    assert [f.offset for f in told.facts] == [len(data)]
    for ordinary in (b"", bytes(4096), b"TAG" + b"A title".ljust(125, b"\0")):
        assert suspected(found(tmp_path / "b.flac", data + ordinary)) == []
    joined = found(tmp_path / "b.flac", data + data)
    assert suspected(joined) == ["The recording was put together from 2 files"]
