"""Even areas: photographs have few, drawings and pages of text are made of them."""

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw
from scipy import ndimage

from forensix.synthetic.content import (
    PAINTED,
    SMALL_PX,
    doubt_if_fake,
    even_share,
    is_drawn,
    looks_illustrated,
    painted_look,
)
from tests.making import drawn_scene


@pytest.mark.parametrize("photograph", [skimage.data.astronaut, skimage.data.coffee, skimage.data.chelsea])
def test_photographs_are_not_drawn(photograph):
    assert not is_drawn(photograph())


def test_a_page_of_text_is_drawn():
    page = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(page)
    for top in range(40, 760, 24):
        draw.text((40, top), "Nothing here was photographed, and nothing was generated.", fill=(20, 20, 20))
    assert is_drawn(np.asarray(page))


def strokes(side_px: int = SMALL_PX) -> np.ndarray:
    """Return colours that change everywhere, as in a painting by many strokes."""
    noise = np.random.default_rng(0).normal(size=(side_px, side_px, 3))
    colours = ndimage.gaussian_filter(noise, (4, 4, 0))
    return (128 + 50 * colours / colours.std()).clip(0, 255).astype(np.uint8)


def test_what_looks_painted_cannot_be_called_generated():
    assert painted_look(strokes()) > PAINTED + 1
    assert "whether a person or a generator" in doubt_if_fake(strokes())
    assert "less than 448 px" in doubt_if_fake(strokes(SMALL_PX - 1))
    assert doubt_if_fake(skimage.data.astronaut()) == ""


@pytest.mark.parametrize("photograph", [skimage.data.astronaut, skimage.data.coffee, skimage.data.chelsea])
@pytest.mark.parametrize("scale", [1, 2, 3])
def test_photographs_do_not_look_painted_at_any_size(photograph, scale):
    picture = Image.fromarray(photograph())
    assert painted_look(np.asarray(picture.resize((scale * picture.width, scale * picture.height)))) < PAINTED


def test_what_has_no_edges_does_not_look_painted():
    for shape in ((1, 1, 3), (1, 900, 3), (900, 900, 3)):
        assert painted_look(np.full(shape, 40, np.uint8)) < 0


def test_what_looks_drawn_cannot_be_called_generated():
    drawn = np.asarray(drawn_scene())
    assert not is_drawn(drawn)
    assert doubt_if_fake(drawn).startswith("The picture looks drawn")
    assert doubt_if_fake(drawn, judges=["illustrated"]) == ""


@pytest.mark.parametrize("photograph", [skimage.data.astronaut, skimage.data.coffee, skimage.data.chelsea])
@pytest.mark.parametrize("scale", [1, 2])
def test_photographs_do_not_look_drawn_at_any_size(photograph, scale):
    picture = Image.fromarray(photograph())
    assert not looks_illustrated(np.asarray(picture.resize((scale * picture.width, scale * picture.height))))


def test_share_counts_blocks():
    rgb = np.random.default_rng(0).integers(0, 256, (64, 128, 3), dtype=np.uint8)
    assert even_share(rgb) == 0
    rgb[:, :64] = 7
    rgb[3, 5] = 9  # two levels are still even
    assert even_share(rgb) == 0.5


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (8, 8), (9, 2000)])
def test_any_size_has_a_share(size):
    assert 0 <= even_share(np.zeros((*size, 3), np.uint8)) <= 1


def test_what_is_mostly_black_or_white_cannot_be_called_generated():
    stars = skimage.data.hubble_deep_field()
    for picture in (stars, 255 - stars // 2):
        assert not is_drawn(picture)
        assert "Nearly all of the picture" in doubt_if_fake(picture)
    assert doubt_if_fake(stars // 2 + 60) == ""
