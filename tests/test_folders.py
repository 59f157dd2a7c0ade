from pathlib import Path

import pytest

from forensix.evaluation.keys import cache_file
from forensix.folders import home
from forensix.importers.links import collections
from forensix.service.settings import Settings

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


def test_the_readme_names_what_is_kept_there() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (paragraph,) = [text for text in readme.split("\n\n") if text.startswith("`FORENSIX_HOME`")]
    for word in ("~/.forensix", "cache/scores.db", "collections", "forensix.db", "files", "scratch"):
        assert f"`{word}`" in paragraph
