"""File objects, PIL pictures and arrays: what is decoded is what was given; what cannot be gets a sentence."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from forensix.errors import BrokenMedia, InputError, InputNotFound, LimitExceeded, UnsupportedMedia, UsageError
from forensix.media import Limits, open_media

RNG = np.random.default_rng(5)
RGB = RNG.integers(0, 256, (31, 47, 3), dtype=np.uint8)


def decoded(source: object, **options: object) -> np.ndarray:
    with open_media(source, **options) as media:  # type: ignore[arg-type]
        return media.image() if media.kind == "image" else np.array(media.samples())


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (RGB, RGB),
        (RGB[::2, ::-1], RGB[::2, ::-1]),
        (RGB[..., 0], np.repeat(RGB[..., :1], 3, axis=2)),
        (RGB[..., :1], np.repeat(RGB[..., :1], 3, axis=2)),
        (np.dstack([RGB, np.full(RGB.shape[:2], 255, np.uint8)]), RGB),
        (np.dstack([RGB, np.zeros(RGB.shape[:2], np.uint8)]), np.full_like(RGB, 255)),
    ],
    ids=["rgb", "view", "grey", "grey-3d", "opaque", "clear"],
)
def test_pixels_are_those_of_the_array(array: np.ndarray, expected: np.ndarray) -> None:
    assert np.array_equal(decoded(array), expected)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16"])
def test_pictures_of_every_mode_are_taken(mode: str) -> None:
    grey = Image.fromarray(RGB[..., 0])
    image = Image.fromarray(np.full((9, 9), 40_000, np.uint16)) if mode == "I;16" else grey.convert(mode)
    assert decoded(image).shape[2] == 3


def test_a_picture_is_turned_as_its_exif_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(RGB).save(tmp_path / "turned.png", exif=exif)
    with Image.open(tmp_path / "turned.png") as opened:
        assert np.array_equal(decoded(opened), decoded(tmp_path / "turned.png"))
        assert opened.size == (47, 31), "the caller's picture stays as it is"


def test_what_a_picture_said_of_itself_does_not_go_into_the_file_that_is_written() -> None:
    image = Image.fromarray(RGB)
    image.info = {"comment": b"secret", "Software": "GIMP", "icc_profile": b"secret", "exif": b"Exif\0\0secret"}
    with open_media(image) as media:
        content = media.path.read_bytes()
        assert media.written == "a picture of 47 x 31 pixels"
    assert b"secret" not in content and b"GIMP" not in content and image.info["Software"] == "GIMP"


@pytest.mark.parametrize("kind", ["int16", "float32", "float64"])
def test_samples_are_those_of_the_array(kind: str) -> None:
    samples = RNG.integers(-20_000, 20_000, 16_000).astype(np.int16)
    array = samples if kind == "int16" else (samples / 32768).astype(kind)
    assert np.abs(decoded(array, sample_rate=16_000).astype(int) - samples).max() <= 1
    with open_media(np.stack([array, array], axis=1), sample_rate=np.int64(16_000)) as media:
        assert (media.kind, media.info.channels, media.written) == ("audio", 2, "sound of 1 s at 16000 Hz")


TONE = np.sin(np.arange(8000) / 9)


@pytest.mark.parametrize(
    ("array", "rate_hz", "words"),
    [
        (RGB.astype(float) / 255, None, "the array is float64, and pictures are uint8 from 0 to 255; where it runs"),
        (RGB.astype(np.uint16), None, "uint16"),
        (RGB > 9, None, "bool"),
        (np.moveaxis(RGB, -1, 0), None, "channels first: give numpy.moveaxis"),
        (RGB[None], None, "the array is 1 x 31 x 47 x 3; a picture is"),
        (RGB[:0], None, "0 x 47 x 3"),
        (TONE, None, "give its sample_rate"),
        (np.where(TONE > 0.99, np.nan, TONE), 16000, "NaN"),
        (np.where(TONE > 0.99, np.inf, TONE), 16000, "infinite"),
        (TONE * 32768, 16000, "divide int16 by 32768"),
        (TONE.astype(complex), 16000, "complex128"),
        (np.stack([TONE, TONE]), 16000, "2 x 8000; sound is .* give array.T"),
        (TONE[:0], 16000, "the array is 0"),
        (TONE, 0, "from 1000 to 768000 Hz, not 0"),
        (TONE, float("nan"), "not nan"),
        (TONE, 16000.5, "whole number"),
        (TONE, "16000", "whole number"),
    ],
)
def test_a_wrong_array_gets_a_sentence(array: np.ndarray, rate_hz: object, words: str) -> None:
    with pytest.raises((UnsupportedMedia, BrokenMedia), match=words) as raised:
        open_media(array, sample_rate=rate_hz)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


def test_limits_hold_before_anything_is_written() -> None:
    with pytest.raises(LimitExceeded, match="limit is 0 megapixels"):
        open_media(RGB, limits=Limits(image_pixels=1000))
    with pytest.raises(LimitExceeded, match=r"the sound lasts 25\.0 min; the limit is 20 min"):
        open_media(np.zeros(1000 * 60 * 25, np.int16), sample_rate=1000)
    with pytest.raises(LimitExceeded, match="the limit is"):
        open_media(io.BytesIO(bytes(5000)), limits=Limits(max_bytes=4000))
    assert decoded(RGB, limits=Limits(max_bytes=1000)).shape == RGB.shape, "that limit is for files"


def test_a_file_object_is_read_from_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    Image.fromarray(RGB).save(path)
    with path.open("rb") as file, open_media(file) as media:
        assert (media.name, media.written) == ("picture.png", None)
        assert media.sha256 == _sha256(path)
    buffer = io.BytesIO()
    Image.fromarray(RGB).save(buffer, "PNG")
    with pytest.raises(BrokenMedia, match=r"call seek\(0\)"):
        open_media(buffer)
    buffer.seek(0)
    assert np.array_equal(decoded(buffer), RGB)


def _sha256(path: Path) -> str:
    with open_media(path) as media:
        return media.sha256


class Endless(io.RawIOBase):
    read_bytes = 0

    def read(self, size: int = -1) -> bytes:
        self.read_bytes += size
        return bytes(size)


def test_bad_file_objects_get_a_sentence_and_an_end(tmp_path: Path) -> None:
    closed = io.BytesIO(b"x")
    closed.close()
    path = tmp_path / "letter.txt"
    path.write_text("Dear")
    photo = tmp_path / "photo.png"
    photo.write_bytes(b"\x89PNG\r\n")
    with path.open(encoding="utf-8") as letter, photo.open(encoding="utf-8") as opened_as_text:
        cases: list[tuple[object, type[InputError], str]] = [
            (closed, InputNotFound, "cannot be read"),
            (letter, UnsupportedMedia, "letter.txt was opened as text"),
            (opened_as_text, UnsupportedMedia, "photo.png was opened as text: open it with mode 'rb'"),
            (io.BytesIO(b"Dear Sir"), UnsupportedMedia, "text"),
        ]
        for source, error, words in cases:
            with pytest.raises(error, match=words):
                open_media(source)  # type: ignore[arg-type]
    endless = Endless()
    with pytest.raises(LimitExceeded):
        open_media(endless)  # type: ignore[arg-type]
    assert endless.read_bytes < 40 * 1024**2


def test_a_picture_that_breaks_on_decoding_gets_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "cut.png"
    Image.fromarray(RNG.integers(0, 256, (300, 300, 3), dtype=np.uint8)).save(path)
    os.truncate(path, path.stat().st_size // 2)
    with Image.open(path) as image, pytest.raises(BrokenMedia, match="the PIL picture cannot be decoded"):
        open_media(image)


@pytest.mark.parametrize("source", [None, 7, [1, 2], {"path": "a.jpg"}, object()])
def test_anything_else_is_a_wrong_call_that_says_what_is_taken(source: object) -> None:
    with pytest.raises(UsageError, match="a path, a URL, bytes, a file object, a PIL picture or a NumPy array, not a"):
        open_media(source)  # type: ignore[arg-type]


def test_an_empty_path_gets_a_sentence() -> None:
    with pytest.raises(InputNotFound, match="the path is empty"):
        open_media("")


def test_a_file_states_its_own_sample_rate(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedMedia, match="a file states its own"):
        open_media(tmp_path / "talk.wav", sample_rate=8000)
