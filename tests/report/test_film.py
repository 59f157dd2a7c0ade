"""Films in reports: curves on the film's own time, values as text, and only films of ours are embedded."""

import base64

import numpy as np
import pytest

from forensix.report.embedded import safe
from forensix.report.film import film_view
from forensix.tasks.evidence import Curve, Film, Span, Timeline
from forensix.tasks.film import film_uri, pictures_of

SPANS = (Span("face 0", 0.0, 4.0, "0.80", 0.8), Span("face 1", 1.0, 2.0, "not judged"))
CURVE = Curve("face 0", (0.0, 1.0, float("nan"), 4.0), (0.1, 0.9, 0.5, 0.5), "time (s)", "score", 0.7)


def test_curves_lie_on_the_time_of_the_film() -> None:
    view = film_view(Film("a film", Timeline("Faces", 8.0, SPANS), (CURVE,)))
    (strip,) = view.strips
    assert strip.line == "0,90 125,10 500,50"
    assert [title for *_, title in strip.dots] == ["0 s: 0.10", "1 s: 0.90", "4 s: 0.50"]
    assert strip.threshold_at == pytest.approx(30) and strip.threshold_label == "dashed line: threshold 0.70"
    assert "highest score 0.90 at 1 s" in strip.described
    assert view.lanes.rows[1][-1] == "not judged" and view.duration_s == 8.0


def test_a_film_of_nothing_is_drawn() -> None:
    view = film_view(Film("a film", Timeline("Faces", 0.0, ()), (Curve("face 0", (), (), "s", "score"),)))
    assert view.strips[0].line == "" and view.duration_s == 1.0


def test_pictures_come_back_at_their_times() -> None:
    pictures = [(ms, np.full((41, 61, 3), grey, np.uint8)) for ms, grey in ((0.0, 30), (0.2, 90), (400.0, 200))]
    uri = film_uri(pictures, 1000.0)
    assert safe(uri, "film")
    actual = list(pictures_of(uri, 1000.0))
    assert [ms for ms, _ in actual] == [0, 1, 400], "without the last one again at the end"
    assert [round(float(rgb.mean())) for _, rgb in actual] == pytest.approx([30, 90, 200], abs=4)
    for end_ms in (0.0, 1.0, 401.0):
        assert [ms for ms, _ in pictures_of(film_uri(pictures[:1], end_ms), end_ms)] == [0]
    assert actual[0][1].shape == (40, 60, 3)
    assert film_uri([], 1000.0) == ""


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "data:video/mp4;base64,!!!!",
        "data:video/mp4;base64," + base64.b64encode(b"<script>alert(1)</script>").decode(),
        'data:video/mp4;base64,AAAAIGZ0eXBpc29tAAACAA==" onerror="x',
        "https://example.org/a.mp4",
    ],
)
def test_only_films_of_ours_are_embedded(uri: str) -> None:
    assert not safe(uri, "film")
