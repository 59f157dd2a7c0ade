"""Even areas: photographs have few, drawings and pages of text are made of them."""

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw

from forensix.synthetic.content import even_share, is_drawn


@pytest.mark.parametrize("photograph", [skimage.data.astronaut, skimage.data.coffee, skimage.data.chelsea])
def test_photographs_are_not_drawn(photograph):
    assert not is_drawn(photograph())


def test_a_page_of_text_is_drawn():
    page = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(page)
    for top in range(40, 760, 24):
        draw.text((40, top), "Nothing here was photographed, and nothing was generated.", fill=(20, 20, 20))
    assert is_drawn(np.asarray(page))


def test_share_counts_blocks():
    rgb = np.random.default_rng(0).integers(0, 256, (64, 128, 3), dtype=np.uint8)
    assert even_share(rgb) == 0
    rgb[:, :64] = 7
    rgb[3, 5] = 9  # two levels are still even
    assert even_share(rgb) == 0.5


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (8, 8), (9, 2000)])
def test_any_size_has_a_share(size):
    assert 0 <= even_share(np.zeros((*size, 3), np.uint8)) <= 1
