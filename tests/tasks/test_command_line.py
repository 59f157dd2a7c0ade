"""Components named on a command line: for one analysis, and for a service that is told before it starts."""

import argparse
from pathlib import Path

import pandas as pd
import pytest

import forensix
from forensix.cli import main
from forensix.errors import ModelNotFound, UsageError, WeightsMissing
from forensix.models import load_model, save_model
from forensix.tasks import command_line


def said(*arguments: str) -> dict[str, object]:
    parser = argparse.ArgumentParser()
    command_line.register(parser)
    return command_line.chosen(parser.parse_args(arguments))


def test_what_is_said_reaches_a_worker_as_it_was() -> None:
    actual = said("--component", "spoof=aasist", "--component", "face_detector=mtcnn", "--batch-size", "4")
    assert actual == {"device": "cpu", "batch_size": 4, "spoof": "aasist", "face_detector": "mtcnn"}
    assert said(*command_line.spelled(actual)) == actual
    assert said() == said(*command_line.spelled(said())) == {"device": "cpu", "batch_size": None}


def test_two_components_for_one_slot_are_refused() -> None:
    with pytest.raises(UsageError, match="names two for spoof, aasist and forensix-spoof"):
        said("--component", "spoof=aasist", "--component", "spoof=forensix-spoof")


def test_a_model_of_your_own_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = load_model("forensix-face")
    save_model(own.card.model_copy(update={"name": "own", "weights": "own.safetensors"}), own.module, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert command_line.checked(said("--component", "face_classifier=./own.json"))["face_classifier"] == str(
        tmp_path / "own.json"
    )
    (tmp_path / "own.safetensors").unlink()
    with pytest.raises(WeightsMissing):
        command_line.checked(said("--component", "face_classifier=./own.json"))


def test_a_model_of_your_own_is_found_at_home_and_a_folder_is_told_from_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = load_model("forensix-face")
    (tmp_path / "mine").mkdir()
    save_model(own.card.model_copy(update={"name": "own", "weights": "own.safetensors"}), own.module, tmp_path / "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    chosen = command_line.checked(said("--component", "face_classifier=~/mine"))
    assert chosen["face_classifier"] == str(tmp_path / "mine"), "no shell expands it behind a sign"
    assert load_model("~/mine/own.json").card.name == "own"
    picture = forensix.small.folder("images") / "photographed-0.jpg"
    for place in ("~/mine", Path("~/mine")):
        assert forensix.load_detector(place).card.name == "own"
        assert forensix.analyze(picture, ["face_manipulation"], face_classifier=place).verdicts
    monkeypatch.chdir(tmp_path)
    for ask in (load_model, lambda name: command_line.check(said("--component", f"face_classifier={name}"))):
        with pytest.raises(ModelNotFound, match=r"named 'mine' \(the folder is meant by \./mine\); there are"):
            ask("mine")


@pytest.mark.slow
def test_worker_processes_find_a_model_by_a_path_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = load_model("forensix-image")
    save_model(own.card.model_copy(update={"name": "own", "weights": "own.safetensors"}), own.module, tmp_path)
    pictures = sorted(forensix.small.folder("images").glob("*.jpg"))[:2]
    table = pd.DataFrame({"path": [path.name for path in pictures], "label": ["real", "fake"]})
    listed = forensix.Manifest(table, root=pictures[0].parent)
    monkeypatch.chdir(tmp_path)
    task = "ai_generated_image_detection"
    reports = list(forensix.analyze_many(pictures, [task], image_detector="./own.json", executor=2))
    evaluation = forensix.evaluate(listed, task, component="./own.json", executor=2, cache=False)
    assert [report.scores[task] for report in reports] == pytest.approx(list(evaluation.scores["score"]))


@pytest.mark.parametrize(
    ("pair", "error", "sentence"),
    [
        ("spoof", UsageError, "SLOT=NAME"),
        ("device=cuda", UsageError, "SLOT=NAME"),
        ("nose=aasist", UsageError, "no task has a component 'nose'"),
        ("spoof=nonesuch", ModelNotFound, "no spoof component named 'nonesuch'; there are: .*forensix-spoof"),
        ("spoof=./nonesuch", ModelNotFound, "no spoof component named './nonesuch'"),
        ("spoof=forensix-image", ModelNotFound, "no spoof component named 'forensix-image'"),
        ("image_detector=commfor-384", WeightsMissing, "'forensix models pull commfor-384' fetches them"),
        ("transcript=nobody", ModelNotFound, "no transcript component named 'nobody'"),
    ],
)
def test_what_cannot_be_had_is_said_before_anything_starts(
    pair: str, error: type[Exception], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("FORENSIX_CHECKPOINTS", raising=False)
    with pytest.raises(error, match=sentence):
        command_line.checked(said("--component", pair))


def test_the_service_does_not_start_with_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    wrong = {"--component=spoof=nonesuch": "no spoof component named 'nonesuch'", "--device=warp": "no device 'warp'"}
    for command in (["serve", "--port", "0"], ["worker"]):
        for more, fields in wrong.items():
            with pytest.raises(SystemExit) as ended:
                main([*command, more])
            assert ended.value.code and fields in capsys.readouterr().err
    assert not (tmp_path / "home").exists()
