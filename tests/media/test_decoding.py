"""Frames, pictures and samples as they come out of a decoder."""

import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

from forensix.media import open_media
from forensix.media.values import DrawnPage, Frame
from tests.making import tone, write_audio, write_image, write_video


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I", "F", "CMYK", "YCbCr", "LAB"])
def test_every_mode_becomes_rgb(mode: str, tmp_path: Path) -> None:
    grey = np.full((300, 20), 128, np.uint8)
    source = Image.fromarray(grey)
    if mode == "I;16":
        image = Image.fromarray(grey.astype(np.uint16) * 256)
    elif mode == "I":
        image = Image.fromarray(grey.astype(np.int32) * 256)
    elif mode == "F":
        image = Image.fromarray(grey.astype(np.float32) / 255)
    elif mode == "LAB":
        image = Image.new("LAB", (20, 300), (138, 128, 128))
    else:
        image = source.convert("RGB").convert(mode) if mode in ("P", "CMYK", "YCbCr") else source.convert(mode)
    with open_media(write_image(tmp_path / "a.tiff", image)) as media:
        rgb = media.image()
    assert rgb.shape == (300, 20, 3)
    if mode != "1":
        assert np.abs(rgb.mean() - 128) < 10


@pytest.mark.parametrize(
    ("kind", "white", "top", "expected"),
    [
        ("<u2", 65535, 1.0, 255),
        (">u2", 65535, 1.0, 255),
        ("<u2", 16383, 1.0, 255),
        ("<u2", 4095, 1.0, 255),
        (">u2", 4095, 0.6, 153),
        ("<u2", 1023, 1.0, 255),
        ("<u2", 255, 1.0, 255),
        ("<u2", 65535, 0.02, 5),
        ("<i4", 4095, 1.0, 255),
        ("<f4", 1, 1.0, 255),
        ("<f4", 1, 1.2, 255),
        ("<f4", 1, 16.0, 255),
        ("<f4", 255, 1.0, 255),
        ("<f4", 65535, 1.0, 255),
    ],
)
def test_grey_of_more_than_8_bits_is_as_bright_as_it_was_meant(
    kind: str, white: float, top: float, expected: int, tmp_path: Path
) -> None:
    # As many rows as two strips, the brightest in the second.
    values = np.zeros((300, 20))
    values[10:100], values[280:] = white * top / 2, white * top
    half = min(255, round(255 * top / 2))
    shown = np.array((0, half, expected))
    # Pillow opens no others that store white as 0.
    for white_is_zero in (False, True) if kind in ("<u2", "<f4") else (False,):
        with open_media(write_grey_tiff(tmp_path / "a.tiff", values.astype(kind), white_is_zero)) as media:
            grey = media.image()[[200, 50, 290], 5, 1]
        np.testing.assert_allclose(grey, 255 - shown if white_is_zero else shown, atol=1)


def write_grey_tiff(path: Path, values: np.ndarray, white_is_zero: bool) -> Path:
    """Write grey values of any type as they are, which Pillow does for a few only."""
    order, (height, width) = values.dtype.str[0], values.shape
    kind = {"u": 1, "i": 2, "f": 3}[values.dtype.kind]
    tags = {256: width, 257: height, 258: values.itemsize * 8, 259: 1, 262: int(not white_is_zero), 273: 0}
    tags |= {277: 1, 278: height, 279: values.nbytes, 339: kind}
    tags[273] = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack(f"{order}HHII", tag, 4, 1, value) for tag, value in tags.items())
    magic = b"II*\0" if order == "<" else b"MM\0*"
    head = magic + struct.pack(f"{order}IH", 8, len(tags)) + entries + bytes(4)
    path.write_bytes(head + values.tobytes())
    return path


def test_transparency_is_laid_over_white(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (20, 600), (10, 20, 30, 0))
    clear.paste((200, 100, 50, 255), (0, 300, 20, 600))
    keyed = clear.convert("RGB").quantize(4)
    for image, options in ((clear, {}), (keyed, {"transparency": keyed.getpixel((0, 0))})):
        with open_media(write_image(tmp_path / "a.png", image, **options)) as media:
            rgb = media.image()
        assert rgb[10, 10].tolist() == [255, 255, 255]
        np.testing.assert_allclose(rgb[590, 10], [200, 100, 50], atol=2)


@pytest.mark.parametrize(
    ("suffix", "orientation"), [*(("jpg", n) for n in range(1, 10)), ("png", 6), ("webp", 6), ("tiff", 3), ("tiff", 6)]
)
def test_orientation_is_applied(suffix: str, orientation: int, tmp_path: Path) -> None:
    # The red quarter of the picture, in the corner where each orientation displays it.
    corner = [(0, 0), (0, -1), (-1, -1), (-1, 0), (0, 0), (0, -1), (-1, -1), (-1, 0), (0, 0)][orientation - 1]
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = write_image(tmp_path / f"a.{suffix}", exif=exif)
    with open_media(path) as media:
        rgb = media.image().astype(int)
        size = (320, 240) if orientation not in (5, 6, 7, 8) else (240, 320)
        assert (media.info.width_px, media.info.height_px) == size == rgb.shape[1::-1]
    red = {(y, x) for y in (0, -1) for x in (0, -1) if rgb[y * 20 or 20, x * 20 or 20, 0] > 180}
    assert red == {corner}


@pytest.mark.parametrize(
    ("name", "ratio", "rotation", "shown"),
    [
        ("a.mp4", Fraction(64, 45), 0, (455, 240)),
        ("a.mkv", Fraction(8, 9), 0, (320, 270)),
        ("a.mp4", Fraction(4, 3), 90, (240, 427)),
        ("a.mkv", Fraction(1, 1000), 0, (320, 240)),
    ],
)
def test_pixels_that_are_not_square_are_made_so(
    name: str, ratio: Fraction, rotation: int, shown: tuple[int, int], tmp_path: Path
) -> None:
    with open_media(write_video(tmp_path / name, 3, rotation=rotation, pixel_ratio=ratio)) as media:
        assert (media.info.width_px, media.info.height_px) == shown
        assert [frame.rgb.shape[1::-1] for frame in media.frames()] == [shown] * 3
        (smaller, *_) = media.frames(max_side_px=100)
        assert max(smaller.rgb.shape) == 100 and max(shown) == round(100 * smaller.scale)


@pytest.mark.parametrize("rotation", [90, 180, -90])
def test_rotation_is_applied(rotation: int, tmp_path: Path) -> None:
    corner = {90: (-1, 0), 180: (-1, -1), -90: (0, -1)}[rotation]
    with open_media(write_video(tmp_path / "a.mp4", 3, rotation=rotation)) as media:
        frame = next(media.frames())
        assert (media.info.width_px, media.info.height_px) == frame.rgb.shape[1::-1]
        assert frame.rgb.shape[1::-1] == ((320, 240) if rotation == 180 else (240, 320))
        red = {(y, x) for y in (0, -1) for x in (0, -1) if frame.rgb[y * 20 or 20, x * 20 or 20, 0] > 180}
    assert red == {corner}


@pytest.mark.parametrize(
    ("matrix", "corner"),
    [
        ((-1, 0, 0, 1), (0, -1)),
        ((1, 0, 0, -1), (-1, 0)),
        ((0, 1, 1, 0), (0, 0)),
        ((0, -1, -1, 0), (-1, -1)),
        ((0, 0, 0, 0), (0, 0)),
    ],
)
def test_mirrored_videos_and_those_with_a_matrix_of_zeros_are_shown_as_players_show_them(
    matrix: tuple[int, ...], corner: tuple[int, int], tmp_path: Path
) -> None:
    path = write_video(tmp_path / "a.mp4", 3)
    upright, (a, b, c, d) = struct.pack(">9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30), (v << 16 for v in matrix)
    track, data = path.read_bytes().index(b"tkhd"), path.read_bytes()
    shown = data[track:].replace(upright, struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30), 1)
    path.write_bytes(data[:track] + shown)
    with open_media(path) as media:
        rgb = next(media.frames()).rgb
        assert (media.info.width_px, media.info.height_px) == rgb.shape[1::-1]
    assert {(y, x) for y in (0, -1) for x in (0, -1) if rgb[y * 20 or 20, x * 20 or 20, 0] > 180} == {corner}


def test_frames_are_thinned_evenly_and_keep_their_numbers(tmp_path: Path) -> None:
    # Each frame is painted in the grey of its number.
    path = write_video(tmp_path / "a.mp4", 50, (64, 48), paint=lambda i: np.full((48, 64, 3), 20 + 4 * i, np.uint8))
    with open_media(path) as media:
        for rate_hz, expected in ((5, 10), (25, 50), (100, 50), (12.5, 25)):
            frames = list(media.frames(rate_hz=rate_hz))
            assert len(frames) == expected
            assert np.ptp(np.diff([frame.index for frame in frames])) == 0
        for frame in frames:
            assert frame.ms == pytest.approx(frame.index * 40)
            assert frame.rgb.mean() == pytest.approx(20 + 4 * frame.index, abs=3)


@pytest.mark.parametrize(("fps", "apart"), [(25, 1), (50, 2), (10, 1)])
def test_frames_come_with_those_that_follow(fps: int, apart: int, tmp_path: Path) -> None:
    def grey(index: int) -> int:
        return 20 + 4 * index

    def paint(index: int) -> np.ndarray:
        return np.full((48, 64, 3), grey(index), np.uint8)

    with open_media(write_video(tmp_path / "a.mp4", 50, (64, 48), fps, paint=paint)) as media:
        plain = [(frame.index, frame.ms) for frame in media.frames(rate_hz=5)]
        frames = list(media.frames(rate_hz=5, follow_s=0.4))
    assert [(frame.index, frame.ms) for frame in frames] == plain
    followed = [frame for frame in frames if frame.following]
    assert len(followed) == pytest.approx(50 / fps / 0.4, abs=1)
    for frame in followed:
        levels = [rgb.mean() for rgb in (frame.rgb, *frame.following)]
        expected = [grey(frame.index + i * apart) for i in range(3)]
        assert levels == pytest.approx(expected, abs=3)


def test_where_frames_are_too_rare_none_follow(tmp_path: Path) -> None:
    with open_media(write_video(tmp_path / "a.mp4", 12, (64, 48), 4)) as media:
        frames = list(media.frames(rate_hz=5, follow_s=0.5))
    assert [frame.index for frame in frames] == list(range(12))
    assert not any(frame.following for frame in frames)


def test_frames_are_scaled_in_the_child(tmp_path: Path) -> None:
    with open_media(write_video(tmp_path / "a.mp4", 2)) as media:
        frame = next(media.frames(max_side_px=100))
        assert frame.rgb.shape == (75, 100, 3)
        assert frame.scale == pytest.approx(3.2)
        assert next(media.frames(max_side_px=1000)).scale == 1


def test_stereo_is_mixed_and_float_is_scaled(tmp_path: Path) -> None:
    path = write_audio(tmp_path / "a.wav", codec="pcm_f32le", samples=tone(1.0, level=0.9))
    with open_media(path) as media:
        assert np.abs(media.samples()).max() == pytest.approx(0.9 * 32767, rel=0.01)


@pytest.mark.parametrize("kind", ["<f4", "<f8"])
@pytest.mark.parametrize("n_channels", [1, 2, 3])
def test_float_above_full_scale_is_scaled_down_rather_than_cut(kind: str, n_channels: int, tmp_path: Path) -> None:
    sound = np.random.default_rng(0).normal(0, 0.1, (48_000, n_channels)).astype(kind)
    sound /= np.abs(sound).max()
    for gain in (1, 8):
        wavfile.write(tmp_path / f"{gain}.wav", 48_000, sound * np.array(gain, kind))
    with open_media(tmp_path / "1.wav") as whole, open_media(tmp_path / "8.wav") as loud:
        np.testing.assert_allclose(loud.samples().astype(int), whole.samples(), atol=1)
        assert whole.warnings == ()
        assert loud.warnings == ("the samples of sound reach 8.00 times full scale and were scaled down",)


def test_float_within_full_scale_is_left_as_it_is(tmp_path: Path) -> None:
    wavfile.write(tmp_path / "float.wav", 16_000, tone(1.0, level=1.0) / np.float32(32768))
    path = write_audio(tmp_path / "int.wav", samples=tone(1.0, level=1.0))
    with open_media(path) as whole, open_media(tmp_path / "float.wav") as media:
        np.testing.assert_array_equal(media.samples(), whole.samples())
        assert media.warnings == ()


def test_a_sample_that_is_damage_does_not_silence_the_others(tmp_path: Path) -> None:
    sound = tone(1.0, level=0.9) / np.float32(32768)
    sound[[100, 200, 300]] = 1e30, np.nan, np.inf
    wavfile.write(tmp_path / "a.wav", 16_000, sound)
    with open_media(tmp_path / "a.wav") as media:
        np.testing.assert_allclose(media.samples()[400:].astype(int), tone(1.0, level=0.9)[400:], atol=1)
        assert not any("full scale" in warning for warning in media.warnings)


def test_lossy_sound_above_full_scale_is_not_scaled(tmp_path: Path) -> None:
    loud = np.where(tone(1.0) > 0, 32767, -32767).astype(np.int16)
    with open_media(write_audio(tmp_path / "a.mp3", samples=loud)) as media:
        assert (np.abs(media.samples().astype(int)) >= 32767).mean() > 0.1
        assert not any("full scale" in warning for warning in media.warnings)


@pytest.mark.parametrize(("n_channels", "speaks"), [(3, 2), (6, 3), (9, 0), (16, 12), (32, 31)])
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int32, np.float32])
def test_each_channel_of_a_recorder_is_heard(n_channels: int, speaks: int, kind: type, tmp_path: Path) -> None:
    # Nothing says which loudspeakers they are for.
    sound = np.zeros((16_000, n_channels))
    sound[:, speaks] = tone(1.0, level=0.9) / 32768
    scale, zero = {np.uint8: (127, 128), np.int16: (32767, 0), np.int32: (2**31 - 1, 0)}.get(kind, (1, 0))
    wavfile.write(tmp_path / "a.wav", 16_000, (sound * scale + zero).astype(kind))
    with open_media(tmp_path / "a.wav") as media:
        loudest = np.abs(media.samples().astype(float)).max() / 32768
    assert loudest == pytest.approx(0.9 / n_channels, abs=0.01)


def test_eight_channels_in_planes_are_decoded(tmp_path: Path) -> None:
    sound = np.zeros((1, 8 * 16_000), np.float32)
    sound[0, ::8] = tone(1.0) / 32768
    with av.open(str(tmp_path / "a.m4a"), "w", format="ipod") as output:
        stream = output.add_stream("aac", rate=16_000)
        stream.layout = "7.1"
        frame = av.AudioFrame.from_ndarray(sound, format="flt", layout="7.1")
        frame.sample_rate, frame.pts, frame.time_base = 16_000, 0, Fraction(1, 16_000)
        planes = av.AudioResampler(format="fltp", layout="7.1", rate=16_000, frame_size=1024)
        for part in planes.resample(frame):
            output.mux(stream.encode(part))
        output.mux(stream.encode(None))
    with open_media(tmp_path / "a.m4a") as media:
        assert len(media.samples()) == pytest.approx(16_000, abs=1024)
        assert media.samples()[4000:8000].any()


def test_frames_and_drawn_pages_are_equal_to_themselves_alone() -> None:
    rgb = np.zeros((2, 2, 3), np.uint8)
    for one, other in ((Frame(0, 0.0, rgb), Frame(0, 0.0, rgb)), (DrawnPage(0, rgb, rgb), DrawnPage(0, rgb, rgb))):
        assert one != other
        assert len({one, other}) == 2
