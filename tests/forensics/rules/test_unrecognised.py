"""Files that hold nothing of the format that their names say: what is claimed of them, and that the rest is refused."""

import pytest

from forensix import analyze
from forensix.forensics.rules.shared import rules
from forensix.metadata.facts import Facts
from forensix.metadata.unrecognised import describe
from forensix.schema import Claim


def _claim(content: bytes, name: str) -> Claim:
    report = analyze(content, name=name)
    lists = report.outcomes["forensic_analysis"].result.claim_lists
    (claim,) = [c for c in lists.suspect if c.type == "format"]
    assert "METADATA_ERROR" in report.outcomes["forensic_analysis"].result.red_flags
    for task, sentence in report.errors.items():
        assert task != "forensic_analysis"
        assert "does not begin as the" in sentence
    assert len(report.errors) == (2 if report.kind in ("image",) else report.kind in ("audio",))
    return claim


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (bytes(816), "a.mp3", "its 816 bytes are all zeros"),
        (b"\0", "a.flac", "its only byte is a zero"),
        (b"\xee" * 50, "a.wav", "its 50 bytes are all the same (ee)"),
        (b"\xff\xd8\xfe\xdc\0\x6fJFIF\0" + bytes(range(100)), "a.mp3", "a JPEG (JFIF) at byte 6"),
        (b"\x89PN", "a.png", "the first 3 of the 8 bytes that mark a PNG"),
        (b"\xff" * 7 + b"\n%startxref\n8 0 obj\n", "a.pdf", "a PDF (end) at byte 9"),
        (b"\x01\x02" + bytes(98), "a.jpg", "98 % of its 100 bytes are zeros"),
    ],
)
def test_what_the_bytes_are_is_told(content: bytes, name: str, words: str) -> None:
    claim = _claim(content, name)
    assert words in claim.explanation
    assert name.rsplit(".", 1)[1].replace("jpg", "jpeg") in claim.claim
    assert content[:16].hex(" ") in claim.value


def test_a_sound_file_gets_no_such_claim() -> None:
    facts = Facts("audio", "mp3")
    assert not [f for f in rules(facts) if f.claim.type == "format"]


def test_marks_are_found_where_they_stand_first() -> None:
    data = b"\x01\x02\x03" + b"moov" + bytes(20) + b"moov" + b"OggS"
    actual = describe(data, "mp4", len(data))
    assert actual["inside"] == [[3, "an MP4 or QuickTime file (index box)"], [31, "an Ogg file"]]
    assert actual["distinct"] == len(set(data))
    assert actual["start"] == ""
