"""Measurements on pixels and coefficients: they answer to what they look for, and to nothing else."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from forensix.forensics import claims, copies, double, image_encoding, image_pixels, pixels
from forensix.media import open_media
from forensix.metadata.reader import read_facts
from tests.metadata import making_images as make


def texture(height: int = 384, width: int = 512, seed: int = 0) -> np.ndarray:
    """Return uint8 (H, W, 3) whose spectrum falls like a photograph's."""
    rng = np.random.default_rng(seed)
    fy, fx = np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width)[None]
    shape = 1 / np.maximum(np.hypot(fy, fx), 1 / width) ** 1.3
    grey = np.fft.ifft2(np.fft.fft2(rng.normal(size=(height, width))) * shape).real
    grey = 128 + 48 * (grey - grey.mean()) / grey.std()
    tint = np.array([1.0, 0.95, 0.9])
    return np.clip(grey[..., None] * tint, 0, 255).astype(np.uint8)


def saved(rgb: np.ndarray, *qualities: int) -> bytes:
    """Save a picture as JPEG once for each quality."""
    image = Image.fromarray(rgb)
    data = b""
    for quality in qualities:
        data = make.encoded(image, quality=quality)
        image = Image.open(io.BytesIO(data)).convert("RGB")
    return data


@pytest.mark.parametrize("qualities", [(60, 90), (70, 95), (50, 85)])
def test_two_compressions_leave_gaps(qualities: tuple[int, int], tmp_path: Path) -> None:
    twice, once = tmp_path / "twice.jpg", tmp_path / "once.jpg"
    twice.write_bytes(saved(texture(), *qualities))
    once.write_bytes(saved(texture(), qualities[-1]))
    assert double.measure(str(twice))["score"] > image_encoding.TWICE
    assert double.measure(str(once))["score"] < image_encoding.TWICE


def test_small_or_broken_files_are_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(make.jpeg())
    assert double.measure(str(path)) is None
    path.write_bytes(b"\xff\xd8\xff\xe0")
    assert double.measure(str(path)) is None


def test_a_copied_area_is_found_with_its_displacement() -> None:
    grey = texture()[..., 0].copy()
    grey[200:280, 300:400] = grey[60:140, 90:190]
    found = copies.measure(grey)
    assert found["blocks"] >= image_pixels.COPIED_BLOCKS
    assert found["shift"] == pytest.approx([210, 140], abs=3)
    assert found["map"][:2] == b"\xff\xd8"


def test_nothing_is_copied_in_plain_texture() -> None:
    for seed in range(3):
        assert copies.measure(texture(seed=seed)[..., 0])["blocks"] < image_pixels.COPIED_BLOCKS // 2
    assert copies.measure(np.full((256, 256), 127, np.uint8)) is None


def test_claims_carry_pictures(tmp_path: Path) -> None:
    rgb = texture().copy()
    rgb[200:280, 300:400] = rgb[60:140, 90:190]
    path = tmp_path / "copied.jpg"
    path.write_bytes(saved(rgb, 95))
    with open_media(path) as media:
        found = {f.claim.claim: f for f in claims(read_facts(media), media)}
    copied = found["An area of the picture occurs twice"]
    assert copied.severity == "suspect" and copied.claim.type == "pixels"
    assert Image.open(io.BytesIO(copied.pictures[0][1])).size[0] > 100
    assert found["An error-level map was drawn"].severity == "benign"


def test_double_compression_is_claimed(tmp_path: Path) -> None:
    path = tmp_path / "twice.jpg"
    path.write_bytes(saved(texture(), 60, 90))
    with open_media(path) as media:
        found = {f.claim.claim: f for f in claims(read_facts(media), media)}
    assert found["The JPEG was compressed twice"].severity == "suspect"


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_turned_previews_are_recognised(turn: int) -> None:
    image = Image.fromarray(texture())
    row = pixels.thumbnail(image, "preview", make.encoded(image.rotate(90 * turn, expand=True).resize((80, 60))))
    assert row["likeness"] < 0.6
    assert row["turned_likeness"] > 0.9


def test_previews_with_bars_are_the_same_picture() -> None:
    wide = Image.fromarray(texture(288, 512))
    framed = Image.new("RGB", (160, 120))
    framed.paste(wide.resize((160, 90)), (0, 15))
    assert pixels.thumbnail(wide, "preview", make.encoded(framed))["likeness"] > image_pixels.ALIKE
