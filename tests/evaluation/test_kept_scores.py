"""Scores that are kept: nothing is scored twice, nothing stale is taken, and a killed run goes on."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forensix import Evaluation, Manifest, evaluate
from forensix.errors import UsageError
from forensix.evaluation import identity
from forensix.evaluation.store import Store
from forensix.models import get_card
from tests.evaluation.detectors import Grey, Scaled, pictures, plain
from tests.making import write_image

TASK = "quick"


def test_a_file_is_scored_once_whatever_it_is_called_and_however_often_it_is_asked_for(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 4)
    (tmp_path / "copy.png").write_bytes((tmp_path / "001.png").read_bytes())
    table = pd.concat([listed.table, pd.DataFrame({"path": ["copy.png"], "label": ["fake"]})])
    listed = Manifest(table, root=tmp_path)
    detector, cache = Grey(), tmp_path / "cache"
    first = evaluate(listed, TASK, component=detector, cache=cache)
    assert detector.calls == 4
    assert first.scores["score"].iloc[4] == first.scores["score"].iloc[1]
    again = evaluate(listed, TASK, component=detector, cache=cache)
    assert detector.calls == 4
    pd.testing.assert_frame_equal(again.scores, first.scores)
    (tmp_path / "000.png").rename(tmp_path / "renamed.png")
    write_image(tmp_path / "002.png", np.full((48, 64, 3), 200, np.uint8))
    table = table.replace({"000.png": "renamed.png"})
    other = evaluate(Manifest(table, root=tmp_path), TASK, component=detector, cache=cache)
    assert detector.calls == 5, "only the file that changed"
    assert other.scores["score"].iloc[2] == pytest.approx(200 / 255)
    evaluate(listed.where(path="001.png"), TASK, component=Grey(version="2"), cache=cache)
    with Store(cache / "scores.db") as kept:
        assert len(kept) == 6, "another model is another score"
    evaluate(listed.where(path="001.png"), TASK, component=detector, cache=cache, degradations={"blur": [1]})
    assert detector.calls == 6, "only the copy that is new"


def test_failures_are_tried_again(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 2)
    complete = (tmp_path / "001.png").read_bytes()
    (tmp_path / "001.png").unlink()
    assert len(evaluate(listed, TASK, component=Grey(), cache=tmp_path / "cache").failures) == 1
    (tmp_path / "001.png").write_bytes(complete)
    assert evaluate(listed, TASK, component=Grey(), cache=tmp_path / "cache").failures.empty


def test_a_component_that_does_not_say_what_it_is_is_not_kept(few: Manifest, tmp_path: Path) -> None:
    detector = Grey(version=None)
    for times in (1, 2):
        evaluation = evaluate(few, TASK, component=detector, cache=tmp_path)
        assert detector.calls == 8 * times
    assert any("neither a card nor a version" in note for note in evaluation.notes)
    card = get_card("forensix-image")
    remaining = Grey(version=None, card=card)
    for _ in range(2):
        evaluation = evaluate(few, TASK, component=remaining, cache=tmp_path)
    assert remaining.calls == 8
    assert evaluation.components == ("forensix-image",) and evaluation.thresholds == {"forensix-image": card.threshold}
    fields = Grey(version=None, card=card.model_copy(update={"summary": "other words"}))
    evaluate(few, TASK, component=fields, cache=tmp_path)
    assert fields.calls == 0, "words of a card change no score"
    moved = Grey(version=None, card=card.model_copy(update={"threshold": 0.9}))
    evaluate(few, TASK, component=moved, cache=tmp_path)
    assert moved.calls == 8


@pytest.mark.parametrize("hidden", [False, True])
def test_objects_of_one_class_are_told_apart_by_what_they_were_made_with(
    hidden: bool, few: Manifest, tmp_path: Path
) -> None:
    sweep = {"whole": Scaled(1.0, hidden), "half": Scaled(0.5, hidden)}
    for _ in range(2):
        evaluation = evaluate(few, TASK, component=sweep, cache=tmp_path)
        complete, half = (
            evaluation.scores.loc[evaluation.scores["component"] == name, "score"].to_numpy() for name in sweep
        )
        np.testing.assert_allclose(half, complete / 2)
    assert evaluation.info["from_cache"] == (0 if hidden else 16)


@pytest.mark.parametrize("executor", ["'here'", "2"])
def test_a_run_that_is_killed_goes_on_where_it_stopped(tmp_path: Path, executor: str) -> None:
    listed = pictures(tmp_path, 24)
    listed.write(tmp_path / "manifest.csv")
    folder = tmp_path / "output"
    code = (
        "from forensix import evaluate\nfrom forensix.evaluation import store\n"
        "from tests.evaluation.detectors import Grey\n"
        "store._KEEP_S = 0.3\n"
        f"evaluate({str(tmp_path / 'manifest.csv')!r}, {TASK!r}, component=Grey(sleep_s=0.4), cache=False,"
        f" executor={executor}, output={str(folder)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": ":".join(sys.path)})
    try:
        _wait_for_rows(folder / "scores.partial.db", 4)
    finally:
        process.kill()
        process.wait()
    with pytest.raises(UsageError, match="not finished: call evaluate again"):
        Evaluation.load(folder)
    with Store(folder / "scores.partial.db") as store:
        remaining = len(store)
    assert 4 <= remaining < 24
    detector = Grey()
    evaluation = evaluate(tmp_path / "manifest.csv", TASK, component=detector, cache=False, output=folder)
    assert detector.calls == 24 - remaining
    assert evaluation.info["from_cache"] == remaining
    complete = evaluate(tmp_path / "manifest.csv", TASK, component=Grey(), cache=False)
    pd.testing.assert_frame_equal(plain(evaluation.scores), plain(complete.scores))


def test_a_run_goes_on_without_scores_of_a_component_that_does_not_say_what_it_is(
    few: Manifest, tmp_path: Path
) -> None:
    class Interrupted(Grey):
        def score(self, rgb: np.ndarray) -> float:
            if self.calls == 3:
                raise KeyboardInterrupt
            return super().score(rgb)

    with pytest.raises(KeyboardInterrupt):
        evaluate(few, TASK, component=Interrupted(None), cache=False, executor="here", output=tmp_path / "run")
    other = Scaled(0.5, hidden=True)
    evaluation = evaluate(few, TASK, component=other, cache=False, executor="here", output=tmp_path / "run")
    assert evaluation.info["from_cache"] == 0, "they are of another component"
    complete = evaluate(few, TASK, component=other, cache=False, executor="here")
    pd.testing.assert_frame_equal(plain(evaluation.scores), plain(complete.scores))


def _wait_for_rows(path: Path, n: int) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        if path.exists():
            with Store(path) as store:
                if len(store) >= n:
                    return
        time.sleep(0.05)
    raise AssertionError("nothing was kept within four minutes")


def test_a_damaged_cache_is_said_and_not_used(few: Manifest, tmp_path: Path) -> None:
    (tmp_path / "scores.db").write_bytes(b"no database at all, but long enough to be read as one" * 100)
    with pytest.raises(UsageError, match="is damaged"):
        evaluate(few, TASK, component=Grey(), cache=tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="cannot be kept"):
        evaluate(few, TASK, component=Grey(), cache=tmp_path / "file")


def test_a_cache_that_can_only_be_read_is_read(few: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = Manifest(few.table.head(3), root=few.root)
    evaluate(part, TASK, component=Grey(), cache=tmp_path)
    monkeypatch.setattr("forensix.evaluation.store.Store.takes", lambda self: False)
    detector = Grey()
    evaluation = evaluate(few, TASK, component=detector, cache=tmp_path)
    assert detector.calls == 5 and evaluation.info["from_cache"] == 3
    assert any("can only be read" in note for note in evaluation.notes)
    with Store(tmp_path / "scores.db") as store:
        assert len(store) == 3


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be read as one" * 100, None])
def test_a_store_that_is_refused_is_let_go_of(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = tmp_path / "scores.db", list[sqlite3.Connection]()
    if content is None:
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA user_version=9")
    else:
        path.write_bytes(content)

    def connect(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(real(*args, **options))
        return opened[-1]

    real = sqlite3.connect
    monkeypatch.setattr("forensix.evaluation.store.sqlite3.connect", connect)
    with pytest.raises(UsageError, match="delete it, or name another"):
        Store(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_a_store_without_room_says_so_and_keeps_what_it_had(tmp_path: Path) -> None:
    with Store(tmp_path / "scores.db") as store:
        store.put({"a": {"score": 0.5}})
        store._db.execute("PRAGMA max_page_count=4")
        with pytest.raises(UsageError, match=r"disk is full.*name another folder"):
            store.put({str(i): {"text": "x" * 5000} for i in range(9)})
        assert store.get(["a", "1"]) == {"a": {"score": 0.5}}


def test_a_store_that_another_run_of_the_evaluation_finished_with_is_not_missed(tmp_path: Path) -> None:
    with Store(tmp_path / "scores.db") as store:
        store.put({"a": {"score": 0.5}})
        with Store(store.path) as other:
            other.delete()
        store.put({"b": {"score": 0.5}})
        assert not store.path.exists()


def test_scores_are_made_anew_where_a_model_that_is_weighed_in_was_exchanged(
    few: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(few, TASK, component=Grey(), cache=tmp_path)
    known = identity.get_card
    changed = {"forensix-face": known("forensix-face").model_copy(update={"sha256": "0" * 64})}
    monkeypatch.setattr(identity, "get_card", lambda name: changed.get(str(name)) or known(name))
    identity.code_identity.cache_clear()
    try:
        assert evaluate(few, TASK, component=Grey(), cache=tmp_path).info["from_cache"] == 0
    finally:
        identity.code_identity.cache_clear()


def test_a_table_of_somebody_else_in_the_folder_is_kept(few: Manifest, tmp_path: Path) -> None:
    (tmp_path / "scores.parquet").write_text("mine")
    with pytest.raises(UsageError, match=r"scores\.parquet is there and of no evaluation"):
        evaluate(few, TASK, component=Grey(), cache=False, output=tmp_path)
    assert (tmp_path / "scores.parquet").read_text() == "mine"
