"""Tables from score frames: counts, groups, generators against shared reals, subgroups, paired differences."""

import math

import numpy as np
import pandas as pd
import pytest

from forensix.errors import UsageError
from forensix.evaluation import summary, tables
from forensix.evaluation.conditions import KEYS
from forensix.metrics import auc, bootstrap_interval, eer

DRAWS = 200


def scores(n: int = 120, seed: int = 0, **columns: object) -> pd.DataFrame:
    """Return a frame of two generators, three languages and clusters of files."""
    rng = np.random.default_rng(seed)
    label = np.where(np.arange(n) % 2, "fake", "real")
    logits = rng.normal(size=n) + 1.5 * (label == "fake")
    return pd.DataFrame(
        {
            "path": [f"{i}.wav" for i in range(n)],
            "label": label,
            "generator": np.where(label == "real", None, np.where(np.arange(n) % 4 == 1, "one", "two")),
            "group_id": [f"speaker {i // 4 % 12}" for i in range(n)],
            "language": rng.choice(["de", "en", "fr"], n),
            "task": "voice_analysis",
            "component": "test",
            "degradation": "none",
            "strength": np.nan,
            "level": "file",
            "score": 1 / (1 + np.exp(-logits)),
            "error": None,
            **columns,
        }
    )


def value(table: pd.DataFrame, metric: str, **where: object) -> pd.Series:
    for column, expected in where.items():
        table = table[table[column] == expected]
    actual = table[table["metric"] == metric]
    assert len(actual) == 1
    return actual.iloc[0]


def test_values_and_intervals_are_those_of_the_metrics() -> None:
    frame = scores()
    table = summary.summarise(frame, n_bootstrap=DRAWS)
    y = (frame["label"] == "fake").astype(int)
    for name, metric in (("auc", auc), ("eer", eer)):
        row = value(table, name)
        assert row["value"] == pytest.approx(metric(y, frame["score"]))
        expected = bootstrap_interval(metric, y, frame["score"], groups=frame["group_id"], n=DRAWS)
        assert (row["low"], row["high"]) == pytest.approx(expected)
    assert list(table.columns[:5]) == list(KEYS)
    assert table.columns[-4:].tolist() == ["n_real", "n_fake", "n_unscored", "n_failed"]
    assert not table.duplicated([*KEYS, "metric"]).any()


def test_what_has_no_score_is_counted_and_changes_no_metric() -> None:
    frame = scores()
    more = scores(8, seed=1, score=np.nan, error=[None] * 5 + ["the file is cut short"] * 3)
    table = summary.summarise(pd.concat([frame, more]), n_bootstrap=0)
    row = value(table, "auc")
    assert (row["n_unscored"], row["n_failed"], row["n_real"], row["n_fake"]) == (5, 3, 60, 60)
    assert row["value"] == value(summary.summarise(frame, n_bootstrap=0), "auc")["value"]
    assert math.isnan(row["low"])


def test_groups_widen_the_interval_and_files_without_one_stand_alone() -> None:
    rng = np.random.default_rng(3)
    frame = scores(200)
    shift = dict(zip(frame["group_id"].unique(), rng.normal(size=12), strict=True))
    sign = np.where(frame["label"] == "fake", 1, -1)
    frame["score"] = 1 / (1 + np.exp(-sign * (1 + 3 * frame["group_id"].map(shift))))

    def width(table: pd.DataFrame) -> float:
        row = value(table, "auc")
        return row["high"] - row["low"]

    grouped = width(summary.summarise(frame, n_bootstrap=DRAWS))
    alone = width(summary.summarise(frame, group=None, n_bootstrap=DRAWS))
    assert grouped > 1.5 * alone
    for nothing in (None, "", " "):  # Parquet keeps text of nothing
        assert width(summary.summarise(frame.assign(group_id=nothing), n_bootstrap=DRAWS)) == alone


def test_conditions_are_kept_apart_missing_strengths_included() -> None:
    frame = pd.concat([scores(), scores(degradation="mp3", strength=32.0), scores(degradation="mp3", strength=64.0)])
    table = summary.summarise(frame, n_bootstrap=0)
    assert table[["degradation", "strength"]].drop_duplicates().fillna(-1).to_numpy().tolist() == [
        ["none", -1],
        ["mp3", 32],
        ["mp3", 64],
    ]


def test_each_generator_meets_all_reals_and_the_mean_is_unweighted() -> None:
    frame = scores()
    frame = frame[(frame["generator"] != "two") | (frame.index % 8 == 3)]
    table = summary.by(frame, "generator", n_bootstrap=DRAWS)
    reals = frame[frame["label"] == "real"]
    rows = {}
    for name in ("one", "two"):
        both = pd.concat([reals, frame[frame["generator"] == name]])
        rows[name] = value(table, "auc", generator=name)
        assert rows[name]["value"] == pytest.approx(auc(both["label"] == "fake", both["score"]))
        assert rows[name]["n_real"] == len(reals)
    average = value(table, "auc", generator="AVG")
    assert average["value"] == pytest.approx((rows["one"]["value"] + rows["two"]["value"]) / 2)
    assert average["n_fake"] == rows["one"]["n_fake"] + rows["two"]["n_fake"]
    assert average["low"] < average["value"] < average["high"]


@pytest.mark.parametrize("shared", [True, False])
def test_a_generator_without_scores_has_a_row_and_is_left_out_of_the_mean(shared: bool) -> None:
    frame = scores().assign(source=lambda f: np.where(f.index < 60, "old", "new"))
    lost = scores(8, seed=1, source="lost", score=np.nan, error="the file is cut short")
    options = {"shared_reals": shared, "n_bootstrap": DRAWS}
    with_it = summary.by(pd.concat([frame, lost]), "source", **options)
    without = summary.by(frame, "source", **options)
    assert math.isnan(value(with_it, "auc", source="lost")["value"])
    assert (value(with_it, "auc", source="lost")["n_fake"], value(with_it, "auc", source="lost")["n_failed"] > 0) == (
        0,
        True,
    )
    for metric in ("auc", "accuracy_0.5"):
        first, other = (value(table, metric, source="AVG") for table in (with_it, without))
        assert first[["value", "low", "high"]].tolist() == other[["value", "low", "high"]].tolist()
        assert not np.isnan(first["low"])


def test_reals_can_be_each_values_own() -> None:
    frame = scores().assign(source=lambda f: np.where(f.index < 60, "old", "new"))
    table = summary.by(frame, "source", shared_reals=False, n_bootstrap=0)
    old = frame[frame["source"] == "old"]
    assert value(table, "auc", source="old")["value"] == pytest.approx(auc(old["label"] == "fake", old["score"]))
    assert value(table, "auc", source="old")["n_real"] == 30


def test_a_column_that_reals_have_too_is_measured_against_its_own_reals() -> None:
    frame = scores(gender=["female", "female", "male", "male"] * 30)
    table = summary.by(frame, "gender", n_bootstrap=0)
    within = summary.subgroups(frame, "gender", n_bootstrap=0)
    for gender in ("female", "male"):
        row = value(table, "auc", gender=gender)
        assert row["n_real"] == row["n_fake"] == 30
        assert row["value"] == value(within, "auc", member=gender)["value"]
    assert value(summary.by(frame, "gender", shared_reals=True, n_bootstrap=0), "auc", gender="male")["n_real"] == 60
    assert value(summary.by(frame, n_bootstrap=0), "auc", generator="one")["n_real"] == 60


def test_a_table_is_drawn_wide_and_stays_a_row_a_metric() -> None:
    frame = pd.concat([scores(component=name, seed=i) for i, name in enumerate(["one", "two", "three"])])
    table = summary.summarise(frame, n_bootstrap=20)
    lines = repr(table).splitlines()
    assert lines[0].split() == ["one", "two", "three"] and len(lines) < table["metric"].nunique() + 6
    assert "[" in next(line for line in lines if line.startswith("auc"))
    assert "<th>two</th>" in table._repr_html_()
    chosen = table[table["component"] == "two"]
    assert len(chosen) == table["metric"].nunique() and "three" not in repr(chosen)
    assert repr(table[["metric", "value"]]) == repr(pd.DataFrame(table[["metric", "value"]]))
    assert repr(summary.compare(frame, n_bootstrap=20)).startswith("    ")


def test_fakes_of_which_none_is_named_are_measured_against_all_reals() -> None:
    frame = scores().iloc[:40]
    named = frame.assign(generator=np.where(frame["label"] == "real", "camera", None))
    whole = value(summary.summarise(frame, n_bootstrap=0), "auc")
    assert value(summary.by(named, "generator", n_bootstrap=0), "auc", generator="unknown")["value"] == whole["value"]


def test_subgroups_hold_their_own_reals_and_fakes() -> None:
    frame = scores()
    frame.loc[:9, "language"] = None
    table = summary.subgroups(frame, n_bootstrap=0)
    assert table["member"].unique().tolist() == ["de", "en", "fr", "unknown"]
    english = frame[frame["language"] == "en"]
    assert value(table, "auc", member="en")["value"] == pytest.approx(auc(english["label"] == "fake", english["score"]))
    assert table.groupby("member")["n_real"].first().sum() == 60


def test_groups_are_of_a_column_that_is_there() -> None:
    frame = scores(40).drop(columns="group_id")
    for table in (summary.summarise, summary.by, summary.subgroups):
        with pytest.raises(UsageError, match="the scores have no column nope; they have: path, label"):
            table(frame, group="nope", n_bootstrap=0)
    both = pd.concat([frame, frame.assign(component="twin")])
    with pytest.raises(UsageError, match="no column nope"):
        summary.compare(both, group="nope", n_bootstrap=0)
    own = summary.summarise(frame, group=None, n_bootstrap=5)
    pd.testing.assert_frame_equal(summary.summarise(frame, n_bootstrap=5), own)
    summary.summarise(frame, group="language", n_bootstrap=5)


def test_a_set_of_one_class_has_accuracy_only() -> None:
    table = summary.summarise(scores().query("label == 'real'"), n_bootstrap=20)
    assert math.isnan(value(table, "auc")["value"])
    assert 0 < value(table, "accuracy_0.5")["value"] < 1
    assert len(summary.by(scores().query("label == 'real'"), "generator")) == 0


def test_costs_are_for_voices_and_thresholds_for_components() -> None:
    assert "act_dcf" not in set(summary.summarise(scores(task="face_manipulation"), n_bootstrap=0)["metric"])
    assert "act_dcf" in set(summary.summarise(scores(), n_bootstrap=0)["metric"])
    table = summary.summarise(scores(), n_bootstrap=0, threshold={"test": 1.0})
    assert value(table, "accuracy_threshold")["value"] == 0.5
    with pytest.raises(UsageError, match="no threshold for test"):
        summary.summarise(scores(), n_bootstrap=0, threshold={"other": 1.0})


def test_verdicts_decide_what_is_called_fake_where_they_are_real_or_fake() -> None:
    frame = scores(6).assign(
        score=[0.1, 0.9, 0.9, 0.9, 0.9, 0.9], class_name=["real", "fake", "real", "fake", "", None]
    )

    def table(**options: bool) -> pd.DataFrame:
        return summary.summarise(frame, n_bootstrap=0, threshold={"test": 0.6}, **options)

    assert value(table(), "accuracy_threshold")["value"] == pytest.approx(4 / 6)
    assert value(table(verdicts=True), "accuracy_threshold")["value"] == pytest.approx(5 / 6)
    assert value(table(verdicts=True), "balanced_accuracy_threshold")["value"] == pytest.approx(5 / 6)
    assert value(table(verdicts=True), "accuracy_0.5")["value"] == pytest.approx(4 / 6)


def test_paired_differences_are_narrower_than_two_intervals() -> None:
    item = scores(400)
    rng = np.random.default_rng(9)
    noisy = 1 / (1 + np.exp(-(np.log(item["score"] / (1 - item["score"])) + rng.normal(0, 1.5, len(item)))))
    frame = pd.concat([item, item.assign(component="noisy", score=noisy).iloc[10:]])
    table = summary.compare(frame, n_bootstrap=DRAWS)
    row = value(table, "auc", component="noisy")
    assert row["baseline"] == "test"
    assert row["difference"] < 0 and row["high"] < 0 and row["p"] < 0.05
    assert (row["n_real"] + row["n_fake"], row["n_left_out"]) == (390, 10)
    single = value(summary.summarise(item, n_bootstrap=DRAWS), "auc")
    assert row["high"] - row["low"] < 2 * (single["high"] - single["low"])
    same = summary.compare(pd.concat([item, item.assign(component="twin")]), n_bootstrap=50)
    assert (value(same, "auc")["difference"], value(same, "auc")["p"]) == (0, 1)


def test_wide_tables_read_like_a_papers() -> None:
    frame = pd.concat([scores(), scores(degradation="mp3", strength=32.0)])
    table = tables.wide(summary.summarise(frame, n_bootstrap=50), ["auc", "eer"], digits=2)
    counts = ["n_real", "n_fake", "n_unscored", "n_failed"]
    assert list(table.columns) == ["degradation", "strength", "auc", "eer", *counts], "what never differs is left out"
    assert table["degradation"].tolist() == ["none", "mp3"]
    assert table["auc"].str.fullmatch(r"0\.\d\d \[0\.\d\d, 0\.\d\d\]").all()
    alone = tables.wide(summary.summarise(scores().query("label == 'real'"), n_bootstrap=0), ["auc", "brier"])
    assert alone["auc"].tolist() == ["–"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"label": "bogus"}, "real or fake"),
        ({"label": None}, "real or fake"),
        ({"score": 1.5}, r"\[0, 1\]"),
        ({"score": "high"}, r"\[0, 1\]"),
    ],
)
def test_frames_that_are_none_are_refused(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        summary.summarise(scores(4, **change))


def test_the_share_that_intervals_hold_is_chosen_as_confidence() -> None:
    actual = [value(summary.summarise(scores(), n_bootstrap=DRAWS, confidence=c), "auc") for c in (0.5, 0.9, 0.99)]
    widths = [row["high"] - row["low"] for row in actual]
    assert widths == sorted(widths) and widths[0] < widths[-1]
    for table in (summary.by, summary.subgroups):
        assert len(table(scores(), n_bootstrap=20, confidence=0.9))
    for wrong in (95, 0, 1.0):
        with pytest.raises(UsageError, match=r"between 0 and 1, such as 0\.95"):
            summary.summarise(scores(), n_bootstrap=0, confidence=wrong)


def test_missing_columns_are_named() -> None:
    with pytest.raises(UsageError, match="no column score"):
        summary.summarise(scores(4).drop(columns="score"))
    with pytest.raises(UsageError, match="no column colour"):
        summary.by(scores(4), "colour")
    with pytest.raises(UsageError, match="there are: test"):
        summary.compare(scores(4), baseline="absent")
