"""Each bad input gets one sentence, soon, and nothing is fetched, hung on or printed."""

import os
import time
from pathlib import Path

import av
import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.errors import BrokenMedia, InputError, InputNotFound, LimitExceeded, UnsupportedMedia
from forensix.media import open_media
from forensix.media.sniff import sniff
from tests.making import raw_png, write_image, write_video

LIMITS = {"video_s": 60, "audio_s": 60, "video_side_px": 2560, "image_pixels": 1e8}
FORMATS_OF_DEMUXERS = ("mp4", "mkv", "flv", "avi", "wav", "mp3", "ogg", "aac", "flac")


pytestmark = pytest.mark.usefixtures("quiet_and_quick")


def sentence_of(error: pytest.ExceptionInfo[InputError]) -> str:
    text = str(error.value)
    assert text
    assert "\n" not in text
    assert "Traceback" not in text
    return text


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path, sentence in (
        (tmp_path / "none.mp4", "none.mp4 is not there"),
        (tmp_path, "is a directory, not a file"),
        (tmp_path / "pipe.mp4", "is a pipe, socket or device"),
        ("/dev/zero", "is a pipe, socket or device"),
        (tmp_path / "loop", "cannot be opened"),
        ("a\0b.mp4", "cannot be opened: the path is malformed"),
        ("x" * 5000, "cannot be opened"),
    ):
        with pytest.raises(InputNotFound, match=sentence) as error:
            open_media(path)
        assert len(sentence_of(error)) < 300


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write_image(tmp_path / "a.png")
    path.chmod(0)
    with pytest.raises(InputNotFound, match="may not be read"):
        open_media(path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no file here whose reading fails")
def test_a_file_whose_disk_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    paths = ["/proc/self/mem", write_image(tmp_path / "a.png")]
    broken, good = forensix.analyze_many(paths, ["forensic_analysis"], executor="here")
    assert broken.error == "/proc/self/mem cannot be read: Input/output error"
    assert good.error is None and good.tasks


def test_empty() -> None:
    with pytest.raises(BrokenMedia, match="is empty: it has 0 bytes"):
        open_media(b"", name="a.mp4")


COPIED = r", which FFmpeg copies unchanged into a file that can be read \(ffmpeg -i FILE -c copy FILE\.mkv\)"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"just some words\n", "is text, not media"),
        ("Gr\u00fc\u00dfe".encode("utf-16"), "is text, not media"),
        ("na\u00efve caf\u00e9 words words words".encode("latin-1"), "is text, not media"),
        (b"<html><body>", "is a web page"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is an SVG drawing, which is text and not pixels"),
        (b"<?xml version='1.0'?><note/>", "is XML text"),
        (b"PK\x03\x04rest", "is a ZIP archive or an Office document"),
        (b"\x7fELF" + bytes(60), "is a program"),
        (b"FUJIFILMCCD-RAW 0201" + bytes(60), "is a raw file of a Fujifilm camera"),
        (b"\x00\x00\x00\x18ftypcrx " + bytes(60), r"is a raw file of a Canon camera \(CR3\)"),
        (b"\xff\x0a\xfa\x7f" + bytes(60), "is a JPEG XL image"),
        (b"\xff\xd8\xff\xf7\0\x11\x08" + bytes(60), "is a JPEG-LS image"),
        (b"\xff\x4f\xff\x51\0\x2f" + bytes(60), "is a JPEG 2000 image"),
        (b"riff\x2e\x91\xcf\x11\xa5\xd6" + bytes(60), "is a Sony Wave64 file"),
        (b"ID3\3\0\0\0\0\0\4" + bytes(4) + b"TTA1" + bytes(60), "is a True Audio file"),
        (b"ID3\3\0\0\0\0\0\4" + bytes(4) + b"MAC " + bytes(60), "is a Monkey's Audio file"),
        (b"G" + bytes(187) + b"G", f"is an MPEG transport stream{COPIED}"),
        (
            2 * (bytes(4) + b"G" + bytes(187)),
            rf"is an MPEG transport stream of a camcorder or a Blu-ray disc \(AVCHD, M2TS\){COPIED}",
        ),
        (b"\0\0\0\1\x09\x10\0\0\0\1\x67\x64\0\x1e", f"is a bare H.264 video stream{COPIED}"),
        (b"\0\0\0\1\x67\x64\0\x1e\xac", f"is a bare H.264 video stream{COPIED}"),
        (b"\0\0\0\1\x40\1\x0c\1", f"is a bare H.265 video stream{COPIED}"),
        (b"\0\0\0\1\x4e\1\x05\x23", f"is a bare H.265 video stream{COPIED}"),
        (
            3 * (b"G" + 2 * (b"\xff\xf1\x50\x40\x01\x1f\xfc" + bytes(1)) + bytes(171)),
            f"is an MPEG transport stream{COPIED}",
        ),
    ],
)
def test_no_media(content: bytes, sentence: str) -> None:
    with pytest.raises(UnsupportedMedia, match=rf"renamed\.mp4 {sentence}; forensix reads") as error:
        open_media(content, name="renamed.mp4")
    sentence_of(error)


UNKNOWN = (bytes(range(256)) * 4, bytes(5000), b"\x00", b"\xff\xd8\xfe\xdc", b"RIFF\x10\0\0\0HACK" + bytes(40))


@pytest.mark.parametrize("name", [None, "", "upload", "data.bin", "notes.txt", "mp4", ".mp4", "a.mp4.exe", "film.raw"])
@pytest.mark.parametrize("content", UNKNOWN)
def test_unknown_bytes_that_no_name_claims(content: bytes, name: str | None) -> None:
    with pytest.raises(UnsupportedMedia, match="is not in a format that is known here; forensix reads") as error:
        open_media(content, name=name)
    sentence_of(error)


@pytest.mark.parametrize(
    ("name", "kind", "format"),
    [
        ("a.MP3", "audio", "mp3"),
        ("a.m4b", "audio", "m4a"),
        ("a.mka", "video", "mkv"),
        ("a.mp4", "video", "mp4"),
        ("a.jpe", "image", "jpeg"),
        ("a.avif", "image", "heif"),
        ("a.pdf", "pdf", "pdf"),
    ],
)
def test_a_name_is_a_claim_that_unknown_bytes_fail(name: str, kind: str, format: str) -> None:
    for content in UNKNOWN:
        file_format = sniff(content, name)
        assert file_format.broken is not None
        assert kind in file_format.kinds
        with open_media(content, name=name) as media:
            assert (media.kind, media.format, media.only_named) == (kind, format, True)
            assert media.broken == file_format.broken
            assert media.info.duration_s is None
            first = content[:8].hex(" ")
            words = f"{name} does not begin as the {format} that its name says, but with the bytes {first}"
            assert media.broken == words
            decode = {"image": media.image, "audio": media.samples, "video": media.samples}.get(media.kind)
            if decode:
                with pytest.raises(BrokenMedia, match="does not begin as the"):
                    decode()


def test_a_pdf_that_lost_its_header_is_no_plain_text() -> None:
    body = b"1 0 obj\n<< /Type /Catalog >>\nendobj\nstartxref\n0\n%%EOF\n"
    assert sniff(body, "a.pdf").broken
    with pytest.raises(UnsupportedMedia, match="is text, not media"):
        sniff(body, "a.mp3")
    with pytest.raises(UnsupportedMedia, match="is text, not media"):
        sniff(b"These are words.", "a.pdf")
    with pytest.raises(UnsupportedMedia, match="is a RIFF file of big-endian numbers"):
        sniff(b"RIFX\0\0\0\x30WAVEfmt ", "a.wav")


def test_content_goes_before_any_name(tmp_path: Path) -> None:
    data = write_image(tmp_path / "a.png").read_bytes()
    file_format = sniff(data, "a.mp3")
    assert (file_format.format, file_format.mime, file_format.kinds, file_format.broken) == (
        "png",
        "image/png",
        {"image"},
        None,
    )


def test_an_image_of_too_many_pixels_is_not_decoded() -> None:
    start = time.monotonic()
    with pytest.raises(LimitExceeded, match=r"60000 x 60000 pixels \(3600 megapixels\); the limit is 128 megapixels"):
        open_media(raw_png(60_000, 60_000), name="bomb.png")
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(("n_scans", "refused"), [(100, False), (600, True)])
def test_a_jpeg_whose_scans_take_minutes_is_not_decoded(n_scans: int, refused: bool, tmp_path: Path) -> None:
    path = write_image(tmp_path / "scans.jpg", np.zeros((2000, 2000, 3), np.uint8), progressive=True)
    data = path.read_bytes()
    path.write_bytes(data[:-2] + data[data.rindex(b"\xff\xda") : -2] * n_scans + b"\xff\xd9")
    if refused:
        with pytest.raises(LimitExceeded, match=r"more than 500 scans; the limit for 2000 x 2000 pixels is 500"):
            open_media(path)
    else:
        with open_media(path) as media:
            assert media.info.width_px == 2000


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float32])
def test_channels_that_cancel_each_other_are_heard(kind: type, tmp_path: Path) -> None:
    t = np.arange(32_000) / 16_000
    full, zero = {np.uint8: (127, 128), np.int16: (32767, 0)}.get(kind, (1, 0))
    speech = 0.5 * np.sin(2 * np.pi * 200 * t) * (t < 1) * full
    speech = np.rint(speech) if full > 1 else speech
    other = np.roll(speech, 9)
    for name, second in (("alike", speech), ("inverted", -speech), ("other", other), ("alone", np.zeros_like(speech))):
        wavfile.write(tmp_path / f"{name}.wav", 16_000, (np.stack([speech, second], axis=1) + zero).astype(kind))
    with open_media(tmp_path / "alike.wav") as alike, open_media(tmp_path / "inverted.wav") as inverted:
        np.testing.assert_allclose(inverted.samples().astype(int), alike.samples(), atol=2)
        assert not alike.warnings
        (warning,) = inverted.warnings
        assert float(warning.split()[1]) == pytest.approx(1, abs=0.15) and "cancel each other" in warning
    for name in ("other", "alone"):
        with open_media(tmp_path / f"{name}.wav") as media:
            assert media.samples().any() and not media.warnings


@pytest.mark.parametrize("snr_db", [15, 30])
def test_channels_that_cancel_each_other_are_heard_where_each_has_noise_of_its_own(snr_db: int, tmp_path: Path) -> None:
    """The noise decided from frame to frame, and most of what was said was lost."""
    chance = np.random.default_rng(0)
    syllables = chance.normal(0, 3000, 6 * 16_000) * (np.arange(6 * 16_000) // 4000 % 3 > 0)
    noise = chance.normal(0, 3000 * 10 ** (-snr_db / 20), (2, len(syllables)))
    wavfile.write(
        tmp_path / "a.wav", 16_000, np.stack([syllables, -syllables]).T.astype(np.int16) + noise.T.astype("i2")
    )
    with open_media(tmp_path / "a.wav") as media:
        difference = media.samples() - (syllables + noise[0])
        assert np.abs(difference[8000:]).max() < 3
        (warning,) = media.warnings
        assert float(warning.split()[1]) == pytest.approx(5.75, abs=0.3) and "cancel each other" in warning


def test_channels_that_differ_are_mixed(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    middle, side = chance.normal(0, 0.1, (2, 32_000))
    for share in (0, 0.5, 1):
        left, right = middle + share * side, middle - share * side
        wavfile.write(tmp_path / "a.wav", 16_000, np.stack([left, right], axis=1).astype(np.float32))
        with open_media(tmp_path / "a.wav") as media:
            np.testing.assert_allclose(media.samples() / 32768, middle, atol=1e-3)
            assert not media.warnings


def test_channels_with_a_person_on_each_are_told_to_be_heard_mixed(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    at = np.arange(20 * 16_000)
    first, second = (chance.normal(0, 0.1, len(at)) * (at // 5000 % k > 1) for k in (5, 6))
    noise = chance.normal(0, 0.002, (2, len(at)))
    second[: 3 * 16_000] = 0
    sounds = {
        "call": (first + 0.1 * second, second + 0.1 * first),
        "room": (first + 0.4 * second, second + 0.4 * first),
        "one side": (first, 0 * second),
        "alike": (first + second, first + second),
        "quieter": (first, 0.1 * first),
        "inverted": (first, -first),
    }
    for name, sides in sounds.items():
        wavfile.write(tmp_path / "a.wav", 16_000, (np.stack(sides) + noise).T.astype(np.float32))
        with open_media(tmp_path / "a.wav") as media:
            assert not media.warnings and len(media.samples()) == len(at)
            assert any("different voices" in warning for warning in media.warnings) is (name == "call"), name


@pytest.mark.parametrize("layout", ["5.1", "2.1"])
def test_the_channel_of_deep_tones_is_heard_where_it_sounds_alone(layout: str, tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=48_000, layout=layout)
        names = [channel.name for channel in stream.layout.channels]
        rows = np.zeros((len(names), 48_000), np.int16)
        rows[names.index("LFE")] = 9000 * np.sin(np.arange(48_000) / 100)
        rows[0, 24_000:] = rows[names.index("LFE"), 24_000:] // 3
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(rows.T.reshape(1, -1)), format="s16", layout=layout)
        frame.sample_rate = 48_000
        for packet in (*stream.encode(frame), *stream.encode(None)):
            container.mux(packet)
    with open_media(tmp_path / "a.wav") as media:
        loudest = np.abs(media.samples()[:7000].astype(int)).max(), np.abs(media.samples()[9000:].astype(int)).max()
    assert loudest[0] == pytest.approx(9000 / len(names), rel=0.02)
    assert loudest[1] < 3000


def test_a_video_without_frames(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 5)
    data = bytearray(path.read_bytes())
    start = data.index(b"mdat") + 4
    end = data.index(b"moov") - 4
    data[start:end] = bytes(end - start)
    with open_media(bytes(data), name="a.mp4") as media, pytest.raises(BrokenMedia, match="holds no frame"):
        list(media.frames())


def test_calls_that_cannot_be_meant(tmp_path: Path) -> None:
    with open_media(write_video(tmp_path / "a.mp4", 2)) as media:
        with pytest.raises(ValueError, match="rate_hz"):
            media.frames(rate_hz=0)
        with pytest.raises(ValueError, match="max_side_px"):
            media.frames(max_side_px=0)
        with pytest.raises(UnsupportedMedia, match="a video, not an image"):
            media.image()


def test_names_in_sentences_are_clean() -> None:
    with pytest.raises(InputError) as error:
        open_media(b"", name="a\x1b[31m\n" + "b" * 500 + ".mp4")
    assert sentence_of(error).isprintable()
    assert len(str(error.value)) < 200


def test_too_many_bytes_are_not_even_hashed(tmp_path: Path) -> None:
    path = tmp_path / "big.png"
    with path.open("wb") as file:
        file.truncate(40 * 1024**2)
    with pytest.raises(LimitExceeded, match=r"big\.png has 40 MB; the limit is 32 MB"):
        open_media(path)


def test_sniffing_never_fails_on_any_bytes() -> None:
    rng = np.random.default_rng(3)
    starts = [
        b"",
        b"ID3\x03\0\0\x7f\x7f\x7f\x7f",
        b"RIFF",
        b"\0\0\0\x18ftyp",
        b"\x1a\x45\xdf\xa3",
        b"\xff\xfb",
        b"OggS",
        b"\xff\xf1",
    ]
    for start in starts:
        for size in (1, 3, 9, 40, 3000):
            try:
                file_format = sniff(start + rng.bytes(size), "x")
            except UnsupportedMedia:
                continue
            assert file_format.format
            assert "/" in file_format.mime
            assert file_format.broken is None
