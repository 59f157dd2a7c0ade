"""Sound and picture have one clock: that of the time stamps, from where the file begins to play."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from forensix.media import open_media
from tests.making import retimed, tone, write_audio, write_video

pytestmark = pytest.mark.usefixtures("quiet_and_quick")

TONES = np.concatenate([tone(2.0, 440), tone(2.0, 1000)])


def high_from_s(samples: np.ndarray) -> float:
    """Return when the higher of the two tones begins."""
    spectra = np.abs(np.fft.rfft(samples[: len(samples) // 800 * 800].reshape(-1, 800).astype(float), axis=1))
    return float(np.flatnonzero((spectra.argmax(axis=1) == 50) & (spectra.max(axis=1) > 1e5))[0]) / 20


@pytest.mark.parametrize("suffix", ["mkv", "webm", "mp4", "m4a", "ogg"])
def test_what_is_heard_after_a_pause_keeps_its_time(suffix: str, tmp_path: Path) -> None:
    kind = {"mkv": write_video, "mp4": write_video}.get(suffix)
    path = tmp_path / f"a.{suffix}"
    path = kind(path, 100, (64, 48), audio=TONES, options={"bf": "0"}) if kind else write_audio(path, TONES)
    paused = retimed(path, tmp_path / f"b.{suffix}", lambda kind, at_s: 3.0 if kind == "audio" and at_s > 1.5 else 0.0)
    with open_media(paused) as media:
        samples = media.samples()
        assert high_from_s(samples) == pytest.approx(5.0, abs=0.1)
        assert len(samples) / 16_000 == pytest.approx(7.0, abs=0.1)
        assert not samples[2 * 16_000 : 4 * 16_000].any()
        assert media.warnings == ("the time stamps leave out 3.0 s within the sound; silence stands for them",)


@pytest.mark.parametrize("suffix", ["mkv", "mp4", "flv"])
@pytest.mark.parametrize(("late", "sound_s", "picture_ms"), [("audio", 4.0, 0.0), ("video", 2.0, 2000.0)])
@pytest.mark.parametrize("start_s", [0.0, 10.0])
def test_a_stream_that_begins_late_has_late_times(
    suffix: str, late: str, sound_s: float, picture_ms: float, start_s: float, tmp_path: Path
) -> None:
    path = write_video(tmp_path / f"a.{suffix}", 100, (64, 48), audio=TONES, options={"bf": "0"})
    moved = retimed(path, tmp_path / f"b.{suffix}", lambda kind, _: start_s + (2.0 if kind == late else 0.0))
    with open_media(moved) as media:
        assert high_from_s(media.samples()) == pytest.approx(sound_s, abs=0.15)
        first, *_, last = media.frames()
        assert (first.index, last.index) == (0, 99)
        assert first.ms == pytest.approx(picture_ms, abs=100), "the sound begins up to 64 ms early"
        assert last.ms - first.ms == pytest.approx(99 * 40, abs=2)
        assert not media.warnings, "nothing is missing at the end of either"


@pytest.mark.parametrize("suffix", ["mkv", "webm", "mp4", "flv"])
def test_a_video_that_begins_late_is_no_longer_for_that(suffix: str, tmp_path: Path) -> None:
    path = write_video(tmp_path / f"a.{suffix}", 100, (64, 48), options={} if suffix == "webm" else {"bf": "0"})
    moved = retimed(path, tmp_path / f"b.{suffix}", lambda *_: 3600.0)
    with open_media(moved) as media:
        assert media.info.duration_s == pytest.approx(4.0, abs=0.1)
        assert len(list(media.frames(rate_hz=5.0))) == 20
        assert not media.warnings


def test_the_end_that_is_missing_is_told_of_a_video_that_begins_late(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", 100, (64, 48), options={"bf": "0"})
    data = retimed(path, tmp_path / "b.mkv", lambda *_: 60.0).read_bytes()
    with open_media(data[: len(data) // 2], name="b.mkv") as media:
        n_frames = len(list(media.frames()))
        assert 10 < n_frames < 90
        assert any(f"{4 - n_frames / 25:.1f} s before the end" in warning for warning in media.warnings)


def test_pictures_that_are_shown_for_long_are_not_said_to_be_missing(tmp_path: Path) -> None:
    slow = write_video(tmp_path / "a.mp4", 8, (64, 48), Fraction(1, 5), options={"bf": "0"})
    with open_media(slow) as media:
        assert [frame.ms for frame in media.frames()] == [5000.0 * n for n in range(8)]
        assert not media.warnings


def test_a_recording_of_a_browser_is_as_long_as_its_packets(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.webm", 50, (64, 48), audio=TONES)
    data = path.read_bytes()
    at = data.index(b"\x44\x89\x88")
    # Without its length, which a browser does not know when it writes the header.
    data = data[:at] + b"\xec\x89" + bytes(9) + data[at + 11 :]
    with open_media(data, name="a.webm") as media:
        assert media.info.duration_s == pytest.approx(4.0, abs=0.1)
        assert len(list(media.frames())) == 50


def test_time_stamps_that_begin_anew_are_no_pause(tmp_path: Path) -> None:
    path = write_audio(tmp_path / "a.mkv", TONES)
    jump = {False: 0.0, True: 3600.0}
    data = retimed(path, tmp_path / "b.mkv", lambda _, at_s: jump[at_s > 1.5]).read_bytes()
    at = data.index(b"\x44\x89\x88") + 3
    data = data[:at] + bytes(8) + data[at + 8 :]
    with open_media(data, name="b.mkv") as media:
        assert media.info.duration_s is None
        assert len(media.samples()) / 16_000 == pytest.approx(4.0, abs=0.1)


@pytest.mark.parametrize("suffix", ["mkv", "flv"])
def test_all_pictures_of_joined_videos_are_looked_at(suffix: str, tmp_path: Path) -> None:
    data = write_video(tmp_path / f"a.{suffix}", 100, (64, 48), audio=TONES, options={"bf": "0"}).read_bytes()
    with open_media(data + data[13 if suffix == "flv" else 0 :], name=f"a.{suffix}") as media:
        times_ms = [frame.ms for frame in media.frames(rate_hz=5.0)]
        assert times_ms == pytest.approx([200.0 * n for n in range(40)], abs=45)
        assert len(media.samples()) / 16_000 == pytest.approx(8.0, abs=0.3)


@pytest.mark.parametrize("quiet_first", [True, False])
def test_bare_aac_has_the_duration_of_its_packets(quiet_first: bool, tmp_path: Path) -> None:
    loud = np.random.default_rng(0).normal(0, 6000, 16_000 * 5).astype(np.int16)
    parts = [write_audio(tmp_path / f"{i}.aac", part).read_bytes() for i, part in enumerate((0 * loud, loud))]
    with open_media(b"".join(parts if quiet_first else parts[::-1])) as media:
        assert media.info.duration_s == pytest.approx(10, abs=0.3)
        assert len(media.samples()) / 16_000 == pytest.approx(10, abs=0.3)
        assert media.warnings == ()


def test_mp3_says_how_long_it_is_in_its_header_alone(tmp_path: Path) -> None:
    loud = np.random.default_rng(0).normal(0, 6000, 44_100 * 5).astype(np.int16)
    mp3 = write_audio(tmp_path / "a.mp3", loud, 44_100).read_bytes()
    header = mp3.index(b"Info")
    for data, duration_s, warns in ((mp3, 5, False), (mp3[: len(mp3) // 2], 5, True), (3 * mp3, 15, False)):
        with open_media(data) as media:
            assert media.info.duration_s == pytest.approx(duration_s, abs=0.3)
            media.samples()
            assert any("header states" in warning for warning in media.warnings) == warns
    nameless = mp3[:header] + b"Oops" + mp3[header + 4 :]
    with open_media(nameless[: len(mp3) // 2]) as media:
        assert len(media.samples()) / 16_000 == pytest.approx(media.info.duration_s, abs=0.2)
