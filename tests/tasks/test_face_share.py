"""What the faces in a picture add to the verdict on the picture, where a detector's card gives them a weight."""

from pathlib import Path

import numpy as np
import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.calibration import logit, sigmoid
from forensix.faces import FaceClassifier
from forensix.models import FaceShare, ModelCard, get_card
from tests.making import write_video

TASK, FACES = "ai_generated_image_detection", "face_manipulation"
SHARE = FaceShare(classifier="forensix-face", weight=0.5)


class Opinion:
    """A detector with a fixed opinion, whose card gives faces a weight."""

    def __init__(self, score: float) -> None:
        self.fixed = score
        self.card: ModelCard = get_card("forensix-image").model_copy(update={"faces": SHARE})

    def score(self, rgb: np.ndarray) -> float:
        return self.fixed


def test_what_is_said_of_the_face_is_added_to_what_is_said_of_the_picture(portrait: Path) -> None:
    report = forensix.analyze(portrait, [TASK, FACES], explain=False, image_detector=Opinion(0.4))
    face = report.scores[FACES]
    assert face is not None
    both = float(sigmoid(logit(0.4) + 0.5 * logit(face)))
    assert report.scores[TASK] == pytest.approx(both, abs=1e-6) and abs(both - 0.4) > 0.01
    assert "forensix-face" in report.outcomes[TASK].models
    (note,) = [note for note in report.outcomes[TASK].notes if "by itself" in note]
    assert note == (
        f"The picture by itself scores 0.40, the face in it {face:.2f} (forensix-face); weighed together {both:.2f}."
    )


def test_a_picture_without_a_face_is_judged_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "coffee.png"
    Image.fromarray(skimage.data.coffee()).save(path)
    report = forensix.analyze(path, [TASK], explain=False, image_detector=Opinion(0.4))
    assert report.scores[TASK] == pytest.approx(0.4)
    assert "forensix-face" not in report.outcomes[TASK].models


def test_a_face_too_small_to_be_judged_adds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "small.png"
    Image.fromarray(skimage.data.astronaut()).resize((150, 150)).save(path)
    report = forensix.analyze(path, [TASK, FACES], explain=False, image_detector=Opinion(0.4))
    assert report.scores == {TASK: pytest.approx(0.4), FACES: None}


def test_a_video_is_judged_without_its_faces(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    write_video(path, n_frames=10, rate=10)
    report = forensix.analyze(path, [TASK], explain=False, image_detector=Opinion(0.4))
    assert report.scores[TASK] == pytest.approx(0.4)


def test_a_face_is_scored_once_for_both_tasks(portrait: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, score = [], FaceClassifier.score

    def counted(self: FaceClassifier, inputs: object) -> object:
        calls.append(inputs)
        return score(self, inputs)

    monkeypatch.setattr(FaceClassifier, "score", counted)
    forensix.analyze(portrait, [TASK, FACES], explain=False, image_detector=Opinion(0.4))
    assert len(calls) == 1
