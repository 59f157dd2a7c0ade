"""Importers of other packages, those that fail among them."""

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from forensix import Manifest, importers
from forensix.errors import UsageError
from tests.importers.trees import touch


def test_unknown_importers_are_refused_and_other_packages_add_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="there are: asvspoof2019_la"):
        Manifest.import_("imagenet", tmp_path)
    entry = EntryPoint("mine", "tests.importers.test_other_packages:mine", "forensix.importers")
    monkeypatch.setattr(importers, "_offered", lambda: {"mine": entry})
    touch(tmp_path, "x.wav")
    assert "mine" in importers.names()
    assert Manifest.import_("mine", tmp_path).table.to_dict("records") == [{"path": "x.wav", "label": "fake"}]


def mine(root: Path) -> list[dict[str, str]]:
    return [{"path": path.name, "label": "fake"} for path in root.iterdir()]


def none(root: Path) -> None:
    return None


def late_key(root: Path):
    yield {"path": "x.wav", "label": "fake"}
    raise KeyError("speaker")


def own_type_error(root: Path, speed: int = 1) -> list[dict[str, str]]:
    return [{"path": "x" + speed, "label": "fake"}]  # type: ignore[operator]


def tuples(root: Path) -> list[tuple[str, str]]:
    return [("x.wav", "fake")]


def own_sentence(root: Path) -> list[dict[str, str]]:
    raise UsageError("my dataset has a list.txt, and this does not")


NOT_CALLABLE = 3


@pytest.mark.parametrize(
    ("function", "options", "sentence"),
    [
        ("none", {}, r"mine \(tests.*:none\) must return rows, .* not NoneType"),
        ("late_key", {}, r"mine \(.*\) failed: KeyError: 'speaker'"),
        ("own_type_error", {}, r"mine \(.*\) failed: TypeError: can only concatenate"),
        ("own_type_error", {"pace": 2}, r"mine \(.*\) does not take these options: .*'pace'"),
        ("tuples", {}, r"mine \(.*\) must yield dicts .* row 1 is tuple"),
        ("own_sentence", {}, r"^my dataset has a list.txt"),
        ("absent", {}, r"mine \(.*\) cannot be loaded: AttributeError"),
        ("NOT_CALLABLE", {}, r"mine \(.*\) must be a function, not int"),
    ],
)
def test_importers_of_other_packages_that_fail_are_named(
    function: str, options: dict[str, int], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("mine", f"tests.importers.test_other_packages:{function}", "forensix.importers")
    monkeypatch.setattr(importers, "_offered", lambda: {"mine": entry})
    with pytest.raises(UsageError, match=sentence):
        Manifest.import_("mine", tmp_path, **options)


def test_an_importer_whose_package_is_broken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", "no_such_package:rows", "forensix.importers")
    monkeypatch.setattr(importers, "_offered", lambda: {"mine": entry})
    with pytest.raises(UsageError, match=r"mine \(no_such_package:rows\) cannot be loaded: ModuleNotFoundError"):
        Manifest.import_("mine", tmp_path)
