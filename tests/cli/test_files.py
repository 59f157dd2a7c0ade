"""What ``forensix analyze`` writes: a folder with an index, a table, a page; nothing is lost or replaced by the way."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.cli import main
from forensix.cli.analyze import _harmless
from forensix.errors import UsageError

ONLY = ("--task", "forensic_analysis", "--no-explain")


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as stopped:
        main([str(argument) for argument in arguments])
    return int(stopped.value.code or 0)


def tone(path: Path, hz: float = 400) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    wavfile.write(path, 16000, (8000 * np.sin(np.arange(16000) * hz * 2 * np.pi / 16000)).astype(np.int16))
    return path


def test_every_input_gets_a_page_and_a_json_file_and_the_index_links_them(tmp_path: Path) -> None:
    inputs = [tone(tmp_path / "a" / "talk.wav"), tone(tmp_path / "b" / "talk.wav", 500), tmp_path / "absent.wav"]
    out = tmp_path / "new" / "out"
    assert run("analyze", *inputs, *ONLY, "--output", out) == 1
    names = ["absent.wav", "talk.wav", "talk.wav-2"]
    assert sorted(path.name for path in out.iterdir()) == sorted(
        ["index.html", *(f"{name}.{ending}" for name in names for ending in ("html", "json"))]
    )
    index = (out / "index.html").read_text(encoding="utf-8")
    for name in names:
        assert f'href="{name}.html"' in index and f'href="{name}.json"' in index
    assert "absent.wav is not there" in index
    first, second = (json.loads((out / f"{name}.json").read_text()) for name in names[1:])
    assert [first["input"], second["input"]] == [str(path) for path in inputs[:2]]
    assert first["sha256"] != second["sha256"]


def test_one_file_for_two_outputs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, both = tone(tmp_path / "talk.wav"), tmp_path / "all"
    assert run("analyze", path, *ONLY, "--html", both, "--csv", tmp_path / "." / "all") == 2
    assert "--html and --csv both name" in capsys.readouterr().err
    assert not both.exists()


@pytest.mark.parametrize(
    ("option", "name"), [("--html", "index.html"), ("--html", "a.wav.html"), ("--csv", "a.wav.json")]
)
def test_no_page_is_lost_among_those_of_the_folder(
    option: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    command = ("analyze", tone(tmp_path / "a.wav"), *ONLY, "--quiet", "--output", folder, option)
    assert run(*command, folder / name) == 2
    assert "where --output writes its own pages: name another folder" in capsys.readouterr().err
    assert not list(folder.iterdir())


@pytest.mark.parametrize("option", ["--csv", "--html"])
def test_no_input_is_written_over(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tone(tmp_path / "talk.wav")
    (tmp_path / "same.wav").symlink_to(path)
    before = path.read_bytes()
    for spelled in (path, tmp_path / "same.wav"):
        assert run("analyze", path, *ONLY, option, spelled, "--overwrite") == 2
        assert "is an input and would be lost" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize("output", ["manifest.csv", "there.json", "no/folder.json", "."])
def test_a_population_is_written_where_it_replaces_nothing(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "manifest.csv").write_text("path,label\ntalk.wav,real\n")
    (tmp_path / "there.json").write_text("mine")
    monkeypatch.setattr("forensix.training.voice.population.build", pytest.fail)
    monkeypatch.chdir(tmp_path)
    assert run("population", "build", "manifest.csv", "--output", output) == 2
    assert "Traceback" not in (said := capsys.readouterr().err) and said.startswith("forensix: ")
    assert (tmp_path / "there.json").read_text() == "mine"


def test_a_table_goes_into_a_pipe(tmp_path: Path) -> None:
    path, pipe = tone(tmp_path / "talk.wav"), tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True)
    assert run("analyze", path, tone(tmp_path / "b.wav"), *ONLY, "--csv", pipe, "--quiet") == 0
    rows = reader.communicate(timeout=30)[0].splitlines()
    assert len(rows) == 3 and rows[0].startswith("input,")


def test_what_is_there_already_is_kept_unless_it_may_be_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tone(tmp_path / "talk.wav")
    out, table, page = tmp_path / "out", tmp_path / "all.csv", tmp_path / "all.html"
    out.mkdir()
    for remaining in (out / "notes.txt", out / "index.html", table, page):
        remaining.write_text("mine")
    for option, place in (("--output", out), ("--csv", table), ("--html", page)):
        assert run("analyze", path, *ONLY, option, place) == 2
        printed = capsys.readouterr()
        assert "--overwrite" in printed.err and printed.out == ""
    assert {remaining.read_text() for remaining in (out / "notes.txt", out / "index.html", table, page)} == {"mine"}
    assert run("analyze", path, *ONLY, "--output", out, "--csv", table, "--html", page, "--overwrite") == 0
    assert (out / "notes.txt").read_text() == "mine"
    assert all("talk.wav" in remaining.read_text(encoding="utf-8") for remaining in (out / "index.html", table, page))


TO_A_FOLDER = {
    "analyze": ("analyze", "talk.wav", "--output"),
    "train": ("train", "clips", "--task", "voice_analysis", "--output"),
    "combine": ("combine", "a", "b", "--manifest", "clips", "--task", "voice_analysis", "--output"),
    "demo": ("demo", "--folder"),
}


@pytest.mark.parametrize("command", TO_A_FOLDER)
def test_what_can_be_no_folder_is_refused_before_the_work(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tone(Path("talk.wav"))
    Path("gone").symlink_to("nowhere")
    for work in ("forensix.batch.analyze_many", "forensix.manifest.Manifest.read", "forensix.demo.make_pictures"):
        monkeypatch.setattr(work, pytest.fail)
    for place, why in (
        ("talk.wav", "talk.wav is a file: name a folder"),
        ("talk.wav/new", f"{tmp_path}/talk.wav is a file, and talk.wav/new would lie in it: name a folder"),
        ("gone", "gone is a link to nothing: name a folder"),
    ):
        assert run(*TO_A_FOLDER[command], place) == 2
        assert capsys.readouterr().err == f"forensix: {why}\n"
    monkeypatch.setattr("forensix.folders.os.access", lambda *_: False)
    assert run(*TO_A_FOLDER[command], "new/one") == 2
    assert capsys.readouterr().err == f"forensix: {tmp_path} may not be written by this user: name another folder\n"
    assert not Path("new").exists()


@pytest.mark.parametrize("make", [forensix.train, forensix.combine])
def test_training_into_no_folder_is_refused_at_once(make: Callable[..., object], tmp_path: Path) -> None:
    path = tone(tmp_path / "talk.wav")
    given = (["a", "b"], "absent") if make is forensix.combine else ("absent",)
    with pytest.raises(UsageError, match=r"talk\.wav is a file: name a folder"):
        make(*given, "voice_analysis", path)


def test_the_table_has_a_row_per_input_and_task_and_no_formula(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = "=HYPERLINK(0)\r.wav"
    tone(tmp_path / name)
    assert run("analyze", name, "absent.wav", "--task", "forensic_analysis", "--task", "voice_analysis",
               "--csv", "all.csv", "--quiet") == 1  # fmt: skip
    with Path("all.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["input"], row["task"], row["verdict"]) for row in rows] == [
        ("'=HYPERLINK(0)[U+000D].wav", "forensic_analysis", "benign"),
        ("'=HYPERLINK(0)[U+000D].wav", "voice_analysis", "no_speech"),
        ("absent.wav", "", ""),
    ]
    assert "is not there" in rows[2]["error"]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff20"])
def test_every_sign_that_begins_a_formula_is_made_harmless(sign: str) -> None:
    assert _harmless(f"{sign}1+1") == f"'{sign}1+1"
    assert _harmless(f"1{sign}1") == f"1{sign}1" and _harmless(-0.5) == -0.5


def test_a_table_in_a_terminal_is_not_steered_by_the_name_of_a_file() -> None:
    assert _harmless("a\x1b[2J\u202egnp.exe, \u0645\u0644\u0641") == "a[U+001B][2J[U+202E]gnp.exe, \u0645\u0644\u0641"
    assert _harmless("\r=1+1") == "'[U+000D]=1+1"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tone(tmp_path / "talk.wav")
    assert run("analyze", path, "--task", "forensic_analysis", "--quiet", "--csv", "/dev/full", "--overwrite") == 1
    assert capsys.readouterr().err.startswith("forensix: the disk is full: make room for temporary files")


def test_a_limit_on_the_size_of_files_is_a_sentence(tmp_path: Path) -> None:
    path = tone(tmp_path / "talk.wav")
    code = f"""
import resource, forensix.cli
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
forensix.cli.main(["analyze", {str(path)!r}, "--task", "voice_analysis", "--quiet"])
"""
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=root)
    assert ended.returncode == 1
    assert ended.stderr == "forensix: a file would be larger than is allowed here: raise the limit (ulimit -f)\n"


def test_quiet_prints_errors_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tone(tmp_path / "talk.wav")
    tasks = ("--task", "forensic_analysis", "--task", "face_manipulation")
    assert run("analyze", path, tmp_path / "absent.wav", *tasks, "--quiet", "--csv", tmp_path / "all.csv") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert [line.partition(": ")[0] for line in printed.err.splitlines()] == ["forensix"] * 2
    assert "face_manipulation analyses" in printed.err and "absent.wav is not there" in printed.err


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_jobs_change_nothing_but_the_time(tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    paths = [tone(tmp_path / f"{n}.wav", 300 + 50 * n) for n in range(3)]
    assert run("analyze", *paths, *ONLY, "--json", "--jobs", jobs) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["input"] for line in lines] == list(map(str, paths))


@pytest.mark.parametrize("jobs", ["0", "-3"])
def test_jobs_are_counted_from_one(tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    assert run("analyze", tone(tmp_path / "talk.wav"), f"--jobs={jobs}") == 2
    assert "--jobs takes a number from 1 up" in capsys.readouterr().err
