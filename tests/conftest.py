"""What all tests share: the corpora and checkpoints, where this checkout has them beside it."""

import os
from pathlib import Path

import pytest

# The workers of a parallel run share the cores: more threads in each only wait for one another. Before torch is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Nothing is fetched. Before the hub's library is loaded, which would try again for half a minute.
os.environ["HF_HUB_OFFLINE"] = "1"

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


@pytest.fixture(scope="session")
def sixteen_bits() -> None:
    """Skip where the processor does not compute with 16 bits: such a product would end the process."""
    from forensix.models.placement import computes_halves

    if not computes_halves():
        pytest.skip("this machine's processor does not compute with 16 bits")
