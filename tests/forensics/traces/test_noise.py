"""Uneven noise: it answers to noise added to an area, refuses what cannot tell, and is named with its map."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from forensix.forensics.rules import image_pixels
from forensix.forensics.traces import noise, pixels
from tests.forensics.traces.test_pixels import saved, texture

AREA = (slice(160, 320), slice(240, 400))


def grained(sigma: float, added: float = 0.0) -> np.ndarray:
    """Return 512 x 640 as through a lens, sharp on the left, with noise of ``sigma`` and ``added`` more in an area."""
    rng = np.random.default_rng(3)
    flat = texture(512, 640, seed=5).astype(np.float32)
    soft, softer = (ndimage.gaussian_filter(flat, (width, width, 0)) for width in (0.7, 2.0))
    share = np.linspace(0, 1, 640, dtype=np.float32)[None, :, None]
    rgb = soft * (1 - share) + softer * share + rng.normal(0, sigma, flat.shape)
    rgb[AREA] += rng.normal(0, added, (160, 160, 3))
    return np.clip(np.round(rgb), 0, 255).astype(np.uint8)


def measured(path: Path, rgb: np.ndarray, quality: int) -> dict | None:
    path.write_bytes(saved(rgb, quality))
    return pixels.uneven_noise(str(path))


def test_noise_added_to_an_area_is_found_at_its_place(tmp_path: Path) -> None:
    values = measured(tmp_path / "a.jpg", grained(1.0, 4.0), 95)
    assert values is not None and image_pixels.is_noisy(values)
    left, top, wide, high = values["box"]
    assert abs(left - 240) <= 32 and abs(top - 160) <= 32 and abs(wide - 160) <= 64 and abs(high - 160) <= 64
    assert Image.open(io.BytesIO(values["map"])).size == (640, 512)


@pytest.mark.parametrize("sigma", [0.0, 2.0, 6.0])
@pytest.mark.parametrize("quality", [90, 95])
def test_even_noise_is_not_raised(sigma: float, quality: int, tmp_path: Path) -> None:
    values = measured(tmp_path / "a.jpg", grained(sigma), quality)
    assert values is not None and not image_pixels.is_noisy(values)


def test_an_area_with_noise_has_the_larger_excess(tmp_path: Path) -> None:
    values = [measured(tmp_path / "a.jpg", grained(1.0, added), 95)["excess"] for added in (0.0, 2.0, 4.0)]
    assert values == sorted(values) and values[2] > values[0] + 1


def test_coarse_tables_small_and_drawn_pictures_are_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    assert measured(path, grained(1.0, 4.0), 75) is None
    assert measured(path, texture(160, 320), 95) is None
    drawn = np.full((512, 640, 3), 200, np.uint8)
    drawn[AREA] = grained(1.0, 4.0)[AREA]
    assert measured(path, drawn, 95) is None
    assert measured(path, np.zeros((512, 640, 3), np.uint8), 95) is None
    path.write_bytes(saved(grained(1.0), 95)[:300])
    assert pixels.uneven_noise(str(path)) is None


def test_the_band_is_the_highest_that_the_table_keeps() -> None:
    order = np.add.outer(np.arange(8), np.arange(8))
    fine = noise.band(np.ones((8, 8)))
    assert fine is not None and fine.sum() == noise.N_FREQUENCIES and order[fine].min() >= 10
    assert noise.band(np.full((8, 8), noise.MAX_STEP + 1)) is None
    assert noise.band(np.zeros((8, 8))) is None


def test_large_pictures_are_measured_in_their_middle_on_the_blocks_of_the_file() -> None:
    rgb, left, top = noise._middle(np.zeros((3000, 4000, 3), np.uint8))
    assert rgb.shape[0] * rgb.shape[1] <= noise.MAX_PIXELS
    assert left % 8 == top % 8 == 0 and abs(2 * left + rgb.shape[1] - 4000) <= 16


def test_the_claim_needs_a_large_excess_in_a_part() -> None:
    base = {"excess": image_pixels.NOISE_EXCESS, "share": 0.05, "box": [8, 16, 96, 104], "map": b"jpeg"}
    (actual,) = image_pixels.uneven_noise({"noise": base})
    assert actual.claim.claim == "An area of the picture holds more noise than the rest"
    assert "8, 16 (96 x 104 pixels)" in actual.claim.explanation
    assert list(image_pixels.uneven_noise({"noise": base | {"excess": image_pixels.NOISE_EXCESS - 0.01}})) == []
    assert list(image_pixels.uneven_noise({"noise": base | {"share": 0.5}})) == []
    assert list(image_pixels.uneven_noise({})) == []
