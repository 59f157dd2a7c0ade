"""A file that is written to, replaced or taken away while it is analysed: that is said, and nothing of its content."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
from PIL import Image
from scipy.io import wavfile

import forensix
from forensix import evaluate
from forensix.errors import InputChanged
from forensix.media import open_media, opening
from tests.evaluation.detectors import Grey, pictures


def cut_short(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def written_on(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more of a recording")


def overwritten(path: Path) -> None:
    """With as many bytes, and the time of before, as by what copies it over."""
    status = path.stat()
    path.write_bytes(bytes(reversed(path.read_bytes())))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(path: Path) -> None:
    path.with_suffix(".part").write_bytes(path.read_bytes()[:100])
    path.with_suffix(".part").replace(path)


def taken_away(path: Path) -> None:
    """As with the disk that it lies on, or by what tidies a folder."""
    path.unlink()


def made(folder: Path, name: str) -> Path:
    Image.new("RGB", (64, 64)).save(folder / "a.jpg")
    wavfile.write(folder / "a.wav", 8000, np.zeros(8000, np.int16))
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        pdf.save(folder / "a.pdf")
    return folder / name


def at(stage: str, path: Path, change: Callable[[Path], None]) -> Callable[[str, str, float], None]:
    def progress(_task: str, told: str, _done: float) -> None:
        if told == stage and path.exists():
            change(path)

    return progress


@pytest.mark.parametrize("change", [cut_short, written_on, overwritten, replaced, taken_away])
@pytest.mark.parametrize("stage", ["reading facts", "following rules"])
@pytest.mark.parametrize("name", ["a.jpg", "a.wav", "a.pdf"])
def test_neither_the_file_nor_the_program_is_blamed(
    name: str, stage: str, change: Callable[[Path], None], tmp_path: Path
) -> None:
    path = made(tmp_path, name)
    report = forensix.analyze(path, tasks=["forensic_analysis"], progress=at(stage, path, change))
    said = "moved or deleted while it was" if change is taken_away else "was changed while it was analysed"
    assert said in report.errors["forensic_analysis"] and report.codes == {"forensic_analysis": "changed"}
    assert report.verdicts == {"forensic_analysis": "failed"} and report.claims().empty
    assert report.tracebacks == {}


def test_a_file_that_another_program_only_touched_or_renamed_in_place_has_its_results(tmp_path: Path) -> None:
    path = made(tmp_path, "a.jpg")

    def touched(path: Path) -> None:
        path.with_suffix(".new").write_bytes(path.read_bytes())
        path.with_suffix(".new").replace(path)
        path.chmod(0o600)

    report = forensix.analyze(path, tasks=["forensic_analysis"], progress=at("following rules", path, touched))
    assert report.verdicts == {"forensic_analysis": "benign"} and not report.warnings


def test_of_many_the_others_have_their_results(tmp_path: Path) -> None:
    path, other = made(tmp_path, "a.jpg"), made(tmp_path, "a.wav")
    progress = at("reading facts", path, cut_short)
    reports = forensix.analyze_many([path, other], ["forensic_analysis"], executor="here", progress=progress)
    assert [report.verdicts["forensic_analysis"] for report in reports] == ["failed", "benign"]


def test_a_score_of_two_states_is_none(tmp_path: Path) -> None:
    pictures(tmp_path, 2)
    path = tmp_path / "000.png"

    class Slow(Grey):
        def score(self, rgb: np.ndarray) -> float:
            cut_short(path)
            return super().score(rgb)

    report = forensix.analyze(path, tasks=["ai_generated_image_detection"], image_detector=Slow())
    assert report.scores == {"ai_generated_image_detection": None}
    assert report.codes == {"ai_generated_image_detection": "changed"}


def test_an_evaluation_lists_it_among_the_failures(tmp_path: Path) -> None:
    listed, path = pictures(tmp_path, 4), tmp_path / "000.png"

    class Slow(Grey):
        def score(self, rgb: np.ndarray) -> float:
            written_on(path)
            return super().score(rgb)

    found = evaluate(listed, "ai_generated_image_detection", component=Slow(), cache=False, executor="here")
    assert found.failures["path"].tolist() == ["000.png"] and "was changed" in found.failures["error"].iloc[0]


def test_one_that_is_still_written_while_it_is_opened_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path, "a.wav")
    probe = opening._probe

    def slow(*args: Any) -> Any:
        written_on(path)
        return probe(*args)

    monkeypatch.setattr(opening, "_probe", slow)
    with pytest.raises(InputChanged, match="analyse it again once it is whole"):
        open_media(path)
