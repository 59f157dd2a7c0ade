"""``forensix analyze --output`` called again: what is there whole is taken over, and nothing else is, nor replaced."""

import csv
import errno
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forensix import batch
from forensix.errors import UsageError
from forensix.folders import write_whole
from forensix.report import Report, ReportFolder
from tests.cli.test_files import ONLY, run, tone

Spy = Callable[..., list[str]]


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> Spy:
    """Return what lists the inputs that were analysed; with a number, the run is interrupted after so many."""
    real, inputs, left = batch.analyze_many, list[str](), [1000]

    def spied(sources: list[str], *given: Any, **options: Any) -> Iterator[Report]:
        for report in real(sources, *given, **options):
            if left[0] == 0:
                raise KeyboardInterrupt
            left[0] -= 1
            inputs.append(report.input)
            yield report

    monkeypatch.setattr(batch, "analyze_many", spied)

    def ask(interrupted_after: int = 1000) -> list[str]:
        told = inputs.copy()
        inputs.clear()
        left[0] = interrupted_after
        return told

    return ask


@pytest.fixture
def tones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    return [str(tone(Path(name), 300 + 50 * n)) for n, name in enumerate(["a/talk.wav", "b.wav", "c/talk.wav"])]


def written(folder: str = "out") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_an_interrupted_run_goes_on_and_ends_as_one_that_was_not(
    tones: list[str], analysed: Spy, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("analyze", *tones, "--task", "forensic_analysis", "--task", "voice_analysis", "--no-explain", "--json")
    analysed(interrupted_after=2)
    assert run(*command, "--output", "out", "--csv", "all.csv") == 130
    assert capsys.readouterr().err.endswith("interrupted; the same command goes on where it stopped\n")
    before = written()
    assert analysed() == tones[:2]
    assert run(*command, "--output", "out", "--csv", "all.csv") == 0
    assert analysed() == tones[2:]
    printed = capsys.readouterr()
    assert "2 of 3 reports were in out already and were taken over" in printed.err
    assert printed.err.endswith("written: all.csv\nwritten: out/index.html\n")
    assert {name: before[name] for name in before if name != "index.html"}.items() <= written().items()
    assert run(*command, "--output", "other", "--csv", "other.csv") == 0
    assert Path("out/index.html").read_text() == Path("other/index.html").read_text()
    assert printed.out == capsys.readouterr().out
    rows, others = (list(csv.DictReader(Path(name).read_text().splitlines())) for name in ("all.csv", "other.csv"))
    timeless = [[{**row, "time_s": None} for row in table] for table in (rows, others)]
    assert len(rows) == 6 and timeless[0] == timeless[1]


def test_what_failed_is_tried_again_in_its_own_place(tones: list[str], analysed: Spy) -> None:
    assert run("analyze", *tones, "late.wav", *ONLY, "--output", "out") == 1
    tone(Path("late.wav"))
    analysed()
    assert run("analyze", "new.wav", *tones, "late.wav", *ONLY, "--output", "out") == 1
    assert analysed() == ["new.wav", "late.wav"]
    assert json.loads(Path("out/late.wav.json").read_text())["error"] is None
    assert run("analyze", tone(Path("new.wav")), "late.wav", *ONLY, "--output", "out") == 0
    index = Path("out/index.html").read_text()
    assert all(f">{name}<" in index.replace("<bdi>", "").replace("</bdi>", "") for name in tones)
    assert sorted(written()) == sorted(["index.html", *(f"{name}.{ending}" for ending in ("html", "json") for name in (
        "b.wav", "late.wav", "new.wav", "talk.wav", "talk.wav-2"))])  # fmt: skip


def test_reports_stay_with_their_inputs_whatever_comes_before_them(tones: list[str], analysed: Spy) -> None:
    assert run("analyze", tones[2], *ONLY, "--output", "out") == 0
    assert run("analyze", tones[0], tones[2], tones[2], *ONLY, "--output", "out") == 0
    assert analysed() == [tones[2], tones[0], tones[2]]
    reports = [json.loads(Path(f"out/talk.wav{n}.json").read_text())["input"] for n in ("", "-2", "-3")]
    assert reports == [tones[2], tones[0], tones[2]]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("--additional-info", "x"), "another --additional-info"),
        (("--task", "voice_analysis"), "another choice of tasks"),
        (("--component", "spoof=aasist"), "another choice of components"),
        ((), "another version of forensix"),
        ((), "another set of optional parts"),
        ((), "another FORENSIX_WHISPER"),
    ],
)
def test_reports_that_were_made_otherwise_are_not_mixed_with_others(
    other: tuple[str, ...], said: str, tones: list[str], analysed: Spy,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr("forensix.evaluation.identity.code_identity", lambda task: task)
    monkeypatch.setattr("forensix.tasks.command_line.check", lambda choices: None)
    part = SimpleNamespace(name="whisper", there=False)
    monkeypatch.setattr("forensix.cli.doctor.extras", lambda: [part])
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    before = written()
    if said.endswith("version of forensix"):
        monkeypatch.setattr("forensix.cli.made_by.__version__", "0.0.0")
    part.there = said.endswith("parts")
    if said.endswith("WHISPER"):
        monkeypatch.setenv("FORENSIX_WHISPER", "small")
    assert run("analyze", *tones, "new.wav", *ONLY, *other, "--output", "out") == 2
    assert f"was made with {said}: name another folder" in capsys.readouterr().err
    assert written() == before and analysed() == tones
    assert run("analyze", tones[0], *ONLY, "--output", "out", "--overwrite") == 0
    assert analysed() == [tones[0]]


def test_a_file_that_is_another_by_now_ends_the_run_before_it_begins(
    tones: list[str], analysed: Spy, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    before = written()
    tone(Path(tones[1]), 999)
    for _ in range(2):
        assert run("analyze", *tones, "new.wav", *ONLY, "--output", "out") == 2
        assert f"{tones[1]} is not what out/b.wav.json was made of any more" in capsys.readouterr().err
        Path(tones[1]).unlink(missing_ok=True)
    assert written() == before and analysed() == tones


@pytest.mark.parametrize("lost", ["b.wav.html", "b.wav.json"])
def test_what_a_cut_left_half_written_is_made_anew(lost: str, tones: list[str], analysed: Spy) -> None:
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    whole = written()
    if lost.endswith("json"):
        Path("out", lost).write_bytes(whole[lost][:100])
    else:
        Path("out", lost).unlink()
    analysed()
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    assert analysed() == ["b.wav"] and sorted(written()) == sorted(whole)
    assert json.loads(Path("out/b.wav.json").read_text())["input"] == "b.wav"


def test_a_run_that_was_cut_before_its_first_report_can_be_called_again(
    tones: list[str], analysed: Spy, capsys: pytest.CaptureFixture[str]
) -> None:
    analysed(interrupted_after=0)
    assert run("analyze", *tones, *ONLY, "--output", "out", "--overwrite") == 130
    assert capsys.readouterr().err == "\nforensix: interrupted\n", "that command would begin anew"
    Path("out/.a.wav.html.1.part").write_text("half")
    analysed()
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    assert analysed() == tones


def test_a_full_disk_ends_a_run_that_goes_on_once_there_is_room(
    tones: list[str], analysed: Spy, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path, text: str) -> Path:
        if path.name.startswith("b.wav"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_whole(path, text)

    with monkeypatch.context() as patched:
        patched.setattr("forensix.report.folder.write_whole", full)
        assert run("analyze", *tones, *ONLY, "--output", "out") == 1
    assert capsys.readouterr().err.endswith("where the output goes; the same command goes on where it stopped\n")
    analysed()
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    assert analysed() == tones[1:]


def test_notes_beside_the_reports_stay_and_one_page_of_all_is_refused(
    tones: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("analyze", *tones, *ONLY, "--output", "out") == 0
    Path("out/notes.txt").write_text("mine")
    Path("out/new.wav.json").write_text("[]")
    assert run("analyze", *tones, tone(Path("new.wav")), *ONLY, "--output", "out") == 0
    assert Path("out/notes.txt").read_text() == "mine" and Path("out/new.wav.json").read_text() == "[]"
    assert "new.wav-2.html" in written()
    assert run("analyze", *tones, *ONLY, "--output", "out", "--html", "all.html") == 2
    assert "out holds pages of 3 of them: leave it out to go on" in capsys.readouterr().err


def test_two_runs_do_not_write_to_one_folder_at_once(tmp_path: Path) -> None:
    with ReportFolder(tmp_path), pytest.raises(UsageError, match="another run writes to"):
        ReportFolder(tmp_path).__enter__()
    with ReportFolder(tmp_path, overwrite=True):
        pass
