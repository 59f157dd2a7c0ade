"""Where in a recording the claims point."""

import base64
import io
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

import forensix
from forensix.demo import make_cut_recording
from forensix.forensics.findings import finding
from forensix.media import open_media
from forensix.metadata.facts import Fact
from forensix.tasks.evidence import Basis, Curve, Picture, Timeline
from forensix.tasks.moments import moments
from tests.making import picture, tone, write_video
from tests.media.test_times import retimed


def test_silence_and_its_edges_lie_where_they_were_made(tmp_path: Path) -> None:
    (path,) = make_cut_recording(tmp_path)
    report = forensix.analyze(path, ["forensic_analysis"])
    evidence = report.outcomes["forensic_analysis"].evidence
    (timeline,) = [item for item in evidence if isinstance(item, Timeline)]
    (silence,) = [span for span in timeline.spans if span.lane == "digital silence"]
    assert (silence.start_s, silence.end_s) == pytest.approx((1.0, 1.5), abs=0.01)
    (curve,) = [item for item in evidence if isinstance(item, Curve)]
    within = [y for x, y in zip(curve.x, curve.y, strict=True) if 1.1 < x < 1.4]
    assert within and all(np.isnan(within)) and max(y for y in curve.y if not np.isnan(y)) < 0
    assert "Where in the recording" in report.to_html()


def test_a_very_quiet_pause_of_24_bits_is_not_called_digital_silence(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 4 * 16000)
    noise[16000:32000] *= 1e-5
    levels = np.clip(noise * (1 << 23), -(1 << 23), (1 << 23) - 1).astype("<i4") << 8
    wavfile.write(tmp_path / "a.wav", 16000, levels)
    report = forensix.analyze(tmp_path / "a.wav", ["forensic_analysis"])
    (curve,) = [item for item in report.outcomes["forensic_analysis"].evidence if isinstance(item, Curve)]
    assert max(y for x, y in zip(curve.x, curve.y, strict=True) if 1.1 < x < 1.9) < -90
    assert "digital silence" not in report.to_html().lower()


def test_moments_are_those_of_frames_and_samples_where_a_file_begins_late_and_pauses(tmp_path: Path) -> None:
    # Frame 60 nearly repeats the one before it; from 2.5 s on the sound is silent for half a second.
    paint = [picture(shift=4 * (i - (i >= 60))) for i in range(100)].__getitem__
    sound = np.concatenate([tone(2.5), np.zeros(8000, np.int16), tone(1.0)])
    path = write_video(
        tmp_path / "a.avi", 100, audio=sound, paint=paint, options={"bf": "0", "g": "100", "qmax": "2", "qmin": "2"}
    )
    moved = retimed(path, tmp_path / "b.mkv", lambda _, at_s: 10.0 if at_s < 1 else 12.0)
    (timeline,) = [
        item
        for item in forensix.analyze(moved, ["forensic_analysis"]).outcomes["forensic_analysis"].evidence
        if isinstance(item, Timeline)
    ]
    at = {span.lane: (span.start_s, span.end_s) for span in timeline.spans}
    with open_media(moved) as media:
        frame = next(frame for frame in media.frames() if frame.index == 60)
        silent = np.flatnonzero(~media.samples().reshape(-1, 100)[4 * 160 :].any(axis=1)) / 160 + 4
    assert at["nearly the frame before"][0] == pytest.approx(frame.ms / 1000) == pytest.approx(4.4)
    assert silent[0] == pytest.approx(4.5, abs=0.02)
    assert at["digital silence"] == pytest.approx((silent[0], silent[-1] + 1 / 160), abs=0.02)


@pytest.mark.parametrize(
    ("key", "value", "spans"),
    [
        ("frames.doubled", [[12, 0.4], [20, 0.8]], [(0.4, 0.4), (0.8, 0.8)]),
        ("frames.repeated_stretch", [1.0, 3.0, 50], [(1.0, 3.0), (3.0, 5.0)]),
        ("signal.grid", [[0.5, 2.0, 7, 3.1]], [(0.5, 2.0)]),
        ("signal.copies", [[1.0, 3.0, 0.5]], [(1.0, 1.5), (3.0, 3.5)]),
        ("signal.floor_steps", [[3.0, -20.0]], [(3.0, 3.0)]),
        ("signal.jumps", None, []),
        ("file.size", 17, []),
    ],
)
def test_each_kind_of_fact_has_its_stretch(
    key: str, value: object, spans: list[tuple[float, float]], tmp_path: Path
) -> None:
    wavfile.write(tmp_path / "a.wav", 8000, np.zeros(800, np.int16))
    actual = finding("benign", "c", "e", "encoding", "integrity", facts=[Fact(key, value, "where")])
    with open_media(tmp_path / "a.wav") as media:
        output = [item for item in moments(media, [actual]) if isinstance(item, Timeline)]
    assert [(s.start_s, s.end_s) for item in output for s in item.spans] == spans


def test_a_recording_that_cannot_be_decoded_has_no_curve(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    path.write_bytes(b"RIFF\xff\xff\x00\x00WAVEfmt ")
    with open_media(path) as media:
        assert moments(media, ()) == ()


def test_frames_before_and_after_a_place_are_shown_beside_each_other(tmp_path: Path) -> None:
    """Frames 30 to 49 are left out, of a picture that is dark before and bright behind."""
    whole = write_video(
        tmp_path / "a.mkv",
        90,
        (64, 48),
        codec="mpeg4",
        options={"bf": "0", "g": "10"},
        paint=lambda i: np.full((48, 64, 3), 40 if i < 30 else 220, np.uint8),
    )
    path = tmp_path / "b.mp4"
    with av.open(str(whole)) as given, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for i, packet in enumerate(given.demux(video=0)):
            if packet.size and not 30 <= i < 50:
                packet.stream = stream
                out.mux(packet)
    evidence = forensix.analyze(path, ["forensic_analysis"]).outcomes["forensic_analysis"].evidence
    (shown,) = [item for item in evidence if isinstance(item, Picture) and item.claim]
    assert "Whole groups of frames are missing" in shown.claim.claim and shown.title == "Before and after 1.16 s"
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(shown.data_uri.split(",")[1]))).convert("L"))
    assert pixels.shape == (48, 128)
    assert pixels[:, :60].mean() < 60 and pixels[:, 68:].mean() > 190
    (timeline,) = [item for item in evidence if isinstance(item, Timeline)]
    (span,) = [span for span in timeline.spans if span.lane == "frames are missing"]
    assert (span.start_s, span.end_s) == pytest.approx((1.16, 2.0), abs=0.01)
    (basis,) = [item for item in evidence if isinstance(item, Basis) and item.claim == shown.claim]
    with av.open(str(path)) as written:
        positions = [packet.pos for packet in written.demux(video=0) if packet.size]
    assert basis.facts[0][0].offset == positions[30]
