"""analyze_many: reports in order, from this process and from others, whatever a file does to a worker."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import forensix
from forensix import executors
from forensix.errors import UsageError
from tests.evaluation.detectors import DEADLY, Deadly, Grey, pictures

TASK = "ai_generated_image_detection"


class _Telling(Grey):
    """Says by its score which process it is in."""

    def score(self, rgb: object) -> float:
        return 1 / os.getpid()


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return pictures(tmp_path_factory.mktemp("many"), 7, first={3: DEADLY}).paths()


@pytest.mark.slow
def test_a_file_that_ends_its_workers_has_a_report_that_says_so_and_the_others_are_in_order(paths: list[Path]) -> None:
    fields: list[str] = []
    sources = [*paths, paths[0].with_name("absent.png")]
    reports = list(
        forensix.analyze_many(
            sources,
            [TASK],
            explain=False,
            executor=2,
            image_detector=Deadly(),
            progress=lambda *s: fields.append(f"{s[0]} is {s[1]}"),
        )
    )
    assert [report.input for report in reports] == [os.fspath(path) for path in sources]
    assert "2 worker processes that were at it were killed" in reports[3].error and reports[3].codes == {
        "input": "crashed"
    }
    assert "absent.png" in reports[7].error
    assert [report.name for report in reports] == [path.name for path in sources]
    here = list(forensix.analyze_many([*paths[:3], *paths[4:]], [TASK], explain=False, executor="here",
                                      image_detector=Grey()))  # fmt: skip
    assert [reports[i].scores[TASK] for i in (0, 1, 2, 4, 5, 6)] == [report.scores[TASK] for report in here]
    assert fields == [f"{path} is done" for path in sources]


def test_an_input_that_cannot_be_opened_goes_by_the_name_that_it_would_have_had() -> None:
    url = "http://127.0.0.1:9/a/clip.png"
    sources = ["case/absent.png", url]
    reports = list(forensix.analyze_many(sources, [TASK], executor="here"))
    assert all(report.failed for report in reports)
    assert [report.name for report in reports] == ["absent.png", url]
    (named,) = forensix.analyze_many(sources[:1], [TASK], executor="here", name="call 7")
    assert (named.input, named.name) == ("case/absent.png", "call 7")


class _Defective(Grey):
    """Fails as no code of a detector should on some pictures."""

    def score(self, rgb: object) -> float:
        if np.asarray(rgb).mean() < 100:
            raise KeyError("a table lacks it")
        return super().score(rgb)


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["here", 2])
def test_a_task_that_breaks_down_on_a_file_leaves_the_others_their_reports(tmp_path: Path, executor: int | str) -> None:
    paths = [tmp_path / f"{name}.png" for name in ("light", "dark", "paler")]
    for path, grey in zip(paths, (200, 50, 220), strict=True):
        Image.new("L", (64, 64), grey).save(path)
    first, broken, last = forensix.analyze_many(
        paths, [TASK], explain=False, executor=executor, image_detector=_Defective()
    )
    assert first.scores[TASK] is not None and last.scores[TASK] is not None
    assert broken.codes == {TASK: "internal"} and broken.failed
    sentence = "dark.png broke down in the image_detector component _Defective: KeyError in test_analyze_many.py"
    assert sentence in broken.errors[TASK]
    assert "in score" in broken.tracebacks[TASK]


def test_an_input_that_cannot_be_looked_at_for_a_defect_has_a_report_that_says_so(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forensix.batch.open_media", lambda *_, **__: {}["gone"])
    (broken,) = forensix.analyze_many(paths[:1], [TASK], executor="here")
    assert broken.codes == {"input": "internal"} and "KeyError in test_analyze_many.py" in str(broken.error)
    assert list(broken.tracebacks) == ["input"]


@pytest.mark.slow
@pytest.mark.parametrize(("enough", "elsewhere"), [(8, False), (7, True)])
def test_few_files_stay_in_this_process_and_many_go_to_others(
    paths: list[Path], monkeypatch: pytest.MonkeyPatch, enough: int, elsewhere: bool
) -> None:
    monkeypatch.setattr(executors, "ENOUGH", enough)
    monkeypatch.setattr(executors, "processes", lambda: 2)
    reports = forensix.analyze_many(paths, [TASK], explain=False, image_detector=_Telling())
    pids = {round(1 / report.scores[TASK]) for report in reports}
    assert (os.getpid() not in pids) == elsewhere and 1 <= len(pids) <= 2


@pytest.mark.slow
def test_on_a_cluster_reports_come_in_order(paths: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    from tests.executors.clusters import Cluster

    with Cluster(tmp_path) as cluster:
        cluster.add(2)
        reports = forensix.analyze_many(
            paths, [TASK], explain=False, executor=cluster.address, image_detector=_Telling()
        )
        actual = [(report.input, round(1 / report.scores[TASK])) for report in reports]
    assert [name for name, _ in actual] == [os.fspath(path) for path in paths]
    assert len({pid for _, pid in actual} - {os.getpid()}) == 2


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["here", 2, "threads"])
def test_what_a_source_raises_comes_after_the_reports_of_what_it_gave(paths: list[Path], executor: int | str) -> None:
    def sources() -> Iterator[Path]:
        yield from paths[:4]
        raise ValueError("the list has a gap")

    reports = []
    with pytest.raises(ValueError, match="the list has a gap"):
        for report in forensix.analyze_many(sources(), [TASK], explain=False, executor=executor, image_detector=Grey()):
            reports.append(report)
    assert [report.input for report in reports] == [os.fspath(path) for path in paths[:4]]


def test_what_is_no_input_is_told_of_after_the_reports_of_those_before(paths: list[Path]) -> None:
    reports = forensix.analyze_many([*paths[:2], 3], [TASK], explain=False, executor="threads", image_detector=Grey())
    assert [next(reports).input for _ in range(2)] == [os.fspath(path) for path in paths[:2]]
    with pytest.raises(UsageError, match="not an object of type int"):
        next(reports)


def test_one_path_is_no_list_of_inputs(paths: list[Path]) -> None:
    for source in (paths[0], str(paths[0]), paths[0].read_bytes()):
        with pytest.raises(UsageError, match="takes a list of inputs"):
            forensix.analyze_many(source)  # type: ignore[arg-type]


def test_a_device_that_is_not_there_is_told_of_before_the_first_input(paths: list[Path]) -> None:
    with pytest.raises(UsageError, match="'warp'"):
        forensix.analyze_many(paths, [TASK], device="warp")
