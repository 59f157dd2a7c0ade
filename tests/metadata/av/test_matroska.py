"""Where the facts of a Matroska file stand, in words that its readers use, and what was counted of its tracks."""

import re
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.metadata.av import reader as container
from tests.metadata.av.test_container_facts import video


def test_the_place_of_a_tag_says_its_name(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mkv", tags={"location": "+48.8577+002.2950/"})
    facts = container.read(str(path), "mkv")
    tag = facts.fact("container.tag.LOCATION")
    assert tag is not None and tag.offset == path.read_bytes().index(b"+48.8577")
    assert tag.where == "Segment/Tags/Tag/SimpleTag/TagString LOCATION"
    assert facts.fact("gps.latitude").where == tag.where


@pytest.mark.parametrize(
    ("counted", "seconds", "n", "told"),
    [
        (240, 10, 48, "The recording is shorter than when its frames were counted"),
        (240, 10, 1, "The recording is shorter than when its frames were counted"),
        (48, 2, 240, "The recording is longer than when its frames were counted"),
        (48, 2, 48, ""),
        (60, 2, 24, ""),
        (0, 0, 24, ""),
    ],
)
def test_what_another_program_counted_of_a_track_tells_that_it_was_cut(
    tmp_path: Path, counted: int, seconds: int, n: int, told: str
) -> None:
    tags = {"NUMBER_OF_FRAMES": str(counted), "NUMBER_OF_BYTES": str(1000 * seconds), "BPS": "8000"}
    path = video(tmp_path / "a.mkv", n=n, of_track={**tags, "_STATISTICS_WRITING_APP": "mkvmerge v74.0.0"})
    facts = container.read(str(path), "mkv")
    found = [f for f in claims(facts) if "counted" in f.claim.claim]
    assert [(f.severity, f.claim.claim) for f in found] == ([("suspect", told)] if told else [])
    for claim in found:
        assert claim.facts[0].offset == path.read_bytes().index(str(counted).encode(), 200)
        assert claim.claim.value == (f"counted: {counted} frames in {seconds}.0 s", f"there: {n} in {n / 24:.1f} s")
    # What the writer of a file counted itself, however wrong, is no trace of another file.
    raw = path.read_bytes()
    own = (app := re.search(rb"Lavf[0-9.]+", raw)) and app.group()
    path.write_bytes(raw.replace(b"mkvmerge v74.0.0", own.ljust(16, b"\0")))
    assert not [f for f in claims(container.read(str(path), "mkv")) if "counted" in f.claim.claim]
