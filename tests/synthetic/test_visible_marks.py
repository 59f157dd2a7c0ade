"""Marks for all to see: what a generator draws into the corner is read, at any size, and nothing is read elsewhere."""

import io

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageDraw

from forensix.synthetic.visible_marks import VisibleMark, coloured_squares, star, visible_mark
from tests.synthetic.embedding import draw_squares, draw_star

PHOTOGRAPHS = {"portrait": skimage.data.astronaut, "cat": skimage.data.chelsea, "cup": skimage.data.coffee}


def square(name: str) -> np.ndarray:
    """Return a photograph as 512 x 512 px."""
    return np.asarray(Image.fromarray(PHOTOGRAPHS[name]()).resize((512, 512), Image.Resampling.LANCZOS))


def resized(rgb: np.ndarray, side: int) -> np.ndarray:
    return np.asarray(Image.fromarray(rgb).resize((side, side), Image.Resampling.LANCZOS))


def stored(rgb: np.ndarray, quality: int) -> np.ndarray:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return np.asarray(Image.open(buffer))


@pytest.mark.parametrize("photograph", PHOTOGRAPHS)
def test_a_photograph_carries_none(photograph: str) -> None:
    assert visible_mark(PHOTOGRAPHS[photograph]()) is None
    assert visible_mark(square(photograph)) is None


@pytest.mark.parametrize("photograph", PHOTOGRAPHS)
@pytest.mark.parametrize("side", [256, 512, 1024])
def test_squares_are_read_after_scaling_and_jpeg(photograph: str, side: int) -> None:
    mark = coloured_squares(stored(resized(draw_squares(square(photograph)), side), 75))
    assert isinstance(mark, VisibleMark)
    assert mark.generator == "dall-e-2"
    assert mark.box == pytest.approx((side * 59 / 64, side * 63 / 64, side, side), abs=1)


@pytest.mark.parametrize("photograph", ["portrait", "cup"])
@pytest.mark.parametrize("side", [256, 512, 1500])
def test_the_star_is_read_after_scaling_and_jpeg(photograph: str, side: int) -> None:
    mark = star(stored(resized(draw_star(square(photograph)), side), 75))
    assert isinstance(mark, VisibleMark)
    assert mark.generator == "gemini"
    middle = np.mean(np.reshape(mark.box, (2, 2)), axis=0)
    assert middle == pytest.approx([side * (1 - 56 / 512)] * 2, abs=side / 100)


def test_colours_and_places_matter() -> None:
    squares, starred = draw_squares(square("cat")), draw_star(square("cat"))
    for changed in (squares[..., ::-1], squares[::-1], squares[:, ::-1], squares[:-8, :-8]):
        assert visible_mark(np.ascontiguousarray(changed)) is None
    for changed in (255 - starred, starred[::-1], starred[:, ::-1], starred[:-56, :-56], starred[:-40]):
        assert visible_mark(np.ascontiguousarray(changed)) is None


def test_spots_of_light_are_no_star() -> None:
    for shape in ("ellipse", "diamond", "rectangle"):
        picture = Image.fromarray(square("cat"))
        draw = ImageDraw.Draw(picture)
        x, y, r = 456, 456, 24
        corners = [(x - r, y), (x, y - r), (x + r, y), (x, y + r)]
        if shape == "diamond":
            draw.polygon(corners, fill=(255, 255, 255))
        else:
            getattr(draw, shape)((x - r, y - r, x + r, y + r), fill=(255, 255, 255))
        assert star(np.asarray(picture)) is None


@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (24, 24), (64, 2000), (63, 320)])
@pytest.mark.parametrize("value", [0, 255])
def test_odd_pictures_carry_none(shape: tuple[int, int], value: int) -> None:
    assert visible_mark(np.full((*shape, 3), value, dtype=np.uint8)) is None
