"""The demo makes its media, analyses them without network, and says what they are beside what was said of them."""

import re
import socket
from pathlib import Path

import pytest

from forensix import demo
from forensix.errors import UsageError


@pytest.mark.slow
def test_the_demo_runs_every_analysis_without_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("the demo reached for the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    folder = tmp_path / "demo [bold]"
    assert demo.run(folder) == 0
    printed = capsys.readouterr().out
    for name in demo.FILES:
        assert (folder / name).stat().st_size > 1000
        assert name in printed
    table = printed[printed.index("The truth beside the verdicts") :]
    assert table.count("(found)") >= 3, "a voice, a generated picture and a document"
    said = re.findall(r"^  (\S+), ([^:]+): ", table[table.index("Not found, and why") :], re.MULTILINE)
    titles = {"Face manipulation", "Voice"}
    assert said and all(demo.FILES[name].missed and title in titles for name, title in said)
    for title in ("Face manipulation:", "AI-generated picture:", "Voice:", "File forensics:"):
        assert title in printed
    assert "100.00" in printed, "the amount that was painted over"
    assert "report.html" in printed
    assert (folder / "report.html").read_text(encoding="utf-8").count("data:image/jpeg") > 5


def test_a_synthetic_voice_and_the_part_of_a_coarse_swap_are_found_and_a_photograph_is_not(tmp_path: Path) -> None:
    from forensix import analyze

    _, _, swap = demo.make_pictures(tmp_path)
    rebuilt, _ = demo.make_voices(tmp_path)
    swapped = analyze(swap, ["face_manipulation"])
    assert swapped.verdicts == {"face_manipulation": "inconclusive"}
    assert any("differs from the rest" in note for note in swapped.outcomes["face_manipulation"].notes)
    assert analyze(rebuilt, ["voice_analysis"], explain=False).verdicts == {"voice_analysis": "fake"}
    portrait = analyze(tmp_path / "portrait.jpg", ["face_manipulation"], explain=False)
    assert portrait.verdicts["face_manipulation"] != "fake"


@pytest.mark.parametrize(
    ("verdict", "fake", "word"),
    [
        ("fake", True, "found"),
        ("critical", True, "found"),
        ("real", True, "MISSED"),
        ("benign", True, "MISSED"),
        ("no_speech", True, "MISSED"),
        ("failed", True, ""),
        ("failed", False, ""),
        ("inconclusive", False, "undecided"),
        ("fake", False, "FALSE ALARM"),
        ("no_faces", False, "right"),
        ("suspect", None, ""),
    ],
)
def test_a_verdict_is_held_against_the_truth(verdict: str, fake: bool | None, word: str) -> None:
    assert demo.outcome(verdict, fake) == word


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "taken"
    path.write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        demo.run(path)


def test_the_swapped_face_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        list(demo.make_pictures(tmp_path / name))
    assert (tmp_path / "a" / "face-swap.jpg").read_bytes() == (tmp_path / "b" / "face-swap.jpg").read_bytes()
