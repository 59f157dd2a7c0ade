"""What all tests share: the corpora and checkpoints, where this checkout has them beside it."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def _shared(name: str) -> Path:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"{name} are not on this machine")
    return folder


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of the corpora, or skip."""
    return _shared("corpora")


@pytest.fixture(scope="session")
def checkpoints() -> Path:
    """Return the folder of the published checkpoints, or skip."""
    return _shared("checkpoints")
