"""The command line: exit status, one sentence an error, one JSON line an input, nothing heavy before it is needed."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from scipy.io import wavfile

from forensix import schema, small
from forensix.cli import build_parser, main, train
from forensix.cli.train import decisions
from forensix.models import Measurement, get_card
from forensix.report import Report
from tests.making import raw_png, write_image

REPOSITORY = Path(__file__).resolve().parents[1]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    return int(stopped.value.code or 0)


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def tone(tmp_path: Path) -> Path:
    """A second of a tone: sound without speech."""
    path = tmp_path / "tone.wav"
    wavfile.write(path, 16000, (8000 * np.sin(np.arange(16000) / 10)).astype(np.int16))
    return path


def bad_inputs(folder: Path) -> dict[str, str]:
    """Path and a word of the sentence that it must get."""
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "text.mp4").write_text("this is not a video\n" * 50)
    (folder / "list.m3u8").write_text("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n")
    (folder / "list.mp4").write_text("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n")
    (folder / "huge.png").write_bytes(raw_png(60_000, 60_000))
    actual = {
        "empty.mp4": "empty",
        "text.mp4": "",
        "list.m3u8": "playlist",
        "list.mp4": "playlist",
        "huge.png": "pixels",
    }
    return {str(folder / name): word for name, word in actual.items()} | {str(folder / "absent.jpg"): "absent.jpg"}


def test_a_system_without_the_sandbox_gets_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    assert run("analyze", "photo.jpg") == 2
    assert "WSL" in capsys.readouterr().err


def test_every_bad_input_gets_one_sentence_and_the_batch_goes_on(
    tmp_path: Path, tone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = bad_inputs(tmp_path)
    begun = time.monotonic()
    status = run("analyze", "--json", "--task", "voice_analysis", *expected, str(tone))
    assert time.monotonic() - begun < 60
    assert status == 1
    *bad, good = lines(capsys.readouterr().out)
    for line, (path, word) in zip(bad, expected.items(), strict=True):
        assert line["input"] == path
        assert word in line["error"]
        assert "Traceback" not in line["error"]
        assert "\n" not in line["error"]
        assert line["results"] == {}
    assert good["error"] is None
    assert good["results"]["voice_analysis"]["result"]["class_name"] == "no_speech"


def test_errors_go_to_standard_error_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", str(tmp_path / "absent.jpg")) == 1
    printed = capsys.readouterr()
    assert "absent.jpg" in printed.err
    assert "Traceback" not in printed.err + printed.out


def test_a_name_that_steers_a_terminal_is_shown_in_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "\x1b[2J"
    folder.mkdir()
    picture = write_image(folder / "a\nforensix: all is well.png")
    assert run("analyze", str(picture), str(folder), "--task", "voice_analysis") == 1
    assert run("analyze", str(picture), "--csv", str(folder), "--task", "forensic_analysis") == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err and "[U+001B][2J" in err
    assert err.count("\n") == 3


def test_a_truncated_video_is_an_error_for_its_frames_and_a_claim_for_its_structure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.making import write_video

    complete = tmp_path / "whole.mp4"
    write_video(complete)
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(complete.read_bytes()[: complete.stat().st_size // 2])
    assert run("analyze", "--json", str(cut)) == 1
    (line,) = lines(capsys.readouterr().out)
    assert line["error"]
    assert line["results"]["face_manipulation"]["status"] == "failed"
    lists = line["results"]["forensic_analysis"]["result"]["claim_lists"]
    assert any(claim["type"] == "structure" for claims in lists.values() for claim in claims)


@pytest.mark.parametrize(
    "arguments",
    [
        ("analyze", "a.jpg", "--task", "nonesuch"),
        ("analyze", "a.jpg", "--component", "nonesuch=aasist"),
        ("analyze", "a.jpg", "--component", "spoof"),
        ("analyze", "a.jpg", "--component", "spoof=aasist", "--component", "spoof=forensix-spoof"),
        ("train", "clips", "--task", "voice_analysis", "--output", "mine", "--label", "1=fake", "--label", "1=real"),
        ("analyze", "a.jpg", "--private-host", "http://localhost/"),
        ("analyze", "a.jpg", "--html", "no/such/folder/report.html"),
        ("analyze",),
        ("nonesuch",),
    ],
)
def test_wrong_usage_ends_with_2(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_what_is_asked_for_reaches_the_analysis(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def analysed(inputs: list[str], tasks: list[str] | None, **options: Any) -> Iterator[Report]:
        asked.append({"tasks": tasks, **options})
        return iter([Report(input=name, name=name) for name in inputs])

    monkeypatch.setattr("forensix.batch.analyze_many", analysed)
    usual = {"tasks": None, "explain": True, "transcribe": True, "additional_info": None, "private_hosts": []}
    usual |= {"executor": None, "progress": False, "device": "cpu", "batch_size": None}
    changed = {"tasks": ["voice_analysis"], "explain": False, "transcribe": False, "additional_info": "case 7"}
    changed |= {"private_hosts": ["10.0.0.7"], "executor": "here", "batch_size": 2, "spoof": "forensix-spoof"}
    assert run("analyze", "a.wav", "--quiet") == 0
    assert run("analyze", "a.wav", "--quiet", "--task=voice_analysis", "--no-explain", "--no-transcribe", "--jobs=1",
               "--additional-info=case 7", "--private-host=10.0.0.7", "--batch-size=2",
               "--component=spoof=forensix-spoof") == 0  # fmt: skip
    assert asked == [usual, usual | changed]


@pytest.mark.parametrize("name", ["-rf.png", "--quiet", "--html=a.html", "-\x1b[31m.png"])
def test_the_name_of_a_file_is_no_option(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("Dear")
    Path("letter.txt").write_text("Dear")
    assert run("analyze", *sorted(path.name for path in tmp_path.iterdir())) == 2
    said = capsys.readouterr().err
    assert "is a file here, and begins as options do: write ./-" in said and "\x1b" not in said
    assert run("analyze", "--", name) == 1
    assert "is text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("band", "words"),
    [
        ((0.2, 0.8), "called fake from 0.8, called real up to 0.2"),
        ((0.0, 0.8), "called fake from 0.8, never called real"),
        ((0.2, 1.0), "never called fake, called real up to 0.2"),
        ((0.0, 1.0), "never called fake, never called real"),
        ((0.5, 0.5), "called fake from 0.5, called real below"),
        (None, "called fake from 0.95, called real below"),
    ],
)
def test_what_training_says_of_its_bounds_is_what_they_decide(band: tuple[float, float] | None, words: str) -> None:
    card = get_card("forensix-image").model_copy(update={"inconclusive": band, "threshold": 0.95})
    assert decisions(card) == words


def test_a_terminal_that_tells_no_width_shows_the_report(
    tone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert run("analyze", str(tone), "--task", "forensic_analysis") == 0
    assert tone.name in capsys.readouterr().out


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_analysed(
    tmp_path: Path, tone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("analyze", str(tone), "--html", str(tmp_path)) == 2
    printed = capsys.readouterr()
    assert f"{tmp_path} is a folder: write {tmp_path / 'report.html'}" in printed.err and printed.out == ""


def test_a_relative_path_is_told_as_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case").mkdir()
    Path("case/letter.txt").write_text("Dear")
    assert run("analyze", "case/nothing.flac", "case/letter.txt", "case") == 1
    printed = capsys.readouterr().err.splitlines()
    for name, line in zip(
        ("case/nothing.flac is not there", "case/letter.txt is text", "case is a directory"), printed, strict=True
    ):
        assert name in line


def test_earlier_versions_are_taken_out_of_a_document_named_by_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forensix.demo import make_document

    (document,) = make_document(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run("extract-revisions", document.name) == 0
    assert "edited.revision-1.pdf" in capsys.readouterr().out
    assert document.read_bytes().startswith(Path("edited.revision-1.pdf").read_bytes())
    assert run("extract-revisions", document.name, "--folder", "new/one") == 0, "the folder is made, as by analyze"
    assert document.read_bytes().startswith(Path("new/one/edited.revision-1.pdf").read_bytes())
    capsys.readouterr()
    assert run("extract-revisions", document.name, "--folder", document.name) == 2
    assert capsys.readouterr().err == "forensix: edited.pdf is a file: name a folder\n"
    assert run("extract-revisions", document.name, "--folder", "edited.pdf/one") == 2
    assert "edited.pdf is a file, and edited.pdf/one would lie in it: name a folder" in capsys.readouterr().err


def test_a_document_is_read_once_however_many_versions_are_taken_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forensix.demo import make_document
    from forensix.forensics import revisions

    (document,) = make_document(tmp_path)
    document.write_bytes(document.read_bytes() + b"startxref\n9\n%%EOF\n" * 2)
    calls: list[object] = []

    def counted(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return call(*args, **options)

    call = revisions.call
    monkeypatch.setattr(revisions, "call", counted)
    assert run("extract-revisions", str(document), "--folder", str(tmp_path / "out")) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert len(calls) == 1
    kept = [tmp_path / "out" / f"{document.stem}.revision-{i}.pdf" for i in (1, 2, 3)]
    for path in kept[:2]:
        path.unlink()
    assert run("extract-revisions", str(document), "--folder", str(tmp_path / "out")) == 2
    assert f"{kept[2]} is there already" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == kept[2:], "none is written where not all can be"


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may read everything")
def test_versions_of_what_may_not_be_read_or_into_what_may_not_be_written(tmp_path: Path) -> None:
    from forensix.demo import make_document

    (document,) = make_document(tmp_path)
    (tmp_path / "shut").mkdir(mode=0o500)
    rights = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    command = [*rights, sys.executable, "-m", "forensix", "extract-revisions", document.name]

    def refused(*options: str) -> tuple[int, str, str]:
        done = subprocess.run([*command, *options], capture_output=True, text=True, cwd=tmp_path, check=False)
        return done.returncode, done.stdout, done.stderr

    sentence = "forensix: shut may not be written by this user: name another folder\n"
    assert refused("--folder", "shut") == (2, "", sentence)
    document.chmod(0)
    sentence = "forensix: edited.pdf may not be read by this user; change its permissions\n"
    assert refused() == (1, "", sentence)


@pytest.mark.parametrize("encoding", ["utf-8:strict", "ascii:strict"])
def test_a_name_that_the_output_cannot_hold_is_printed_escaped(encoding: str, tmp_path: Path) -> None:
    from forensix.demo import make_document

    (document,) = make_document(tmp_path)
    document.rename(tmp_path / os.fsdecode(b"bill\xff.pdf"))
    command = [sys.executable, "-m", "forensix", "extract-revisions", b"bill\xff.pdf"]
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("bill\\udcff.revision-1.pdf")


def test_each_of_two_tasks_gives_its_result_or_its_reason(tone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ("--task", "face_manipulation", "--task", "forensic_analysis")
    assert run("analyze", "--json", str(tone), *both) == 1
    (line,) = lines(capsys.readouterr().out)
    assert line["results"]["forensic_analysis"]["status"] == "completed"
    assert line["results"]["face_manipulation"]["error"] == line["error"]
    assert "tone.wav is audio" in line["error"]


def test_without_explanations_there_are_verdicts_only(tone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", str(tone), "--task", "forensic_analysis") == 0
    printed = capsys.readouterr().out
    assert run("analyze", str(tone), "--task", "forensic_analysis", "--no-explain") == 0
    verdict = capsys.readouterr().out
    fields = [line for line in printed.splitlines() if "File forensics:" in line]
    assert fields and fields[0] in verdict
    assert "The file has the format" in printed and "The file has the format" not in verdict
    assert len(verdict.splitlines()) <= 10 < len(printed.splitlines())


def test_an_unknown_model_is_an_error_that_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("models", "show", "nonesuch") == 1
    assert "forensix-spoof" in capsys.readouterr().err


def test_an_unknown_component_is_told_although_no_task_asks_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_image(tmp_path / "a.png", np.zeros((64, 64, 3), np.uint8))
    assert run("analyze", str(path), "--component", "spoof=nonesuch") != 0
    said = capsys.readouterr()
    assert "no spoof component named 'nonesuch'" in said.err and not said.out


def test_what_models_cannot_do_is_said_once_for_all_inputs(tone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyze", str(tone), str(tone), "--task", "forensic_analysis") == 0
    printed = capsys.readouterr().out
    assert printed.count("SHA-256") == 2 and printed.count("limits of file forensics") == 1
    assert printed.index("limits of") > printed.rindex("SHA-256")


def test_a_missing_model_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from forensix.demo import make_recording
    from forensix.models import registry

    registry._build.cache_clear()
    monkeypatch.delenv("FORENSIX_CHECKPOINTS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (path,) = make_recording(tmp_path)
    assert run("analyze", str(path), "--task", "voice_analysis", "--component", "spoof=aasist") == 1
    assert "forensix models pull aasist" in capsys.readouterr().err


def test_models_are_listed_with_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("models", "list") == 0
    assert {"forensix-face", "forensix-image", "forensix-spoof", "aasist"} <= {
        line.split()[0] for line in capsys.readouterr().out.splitlines()
    }


def test_html_holds_every_input(tmp_path: Path, tone: Path) -> None:
    page = tmp_path / "report.html"
    assert run("analyze", "--task", "voice_analysis", str(tone), str(tmp_path / "absent.wav"), "--html", str(page)) == 1
    text = page.read_text(encoding="utf-8")
    assert "tone.wav" in text
    assert "absent.wav" in text


def test_a_page_of_a_run_that_was_interrupted_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def first_then_interrupted(inputs: list[str], *_: object, **__: object) -> Iterator[Report]:
        yield Report(input=inputs[0], name=inputs[0])
        raise KeyboardInterrupt

    monkeypatch.setattr("forensix.batch.analyze_many", first_then_interrupted)
    page = tmp_path / "all.html"
    assert run("analyze", "a.wav", "b.wav", "--quiet", "--html", str(page)) == 130
    assert "inputs that are not listed here were not analysed" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().err.endswith("interrupted\n")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_that_is_asked_to_end_keeps_what_was_done(
    number: int, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def first_then_ended(inputs: list[str], *_: object, **__: object) -> Iterator[Report]:
        yield Report(input=inputs[0], name=inputs[0])
        os.kill(os.getpid(), number)
        time.sleep(10)
        yield Report(input=inputs[1], name=inputs[1])

    # Whoever started the tests with nohup left SIGHUP ignored.
    signal.signal(number, signal.SIG_DFL)
    monkeypatch.setattr("forensix.batch.analyze_many", first_then_ended)
    page, folder = tmp_path / "all.html", tmp_path / "out"
    command = ("analyze", "a.wav", "b.wav", "--quiet", "--html", str(page), "--output", str(folder))
    assert run(*command) == status
    assert "inputs that are not listed here were not analysed" in page.read_text(encoding="utf-8")
    assert (folder / "index.html").is_file()
    assert capsys.readouterr().err.endswith(f"ended by {signal.Signals(number).name}\n")
    assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(closed: str, tone: Path, tmp_path: Path) -> None:
    line = f"{sys.executable} -m forensix analyze {tone} --task forensic_analysis --csv {tmp_path / 'a.csv'} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert (tmp_path / "a.csv").stat().st_size > 100


def test_a_folder_that_was_deleted_is_no_place_to_work_in(tone: Path, tmp_path: Path) -> None:
    line = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m forensix analyze {tone}"
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, cwd=tmp_path, check=False, env=environment
    )
    assert done.returncode == 1
    assert done.stderr == "forensix: the folder that you work in was deleted: change to another\n"


@pytest.mark.parametrize("code", ["import forensix", "import forensix.cli; forensix.cli.build_parser().format_help()"])
def test_importing_is_free(code: str) -> None:
    heavy = ["torch", "numpy", "pandas", "pydantic", "PIL", "av", "matplotlib", "rich", "scipy", "importlib.metadata"]
    script = f"import sys; {code}; print([m for m in {heavy!r} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", script], text=True, cwd=REPOSITORY).strip() == "[]"


@pytest.mark.parametrize(("said", "ticks"), [({}, "4"), ({"OPENBLAS_THREAD_TIMEOUT": "20"}, "20")])
def test_numpy_is_told_not_to_spin_unless_the_environment_says_otherwise(
    said: dict[str, str], ticks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "")
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT")
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert run("completion", "bash") == 0
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == ticks


def test_the_package_runs_as_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "forensix"]
    asked = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(REPOSITORY)}, "capture_output": True, "text": True}
    done = subprocess.run([*command, "--help"], check=True, **asked)
    assert done.stdout.startswith("usage: forensix [-h]")
    done = subprocess.run([*command, "nonesuch"], check=False, **asked)
    assert done.returncode == 2
    assert "\nforensix: error: " in done.stderr


def test_the_help_of_a_command_says_what_it_does_and_what_each_argument_is() -> None:
    parsers = [build_parser()]
    while parsers:
        parser = parsers.pop()
        assert parser.description and parser.description.endswith("."), parser.prog
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parsers += action.choices.values()
            else:
                assert action.help, (parser.prog, action.dest)


def test_every_command_and_option_stands_in_the_readme() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for action in build_parser()._subparsers._group_actions:
        for name, parser in action.choices.items():
            assert f"forensix {name}" in readme
            for flag in re.findall(r"--[a-z-]+", parser.format_help()):
                if flag != "--help":
                    assert flag in readme, f"{flag} of {name} is not documented"


def test_every_value_of_the_closed_vocabularies_stands_in_the_readme() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    for vocabulary in (schema.ClaimType, schema.UserCategory, schema.Source, schema.RedFlag, schema.VoiceClass):
        for value in get_args(vocabulary):
            assert f"`{value}`" in readme


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    command = [sys.executable, "-m", "forensix", "models", "list"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=REPOSITORY)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 1


def test_a_broken_pipe_stays_an_error_and_kills_no_service() -> None:
    before = signal.getsignal(signal.SIGPIPE)
    with pytest.raises(SystemExit):
        main(["models", "list"])
    assert signal.getsignal(signal.SIGPIPE) is before is signal.SIG_IGN


def test_an_interrupt_while_the_command_loads_is_told_in_a_sentence() -> None:
    code = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'forensix.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from forensix.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nforensix: interrupted\n")


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "ended by SIGTERM")])
def test_a_training_that_is_interrupted_says_that_it_goes_on(
    number: int, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(*_: object, **__: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr("forensix.training.own.run.train", ended)
    command = ("train", str(small.folder("images")), "--task", "ai_generated_image_detection", "--output")
    assert run(*command, str(tmp_path / "own")) == 128 + number
    assert capsys.readouterr().err.endswith(f"forensix: {word}; the same command goes on where it stopped\n")


def test_what_figures_and_progress_are_of_is_said_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = get_card("forensix-spoof")
    clean, telephone = (f"whole files of 9 groups held out, {one}" for one in ("as it is", "telephone"))
    row = {"n_real": 4, "n_fake": 5, "command": ""}
    figures = [
        Measurement(metric=metric, value=0.5, data=data, **row)
        for data in (clean, telephone)
        for metric in ("AUC", "fake files decided")
    ]
    train._show(card.model_copy(update={"measured": tuple(figures)}), argparse.Namespace(output=Path("own"), task="a"))
    said = capsys.readouterr().out.splitlines()[:6]
    assert said[0] == f"{clean}, 4 real, 5 fake:" and said[3] == f"{telephone}, 4 real, 5 fake:"
    assert said[1:3] == said[4:] == ["  AUC: 0.500", "  fake files decided: 0.500"]
    monkeypatch.setattr(train, "_EVERY_S", 0.0)
    tell = train.lines()
    for words, done in (
        ("reading 9 files to learn from", 0.01),
        ("reading 9 files to learn from", 0.02),
        ("step", 0.3),
    ):
        tell("a", words, done)
    assert capsys.readouterr().err.splitlines() == ["  1 % reading 9 files to learn from", "  2 %", " 30 % step"]
