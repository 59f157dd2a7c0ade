"""Damaged files are read as far as they go, and random damage is borne."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skimage.data
from PIL import Image
from scipy.io import wavfile

from forensix.errors import BrokenMedia, InputError
from forensix.media import Limits, open_media
from tests.making import tone, write_audio, write_image, write_pdf, write_video
from tests.media.test_bad_input import sentence_of

pytestmark = pytest.mark.usefixtures("quiet_and_quick")


@pytest.mark.parametrize("suffix", ["jpg", "png", "gif", "webp", "tiff", "heic"])
def test_truncated_images(suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 255, (200, 300, 3), np.uint8)
    data = write_image(tmp_path / f"a.{suffix}", noise).read_bytes()
    with open_media(data[: len(data) // 2], name=f"cut.{suffix}") as media:
        assert media.kind == "image"
        with pytest.raises(BrokenMedia, match=f"cut.{suffix} is (truncated|damaged)") as error:
            media.image()
        sentence_of(error)


@pytest.mark.parametrize("options", [{"quality": 90}, {"quality": 90, "progressive": True}])
@pytest.mark.parametrize("bytes_lost", [1, 2, 4, 60])
def test_a_jpeg_without_its_last_bytes_is_given_and_what_is_missing_is_said(
    options: dict[str, Any], bytes_lost: int, tmp_path: Path
) -> None:
    path = tmp_path / "cat.jpg"
    Image.fromarray(skimage.data.cat()).save(path, **options)
    whole = np.asarray(Image.open(path), np.int16)
    with open_media(path.read_bytes()[:-bytes_lost], name="cut.jpg") as media:
        differs = np.abs(media.image() - whole).max(axis=2) > 0
        assert differs[:-16].sum() == 0
        lost = bytes_lost > 2
        assert differs.any() == lost and [w.split(":")[0] for w in media.warnings] == ["cut.jpg was cut off"] * lost


@pytest.mark.parametrize("options", [{}, {"restart_marker_blocks": 4}, {"progressive": True}])
def test_a_jpeg_of_which_more_than_its_end_is_missing_is_not_taken_for_whole(
    options: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "cat.jpg"
    Image.fromarray(skimage.data.cat()).save(path, **options)
    data = path.read_bytes()
    last_scan = data.rindex(b"\xff\xda")
    for end in (len(data) * 9 // 10, *([last_scan] if "progressive" in options else [])):
        with open_media(data[:end], name="cut.jpg") as media, pytest.raises(BrokenMedia, match="truncated"):
            media.image()


def test_a_header_that_cannot_be_read_still_opens(tmp_path: Path) -> None:
    for built, cut in (
        (write_video(tmp_path / "a.mp4", 5), 400),
        (write_image(tmp_path / "a.png"), 12),
        (write_audio(tmp_path / "a.flac"), 10),
        (write_pdf(tmp_path / "a.pdf"), 60),
    ):
        with open_media(built.read_bytes()[:cut], name=f"cut{built.suffix}") as media:
            assert media.broken is not None
            assert media.broken.startswith(f"cut{built.suffix} is damaged")
            assert media.info.width_px is None
            if media.kind != "pdf":
                with pytest.raises(BrokenMedia, match="is damaged"):
                    {"image": media.image, "audio": media.samples}.get(media.kind, lambda: list(media.frames()))()


def test_a_truncated_video_is_analysed_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", 100, (64, 48), paint=_noise, audio=tone(4))
    data = path.read_bytes()
    with open_media(data[: len(data) // 2], name="cut.mkv") as media:
        frames = list(media.frames())
        assert 20 < len(frames) < 80
        assert any("ends" in warning for warning in media.warnings), media.warnings


def test_damage_in_the_middle_is_left_out_and_counted(tmp_path: Path) -> None:
    # Every frame for itself, so that damage stays where it is.
    options = {"g": "1", "bf": "0"}
    path = write_video(tmp_path / "a.mp4", 40, (64, 48), paint=_noise, options=options)
    data = bytearray(path.read_bytes())
    at = data.index(b"mdat") + (len(data) - data.index(b"mdat")) // 3
    data[at : at + 2500] = bytes(2500)
    with open_media(bytes(data), name="a.mp4") as media:
        frames = list(media.frames())
        assert 20 < len(frames) < 40
        assert any("damaged frame" in warning for warning in media.warnings), media.warnings
        late = frames[-1]
        # What comes after keeps its place.
        assert late.index == 39
        assert late.ms == pytest.approx(39 * 40)


def _noise(index: int) -> np.ndarray:
    return np.random.default_rng(index).integers(0, 255, (48, 64, 3), np.uint8)


@pytest.mark.parametrize(("kind", "n_channels"), [("f4", 1), ("f4", 2), ("f8", 3)])
def test_samples_that_are_no_numbers_are_bridged_and_counted(kind: str, n_channels: int, tmp_path: Path) -> None:
    slope = np.repeat(np.linspace(-0.5, 0.5, 16_000)[:, None], n_channels, axis=1).astype(kind)
    wavfile.write(tmp_path / "whole.wav", 16_000, slope)
    slope[500], slope[700:703, 0] = np.nan, -np.inf
    wavfile.write(tmp_path / "holed.wav", 16_000, slope)
    with open_media(tmp_path / "whole.wav") as complete, open_media(tmp_path / "holed.wav") as holed:
        np.testing.assert_allclose(holed.samples().astype(int), complete.samples(), atol=2)
        assert not complete.warnings
        assert [warning.split(" (")[0] for warning in holed.warnings] == ["4 samples of sound are no numbers"]


def test_sound_without_one_number_is_silence(tmp_path: Path) -> None:
    wavfile.write(tmp_path / "a.wav", 16_000, np.full(16_000, np.nan, np.float32))
    with open_media(tmp_path / "a.wav") as media:
        assert not media.samples().any()
        assert any("16000 samples of sound are no numbers" in warning for warning in media.warnings)


def _mutations(data: bytes, n: int) -> Iterator[bytes]:
    rng = np.random.default_rng(7)
    for _ in range(n):
        changed = bytearray(data)
        for at in rng.integers(8, len(changed), 20):
            changed[at] = rng.integers(256)
        yield bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("make", [write_image, write_audio, write_video], ids=lambda make: make.__name__)
def test_random_damage_is_borne(make: Callable[..., Path], tmp_path: Path) -> None:
    suffixes = {"write_image": "tiff", "write_audio": "ogg", "write_video": "flv"}
    data = make(tmp_path / f"a.{suffixes[make.__name__]}").read_bytes()
    for changed in _mutations(data, 4):
        try:
            with open_media(changed, name="x", limits=Limits(decode_s=20)) as media:
                if media.kind == "image":
                    media.image()
                elif media.kind == "audio":
                    media.samples()
                else:
                    list(media.frames(rate_hz=5))
        except InputError as error:
            assert "\n" not in str(error)
