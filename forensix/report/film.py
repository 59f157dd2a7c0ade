"""A film and the curves under it: everything placed on its time, in per cent and in boxes of 1000 by 100."""

import math
from dataclasses import dataclass

from forensix.report.charts import TimelineView, percent, timeline_view
from forensix.report.words import plural, time_text
from forensix.tasks.evidence import Curve, Film
from forensix.tasks.pictures import score_colour
from forensix.tasks.verdicts import score_text

MAX_DOTS = 400


@dataclass(frozen=True)
class Strip:
    """One curve of scores: a line in a box of 1000 by 100 (y down), dots in per cent with colour and title."""

    lane: str
    line: str
    dots: tuple[tuple[float, float, str, str], ...]
    threshold_at: float | None
    threshold_label: str
    described: str


@dataclass(frozen=True)
class FilmView:
    """The lanes of a film, the strips below them and the seconds that both span."""

    lanes: TimelineView
    strips: tuple[Strip, ...]
    duration_s: float


def film_view(film: Film) -> FilmView:
    """Place the lanes and curves of a film on its time."""
    lanes = timeline_view(film.timeline)
    ends = [span.end_s for span in film.timeline.spans if math.isfinite(span.end_s)]
    duration_s = max([film.timeline.duration_s, *ends]) or 1.0
    return FilmView(lanes, tuple(_strip(curve, duration_s) for curve in film.curves), duration_s)


def _strip(curve: Curve, duration_s: float) -> Strip:
    points = [
        (percent(min(max(x, 0.0), duration_s), 0, duration_s), 100 - 100 * min(max(y, 0.0), 1.0), x, y)
        for x, y in zip(curve.x, curve.y, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    highest = max(points, key=lambda point: point[3], default=None)
    return Strip(
        curve.title,
        " ".join(f"{10 * x:g},{y:g}" for x, y, *_ in points),
        tuple(
            (x, round(y, 2), "#{:02x}{:02x}{:02x}".format(*score_colour(score)), f"{time_text(s)}: {score_text(score)}")
            for x, y, s, score in points[:MAX_DOTS]
        ),
        None if curve.threshold is None else 100 - 100 * curve.threshold,
        "" if curve.threshold is None else f"dashed line: threshold {score_text(curve.threshold)}",
        ""
        if highest is None
        else f"{plural(len(points), 'frame')}, highest score {score_text(highest[3])} at {time_text(highest[2])}",
    )
