"""What is said of parts put into faces counts beside what is said of them as a whole, where a card says so."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.calibration import logit, sigmoid
from forensix.faces import RegionDetector
from forensix.models import Parts, get_card
from forensix.tasks.evidence import Film
from tests.tasks.opinion import Opinion

TASK = "face_manipulation"
PARTS = Parts(model="forensix-face-regions", share=0.2)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Have the shipped model say 0.9 of every crop; return how many crops it was asked about each time."""
    asked: list[int] = []

    def score(self: RegionDetector, crops: np.ndarray) -> np.ndarray:
        asked.append(len(crops))
        return np.full(len(crops), 0.9)

    monkeypatch.setattr(RegionDetector, "score", score)
    return asked


def opinion(score: float, parts: Parts | None = PARTS) -> Any:
    classifier = Opinion(score)
    classifier.card = get_card("forensix-face").model_copy(
        update={"fusion": None, "steadiness": None, "detail_gap": None, "parts": parts}
    )
    return classifier


def either(whole: float, part: float = 0.9) -> float:
    return float(sigmoid(np.log(0.8 * np.exp(logit(whole)) + 0.2 * np.exp(logit(part)))))


def test_a_face_is_fake_where_it_was_made_in_either_way(portrait: Path, said: list[int]) -> None:
    for whole in (0.1, 0.95):
        report = forensix.analyze(portrait, [TASK], explain=False, face_classifier=opinion(whole))
        outcome, both = report.outcomes[TASK], either(whole)
        assert report.scores[TASK] == pytest.approx(both)
        assert f"scores {whole:.2f}, that a part was put into it 0.90 (forensix-face-regions); in either way" in next(
            note for note in outcome.notes if "as a whole" in note
        )
        assert "forensix-face-regions" in outcome.models
    assert either(0.1) > 0.6 and either(0.95) > 0.94


def test_it_is_asked_once_where_it_also_draws_the_heat_map(portrait: Path, said: list[int]) -> None:
    report = forensix.analyze(portrait, [TASK], face_classifier=opinion(0.99))
    assert said == [1] and report.outcomes[TASK].models.count("forensix-face-regions") == 1
    (face,) = report.outcomes[TASK].result.explanation
    assert face.class_probability == pytest.approx(either(0.99)), "the face is shown with that score"


def test_without_a_word_on_the_card_the_face_is_judged_as_a_whole(portrait: Path, said: list[int]) -> None:
    report = forensix.analyze(portrait, [TASK], explain=False, face_classifier=opinion(0.4, None))
    assert report.scores[TASK] == pytest.approx(0.4) and not said


def test_of_a_clip_some_crops_are_looked_at_and_the_curve_meets_the_score(clip: Path, said: list[int]) -> None:
    report = forensix.analyze(clip, [TASK], face_classifier=opinion(0.3))
    assert report.scores[TASK] == pytest.approx(either(0.3))
    assert all(1 < n <= 8 for n in said)
    (film,) = [item for item in report.outcomes[TASK].evidence if isinstance(item, Film)]
    np.testing.assert_allclose(film.curves[0].y, either(0.3), rtol=1e-6)


def test_faces_that_are_not_judged_are_not_looked_at(tmp_path: Path, said: list[int]) -> None:
    astronaut = skimage.data.astronaut()
    small = np.asarray(Image.fromarray(astronaut).resize((150, 150)))
    path = tmp_path / "two.png"
    both = np.zeros((512, 662, 3), np.uint8)
    both[:, :512], both[100:250, 512:] = astronaut, small
    Image.fromarray(both).save(path)
    report = forensix.analyze(path, [TASK], explain=False, face_classifier=opinion(0.4))
    assert len(report.outcomes[TASK].notes) >= 2 and any("not judged" in note for note in report.outcomes[TASK].notes)
    assert said == [1] and report.scores[TASK] == pytest.approx(either(0.4))
    Image.fromarray(small).save(path)
    report = forensix.analyze(path, [TASK], explain=False, face_classifier=opinion(0.4))
    assert report.scores[TASK] is None and said == [1]
    assert "forensix-face-regions" not in report.outcomes[TASK].models


def test_the_shipped_card_names_a_model_that_ships() -> None:
    parts = get_card("forensix-face").parts
    assert parts is not None and get_card(parts.model).component == "face_regions" and 0 < parts.share < 0.5
