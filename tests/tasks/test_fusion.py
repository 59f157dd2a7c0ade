"""What is said of a picture and of the faces in it is weighed together, where a detector's card says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.calibration import logit, sigmoid
from forensix.faces import FaceClassifier
from forensix.models import Fusion, get_card, load_detector
from forensix.synthetic.detector import ImageDetector
from forensix.tasks import fusion

PICTURE, FACES = "ai_generated_image_detection", "face_manipulation"
OTHERS = {"forensix-image": "forensix-face", "forensix-face": "forensix-image"}


class Opinion:
    """A detector with a fixed opinion, whose card gives the other a weight."""

    def __init__(self, score: float, card: str, *, video_weight: float | None = None) -> None:
        self.fixed = score
        fusion = Fusion(model=OTHERS[card], weight=0.5, video_weight=video_weight)
        self.card = get_card(card).model_copy(update={"fusion": fusion, "steadiness": None, "parts": None})

    def score(self, inputs: np.ndarray) -> Any:
        return np.full(len(inputs), self.fixed) if self.card.name == "forensix-face" else self.fixed


@pytest.fixture(scope="module")
def alone() -> Callable[[Path, str], float]:
    """Return what a shipped model says of a picture by itself."""

    def score(path: Path, card: str) -> float:
        detector = load_detector(card)
        detector.card = detector.card.model_copy(update={"fusion": None, "parts": None})
        task, slot = (PICTURE, "image_detector") if card == "forensix-image" else (FACES, "face_classifier")
        said = forensix.analyze(path, [task], explain=False, **{slot: detector}).scores[task]
        assert said is not None
        return said

    return score


def test_what_is_said_of_the_face_is_weighed_into_what_is_said_of_the_picture(
    portrait: Path, alone: Callable[[Path, str], float], tmp_path: Path
) -> None:
    # Without colour, as what is said of the face in colours are even odds, which move nothing.
    path = tmp_path / "grey.png"
    Image.open(portrait).convert("L").convert("RGB").save(path)
    report = forensix.analyze(path, [PICTURE], explain=False, image_detector=Opinion(0.4, "forensix-image"))
    face = alone(path, "forensix-face")
    both = float(sigmoid(logit(0.4) + 0.5 * logit(face)))
    assert report.scores[PICTURE] == pytest.approx(both, abs=1e-6) and abs(both - 0.4) > 0.01
    assert "forensix-face" in report.outcomes[PICTURE].models
    (note,) = [note for note in report.outcomes[PICTURE].notes if "by itself" in note]
    said = f"the face in it {face:.2f} (forensix-face)"
    assert note.startswith(f"The picture scores 0.40 by itself, {said}; weighed together {both:.2f}")


@pytest.mark.slow
def test_what_is_said_of_the_picture_is_weighed_into_what_is_said_of_the_face(
    portrait: Path, alone: Callable[[Path, str], float]
) -> None:
    report = forensix.analyze(portrait, [FACES], face_classifier=Opinion(0.9, "forensix-face"))
    picture = alone(portrait, "forensix-image")
    both = float(sigmoid(logit(0.9) + 0.5 * logit(picture)))
    assert report.scores[FACES] == pytest.approx(both, abs=1e-6) and abs(both - 0.9) > 0.01
    outcome = report.outcomes[FACES]
    assert "forensix-image" in outcome.models
    (note,) = [note for note in outcome.notes if "by itself" in note]
    said = f"the whole picture {picture:.2f} (forensix-image)"
    assert note.startswith(f"The face scores 0.90 by itself, {said}; weighed together {both:.2f}")
    (face,) = outcome.result.explanation
    assert face.class_probability == pytest.approx(both, abs=1e-6), "the face is shown with that score"


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (0.06, 0.23, "0.03: both speak against a fake, which adds up."),
        (0.9, 0.8, "0.95: both speak for a fake, which adds up."),
        (0.9, 0.2, "0.82."),
    ],
)
def test_two_scores_that_speak_alike_are_said_to_add_up(own: float, other: float, said: str) -> None:
    note = fusion.SecondOpinion(other, "the face in it", None, "forensix-face", 0.5).note("The picture", own)
    assert note.endswith(f"weighed together {said}")


def test_the_faces_of_a_group_are_told_together_for_no_single_one_has_their_score(tmp_path: Path) -> None:
    path = tmp_path / "group.png"
    Image.fromarray(np.hstack([skimage.data.astronaut(), skimage.data.astronaut()[:, ::-1]])).save(path)
    report = forensix.analyze(path, [FACES], face_classifier=Opinion(0.9, "forensix-face"))
    (note,) = [note for note in report.outcomes[FACES].notes if "weighed together" in note]
    assert note.startswith("The 2 faces score 0.90 by themselves, the whole picture ")


def test_a_picture_without_a_face_is_judged_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "coffee.png"
    Image.fromarray(skimage.data.coffee()).save(path)
    report = forensix.analyze(path, [PICTURE], explain=False, image_detector=Opinion(0.4, "forensix-image"))
    assert report.scores[PICTURE] == pytest.approx(0.4)
    assert "forensix-face" not in report.outcomes[PICTURE].models


def test_a_face_too_small_to_be_judged_weighs_nothing_and_needs_no_second_opinion(tmp_path: Path) -> None:
    path = tmp_path / "small.png"
    Image.fromarray(skimage.data.astronaut()).resize((150, 150)).save(path)
    report = forensix.analyze(path, [PICTURE, FACES], explain=False, image_detector=Opinion(0.4, "forensix-image"))
    assert report.scores == {PICTURE: pytest.approx(0.4), FACES: None}
    assert "forensix-image" not in report.outcomes[FACES].models


def test_a_portrait_on_a_page_is_judged_without_the_page(tmp_path: Path) -> None:
    page = np.full((1400, 1000, 3), 255, np.uint8)
    page[100:612, 100:612] = skimage.data.astronaut()
    path = tmp_path / "page.png"
    Image.fromarray(page).save(path)
    report = forensix.analyze(path, [FACES], explain=False, face_classifier=Opinion(0.4, "forensix-face"))
    assert report.scores[FACES] == pytest.approx(0.4)


def test_a_picture_that_could_not_be_called_generated_accuses_no_face_in_it(
    portrait: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "small.png"
    Image.open(portrait).resize((447, 447)).save(path)
    report = forensix.analyze(path, [FACES], explain=False, face_classifier=Opinion(0.6, "forensix-face"))
    assert report.scores[FACES] == pytest.approx(0.6) and "forensix-image" not in report.outcomes[FACES].models
    monkeypatch.setattr(fusion, "doubt_if_fake", lambda rgb: "The picture looks painted.")
    report = forensix.analyze(portrait, [FACES], explain=False, face_classifier=Opinion(0.6, "forensix-face"))
    assert report.scores[FACES] == pytest.approx(0.6)


def test_a_video_is_judged_without(clip: Path) -> None:
    report = forensix.analyze(clip, [PICTURE], explain=False, image_detector=Opinion(0.4, "forensix-image"))
    assert report.scores[PICTURE] == pytest.approx(0.4)
    report = forensix.analyze(clip, [FACES], explain=False, face_classifier=Opinion(0.4, "forensix-face"))
    assert report.scores[FACES] == pytest.approx(0.4)


@pytest.mark.slow
def test_of_a_video_the_face_weighs_what_the_card_says_of_videos(
    clip: Path, alone: Callable[[Path, str], float]
) -> None:
    detector = Opinion(0.4, "forensix-image", video_weight=2.0)
    report = forensix.analyze(clip, [PICTURE], explain=False, image_detector=detector)
    both = float(sigmoid(logit(0.4) + 2.0 * logit(alone(clip, "forensix-face"))))
    assert report.scores[PICTURE] == pytest.approx(both, abs=1e-6) and abs(both - 0.4) > 0.01
    (note,) = [note for note in report.outcomes[PICTURE].notes if "weighed together" in note]
    assert note.startswith("The frames score 0.40 by themselves, the face in it ")


@pytest.mark.parametrize(("face", "verdict"), [(0.95, "fake"), (0.7, "inconclusive")])
def test_a_small_video_is_called_generated_where_its_faces_are(
    face: float, verdict: str, clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusion, "faces_score", lambda faces: face)
    detector = Opinion(0.9, "forensix-image", video_weight=2.0)
    assert forensix.analyze(clip, [PICTURE], explain=False, image_detector=detector).verdicts == {PICTURE: verdict}


def test_picture_and_face_are_looked_at_once_for_both_tasks(portrait: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def count(of: type, method: str) -> None:
        original = getattr(of, method)

        def counted(self: Any, inputs: object) -> object:
            calls.append(type(self).__name__)
            return original(self, inputs)

        monkeypatch.setattr(of, method, counted)

    count(FaceClassifier, "score")
    count(ImageDetector, "scores")
    forensix.analyze(portrait, [PICTURE, FACES], explain=False)
    assert sorted(calls) == ["FaceClassifier", "ImageDetector", "RegionDetector"]
