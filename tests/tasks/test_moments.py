"""Where in a recording the claims point."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.demo import make_cut_recording
from forensix.forensics.findings import finding
from forensix.media import open_media
from forensix.metadata.facts import Fact
from forensix.tasks.evidence import Curve, Timeline
from forensix.tasks.moments import moments


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


@pytest.mark.parametrize(
    ("key", "value", "spans"),
    [
        ("frames.doubled", [[12, 0.4], [20, 0.8]], [(0.4, 0.4), (0.8, 0.8)]),
        ("frames.repeated_stretch", [1.0, 3.0, 50], [(1.0, 3.0), (3.0, 5.0)]),
        ("signal.grid", [[0.5, 2.0, 7, 3.1]], [(0.5, 2.0)]),
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
