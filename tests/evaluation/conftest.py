"""Packages of others, installed for the tests of the workbench, and a home of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forensix import Manifest, small
from tests import packages as others
from tests.evaluation.detectors import pictures


@pytest.fixture
def small_voices() -> Path:
    """Return the folder of the recordings that the project computed."""
    return small.folder("voices")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the test packages as pip would: the modules, and metadata that names their entry points."""
    return others.install(tmp_path_factory.mktemp("site"))


@pytest.fixture(autouse=True)
def packages(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this process, and the workers that it starts, see the packages."""
    monkeypatch.syspath_prepend(str(site))
    others.forget()
    yield
    others.forget()


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tests' scores out of the user's cache."""
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """Return a manifest of eight pictures."""
    return pictures(tmp_path_factory.mktemp("few"), 8)


@pytest.fixture
def no_window() -> Iterator[None]:
    """Draw without a window; fail where a setting of matplotlib is touched."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = plt.get_backend()
    plt.switch_backend("Agg")
    settings = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == settings
    plt.close("all")
    plt.switch_backend(before)
