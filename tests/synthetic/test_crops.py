"""Windows: any size of picture, fixed places, inside the picture, never scaled; and the middle square."""

import numpy as np
import pytest

from forensix.synthetic.crops import SQUARE_PX, at_least, middle_square, positions, windows


@pytest.mark.parametrize("size", [(1, 1), (16, 16), (5, 900), (127, 128), (128, 128), (300, 200), (3000, 4000)])
def test_windows_of_any_size(size):
    rgb = np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)
    cut = windows(rgb, 128, 9)
    assert cut.shape[1:] == (128, 128, 3) and 1 <= len(cut) <= 9
    assert np.array_equal(cut, windows(rgb, 128, 9))


def test_windows_are_pieces_of_the_picture():
    rgb = np.random.default_rng(0).integers(0, 255, (300, 500, 3), dtype=np.uint8)
    corners = positions(300, 500, 128, 9)
    assert len(corners) == len(set(corners)) > 3
    for (top, left), cut in zip(corners, windows(rgb, 128, 9), strict=True):
        assert 0 <= top <= 300 - 128 and 0 <= left <= 500 - 128
        assert np.array_equal(rgb[top : top + 128, left : left + 128], cut)


def test_small_pictures_are_mirrored_not_scaled():
    rgb = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    grown = at_least(rgb, 8)
    assert grown.shape == (8, 8, 3)
    assert np.array_equal(grown[:2, :2], rgb) and np.array_equal(grown[:2, 2], rgb[:, 1])
    assert set(map(tuple, grown.reshape(-1, 3))) == set(map(tuple, rgb.reshape(-1, 3)))


def test_long_pictures_get_windows_along_their_length():
    corners = positions(200, 6000, 128, 9)
    assert len({left for _, left in corners}) >= 8


@pytest.mark.parametrize(
    ("size", "side"), [((1, 1), 224), ((100, 900), 224), ((300, 256), 256), ((447, 500), 416), ((448, 600), SQUARE_PX)]
)
def test_the_middle_square_of_a_small_picture_keeps_its_pixels(size, side):
    rgb = np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)
    square = middle_square(rgb)
    assert square.shape == (side, side, 3)
    if min(size) == side:
        top, left = (size[0] - side) // 2, (size[1] - side) // 2
        assert np.array_equal(square, rgb[top : top + side, left : left + side])
    elif min(size) > side:
        # The picture is white noise: a row of it stands nowhere else.
        assert any(np.array_equal(row[x : x + side], square[0]) for row in rgb for x in range(size[1] - side + 1))


def test_the_middle_square_of_a_large_picture_is_scaled():
    ramp = np.broadcast_to(np.linspace(0, 255, 1200)[:, None, None], (1200, 3000, 3)).astype(np.uint8)
    square = middle_square(ramp)
    assert square.shape == (SQUARE_PX, SQUARE_PX, 3)
    expected = np.linspace(0, 255, SQUARE_PX)
    assert abs(square[:, SQUARE_PX // 2, 0] - expected).max() < 3
