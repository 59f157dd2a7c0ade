"""What is declared is used, and what is used is declared: a user installs nothing for nothing, and misses nothing."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import forensix

PACKAGE = Path(forensix.__file__).parent
PROJECT = PACKAGE.parent / "pyproject.toml"
USED_UNSEEN = {
    "argon2-cffi": "pwdlib hashes passwords with it",
    "dask": "distributed is its scheduler",
    "ipykernel": "notebooks run in it",
    "jupyterlab": "where the explorer is shown",
    "papermill": "runs the notebooks from the shell",
    "psycopg": "SQLAlchemy's driver for PostgreSQL",
    "s3fs": "fsspec's driver for S3",
}
"""Never imported by name here, each with its reason."""
BROUGHT_ALONG = {
    "cloudpickle": "dask",
    "ipython": "ipykernel",
    "onnxruntime": "silero-vad",
}
"""Imported, and there because what is declared needs it."""
EXTRAS = ("notebook", "whisper", "transcript", "watermark", "train", "zoo", "service", "s3", "cluster", "data")

LOCK = PROJECT.with_name("requirements.lock")

LOADERS = ("import_module", "find_spec", "of_package")


def spelled(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


@pytest.fixture(scope="module")
def declared() -> set[str]:
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = (name for extra in EXTRAS for name in project["optional-dependencies"][extra])
    return {spelled(name) for name in (*project["dependencies"], *extras)}


@pytest.fixture(scope="module")
def trees() -> list[ast.AST]:
    return [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]


def distributions(modules: Iterable[str]) -> set[str]:
    # Python 3.11 overlooks modules that are one compiled file.
    homes = {**packages_distributions(), "parselmouth": ["praat-parselmouth"]}
    roots = {name.split(".")[0] for name in modules} - sys.stdlib_module_names - {"forensix"}
    return {spelled(home) for root in roots for home in homes.get(root, (root,))}


def imported(trees: list[ast.AST]) -> Iterator[str]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module


def text(node: ast.expr) -> str:
    return ast.unparse(node).removeprefix("f").strip("'") if isinstance(node, ast.Constant | ast.JoinedStr) else ""


def loaded_by_name(trees: list[ast.AST]) -> Iterator[str]:
    """Yield what the functions that take a module or package by name are given."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in LOADERS:
                name = text(node.args[0])
                yield from (name.replace("{backbone.variant}", variant) for variant in ("lite0", "lite2"))


def test_what_is_declared_is_used(declared: set[str], trees: list[ast.AST]) -> None:
    used = distributions([*imported(trees), *loaded_by_name(trees)])
    assert sorted(declared - used - USED_UNSEEN.keys()) == []
    assert not declared & used & USED_UNSEEN.keys()


def test_what_is_imported_is_declared(declared: set[str], trees: list[ast.AST]) -> None:
    used = distributions(imported(trees))
    assert sorted(used - declared - BROUGHT_ALONG.keys()) == []
    assert BROUGHT_ALONG.keys() <= used
    assert set(BROUGHT_ALONG.values()) <= declared


def test_every_python_gets_the_versions_that_were_tested(declared: set[str]) -> None:
    pins = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if spelled(line) in declared]
    assert {spelled(pin) for pin in pins} == declared
    assert [pin for pin in pins if "python_" in pin] == []


def test_the_citation_names_this_version() -> None:
    citation = PROJECT.with_name("CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {forensix.__version__}\n" in citation
