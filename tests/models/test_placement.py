"""What is said to the system before a network is loaded."""

import os
from collections.abc import Callable

import pytest

import forensix
from forensix.errors import UsageError
from forensix.tasks import load_task


def _load_task() -> None:
    load_task.cache_clear()
    load_task("forensic_analysis")


def _load_detector() -> None:
    with pytest.raises(UsageError, match="tells no fake from real"):
        forensix.load_detector("forensix-gender")


@pytest.mark.parametrize("load", [_load_task, _load_detector])
@pytest.mark.parametrize(
    ("said", "spins"), [({}, "10000"), ({"OMP_WAIT_POLICY": "ACTIVE"}, None), ({"GOMP_SPINCOUNT": "7"}, "7")]
)
def test_threads_share_cores_unless_the_environment_says_otherwise(
    load: Callable[[], None], said: dict[str, str], spins: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    load()
    assert os.environ.get("GOMP_SPINCOUNT") == spins
