"""Pictures with tags of our own, and what the rules say of them."""

from collections.abc import Iterable
from pathlib import Path

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata import child, reader
from forensix.metadata.facts import Facts
from tests.metadata import making_images as make

CAMERA = [(0x010F, make.ASCII, "Maker"), (0x0110, make.ASCII, "Model One"), (0x0131, make.ASCII, "Ver.1.00")]


TAKEN = [(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0x9004, make.ASCII, "2020:01:02 03:04:05")]


def facts_of(data: bytes, folder: Path, format: str = "jpeg") -> Facts:
    path = folder / f"picture.{format}"
    path.write_bytes(data)
    return reader.from_values(child.read(str(path), "image", format, path.name))


def judge(data: bytes, folder: Path, format: str = "jpeg") -> tuple[Finding, ...]:
    return claims(facts_of(data, folder, format))


def named(findings: Iterable[Finding], claim: str) -> Finding:
    match = [f for f in findings if f.claim.claim == claim]
    assert len(match) == 1, [f.claim.claim for f in findings]
    return match[0]


def noted(findings: Iterable[Finding]) -> list[str]:
    return [f.claim.claim for f in findings if f.severity != "benign"]


def with_tags(*tags: make.Tag, exif: list[make.Tag] = TAKEN, extra: bytes = b"") -> bytes:
    remaining = [t for t in CAMERA if t[0] not in {tag for tag, _, _ in tags}]
    return make.jpeg(make.exif_segment(make.tiff_block([*remaining, *tags], exif=exif)), extra)
