"""What both classes go through before a classifier of one's own sees them."""

import numpy as np
import pytest
from skimage.data import astronaut

from forensix.perturb.image import jpeg
from forensix.training.faces.degrade import degrade, h264


@pytest.fixture(scope="module")
def rgb() -> np.ndarray:
    return astronaut()[:200, 100:301]


def test_codecs_lose_a_little_and_keep_the_size(rgb: np.ndarray) -> None:
    even = rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]
    for coded in (jpeg(even, 80), h264(even, 28)):
        assert coded.shape == even.shape
        assert 0.3 < np.abs(coded.astype(int) - even).mean() < 12


def test_one_chain_of_the_same_seed_is_the_same_for_both_classes(rgb: np.ndarray) -> None:
    first, again = (degrade(rgb, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
