"""Benchmarks take hours, and data that not every machine has: what they take of forensix is seen to be there."""

import ast
import importlib
import importlib.util
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType

import pikepdf
import pytest

from benchmarks import forensic_false_alarms
from forensix.models import get_card
from forensix.training.images import train

BENCHMARKS = sorted((Path(__file__).parent.parent / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_what_a_benchmark_takes_of_forensix_is_there(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    modules: dict[str, ModuleType] = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "forensix":
            module = importlib.import_module(str(node.module))
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if hasattr(module, "__path__") and importlib.util.find_spec(name):
                    modules[alias.asname or alias.name] = importlib.import_module(name)
                else:
                    assert hasattr(module, alias.name), (node.module, alias.name)
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            assert hasattr(modules[node.value.id], node.attr), (node.value.id, node.attr)


def test_documents_are_counted_once_and_those_known_to_be_edited_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "below").mkdir()
    for name, creator in (("a.pdf", "Adobe Illustrator"), ("below/b.PDF", "Adobe Illustrator"), ("c.pdf", "Writer")):
        with pikepdf.new() as document:
            document.add_blank_page()
            document.docinfo["/Creator"] = creator
            document.save(tmp_path / name, static_id=True)
    (tmp_path / "manifest.csv").write_text("path,expect,also\nc.pdf,unknown,malformed|edited\n")
    forensic_false_alarms.main(["--documents", str(tmp_path), "--here"])
    table = capsys.readouterr().out
    assert "| plain | 1 | 1 | 0 |" in table and "| counted apart | 1 | 0 | 0 |" in table
    assert "| The file names an editing program | suspect | 1 | 0 |" in table


@pytest.mark.parametrize(
    ("name", "package", "command"),
    [
        ("voice_words", "jiwer", "pip install jiwer"),
        ("voice_diarisation", "pyannote.core", "pip install pyannote.metrics"),
        ("dev_tables", "papermill", "pip install 'forensix[notebook]'"),
        ("service_faults", "sqlalchemy", "pip install 'forensix[service]'"),
        ("service_fuzz", "schemathesis", "pip install 'forensix[test]'"),
        ("service_scaling", "sqlalchemy", "pip install 'forensix[service]'"),
    ],
)
def test_a_package_that_a_benchmark_lacks_is_named_in_a_sentence(
    name: str, package: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for loaded in ("benchmarks.service_clients", "tests.service.workshop"):
        # By another test: they would not ask for the package again.
        monkeypatch.delitem(sys.modules, loaded, raising=False)
    (path,) = [one for one in BENCHMARKS if one.stem == name]
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(path))
    assert str(stopped.value).endswith(f"which is not installed: {command}")


def test_figures_that_the_limits_of_the_image_model_quote_stand_on_its_page() -> None:
    limits = get_card("forensix-image").limits
    page = (Path(__file__).parent.parent / "benchmarks" / "results" / "generated_images.md").read_text(encoding="utf-8")
    assert limits == train.LIMITS
    figures = re.findall(r"0\.\d+", limits)
    assert figures and all(f"| {figure} |" in page for figure in figures)
