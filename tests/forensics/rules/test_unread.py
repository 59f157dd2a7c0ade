"""What is said of a file that could not be read to its end: that, and nothing that blames or clears the file."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.forensics import claims
from forensix.media import open_media
from forensix.metadata import child, reader


def test_a_reader_that_ran_out_of_time_is_no_fault_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(8000, np.int16))
    monkeypatch.setattr(reader, "READ_S", 0.001)
    monkeypatch.setattr(reader, "READ_SHARE", 0.0)
    with open_media(tmp_path / "a.wav") as media:
        facts = reader.read_facts(media)
        findings = claims(facts, media)
    assert [p.unread for p in facts.problems] == [True]
    assert "A part of the file was not read" in [f.claim.claim for f in findings]
    assert {f.severity for f in findings} == {"benign"}
    said = " ".join(f"{f.claim.claim} {f.claim.explanation}" for f in findings)
    assert "The file is malformed" not in said and "says nothing about its origin" not in said
    assert reader.from_values(child.to_values(facts)).problems == facts.problems


def test_the_sentence_for_the_file_says_that_not_all_of_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(8000, np.int16))
    monkeypatch.setattr(reader, "READ_S", 0.001)
    monkeypatch.setattr(reader, "READ_SHARE", 0.0)
    report = forensix.analyze(tmp_path / "a.wav", tasks=["forensic_analysis"])
    assert report.headline == "A part of the file was not read; nothing in the file points to a fake."
