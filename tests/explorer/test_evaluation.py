"""Browsing an evaluation: what is shown, in which order, and the file behind a row."""

import time
from pathlib import Path

import ipywidgets
import numpy as np
import pandas as pd
import pytest

import forensix
from forensix.errors import UsageError
from forensix.evaluation import Evaluation
from forensix.evaluation.overlap import COLUMNS
from forensix.explorer import drawing, selection
from forensix.explorer.evaluation_view import PAGE_ROWS
from forensix.explorer.selection import Selection
from tests.explorer.conftest import N_FILES, info, scores
from tests.explorer.test_explorer import click, named, page_of, widgets


def test_outcomes_are_those_of_the_cards_threshold(evaluation: Evaluation) -> None:
    actual = selection.judged(evaluation.scores, evaluation.thresholds)
    threshold = actual["component"].map(evaluation.thresholds)
    real, scored = actual["label"] == "real", actual["score"].notna()
    alarm = real & (actual["score"] >= threshold)
    miss = ~real & (actual["score"] < threshold)
    assert (actual["outcome"] == "false alarm").equals(alarm)
    assert (actual["outcome"] == "miss").equals(miss)
    assert (actual["outcome"] == "failed").equals(actual["error"].notna())
    assert (actual["outcome"] == "nothing to score").sum() == 1
    wrong = actual["wrong_by"]
    assert (wrong[alarm | miss] >= 0).all() and (wrong[scored & ~alarm & ~miss] <= 0).all()
    assert wrong[scored].between(-1, 1).all() and wrong[~scored].isna().all()


def test_being_wrong_is_counted_from_the_threshold() -> None:
    table = pd.DataFrame(
        {"component": "one", "label": ["real", "real", "fake", "fake"], "score": [1.0, 0.6, 0.0, 0.6], "error": None}
    ).assign(degradation="none", strength=None, path="x")
    assert selection.judged(table, {"one": 0.6})["wrong_by"].tolist() == pytest.approx([1, 0, 1, 0])


def test_what_a_verdict_did_not_judge_is_not_called_fake() -> None:
    table = pd.DataFrame(
        {
            "component": "one",
            "label": ["real", "fake", "fake", "real"],
            "score": [0.9, 0.9, 0.5, 0.9],
            "class_name": ["real", "real", "fake", None],
            "inconclusive": [False, True, False, False],
        }
    ).assign(degradation="none", strength=None, path="x", error=None)
    actual = selection.judged(table, {"one": 0.6})
    assert actual["outcome"].tolist() == ["right", "miss", "right", "false alarm"]
    assert actual["wrong_by"].tolist() == pytest.approx([0, 0, 0, 0.75])
    told = [drawing.looked_at(row, 0.6) for _, row in actual.iterrows()]
    assert "score 0.90 by one, verdict real, called fake from 0.6<" in told[0] and "by one, called" in told[3]
    assert "by one, verdict inconclusive, called" in told[1]


def test_rows_are_selected_and_sorted(evaluation: Evaluation) -> None:
    explorer = forensix.explore(evaluation)
    assert len(explorer.table) == N_FILES and set(explorer.table["condition"]) == {"none"}
    assert explorer.table["wrong_by"].dropna().is_monotonic_decreasing
    assert explorer.table["wrong_by"].tail(2).isna().all()
    assert len(explorer.select(degradation=None)) == 2 * N_FILES
    errors = explorer.select(degradation="jpeg 70", outcome="errors")
    assert set(errors["outcome"]) == {"false alarm", "miss"} and set(errors["condition"]) == {"jpeg 70"}
    theirs = explorer.select(component="theirs", outcome="all", where={"source": "set 1"}, score=(0.25, 0.75))
    assert set(theirs["source"]) == {"set 1"} and theirs["score"].between(0.25, 0.75).all()
    assert explorer.select(order="lowest score first")["score"].is_monotonic_increasing
    assert explorer.select(order="highest score first")["score"].is_monotonic_decreasing
    listed = explorer.select(order="as listed", score=(0.0, 1.0), where={"generator": "unknown"}, contains="1")
    assert listed["path"].is_monotonic_increasing and set(listed["label"]) == {"real"}
    assert listed["path"].str.contains("1").all()


@pytest.mark.parametrize(
    "changes",
    [
        {"component": "none such"},
        {"degradation": "jpeg"},
        {"outcome": "wrong"},
        {"order": "random"},
        {"where": {"colour": "red"}},
        {"score": (0.8, 0.2)},
        {"colour": "red"},
    ],
)
def test_what_is_not_there_cannot_be_selected(evaluation: Evaluation, changes: dict[str, object]) -> None:
    explorer = forensix.explore(evaluation)
    with pytest.raises(UsageError):
        explorer.select(**changes)
    assert explorer.selection == Selection("forensix-image") and len(explorer.table) == N_FILES


def test_a_saved_evaluation_is_opened_by_its_folder(evaluation: Evaluation, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    saved = Evaluation(evaluation.scores, evaluation.frames.assign(score=0.0), evaluation.info, evaluation.overlap)
    explorer = forensix.explore(saved.save(tmp_path / "saved"))
    assert explorer.evaluation is not None and explorer.evaluation.components == evaluation.components
    assert len(explorer.table) == N_FILES
    (tmp_path / "saved" / "scores.parquet").write_bytes(b"nonsense")
    explorer.open(tmp_path / "saved")
    assert "is damaged" in explorer.message and "is damaged" in page_of(explorer)


def test_menus_filter_and_pages_turn(evaluation: Evaluation) -> None:
    explorer = forensix.explore(evaluation)
    assert f"{N_FILES} rows of {2 * N_FILES}" in page_of(explorer)
    assert (
        sum((controls.tooltip or "").startswith("look at") for controls in widgets(explorer, ipywidgets.Button))
        == PAGE_ROWS
    )
    first = page_of(explorer)
    click(explorer, "Next page")
    assert named(explorer, ipywidgets.BoundedIntText, "Page").value == 2 and page_of(explorer) != first
    named(explorer, ipywidgets.Dropdown, "Outcome").value = "errors"
    assert explorer.selection is not None and explorer.selection.outcome == "errors"
    assert named(explorer, ipywidgets.BoundedIntText, "Page").value == 1
    named(explorer, ipywidgets.Dropdown, "Degradation").value = ""
    assert explorer.selection.degradation is None and named(explorer, ipywidgets.Dropdown, "Degradation").label == "all"
    named(explorer, ipywidgets.Dropdown, "Only where").value = "generator"
    menu = named(explorer, ipywidgets.Dropdown, "is")
    menu.value = "maker $x^ 3"
    assert explorer.selection.where == {"generator": "maker $x^ 3"}
    assert set(explorer.table["generator"]) == {"maker $x^ 3"} and "data:image/svg+xml" in page_of(explorer)
    named(explorer, ipywidgets.BoundedFloatText, "Score from").value = 0.99
    assert explorer.table.empty and "No row matches." in page_of(explorer)
    click(explorer, "Clear")
    assert explorer.selection == Selection("forensix-image")
    named(explorer, ipywidgets.Dropdown, "Outcome").value = "failed"
    assert "&lt;b&gt;broken" in page_of(explorer) and "<b>broken" not in page_of(explorer)


def test_a_value_that_another_component_never_has_stays_in_the_menu(evaluation: Evaluation) -> None:
    evaluation.scores.loc[evaluation.scores["component"] == "theirs", "class_name"] = "no_faces"
    explorer = forensix.explore(evaluation)
    component, column, value = (
        named(explorer, ipywidgets.Dropdown, name) for name in ("Component", "Only where", "is")
    )
    component.value = "theirs"
    column.value = "class_name"
    value.value = "no_faces"
    component.value = "forensix-image"
    assert explorer.table.empty and value.label == "no_faces (0 rows)"
    value.value = ""
    assert len(explorer.table) == N_FILES


def test_columns_of_lists_are_browsed_as_text(evaluation: Evaluation) -> None:
    tags = [["a", "b"] if i % 2 else ["c"] for i in range(len(evaluation.scores))]
    scores = evaluation.scores.assign(tags=tags)
    explorer = forensix.explore(Evaluation(scores, evaluation.frames, evaluation.info, evaluation.overlap))
    named(explorer, ipywidgets.Dropdown, "Only where").value = "tags"
    named(explorer, ipywidgets.Dropdown, "is").value = "['c']"
    assert len(explorer.table) and "[&#39;c&#39;]" in page_of(explorer)


def test_scores_from_above_the_end_move_the_end(evaluation: Evaluation) -> None:
    explorer = forensix.explore(evaluation)
    least, most = (named(explorer, ipywidgets.BoundedFloatText, f"Score {word}") for word in ("from", "to"))
    most.value = 0.3
    least.value = 0.8
    assert (least.value, most.value) == explorer.selection.score == (0.8, 0.8)  # type: ignore[union-attr]
    most.value = 0.2
    assert (least.value, most.value) == explorer.selection.score == (0.2, 0.2)  # type: ignore[union-attr]


def test_a_change_by_script_is_shown(evaluation: Evaluation) -> None:
    explorer = forensix.explore(evaluation)
    assert explorer.widget is explorer.widget
    explorer.select(outcome="miss", component="theirs", score=(0.1, 0.9), where={"source": "set 2"}, contains="p")
    assert named(explorer, ipywidgets.Dropdown, "Outcome").value == "miss"
    assert named(explorer, ipywidgets.Dropdown, "Component").value == "theirs"
    assert named(explorer, ipywidgets.Dropdown, "is").value == "set 2"
    assert named(explorer, ipywidgets.Text, "Name has").value == "p"
    fields = [named(explorer, ipywidgets.BoundedFloatText, f"Score {word}") for word in ("from", "to")]
    assert [field.value for field in fields] == [0.1, 0.9]


def test_a_row_is_looked_at_as_it_was_scored(evaluation: Evaluation) -> None:
    explorer = forensix.explore(evaluation)
    explorer.select(order="as listed", contains="00.png")
    report = explorer.look(0)
    assert report is not None and report.tasks == ("ai_generated_image_detection",)
    fields = " ".join(report.warnings)
    assert "content has changed since" in fields and "In the evaluation it scored" in fields
    assert "labelled real" in page_of(explorer) and "AI-generated picture" in page_of(explorer)
    assert "fx-looked" in page_of(explorer)
    explorer.select(degradation="jpeg 70", component="theirs")
    report = explorer.look(0)
    assert report is not None and report.format == "png" and report.name == "00.png"
    fields = " ".join(report.warnings)
    assert "A copy degraded by jpeg 70 was analysed" in fields and "theirs is not installed here" in fields
    path = evaluation.info["manifest"]["root"] + "/00.png"
    assert report.command is not None and f"degrade_file({path!r}, 'jpeg', 70.0, FOLDER, seed=0)" in report.command
    with pytest.raises(UsageError, match="1 rows"):
        explorer.look(1)


def test_a_component_under_a_name_of_the_callers_is_the_one_of_its_card(evaluation: Evaluation) -> None:
    evaluation.info["components"]["theirs"]["identity"] = "forensix-image:0123abcd"
    explorer = forensix.explore(evaluation)
    explorer.select(component="theirs", order="as listed", contains="00.png")
    report = explorer.look(0)
    assert report is not None and not [said for said in report.warnings if "not installed" in said]
    assert report.settings["image_detector"] == "forensix-image"


def test_a_file_that_is_gone_is_told(evaluation: Evaluation, tmp_path: Path) -> None:
    explorer = forensix.explore(evaluation)
    explorer.select(order="as listed", contains="01.png")
    (tmp_path / "dataset" / "01.png").rename(tmp_path / "01.png")
    named(explorer, ipywidgets.Button, "01.png").click()
    assert explorer.report is None and "01.png is not in" in explorer.message
    assert "any more" in page_of(explorer)
    explorer.root = tmp_path
    report = explorer.look(0)
    assert report is not None and report.error is None and explorer.message == ""


@pytest.mark.slow
def test_a_hundred_thousand_rows_stay_quick() -> None:
    n = 100_000
    rng = np.random.default_rng(0)
    some = scores([f"{i}.png" for i in range(4)]).iloc[:1]
    table = pd.concat([some] * n, ignore_index=True)
    table["score"], table["path"] = rng.uniform(size=n), [f"folder/{i:06}.png" for i in range(n)]
    table["label"] = np.where(rng.uniform(size=n) < 0.5, "real", "fake")
    table["source"] = [f"set {i % 300}" for i in range(n)]
    large = Evaluation(table, pd.DataFrame(), info(Path()), pd.DataFrame(columns=list(COLUMNS)))
    explorer = forensix.explore(large)
    n_widgets = len(list(widgets(explorer, ipywidgets.Widget)))
    begun = time.perf_counter()
    named(explorer, ipywidgets.Dropdown, "Outcome").value = "errors"
    named(explorer, ipywidgets.Dropdown, "Only where").value = "source"
    named(explorer, ipywidgets.Dropdown, "is").value = "set 7"
    click(explorer, "Next page")
    click(explorer, "Clear")
    # Two seconds on a busy machine; a widget a row would take minutes.
    assert time.perf_counter() - begun < 20
    assert len(list(widgets(explorer, ipywidgets.Widget))) == n_widgets
    assert (
        len(explorer.table) == n
        and max(len(controls.value) for controls in widgets(explorer, ipywidgets.HTML)) < 200_000
    )
