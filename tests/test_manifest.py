"""Manifests say at once what is wrong with them."""

from pathlib import Path

import pandas as pd
import pytest

from forensix import Manifest
from forensix.errors import UsageError


def test_paths_are_relative_to_the_manifests_folder(tmp_path: Path) -> None:
    (tmp_path / "manifest.csv").write_text("path,label,split\na.wav,real,dev\nb.wav,fake,train\n")
    manifest = Manifest.read(tmp_path / "manifest.csv").where(split="train")
    assert manifest.paths() == [tmp_path / "b.wav"]
    assert manifest.is_fake() == [1]


@pytest.mark.parametrize(
    "table", [{"path": ["a"]}, {"path": ["a"], "label": ["bogus"]}, {"path": ["a"], "label": [None]}]
)
def test_a_manifest_without_sound_labels_is_refused(table: dict[str, list[str]]) -> None:
    with pytest.raises(UsageError):
        Manifest(pd.DataFrame(table), root=".")


def test_unknown_columns_are_named(tmp_path: Path) -> None:
    manifest = Manifest(pd.DataFrame({"path": ["a"], "label": ["real"]}), root=tmp_path)
    with pytest.raises(UsageError, match="split"):
        manifest.where(split="dev")
    with pytest.raises(UsageError, match="no manifest"):
        Manifest.read(tmp_path / "absent.csv")
