"""face_manipulation: every field of section 2.2, present and absent where the specification says so."""

import base64
import io
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.calibration import Calibration
from forensix.errors import UsageError
from forensix.faces import FaceClassifier, forensix_face
from forensix.models import LoadedModel
from forensix.tasks import Options, load_task
from forensix.tasks.evidence import Film, Picture
from forensix.tasks.face_notes import MAX_TOLD, doubt_notes
from tests.making import write_image, write_video
from tests.tasks.opinion import Opinion

TASK = "face_manipulation"
KEYS = ("face", "face_heatmap")


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


def test_a_face_in_one_of_frames_that_lie_far_apart_cannot_be_judged(tmp_path: Path) -> None:
    frames = np.full((4, 512, 512, 3), 127, dtype=np.uint8)
    frames[1] = skimage.data.astronaut()
    write_video(tmp_path / "slides.mp4", 4, (512, 512), Fraction(1, 3), paint=frames.__getitem__)
    report = forensix.analyze(tmp_path / "slides.mp4", [TASK], face_classifier=forensix_face())
    assert report.verdicts == {TASK: "inconclusive"} and report.scores == {TASK: None}
    assert "at one moment only" in report.outcomes[TASK].summary


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
    assert "boxes with the scores, blue at 0, grey at 0.5, orange at 1" in report.to_html()


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
    assert re.fullmatch(
        r"At \d\.\d\d s: boxes with the scores of this frame, blue at 0, grey at 0\.5, orange at 1", faces.caption
    )
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
    assert re.search(said, outcome.summary) and not outcome.notes, "and that once"
    titles = [(item.title, item.caption) for item in outcome.evidence if isinstance(item, Picture)][:1]
    assert titles == [("The faces", "" if path == "small" else "At 0.00 s")], "no scores, where there are none"
    assert not any("scores" in item.title for item in outcome.evidence)


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
    [
        ([5.2], "must give scores in"),
        ([np.nan], "must give scores in"),
        ([0.4, 0.4], "must give 1 scores"),
        (["fake"], "must give 1 scores, which are numbers"),
    ],
)
def test_scores_that_are_none_are_refused_and_not_squashed(portrait: Path, scores: list[Any], sentence: str) -> None:
    class Odd:
        def score(self, crops: np.ndarray) -> np.ndarray:
            return np.array(scores)

    with forensix.open_media(portrait) as media, pytest.raises(UsageError, match=sentence):
        load_task(TASK).run(media, Options(explain=False, components={"face_classifier": Odd()}))


def test_a_type_that_the_specification_does_not_have_is_named(portrait: Path) -> None:
    class Odd:
        def score(self, crops: np.ndarray) -> np.ndarray:
            return np.full(len(crops), 0.9)

        def types(self, crops: np.ndarray) -> dict[str, float]:
            return {"face_swap": 0.9}

    report = forensix.analyze(portrait, [TASK], explain=False, face_classifier=Odd())
    assert report.errors[TASK].startswith("Odd must give types of faceswap, ") and "'face_swap'" in report.errors[TASK]


def test_a_component_whose_scores_are_none_fails_its_own_task_alone(portrait: Path) -> None:
    class Odd:
        def score(self, crops: np.ndarray) -> np.ndarray:
            return np.full(len(crops), 5.2)

    report = forensix.analyze(portrait, [TASK, "forensic_analysis"], explain=False, face_classifier=Odd())
    assert report.verdicts[TASK] == "failed" and report.verdicts["forensic_analysis"] != "failed"
    assert report.errors[TASK].startswith("Odd must give scores in [0, 1]")


@pytest.mark.parametrize(("n_more", "said"), [(1, "1 more face is"), (2, "2 more faces are")])
def test_further_faces_that_are_not_judged_are_counted(n_more: int, said: str) -> None:
    faces: Any = [SimpleNamespace(doubt="it is small", track=SimpleNamespace(id=i)) for i in range(MAX_TOLD + n_more)]
    assert doubt_notes(faces)[-1] == f"{said} not judged, for being small, blurred or short."
