"""What a kept score depends on: a table of rules counts as code does."""

import shutil
from pathlib import Path

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
