"""What a notebook shows of an error."""

from pathlib import Path

import pytest

import forensix


def test_a_notebook_shows_the_callers_lines_and_the_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell(colors="nocolor")
    shell.run_cell(f"from forensix import analyze\ndef f(path):\n    return analyze(path)\nf({str(tmp_path / 'no')!r})")
    shown = capsys.readouterr().out
    assert "return analyze(path)" in shown and shown.rstrip().endswith("is not there; check the path")
    assert str(Path(forensix.__file__).parent) not in shown and "InputNotFound: " in shown
