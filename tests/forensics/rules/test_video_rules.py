"""Rules on videos, each on a file that the test makes or on facts that it states."""

import struct
from pathlib import Path

import av
import numpy as np
import pytest

from forensix.errors import BrokenMedia
from forensix.forensics import claims, result
from forensix.forensics.findings import Finding
from forensix.media import open_media
from forensix.metadata.av import reader as container
from forensix.metadata.av import video_frames
from forensix.metadata.facts import Fact, Facts
from tests.forensics.rules import pick
from tests.making import picture, tone, write_video
from tests.metadata.av.test_container_facts import video


def facts(*items: tuple[str, object], kind: str = "video") -> Facts:
    return Facts(kind, "mp4", tuple(Fact(key, value, "somewhere", 8 * i) for i, (key, value) in enumerate(items)))


IDIT = "MON SEP 10 20:52:00 2012"
PHONE = (
    ("container.brand", "qt  "),
    ("container.boxes", ["ftyp", "wide", "mdat", "moov"]),
    ("container.movie.created", "2023-05-06T07:08:09Z"),
    ("container.movie.modified", "2023-05-06T07:08:21Z"),
    ("container.movie.duration_s", 11.8),
    ("container.handler", "Core Media Video"),
    ("container.tag.com.apple.quicktime.creationdate", "2023-05-06T09:08:09+0200"),
    ("device.make", "Apple"),
    ("device.model", "iPhone 13"),
    ("container.track.1.edits", [[11.8, 0]]),
    ("container.media.1.timescale", 600),
    (
        "stream.video",
        {"codec": "hevc", "width_px": 1920, "height_px": 1080, "packets": 354, "duration_s": 11.8, "gaps": []},
    ),
)


@pytest.mark.parametrize(
    ("name", "giver"), [("VideoHandler", "FFmpeg"), ("ISO Media file produced by Google Inc.", "a server of Google")]
)
def test_names_of_tracks_are_told_in_a_whole_sentence(name: str, giver: str) -> None:
    findings = claims(facts(("container.handler", name)))
    assert pick(findings, "The tracks bear").claim.claim == f"The tracks bear the names that {giver} gives"


@pytest.mark.parametrize("model", ["Mac15,9", "MacBookPro18,3", "iMac21,1"])
def test_a_mac_records_with_its_own_system(model: str) -> None:
    items = {**dict(PHONE), "device.model": model, "container.tag.com.apple.quicktime.software": "macOS 14.6.1 (23G93)"}
    findings = claims(facts(*items.items()))
    assert [f.claim.claim for f in findings if f.severity != "benign" or "macOS" in f.claim.claim] == []


@pytest.mark.parametrize(
    ("name", "claimed"),
    [
        ("VideoHandler", "The tracks bear the names that FFmpeg gives"),
        ("Mainconcept Video Media Handler", "The tracks bear the names that MainConcept gives"),
        ("VideoHandle", ""),
        ("Twitter-vork muxer", "The file was sent through Twitter"),
    ],
)
def test_names_of_tracks_in_matroska_are_no_unknown_programs(name: str, claimed: str) -> None:
    findings = claims(facts(("container.tag.HANDLER_NAME", name)))
    assert [f.claim.claim for f in findings if f.claim.type == "software"] == ([claimed] if claimed else [])


def test_a_phone_recording_is_not_suspected() -> None:
    findings = claims(facts(*PHONE))
    assert [f.claim.claim for f in findings if f.severity != "benign"] == []
    assert not [f for f in findings if f.claim.type == "dates"]
    assert pick(findings, "device that made it").claim.type == "device"


@pytest.mark.parametrize(
    ("value", "severity", "flag"),
    [
        ("Adobe Premiere Pro 2024.0 (Windows)", "suspect", "SUSPECT_SOFTWARE"),
        ("HandBrake 1.6.1 2023012300", "benign", "SUSPECT_SOFTWARE_"),
        ("WhatsApp", "benign", None),
    ],
)
def test_the_writing_program(value: str, severity: str, flag: str | None) -> None:
    findings = claims(facts(("container.tag.©too", value)))
    named = [f for f in findings if f.claim.type == "software" and f.claim.value == (value,)]
    assert [f.severity for f in named] == [severity]
    assert (flag in result(findings).red_flags) if flag else not result(findings).red_flags


def test_real_file_by_ffmpeg_and_x264(tmp_path: Path) -> None:
    findings = claims(container.read(str(video(tmp_path / "a.mp4", codec="libx264")), "mp4"))
    assert [f.claim.claim for f in findings if f.severity != "benign"] == []
    fields = pick(findings, "converted or rewritten by FFmpeg")
    # One cause is told once: the muxer's tag, the encoder's settings and the names of the tracks.
    assert {f.key for f in fields.facts} >= {"container.tag.©too", "stream.encoder", "container.handler"}
    assert not [f for f in findings if "encoded in software" in f.claim.claim or "tracks bear" in f.claim.claim]
    assert pick(findings, "Dates were never set").severity == "benign"
    assert pick(findings, "index comes").severity == "benign"


@pytest.mark.parametrize(
    "item", [("container.tag.©too", "HandBrake 1.6.1"), ("stream.encoder", "x264 - core 164 r3095")]
)
def test_a_converter_speaks_against_a_phone_that_is_named(item: tuple[str, str]) -> None:
    claim = pick(claims(facts(*PHONE, item)), "names Apple iPhone 13 as its device, but")
    assert claim.severity == "suspect" and claim.claim.user_category == "editing"


def test_what_phones_and_drones_write_themselves_does_not_speak_against_them() -> None:
    own = facts(*PHONE, ("container.tag.©swr", "QuickTime 7.7"))
    drone = facts(("device.make", "DJI"), ("container.tag.©too", "Lavf56.15.102"))
    for fields in (own, drone):
        assert [f.claim.claim for f in claims(fields) if f.severity != "benign"] == []


def test_two_encodings_joined() -> None:
    item = "x264 - core 164 r3095 - options: cabac=1 crf=23.0"
    findings = claims(facts(("stream.encoder", item), ("stream.encoder", item.replace("23.0", "18.0"))))
    assert pick(findings, "More than one encoding").severity == "suspect"


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("container.tag.©too", "Runway Gen-3", True),
        ("container.tag.comment", "Generated with Runway ML", True),
        ("container.tag.title", "Runway models in Paris", False),
    ],
)
def test_generators_are_named_by_tags_not_by_titles(key: str, value: str, named: bool) -> None:
    findings = claims(facts((key, value)))
    assert len([f for f in findings if f.severity == "critical" and f.claim.type == "ai_generated"]) == named


def test_a_later_change_is_told_and_an_impossible_one_suspect() -> None:
    items = (
        ("container.movie.created", "2020-01-01T00:00:00Z"),
        ("container.movie.modified", "2023-01-01T00:00:00Z"),
        ("container.movie.duration_s", 10.0),
    )
    assert pick(claims(facts(*items)), "changed after it was made").severity == "benign"
    back = (("container.movie.created", "2023-01-01T00:00:00Z"), ("container.movie.modified", "2020-01-01T00:00:00Z"))
    assert pick(claims(facts(*back)), "changed before it was made").severity == "suspect"
    hour = (("container.movie.created", "2023-01-01T01:00:00Z"), ("container.movie.modified", "2023-01-01T00:00:00Z"))
    assert pick(claims(facts(*hour)), "changed before it was made").severity == "benign"


def test_tracks_older_than_the_movie_and_a_tag_with_another_date() -> None:
    findings = claims(
        facts(
            ("container.movie.created", "2023-01-01T00:00:00Z"),
            ("container.media.1.created", "2020-01-01T00:00:00Z"),
            ("container.tag.creation_time", "2019-06-01T00:00:00Z"),
        )
    )
    assert pick(findings, "movie and its tracks were made at different times").claim.type == "dates"
    assert pick(findings, "tag gives another date").claim.type == "dates"


def test_edit_lists_that_hide() -> None:
    scale = ("container.media.1.timescale", 1000)
    assert pick(
        claims(facts(scale, ("container.track.1.edits", [[5.0, 4000]]))), "beginning of the recording is hidden"
    )
    assert pick(claims(facts(scale, ("container.track.1.edits", [[5.0, 0], [3.0, 9000]]))), "played in parts")
    for ordinary in ([[0.2, -1], [5.0, 42]], [[5.0, 50]], [[2.0, 0], [3.0, 2050]]):
        plain = claims(facts(scale, ("container.track.1.edits", ordinary)))
        assert not [f for f in plain if f.claim.type == "versions"]


@pytest.mark.parametrize(
    ("kind", "scale", "first", "severity"),
    [
        ("vide", 1000, 200, None),
        ("vide", 1000, 500, "benign"),
        ("vide", 1000, 999, "benign"),
        ("vide", 1000, 1000, "suspect"),
        # The priming of AAC at 8 kHz is as long.
        ("soun", 8000, 2112, None),
        ("soun", 44100, 22050, "benign"),
    ],
)
def test_a_short_beginning_that_is_hidden_is_told_where_no_encoder_hides_it(
    kind: str, scale: int, first: int, severity: str | None
) -> None:
    items = [("kind", kind), ("timescale", scale)]
    track = [(f"container.media.1.{name}", value) for name, value in items]
    told = [f for f in claims(facts(*track, ("container.track.1.edits", [[5.0, first]]))) if "hidden" in f.claim.claim]
    assert [f.severity for f in told] == ([severity] if severity else [])
    assert all(f"(begins at {first / scale:.2f} s)" in f.claim.explanation for f in told)


def test_frames_in_another_order_hide_no_beginning(tmp_path: Path) -> None:
    slides = container.read(str(write_video(tmp_path / "a.mp4", 15, (64, 48), 1)), "mp4")
    assert slides.get("container.track.1.edits")[0][1] / slides.get("container.media.1.timescale") >= 1
    assert not [f for f in claims(slides) if f.claim.type == "versions"]
    late = ("container.media.1.first_shown", 2000), ("container.track.1.edits", [[5.0, 4000]])
    cut = pick(claims(facts(("container.media.1.timescale", 1000), *late)), "beginning of the recording is hidden")
    assert cut.claim.value == ("begins at 2.00 s",)


@pytest.mark.parametrize(("order", "told"), [((0, 1), []), ((1, 0), ["1 s"])])
def test_parts_in_another_order_leave_the_encoders_text_after_other_frames(
    order: tuple[int, int], told: list[str], tmp_path: Path
) -> None:
    options = {"g": "12", "bf": "0", "sc_threshold": "0"}
    source = write_video(tmp_path / "a.mp4", 24, rate=12, codec="libx264", options=options)
    path = tmp_path / "b.mp4"
    with av.open(str(source)) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        packets = [packet for packet in given.demux(video=0) if packet.size]
        times = [packet.pts for packet in packets]
        for packet, at in zip(packets[12 * order[0] :][:12] + packets[12 * order[1] :][:12], times, strict=True):
            packet.pts = packet.dts = at
            packet.stream = stream
            out.mux(packet)
    found = [f for f in claims(container.read(str(path), "mp4")) if "after other frames" in f.claim.claim]
    assert [f.claim.value[0] for f in found] == told


def test_the_end_that_an_edit_list_leaves_out() -> None:
    track = [("container.media.1.timescale", 1000), ("container.media.1.duration_s", 12.0)]

    def told(*edits: list[float]) -> list[Finding]:
        return [
            f for f in claims(facts(*track, ("container.track.1.edits", list(edits)))) if "is hidden" in f.claim.claim
        ]

    (end,) = told([5.0, 0])
    assert (end.severity, end.claim.claim) == ("benign", "The end of the recording is hidden")
    assert end.claim.value == ("ends 7.00 s before the track does",)
    assert [f.severity for f in told([5.0, 4000])] == ["suspect"]
    # The priming of AAC, a pause first, the rest of a track, and twice the speed leave nothing out.
    for ordinary in ([[11.95, 44]], [[0.5, -1], [12.0, 0]], [[0, 0]], [[6.0, 0, 2.0]]):
        assert told(*ordinary) == []


@pytest.mark.parametrize(
    ("left_out", "suspect"),
    [(range(36, 60), True), (range(24, 36), True), (range(30, 54), False), (range(36, 55), False), (range(0), None)],
)
def test_frames_left_out_of_an_encoded_video(left_out: range, suspect: bool | None, tmp_path: Path) -> None:
    """Whole groups of twelve, and others, taken out of the packets with the times left as they are."""
    source = write_video(
        tmp_path / "a.mkv", 96, codec="mpeg4", options={"g": "12", "bf": "0", "sc_threshold": "1000000000"}
    )
    path = tmp_path / "b.mkv"
    with av.open(str(source)) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for i, packet in enumerate(given.demux(video=0)):
            if packet.size and i not in left_out:
                packet.stream = stream
                out.mux(packet)
    found = [f for f in claims(container.read(str(path), "mkv")) if "frames" in f.claim.claim and f.claim.value]
    told = [f for f in found if "missing" in f.claim.claim or "no frames" in f.claim.claim]
    assert [f.severity for f in told] == ([] if suspect is None else ["suspect" if suspect else "benign"])
    for finding in told:
        assert f"{len(left_out)} frames" in finding.claim.explanation
        assert ("screen recorder" in finding.claim.explanation) is not suspect


def test_what_a_recorder_leaves_out_is_not_suspected() -> None:
    record = {"codec": "h264", "packets": 100, "width_px": 9, "height_px": 9, "duration_s": 4.0, "rate_hz": 25.0}
    record["gaps"] = [[1.5, 12, False], [2.5, 1, False]]
    sound = ("stream.audio", {"codec": "aac", "duration_s": 4.0, "gaps": [[1.6, 0.3]]})
    told = pick(claims(facts(("stream.video", record), sound)), "no frames for a while at 2 places")
    assert told.severity == "benign"
    assert "writes no frame while nothing moves" in told.claim.explanation
    assert "The sound is missing at 1 of 2 too" in told.claim.explanation
    assert told.remark == "12 frames are missing at 1.5 s"
    few = facts(("stream.video", {**record, "gaps": [[2.5, 1, False], [3.0, 2, False]]}))
    assert pick(claims(few), "no frames for a while at 2 places").remark == ""


def test_repeated_stretch_is_suspect_and_doubled_frames_are_told() -> None:
    items = [("frames.compared", 100), ("frames.repeated_stretch", [0.2, 3.0, 20])]
    assert pick(claims(facts(*items)), "stretch of the video comes twice").severity == "suspect"
    items = [("frames.compared", 100), ("frames.doubled", [[5, 0.2]]), ("frames.n_doubled", 1)]
    assert pick(claims(facts(*items)), "1 of 100 frames repeats the frame before").severity == "benign"


@pytest.mark.parametrize(
    ("codec", "pixels", "suffix"), [("ffv1", "yuv420p10le", "mkv"), ("png", "rgba", "mov"), ("ffv1", "yuv420p", "mkv")]
)
@pytest.mark.parametrize("whole", [True, False])
def test_a_stretch_comes_twice_where_the_whole_picture_does(
    codec: str, pixels: str, suffix: str, whole: bool, tmp_path: Path
) -> None:
    # The left half goes round every 12 frames; the right one does with it, or never shows the same twice.
    rng = np.random.default_rng(0)
    round_, free = (rng.integers(0, 255, (n, 48, 32, 3), np.uint8) for n in (12, 30))
    path = tmp_path / f"a.{suffix}"
    with av.open(str(path), "w") as output:
        stream = output.add_stream(codec, rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, pixels
        for i in range(30):
            rgb = np.hstack([round_[i % 12], round_[i % 12] if whole else free[i]])
            output.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format=pixels)))
        output.mux(stream.encode(None))
    told = [found.claim.claim for found in claims(container.read(str(path), suffix))]
    assert ("A stretch of the video comes twice" in told) is whole


@pytest.mark.parametrize(
    ("key", "version", "system"),
    [("com.android.version", "6.0.1", "Android"), ("com.apple.quicktime.software", "16.5", "iOS")],
)
def test_a_bare_version_under_the_key_of_a_system_names_it(key: str, version: str, system: str) -> None:
    findings = claims(facts((f"container.tag.{key}", version)))
    named = pick(findings, f"names {system} as what recorded it")
    assert named.severity == "benign" and named.claim.value == (version,)
    assert not [f for f in findings if "not known here" in f.claim.claim]


def test_data_behind_the_last_box(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4")
    path.write_bytes(path.read_bytes() + struct.pack(">I4s", 40, b"PK\x03\x04") + bytes(32))
    findings = claims(container.read(str(path), "mp4"))
    assert pick(findings, "Data stands after the end").claim.type == "structure"


@pytest.mark.parametrize(("past", "severity"), [(0, "benign"), (1, "suspect")])
def test_what_fills_the_last_sector_of_an_avi_accuses_nobody(past: int, severity: str, tmp_path: Path) -> None:
    path = video(tmp_path / "a.avi")
    size = path.stat().st_size
    n_bytes = next(left for sector in (512, 1024, 2048, 4096) if (left := -size % sector) > 100) + past
    path.write_bytes(path.read_bytes() + b"\x37\xa1" * (n_bytes // 2) + b"\xee" * (n_bytes % 2))
    told = pick(claims(container.read(str(path), "avi")), "Data stands after the end")
    assert told.severity == severity and ("sector" in told.claim.explanation) == (severity == "benign")


def test_cut_off_recording_is_malformed(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4")
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"moov")])
    assert pick(claims(container.read(str(path), "mp4")), "malformed").severity == "suspect"


@pytest.mark.parametrize(
    ("rotation", "said"),
    [(-90, "90 degrees clockwise, as 48 x 64"), (180, "180 degrees clockwise, as 64 x 48"), (0, "")],
)
def test_a_picture_that_is_turned_says_how_it_is_shown(rotation: int, said: str, tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 10, (64, 48), rotation=rotation)
    told = pick(claims(container.read(str(path), "mp4")), "The picture is encoded as h264 High of 64 x 48 pixels")
    assert said in told.claim.explanation and ("turned" in told.claim.explanation) is bool(said)
    with open_media(path) as media:
        size = (48, 64) if rotation % 180 else (64, 48)
        assert (media.info.width_px, media.info.height_px) == size


@pytest.mark.parametrize(("average_hz", "said"), [(27.98, ", 27.98 on average"), (29.9, ""), (None, "")])
def test_an_average_rate_that_is_not_the_usual_one_is_told_beside_it(average_hz: float | None, said: str) -> None:
    record = {"codec": "h264", "packets": 100, "width_px": 9, "height_px": 9, "rate_hz": 29.97, "gaps": []}
    told = pick(claims(facts(("stream.video", record | {"average_hz": average_hz}))), "The picture is encoded as")
    assert f"29.97 frames/s{' from most frames to the next' if said else ''}{said}" in told.claim.value


@pytest.mark.parametrize(
    ("box", "at", "number", "said"),
    [
        (b"stts", 12, 0x7FFFFFFF, "The table of times of track 1 counts 2147483647 samples, that of their sizes 24"),
        (b"mvhd", 16, 0, "a second has 0 units of time"),
        (b"mdhd", 16, 0, "a second has 0 units of time"),
    ],
)
def test_tables_and_headers_that_cannot_be(box: bytes, at: int, number: int, said: str, tmp_path: Path) -> None:
    path = video(tmp_path / "a.mp4")
    data = bytearray(path.read_bytes())
    assert not [p for p in container.read(str(path), "mp4").problems if p.grave]
    struct.pack_into(">I", data, data.index(box) + at, number)
    path.write_bytes(data)
    read = container.read(str(path), "mp4")
    (problem,) = (p for p in read.problems if said in p.message)
    assert abs(problem.offset - data.index(box) - at) <= 8
    assert pick(claims(read), "malformed").severity == "suspect"
    if box == b"mdhd":
        assert read.get("stream.video")["duration_s"] is None and "rate_hz" not in read.get("stream.video")


@pytest.mark.parametrize("tracks", [["subtitle"], ["video", "subtitle"]])
def test_a_header_of_a_video_that_describes_subtitles_alone_calls_for_an_explanation(tracks: list[str]) -> None:
    findings = claims(facts(("container.tracks", tracks), ("container.header_alone", "Segment")))
    told = pick(findings, "without content" if "video" in tracks else "named like a video and holds none")
    assert told.severity == ("benign" if "video" in tracks else "suspect")


@pytest.mark.parametrize(
    ("name", "codec", "options", "follows"),
    [
        ("a.mp4", "mpeg4", {"movflags": "frag_keyframe+empty_moov"}, b"moof"),
        ("a.webm", "libvpx", {"live": "1"}, b"\x1f\x43\xb6\x75"),
    ],
)
def test_the_first_piece_of_a_stream_has_no_faults_and_no_frames(
    name: str, codec: str, options: dict[str, str], follows: bytes, tmp_path: Path
) -> None:
    path = video(tmp_path / name, codec=codec, options=options)
    data = path.read_bytes()
    path.write_bytes(data[: data.index(follows) - 4 * (follows == b"moof")])
    findings = claims(container.read(str(path), path.suffix[1:]))
    assert pick(findings, "a header without content").severity == "benign"
    assert not [f for f in findings if "faults" in f.claim.claim or "malformed" in f.claim.claim]
    with open_media(path) as media:
        assert media.info.frame_rate_hz is None
        with pytest.raises(BrokenMedia, match="holds no pictures or sound of its own, as the first piece of a stream"):
            list(media.frames())


@pytest.mark.parametrize(
    ("tracks", "holds"),
    [(["subtitle", "subtitle"], "subtitle tracks only"), (["audio"], "sound only"), ([], "no track at all")],
)
def test_video_without_picture(tracks: list[str], holds: str) -> None:
    told = pick(claims(facts(("container.tracks", tracks))), "holds no picture").claim
    assert told.type == "format" and told.value == (holds,)
    assert told.explanation.endswith(f"but it holds {holds}.")


LAVC = "Lavc59.37.100"


@pytest.mark.parametrize(
    ("items", "encoder", "is_told"),
    [
        ([("container.compressor", "GoPro AVC encoder")], LAVC, True),
        ([("device.make", "Apple"), ("device.model", "iPhone 13")], LAVC, True),
        ([("container.compressor", "GoPro AVC encoder")], None, False),
        ([("container.compressor", "AVC Coding")], LAVC, False),
        ([("container.compressor", "GoPro AVC encoder"), ("stream.encoder", "x264 - core 164")], LAVC, False),
        ([("device.make", "DJI")], LAVC, False),
    ],
)
def test_sound_of_a_library_under_the_picture_of_a_camera(
    items: list[tuple[str, str]], encoder: str | None, is_told: bool
) -> None:
    streams = [("stream.video", {"codec": "h264", "gaps": []}), ("stream.audio", {"codec": "aac", "encoder": encoder})]
    told = [f for f in claims(facts(*items, *streams)) if "from the encoder of the picture" in f.claim.claim]
    assert [(f.severity, f.claim.value[0]) for f in told] == [("suspect", f"sound: {LAVC}")] * is_told


def test_the_encoder_of_a_stream_is_told_by_the_packet_that_holds_its_text(tmp_path: Path) -> None:
    read = container.read(str(write_video(tmp_path / "a.mp4", 30, audio=tone(1.2))), "mp4")
    assert read.get("stream.video")["encoder"].startswith("x264 - core")
    assert read.get("stream.audio")["encoder"].startswith("Lavc")


def test_a_library_is_told_with_the_streams_that_it_encoded() -> None:
    one, other = "Lavc59.37.100 aac", "LAME3.100"
    rows = [
        ("stream.encoder", one, "text (Lavc)"),
        ("stream.encoder", other, "text (LAME)"),
        ("stream.encoder", "libvpx", "text"),
        ("stream.video", {"codec": "vp8", "gaps": []}, "stream 0"),
        ("stream.audio", {"codec": "aac", "gaps": []}, "stream 1"),
        ("stream.tag.encoder", one, "stream 1"),
        ("stream.audio", {"codec": "mp3", "gaps": [], "encoder": other}, "stream 2"),
        ("stream.audio", {"codec": "mp3", "gaps": [], "encoder": other}, "stream 3"),
    ]
    told = pick(claims(Facts("video", "mkv", tuple(Fact(*row) for row in rows))), "names the library").claim
    assert told.value == (f"{one} (sound, stream 1)", f"{other} (sound, stream 2; sound, stream 3)", "libvpx")
    assert all(text in told.explanation for text in told.value)


def test_frames_dropped_by_hand_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in [*range(40), *range(60, 100)]:
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), i, np.uint8), format="rgb24")
            frame.pts = i
            for packet in stream.encode(frame):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    claim = pick(claims(container.read(str(path), "mkv")), "no frames for a while at 1 place")
    assert claim.severity == "benign" and "20 frames" in claim.claim.explanation


def moving(index: int) -> np.ndarray:
    """Return a frame of a texture that moves unevenly, with a grain of its own."""
    rng = np.random.default_rng(index)
    y, x = np.mgrid[0:96, 0:128]
    at = 2.3 * index
    grey = 120 + 40 * np.sin((x + at) / 5) * np.cos((y - 0.7 * at) / 7) + 25 * np.sin((x * y + 40 * at) / 300)
    return np.repeat(np.clip(grey[..., None] + rng.normal(0, 2, (96, 128, 1)), 0, 255).astype(np.uint8), 3, axis=2)


ONCE = {"g": "250", "b": "800000"}


def test_groups_of_an_earlier_encoding(tmp_path: Path) -> None:
    first = write_video(
        tmp_path / "a.mp4", 150, (128, 96), codec="mpeg4", paint=moving, options={"g": "12", "b": "300000"}
    )
    with av.open(str(first)) as opened:
        frames = [f.to_ndarray(format="rgb24") for f in opened.decode(opened.streams.video[0])]
    again = write_video(tmp_path / "b.mp4", 150, (128, 96), codec="mpeg4", paint=lambda i: frames[i], options=ONCE)
    claim = pick(claims(container.read(str(again), "mp4")), "The video was probably encoded before")
    assert claim.severity == "benign" and claim.claim.value == ("every 12 frames",)
    once = write_video(tmp_path / "c.mp4", 150, (128, 96), codec="mpeg4", paint=moving, options=ONCE)
    assert not [f for f in claims(container.read(str(once), "mp4")) if "encoded before" in f.claim.claim]


def test_a_first_encoding_that_refreshes_frames_by_itself_is_not_said_to_be_a_second(tmp_path: Path) -> None:
    options = {"deadline": "realtime", "cpu-used": "5", "b": "400000"}
    path = write_video(tmp_path / "a.webm", 200, (128, 96), 30, codec="libvpx-vp9", paint=moving, options=options)
    findings = claims(container.read(str(path), "webm"))
    assert not [f for f in findings if "encoded before" in f.claim.claim]


def test_frames_doubled_before_encoding(tmp_path: Path) -> None:
    order = [i for i in range(40) for _ in range(2 if i in (12, 25) else 1)]
    path = write_video(
        tmp_path / "a.mp4", len(order), (128, 96), codec="mpeg4", paint=lambda i: moving(order[i]), options=ONCE
    )
    findings = claims(container.read(str(path), "mp4"))
    fields = [f for f in findings if "doubled" in f.claim.claim or "hardly differ" in f.claim.claim]
    assert [f.severity for f in fields] == ["benign"] and fields[0].claim.claim.startswith("2 frames")


@pytest.mark.parametrize(
    ("order", "told", "on_top"),
    [
        ([*range(20), *[20] * 30, *range(21, 40)], True, True),
        ([*[0] * 15, *range(20), *[20] * 30, *range(21, 40)], True, False),
        ([*range(20), *[20] * 8, *range(21, 40)], False, False),
        ([*range(20), *[20] * 50], False, False),
        (list(range(60)), False, False),
    ],
    ids=["held", "a still beginning", "short", "a still ending", "never"],
)
def test_a_picture_that_stands_still_and_goes_on(order: list[int], told: bool, on_top: bool, tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", len(order), (128, 96), paint=lambda i: moving(order[i]), options={"g": "30"})
    found = [f for f in claims(container.read(str(path), "mp4")) if "stands still at" in f.claim.claim]
    assert [f.severity for f in found] == ["benign"] * told
    assert [bool(f.remark) for f in found] == [on_top] * told
    for finding in found:
        begin, end = finding.facts[0].value[0]
        held = order.index(20) / 25
        assert (begin, end) == pytest.approx((held, held + 30 / 25), abs=0.13)


@pytest.mark.parametrize("size", [(128, 96), (64, 48)])
def test_where_the_size_of_the_picture_changes(size: tuple[int, int], tmp_path: Path) -> None:
    path = tmp_path / "c.mkv"
    parts = [write_video(tmp_path / f"{n}.avi", 25, shape) for n, shape in enumerate([(64, 48), size])]
    with av.open(str(parts[0])) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for n, part in enumerate(parts):
            with av.open(str(part)) as source:
                for packet in source.demux(video=0):
                    if packet.dts is not None:
                        packet.pts = packet.dts = packet.dts + 25 * n
                        packet.stream = stream
                        out.mux(packet)
    told = [f for f in claims(container.read(str(path), "mkv")) if "size of the picture changes" in f.claim.claim]
    changes = size != (64, 48)
    assert [f.claim.value for f in told] == [("64 x 48 at first", "128 x 96 from 1 s on")] * changes
    assert [(f.severity, f.remark) for f in told] == [("benign", "the size of the picture changes at 1 s")] * changes


def test_two_entries_at_one_moment_are_no_second_save() -> None:
    row = {"action": "saved", "when": "2024-01-02T03:04:05Z", "softwareAgent": "Some Recorder 1.0"}
    once = claims(facts(("xmp.history", [row, row])))
    told = pick(once, "The editing history holds 2 entries of saving, all at one moment")
    assert told.severity == "benign"
    assert told.claim.explanation.count("saved") == len(told.claim.value) == 1, "and listed once"
    again = claims(facts(("xmp.history", [row, {**row, "when": "2024-01-03T03:04:05Z"}])))
    assert pick(again, "The editing history holds 2 entries of saving").severity == "suspect"
    assert not [f for f in again if "one moment" in f.claim.claim]


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (["saved"], "1 entry of saving"),
        (["converted"], "1 entry of converting"),
        (["converted", "saved", "saved"], "3 entries of saving and converting"),
    ],
)
def test_entries_without_a_date_are_counted_as_what_they_are(actions: list[str], said: str) -> None:
    findings = claims(facts(("xmp.history", [{"action": action} for action in actions])))
    assert [f.claim.claim for f in findings if "history" in f.claim.claim] == [f"The editing history holds {said}"]


def test_a_history_of_lists_is_read_as_any_other() -> None:
    row = {"action": "saved", "when": ["2024-01-02", "2024-01-03"], "softwareAgent": ["Some Recorder 1.0"]}
    told = pick(claims(facts(("xmp.history", [row, row]))), "2 entries of saving, all at one moment")
    assert told.severity == "benign"


@pytest.mark.parametrize(("tool", "n"), [("Adobe After Effects 2020", 1), ("Adobe Premiere Pro 2020", 2)])
def test_an_editor_in_the_history_that_made_the_file_is_told_once(tool: str, n: int) -> None:
    row = {"action": "saved", "when": "2024-01-02T03:04:05Z", "softwareAgent": "Adobe After Effects 2020 (Macintosh)"}
    findings = claims(facts(("xmp.xmp.CreatorTool", tool), ("xmp.history", [row])))
    assert len([f for f in findings if "SUSPECT_SOFTWARE" in f.flags]) == n


@pytest.mark.parametrize("suffix", ["mkv", "webm", "avi", "flv", "mp4"])
def test_files_that_were_copied_one_behind_the_other(suffix: str, tmp_path: Path) -> None:
    first = write_video(tmp_path / f"a.{suffix}", 60)
    second = write_video(tmp_path / f"b.{suffix}", 40, paint=lambda i: picture(shift=200 - i))
    path = tmp_path / f"c.{suffix}"
    path.write_bytes(first.read_bytes() + second.read_bytes())
    read = container.read(str(path), suffix)
    told = pick(claims(read), "The recording was put together from 2 files")
    assert told.severity == "suspect" and [f.offset for f in told.facts] == [first.stat().st_size]
    assert not [f for f in claims(container.read(str(first), suffix)) if f.severity != "benign"]
    # Players of MP4 and FLV stop behind the first.
    is_whole = suffix in ("mkv", "webm", "avi")
    record = read.get("stream.video")
    assert record["duration_s"] == pytest.approx(4.0 if is_whole else 2.4, abs=0.1) and record["doubled"] == 0
    rates = [r.get("stream.video")["kbps"] for r in (container.read(str(p), suffix) for p in (first, second))]
    assert min(rates) * 0.95 < record["kbps"] < max(rates) * 1.05
    with open_media(path) as media:
        assert media.info.duration_s == pytest.approx(4.0 if is_whole else 2.4, abs=0.15)


@pytest.mark.parametrize(("suffix", "still"), [("mp4", False), ("mkv", False), ("mp4", True)])
def test_a_loop_of_packets_is_found_behind_the_frames_that_are_decoded(
    suffix: str, still: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second of an encoded video copied to behind it, where something moves and where nothing does."""
    monkeypatch.setattr(video_frames, "FRAMES", 20)
    options = {"g": "25", "sc_threshold": "0", "bf": "0"}
    source = write_video(
        tmp_path / f"a.{suffix}", 100, paint=(lambda _: moving(0)) if still else moving, options=options
    )
    path = tmp_path / f"b.{suffix}"
    with av.open(str(source)) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        packets = [packet for packet in given.demux(video=0) if packet.size]
        step, time_base = packets[1].pts - packets[0].pts, packets[0].time_base
        for i, data in enumerate([bytes(packet) for packet in [*packets, *packets[25:50]]]):
            packet = av.Packet(data)
            packet.stream, packet.time_base, packet.is_keyframe = stream, time_base, i % 25 == 0
            packet.pts = packet.dts = i * step
            out.mux(packet)
    findings = claims(container.read(str(path), suffix))
    twice = [f for f in findings if "comes twice" in f.claim.claim]
    assert [f.severity for f in twice] == ([] if still else ["suspect"])
    if twice:
        assert "25 moving frames" in twice[0].claim.explanation
        first, second, _ = twice[0].facts[0].value
        assert (first, second) == pytest.approx((1.0, 4.0), abs=0.15)
    assert pick(findings, "Frames were compared in the first").claim.value == ("20 of 125 frames",)
    assert not [f for f in claims(container.read(str(source), suffix)) if "comes twice" in f.claim.claim]


def test_an_encoder_that_began_twice_with_the_same_settings(tmp_path: Path) -> None:
    parts = [write_video(tmp_path / f"{n}.mp4", 30, paint=lambda i, n=n: moving(i + n)) for n in (0, 500)]
    path = tmp_path / "c.mp4"
    with av.open(str(parts[0])) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for n, part in enumerate(parts):
            with av.open(str(part)) as source:
                for packet in source.demux(video=0):
                    if packet.dts is not None:
                        packet.pts, packet.dts = (
                            at + round(n * 1.2 / packet.time_base) for at in (packet.pts, packet.dts)
                        )
                        packet.stream = stream
                        out.mux(packet)
    findings = claims(container.read(str(path), "mp4"))
    told = pick(findings, "The encoder began 2 times")
    assert told.severity == "benign" and len(told.claim.value) == 2
    assert [f.claim.claim for f in findings if f.severity != "benign"] == []
    assert not [f for f in claims(container.read(str(parts[0]), "mp4")) if "began" in f.claim.claim]


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (PHONE, ("creationdate 2023-05-06T09:08:09+0200", "created 2023-05-06T07:08:09Z")),
        ((("container.tag.IDIT", IDIT), ("container.movie.created", IDIT)), (f"created {IDIT}",)),
        ((("id3.TDRC", "2021"), ("id3v1.year", "2021")), ("TDRC 2021",)),
        ((("vorbis.DATE", "2021-03-04"),), ("DATE 2021-03-04",)),
        ((("container.movie.created", "1904-01-01T00:00:00Z"), ("container.tag.©day", "2000-01-01T00:00:00Z")), ()),
        ((("container.movie.created", "1970-01-01T00:00:00Z"), ("id3.TYER", "0000"), ("id3.TDRC", "soon")), ()),
    ],
    ids=["phone", "AVI", "music", "Ogg", "never set", "no dates"],
)
def test_videos_and_recordings_say_when_they_were_made(items: tuple, said: tuple[str, ...]) -> None:
    found = [f for f in claims(facts(*items)) if f.claim.claim == "The file says when it was made"]
    assert [(f.severity, f.claim.type, f.claim.user_category, f.claim.value) for f in found] == (
        [("benign", "metadata", "dates", said)] if said else []
    )


@pytest.mark.parametrize(
    ("key", "value", "is_told"),
    [
        ("container.tag.auth", "Sora Kim", False),
        ("container.tag.encoder", "Sora", True),
        ("container.tag.comment", "A short film made with Sora in May", True),
    ],
)
def test_a_person_called_like_a_generator_is_none(key: str, value: str, is_told: bool) -> None:
    assert any(f.claim.type == "ai_generated" for f in claims(facts((key, value)))) == is_told
