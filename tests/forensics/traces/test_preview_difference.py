"""A picture beside its preview: turned as it is shown, red where they differ."""

import numpy as np
import pytest
import skimage.data
from PIL import Image, ImageStat

from forensix.forensics.rules.image_pixels import PART_CHANGED
from forensix.forensics.traces.preview_difference import (
    EXIF_TURNS,
    GAP_PX,
    HEIGHT_PX,
    difference,
    most_changed,
    orientation_of,
    side_by_side,
)


@pytest.fixture
def picture() -> Image.Image:
    rows = np.linspace(40, 200, 120)[:, None] + np.linspace(0, 50, 160)[None]
    return Image.fromarray(np.repeat(rows[..., None], 3, axis=2).astype(np.uint8))


def _red(image: Image.Image) -> np.ndarray:
    rgb = np.asarray(image, int)
    return (rgb[..., 0] - rgb[..., 1]) > 60


def test_the_same_picture_smaller_and_compressed_has_no_red(picture: Image.Image) -> None:
    assert not _red(difference(picture, picture.resize((80, 60)))).any()


def test_a_changed_area_is_red_and_the_rest_is_not(picture: Image.Image) -> None:
    preview = picture.resize((80, 60))
    edited = picture.copy()
    edited.paste((255, 255, 255), (20, 20, 60, 60))
    red = _red(difference(edited, preview))
    assert red[15:25, 15:25].all() and not red[:, 45:].any()


@pytest.mark.parametrize("orientation", [1, *EXIF_TURNS])
def test_panels_stand_beside_each_other_as_they_are_shown(picture: Image.Image, orientation: int) -> None:
    row = side_by_side(picture, picture.resize((80, 60)), picture, picture.resize((80, 60)), orientation)
    upright = orientation >= 5
    width = round(120 * HEIGHT_PX / 160) if upright else round(160 * HEIGHT_PX / 120)
    assert row.size == (3 * width + 2 * GAP_PX, HEIGHT_PX)


def test_an_orientation_of_no_meaning_is_none() -> None:
    exif = Image.Exif()
    assert orientation_of(exif) == 1
    for value, expected in ((6, 6), (1, 1), (99, 1), ("x", 1)):
        exif[0x0112] = value
        assert orientation_of(exif) == expected


def test_an_even_patch_in_the_colours_around_it_differs_from_the_preview() -> None:
    photograph = Image.fromarray(skimage.data.astronaut())
    preview = photograph.resize((160, 160)).point(lambda value: int(20 + 0.85 * value))
    assert most_changed(photograph, preview) < PART_CHANGED / 4
    box = (180, 60, 280, 160)
    photograph.paste(tuple(int(v) for v in ImageStat.Stat(photograph.crop(box)).mean), box)
    assert most_changed(photograph, preview) > PART_CHANGED
