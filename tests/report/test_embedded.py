"""Media inside a page: played where it is ours, told where it is left out, and only up to a limit."""

import re

import numpy as np
import pytest

from forensix.report import Report, embedded, render_page
from forensix.report.embedded import MAX_PAGE_BYTES, Room
from forensix.schema import FaceResult, ImageExplanation, ImageResult
from forensix.tasks.evidence import Curve, Evidence, Film, Outcome, Timeline
from forensix.tasks.film import film_uri
from forensix.tasks.voice_evidence import recording
from tests.making import tone
from tests.report.samples import picture


def film(clip: str | None = None) -> Film:
    frames = [(100.0 * i, np.full((32, 48, 3), 20 * i, np.uint8)) for i in range(10)]
    return Film("The video", Timeline("Faces", 1.0, ()), (), film_uri(frames, 1000) if clip is None else clip)


def report(*evidence: Evidence, name: str = "a") -> Report:
    outcome = Outcome(FaceResult(class_name="real"), 0.1, evidence=evidence)
    return Report(input=name, name=name, outcomes={"face_manipulation": outcome})


@pytest.fixture(scope="module")
def sound() -> Evidence:
    samples = (32767 * tone(2.0)).astype(np.int16)
    return recording(samples, (), 0.5)[0]


def test_players_have_names_and_the_page_allows_one_script(sound: Evidence) -> None:
    html = report(film(), sound).to_html()
    assert '<video class="fx-film fx-on-screen" controls' in html and 'aria-label="The video"' in html
    assert '<audio class="fx-player" controls' in html and 'aria-label="Who speaks when' in html
    assert html.count("<script>") == 1 and "media-src data:" in html


def test_a_page_without_players_has_no_script() -> None:
    html = report(film("data:video/mp4;base64,AAAA")).to_html()
    assert "<script" not in html and "media-src" not in html
    assert "<video" not in html and "Left out: there is no film to play." in html


def test_what_goes_beyond_the_limit_is_left_out_and_the_page_says_so(
    sound: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = len(film().clip)
    monkeypatch.setattr(Room, "__init__", lambda self: setattr(self, "left", item + 10))
    html = render_page([report(film()), report(film(), sound, name="b")])
    assert html.count("<video") == 1 and "<audio" not in html
    assert html.count(f"already holds {MAX_PAGE_BYTES / 1e6:g} MB of media") == 2


def test_room_is_made_for_what_is_ours_only() -> None:
    room = Room(left=len(picture()) + 5)
    assert room.why_not("data:image/svg+xml;base64,AAAA", "picture") == "Left out: not a JPEG or PNG picture."
    assert room.why_not(picture(), "picture") == "" and room.left == 5
    assert "already holds" in room.why_not(picture(), "picture")
    assert embedded.MAX_PAGE_BYTES < 64e6, "browsers and mail still open such a page"


def test_a_colour_scale_stands_below_each_heat_map() -> None:
    explanation = ImageExplanation(
        heatmap=picture("JPEG", 1), heatmap_object=picture("JPEG", 2), eye_mouth_overlays_image=picture("JPEG", 3)
    )
    result = ImageResult(class_name="fake", class_probability=0.95, explanation=explanation)
    html = Report(input="a", name="a", outcomes={"ai_generated_image_detection": Outcome(result, 0.95)}).to_html()
    assert html.count('class="fx-ramp fx-heat"') == 2
    scales = re.findall(r'<p class="fx-legend">(.*?)</p>', html)
    assert {re.sub("<[^>]*>", "", scale) for scale in scales} == {"0, looks photographed1, looks generated"}


def test_curves_over_time_follow_players_and_others_do_not(sound: Evidence) -> None:
    over_time = Curve("Score by frame", (0.5, 1.5), (0.1, 0.2), "time (s)", "score")
    other = Curve("Powers", (0.0, 8000.0), (0.1, 0.2), "frequency (Hz)", "dB")
    html = report(sound, over_time, other).to_html()
    assert 'fx-timed" data-from="0.5" data-to="1.5"' in html and html.count('fx-timed" data-from') == 2
