"""Metrics against scikit-learn, against plain loops over the published definitions, and by hand."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from forensix import metrics
from forensix.calibration import logit, sigmoid
from forensix.metrics import auc, bootstrap_interval, eer
from forensix.metrics.intervals import DIRECTION, Sample, measure

PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=60)


def both(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of both classes and scores with ties in [0, 1]."""
    labels, levels = zip(*[(0, 3), (1, 2), *pairs], strict=True)
    return np.array(labels), np.array(levels) / 6


@settings(deadline=None)
@given(PAIRS)
def test_scikit_learn_says_the_same_ties_included(pairs: list[tuple[int, int]]) -> None:
    y, s = both(pairs)
    assert auc(y, s) == pytest.approx(sk.roc_auc_score(y, s))
    assert metrics.average_precision(y, s) == pytest.approx(sk.average_precision_score(y, s))
    assert metrics.brier(y, s) == pytest.approx(sk.brier_score_loss(y, s))
    assert metrics.accuracy(y, s) == pytest.approx(sk.accuracy_score(y, s >= 0.5))
    assert metrics.balanced_accuracy(y, s, 0.3) == pytest.approx(sk.balanced_accuracy_score(y, s >= 0.3))
    fpr, tpr, _ = sk.roc_curve(y, s, drop_intermediate=False)
    for bound in (0, 0.01, 0.2, 1):
        assert metrics.tpr_at_fpr(y, s, bound) == pytest.approx(tpr[fpr <= bound].max())


def walked(y: np.ndarray, s: np.ndarray) -> list[tuple[float, float]]:
    """Return (reals called fake, fakes passed) while files are called fake one by one, reals first among equals."""
    order = sorted(range(y.size), key=lambda i: (-s[i], y[i]))
    n_real, n_fake = (y == 0).sum(), (y == 1).sum()
    points, alarmed, caught = [(0.0, 1.0)], 0, 0
    for i in order:
        alarmed, caught = alarmed + (y[i] == 0), caught + (y[i] == 1)
        points.append((alarmed / n_real, (n_fake - caught) / n_fake))
    return points


@settings(deadline=None)
@given(PAIRS)
def test_eer_and_costs_follow_asvspoofs_definitions_on_ties(pairs: list[tuple[int, int]]) -> None:
    y, s = both(pairs)
    points = walked(y, s)
    first = min(points, key=lambda point: abs(point[0] - point[1]))
    assert eer(y, s) == sum(first) / 2
    dcf = [(1 * 0.95 * miss + 10 * 0.05 * passed) / min(0.95, 0.5) for miss, passed in points]
    assert metrics.min_dcf(y, s) == pytest.approx(min(dcf))
    llr = -logit(s)
    missed, let = np.mean(llr[y == 0] < -math.log(1.9)), np.mean(llr[y == 1] >= -math.log(1.9))
    assert metrics.act_dcf(y, s) == pytest.approx((0.95 * missed + 0.5 * let) / 0.5)
    bits = [math.log2(1 + math.exp(x if fake else -x)) for x, fake in zip(llr, y, strict=True)]
    by_class = [np.mean([b for b, fake in zip(bits, y, strict=True) if fake == c]) for c in (0, 1)]
    assert metrics.cllr(y, s) == pytest.approx(sum(by_class) / 2)
    assert metrics.min_dcf(y, s) <= metrics.act_dcf(y, s) + 1e-12


@settings(deadline=None)
@given(PAIRS)
def test_ece_is_the_definition_over_right_closed_bins(pairs: list[tuple[int, int]]) -> None:
    y, s = both(pairs)
    total = 0.0
    for low, high in zip(np.arange(15) / 15, np.arange(1, 16) / 15, strict=True):
        inside = (s <= high + 1e-12) & ((s > low + 1e-12) if low else (s >= 0))
        if inside.any():
            total += inside.sum() * abs(y[inside].mean() - s[inside].mean())
    assert metrics.ece(y, s) == pytest.approx(total / y.size)


@settings(deadline=None)
@given(PAIRS)
def test_no_threshold_beats_the_oracles(pairs: list[tuple[int, int]]) -> None:
    y, s = both(pairs)
    for balanced, metric in ((False, metrics.accuracy), (True, metrics.balanced_accuracy)):
        at_oracle = metric(y, s, metrics.oracle_threshold(y, s, balanced=balanced))
        assert at_oracle == pytest.approx(max(metric(y, s, t) for t in [*np.unique(s), math.inf]))


@pytest.mark.parametrize(
    ("labels", "scores", "expected"),
    [
        ([0, 0, 1, 1], [0, 1, 2, 3], 0),
        ([1, 1, 0, 0], [0, 1, 2, 3], 1),
        ([0, 1, 0, 1], [0, 1, 2, 3], 0.5),
        ([0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 2, 1, 3, 3, 3], 0.25),
    ],
)
def test_eer_by_hand(labels: list[int], scores: list[float], expected: float) -> None:
    assert eer(labels, scores) == pytest.approx(expected)


def test_a_constant_detector_is_charged_for_its_ties() -> None:
    assert eer([0, 0, 1, 1], [1, 1, 1, 1]) == 1


@pytest.mark.parametrize(
    ("labels", "scores", "sentence"),
    [
        ([0, 0], [1, 2], "both"),
        ([0, 2], [1, 2], "0 \\(real\\) or 1 \\(fake\\)"),
        ([0, 1], [1, float("nan")], "finite"),
        ([0, 1, 1], [1, 2], "equally long"),
        ([], [], "labels"),
    ],
)
def test_bad_input_is_refused(labels: list[int], scores: list[float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        auc(labels, scores)


@pytest.mark.parametrize("metric", [metrics.brier, metrics.ece, metrics.cllr, metrics.act_dcf])
def test_what_needs_probabilities_says_so(metric: Callable[..., float]) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        metric([0, 1], [-3.0, 5.0])


PLAIN: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "auc": auc,
    "average_precision": metrics.average_precision,
    "eer": eer,
    "accuracy_0.5": metrics.accuracy,
    "accuracy_threshold": lambda y, s: metrics.accuracy(y, s, 0.3),
    "accuracy_oracle": lambda y, s: metrics.accuracy(y, s, metrics.oracle_threshold(y, s)),
    "balanced_accuracy_0.5": metrics.balanced_accuracy,
    "balanced_accuracy_threshold": lambda y, s: metrics.balanced_accuracy(y, s, 0.3),
    "balanced_accuracy_oracle": lambda y, s: metrics.balanced_accuracy(
        y, s, metrics.oracle_threshold(y, s, balanced=True)
    ),
    "tpr_at_fpr_0.01": lambda y, s: metrics.tpr_at_fpr(y, s, 0.01),
    "tpr_at_fpr_0.001": lambda y, s: metrics.tpr_at_fpr(y, s, 0.001),
    "brier": metrics.brier,
    "ece": metrics.ece,
    "cllr": metrics.cllr,
    "min_dcf": metrics.min_dcf,
    "act_dcf": metrics.act_dcf,
}


@pytest.mark.parametrize("levels", [5, None])
@pytest.mark.parametrize("name", DIRECTION)
def test_the_fast_path_is_the_plain_metric_on_repeated_files(name: str, levels: int | None) -> None:
    rng = np.random.default_rng(4)
    y = np.r_[0, 1, (rng.random(60) < 0.6).astype(int)]
    s = rng.random(62) if levels is None else rng.integers(0, levels + 1, 62) / levels
    g = rng.integers(0, 12, 62).astype(str)
    reals, fakes = (Sample.of(s[y == label], g[y == label], threshold=0.3) for label in (0, 1))
    measured = measure(reals, [fakes], n=60, seed=2)[0]
    assert measured.values[name] == pytest.approx(PLAIN[name](y, s))
    slow = bootstrap_interval(PLAIN[name], y, s, groups=g, n=60, seed=2)
    assert measured.interval(name) == pytest.approx(slow)


def test_many_sets_share_the_reals_and_equal_groups_are_drawn_alike() -> None:
    rng = np.random.default_rng(5)
    reals = Sample.of(rng.random(40))
    scores, groups = rng.random(30), np.repeat(np.arange(10), 3)
    first = Sample.of(scores, groups)
    other = Sample.of(rng.random(20), np.arange(20) + 100)
    same, again, apart = measure(reals, [first, first, other], n=50)
    alone = measure(reals, [first], n=50)[0]
    assert np.array_equal(same.draws["auc"], again.draws["auc"])
    assert same.values == alone.values
    assert not np.array_equal(same.draws["auc"], apart.draws["auc"])


def test_a_lone_class_has_accuracy_and_no_auc() -> None:
    measured = measure(Sample.of([0.1, 0.6]), [Sample.of([])], n=20)[0]
    assert measured.values["accuracy_0.5"] == 0.5
    assert math.isnan(measured.values["auc"]) and math.isnan(measured.interval("auc")[0])
    assert math.isnan(measured.values["balanced_accuracy_0.5"])


def test_bootstrap_resamples_groups_not_examples() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 50)
    scores = np.repeat(rng.normal(size=10), 10) + 0.5 * labels
    groups = np.repeat(np.arange(10), 10)
    lone = bootstrap_interval(auc, labels, scores, n=200)
    grouped = bootstrap_interval(auc, labels, scores, groups=groups, n=200)
    assert grouped[1] - grouped[0] > lone[1] - lone[0]
    assert lone[0] <= auc(labels, scores) <= lone[1]


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Clusters of ten files that share a shift: 95 % intervals by cluster, over many small worlds."""
    rng = np.random.default_rng(7)

    def world(n: int) -> tuple[Sample, Sample]:
        groups = np.repeat(np.arange(n), 10)
        drawn = [np.repeat(rng.normal(size=n), 10) + 0.5 * rng.normal(size=10 * n) + shift for shift in (0, 1)]
        return Sample.of(sigmoid(drawn[0]), groups), Sample.of(sigmoid(drawn[1]), groups)

    truth = 0.5 * (1 + math.erf(1 / math.sqrt(2 * 1.25) / math.sqrt(2)))
    held = 0
    for _ in range(100):
        real, fake = world(40)
        low, high = measure(real, [fake], n=200)[0].interval("auc")
        held += low <= truth <= high
    assert 86 <= held <= 100


def test_a_class_of_one_group_has_no_interval() -> None:
    labels, scores = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8, 0.9]
    item = ["a", "b", "c", "vits", "vits", "vits"]
    assert all(np.isnan(bootstrap_interval(auc, labels, scores, groups=item, n=20)))
    two = ["a", "b", "c", "vits", "vits", "bark"]
    low, high = bootstrap_interval(auc, labels, scores, groups=two, n=200)
    assert low < high


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hard for both", "high in both"])
def test_groups_that_hold_reals_and_fakes_are_drawn_as_one(kind: str) -> None:
    """Two reals and two fakes made of each of fifty videos: 95 % intervals over many small worlds."""
    rng = np.random.default_rng(3)

    def world(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        groups, y = np.repeat(np.arange(n), 4), np.tile([0, 0, 1, 1], n)
        of_group, sign = rng.normal(size=n)[groups], np.where(y == 1, 1, -1)
        moved = 0.7 * sign * (0.7 + of_group) if kind == "hard for both" else 0.6 * sign + of_group
        return y, sigmoid(moved + 0.7 * rng.normal(size=4 * n)), groups

    truth, held, widths, apart = auc(*world(20_000)[:2]), 0, [], []
    for seed in range(100):
        y, s, g = world(50)
        reals, fakes = Sample.of(s[y == 0], g[y == 0]), Sample.of(s[y == 1], g[y == 1])
        low, high = measure(reals, [fakes], n=300, seed=seed)[0].interval("auc")
        held += low <= truth <= high
        widths.append(high - low)
        low, high = measure(reals, [Sample.of(fakes.scores, g[y == 1] + 50)], n=300, seed=seed)[0].interval("auc")
        apart.append(high - low)
    assert 89 <= held <= 99
    assert (np.mean(widths) > np.mean(apart)) == (kind == "hard for both")


def test_a_file_that_fails_leaves_the_mean_over_generators_its_interval() -> None:
    rng = np.random.default_rng(1)
    groups = np.arange(30)
    shift = rng.normal(size=30)
    reals = Sample.of(rng.random(30) * 0.6, groups + 100)
    sets = [Sample.of(sigmoid(0.3 + shift + 0.1 * rng.normal(size=30)), groups) for _ in range(4)]
    fewer = [Sample.of(part.scores[k != groups], groups[k != groups]) for k, part in enumerate(sets)]
    widths = []
    for parts in (sets, fewer):
        mean = np.mean([measured.draws["auc"] for measured in measure(reals, parts, n=400)], axis=0)
        widths.append(np.subtract(*np.quantile(mean, [0.975, 0.025])))
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_a_draw_without_a_class_has_no_value_and_is_passed_over() -> None:
    labels, scores = [0, 0, 1, 1, 1, 1], [0.1, 0.6, 0.4, 0.8, 0.9, 0.3]
    groups = ["a", "b", "a", "b", "c", "d"]
    low, high = bootstrap_interval(auc, labels, scores, groups=groups, n=200)
    assert 0 <= low < high <= 1
    y, s, g = np.array(labels), np.array(scores), np.array(groups)
    measured = measure(Sample.of(s[y == 0], g[y == 0]), [Sample.of(s[y == 1], g[y == 1])], n=200)[0]
    assert 0 < np.isnan(measured.draws["auc"]).sum() < 40
    assert np.isnan(measured.draws["accuracy_0.5"]).sum() == np.isnan(measured.draws["auc"]).sum()
    assert measured.interval("auc") == pytest.approx((low, high))
