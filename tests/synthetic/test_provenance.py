"""Marks and pixels: identity without a mark, marks outweigh pixels, and the arithmetic of the counts."""

import math

import pytest

from forensix.synthetic.provenance import MarkCounts, combine, mark_counts


def counts(**values: int) -> MarkCounts:
    return MarkCounts(generated=99, generated_marked=49, other=199, **values, data="made up here", command="none")


COUNTS = {"provenance": counts(other_marked=9), "watermark": counts(other_marked=0)}


def test_ratio_is_jeffreys():
    assert COUNTS["watermark"].likelihood_ratio() == pytest.approx((49.5 / 100) / (0.5 / 200))


@pytest.mark.parametrize("score", [0.0, 0.013, 0.5, 0.99, 1.0])
def test_no_mark_changes_nothing(score):
    assert combine(score) == score


def test_a_mark_multiplies_the_odds_of_pixels_that_agree():
    odds = 0.8 / 0.2 * COUNTS["provenance"].likelihood_ratio()
    assert combine(0.8, "provenance", counts=COUNTS) == pytest.approx(odds / (1 + odds))


@pytest.mark.parametrize("score", [0.0, 0.001, 0.3])
def test_pixels_take_nothing_from_a_mark(score):
    assert combine(score, "provenance", counts=COUNTS) == combine(0.5, "provenance", counts=COUNTS)


def test_two_kinds_count_as_the_stronger():
    both = combine(0.6, "provenance", "watermark", counts=COUNTS)
    assert both == combine(0.6, "watermark", counts=COUNTS) > combine(0.6, "provenance", counts=COUNTS)


def test_a_mark_keeps_the_order_of_scores_and_stays_a_probability():
    scores = [0.0, 0.001, 0.1, 0.5, 0.9, 1.0]
    marked = [combine(s, "watermark") for s in scores]
    assert marked == sorted(marked)
    assert all(0 <= m <= 1 and m >= s - 1e-9 for s, m in zip(scores, marked, strict=True))


@pytest.mark.parametrize("kind", ["provenance", "watermark"])
def test_what_ships_was_counted_and_speaks_for_generated(kind):
    shipped = mark_counts()[kind]
    assert shipped.generated > 100 and shipped.other > 300
    assert math.log(shipped.likelihood_ratio()) > 3
    assert "benchmarks/" in shipped.command


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_scores_outside_are_refused(score):
    with pytest.raises(ValueError, match="score must be"):
        combine(score, "provenance")
