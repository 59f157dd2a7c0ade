"""Positions of marks: in range, in order, with nothing lost that matters."""

import math

import pytest

from forensix.report.charts import MAX_POINTS, MAX_SPANS, curve_view, ink_on, ticks_between, timeline_view
from forensix.report.strips import bound_view
from forensix.tasks.evidence import Bound, Curve, Span, Timeline
from forensix.tasks.pictures import score_colour


def test_spans_lie_where_their_times_are() -> None:
    view = timeline_view(Timeline("t", 20.0, (Span("a", 5, 10, "", 0.9), Span("b", 0, 20), Span("a", 15, 20, "", 0.1))))
    assert [name for name, _ in view.lanes] == ["a", "b"]
    first, second = view.lanes[0][1]
    assert (first.x, first.width, second.x, second.width) == (25, 25, 75, 25)
    assert first.text == "0.90" and first.fill != second.fill and view.has_scores


def test_spans_without_end_or_beyond_the_limit_are_counted_as_left_out() -> None:
    spans = (Span("a", 0, math.inf), *(Span("a", i, i + 1) for i in range(MAX_SPANS + 7)))
    view = timeline_view(Timeline("t", 0.0, spans))
    assert view.n_left_out == 8 and len(view.rows) == MAX_SPANS
    assert all(bar.x >= 0 and bar.x + bar.width <= 100.5 for bar in view.lanes[0][1])


def test_a_label_that_repeats_the_score_is_said_once() -> None:
    view = timeline_view(Timeline("t", 10.0, (Span("a", 0, 10, "0.90", 0.9), Span("a", 0, 10, "left", 0.9))))
    assert [bar.text for bar in view.lanes[0][1]] == ["0.90", "left 0.90"]
    assert [row[2:] for row in view.rows] == [("0.90", ""), ("0.90", "left")]


def test_a_table_of_spans_has_no_empty_column() -> None:
    bare, named = Span("a", 0, 10), Span("a", 0, 10, "left")
    assert timeline_view(Timeline("t", 10.0, (bare,))).columns == ("what", "time")
    assert timeline_view(Timeline("t", 10.0, (bare, named))).rows == (
        ("a", "0 s to 10 s", ""),
        ("a", "0 s to 10 s", "left"),
    )


def test_empty_timeline() -> None:
    assert timeline_view(Timeline("t", 0.0, ())).lanes == ()


def test_colours_run_from_blue_over_grey_to_orange() -> None:
    low, middle, high = score_colour(0.0), score_colour(0.5), score_colour(1.0)
    assert low[2] > low[0] and high[0] > high[2] and len(set(middle)) == 1
    assert score_colour(None) != middle


def _contrast(colour: tuple[int, int, int], ink: str) -> float:
    linear = [v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in colour]
    light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05
    return light / 0.05 if ink == "#000" else 1.05 / light


@pytest.mark.parametrize("score", [i / 20 for i in range(21)])
def test_text_on_every_colour_is_readable(score: float) -> None:
    colour = score_colour(score)
    assert _contrast(colour, ink_on(colour)) >= 4.5


def test_curve_breaks_where_a_value_is_missing() -> None:
    view = curve_view(Curve("c", (0, 1, 2, 3, 4), (0, 1, math.nan, 0.5, 0.25), "x", "y", 0.5))
    assert view is not None
    assert view.pieces == ("0,1000 250,0", "750,500 1000,750")
    assert view.threshold_at == 50 and len(view.dots) == 4


def test_long_curve_keeps_its_peak() -> None:
    n = 20_000
    view = curve_view(Curve("c", tuple(range(n)), tuple(1.0 if i == 777 else 0.0 for i in range(n)), "x", "y"))
    assert view is not None
    points = [tuple(map(float, p.split(","))) for p in view.pieces[0].split()]
    assert len(points) <= MAX_POINTS + 2 and min(y for _, y in points) == 0


@pytest.mark.parametrize("y", [(5.0, 5.0), (0.0, 0.0), (-1e9, 1e9), (1e-12, 2e-12)])
def test_any_range_has_an_axis(y: tuple[float, float]) -> None:
    view = curve_view(Curve("c", (1.0, 1.0), y, "x", "y", 3.0))
    assert view is not None and view.y_ticks
    assert all(-0.01 <= t.at <= 100.01 for t in (*view.x_ticks, *view.y_ticks))


def test_a_curve_over_time_has_the_axis_of_the_time_lines_beside_it() -> None:
    view = curve_view(Curve("c", (0.5, 75.0, 140.0), (0.2, 0.8126, 0.4), "time (s)", "score", 0.7634))
    assert view is not None
    lane = timeline_view(Timeline("t", 140.0, (Span("a", 0, 9),)))
    times = ["30 s", "1:00", "1:30", "2:00"]
    assert [tick.label for tick in view.x_ticks] == [tick.label for tick in lane.ticks][1:] == times
    assert view.described == "3 points; highest 0.81, at 1:15" and view.threshold_label == "threshold 0.76"
    level = curve_view(Curve("c", (0.0, 2.0), (-60.0, -10.38), "time (s)", "level (dB, 0 is full scale)"))
    assert level is not None and level.described == "2 points; highest -10.38 dB, at 2 s"
    other = curve_view(Curve("c", (1.0, 2.0), (3.1234, 4.0), "size (px)", "energy"))
    assert other is not None and other.described == "2 points; highest 4, where size (px) is 2"
    single = curve_view(Curve("c", (1.0,), (0.5,), "time (s)", "score"))
    assert single is not None and single.described == "1 point; highest 0.50, at 1 s"


def test_curve_without_points_is_none() -> None:
    assert curve_view(Curve("c", (), (), "x", "y")) is None
    assert curve_view(Curve("c", (1.0,), (math.inf,), "x", "y")) is None


def test_ticks_are_round() -> None:
    assert ticks_between(0.03, 0.97) == (0.2, 0.4, 0.6, 0.8)
    assert ticks_between(-40, 120) == (0, 50, 100)
    assert ticks_between(3, 3) == (3,)
    assert ticks_between(-86, -6, 4) == (-80, -60, -40, -20), "a single tick is no scale"


def _bound(value: float | None, outlier: bool = False) -> Bound:
    return Bound("f0", "Hz", value, 80, 160, 60, 220, 120, 50, outlier)


def test_bounds_lie_inside_the_population() -> None:
    view = bound_view(_bound(120))
    assert 0 < view.population[0] < view.bounds[0] < view.mean_at < view.bounds[1] < view.population[1] < 100
    assert view.value_at == view.mean_at and view.status == "within bounds" and view.value == "120 Hz"


@pytest.mark.parametrize(
    ("value", "status", "beyond", "at"),
    [(1e6, "above the bounds", "right", 100), (-1e6, "below the bounds", "left", 0)],
)
def test_a_value_far_out_is_shown_at_the_edge(value: float, status: str, beyond: str, at: float) -> None:
    view = bound_view(_bound(value, outlier=True))
    assert (view.status, view.beyond, view.value_at) == (status, beyond, at)


def test_a_value_that_was_not_measured_has_no_mark() -> None:
    view = bound_view(_bound(None))
    assert view.value_at is None and view.status == "not measured"
