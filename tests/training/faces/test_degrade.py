"""What both classes go through before a classifier of one's own sees them."""

import numpy as np
import pytest
from skimage.data import astronaut

from forensix.perturb.image import jpeg
from forensix.training.faces.degrade import degrade, h264, key_frame


@pytest.fixture(scope="module")
def rgb() -> np.ndarray:
    return astronaut()[:200, 100:301]


def test_codecs_lose_a_little_and_keep_the_size(rgb: np.ndarray) -> None:
    even = rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]
    for coded in (jpeg(even, 80), h264(even, 28), key_frame(even, 28)):
        assert coded.shape == even.shape
        assert 0.3 < np.abs(coded.astype(int) - even).mean() < 12


def test_one_chain_of_the_same_seed_is_the_same_for_both_classes(rgb: np.ndarray) -> None:
    first, again = (degrade(rgb, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_a_key_frame_is_coded_much_as_the_codec_does_it_at_every_quality(rgb: np.ndarray) -> None:
    even = rgb[:200, :200].astype(int)
    lost = {of: [np.abs(of(rgb, crf) - even).mean() for crf in (16, 24, 32)] for of in (h264, key_frame)}
    np.testing.assert_allclose(lost[key_frame], lost[h264], rtol=0.15)
    assert key_frame(rgb, 30).shape == (200, 200, 3), "an odd side loses a column"


def test_what_codes_a_frame_can_be_chosen(rgb: np.ndarray) -> None:
    asked: list[int] = []

    def video(frame: np.ndarray, crf: int) -> np.ndarray:
        asked.append(crf)
        return frame

    for seed in range(12):
        degrade(rgb, np.random.default_rng(seed), video=video)
    assert 2 < len(asked) < 10 and all(16 <= crf < 33 for crf in asked)
