"""Displays: the arrays are those of scikit-learn, nothing overlaps, and no setting of matplotlib is touched."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from forensix.errors import UsageError
from forensix.evaluation import displays, summary
from forensix.evaluation.displays import (
    CalibrationDisplay,
    ConfusionDisplay,
    DetDisplay,
    PrecisionRecallDisplay,
    RobustnessDisplay,
    RocDisplay,
    ScoreDisplay,
)
from forensix.metrics import auc, bootstrap_interval, ece, eer
from tests.evaluation.scored import GENERATORS, degraded, scores

pytestmark = pytest.mark.usefixtures("no_window")


def test_bands_hold_the_curve_and_their_ends_are_those_of_the_drawn_rates() -> None:
    frame = scores(n=400)
    roc = RocDisplay.from_frame(frame, n_bootstrap=200).curves[0]
    inside = np.interp(roc.band.fpr, roc.x, roc.y)
    assert (roc.band.low <= inside + 0.02).all() and (roc.band.high >= inside - 0.02).all()
    narrow = RocDisplay.from_frame(scores(n=4000), n_bootstrap=200).curves[0].band
    assert np.mean(narrow.high - narrow.low) < np.mean(roc.band.high - roc.band.low) / 2
    y, s, group = (frame["label"] == "fake").to_numpy(), frame["score"].to_numpy(), frame["group_id"].to_numpy()

    def tpr(labels: np.ndarray, drawn: np.ndarray) -> float:
        return float(np.interp(0.1, *sk.roc_curve(labels, drawn, drop_intermediate=False)[:2]))

    at = int(np.flatnonzero(np.isclose(roc.band.fpr, 0.1))[0])
    expected = bootstrap_interval(tpr, y, s, groups=group, n=200)
    assert (roc.band.low[at], roc.band.high[at]) == pytest.approx(expected, abs=0.03)


def test_bands_are_drawn_for_few_curves_and_where_groups_can_be_drawn() -> None:
    def bands(display: RocDisplay) -> int:
        return len(display.plot().ax_.collections)

    two = pd.concat([scores(), scores("theirs", 1)])
    assert bands(RocDisplay.from_frame(two, n_bootstrap=20)) == bands(DetDisplay.from_frame(two, n_bootstrap=20)) == 2
    assert bands(RocDisplay.from_frame(two, n_bootstrap=0)) == 0
    assert bands(RocDisplay.from_frame(scores(), "generator", n_bootstrap=20)) == 0, "seven would hide each other"
    assert bands(RocDisplay.from_frame(scores(group_id=7), n_bootstrap=20)) == 0, "all one group"


def test_axes_carry_the_names_of_the_rates() -> None:
    roc, det = (
        RocDisplay.from_frame(scores(), n_bootstrap=0).plot(),
        DetDisplay.from_frame(scores(), n_bootstrap=0).plot(),
    )
    assert roc.ax_.get_xlabel().startswith("FPR") and roc.ax_.get_ylabel().startswith("TPR")
    assert det.ax_.get_xlabel().startswith("FPR") and det.ax_.get_ylabel().startswith("FNR")


def test_roc_and_precision_are_scikit_learns_curves() -> None:
    frame = scores()
    y, s = (frame["label"] == "fake").to_numpy(), frame["score"].to_numpy()
    roc = RocDisplay.from_predictions(y, s).curves[0]
    fpr, tpr, thresholds = sk.roc_curve(y, s, drop_intermediate=False)
    np.testing.assert_allclose(roc.x, fpr)
    np.testing.assert_allclose(roc.y, tpr)
    np.testing.assert_allclose(roc.thresholds, thresholds)
    assert roc.value == pytest.approx(auc(y, s))
    precision, recall, _ = sk.precision_recall_curve(y, s)
    curve = PrecisionRecallDisplay.from_predictions(y, s).curves[0]
    np.testing.assert_allclose(curve.x, recall[::-1])
    np.testing.assert_allclose(curve.y, precision[::-1])
    det = DetDisplay.from_predictions(y, s).curves[0]
    np.testing.assert_allclose(det.y, 1 - tpr)
    assert det.value == eer(y, s)


def test_calibration_is_scikit_learns_and_can_weigh_the_classes_alike() -> None:
    frame = scores(n=2000)
    y, s = (frame["label"] == "fake").to_numpy(), frame["score"].to_numpy()
    assert CalibrationDisplay.from_predictions(y, s).curves[0].ece == pytest.approx(ece(y, s)), "the tables' own"
    display = CalibrationDisplay.from_predictions(y, s, n_bins=10).curves[0]
    share, mean = calibration_curve(y, s, n_bins=10)
    np.testing.assert_allclose(display.share_fake, share)
    np.testing.assert_allclose(display.mean_score, mean)
    assert (display.low < display.share_fake + 1e-9).all() and (display.high > display.share_fake - 1e-9).all()
    assert display.n.sum() == 2000
    # A logit of (2 x) for unit normals two apart is right under equal priors, whatever the mix.
    rng = np.random.default_rng(3)
    labels = rng.random(20_000) < 0.1
    calibrated = 1 / (1 + np.exp(-2 * (rng.normal(size=labels.size) + 2 * (labels - 0.5))))
    even = CalibrationDisplay.from_predictions(labels, calibrated, equal_priors=True).curves[0]
    plain = CalibrationDisplay.from_predictions(labels, calibrated).curves[0]
    assert even.ece < 0.03 < plain.ece


def test_calibration_of_few_files_has_few_bins_and_the_error_of_the_tables() -> None:
    frame = scores(n=40)
    y, s = (frame["label"] == "fake").to_numpy(), frame["score"].to_numpy()
    few = CalibrationDisplay.from_predictions(y, s).curves[0]
    assert len(few.n) <= 4 and few.n.sum() == 40 and few.ece == pytest.approx(ece(y, s))
    assert len(CalibrationDisplay.from_predictions(y, s, n_bins=15).curves[0].n) > 4


def test_a_curve_is_of_the_same_reals_as_its_row_in_the_table() -> None:
    rng = np.random.default_rng(0)
    kinds = (("en", "real", 0.5), ("de", "real", 0.0), ("en", "fake", 0.4), ("fr", "fake", 0.4))
    rows = [
        {"path": f"{language}{label}{i}", "label": label, "language": language, "score": low + 0.3 * rng.random()}
        for language, label, low in kinds
        for i in range(30)
    ]
    for lacking, n_real in (("fr", 60), ("", 30)):
        frame = pd.DataFrame([row for row in rows if lacking or row["language"] != "fr"])
        table = summary.by(frame, "language", n_bootstrap=0).query("metric == 'auc'").set_index("language")
        curves = [curve for curve in RocDisplay.from_frame(frame, "language", n_bootstrap=0).curves if curve.n_fake]
        assert {curve.n_real for curve in curves} == {n_real}
        for curve in curves:
            assert curve.value == pytest.approx(table.value[curve.name], abs=1e-4)


def test_generators_share_the_reals_and_components_do_not() -> None:
    frame = pd.concat([scores(), scores("theirs", 1, n=200)])
    by_component = RocDisplay.from_frame(frame).curves
    assert [(c.name, c.n_real + c.n_fake) for c in by_component] == [("ours", 300), ("theirs", 200)]
    curves = RocDisplay.from_frame(scores(), "generator").curves
    assert {c.name for c in curves} == set(GENERATORS)
    assert {c.n_real for c in curves} == {int((scores()["label"] == "real").sum())}


def test_what_scored_no_real_has_no_curve_and_is_not_drawn_over_the_reals_of_others() -> None:
    theirs = scores("theirs", 1)
    theirs.loc[theirs["label"] == "real", "score"] = np.nan
    frame = pd.concat([scores(), theirs])
    n_real = int((scores()["label"] == "real").sum())
    for column, part in (("component", frame), ("run", frame.assign(run=frame["component"]))):
        assert [(c.name, c.n_real) for c in RocDisplay.from_frame(part, column).curves] == [("ours", n_real)]
    copies = pd.concat([scores(), theirs.assign(component="ours", degradation="mp3", strength=16.0)])
    assert [(c.name, c.n_real) for c in DetDisplay.from_frame(copies, "degradation").curves] == [("none", n_real)]


@pytest.mark.parametrize("display", [CalibrationDisplay, ScoreDisplay])
def test_scores_that_are_no_probabilities_are_not_left_out_in_silence(display: Any) -> None:
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]: got -2 to 3"):
        display.from_predictions([0, 1], [-2.0, 3.0])


@pytest.mark.parametrize("display", [RocDisplay, DetDisplay, PrecisionRecallDisplay, CalibrationDisplay, ScoreDisplay])
def test_scores_of_several_components_are_never_pooled(display: Any) -> None:
    frame = pd.concat([scores(), scores("theirs", 1, n=200)])
    with pytest.raises(UsageError, match="several components: choose one of ours, theirs"):
        display.from_frame(frame, "generator")
    display.from_frame(frame.assign(run="run " + frame["component"]), "run")
    display.from_frame(frame[frame["component"] == "ours"], "generator")


def test_degraded_files_stay_out_unless_they_are_compared() -> None:
    assert RocDisplay.from_frame(degraded()).curves[0].n_real == RocDisplay.from_frame(scores()).curves[0].n_real
    assert [c.name for c in RocDisplay.from_frame(degraded(), "degradation").curves] == [
        "none",
        "mp3 64",
        "mp3 32",
        "mp3 16",
        "noise 2",
        "noise 8",
        "telephone",
    ]


@pytest.mark.parametrize("display", [RocDisplay, DetDisplay, PrecisionRecallDisplay])
def test_each_strength_of_a_degradation_has_its_curve(display: Any) -> None:
    curves = {c.name: c for c in display.from_frame(degraded(), "degradation").curves}
    alone = degraded().query("degradation == 'mp3' and strength == 16")
    assert curves["mp3 16"].value == display.from_frame(alone).curves[0].value
    rows = ScoreDisplay.from_frame(degraded(), "degradation").histograms
    (row,) = (row for row in rows if (row.name, row.label) == ("mp3 16", "real"))
    assert row.n == (alone["label"] == "real").sum()
    assert {row.name for row in rows} == set(curves)


def test_an_axes_that_is_given_is_drawn_in_and_arrays_are_reused() -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2)
    display = RocDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.3], name="toy")
    display.plot(left)
    assert display.plot(right).ax_ is right and display.figure_ is figure
    assert left.lines and right.lines and "AUC 0.750" in repr(display)


def test_an_axes_that_is_given_looks_like_one_that_is_made() -> None:
    import matplotlib.pyplot as plt

    display = RocDisplay.from_frame(scores()).plot(plt.subplots()[1]).ax_
    built = RocDisplay.from_frame(scores()).plot().ax_
    for ax in (display, built):
        assert not ax.spines["top"].get_visible() and not ax.spines["right"].get_visible()
        assert all(line.get_visible() and line.get_color() == "#e6e6e6" for line in ax.get_xgridlines())
    assert display.xaxis.label.get_size() == built.xaxis.label.get_size()
    assert display.get_xticklabels()[0].get_size() == built.get_xticklabels()[0].get_size()


@pytest.mark.filterwarnings("error")
def test_robustness_of_what_cannot_be_measured_has_empty_cells() -> None:
    frame = degraded().query("label == 'fake'")
    display = RobustnessDisplay.from_frame(frame, metric="min_dcf").plot()
    assert np.isnan(display.values).all() and not display.ax_.texts
    display.figure_.canvas.draw()


@pytest.mark.parametrize("metric", ["auc", "eer"])
def test_robustness_that_is_worse_than_chance_has_a_colour_of_its_own(metric: str) -> None:
    values = np.array([[0.9, 0.5, 0.1], [0.9, 0.6, np.nan]])
    values = values if metric == "auc" else 1 - values
    display = RobustnessDisplay(("noise", "blur"), values, (("none", "2", "8"), ("none", "2")), metric).plot()
    (image,) = display.ax_.images
    colours = {tuple(image.to_rgba(np.array([[value]]))[0, 0]) for value in values[np.isfinite(values)]}
    assert len(colours) == 4
    assert image.get_clim() == pytest.approx((0.1, 1.0) if metric == "auc" else (0.0, 0.9))


def test_robustness_rows_go_from_mild_to_severe() -> None:
    display = RobustnessDisplay.from_frame(degraded())
    assert display.rows == ("mp3", "noise", "telephone")
    assert display.strengths == (("none", "64", "32", "16"), ("none", "2", "8"), ("none", ""))
    assert np.isnan(display.values[2, 2:]).all() and np.isfinite(display.values[2, :2]).all()
    assert len(set(display.values[:, 0])) == 1
    two = pd.concat([degraded(), degraded().assign(component="theirs")])
    assert RobustnessDisplay.from_frame(two).rows[3] == "theirs: mp3"
    with pytest.raises(UsageError, match="no degraded"):
        RobustnessDisplay.from_frame(scores())
    with pytest.raises(UsageError, match="no metric"):
        RobustnessDisplay.from_frame(degraded(), metric="beauty")


def test_confusion_counts_what_has_no_score() -> None:
    display = ConfusionDisplay.from_predictions([0, 0, 0, 1, 1], [0.1, 0.7, np.nan, 0.5, 0.2])
    assert display.counts.tolist() == [[1, 1, 0, 1], [1, 1, 0, 0]]


def test_a_verdict_that_tells_neither_class_has_a_column_of_its_own() -> None:
    frame = pd.DataFrame(
        {
            "label": ["real", "real", "fake", "fake", "fake"],
            "score": [0.1, 0.5, 0.5, 0.9, np.nan],
            "class_name": ["real", "real", "real", "fake", None],
            "inconclusive": [False, True, True, False, True],
        }
    )
    display = ConfusionDisplay.from_frame(frame, threshold=0.8, verdicts=True).plot()
    assert display.counts.tolist() == [[1, 0, 1, 0], [0, 1, 1, 1]]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["real", "fake", "inconclusive", "no score"]
    assert ConfusionDisplay.from_frame(frame, threshold=0.8).counts[:, 2].sum() == 0, "a threshold decides all"


def test_histograms_say_what_is_called_right() -> None:
    display = ScoreDisplay.from_frame(scores(), threshold=0.4)
    assert [h.label for h in display.histograms[:2]] == ["real", "real"]
    for histogram in display.histograms:
        part = scores().query("source == @histogram.name")
        right = ((part["score"] >= 0.4) == (part["label"] == "fake")).mean()
        assert (histogram.n, histogram.right) == (len(part), pytest.approx(right))
        assert histogram.share.sum() == pytest.approx(1)
    with pytest.raises(UsageError, match="several components"):
        ScoreDisplay.from_frame(pd.concat([scores(), scores("theirs")]))


def test_every_display_is_listed() -> None:
    assert set(displays.__all__) == {name for name in dir(displays) if name.endswith("Display") or name == "Curve"}
