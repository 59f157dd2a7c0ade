"""Every format of the specification, under a wrong name, decoded; and what is decoded is what was drawn."""

import hashlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from forensix.errors import BrokenMedia, LimitExceeded, UnsupportedMedia, UsageError
from forensix.media import Limits, open_media
from tests.making import VIDEO_CODECS, picture, tone, write_audio, write_image, write_pdf, write_video

IMAGES = {"jpg": "jpeg", "jpeg": "jpeg", "jfif": "jpeg", "png": "png", "tiff": "tiff", "gif": "gif", "webp": "webp"}
IMAGES |= {"heic": "heif", "avif": "heif"}
AUDIO = ("wav", "mp3", "m4a", "ogg", "aac", "flac")


def _misname(path: Path, suffix: str) -> Path:
    return path.rename(path.with_name(f"{path.stem}-{path.suffix[1:]}.{suffix}"))


@pytest.mark.parametrize("container", VIDEO_CODECS)
def test_videos(container: str, tmp_path: Path) -> None:
    path = _misname(write_video(tmp_path / f"clip.{container}", audio=tone(1.2)), "jpg")
    with open_media(path) as media:
        assert (media.kind, media.format) == ("video", container)
        assert media.mime.startswith("video/")
        assert (media.info.width_px, media.info.height_px) == (320, 240)
        assert media.info.frame_rate_hz == pytest.approx(25)
        assert media.info.duration_s == pytest.approx(1.2, abs=0.15)
        frames = list(media.frames())
        assert [frame.index for frame in frames] == list(range(30))
        np.testing.assert_allclose([frame.ms for frame in frames], np.arange(30) * 40, atol=1.01)
        for frame in frames[::10]:
            assert frame.scale == 1
            assert np.abs(frame.rgb.astype(int) - picture(shift=frame.index)).mean() < 8
        assert len(media.samples()) == pytest.approx(1.2 * 16000, abs=2500)
        assert media.warnings == ()


@pytest.mark.parametrize("container", AUDIO)
def test_audio(container: str, tmp_path: Path) -> None:
    path = _misname(write_audio(tmp_path / f"voice.{container}", tone(2.0, rate=44_100), 44_100), "mp4")
    with open_media(path) as media:
        assert (media.kind, media.format) == ("audio", container)
        assert media.mime.startswith("audio/")
        samples = media.samples()
    assert isinstance(samples, np.memmap)
    assert samples.dtype == np.int16
    assert len(samples) == pytest.approx(32_000, abs=2500)
    # A sine at 220 Hz, level 0.3, whatever the codec.
    middle = samples[8000:24000].astype(float)
    assert np.abs(np.fft.rfft(middle)).argmax() == 220
    assert np.sqrt((middle**2).mean()) == pytest.approx(0.3 * 32767 / np.sqrt(2), rel=0.1)


@pytest.mark.parametrize("container", ["mp4", "mov", "mkv", "webm", "3gp"])
def test_a_video_container_with_sound_only_is_audio(container: str, tmp_path: Path) -> None:
    with open_media(write_audio(tmp_path / f"a.{container}")) as media:
        assert (media.kind, media.format) == ("audio", container)
        assert media.mime.startswith("audio/")
        with pytest.raises(UnsupportedMedia, match="no pictures"):
            media.frames()


@pytest.mark.parametrize("codec", ["libopus", "flac"])
def test_ogg_holds_several_codecs(codec: str, tmp_path: Path) -> None:
    with open_media(write_audio(tmp_path / "a.ogg", codec=codec, rate=48_000)) as media:
        assert (media.kind, media.format) == ("audio", "ogg")
        assert len(media.samples()) > 10_000


@pytest.mark.parametrize(("suffix", "starts"), [("mp3", (b"\xff\xfb", b"\xff\xf3")), ("flac", (b"fLaC",)), ("aac", ())])
def test_sound_behind_a_large_cover(suffix: str, starts: tuple[bytes, ...], tmp_path: Path) -> None:
    sound = write_audio(tmp_path / f"a.{suffix}").read_bytes()
    sound = sound[next((sound.index(start) for start in starts if start in sound), 0) :]
    size = 100_000
    tag = b"ID3\x03\0\0" + bytes([size >> 21, size >> 14 & 127, size >> 7 & 127, size & 127]) + bytes(size)
    for head in (b"", tag, 2 * tag):
        with open_media(head + sound, name="x.bin") as media:
            assert media.format == suffix
            assert len(media.samples()) > 10_000


def test_raw_pcm_is_believed_by_its_name(tmp_path: Path) -> None:
    samples = tone(1.0)
    with open_media(write_audio(tmp_path / "a.pcm", samples)) as media:
        assert (media.kind, media.format) == ("audio", "pcm")
        np.testing.assert_array_equal(media.samples(), samples)
    with pytest.raises(UnsupportedMedia):
        open_media((tmp_path / "a.pcm").read_bytes(), name="a.bin")


@pytest.mark.parametrize(("suffix", "slug"), IMAGES.items())
def test_images(suffix: str, slug: str, tmp_path: Path) -> None:
    path = _misname(write_image(tmp_path / f"photo.{suffix}"), "mp3")
    with open_media(path) as media:
        assert (media.kind, media.format, media.info.width_px, media.info.height_px) == ("image", slug, 320, 240)
        rgb = media.image()
        assert (rgb.dtype, rgb.shape) == (np.uint8, (240, 320, 3))
        assert np.abs(rgb.astype(int) - picture()).mean() < (8 if suffix == "gif" else 4)
        (frame,) = media.frames(max_side_px=160)
        assert (frame.index, frame.ms, frame.scale, frame.rgb.shape) == (0, 0.0, 2.0, (120, 160, 3))


def test_pdf(tmp_path: Path) -> None:
    path = _misname(write_pdf(tmp_path / "paper.pdf", 3), "png")
    with open_media(path) as media:
        assert (media.kind, media.format, media.mime, media.info.n_pages) == ("pdf", "pdf", "application/pdf", 3)
        with pytest.raises(UnsupportedMedia, match="PDF"):
            media.image()
    with open_media(b"junk before\n" + path.read_bytes()) as media:
        assert media.kind == "pdf"
    with open_media(write_pdf(tmp_path / "locked.pdf", password="secret")) as media:
        assert (media.broken, media.info.n_pages) == (None, None)


def test_identity_and_json(tmp_path: Path) -> None:
    path = write_image(tmp_path / "a.png")
    with open_media(str(path)) as media:
        assert media.source == str(path)
        assert media.name == "a.png"
        assert media.size_bytes == path.stat().st_size
        assert media.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
        json.dumps({"format": media.format, "sha256": media.sha256}, allow_nan=False)
    with open_media(path.read_bytes(), name="up.jpg") as media:
        assert (media.name, media.format) == ("up.jpg", "png")
        temporary = media.path
        assert temporary.stat().st_mode & 0o077 == 0 or temporary.parent.stat().st_mode & 0o077 == 0
    assert not temporary.parent.exists()


def test_memo_and_copies(tmp_path: Path) -> None:
    built = []
    with open_media(write_image(tmp_path / "a.png")) as media:
        for _ in range(3):
            assert media.memo("key", lambda: built.append(1) or "value") == "value"
        media.image()[:] = 0
        assert media.image().any()
    assert built == [1]
    with pytest.raises(ValueError, match="closed"):
        media.image()


def test_samples_outlive_the_medium(tmp_path: Path) -> None:
    with open_media(write_audio(tmp_path / "a.wav")) as media:
        samples = media.samples()
        assert media.samples() is samples
    assert int(np.abs(samples).max()) > 9000
    with pytest.raises(ValueError, match="read-only"):
        samples[0] = 1


def test_each_limit_says_what_came_and_what_is_allowed(tmp_path: Path) -> None:
    video = write_video(tmp_path / "v.mp4", 75, (64, 48))
    audio = write_audio(tmp_path / "a.wav", tone(4.0))
    image = write_image(tmp_path / "i.png")
    pdf = write_pdf(tmp_path / "d.pdf", 3)
    for path, limits, sentence in (
        (video, Limits(video_s=1), "v.mp4 runs for 3.0 seconds; the limit for video is 1.0 seconds"),
        (video, Limits(video_side_px=40), "frames of 64 x 48 pixels; the limit is 40 on the shorter side"),
        (audio, Limits(audio_s=1), "a.wav runs for 4.0 seconds; the limit for audio is 1.0 seconds"),
        (audio, Limits(max_bytes=100 * 1024), "a.wav has 125.08 KB; the limit is 100 KB"),
        (audio, Limits(max_bytes=10), "a.wav has 125.08 KB; the limit is 10 bytes"),
        (image, Limits(image_pixels=70_000), r"320 x 240 pixels \(0 megapixels\)"),
        (pdf, Limits(pdf_pages=2), "has 3 pages; the limit is 2"),
    ):
        with pytest.raises(LimitExceeded, match=sentence):
            open_media(path, limits=limits)


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 0, -1, True, "60", None])
@pytest.mark.parametrize("name", ["audio_s", "max_bytes", "decode_s"])
def test_a_limit_that_bounds_nothing_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"{name} is a finite number above 0"):
        Limits(**{name: value})


def test_duration_is_enforced_while_decoding_when_the_header_lies(tmp_path: Path) -> None:
    # The header is believed at opening; shorter limits afterwards stand for a header that says too little.
    with open_media(write_audio(tmp_path / "a.aac", tone(8.0))) as media:
        media.limits = Limits(audio_s=2)
        with pytest.raises(LimitExceeded, match="audio"):
            media.samples()
    with open_media(write_video(tmp_path / "v.mkv", 100, (64, 48))) as media:
        media.limits = Limits(video_s=1)
        with pytest.raises(LimitExceeded, match="video"):
            list(media.frames())


def test_bytes_and_arrays_do_not_change() -> None:
    with open_media(np.zeros((8, 8, 3), np.uint8)) as media:
        assert media.change(reread=True) is None


def test_no_sound_is_said(tmp_path: Path) -> None:
    with open_media(write_video(tmp_path / "v.mp4", 3)) as media:
        assert not media.info.has_audio
        with pytest.raises(UnsupportedMedia, match=r"v\.mp4 has no sound"):
            media.samples()


@pytest.mark.slow
def test_the_corpus_opens_or_says_why(corpora: Path) -> None:
    n_decoded = 0
    for path in sorted((corpora / "forensics" / "video").iterdir()):
        try:
            with open_media(path) as media:
                if media.info.has_video:
                    n_decoded += len(list(media.frames(rate_hz=1))) > 0
                else:
                    assert media.broken is None or media.broken.startswith(path.name[:20])
        except (UnsupportedMedia, BrokenMedia) as error:
            assert str(error).startswith(path.name[:20])
    assert n_decoded >= 9


def test_threads_make_different_things_at_once_and_the_same_one_once(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    Image.new("RGB", (8, 8)).save(path)
    event, first, second = list[str](), threading.Event(), threading.Event()

    def slowly() -> int:
        event.append("slow")
        first.set()
        assert second.wait(30)
        return 1

    with open_media(path) as media, ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(media.memo, "slow", slowly) for _ in range(2)]
        assert first.wait(30)
        assert media.memo("other", lambda: 2) == 2
        second.set()
        assert [item.result(30) for item in waiting] == [1, 1]
    assert event == ["slow"]
