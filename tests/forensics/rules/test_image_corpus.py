"""A sample of the corpus's original files; the whole of it is measured by benchmarks/forensics.py."""

import csv
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.media import open_media
from forensix.metadata.reader import read_facts

WANTED = {
    "camera_original": lambda findings: all(f.severity == "benign" for f in findings),
    "ai_generated": lambda findings: any(f.severity == "critical" and f.claim.type == "ai_generated" for f in findings),
    "screenshot": lambda findings: any(f.claim.type == "screenshot" for f in findings),
    "signed": lambda findings: any(f.claim.type == "content_credentials" for f in findings),
    "multi_version": lambda findings: any(f.severity != "benign" and f.claim.type == "versions" for f in findings),
    "date_mismatch": lambda findings: any(f.claim.type == "dates" for f in findings),
    "malformed": lambda findings: any(f.severity != "benign" and f.claim.type == "structure" for f in findings),
    "edited": lambda findings: any(f.severity != "benign" and f.claim.user_category == "editing" for f in findings),
}


@pytest.mark.slow
@pytest.mark.parametrize("expect", WANTED)
def test_two_files_of_each_kind(expect: str, corpora: Path) -> None:
    folder = corpora / "forensics"
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["media"] == "image" and r["expect"] == expect]
    for row in rows[:: max(1, len(rows) // 2)][:2]:
        with open_media(folder / row["path"]) as media:
            findings = claims(read_facts(media), media)
        assert WANTED[expect](findings), (row["path"], [f.claim.claim for f in findings])
