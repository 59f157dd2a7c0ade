"""Facts of videos and recordings: on files that the test makes, some with boxes edited by hand."""

import io
import struct
import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from forensix.forensics import claims
from forensix.media import open_media
from forensix.metadata.av import audio_signal, streams, video_copies, xiph
from forensix.metadata.av import reader as container
from forensix.metadata.av.collector import iso6709
from forensix.metadata.av.riff import UNKNOWN
from forensix.metadata.facts import Facts
from tests.making import retimed, tone, write_video


def video(
    path: Path,
    *,
    n: int = 24,
    codec: str = "mpeg4",
    tags: dict[str, str] | None = None,
    still: bool = False,
    options: dict[str, str] | None = None,
    of_track: dict[str, str] | None = None,
) -> Path:
    with av.open(str(path), "w", options=options or {}) as out:
        out.metadata.update(tags or {})
        stream = out.add_stream(codec, rate=24)
        stream.metadata.update(of_track or {})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in range(n):
            rgb = np.zeros((48, 64, 3), np.uint8)
            rgb[:, (0 if still else 2 * i) % 64 :] = 200
            for packet in stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    return path


def sound(
    path: Path,
    codec: str,
    *,
    seconds: float = 1.5,
    rate: int = 44100,
    layout: str = "mono",
    tags: dict[str, str] | None = None,
) -> Path:
    noise = np.random.default_rng(0).normal(0, 3000, int(seconds * rate)).astype(np.int16)
    with av.open(str(path), "w") as out:
        out.metadata.update(tags or {})
        stream = out.add_stream(codec, rate=rate)
        stream.layout = layout
        frame = av.AudioFrame.from_ndarray(noise[None, :], format="s16", layout="mono")
        frame.rate = rate
        fifo = av.AudioFifo()
        fifo.write(av.AudioResampler(format=stream.format, layout=layout, rate=rate).resample(frame)[0])
        while part := fifo.read(stream.codec_context.frame_size or 1024, partial=True):
            for packet in stream.encode(part):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    return path


def wav(path: Path, samples: np.ndarray, rate: int = 16000) -> Path:
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 2, rate, 0, "NONE", ""))
        out.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return path


def box(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", 8 + len(body), name) + body


def said(facts: Facts) -> str:
    return " ".join(p.message for p in facts.problems)


def test_mp4_tells_boxes_codec_and_writer(tmp_path: Path) -> None:
    facts = container.read(str(video(tmp_path / "a.mp4")), "mp4")
    assert facts.problems == ()
    assert set(facts.get("container.boxes")) >= {"ftyp", "mdat", "moov"}
    assert facts.get("container.tag.©too").startswith("Lavf")
    assert facts.get("container.movie.created") == "1904-01-01T00:00:00Z"
    record = facts.get("stream.video")
    assert (record["codec"], record["width_px"], record["rate_hz"], record["gaps"]) == ("mpeg4", 64, 24.0, [])
    names = [n.name for n in facts.structure]
    assert names == facts.get("container.boxes")
    assert sum(n.size for n in facts.structure) == (tmp_path / "a.mp4").stat().st_size


def test_a_codec_is_named_and_not_what_decodes_it(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", 8, (64, 48), codec="libsvtav1", audio=tone(0.5).astype(np.int16))
    facts = container.read(str(path), "mkv")
    assert facts.get("stream.video")["codec"] == "av1"
    with open_media(path) as media:
        assert media.info.video_codec == "av1"


def test_mp4_dates_device_and_place(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mov", tags={"creation_time": "2021-03-04T05:06:07Z", "location": "+48.8577+002.2950/"})
    data = path.read_bytes()
    at = data.index(b"moov") - 4
    size = struct.unpack_from(">I", data, at)[0]
    user = box(
        b"udta", box(b"\xa9mak", b"\x00\x05\x15\xc7Maker") + box(b"\xa9mod", b"\x00\x03\x15\xc7M 1") + b"\0\0\0\0"
    )
    path.write_bytes(
        data[:at] + struct.pack(">I", size + len(user)) + data[at + 4 : at + size] + user + data[at + size :]
    )
    facts = container.read(str(path), "mov")
    assert facts.get("container.movie.created") == "2021-03-04T05:06:07Z"
    assert (facts.get("device.make"), facts.get("device.model")) == ("Maker", "M 1")
    assert facts.get("gps.latitude") == pytest.approx(48.8577)
    assert facts.get("gps.longitude") == pytest.approx(2.295)


def test_x264_leaves_its_settings(tmp_path: Path) -> None:
    facts = container.read(str(video(tmp_path / "a.mp4", codec="libx264")), "mp4")
    assert any("x264 - core" in str(f.value) and "options:" in str(f.value) for f in facts.all("stream.encoder"))


def test_an_encoder_that_matroska_names_ends_where_its_tag_does(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mkv", tags={"library": "Lavc59.37.100 libopus", "place": "here"})
    facts = container.read(str(path), "mkv")
    assert "Lavc59.37.100 libopus" in [f.value for f in facts.all("stream.encoder")]


def test_matroska_tells_its_programs(tmp_path: Path) -> None:
    facts = container.read(str(video(tmp_path / "a.mkv", tags={"title": "A day"})), "mkv")
    assert facts.get("container.muxing_app").startswith("Lavf")
    assert facts.get("container.title") == "A day"
    assert facts.get("container.tracks") == ["video"]
    assert facts.problems == ()


@pytest.mark.parametrize(("name", "format"), [("a.avi", "avi"), ("a.flv", "flv")])
def test_avi_and_flv_tell_their_writer(tmp_path: Path, name: str, format: str) -> None:
    codec = "mpeg4" if format == "avi" else "flv"
    facts = container.read(str(video(tmp_path / name, codec=codec)), format)
    assert facts.problems == ()
    assert any(str(f.value).startswith("Lavf") for f in facts.all("container.tag"))


def test_mp3_tells_its_encoder_and_frames(tmp_path: Path) -> None:
    facts = container.read(str(sound(tmp_path / "a.mp3", "libmp3lame", tags={"title": "A song"})), "mp3")
    assert facts.problems == ()
    assert facts.get("id3.TIT2") == "A song"
    assert facts.get("mpeg.encoder").startswith("Lav")
    assert facts.get("mpeg.frames") - facts.get("mpeg.stated_frames") in (0, 1)
    assert list(facts.all("mpeg.join")) == []


def test_joined_mp3_shows_the_second_start(tmp_path: Path) -> None:
    first = sound(tmp_path / "a.mp3", "libmp3lame").read_bytes()
    path = tmp_path / "b.mp3"
    path.write_bytes(first + first[first.index(b"\xff\xfb") :])
    joins = list(container.read(str(path), "mp3").all("mpeg.join"))
    assert [j.offset for j in joins] == [len(first)]


def test_pixels_that_are_not_square_are_told(tmp_path: Path) -> None:
    facts = container.read(str(write_video(tmp_path / "a.mp4", pixel_ratio=Fraction(64, 45))), "mp4")
    assert facts.get("stream.video")["pixel_ratio"] == pytest.approx(1.4222)
    (claim,) = (f for f in claims(facts) if f.claim.claim.startswith("The picture is encoded as"))
    assert "a pixel is 1.42 times as wide as high" in claim.claim.explanation
    assert "pixel_ratio" not in container.read(str(write_video(tmp_path / "b.mp4")), "mp4").get("stream.video")


def test_flac_and_ogg_tell_their_vendor(tmp_path: Path) -> None:
    facts = container.read(str(sound(tmp_path / "a.flac", "flac", tags={"artist": "somebody"})), "flac")
    assert facts.problems == () and facts.get("vorbis.vendor").startswith("Lavf")
    assert facts.get("vorbis.ARTIST") == "somebody"
    assert facts.get("flac.duration_s") == pytest.approx(1.5, abs=0.01)
    path = sound(tmp_path / "a.ogg", "libopus", rate=48000)
    facts = container.read(str(path), "ogg")
    assert facts.problems == () and facts.get("container.codec") == "Opus"
    data = bytearray(path.read_bytes())
    data[data.rindex(b"OggS") + 60] ^= 0xFF
    path.write_bytes(data)
    assert "checksum" in said(container.read(str(path), "ogg"))
    path.write_bytes(bytes(sound(tmp_path / "b.ogg", "libopus", rate=48000).read_bytes()) * 2)
    assert "is expected, page" not in said(container.read(str(path), "ogg"))


def test_a_stream_that_begins_again_under_its_own_number_is_a_further_one(tmp_path: Path) -> None:
    once = sound(tmp_path / "a.ogg", "libopus", rate=48000, tags={"title": "somewhere"}).read_bytes()
    path = tmp_path / "b.ogg"
    path.write_bytes(once * 2)
    facts = container.read(str(path), "ogg")
    assert facts.get("ogg.chained") == len(once) and len(list(facts.all("vorbis.TITLE"))) == 2
    path.write_bytes(once)
    assert container.read(str(path), "ogg").get("ogg.chained") is None


@pytest.mark.parametrize(("most", "title"), [(None, "somewhere"), (1000, None)])
def test_tags_behind_a_large_cover_are_read_or_said_to_be_unread(
    most: int | None, title: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = {"cover": "x" * 400_000, "title": "somewhere"}
    path = sound(tmp_path / "a.ogg", "libopus", rate=48000, tags=tags)
    monkeypatch.setattr(xiph, "MOST_HEAD_BYTES", most or xiph.MOST_HEAD_BYTES)
    facts = container.read(str(path), "ogg")
    assert facts.get("vorbis.TITLE") == title
    assert [(p.unread, p.grave) for p in facts.problems] == ([(True, False)] if most else [])


def test_adts_and_m4a(tmp_path: Path) -> None:
    facts = container.read(str(sound(tmp_path / "a.aac", "aac")), "aac")
    assert facts.problems == () and facts.get("adts.audio") == {"rate_hz": 44100, "channels": 1}
    facts = container.read(str(sound(tmp_path / "a.m4a", "aac", tags={"encoder": "x"})), "m4a")
    assert facts.problems == () and facts.get("stream.audio")["codec"] == "aac"


def test_wav_sizes_and_info(tmp_path: Path) -> None:
    path = wav(tmp_path / "a.wav", np.zeros(16000))
    data = path.read_bytes()
    info = b"LIST" + struct.pack("<I", 4 + 8 + 10) + b"INFO" + b"ISFT" + struct.pack("<I", 10) + b"Recorder1\0"
    complete = data[:4] + struct.pack("<I", len(data) + len(info) - 8) + data[8:] + info
    path.write_bytes(complete)
    facts = container.read(str(path), "wav")
    assert facts.problems == () and facts.get("container.tag.ISFT") == "Recorder1"
    path.write_bytes(complete[:-2000])
    assert "cut off" in said(container.read(str(path), "wav"))
    path.write_bytes(complete + b"PK\x03\x04hidden bytes")
    assert container.read(str(path), "wav").get("container.after_end")["size"] == 16


@pytest.mark.parametrize(
    "sizes",
    [
        (0, 0),
        (8, 0xFFFFFFD4),
        (36, 0),
        (UNKNOWN, UNKNOWN),
        (0x7FFFFFFF, 0x7FFFFFDB),
        (32040, 32000),
        (32044, 32000),
    ],
)
def test_sizes_that_a_recorder_never_filled_in_are_no_grave_fault(tmp_path: Path, sizes: tuple[int, int]) -> None:
    data = wav(tmp_path / "a.wav", np.sin(np.arange(16000))).read_bytes()
    path = tmp_path / "b.wav"
    path.write_bytes(data[:4] + struct.pack("<I", sizes[0]) + data[8:40] + struct.pack("<I", sizes[1]) + data[44:])
    facts = container.read(str(path), "wav")
    assert facts.problems and not any(p.grave for p in facts.problems), facts.problems
    assert facts.get("container.data_bytes") == 32000 and facts.get("container.after_end") is None


def test_sound_that_the_size_of_its_chunk_leaves_out_stands_behind_the_content(tmp_path: Path) -> None:
    data = wav(tmp_path / "a.wav", np.full(16000, -0.25)).read_bytes()
    path = tmp_path / "b.wav"
    path.write_bytes(data[:40] + struct.pack("<I", 16000) + data[44:])
    facts = container.read(str(path), "wav")
    assert facts.get("container.data_bytes") == 16000 and facts.get("container.after_end")["size"] == 16000
    assert not facts.problems
    (found,) = [f for f in claims(facts) if f.claim.claim == "Data stands after the end of the content"]
    assert found.severity == "suspect" and "was written smaller" in found.claim.explanation


def test_samples_within_a_wrong_riff_size_are_not_said_to_be_missing_or_foreign(tmp_path: Path) -> None:
    data = wav(tmp_path / "a.wav", np.sin(np.arange(16000))).read_bytes()
    path = tmp_path / "b.wav"
    path.write_bytes(data[:4] + struct.pack("<I", 36) + data[8:])
    facts = container.read(str(path), "wav")
    assert [p.message for p in facts.problems] == [
        "The chunk RIFF says 36 bytes, but its chunks take 32036: a wrong size."
    ]
    assert facts.get("container.data_bytes") == 32000 and facts.get("container.after_end") is None


def test_an_empty_recording_keeps_what_is_said_behind_it(tmp_path: Path) -> None:
    info = b"LIST" + struct.pack("<I", 16) + b"INFOISFT" + struct.pack("<I", 4) + b"abc\0"
    data = wav(tmp_path / "a.wav", np.zeros(0)).read_bytes() + info
    (tmp_path / "a.wav").write_bytes(data[:4] + struct.pack("<I", len(data) - 8) + data[8:])
    assert container.read(str(tmp_path / "a.wav"), "wav").get("container.tag.ISFT") == "abc"


def test_the_recording_of_an_avi_that_broke_off_is_not_said_to_be_missing(tmp_path: Path) -> None:
    data = bytearray(video(tmp_path / "a.avi").read_bytes())
    at = data.index(b"movi") - 4
    data[4:8] = data[at : at + 4] = bytes(4)
    (tmp_path / "b.avi").write_bytes(data)
    facts = container.read(str(tmp_path / "b.avi"), "avi")
    assert not any(p.grave for p in facts.problems) and facts.get("container.after_end") is None


@pytest.mark.parametrize("stated", [True, False])
def test_long_wav_ends_where_its_own_sizes_say(tmp_path: Path, stated: bool) -> None:
    data = wav(tmp_path / "a.wav", np.sin(np.arange(16000))).read_bytes()
    info = b"LIST" + struct.pack("<I", 16) + b"INFOISFT" + struct.pack("<I", 4) + b"abc\0"
    sizes = (32072 + 24, 32000) if stated else (0, 0)
    head = struct.pack("<4sI4s4sIQQQI", b"RF64", UNKNOWN, b"WAVE", b"ds64", 28, *sizes, 16000, 0)
    path = tmp_path / "b.wav"
    path.write_bytes(head + data[12:40] + struct.pack("<I", UNKNOWN) + data[44:] + info)
    facts = container.read(str(path), "wav")
    assert not any(p.grave for p in facts.problems)
    assert facts.get("container.data_bytes") == (32000 if stated else 32024)
    assert facts.get("container.tag.ISFT") == ("abc" if stated else None)


def test_cut_mp4_says_what_is_missing(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4")
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"moov") - 4])
    assert "index of the recording (moov) is missing" in said(container.read(str(path), "mp4"))
    path.write_bytes(data[: data.index(b"mdat") + 40])
    assert "box mdat says" in said(container.read(str(path), "mp4"))


@pytest.mark.parametrize("suffix", ["mkv", "flv", "mp4"])
def test_a_recording_whose_times_begin_late_is_as_long_as_its_header_says(suffix: str, tmp_path: Path) -> None:
    path = write_video(tmp_path / f"a.{suffix}", 50, (64, 48), audio=tone(2.0), options={"bf": "0"})
    moved = retimed(path, tmp_path / f"b.{suffix}", lambda *_: 60.0)
    assert not container.read(str(moved), suffix).problems


@pytest.mark.parametrize(("n_joined", "often"), [(1, "once"), (2, "2 times")])
def test_joined_flv_says_how_often_time_runs_backwards(n_joined: int, often: str, tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.flv", 50, (64, 48))
    path.write_bytes(path.read_bytes() + n_joined * path.read_bytes()[13:])
    assert said(container.read(str(path), "flv")) == f"Time runs backwards {often}, as where recordings are joined."


@pytest.mark.parametrize("rate", [25, 30, 60])
def test_the_frame_rate_is_right_where_times_are_whole_milliseconds(rate: int, tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", 100, (64, 48), rate)
    assert container.read(str(path), "mkv").get("stream.video")["rate_hz"] == pytest.approx(rate, abs=0.02)


def test_of_streams_that_are_not_read_to_the_end_no_length_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_video(tmp_path / "a.mkv", 100, (64, 48), audio=tone(4.0))
    monkeypatch.setattr(streams, "PACKETS", 40)
    facts = container.read(str(path), "mkv")
    assert [(p.message, p.grave) for p in facts.problems] == [
        ("There are more than 40 packets; the rest was not read.", False)
    ]
    assert facts.get("stream.video")["duration_s"] is None


def test_a_stream_lasts_as_long_as_is_played_of_it(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 100, (64, 48), audio=tone(1.0), options={"bf": "0"})
    trimmed = retimed(path, tmp_path / "b.mp4", lambda kind, _: -3.0 if kind == "video" else 0.0)
    facts = container.read(str(trimmed), "mp4")
    assert facts.get("stream.video")["duration_s"] == pytest.approx(1.0, abs=0.01)
    assert facts.get("stream.video")["packets"] == 100
    assert not [finding for finding in claims(facts) if "differ in length" in finding.claim.claim]


def test_repeated_stretch_and_doubled_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    chance = np.random.default_rng(1)
    frames = [chance.integers(0, 255, (48, 64, 3)).astype(np.uint8) for _ in range(40)]
    order = [*range(20), *range(5, 17), *range(20, 30), 30, 30, *range(31, 40)]
    with av.open(str(path), "w") as out:
        stream = out.add_stream("ffv1", rate=24)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in order:
            for packet in stream.encode(av.VideoFrame.from_ndarray(frames[i], format="rgb24")):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    facts = container.read(str(path), "mkv")
    assert facts.get("frames.repeated_stretch")[2] == 12
    assert facts.get("frames.n_doubled") == 1
    still = container.read(str(video(tmp_path / "b.mkv", still=True, n=40)), "mkv")
    assert still.get("frames.n_doubled") is None and still.get("frames.repeated_stretch") is None


def test_a_stretch_that_was_joined_behind_itself_comes_again_later(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", 50, (64, 48), options={"bf": "0"})
    path.write_bytes(2 * path.read_bytes())
    assert container.read(str(path), "mkv").get("frames.repeated_stretch") == [0.0, 2.0, 50]


@pytest.mark.parametrize(("n_bytes", "found"), [(3000, (20, 70, 30)), (1080, None)])
def test_a_screen_that_stands_still_is_no_copy(n_bytes: int, found: tuple[int, int, int] | None) -> None:
    """Recorders of screens spend two bits on a block that does not change, and write each group alike then."""
    chance = np.random.default_rng(3).integers(1 << 30, size=80).tolist()
    group, width, height = chance[:30], 1280, 800
    sums = [*chance[30:50], *group, *chance[50:70], *group]
    assert video_copies.stretch(sums, [n_bytes] * len(sums), width * height) == found


def test_signal_sees_cutoff_silence_and_floor() -> None:
    rate = 44100
    noise = np.random.default_rng(0).normal(0, 0.1, 8 * rate)
    assert audio_signal.measure(noise, rate)["cutoff_hz"] is None
    for hz in (3400, 8000, 16000):
        spectrum = np.fft.rfft(noise)
        spectrum[np.fft.rfftfreq(len(noise), 1 / rate) > hz] = 0
        low = np.fft.irfft(spectrum)
        assert audio_signal.measure(low, rate)["cutoff_hz"] == pytest.approx(hz, abs=150)
    gap = noise.copy()
    gap[3 * rate : 3 * rate + 8820] = 0
    (start, length), *rest = audio_signal.measure(gap, rate)["silences"]
    assert start == pytest.approx(3, abs=0.01) and length == pytest.approx(0.2, abs=0.01) and not rest
    louder = noise.copy()
    louder[4 * rate :] *= 30
    (at, change), *_ = audio_signal.measure(louder, rate)["floor_steps"]
    assert at == pytest.approx(4, abs=0.3) and change == pytest.approx(29.5, abs=2)


@pytest.mark.parametrize(("silences_s", "step_s"), [([(0, 0.5)], 0), ([(5, 5.5)], 0), ([(4, 8)], 0), ([(2, 2.5)], 6)])
def test_digital_silence_is_no_background(silences_s: list[tuple[float, float]], step_s: int) -> None:
    rate = 16000
    t = np.arange(12 * rate) / rate
    sound = np.random.default_rng(0).normal(0, 0.003, len(t)) * np.where((step_s > 0) & (t >= step_s), 30, 1)
    sound += 0.15 * np.sin(2 * np.pi * 180 * t) * (t % 1.5 < 0.9)
    for start_s, end_s in silences_s:
        sound[int(start_s * rate) : int(end_s * rate)] = 0
    steps = audio_signal.measure(sound, rate)["floor_steps"]
    expected = [pytest.approx((step_s, 30), abs=1.5)] if step_s else []
    assert [tuple(step) for step in steps] == expected


def test_signal_sees_a_break_in_a_smooth_tone() -> None:
    rate = 16000
    t = np.arange(2 * rate) / rate
    tone = 0.3 * np.sin(2 * np.pi * 220 * t) + np.random.default_rng(0).normal(0, 1e-4, len(t))
    tone[rate:] = 0.3 * np.cos(2 * np.pi * 220 * t[rate:])
    (at, ratio), *_ = audio_signal.measure(tone, rate)["jumps"]
    assert at == pytest.approx(1.0, abs=0.01) and ratio > 20


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("+48.8577+002.295/", (48.8577, 2.295)),
        ("-33.5+070.25+10/", (-33.5, 70.25)),
        ("+4807.5-01130.0/", (48.125, -11.5)),
        ("somewhere", None),
    ],
)
def test_iso6709(text: str, point: tuple[float, float] | None) -> None:
    assert iso6709(text) == (point and pytest.approx(point))


def test_playlist_inside_is_never_followed(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    target = io.BytesIO(b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n").getvalue()
    path.write_bytes(target)
    facts = container.read(str(path), "mp3")
    assert facts.get("stream.audio") is None and facts.problems


def test_an_mp3_that_is_shorter_than_its_first_frame_says_was_cut(tmp_path: Path) -> None:
    data = sound(tmp_path / "a.mp3", "libmp3lame").read_bytes()
    complete = container.read(str(tmp_path / "a.mp3"), "mp3")
    assert complete.get("mpeg.stated_bytes")
    assert not complete.problems
    for missing in (1, 40, len(data) // 2):
        (tmp_path / "b.mp3").write_bytes(data[:-missing])
        cut = container.read(str(tmp_path / "b.mp3"), "mp3")
        assert not cut.problems
        suspected = [f.claim.claim for f in claims(cut) if f.severity != "benign" or "cut off" in f.claim.claim]
        assert suspected == ["The recording is shorter than its header says"], missing


def test_an_mp3_that_ends_within_its_tag_is_told_so_once(tmp_path: Path) -> None:
    """What follows from it, such as a picture in the tag that is not whole, is not told beside."""
    picture = b"APIC" + (5000).to_bytes(4, "big") + bytes(2) + bytes(90)
    (tmp_path / "a.mp3").write_bytes(b"ID3\x03\x00\x00" + bytes([0, 0, 40, 0]) + picture)
    cut = container.read(str(tmp_path / "a.mp3"), "mp3")
    assert [p.message.split(":")[-1].strip() for p in cut.problems] == [
        "it is cut off.",
        "it ends where the sound must begin.",
    ]


def test_an_flv_that_ends_in_the_head_of_a_tag_was_cut(tmp_path: Path) -> None:
    data = video(tmp_path / "a.flv", codec="flv1").read_bytes()
    assert not container.read(str(tmp_path / "a.flv"), "flv").problems
    last = len(data) - 4 - (int.from_bytes(data[-4:], "big"))
    (tmp_path / "b.flv").write_bytes(data[: last + 5])
    cut = container.read(str(tmp_path / "b.flv"), "flv")
    assert any("cut off within the head of a tag" in p.message for p in cut.problems)
