"""The fine detail that a face lacks beside its surroundings: what raises it, what cancels out, where it is not told."""

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from forensix.faces.detail_gap import detail_gap
from forensix.faces.detect import Detections, detect


@pytest.fixture(scope="module")
def face(astronaut: np.ndarray) -> Detections:
    return detect([astronaut])[0]


def gap(rgb: np.ndarray, face: Detections) -> float:
    return detail_gap(rgb, face.boxes[0], face.landmarks[0])


def soft_face(rgb: np.ndarray, face: Detections) -> np.ndarray:
    """Return the picture with the face at half its resolution, as a generator of small faces leaves it."""
    picture = Image.fromarray(rgb)
    half = picture.resize((picture.width // 2, picture.height // 2), Image.Resampling.BICUBIC)
    mask = Image.new("L", picture.size)
    ImageDraw.Draw(mask).ellipse(face.boxes[0].tolist(), fill=255)
    picture.paste(half.resize(picture.size, Image.Resampling.BICUBIC), mask=mask.filter(ImageFilter.GaussianBlur(2)))
    return np.asarray(picture)


def test_a_face_of_less_resolution_than_the_picture_has_a_gap(astronaut: np.ndarray, face: Detections) -> None:
    assert gap(soft_face(astronaut, face), face) > gap(astronaut, face) + 0.2


def test_what_happens_to_the_whole_picture_cancels_out(astronaut: np.ndarray, face: Detections) -> None:
    dark = (astronaut * 0.6).astype(np.uint8)
    assert gap(dark, face) == pytest.approx(gap(astronaut, face), abs=0.1)
    twice = np.asarray(Image.fromarray(astronaut).resize((640, 640), Image.Resampling.BICUBIC))
    larger = Detections(2 * face.boxes, face.scores, 2 * face.landmarks)
    whole = gap(twice, larger)
    assert abs(whole - gap(astronaut, face)) < gap(soft_face(astronaut, face), face) - gap(astronaut, face)


def test_bars_around_the_picture_do_not_count(astronaut: np.ndarray, face: Detections) -> None:
    y1, y2 = face.boxes[0, [1, 3]]
    margin = round(0.3 * (y2 - y1))
    top, bottom = round(y1) - margin, round(y2) + margin
    barred = astronaut.copy()
    barred[:top], barred[bottom:] = 0, 0
    cropped = Detections(face.boxes - [0, top, 0, top], face.scores, face.landmarks - [0, top])
    assert gap(barred, face) == pytest.approx(gap(astronaut[top:bottom], cropped), abs=0.1)


def test_what_is_too_small_or_bare_is_not_told(astronaut: np.ndarray, face: Detections) -> None:
    bare = np.full_like(astronaut, 120)
    x1, y1, x2, y2 = face.boxes[0].round().astype(int)
    bare[y1:y2, x1:x2] = astronaut[y1:y2, x1:x2]
    assert np.isnan(gap(np.full_like(astronaut, 120), face))
    small = np.asarray(Image.fromarray(astronaut).resize((40, 40)))
    assert np.isnan(detail_gap(small, face.boxes[0] / 8, face.landmarks[0] / 8))
    outside = face.boxes[0] + 10_000
    assert np.isnan(detail_gap(astronaut, outside, face.landmarks[0] + 10_000))
