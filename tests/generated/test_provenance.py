"""Marks and pixels: identity without a mark, monotone with one, and the arithmetic of the counts."""

import math

import pytest

from forensix.generated.provenance import MarkCounts, combine, mark_counts

COUNTS = MarkCounts(generated=99, generated_marked=49, other=199, other_marked=0, data="made up here", command="none")


def test_ratio_is_jeffreys():
    assert COUNTS.likelihood_ratio() == pytest.approx((49.5 / 100) / (0.5 / 200))


@pytest.mark.parametrize("score", [0.0, 0.013, 0.5, 0.99, 1.0])
def test_no_mark_changes_nothing(score):
    assert combine(score, marked=False) == score


def test_a_mark_multiplies_the_odds():
    odds = 0.2 / 0.8 * COUNTS.likelihood_ratio()
    assert combine(0.2, marked=True, counts=COUNTS) == pytest.approx(odds / (1 + odds))


def test_a_mark_keeps_the_order_of_scores_and_stays_a_probability():
    scores = [0.0, 0.001, 0.1, 0.5, 0.9, 1.0]
    marked = [combine(s, marked=True) for s in scores]
    assert marked == sorted(marked)
    assert all(0 <= m <= 1 and m >= s - 1e-9 for s, m in zip(scores, marked, strict=True))


def test_what_ships_was_counted_and_speaks_for_generated():
    counts = mark_counts()
    assert counts.generated > 10 and counts.other > 100
    assert math.log(counts.likelihood_ratio()) > 1
    assert "benchmarks/" in counts.command


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_scores_outside_are_refused(score):
    with pytest.raises(ValueError, match="score must be"):
        combine(score, marked=True)
