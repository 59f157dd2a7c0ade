"""Scrub through a video with a slider: the frame with its boxes, and the score of each face there."""

import io
from typing import Any

import ipywidgets as w
from markupsafe import Markup
from PIL import Image

from forensix.errors import UsageError
from forensix.report import Report
from forensix.report.embedded import safe
from forensix.report.film import Strip, film_view
from forensix.report.page import styles
from forensix.report.text import marked
from forensix.report.words import time_text
from forensix.tasks.evidence import Film
from forensix.tasks.film import pictures_of
from forensix.tasks.verdicts import score_text

_ROUNDED_S = 0.001
"""A film's times are whole milliseconds."""


class Scrubber:
    """A slider over the frames that were looked at; it draws itself in a notebook.

    Parameters
    ----------
    report
        A report with a film, as `face_manipulation` makes of a video with ``explain``.

    Raises
    ------
    UsageError
        The report has none.
    """

    def __init__(self, report: Report) -> None:
        films = [item for outcome in report.outcomes.values() for item in outcome.evidence if isinstance(item, Film)]
        if not films or not safe(films[0].clip, "film"):
            raise UsageError("this report holds no film: analyse a video for face_manipulation, with explain=True")
        self.film = films[0]
        self._view = film_view(self.film)
        pictures = pictures_of(self.film.clip, 1000 * self.film.timeline.duration_s)
        self._frames = [(ms / 1000, _jpeg(rgb)) for ms, rgb in pictures]
        self.slider = w.IntSlider(
            value=0, min=0, max=len(self._frames) - 1, description="frame", readout=False,
            tooltip="Drag, or use the arrow keys", layout=w.Layout(width="40rem", max_width="100%"),
        )  # fmt: skip
        self.picture = w.Image(format="jpeg", layout=w.Layout(max_width="40rem", width="100%"))
        self.caption = w.HTML()
        self.box = w.VBox([w.HTML(f"<style>{styles()}</style>"), self.picture, self.slider, self.caption])
        self.slider.observe(lambda change: self.show(change["new"]), "value")
        self.show(0)

    def show(self, position: int) -> None:
        """Show one of the frames, counted from 0."""
        seconds, self.picture.value = self._frames[position]
        rows = [self._row(strip, seconds) for strip in self._view.strips]
        self.caption.value = str(
            Markup('<div class="fx"><p>{}</p><div class="fx-timeline">{}</div></div>').format(
                time_text(seconds), Markup().join(rows)
            )
        )

    def _row(self, strip: Strip, seconds: float) -> Markup:
        curve = next(curve for curve in self.film.curves if curve.title == strip.lane)
        start_s, end_s = next((s.start_s, s.end_s) for s in self.film.timeline.spans if s.lane == strip.lane)
        nearest = min(range(len(curve.x)), key=lambda i: abs(curve.x[i] - seconds))
        is_seen = start_s - _ROUNDED_S <= seconds <= end_s + _ROUNDED_S
        now = score_text(curve.y[nearest]) if is_seen else "not seen"
        at = 10 * min(100.0, 100 * seconds / self._view.duration_s)
        chart = Markup(
            '<svg class="fx-lane" width="100%" height="56" viewBox="0 -8 1000 116" preserveAspectRatio="none">'
            '<polyline class="fx-line" points="{}"></polyline>'
            '<line x1="{}" x2="{}" y1="-8" y2="108" stroke="currentColor" vector-effect="non-scaling-stroke"></line>'
            "</svg>"
        ).format(strip.line, at, at)
        return Markup('<div class="fx-lane-name">{}: <strong>{}</strong></div><div>{}</div>').format(
            marked(strip.lane), now, chart
        )

    def _repr_mimebundle_(self, **options: Any) -> Any:
        return self.box._repr_mimebundle_(**options)


def _jpeg(rgb: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()
