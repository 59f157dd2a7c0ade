"""What is said of a file that could not be read to its end: that, and nothing that blames or clears the file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.errors import BrokenMedia
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
    assert report.headline == (
        "A part of the file was not read; nothing in what could be read of the file points to a fake, which is no "
        "proof of authenticity."
    )


def test_what_was_read_before_the_reader_was_stopped_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(8000, np.int16))
    info = b"LIST\x18\0\0\0INFOISFT\x0c\0\0\0Suno AI\0\0\0\0\0"
    with (tmp_path / "a.wav").open("ab") as file:
        file.write(info)
    size = (tmp_path / "a.wav").stat().st_size
    with (tmp_path / "a.wav").open("r+b") as file:
        file.seek(4)
        file.write((size - 8).to_bytes(4, "little"))

    def stopped(target: str, *args: Any, **limits: Any) -> Iterator[Any]:
        yield next(child.parts(*args))
        raise BrokenMedia("reading this file took longer than 30 s and was stopped")

    monkeypatch.setattr(reader, "stream", stopped)
    report = forensix.analyze(tmp_path / "a.wav", tasks=["forensic_analysis"])
    assert report.headline.startswith('The file holds critical evidence: "The file says that it was made by Suno"')
    assert "a part of the file was not read" in report.headline
