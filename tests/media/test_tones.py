"""HDR is shown as an SDR screen shows it: the same picture comes out of PQ and HLG as of SDR."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pillow_heif
import pytest
from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc

from forensix.media import open_media
from forensix.media.tones import as_sdr

WHITE, SCREEN = 203.0, 1000.0
TO_BT2020 = np.array([[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]])
"""Report ITU-R BT.2087."""
TRANSFERS = {"PQ": ColorTrc.SMPTE2084, "HLG": ColorTrc.ARIB_STD_B67}


def pq(light: np.ndarray) -> np.ndarray:
    """Return the codes, in [0, 1], of light in white."""
    y = (light * WHITE / 10_000) ** (2610 / 16384)
    return ((3424 / 4096 + 2413 / 128 * y) / (1 + 2392 / 128 * y)) ** (2523 / 32)


def hlg(light: np.ndarray) -> np.ndarray:
    """Return the same for a screen of 1000 cd/m²."""
    shown = light * WHITE / SCREEN
    bright = np.maximum(shown @ [0.2627, 0.6780, 0.0593], 1e-9)[..., None]
    scene = shown * bright ** (1 / 1.2 - 1)
    high = 0.17883277 * np.log(np.maximum(12 * scene - 0.28466892, 1e-9)) + 0.55991073
    return np.where(scene <= 1 / 12, np.sqrt(3 * scene), high)


CODES = {"PQ": pq, "HLG": hlg}


def of_16_bits(codes: np.ndarray) -> np.ndarray:
    return np.rint(65535 * codes).astype(np.uint16)


@pytest.mark.parametrize("curve", CODES)
def test_colours_up_to_the_knee_are_those_of_sdr(curve: str) -> None:
    rng = np.random.default_rng(0)
    sdr = rng.integers(0, 230, (90, 40, 3))
    sdr[0, :, :] = np.arange(0, 240, 6)[:, None]
    light = (sdr / 255) ** 2.4
    for wide, stored in ((True, light @ TO_BT2020.T), (False, light)):
        shown = as_sdr(of_16_bits(CODES[curve](stored)), curve, wide=wide)
        assert shown.dtype == np.uint8
        # The two matrices are rounded, and the first codes of dark colours lie far apart in light.
        apart = np.abs(shown.astype(int) - sdr)[(sdr > 12).all(axis=2)]
        assert apart.max() <= 2 and apart.mean() < 0.3


@pytest.mark.parametrize("curve", CODES)
def test_brighter_light_is_drawn_together_and_never_darker(curve: str) -> None:
    grey = np.linspace(0.0, 4.9, 400)[None, :, None] * np.ones(3)
    shown = as_sdr(of_16_bits(CODES[curve](grey)), curve, wide=True)[0]
    assert np.ptp(shown, axis=1).max() <= 1, "grey stays grey"
    level = shown[:, 1].astype(int)
    assert (np.diff(level) >= 0).all() and level[0] == 0 and level[-1] == 255
    white = level[np.argmin(np.abs(grey[0, :, 0] - 1))]
    assert 245 <= white < level[np.argmin(np.abs(grey[0, :, 0] - 1.3))]


def write_grey(path: Path, levels: np.ndarray, transfer: ColorTrc) -> Path:
    """Write codes (W,) in [0, 1] as columns of grey, three frames of 10 bits."""
    with av.open(str(path), "w") as output:
        write(output, "libx264", {"crf": "1"}, levels, transfer, 3)
    return path


def write(output: Any, codec: str, options: dict[str, str], levels: np.ndarray, transfer: ColorTrc, n: int) -> None:
    video: Any = output.add_stream(codec, rate=Fraction(25), options=options)
    video.width, video.height, video.pix_fmt = len(levels), 64, "yuv420p10le"
    context = video.codec_context
    context.color_range, context.colorspace = ColorRange.MPEG, Colorspace.BT2020
    context.color_trc, context.color_primaries = transfer, ColorPrimaries.BT2020
    for _ in range(n):
        frame = av.VideoFrame(len(levels), 64, "yuv420p10le")
        for number, plane in enumerate(frame.planes):
            rows = np.full((plane.height, plane.line_size // 2), 512, "<u2")
            if number == 0:
                rows[:, : len(levels)] = np.rint(64 + 876 * levels)
            plane.update(rows.tobytes())
        output.mux(video.encode(frame))
    output.mux(video.encode(None))


@pytest.mark.parametrize("curve", CODES)
def test_a_video_of_hdr_is_looked_at_as_sdr_and_told_of(curve: str, tmp_path: Path) -> None:
    sdr = np.repeat(np.arange(24, 216, 12), 8)
    light = ((sdr / 255) ** 2.4)[:, None] * np.ones(3)
    path = write_grey(tmp_path / "a.mp4", CODES[curve](light)[:, 1], TRANSFERS[curve])
    with open_media(path) as media:
        (rgb, *_) = (frame.rgb for frame in media.frames())
        assert media.warnings == (
            f"the video is HDR ({curve}); it is looked at with its tones mapped to ordinary ones",
        )
    assert rgb.dtype == np.uint8
    np.testing.assert_allclose(rgb[32, 4::8].astype(int), sdr[4::8, None] * np.ones(3), atol=3)


def test_sdr_of_10_bits_is_left_as_it_is(tmp_path: Path) -> None:
    sdr = np.repeat(np.arange(24, 216, 12), 8)
    with open_media(write_grey(tmp_path / "a.mp4", sdr / 255, ColorTrc.BT709)) as media:
        (rgb, *_) = (frame.rgb for frame in media.frames())
        assert media.warnings == ()
    np.testing.assert_allclose(rgb[32, 4::8].astype(int), sdr[4::8, None] * np.ones(3), atol=3)


def write_picture(path: Path, levels: np.ndarray, transfer: ColorTrc) -> Path:
    """Write the same columns as a picture, of 10 bits as AVIF and of 8 as HEIC."""
    if path.suffix == ".heic":
        grey = np.rint(255 * levels).astype(np.uint8)[None, :, None] * np.ones((64, 1, 3), np.uint8)
        file = pillow_heif.from_bytes("RGB", (len(levels), 64), grey.tobytes())
        coded = {"color_primaries": 9, "transfer_characteristics": int(transfer), "matrix_coefficients": 9}
        file.save(path, quality=-1, chroma=444, full_range_flag=1, **coded)
        return path
    with av.open(str(path), "w", format="avif") as output:
        write(output, "libsvtav1", {"crf": "1", "svtav1-params": "avif=1"}, levels, transfer, 1)
    return path


@pytest.mark.parametrize("suffix", [".avif", ".heic"])
@pytest.mark.parametrize("curve", CODES)
def test_a_picture_of_hdr_is_looked_at_as_sdr_and_told_of(curve: str, suffix: str, tmp_path: Path) -> None:
    sdr = np.repeat(np.arange(24, 216, 12), 8)
    light = ((sdr / 255) ** 2.4)[:, None] * np.ones(3)
    path = write_picture(tmp_path / f"a{suffix}", CODES[curve](light)[:, 1], TRANSFERS[curve])
    with open_media(path) as media:
        rgb = media.image()
        assert media.warnings == (
            f"the picture is HDR ({curve}); it is looked at with its tones mapped to ordinary ones",
        )
    # Decoders hand on 8 bits, of which dark tones have few.
    np.testing.assert_allclose(rgb[32, 4::8].astype(int), sdr[4::8, None] * np.ones(3), atol=6)


@pytest.mark.parametrize("suffix", [".avif", ".heic"])
def test_a_picture_of_sdr_is_left_as_it_is(suffix: str, tmp_path: Path) -> None:
    sdr = np.repeat(np.arange(24, 216, 12), 8)
    with open_media(write_picture(tmp_path / f"a{suffix}", sdr / 255, ColorTrc.BT709)) as media:
        rgb = media.image()
        assert media.warnings == ()
    np.testing.assert_allclose(rgb[32, 4::8].astype(int), sdr[4::8, None] * np.ones(3), atol=3)
