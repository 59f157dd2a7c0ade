"""evaluate on a Dask cluster: the table of this process, whoever is killed midway, and what was finished is kept."""

from pathlib import Path

import pandas as pd
import pytest

import forensix
from forensix import evaluate
from forensix.errors import ForensixError, UsageError
from tests.evaluation.detectors import DEADLY, Deadly, Grey, pictures, plain
from tests.executors.clusters import Cluster

pytest.importorskip("distributed")

TASK = "quick"


def test_a_worker_killed_midway_changes_nothing(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 24)
    here = evaluate(listed, TASK, component=Grey(), cache=False, executor="here")
    fields: list[str] = []
    with Cluster(tmp_path) as cluster:
        cluster.add(2)

        def kill_midway(task: str, said: str, done: float) -> None:
            fields.append(said)
            if done > 0.1 and len(cluster.workers) == 2 and cluster.workers[0].poll() is None:
                cluster.workers[0].kill()

        slow = {"Grey": Grey(sleep_s=0.1)}
        there = evaluate(
            *(listed, TASK),
            component=slow,
            cache=tmp_path / "cache",
            executor=cluster.address,
            progress=kill_midway,
        )
        assert cluster.workers[0].wait(5) == -9 and cluster.workers[1].poll() is None
    pd.testing.assert_frame_equal(plain(there.scores), plain(here.scores))
    assert there.info["scored"] == 24 and there.failures.empty
    assert fields[-1] == "24 of 24 files"
    evaluation = evaluate(listed, TASK, component=Grey(), cache=tmp_path / "cache")
    assert evaluation.info["from_cache"] == 24


def test_what_a_dead_scheduler_leaves_is_gone_on_with(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 14, first={7: DEADLY})
    again = {"cache": False, "output": tmp_path / "output"}
    evaluation = evaluate(listed, TASK, component={"detector": Grey()}, cache=False, executor="here")
    with Cluster(tmp_path) as cluster:
        cluster.add(1)

        def kill_midway(task: str, said: str, done: float) -> None:
            if done > 0.3:
                cluster.scheduler.kill()

        with pytest.raises(ForensixError, match="scheduler is gone"):
            evaluate(
                *(listed, TASK),
                component={"detector": Grey(sleep_s=0.1)},
                executor=cluster.address,
                progress=kill_midway,
                **again,
            )
    detector = Grey()
    actual = evaluate(listed, TASK, component={"detector": detector}, executor="here", **again)
    assert 0 < detector.calls <= 10 and actual.info["from_cache"] == 14 - detector.calls
    pd.testing.assert_frame_equal(plain(actual.scores), plain(evaluation.scores))


@pytest.mark.slow
def test_a_file_that_ends_its_workers_is_a_failure_and_the_others_are_not(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 8, first={5: DEADLY})
    with Cluster(tmp_path, allowed_failures=0) as cluster:
        cluster.add(2, nanny=True)
        evaluation = evaluate(listed, TASK, component=Deadly(), cache=False, executor=cluster.address)
    assert evaluation.failures["path"].tolist() == ["005.png"]
    assert "was given up" in evaluation.failures["error"].iloc[0]
    assert evaluation.scores["score"].notna().sum() == 7


def test_a_worker_that_runs_other_code_is_told(tmp_path: Path) -> None:
    other = tmp_path / "other" / "forensix"
    other.mkdir(parents=True)
    for path in Path(forensix.__file__).parent.iterdir():
        (other / path.name).symlink_to(path)
    (other / "calibration.py").unlink()
    (other / "calibration.py").write_text((Path(forensix.__file__).parent / "calibration.py").read_text() + "\n# new\n")
    with Cluster(tmp_path) as cluster:
        cluster.add(1, path=[str(other.parent)])
        with pytest.raises(UsageError, match=r"on the worker tcp://\S+: .* another version of forensix"):
            evaluate(pictures(tmp_path, 2), TASK, component=Grey(), cache=False, executor=cluster.address)
