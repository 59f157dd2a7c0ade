"""What is said of figures from few files, of the same file twice, and of generators without scores."""

from pathlib import Path

import numpy as np
import pandas as pd

from forensix import Manifest, evaluate
from forensix.evaluation.cautions import cautions
from tests.evaluation.detectors import Grey, pictures


def scores(n: int = 4000, **columns: object) -> pd.DataFrame:
    label = np.where(np.arange(n) % 2, "fake", "real")
    return pd.DataFrame(
        {
            "path": [f"{i}.png" for i in range(n)],
            "label": label,
            "sha256": [f"{i:064x}" for i in range(n)],
            "degradation": "none",
            "strength": np.nan,
            "component": "test",
            "score": 0.5,
            **columns,
        }
    )


def test_large_sets_without_repetitions_need_no_words() -> None:
    assert cautions(scores()) == []
    assert cautions(pd.concat([scores(), scores(degradation="jpeg", strength=90.0), scores(component="b")])) == []


def test_few_files_are_said_with_their_class() -> None:
    few, at_fpr = cautions(scores(6))
    assert "only 3 real and 3 fake files" in few and "[1, 1]" in few
    assert at_fpr.startswith("tpr_at_fpr_0.01 takes 100 and tpr_at_fpr_0.001 takes 1000 reals, and there are 3")
    some = cautions(scores(400))
    assert len(some) == 1 and some[0].startswith("tpr_at_fpr_0.001 takes 1000 reals, and there are 200")
    rare = scores()
    rare = rare[(rare["label"] == "real") | (rare.index < 10)]
    assert [note[:33] for note in cautions(rare)] == ["There are only 5 fake files: with"]


def test_one_class_is_said() -> None:
    for label in ("real", "fake"):
        one = scores(400)
        (note,) = cautions(one[one["label"] == label])
        assert note.startswith(f"All files that were scored are {label}: AUC, EER")


def test_scores_that_run_the_wrong_way_are_said_of_their_component_where_it_is_no_chance() -> None:
    table = scores()
    right = (table["label"] == "fake") * 0.4 + np.arange(4000) % 97 / 200
    one = pd.concat([table.assign(score=right), table.assign(component="other", score=1 - right)])
    (note,) = cautions(one)
    assert note.startswith("other scores real files above fake ones (AUC 0.0")
    few = table.assign(score=1 - right)[:6]
    assert not any("above fake" in note for note in cautions(few)), "three of each do that one time in twenty"
    lone = table.assign(score=1 - right, group_id=[f"{i % 4}" for i in range(4000)])
    assert not any("above fake" in note for note in cautions(lone)), "nor do two groups of each, of however many files"


def test_one_file_alone_is_said_as_one() -> None:
    table = scores(4000)
    note, *_ = cautions(table[(table["label"] == "real") | (table.index == 1)])
    assert note.startswith("There is only 1 fake file: with fewer than 20")


def test_groups_are_counted_where_they_are_known_and_files_without_one_stand_alone() -> None:
    grouped = scores(group_id=[f"speaker {i % 8}" for i in range(4000)])
    assert cautions(grouped)[0].startswith("There are only 4 real and 4 fake groups: with fewer than 20")
    grouped.loc[grouped["label"] == "real", "group_id"] = None
    assert cautions(grouped)[0].startswith("There are only 4 fake groups")


def test_what_was_not_scored_does_not_count() -> None:
    table = scores()
    table.loc[table.index >= 20, "score"] = np.nan
    assert "only 10 real and 10 fake files" in cautions(table)[0]
    assert cautions(scores(score=np.nan)) == ["No undegraded file has a score, so there are no figures of them."]


def test_generators_without_scores_are_named() -> None:
    table = scores(generator=np.where(np.arange(4000) % 2 == 0, None, np.where(np.arange(4000) % 4 == 1, "one", "two")))
    assert cautions(table) == []
    table.loc[table["generator"] == "two", "score"] = np.nan
    assert cautions(table)[0].startswith("Of two no file was scored")


def test_the_same_content_under_several_rows_is_counted_and_two_labels_of_it_are_named(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 6)
    for name, original in (("twin.png", "000.png"), ("wrong.png", "003.png")):
        (tmp_path / name).write_bytes((tmp_path / original).read_bytes())
    more = pd.DataFrame({"path": ["twin.png"], "label": ["real"]})
    table = pd.concat([listed.table, more], ignore_index=True)
    notes = evaluate(Manifest(table, root=tmp_path), "quick", component=Grey(), cache=False).notes
    assert any("1 of 7 files has the same content" in n and "first is twin.png, which is 000.png" in n for n in notes)
    assert not any("both real and fake" in note for note in notes)
    table = pd.concat([table, more.assign(path="wrong.png")], ignore_index=True)
    evaluation = evaluate(Manifest(table, root=tmp_path), "quick", component=Grey(), cache=False)
    assert any("2 of 8 files have the same content" in note for note in evaluation.notes)
    assert any(
        "2 files have content that is labelled both real and fake: the first is 003.png" in n for n in evaluation.notes
    )
    assert "labelled both real and fake" in evaluation._repr_html_()
