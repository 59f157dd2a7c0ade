"""The part of a face that was put in is marked; inputs, scores and device are those of every face classifier."""

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw, ImageFilter

import forensix
from forensix.errors import UsageError
from forensix.faces import RegionDetector, aligned, forensix_face_regions, landmarks

OVAL = (66, 70, 158, 176)


@pytest.fixture(scope="module")
def detector() -> RegionDetector:
    return forensix_face_regions()


@pytest.fixture(scope="module")
def crop() -> np.ndarray:
    rgb = skimage.data.astronaut()
    return aligned(rgb, landmarks(rgb)[0])


@pytest.mark.parametrize("size", [64, 160, 224])
def test_the_map_is_as_large_as_the_crop(detector: RegionDetector, crop: np.ndarray, size: int) -> None:
    heat = detector.heatmap(np.asarray(Image.fromarray(crop).resize((size, size))))
    assert heat.shape == (size, size) and heat.min() >= 0 and heat.max() <= 1


def test_a_face_taken_down_to_a_swappers_size_is_marked_and_scores_higher(
    detector: RegionDetector, crop: np.ndarray
) -> None:
    mask = Image.new("L", (224, 224))
    ImageDraw.Draw(mask).ellipse(OVAL, fill=255)
    picture = Image.fromarray(crop)
    coarse = picture.resize((80, 80)).resize((224, 224))
    blend = np.asarray(Image.composite(coarse, picture, mask.filter(ImageFilter.GaussianBlur(4))))
    inside = np.asarray(mask) > 0
    before, after = detector.heatmap(crop), detector.heatmap(blend)
    assert (after - before)[inside].mean() > 0.1 > (after - before)[~inside].mean()
    scores = detector.score(np.stack([crop, blend]))
    assert scores[1] > scores[0]


def test_it_is_loaded_by_name_and_takes_pictures(detector: RegionDetector) -> None:
    score = forensix.load_detector("forensix-face-regions").score(Image.fromarray(skimage.data.astronaut()))
    assert 0 <= score <= 1
    with pytest.raises(UsageError, match="uint8"):
        detector.heatmap(np.zeros((160, 90, 3), np.uint8))
