"""From frames to a face and from faces to a file: robust, fair to files with many faces, and which are not judged."""

import numpy as np
import pytest
from PIL import Image

from forensix.faces.align import aligned
from forensix.faces.detect import landmarks
from forensix.faces.steadiness import N_VALUES
from forensix.faces.track import FaceTrack
from forensix.faces.verdict import detail, doubt, face_logit, file_logit, is_smooth, texture
from forensix.models import Pooling
from forensix.perturb.image import contrast, smooth

TRIMMED = Pooling(low=0.1, high=0.9)


def face(crop: np.ndarray, *, side_px: float = 100.0, seen_ms: float = 1000.0) -> FaceTrack:
    n = 3
    box = np.array([10.0, 10.0, 10.0 + side_px, 10.0 + 1.3 * side_px])
    ms = np.linspace(0, seen_ms, n)
    crops, points = np.repeat(crop[None], n, axis=0), np.zeros((n, 5, 2))
    frames = np.arange(n)
    return FaceTrack(
        id=0,
        boxes=np.tile(box, (n, 1)),
        scores=np.ones(n),
        frame_idx=frames,
        frame_ms=ms,
        frame_rate_hz=25.0,
        kept=frames,
        crops=crops,
        windows=crops,
        landmarks=points,
        detail_gaps=np.zeros(n),
        steadiness=np.zeros((0, N_VALUES)),
    )


@pytest.fixture(scope="module")
def sharp(astronaut: np.ndarray) -> np.ndarray:
    return aligned(astronaut, landmarks(astronaut)[0])


def test_one_odd_frame_does_not_decide() -> None:
    calm = np.full(20, -2.0)
    odd = calm.copy()
    odd[7] = 50.0
    assert face_logit(odd, TRIMMED) == face_logit(calm, TRIMMED) == -2.0
    assert face_logit(np.array([3.0]), TRIMMED) == 3.0
    assert face_logit(np.array([1.0, -5.0, 3.0]), Pooling(low=0.5)) == 2.0
    with pytest.raises(ValueError, match="low must be below high"):
        Pooling(low=0.5, high=0.5)


def test_many_faces_are_not_held_against_a_file() -> None:
    rng = np.random.default_rng(0)
    of_one, of_thirty = (np.array([file_logit(rng.normal(-1, 1, n)) for _ in range(2000)]) for n in (1, 30))
    naive = np.array([rng.normal(-1, 1, 30).max() for _ in range(2000)])
    assert (of_thirty > 1).mean() <= (of_one > 1).mean() < 0.05 < (naive > 1).mean()


def test_one_swapped_face_among_three_still_shows_and_split_tracks_cost_nothing() -> None:
    assert file_logit(np.array([6.0, -3.0, -3.0])) > 4
    assert file_logit(np.full(10, 2.0)) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"side_px": 31.0}, "it is 31 px wide, and 48 are needed"),
        ({"seen_ms": 200.0}, "it is seen for 0.2 s, and 0.4 are needed"),
        ({"seen_ms": 0.0}, "it is seen at one moment only, and 0.4 s are needed"),
        ({}, ""),
    ],
)
def test_the_size_is_said_of_a_face_that_is_not_judged(sharp: np.ndarray, settings: dict, said: str) -> None:
    assert doubt(face(sharp, **settings), Pooling(), is_video=True) == said


def test_a_picture_is_not_short(sharp: np.ndarray) -> None:
    assert doubt(face(sharp, seen_ms=0.0), Pooling(), is_video=False) == ""


def test_a_blurred_face_is_not_judged(sharp: np.ndarray) -> None:
    def as_if(side_px: int) -> np.ndarray:
        return np.asarray(
            Image.fromarray(sharp).resize((side_px, side_px), Image.Resampling.BICUBIC).resize((224, 224))
        )

    assert detail(sharp) > detail(as_if(112)) > detail(as_if(28))
    assert "blurred" in doubt(face(as_if(28)), Pooling(), is_video=True)
    assert doubt(face(as_if(112)), Pooling(), is_video=True) == ""


def test_a_smoothed_face_has_hardly_any_texture_however_sharp_its_edges_are(sharp: np.ndarray) -> None:
    portrait = smooth(sharp, 1.0)
    assert texture(portrait) < 0.6 * texture(sharp) and detail(portrait) > 0.8 * detail(sharp)
    least = Pooling(min_texture=(texture(portrait) + texture(sharp)) / 2)
    assert is_smooth(face(portrait), least) and not is_smooth(face(sharp), least)
    assert not is_smooth(face(portrait), Pooling()), "a card that asks for none has every face judged alike"
    assert texture(contrast(sharp, 1.0)) > texture(sharp)
    assert texture(np.full_like(sharp, 90)) == 0
