"""Packages of others, installed for the tests of the workbench, and a home of their own."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensix import small
from forensix.models import registry
from forensix.tasks import task

PACKAGES = Path(__file__).parents[1] / "packages"


@pytest.fixture
def small_voices() -> Path:
    """Return the folder of the recordings that the project computed."""
    return small.folder("voices")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the test packages as pip would: the modules, and metadata that names their entry points."""
    folder = tmp_path_factory.mktemp("site")
    for package in PACKAGES.iterdir():
        if not (package / "pyproject.toml").is_file():
            continue
        told = tomllib.loads((package / "pyproject.toml").read_text())["project"]
        for module in package.glob("*.py"):
            shutil.copy(module, folder)
        metadata = folder / f"{told['name']}-{told['version']}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\nSummary: {told['description']}\n"
        )
        lines = []
        for group, entries in told["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(autouse=True)
def packages(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process, and the workers that it starts, see the packages."""
    monkeypatch.syspath_prepend(str(site))
    _forget()
    yield
    _forget()


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests' scores out of the user's cache."""
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path_factory.mktemp("home")))


def _forget() -> None:
    for known in (task._entries, task.load_task, registry._entries, registry._build):
        known.cache_clear()
