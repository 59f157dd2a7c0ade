"""face_manipulation: every field of section 2.2, present and absent where the specification says so."""

import base64
import io
import re
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.calibration import Calibration
from forensix.faces import FaceClassifier, forensix_face, landmarks
from forensix.faces.ffhq import placement
from forensix.models import DetailGap, LoadedModel
from forensix.models.store import get_card
from forensix.tasks import Options, load_task
from forensix.tasks.evidence import Bounds, Film
from tests.making import write_image, write_video

TASK = "face_manipulation"
KEYS = ("face", "face_heatmap")


class Opinion:
    """A classifier with a fixed opinion, so that what surrounds it can be seen."""

    def __init__(self, score: float) -> None:
        self.fixed = score
        self.card: object = None

    def score(self, crops: np.ndarray) -> np.ndarray:
        return np.full(len(crops), self.fixed)

    def types(self, crops: np.ndarray) -> dict[str, float]:
        return {"faceswap": 0.7, "lipsync": 0.3}


@pytest.fixture(scope="module")
def portrait(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faces") / "portrait.png"
    Image.fromarray(skimage.data.astronaut()).save(path)
    return path


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of a face that moves over grey."""
    face = skimage.data.astronaut()[:300, 90:390]
    frames = np.full((50, 360, 640, 3), 127, dtype=np.uint8)
    for i, frame in enumerate(frames):
        frame[30:330, 10 + 5 * i : 310 + 5 * i] = face
    path = tmp_path_factory.mktemp("faces") / "clip.mp4"
    write_video(path, len(frames), (640, 360), rate=25, paint=frames.__getitem__)
    return path


def result(path: Path, score: float, **options: object) -> dict:
    report = forensix.analyze(path, [TASK], face_classifier=Opinion(score), **options)
    assert report.scores[TASK] == pytest.approx(score)
    return report.to_wire(TASK)["result"]


def test_a_fake_face_is_explained_with_every_field(portrait: Path) -> None:
    actual = result(portrait, 0.9)
    assert actual["class_name"] == "fake"
    assert actual["class_probability"] == pytest.approx(0.9)
    assert actual["manipulation_type"] == "faceswap"
    (face,) = actual["explanation"]
    assert face["class_name"] == "fake"
    for key in ("face", "face_heatmap"):
        assert face[key].startswith("data:image/jpeg;base64,")
    x1, y1, x2, y2 = face["bbox"]
    assert 0 < x1 < x2 < 512
    assert 0 < y1 < y2 < 512
    assert face["bbox_average_size"] == pytest.approx([x2 - x1, y2 - y1], abs=0.2)
    assert (face["frame_idx"], face["frame_ms"]) == (0, 0)
    assert [track["frame_idx"] for track in face["tracks"]] == [0]


def test_a_real_face_keeps_probability_and_explanation_to_itself(portrait: Path) -> None:
    assert result(portrait, 0.1) == {"class_name": "real"}


def test_without_explain_there_is_no_explanation(portrait: Path) -> None:
    assert set(result(portrait, 0.9, explain=False)) == {"class_name", "class_probability", "manipulation_type"}


def test_no_face_is_an_answer_without_score(tmp_path: Path) -> None:
    path = tmp_path / "grey.png"
    write_image(path, np.full((200, 300, 3), 127, dtype=np.uint8))
    report = forensix.analyze(path, [TASK], face_classifier=Opinion(0.9))
    assert report.to_wire(TASK)["result"] == {"class_name": "no_faces"}
    assert report.scores == {TASK: None}
    assert not report.failed


def test_a_face_is_followed_through_a_video(clip: Path) -> None:
    (face,) = result(clip, 0.9)["explanation"]
    indices = [track["frame_idx"] for track in face["tracks"]]
    assert len(indices) >= 5
    assert indices == sorted(set(indices))
    for track in face["tracks"]:
        assert track["frame_rate"] == pytest.approx(25)
        assert track["frame_ms"] == pytest.approx(1000 * track["frame_idx"] / 25, abs=1)
    left = [track["bbox"][0] for track in face["tracks"]]
    assert np.all(np.diff(left) > 0), "the face moves to the right"
    assert face["frame_idx"] in indices


@pytest.mark.parametrize("explain", [True, False])
def test_the_wire_carries_a_preview(clip: Path, explain: bool) -> None:
    wire = forensix.analyze(clip, [TASK], explain=explain, face_classifier=Opinion(0.9)).to_wire(TASK)
    assert wire["preview"].startswith("data:image/jpeg;base64,")
    assert wire["event_type"] == "face_manipulation_analysis_complete"


def test_faces_are_shown_to_a_person_also_when_real(portrait: Path) -> None:
    report = forensix.analyze(portrait, [TASK], face_classifier=Opinion(0.1))
    assert [item.title for item in report.outcomes[TASK].evidence] == ["The faces", "Face 0"]
    assert "data:image/jpeg" in report.to_html()


def test_a_heat_map_has_a_scale_beside_it_and_none_is_drawn_of_a_face_that_scores_as_real(portrait: Path) -> None:
    def pictures(score: float) -> dict[str, str]:
        report = forensix.analyze(portrait, [TASK], face_classifier=Opinion(score))
        output = {item.title: item.data_uri for item in report.outcomes[TASK].evidence}
        return output | {
            key: getattr(face, key) for face in report.outcomes[TASK].result.explanation or () for key in KEYS
        }

    assert set(pictures(0.4)) == {"The faces", "Face 0"}
    fake = pictures(0.9)
    face, heat = (Image.open(io.BytesIO(base64.b64decode(fake[key].partition(",")[2]))) for key in KEYS)
    assert face.size == (224, 224)
    assert heat.size[0] > 224 and heat.size[1] == 224


def test_a_video_is_shown_with_boxes_and_the_curve_of_each_face(clip: Path) -> None:
    report = forensix.analyze(clip, [TASK], face_classifier=Opinion(0.9))
    faces = next(item for item in report.outcomes[TASK].evidence if item.title == "The faces")
    assert re.fullmatch(r"At \d\.\d\d s, with the scores of this frame", faces.caption)
    (film,) = (item for item in report.outcomes[TASK].evidence if isinstance(item, Film))
    assert [span.lane for span in film.timeline.spans] == ["face 0"] == [curve.title for curve in film.curves]
    assert film.curves[0].y == pytest.approx([0.9] * len(film.curves[0].x))
    data = base64.b64decode(film.clip.partition(",")[2])
    with av.open(io.BytesIO(data)) as container:
        frames = [(float(frame.time), frame.to_ndarray(format="rgb24")) for frame in container.decode(video=0)]
    assert len(frames) >= 10 and frames[-1][0] == pytest.approx(2.0, abs=0.1)
    x1, y1, x2, _ = np.array(report.outcomes[TASK].result.explanation[0].tracks[0].bbox) * 480 / 640
    edge = frames[0][1][round(y1) - 1 : round(y1) + 3, round(x1) + 20 : round(x2) - 20].reshape(-1, 3).astype(int)
    assert (edge[:, 0] - edge[:, 2]).max() > 60, "an orange line above the face"
    page = report.to_html()
    assert "data:video/mp4;base64," in page and "media-src data:" in page


@pytest.mark.parametrize(
    ("path", "said"), [("small", r"it is 3\d px wide, and 48 are needed"), ("short", r"seen for 0.2 s, and 0.4")]
)
def test_small_and_short_faces_are_inconclusive_and_the_size_is_said(path: str, said: str, tmp_path: Path) -> None:
    face = skimage.data.astronaut()[:300, 90:390]
    if path == "small":
        canvas = np.full((240, 320, 3), 127, np.uint8)
        canvas[60:180, 100:220] = np.asarray(Image.fromarray(face).resize((120, 120)))
        Image.fromarray(canvas).save(tmp_path / "a.png")
        report = forensix.analyze(tmp_path / "a.png", [TASK], face_classifier=Opinion(0.99))
    else:
        frames = np.full((7, 360, 640, 3), 127, dtype=np.uint8)
        frames[:, 30:330, 100:400] = face
        write_video(tmp_path / "a.mp4", len(frames), (640, 360), rate=25, paint=frames.__getitem__)
        report = forensix.analyze(tmp_path / "a.mp4", [TASK], face_classifier=Opinion(0.99))
    outcome = report.outcomes[TASK]
    assert report.verdicts == {TASK: "inconclusive"} and outcome.inconclusive
    assert outcome.score is None and outcome.frame_scores == (), "what may not be judged has no score"
    assert report.to_wire(TASK)["result"] == {"class_name": "real"}, "and the wire holds nothing against it"
    assert re.search(said, outcome.summary) and re.search(said, " ".join(outcome.notes))


def test_the_shipped_classifier_scores_a_portrait(portrait: Path) -> None:
    report = forensix.analyze(portrait, [TASK])
    assert 0 <= report.scores[TASK] <= 1
    assert report.models[0]["name"] == "forensix-face"


def test_the_shipped_classifier_names_no_type_of_manipulation(portrait: Path) -> None:
    classifier = forensix_face()
    always = classifier.card.model_copy(update={"calibration": Calibration(slope=1e-9, intercept=9.0)})
    report = forensix.analyze(
        portrait, [TASK], face_classifier=FaceClassifier(LoadedModel(always, classifier.network.module))
    )
    assert "manipulation_type" not in report.to_wire(TASK)["result"]
    assert report.to_wire(TASK)["result"]["class_name"] == "fake"


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [([5.2], "must give scores in"), ([np.nan], "must give scores in"), ([0.4, 0.4], "must give 1 scores")],
)
def test_scores_that_are_none_are_refused_and_not_squashed(portrait: Path, scores: list[float], sentence: str) -> None:
    class Odd:
        def score(self, crops: np.ndarray) -> np.ndarray:
            return np.array(scores)

    with forensix.open_media(portrait) as media, pytest.raises(ValueError, match=sentence):
        load_task(TASK).run(media, Options(explain=False, components={"face_classifier": Odd()}))


@pytest.fixture(scope="module")
def soft_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of a picture whose face has half its resolution."""
    picture = Image.fromarray(skimage.data.astronaut()[:340, 50:430])
    small = picture.resize((picture.width // 2, picture.height // 2)).resize(picture.size, Image.Resampling.BICUBIC)
    picture.paste(small.crop((125, 40, 225, 190)), (125, 40))
    path = tmp_path_factory.mktemp("faces") / "soft.mp4"
    write_video(path, 50, picture.size, rate=25, paint=([np.asarray(picture)] * 50).__getitem__)
    return path


def test_a_face_with_less_fine_detail_than_its_surroundings_is_told_of_and_scores_higher(soft_clip: Path) -> None:
    opinion = Opinion(0.5)
    joined = DetailGap(
        network=1.0, weight=3.0, intercept=0.0, middle=0.0, reach=(-0.4, 0.8), recorded=(-0.4, 0.1, 0.25, 0.9)
    )
    cards = {gap: SimpleNamespace(name="opinion", sha256="0", threshold=0.9, detail_gap=gap) for gap in (None, joined)}
    scores = {}
    for gap, card in cards.items():
        opinion.card = card
        report = forensix.analyze(soft_clip, [TASK], face_classifier=opinion)
        outcome = report.outcomes[TASK]
        (bounds,) = [item for item in outcome.evidence if isinstance(item, Bounds)] or (None,)
        assert (bounds is None) == (gap is None)
        assert any("less fine detail than its surroundings" in note for note in outcome.notes) == (gap is not None)
        scores[gap is None] = report.scores[TASK]
    assert scores[True] == pytest.approx(0.5) and scores[False] > 0.6
    (row,) = bounds.rows
    assert row.is_outlier and row.value > 0.25 and (row.low, row.high) == (-0.4, 0.25)
    (film,) = [item for item in outcome.evidence if isinstance(item, Film)]
    assert np.mean(film.curves[0].y) == pytest.approx(scores[False], abs=0.1)
    assert "less fine detail" in report.to_html()


def test_among_several_faces_one_must_lack_more_fine_detail_to_be_told_of(soft_clip: Path, tmp_path: Path) -> None:
    with av.open(str(soft_clip)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    two = tmp_path / "two.mp4"
    pairs = [np.concatenate([frame, frame], axis=1) for frame in frames]
    write_video(two, len(pairs), (pairs[0].shape[1], pairs[0].shape[0]), rate=25, paint=pairs.__getitem__)
    opinion = Opinion(0.5)
    bounds = {}
    for path in (soft_clip, two):
        joined = DetailGap(network=1, weight=1, intercept=0, middle=0, reach=(-1, 1), recorded=(-0.4, 0.1, 0.25, 9.0))
        opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, detail_gap=joined)
        outcome = forensix.analyze(path, [TASK], face_classifier=opinion).outcomes[TASK]
        (bounds[path],) = [item for item in outcome.evidence if isinstance(item, Bounds)]
        assert any("less fine detail" in note for note in outcome.notes) == (path == soft_clip)
    assert bounds[two].rows[0].value == pytest.approx(bounds[soft_clip].rows[0].value, abs=0.1)
    assert [row.is_outlier for row in bounds[two].rows] == [False, False]


def test_fine_detail_says_nothing_of_pictures(portrait: Path) -> None:
    opinion = Opinion(0.4)
    joined = DetailGap(network=1, weight=9, intercept=3, middle=0, reach=(-1, 1), recorded=(-1, -0.9, -0.8, -0.7))
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, detail_gap=joined)
    report = forensix.analyze(portrait, [TASK], face_classifier=opinion)
    assert report.scores[TASK] == pytest.approx(0.4) and not report.outcomes[TASK].notes


def test_a_face_that_lies_where_stylegan_puts_faces_is_told_of_and_moves_no_score(
    portrait: Path, tmp_path: Path
) -> None:
    picture = Image.open(portrait)
    (face,) = landmarks(np.asarray(picture))
    x, y, side, degrees = placement(face, picture.size)
    middle = (np.array([x, y]) + 1) / 2 * picture.size
    half = side / 2 * picture.width
    turned = picture.rotate(degrees, center=tuple(middle), resample=Image.Resampling.BICUBIC)
    cut = tmp_path / "cut.png"
    turned.crop((*(middle - half).round().astype(int), *(middle + half).round().astype(int))).save(cut)
    for path, is_aligned in ((portrait, False), (cut, True)):
        report = forensix.analyze(path, [TASK], face_classifier=Opinion(0.3))
        assert report.scores[TASK] == pytest.approx(0.3)
        assert ("where StyleGAN's generators put" in report.headline) == is_aligned
        assert any("not who drew it" in note for note in report.outcomes[TASK].notes) == is_aligned


class Finder:
    """Marks the left half of every face, and scores as it was told."""

    def __init__(self, score: float, bound: float) -> None:
        self.fixed = score
        self.card = get_card("forensix-face-regions").model_copy(
            update={"inconclusive": (0.0, bound), "inconclusive_video": (0.0, 1.0), "threshold": bound}
        )

    def score(self, crops: np.ndarray) -> np.ndarray:
        return np.full(len(crops), self.fixed)

    def heatmap(self, crop: np.ndarray) -> np.ndarray:
        return np.repeat((np.arange(crop.shape[1]) < 112)[None].astype(float), crop.shape[0], axis=0)


@pytest.mark.parametrize(("score", "bound", "expected"), [(0.8, 0.7, True), (0.6, 0.7, False), (0.99, 1.0, False)])
def test_a_face_of_which_a_part_differs_is_told_of_and_shown_and_the_verdict_stays(
    portrait: Path, score: float, bound: float, expected: bool
) -> None:
    report = forensix.analyze(portrait, [TASK], face_classifier=Opinion(0.2), face_regions=Finder(score, bound))
    outcome = report.outcomes[TASK]
    assert outcome.score == pytest.approx(0.2) and outcome.result.class_name == "real"
    assert any("part of face 0 differs" in note for note in outcome.notes) == expected
    assert ("Face 0: heat map" in [item.title for item in outcome.evidence]) == expected


def test_in_videos_nothing_is_told_where_the_bound_is_open(clip: Path) -> None:
    report = forensix.analyze(clip, [TASK], face_classifier=Opinion(0.2), face_regions=Finder(0.99, 0.7))
    assert not any("differs" in note for note in report.outcomes[TASK].notes)
