"""What a kept score depends on: a table of rules counts as code does."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import forensix
from forensix.evaluation import identity


def test_a_new_row_of_a_table_is_other_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ignored = shutil.ignore_patterns("*.safetensors", "__pycache__", "small", "service")
    copy = shutil.copytree(Path(forensix.__file__).parent, tmp_path / "forensix", ignore=ignored)
    monkeypatch.setattr(forensix, "__file__", str(copy / "__init__.py"))
    code = identity.code_identity.__wrapped__
    before = code("forensic_analysis")
    assert code("forensic_analysis") == before
    for table in ("forensics/programs.csv", "synthetic/marks.json", "forensics/rules/program_years.csv"):
        with (copy / table).open("a") as file:
            file.write("\n")
        assert code("forensic_analysis") != before
        before = code("forensic_analysis")


def test_another_release_of_a_package_that_scores_depend_on_is_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    code, releases = identity.code_identity.__wrapped__, dict(identity.deciding_versions())
    monkeypatch.setattr(identity, "deciding_versions", lambda: releases)
    before = code("forensic_analysis")
    releases["numpy"] += ".1"
    assert code("forensic_analysis") != before


def test_a_card_of_another_kind_tells_its_component_by_the_hash_alone() -> None:
    def told(**card: str) -> str | None:
        return identity.component_identity("spoof", SimpleNamespace(card=SimpleNamespace(**card)))

    assert told(name="mine", sha256="a") == told(name="mine", sha256="a") != told(name="mine", sha256="b")
    assert told(name="mine") is None and told(sha256="a") is None
