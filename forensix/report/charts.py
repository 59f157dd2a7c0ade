"""Timelines and curves: evidence to positions in per cent, which the templates draw as SVG.

Positions are per cent of the plot, so that a chart fills a phone and a page alike without its text being scaled.
Colours run from blue (score 0) over grey to orange (score 1), which people with any of the usual colour vision
deficiencies tell apart; every coloured mark carries its score as text as well.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forensix.report.words import number_text, plural, time_text
from forensix.tasks.evidence import Curve, Recording, Span, Timeline
from forensix.tasks.pictures import score_colour
from forensix.tasks.verdicts import score_text

MAX_SPANS = 1500
MAX_POINTS = 800
TIME = "time (s)"
"""The axis of a curve over time, which players of the same report move a line over."""
SCORE = "score"
"""The axis of a curve of scores, which are written as everywhere else."""
_UNIT = re.compile(r"\(([^,)]+)")
"""Finds the unit in the name of an axis: ``level (dB, 0 is full scale)``."""


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis, in per cent; ``anchor`` keeps end labels inside the plot."""

    at: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Bar:
    """A span as drawn: position and width in per cent, colours, a short text inside and a long one on hover."""

    x: float
    width: float
    fill: str
    ink: str
    text: str
    title: str


@dataclass(frozen=True)
class TimelineView:
    """Lanes of bars over one time axis; ``n_left_out`` spans were too many to draw."""

    lanes: tuple[tuple[str, tuple[Bar, ...]], ...]
    ticks: tuple[Tick, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    has_scores: bool
    n_left_out: int
    duration_s: float


@dataclass(frozen=True)
class CurveView:
    """Line pieces in a box of 1000 by 1000 (y down), dots in per cent, axes and the threshold."""

    pieces: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    threshold_at: float | None
    threshold_label: str
    described: str
    seconds: tuple[float, float] | None = None
    """From when to when, where x is time."""


def ink_on(colour: tuple[int, int, int]) -> str:
    """Return black or white, whichever contrasts more with ``colour`` (WCAG relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#fff"


def ticks_between(low: float, high: float, n: int = 5) -> tuple[float, ...]:
    """Return up to about ``n`` round values in ``[low, high]``, and no fewer than two, which a scale takes.

    Examples
    --------
    >>> ticks_between(0, 1)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    if not high > low:
        return (low,)
    raw = (high - low) / n
    power = 10.0 ** math.floor(math.log10(raw))
    steps = [m * power for m in (0.5, 1, 2, 5, 10)]
    at = next(i for i, step in enumerate(steps) if step >= raw * 0.999)
    ticks = _multiples(steps[at], low, high)
    return ticks if len(ticks) > 1 else _multiples(steps[at - 1], low, high)


def _multiples(step: float, low: float, high: float) -> tuple[float, ...]:
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(i * step, 12) for i in range(first, last + 1))


def _seconds_between(low: float, high: float) -> tuple[float, ...]:
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600)
    step = next((s for s in steps if (high - low) / s <= 6), (high - low) / 6)
    return tuple(i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1))


def _tick(at: float, label: str) -> Tick:
    return Tick(at, label, "start" if at < 4 else "end" if at > 96 else "middle")


def percent(value: float, low: float, high: float) -> float:
    """Return where ``value`` lies between ``low`` (0) and ``high`` (100)."""
    return round(100 * (value - low) / (high - low), 3)


def _label(span: Span) -> str:
    """Return the label of a span, unless it only repeats the score."""
    return "" if span.score is not None and span.label == score_text(span.score) else span.label


def _when(span: Span) -> str:
    start, end = time_text(span.start_s), time_text(span.end_s)
    return start if start == end else f"{start} to {end}"


def _bar(span: Span, end_s: float) -> Bar:
    colour = score_colour(span.score)
    x = percent(min(max(span.start_s, 0.0), end_s), 0, end_s)
    width = max(percent(min(max(span.end_s, 0.0), end_s), 0, end_s) - x, 0.4)
    score = "" if span.score is None else score_text(span.score)
    label = _label(span)
    short = score or label
    text = f"{label} {score}" if label and width > 16 else short if width > max(5.0, 1.3 * len(short)) else ""
    parts = [_when(span), label, f"score {score}" if score else ""]
    return Bar(
        min(x, 99.6),
        width,
        "#{:02x}{:02x}{:02x}".format(*colour),
        ink_on(colour),
        text.strip(),
        ", ".join(p for p in parts if p),
    )


def timeline_view(timeline: Timeline) -> TimelineView:
    """Place the spans of a timeline; spans without finite ends are not drawn."""
    spans = [s for s in timeline.spans if math.isfinite(s.start_s) and math.isfinite(s.end_s)]
    visible = spans[:MAX_SPANS]
    end_s = max([timeline.duration_s, *(s.end_s for s in visible)]) or 1.0
    lanes: dict[str, list[Bar]] = {}
    for span in visible:
        lanes.setdefault(span.lane, []).append(_bar(span, end_s))
    has_scores = any(s.score is not None for s in visible)
    columns = [("what", [s.lane for s in visible]), ("time", [_when(s) for s in visible])]
    if has_scores:
        columns.append(("score", ["" if s.score is None else score_text(s.score) for s in visible]))
    if any(labels := [_label(s) for s in visible]):
        columns.append(("label", labels))
    ticks = tuple(_tick(percent(s, 0, end_s), time_text(s)) for s in _seconds_between(0, end_s))
    return TimelineView(
        tuple((lane, tuple(bars)) for lane, bars in lanes.items()),
        ticks,
        tuple(name for name, _ in columns),
        tuple(zip(*(cells for _, cells in columns), strict=True)),
        has_scores,
        len(timeline.spans) - len(visible),
        end_s,
    )


def _thin(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the lowest and the highest point of each bucket, so that no peak is lost."""
    if len(points) <= MAX_POINTS:
        return list(points)
    size = math.ceil(len(points) / (MAX_POINTS // 2))
    extremes: list[tuple[float, float]] = []
    for i in range(0, len(points), size):
        bucket = points[i : i + size]
        ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
        extremes += sorted(ends)
    return extremes


def _runs(curve: Curve) -> list[list[tuple[float, float]]]:
    """Split a curve where a value is missing."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(curve.x, curve.y, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _range(values: Iterable[float]) -> tuple[float, float]:
    numbers = list(values)
    low, high = min(numbers), max(numbers)
    if low == high:
        pad = abs(low) * 0.1 or 0.5
        return low - pad, high + pad
    return low, high


def curve_view(curve: Curve) -> CurveView | None:
    """Place the points of a curve, or return ``None`` when it has none; values within [0, 1] get the whole of it."""
    runs = _runs(curve)
    if not runs:
        return None
    points = [p for run in runs for p in run]
    marks = [y for _, y in points] + ([] if curve.threshold is None else [curve.threshold])
    x_low, x_high = _range(x for x, _ in points)
    y_low, y_high = (0.0, 1.0) if min(marks) >= 0 and max(marks) <= 1 else _range(marks)
    if (y_low, y_high) != (0.0, 1.0):
        pad = 0.05 * (y_high - y_low)
        y_low, y_high = y_low - pad, y_high + pad

    def place(p: tuple[float, float]) -> tuple[float, float]:
        return percent(p[0], x_low, x_high), 100 - percent(p[1], y_low, y_high)

    placed = [[place(p) for p in _thin(run)] for run in runs]
    flat = [p for run in placed for p in run]
    dots = flat if len(flat) <= 80 else [run[0] for run in placed if len(run) == 1]
    highest = max(points, key=lambda p: p[1])
    is_timed = curve.x_label == TIME
    x_ticks = _seconds_between(x_low, x_high) if is_timed else ticks_between(x_low, x_high)
    x_text = time_text if is_timed else number_text
    y_text = score_text if curve.y_label == SCORE else number_text
    unit = _UNIT.search(curve.y_label)
    peak = f"{y_text(highest[1])}{f' {unit[1]}' if unit else ''}"
    where = f"at {time_text(highest[0])}" if is_timed else f"where {curve.x_label} is {number_text(highest[0])}"
    return CurveView(
        pieces=tuple(" ".join(f"{x * 10:g},{y * 10:g}" for x, y in run) for run in placed if len(run) > 1),
        dots=tuple(dots),
        x_ticks=tuple(_tick(percent(v, x_low, x_high), x_text(v)) for v in x_ticks),
        y_ticks=tuple(Tick(100 - percent(v, y_low, y_high), number_text(v)) for v in ticks_between(y_low, y_high, 4)),
        threshold_at=None if curve.threshold is None else 100 - percent(curve.threshold, y_low, y_high),
        threshold_label="" if curve.threshold is None else f"threshold {y_text(curve.threshold)}",
        described=f"{plural(len(points), 'point')}; highest {peak}, {where}",
        seconds=(x_low, x_high) if is_timed else None,
    )


@dataclass(frozen=True)
class RecordingView:
    """Lanes over one time axis, the waveform as a polygon in a box of 1000 by 100 (y down), and what weighed most."""

    lanes: TimelineView
    waveform: str
    duration_s: float
    heaviest: tuple[tuple[str, ...], ...]


def recording_view(recording: Recording) -> RecordingView:
    """Place the spans and the waveform of a recording."""
    lows, highs = recording.lows[:MAX_POINTS], recording.highs[:MAX_POINTS]
    loudest = max([1e-3, *(abs(v) for v in (*lows, *highs) if math.isfinite(v))])
    step = 1000 / max(1, len(lows))

    def point(i: int, value: float) -> str:
        level = min(max(value / loudest, -1.0), 1.0) if math.isfinite(value) else 0.0
        return f"{(i + 0.5) * step:.1f},{50 - 48 * level:.1f}"

    upper = [point(i, value) for i, value in enumerate(highs)]
    lower = [point(i, value) for i, value in enumerate(lows)]
    heaviest = tuple(
        (span.lane, _when(span), "" if span.score is None else score_text(span.score), span.label)
        for span in recording.heaviest
    )
    return RecordingView(
        timeline_view(recording.timeline),
        " ".join([*upper, *reversed(lower)]),
        recording.timeline.duration_s,
        heaviest,
    )
