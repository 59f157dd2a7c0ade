"""Between the two bounds of a card a score decides nothing, whatever the task; the wire keeps its two classes."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from skimage.data import astronaut

import forensix
from forensix.tasks.verdicts import class_of, is_inconclusive


class Opinion:
    """A component for any slot with a fixed opinion, and a card with a band."""

    def __init__(
        self, score: float, band: tuple[float, float] | None, video: tuple[float, float] | None = None
    ) -> None:
        self.fixed = score
        bands = {"inconclusive": band, "inconclusive_video": video}
        self.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.6, **bands)

    def score(self, data: object) -> object:
        crops = isinstance(data, np.ndarray) and data.ndim == 4
        return np.full(len(data), self.fixed) if crops else self.fixed  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("score", "band", "expected"),
    [
        (0.5, (0.4, 0.9), True),
        (0.4, (0.4, 0.9), False),
        (0.9, (0.4, 0.9), False),
        (0.5, None, False),
        (1.0, (0.4, 1.0), True),
        (0.0, (0.0, 0.9), True),
    ],
)
def test_only_what_lies_strictly_between_the_bounds_is_inconclusive(score, band, expected):
    assert is_inconclusive(score, Opinion(score, band)) is expected


@pytest.mark.parametrize(
    ("kind", "video", "expected"),
    [("video", (0.0, 1.0), True), ("video", None, False), ("image", (0.0, 1.0), False), (None, (0.0, 1.0), False)],
)
def test_videos_have_the_bounds_of_pictures_where_they_have_none_of_their_own(kind, video, expected):
    assert is_inconclusive(0.95, Opinion(0.95, (0.4, 0.9), video), kind) is expected


@pytest.mark.parametrize(
    ("score", "kind", "expected"),
    [(0.5, "video", "fake"), (0.49, "video", "real"), (0.5, "image", "real"), (0.6, "image", "fake")],
)
def test_a_video_is_fake_from_the_upper_bound_of_videos_on(score, kind, expected):
    opinion = Opinion(score, (0.0, 0.6), (0.0, 0.5))
    assert class_of(score, opinion, kind) == expected
    assert is_inconclusive(score, opinion, kind) is (expected == "real"), "what decides is what is said on the wire"
    assert class_of(1.0, Opinion(1.0, (0.0, 0.6), (0.0, 1.0)), "video") == "real"


def test_where_no_score_means_fake_nothing_is_called_so():
    assert class_of(1.0, Opinion(1.0, (0.2, 1.0)), "image") == "real" and class_of(1.0, Opinion(1.0, None)) == "fake"


@pytest.fixture(scope="module")
def portrait(tmp_path_factory):
    from PIL import Image

    path = tmp_path_factory.mktemp("portrait") / "portrait.png"
    Image.fromarray(astronaut()).save(path)
    return path


@pytest.mark.parametrize(
    ("task", "slot"), [("face_manipulation", "face_classifier"), ("ai_generated_image_detection", "image_detector")]
)
@pytest.mark.parametrize(("score", "wire"), [(0.55, "real"), (0.7, "fake")])
def test_the_report_says_inconclusive_where_the_wire_keeps_two_classes(portrait, task, slot, score, wire):
    report = forensix.analyze(portrait, [task], **{slot: Opinion(score, (0.4, 0.9))})
    assert report.verdicts == {task: "inconclusive"}
    assert report.to_wire(task)["result"]["class_name"] == wire
    assert re.search("undecided|do not decide", report.outcomes[task].summary)
    assert "Inconclusive" in report.to_html()


class Telling(Opinion):
    """An opinion that names a kind and marks the whole face."""

    def types(self, crops):
        return {"faceswap": 1.0}

    def heatmap(self, crop):
        return np.ones(crop.shape[:2])


def test_a_model_that_decides_nothing_of_videos_says_so_and_shows_nothing_as_fake(tmp_path):
    from tests.making import write_video

    frames = np.full((15, 360, 640, 3), 127, np.uint8)
    frames[:, 30:330, 100:400] = astronaut()[:300, 90:390]
    write_video(tmp_path / "a.mp4", len(frames), (640, 360), rate=25, paint=frames.__getitem__)
    pages = {}
    for band in (None, (0.0, 1.0)):
        opinion = Telling(0.95, (0.4, 0.9), band)
        report = forensix.analyze(tmp_path / "a.mp4", ["face_manipulation"], face_classifier=opinion)
        pages[report.verdicts["face_manipulation"]] = report.to_html()
    assert report.to_wire("face_manipulation")["result"]["class_name"] == "real"
    assert "opinion decides nothing of videos" in report.outcomes["face_manipulation"].summary
    for said in ("heat map", "Kind of manipulation", "looks manipulated, score"):
        assert said in pages["fake"] and said not in pages["inconclusive"]


@pytest.mark.parametrize(
    ("video", "verdict", "wire"),
    [
        (None, "fake", "fake"),
        ((0.0, 1.0), "inconclusive", "real"),
        ((0.2, 1.0), "inconclusive", "real"),
        ((0.2, 0.97), "inconclusive", "real"),
        ((0.2, 0.94), "fake", "fake"),
    ],
)
def test_pictures_and_videos_have_bounds_of_their_own(tmp_path, video, verdict, wire):
    from tests.making import write_video

    task = "ai_generated_image_detection"
    write_video(tmp_path / "a.mp4", 5, (512, 512), rate=5, paint=lambda i: np.roll(astronaut(), 9 * i, axis=1))
    report = forensix.analyze(tmp_path / "a.mp4", [task], image_detector=Opinion(0.95, (0.4, 0.9), video))
    assert report.verdicts == {task: verdict}
    assert report.to_wire(task)["result"]["class_name"] == wire
