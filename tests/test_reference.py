"""What the docstrings promise: the API reference is built from them without a warning, and their examples run."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import forensix

PACKAGE = Path(forensix.__file__).parent
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_run(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert not done.failed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_reference_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("pdoc")
    build = PACKAGE.parent / ".ci" / "reference.py"
    done = subprocess.run(
        [sys.executable, "-P", "-W", "error::UserWarning", str(build), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")}
    assert {"forensix.html", "forensix/tasks/catalogue.html", "forensix/metadata/image/jpeg.html"} <= pages
