import os
import shutil
from pathlib import Path

import pandas as pd
import pytest

from forensix import Evaluation, Manifest, analyze, evaluate, small
from forensix.errors import UsageError
from forensix.evaluation.collation import collate
from forensix.evaluation.keys import cache_file
from forensix.folders import home
from forensix.importers.links import collections
from forensix.models import checked_weights
from forensix.models.files import cache_folder
from forensix.service.settings import Settings
from tests.evaluation.detectors import Grey

TASK = "ai_generated_image_detection"
REPOSITORY = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("named", "meant"), [(None, "user/.forensix"), ("", "user/.forensix"), ("~/kept", "user/kept"), ("kept", "kept")]
)
def test_all_that_is_kept_lies_in_one_folder(
    named: str | None, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    if named is None:
        monkeypatch.delenv("FORENSIX_HOME", raising=False)
    else:
        monkeypatch.setenv("FORENSIX_HOME", named)
    assert home() == Settings.read().home == tmp_path / meant
    assert cache_file(None, ()) == home() / "cache" / "scores.db" and collections() == home() / "collections"


def test_shipped_models_need_no_home_and_what_does_says_which_variable_names_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a container that runs as a number, with an empty environment."""

    def nobody(_: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", nobody)
    for variable in ("HOME", "FORENSIX_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert checked_weights("forensix-image").is_file()
    for place, variable in (
        (home, "FORENSIX_HOME"),
        (Settings.read, "FORENSIX_HOME"),
        (cache_folder, "XDG_CACHE_HOME"),
    ):
        with pytest.raises(UsageError, match=rf"HOME is not set .*let {variable} name an absolute path"):
            place()


def test_the_readme_names_what_is_kept_there() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (paragraph,) = [text for text in readme.split("\n\n") if text.startswith("`FORENSIX_HOME`")]
    for word in ("~/.forensix", "cache/scores.db", "collections", "forensix.db", "files", "scratch"):
        assert f"`{word}`" in paragraph


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's home folder, which is not where the user works."""
    home = tmp_path / "user"
    (tmp_path / "work").mkdir()
    home.mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(home))
    return home


def test_a_path_that_begins_at_home_is_read_and_written_there(user: Path, tmp_path: Path) -> None:
    shutil.copytree(small.folder("images"), user / "pictures")
    manifest = Manifest.read("~/pictures")
    found = evaluate(manifest, TASK, component=Grey(), executor="here", cache="~/kept", output="~/run")
    assert Evaluation.load("~/run").scores["path"].tolist() == found.scores["path"].tolist() == listed(user)
    assert list(collate("~/run").evaluations) == ["run"]
    report = analyze("~/pictures/generated-0.jpg", ["forensic_analysis"])
    assert report.input == str(user / "pictures" / "generated-0.jpg")
    assert report.save_html("~/report.html") == user / "report.html"
    assert manifest.write("~/own.csv") == user / "own.csv"
    assert len(Manifest.read("~/own.csv", root="~/pictures").check()) == len(manifest)
    assert os.listdir(tmp_path / "work") == []


def test_a_file_that_is_named_like_home_is_that_file(user: Path, tmp_path: Path) -> None:
    shutil.copytree(small.folder("images"), tmp_path / "work" / "~")
    report = analyze("~/generated-0.jpg", ["forensic_analysis"])
    assert report.error is None and report.input == "~/generated-0.jpg"


def listed(user: Path) -> list[str]:
    return list(pd.read_csv(user / "pictures" / "manifest.csv")["path"])
