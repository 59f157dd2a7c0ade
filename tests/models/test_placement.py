"""What is said to the system before a network is loaded."""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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
    ("said", "spins"), [({}, "1000"), ({"OMP_WAIT_POLICY": "ACTIVE"}, None), ({"GOMP_SPINCOUNT": "7"}, "7")]
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


_FORKED = """
import multiprocessing, warnings
import numpy as np
import forensix

warnings.simplefilter("ignore")  # that threads are about while it forks is what is tried
rng = np.random.default_rng(0)
picture = rng.integers(0, 255, (300, 300, 3), dtype=np.uint8)
buzz = np.tile(np.r_[0.5, np.zeros(119)], 400) * (1 + 0.5 * np.sin(np.arange(48000) / 2000))
tasks = ["face_manipulation", "ai_generated_image_detection"]

def both(_):
    heard = forensix.analyze(buzz, ["voice_analysis"], sample_rate=16000)
    seen = forensix.analyze(picture, tasks)
    return not (heard.failed or seen.failed)

print(both(0))
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.map_async(both, [0]).get(60))
"""


@pytest.mark.slow
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system does not fork")
def test_a_fork_of_a_process_that_has_analysed_analyses_too(tmp_path: Path) -> None:
    """torch's threads stay behind in the process that was forked, and were waited for for ever."""
    script = tmp_path / "forked.py"
    script.write_text(_FORKED)
    threads = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, cwd=Path.cwd(), env=threads
    )
    assert (done.stdout, done.stderr) == ("True\n[True]\n", "")
