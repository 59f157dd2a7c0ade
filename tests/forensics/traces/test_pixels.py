"""Measurements on pixels and coefficients: they answer to what they look for, and to nothing else."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFilter
from scipy import ndimage

from forensix.forensics import claims
from forensix.forensics.rules import image_copies, image_encoding, image_pixels
from forensix.forensics.traces import copy_move, double_jpeg, jpeg_grid, pixels
from forensix.media import open_media
from forensix.metadata.image.jpeg_tables import standard
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


def compression(path: Path, rgb: np.ndarray, *qualities: int) -> dict:
    path.write_bytes(saved(rgb, *qualities))
    return pixels.compression(str(path))


@pytest.mark.parametrize("quality", [50, 75, 90])
def test_of_tables_that_share_the_steps_the_usual_quality_is_told(quality: int) -> None:
    steps, at_once = standard(quality, False), ((0, 1), (1, 0), (1, 1), (2, 0))
    twice = tuple(double_jpeg.Mode(at, steps[8 * at[0] + at[1]], 0.1, np.zeros(1), 0, 0) for at in at_once)
    assert double_jpeg.summary(twice)["quality"] == quality


@pytest.mark.parametrize("qualities", [(60, 90), (70, 95), (50, 85)])
def test_two_compressions_are_told_from_one(qualities: tuple[int, int], tmp_path: Path) -> None:
    twice = compression(tmp_path / "twice.jpg", texture(), *qualities)["double_jpeg"]
    once = compression(tmp_path / "once.jpg", texture(), qualities[-1])["double_jpeg"]
    assert image_encoding.is_double(twice) and abs(twice["quality"] - qualities[0]) <= 1
    assert not image_encoding.is_double(once)
    assert not image_encoding.is_double(compression(tmp_path / "same.jpg", texture(), 85, 85)["double_jpeg"])


def test_small_or_broken_files_are_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(make.jpeg())
    assert pixels.compression(str(path)) == {}
    path.write_bytes(b"\xff\xd8\xff\xe0")
    assert pixels.compression(str(path)) == {}


def pasted(first: int) -> np.ndarray:
    """Return a decoded JPEG of quality ``first`` with an area of another texture at 200, 120."""
    rgb = np.asarray(Image.open(io.BytesIO(saved(texture(), first)))).copy()
    rgb[120:216, 200:312] = texture(seed=5)[30:126, 41:153]
    return rgb


def test_a_pasted_part_is_placed(tmp_path: Path) -> None:
    part = compression(tmp_path / "a.jpg", pasted(70), 90)["local_double_jpeg"]
    assert image_encoding.is_spliced(part)
    # In a picture of twenty megapixels a part as small is chance.
    assert not image_encoding.is_spliced(part | {"blocks": 30, "windows": 300_000})
    assert image_encoding.is_spliced(part | {"blocks": 30, "windows": 3_000})
    assert part["box"] == pytest.approx([200, 120, 112, 96], abs=24)
    assert part["map"][:2] == b"\xff\xd8"


def test_no_part_is_told_in_a_picture_saved_again_whole(tmp_path: Path) -> None:
    for seed in range(3):
        part = compression(tmp_path / "a.jpg", texture(seed=seed), 70, 90)["local_double_jpeg"]
        assert part["blocks"] < image_encoding.PART_BLOCKS // 2


def test_blocks_beyond_the_last_whole_one_are_no_part(tmp_path: Path) -> None:
    """They are filled up anew for each compression; all above them is white and says nothing, as in a scan."""
    rgb = texture(404)
    rgb[320:400] = 255
    part = compression(tmp_path / "a.jpg", rgb, 70, 90)["local_double_jpeg"]
    assert part["windows"] > 1000 and part["blocks"] == 0


@pytest.mark.parametrize("format", ["jpeg", "png"])
def test_a_part_that_was_saturated_is_not_told_in_black_and_white(tmp_path: Path, format: str) -> None:
    """Taking the colour out hides where it was cut short, and that the first rounding is missing there for that."""
    rgb = texture()
    rgb[120:216, 200:312] = np.clip(rgb[120:216, 200:312] * np.array([2.5, 0.2, 0.0]), 0, 255)
    grey = Image.open(io.BytesIO(saved(rgb, 70))).convert("L")
    path = tmp_path / f"a.{format}"
    grey.save(path, quality=90)
    with open_media(path) as media:
        told = [f.claim.claim for f in claims(read_facts(media), media) if "A part of the picture" in f.claim.claim]
    assert told == []


def test_half_a_block_aside_stand_the_steps_of_the_file_itself() -> None:
    smooth = ndimage.gaussian_filter1d(texture(768, 768).astype(np.float32), 3, axis=0).astype(np.uint8)
    once = np.asarray(Image.open(io.BytesIO(saved(smooth, 30))).convert("L"))
    for grey in (once, once.T):
        assert not jpeg_grid.stands_out(jpeg_grid.measure(grey, True))


def test_a_crop_leaves_its_former_grid() -> None:
    first = np.asarray(Image.open(io.BytesIO(saved(texture(), 70))).convert("RGB"))
    again = np.asarray(Image.open(io.BytesIO(saved(first[3:, 5:], 92))).convert("L"))
    measured = jpeg_grid.measure(again, True)
    assert jpeg_grid.stands_out(measured) and measured["place"] == [3, 5]
    values = np.asarray(Image.fromarray(first).convert("L"))
    assert jpeg_grid.measure(values, False)["place"] == [0, 0]
    assert not jpeg_grid.stands_out(jpeg_grid.measure(values, True))
    assert not jpeg_grid.stands_out(jpeg_grid.measure(texture()[..., 0], False))
    assert jpeg_grid.measure(np.full((256, 256), 127, np.uint8), False) is None


@pytest.mark.parametrize("side", [512, 1100])
def test_a_copied_area_is_found_with_its_displacement(side: int) -> None:
    grey = texture(side, side)[..., 0].copy()
    grey[300:420, 340:460] = grey[60:180, 90:210]
    measured = copy_move.measure(grey)
    assert image_copies.is_copied(measured)
    assert measured["shift"] == [250, 240]
    assert measured["map"][:2] == b"\xff\xd8"


def test_nothing_is_copied_in_plain_texture_or_a_pattern() -> None:
    for seed in range(3):
        assert not image_copies.is_copied(copy_move.measure(texture(seed=seed)[..., 0]))
    assert copy_move.measure(np.full((256, 256), 127, np.uint8)) is None
    tile = texture(48, 48)[..., 0]
    rng = np.random.default_rng(0)
    fence = np.clip(np.tile(tile, (9, 12)) + rng.normal(0, 2, (432, 576)), 0, 255).astype(np.uint8)
    measured = copy_move.measure(fence)
    assert measured is None or not image_copies.is_copied(measured)


def test_print_that_repeats_is_no_copy() -> None:
    """Two words alike share their edges and not the grain between them; a copy shares both."""
    rng = np.random.default_rng(3)
    word = Image.new("L", (150, 70), 200)
    marks = [(int(x), int(y)) for x, y in zip(rng.integers(4, 136, 26), rng.integers(4, 58, 26), strict=True)]
    for x, y in marks:
        word.paste(40, (x, y, x + int(rng.integers(4, 12)), y + int(rng.integers(4, 12))))
    scene = Image.new("L", (640, 420), 200)
    for at in ((40, 60), (391, 263)):
        scene.paste(word, at)
    print_ = np.asarray(scene.filter(ImageFilter.GaussianBlur(0.8)), np.float32) + rng.normal(0, 2.5, (420, 640))
    copied = print_.copy()
    copied[250:345, 381:551] = print_[47:142, 30:200]
    for grey, is_copied in ((print_, False), (copied, True)):
        measured = copy_move.measure(np.clip(grey, 0, 255).astype(np.uint8))
        assert measured is not None and image_copies.is_repeated(measured)
        assert image_copies.is_copied(measured) is is_copied


def test_a_part_that_does_not_fit_the_former_jpeg_is_placed(tmp_path: Path) -> None:
    buffer = Image.open(io.BytesIO(saved(texture(), 75))).convert("RGB")
    edited = buffer.copy()
    edited.paste(Image.fromarray(texture()).crop((203, 101, 323, 221)).rotate(90), (90, 60))
    boxes = {}
    for name, image in (("whole", buffer), ("edited", edited)):
        path = tmp_path / f"{name}.png"
        image.save(path)
        with open_media(path) as media:
            by_claim = {f.claim.claim: f for f in claims(read_facts(media), media)}
        part = by_claim.get("A part of the picture does not fit the JPEG that the rest was")
        boxes[name] = part and part.facts[0].value["box"]
        assert part is None or (part.severity == "suspect" and part.pictures)
    assert boxes["whole"] is None
    x, y, width, height = boxes["edited"]
    assert abs(x + width / 2 - 150) < 24 and abs(y + height / 2 - 120) < 24


def test_claims_carry_pictures(tmp_path: Path) -> None:
    rgb = texture().copy()
    rgb[200:280, 300:400] = rgb[60:140, 90:190]
    path = tmp_path / "copied.jpg"
    path.write_bytes(saved(rgb, 95))
    with open_media(path) as media:
        by_claim = {f.claim.claim: f for f in claims(read_facts(media), media)}
    copied = by_claim["An area of the picture occurs twice"]
    assert copied.severity == "suspect" and copied.claim.type == "pixels"
    assert "seldom share" in copied.claim.explanation
    assert Image.open(io.BytesIO(copied.pictures[0][1])).size[0] > 100
    assert by_claim["An error-level map of the picture is attached"].severity == "benign"


def test_claims_are_the_same_without_drawing(tmp_path: Path) -> None:
    path = tmp_path / "pasted.jpg"
    path.write_bytes(saved(pasted(70), 90))
    with open_media(path) as media:
        facts = read_facts(media)
        drawn, plain = claims(facts, media), claims(facts, media, draw=False)
    assert [(f.claim, f.severity, f.facts) for f in drawn] == [(f.claim, f.severity, f.facts) for f in plain]
    assert len([data for f in drawn for _, data, _ in f.pictures if data]) >= 2
    assert not any(data for f in plain for _, data, _ in f.pictures)


def test_double_compression_is_claimed(tmp_path: Path) -> None:
    path = tmp_path / "twice.jpg"
    path.write_bytes(saved(texture(), 60, 90))
    with open_media(path) as media:
        by_claim = {f.claim.claim: f for f in claims(read_facts(media), media)}
    # Services do that to most pictures; only a camera's own file contradicts it.
    assert by_claim["The JPEG was compressed twice"].severity == "benign"
    data = path.read_bytes()
    # What Apple's systems make of a HEIC begins with JFIF, which ends at byte 20 here.
    for maker, at, is_suspect in (("Maker", 2, True), ("Maker", 20, True), ("Apple", 20, False)):
        camera = make.exif_segment(make.tiff_block([(0x010F, make.ASCII, maker), (0x0110, make.ASCII, "Model One")]))
        path.write_bytes(data[:at] + camera + data[at:])
        with open_media(path) as media:
            found = claims(read_facts(media), media)
        assert "The JPEG was compressed twice" in [f.claim.claim for f in found]
        assert any(f.severity == "suspect" for f in found) == is_suspect


def test_claims_on_parts_and_former_grids(tmp_path: Path) -> None:
    path = tmp_path / "pasted.jpg"
    path.write_bytes(saved(pasted(70), 90))
    with open_media(path) as media:
        by_claim = {f.claim.claim: f for f in claims(read_facts(media), media)}
    part = by_claim["A part of the picture has another compression history"]
    assert "number plates" in part.claim.explanation
    assert part.severity == "suspect" and part.pictures[0][0] == "Compression history"
    decoded = Image.open(io.BytesIO(saved(texture(), 70)))
    path = tmp_path / "kept.png"
    decoded.save(path)
    with open_media(path) as media:
        by_claim = {f.claim.claim: f for f in claims(read_facts(media), media)}
    assert by_claim["The picture was a JPEG before"].severity == "benign"


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
    assert pixels.thumbnail(wide, "preview", make.encoded(framed))["likeness"] > image_pixels.SAME_PICTURE_CORRELATION
