"""What is said of a file that could not be read to its end: that, and nothing that blames or clears the file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
from scipy.io import wavfile

import forensix
from forensix.errors import ReadingStopped
from forensix.forensics import claims
from forensix.media import open_media
from forensix.metadata import child, reader
from forensix.metadata.facts import Facts
from forensix.report.sections import sections
from forensix.report.words import UNJUDGED


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
    assert report.headline == "A part of the file was not read; the file stays undecided."
    assert report.verdicts == {"forensic_analysis": "inconclusive"}
    assert sections(report)[0].verdict == UNJUDGED
    assert report.to_wire("forensic_analysis")["result"]["claim_lists"]["suspect"] == []


@pytest.mark.parametrize("is_inside", [True, False])
def test_a_reader_that_ran_out_of_memory_is_no_fault_of_the_file_either(
    is_inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(8000, np.int16))

    def exhausted(*args: Any) -> Iterator[Facts]:
        yield Facts("audio", "wav")
        raise MemoryError

    def stopped(target: str, *args: Any, **limits: Any) -> Iterator[Any]:
        yield from child.parts(*args)
        if not is_inside:
            raise ReadingStopped("reading this file needs more than 512 MB of memory")

    monkeypatch.setattr(reader, "stream", stopped)
    if is_inside:
        monkeypatch.setattr(child, "_parts", exhausted)
    report = forensix.analyze(tmp_path / "a.wav", tasks=["forensic_analysis"])
    assert report.verdicts == {"forensic_analysis": "inconclusive"}
    assert "The file is malformed" not in report.claims()["claim"].tolist()


def test_a_locked_document_stays_undecided(tmp_path: Path) -> None:
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        for name, user in (("locked", "secret"), ("open", "")):
            pdf.save(tmp_path / f"{name}.pdf", encryption=pikepdf.Encryption(user=user, owner="secret"))
    said = {name: forensix.analyze(tmp_path / f"{name}.pdf").verdicts for name in ("locked", "open")}
    assert said == {"locked": {"forensic_analysis": "inconclusive"}, "open": {"forensic_analysis": "benign"}}


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
        raise ReadingStopped("reading this file took longer than 30 s and was stopped")

    monkeypatch.setattr(reader, "stream", stopped)
    report = forensix.analyze(tmp_path / "a.wav", tasks=["forensic_analysis"])
    assert report.headline.startswith('The file holds critical evidence: "The file says that it was made by Suno"')
    assert "a part of the file was not read" in report.headline
