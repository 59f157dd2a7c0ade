"""What a notebook shows of an error, and whom a breakdown blames."""

import errno
from pathlib import Path

import pytest

import forensix
from forensix.errors import BrokeDown


def test_a_notebook_shows_the_callers_lines_and_the_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell(colors="nocolor")
    shell.run_cell(f"from forensix import analyze\ndef f(path):\n    return analyze(path)\nf({str(tmp_path / 'no')!r})")
    shown = capsys.readouterr().out
    assert "return analyze(path)" in shown and shown.rstrip().endswith("is not there; check the path")
    assert str(Path(forensix.__file__).parent) not in shown and "InputNotFound: " in shown


@pytest.mark.parametrize(
    ("cause", "refused"),
    [
        (RuntimeError("can't start new thread"), "process or thread start"),
        (BlockingIOError(errno.EAGAIN, "unavailable"), "process or thread start"),
        (OSError(errno.EMFILE, "Too many open files", "a.png"), "file be opened"),
    ],
)
def test_a_limit_of_the_system_is_no_error_of_the_program(cause: Exception, refused: str) -> None:
    try:
        raise cause
    except Exception as error:
        sentence = str(BrokeDown.of("a.png", error))
    assert f"the system lets no further {refused}" in sentence and "error of the program" not in sentence
