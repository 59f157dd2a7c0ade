"""What is told of faces beside the score: fine detail, where faces lie, and parts that differ."""

from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest
import skimage.data
from PIL import Image

import forensix
from forensix.faces import landmarks
from forensix.faces.ffhq import placement
from forensix.faces.steadiness import N_VALUES
from forensix.models import DetailGap, Steadiness
from forensix.models.store import get_card
from forensix.tasks.evidence import Bounds, Film
from tests.making import write_video
from tests.tasks.opinion import Opinion

TASK = "face_manipulation"


@pytest.fixture(scope="module")
def soft_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seconds of a picture whose face has half its resolution."""
    picture = Image.fromarray(skimage.data.astronaut()[:340, 50:430])
    small = picture.resize((picture.width // 2, picture.height // 2)).resize(picture.size, Image.Resampling.BICUBIC)
    picture.paste(small.crop((125, 40, 225, 190)), (125, 40))
    path = tmp_path_factory.mktemp("faces") / "soft.mp4"
    write_video(path, 50, picture.size, rate=25, paint=([np.asarray(picture)] * 50).__getitem__)
    return path


def test_a_face_with_less_fine_detail_than_its_surroundings_is_told_of_and_scores_the_same(soft_clip: Path) -> None:
    opinion = Opinion(0.5)
    lacked = DetailGap(recorded=(-0.4, 0.1, 0.25, 0.9))
    cards = {gap: SimpleNamespace(name="opinion", sha256="0", threshold=0.9, detail_gap=gap) for gap in (None, lacked)}
    scores = {}
    for gap, card in cards.items():
        opinion.card = card
        report = forensix.analyze(soft_clip, [TASK], face_classifier=opinion)
        outcome = report.outcomes[TASK]
        (bounds,) = [item for item in outcome.evidence if isinstance(item, Bounds)] or (None,)
        assert (bounds is None) == (gap is None)
        assert any("less fine detail than its surroundings" in note for note in outcome.notes) == (gap is not None)
        scores[gap is None] = report.scores[TASK]
    assert scores[True] == scores[False] == pytest.approx(0.5)
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
        lacked = DetailGap(recorded=(-0.4, 0.1, 0.25, 9.0))
        opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, detail_gap=lacked)
        outcome = forensix.analyze(path, [TASK], face_classifier=opinion).outcomes[TASK]
        (bounds[path],) = [item for item in outcome.evidence if isinstance(item, Bounds)]
        assert any("less fine detail" in note for note in outcome.notes) == (path == soft_clip)
    assert bounds[two].rows[0].value == pytest.approx(bounds[soft_clip].rows[0].value, abs=0.1)
    assert [row.is_outlier for row in bounds[two].rows] == [False, False]


@pytest.fixture(scope="module")
def moving_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds of a face that goes up and down before a camera with noise, and opens and shuts its mouth."""
    return face_that_goes_up_and_down(tmp_path_factory.mktemp("faces") / "moving.mp4", talks=True)


def face_that_goes_up_and_down(path: Path, *, talks: bool) -> Path:
    rng, picture = np.random.default_rng(0), skimage.data.astronaut()[:340, 50:430]

    def paint(index: int) -> np.ndarray:
        face = picture.copy()
        if talks:
            face[140 : 143 + 3 * (index % 5), 158:192] = (90, 30, 30)
        noise = rng.normal(0, 3, picture.shape)
        return np.clip(np.roll(face, index % 7, axis=0) + noise, 0, 255).astype(np.uint8)

    return write_video(path, 75, (380, 340), rate=25, paint=paint)


@pytest.mark.parametrize(("logit", "word"), [(1.0, "is steadier"), (-1.0, "is less steady")])
def test_how_steady_a_face_is_moves_its_score_in_videos_alone(
    logit: float, word: str, moving_clip: Path, portrait: Path
) -> None:
    rule = Steadiness(
        means=(0,) * N_VALUES, deviations=(1,) * N_VALUES, weights=(0,) * N_VALUES, intercept=logit, most_logit=9
    )
    opinion = Opinion(0.4)
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, steadiness=rule)
    report = forensix.analyze(moving_clip, [TASK], face_classifier=opinion)
    expected = 1 / (1 + np.exp(-(np.log(0.4 / 0.6) + logit)))
    assert report.scores[TASK] == pytest.approx(expected)
    assert [score for _, score in report.outcomes[TASK].frame_scores] == pytest.approx([expected] * 15, abs=1e-6)
    (note,) = [note for note in report.outcomes[TASK].notes if "frame to frame" in note]
    assert word in note and "scores 0.40 by its crops" in note and f"to {expected:.2f}" in note
    still = forensix.analyze(portrait, [TASK], face_classifier=opinion)
    assert still.scores[TASK] == pytest.approx(0.4) and not still.outcomes[TASK].notes


def test_a_photograph_that_is_shown_in_a_video_is_not_suspected_for_being_steady(tmp_path: Path) -> None:
    rule = Steadiness(
        means=(0,) * N_VALUES, deviations=(1,) * N_VALUES, weights=(0,) * N_VALUES, intercept=1.25, most_logit=1.25
    )
    opinion = Opinion(0.4)
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, steadiness=rule)
    path = face_that_goes_up_and_down(tmp_path / "shown.mp4", talks=False)
    report = forensix.analyze(path, [TASK], face_classifier=opinion)
    assert report.scores[TASK] == pytest.approx(0.4)
    (note,) = report.outcomes[TASK].notes
    assert note.startswith("The mouth and the eyes of face 0 hardly move while it is seen, as in a photograph")


def test_a_clip_of_repeated_frames_is_judged_by_its_crops(soft_clip: Path) -> None:
    rule = Steadiness(
        means=(0,) * N_VALUES, deviations=(1,) * N_VALUES, weights=(1,) * N_VALUES, intercept=5, most_logit=9
    )
    opinion = Opinion(0.4)
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, steadiness=rule)
    report = forensix.analyze(soft_clip, [TASK], face_classifier=opinion)
    assert report.scores[TASK] == pytest.approx(0.4)
    assert not any("frame to frame" in note for note in report.outcomes[TASK].notes)


def test_fine_detail_says_nothing_of_pictures(portrait: Path) -> None:
    opinion = Opinion(0.4)
    lacked = DetailGap(recorded=(-1, -0.9, -0.8, -0.7))
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.9, detail_gap=lacked)
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


def test_a_heat_map_of_patches_is_drawn_over_the_whole_face(portrait: Path) -> None:
    class Patches(Finder):
        def heatmap(self, crop: np.ndarray) -> np.ndarray:
            return super().heatmap(crop)[::16, ::16]

    def drawn(regions: Finder) -> str:
        report = forensix.analyze(portrait, [TASK], face_classifier=Opinion(0.2), face_regions=regions)
        (picture,) = [item for item in report.outcomes[TASK].evidence if item.title == "Face 0: heat map"]
        return picture.data_uri

    assert drawn(Patches(0.8, 0.7)) == drawn(Finder(0.8, 0.7))


def test_in_videos_nothing_is_told_where_the_bound_is_open(clip: Path) -> None:
    report = forensix.analyze(clip, [TASK], face_classifier=Opinion(0.2), face_regions=Finder(0.99, 0.7))
    assert not any("differs" in note for note in report.outcomes[TASK].notes)
