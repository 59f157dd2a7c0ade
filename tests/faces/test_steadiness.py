"""How steady a face is over three frames: what each value answers to, and where nothing is measured."""

import numpy as np
import pytest
from PIL import Image

from forensix.faces.detect import Detections, detect
from forensix.faces.steadiness import LEAST_MOMENTS, MOST_FACE_PX, N_VALUES, PARTS, VALUES, pooled, steadiness

CHANGE, CHANGE_OVER_TWO, UNEVENNESS, MOTION = range(len(VALUES))


@pytest.fixture(scope="module")
def face(astronaut: np.ndarray) -> Detections:
    return detect([astronaut])[0]


def noisy(rgb: np.ndarray, seed: int, sigma: float = 4.0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, sigma, rgb.shape)
    return np.clip(rgb + noise, 0, 255).astype(np.uint8)


def values(frames: list[np.ndarray], face: Detections) -> np.ndarray:
    return steadiness(frames, face.boxes[0], face.landmarks[0]).reshape(len(PARTS), len(VALUES))


def shifted(rgb: np.ndarray, by: int) -> list[np.ndarray]:
    return [np.roll(rgb, i * by, axis=1) for i in range(3)]


def test_noise_that_comes_and_goes_is_less_steady_than_noise_that_stays(
    astronaut: np.ndarray, face: Detections
) -> None:
    fresh = values([noisy(astronaut, i) for i in range(3)], face)
    kept = [noisy(noisy(astronaut, 0), i, 1.0) for i in range(3)]
    assert (fresh[:, :2] > values(kept, face)[:, :2] + 0.5).all()


def test_a_face_that_moves_has_motion_and_other_detail(astronaut: np.ndarray, face: Detections) -> None:
    still, moving = (
        values(shifted(noisy(astronaut, 0), by), face)
        if by
        else values([noisy(astronaut, i, 1.0) for i in range(3)], face)
        for by in (0, 3)
    )
    assert (moving[:, MOTION] > still[:, MOTION] + 1).all()
    assert (moving[:, CHANGE] > still[:, CHANGE]).all()
    # Detail that moves on is as much another after one step as after two; noise as well.
    assert np.abs(moving[:, CHANGE] - moving[:, CHANGE_OVER_TWO]).max() < 0.4


def test_a_face_that_blurs_at_times_is_uneven(astronaut: np.ndarray, face: Detections) -> None:
    small = Image.fromarray(astronaut).resize((len(astronaut) // 2,) * 2)
    soft = np.asarray(small.resize(astronaut.shape[1::-1]))
    even = values([noisy(astronaut, i, 1.0) for i in range(3)], face)
    uneven = values([noisy(rgb, i, 1.0) for i, rgb in enumerate((astronaut, soft, astronaut))], face)
    assert (uneven[:, UNEVENNESS] > even[:, UNEVENNESS] + 1).all()


def test_large_faces_are_measured_at_a_bounded_size(astronaut: np.ndarray, face: Detections) -> None:
    times = MOST_FACE_PX / float(np.max(face.boxes[0, 2:] - face.boxes[0, :2]))

    def at(times: float) -> np.ndarray:
        side = round(len(astronaut) * times)
        frames = [np.asarray(Image.fromarray(noisy(astronaut, i)).resize((2 * side, 2 * side))) for i in range(3)]
        frames = [np.asarray(Image.fromarray(frame).resize((side, side))) for frame in frames]
        return steadiness(frames, face.boxes[0] * times, face.landmarks[0] * times).reshape(len(PARTS), len(VALUES))

    told = [CHANGE, CHANGE_OVER_TWO, MOTION]
    assert np.abs(at(2 * times) - at(times))[:, told].max() < 0.3
    assert np.abs(at(times) - at(0.5 * times))[:, told].max() > 0.3


def test_what_is_small_or_repeated_is_not_measured(astronaut: np.ndarray, face: Detections) -> None:
    frames = [noisy(astronaut, i) for i in range(3)]
    assert np.isnan(values([frames[0], frames[1], frames[1]], face)).all()
    small = [np.asarray(Image.fromarray(frame).resize((48, 48))) for frame in frames]
    times = 48 / len(astronaut)
    assert np.isnan(steadiness(small, face.boxes[0] * times, face.landmarks[0] * times)).any()
    outside = steadiness(frames, face.boxes[0] + 10_000, face.landmarks[0] + 10_000)
    assert np.isnan(outside).all()


def test_few_moments_say_nothing() -> None:
    row = np.arange(N_VALUES, dtype=np.float64)
    gap = np.full(N_VALUES, np.nan)
    assert pooled(np.array([row] * LEAST_MOMENTS + [gap])).tolist() == row.tolist()
    assert np.isnan(pooled(np.array([row] * (LEAST_MOMENTS - 1) + [gap] * 5))).all()
    assert np.isnan(pooled(np.zeros((0, N_VALUES)))).all()
