"""Watermarks of reference code: what was written is read, and nothing is read where nothing was written."""

import io

import numpy as np
import pytest
import skimage.data
from PIL import Image

from forensix.synthetic.watermark import MESSAGES, dwt_dct
from tests.synthetic.embedding import embed

PHOTOGRAPHS = {"portrait": skimage.data.astronaut, "cat": skimage.data.chelsea, "cup": skimage.data.coffee}


@pytest.fixture(scope="module")
def reader():
    return dwt_dct()


def stored(rgb: np.ndarray, **options: object) -> np.ndarray:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", **options)
    return np.asarray(Image.open(buffer))


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("photograph", PHOTOGRAPHS)
def test_what_was_written_is_read(reader, name, photograph):
    message, generator = MESSAGES[name]
    marked = embed(PHOTOGRAPHS[photograph](), message, from_bytes=name not in ("SDXL", "FLUX"))
    mark = reader.read(marked)
    assert mark is not None and (mark.message, mark.generator) == (name, generator)
    assert mark.n_bits == len(message) and mark.agreement.n_right >= 0.95 * mark.n_bits
    assert mark.agreement.correlation > 0.8 and mark.agreement.chance < 1e-12


def test_messages_are_those_of_the_reference_code():
    lengths = {name: len(message) for name, (message, _) in MESSAGES.items()}
    # FLUX's code writes bin(x)[2:], which drops the two zeros in front of its 48 bits.
    assert (lengths["SDXL"], lengths["FLUX"], lengths["StableDiffusionV1"]) == (48, 46, 136)
    assert (lengths["StableDiffusionV1-Inpainting"], lengths["SDV2"]) == (224, 32)


@pytest.mark.parametrize("photograph", PHOTOGRAPHS)
def test_photographs_carry_no_mark(reader, photograph):
    assert reader.read(PHOTOGRAPHS[photograph]()) is None


def flat(value: int) -> np.ndarray:
    return np.full((512, 512, 3), value, np.uint8)


def stripes() -> np.ndarray:
    return np.tile(np.array([[255, 40, 0]], np.uint8)[:, None] * (np.arange(768) // 8 % 2)[None, :, None], (512, 1, 1))


def noise() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (600, 700, 3), dtype=np.uint8)


def screen() -> np.ndarray:
    page = np.full((700, 900, 3), 255, np.uint8)
    page[::20, 40:860] = 30
    page[:60] = (40, 80, 160)
    return page


@pytest.mark.parametrize("made", [lambda: flat(0), lambda: flat(128), lambda: flat(255), stripes, noise, screen])
def test_flat_and_regular_pictures_carry_no_mark(reader, made):
    assert reader.read(made().astype(np.uint8)) is None


def test_a_light_jpeg_keeps_the_mark_and_a_heavy_one_does_not(reader):
    marked = embed(skimage.data.astronaut(), MESSAGES["SDXL"][0], from_bytes=False)
    assert reader.read(stored(marked, quality=90, subsampling=0)).message == "SDXL"
    assert reader.read(stored(marked, quality=95, subsampling=2)).message == "SDXL"
    assert reader.read(stored(marked, quality=60, subsampling=2)) is None


def test_it_is_read_at_the_size_it_was_made_at_only(reader):
    marked = embed(skimage.data.astronaut(), MESSAGES["FLUX"][0], from_bytes=False)
    smaller = np.asarray(Image.fromarray(marked).resize((400, 400)))
    assert reader.read(smaller) is None and reader.read(marked[4:, 4:]) is None


@pytest.mark.parametrize("size", [(1, 1), (7, 70_000), (255, 256), (200_000, 8)])
def test_pictures_of_any_size_are_taken(reader, size):
    assert reader.read(np.full((*size, 3), 90, np.uint8)) is None


@pytest.mark.parametrize("bad", [np.zeros((300, 300), np.uint8), np.zeros((300, 300, 3))])
def test_other_arrays_are_refused(reader, bad):
    with pytest.raises(ValueError, match="uint8"):
        reader.read(bad)
