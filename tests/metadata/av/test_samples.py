"""Bytes of the recording that no track plays: told with their places, and never where the tables say all is played."""

import struct
from pathlib import Path

import av
import numpy as np
import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.metadata.av import bmff, bmff_samples
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Facts
from tests.making import tone, write_audio, write_video
from tests.metadata.av.test_container_facts import box

SECRET = b"PK\x03\x04" + np.random.default_rng(0).bytes(6000)


def told(path: Path) -> list[Finding]:
    found = FactCollector()
    bmff.walk(path.read_bytes(), found)
    findings = claims(Facts("video", path.suffix[1:], tuple(found.items)))
    return [f for f in findings if "belong to no track" in f.claim.claim]


def recording(path: Path, **options: str) -> Path:
    """Write two seconds of picture and sound, the index behind them."""
    write_video(path, 50, (64, 48), audio=tone(2.0))
    if options:
        whole = path.rename(path.with_stem("whole"))
        with av.open(str(whole)) as given, av.open(str(path), "w", options=options) as out:
            streams = [out.add_stream_from_template(s) for s in given.streams]
            for packet in given.demux():
                if packet.size:
                    packet.stream = streams[packet.stream_index]
                    out.mux(packet)
    return path


def hide(path: Path, what: bytes) -> int:
    """Put bytes behind the last sample, into the same box, and return where they begin."""
    data = path.read_bytes()
    at = data.index(b"mdat") - 4
    size = struct.unpack_from(">I", data, at)[0]
    end = at + size
    path.write_bytes(data[:at] + struct.pack(">I", size + len(what)) + data[at + 4 : end] + what + data[end:])
    return end


@pytest.mark.parametrize(
    ("what", "severity"),
    [
        (SECRET, "suspect"),
        (SECRET[:2000], "benign"),
        (bytes(6000), "benign"),
        (box(b"moof", SECRET), "benign"),
        (SECRET[:100], None),
    ],
    ids=["a file", "few", "zeros", "index of a recorder", "nearly none"],
)
def test_what_no_track_plays_is_told(what: bytes, severity: str | None, tmp_path: Path) -> None:
    path = recording(tmp_path / "a.mp4")
    at = hide(path, what)
    findings = told(path)
    assert [f.severity for f in findings] == ([severity] if severity else [])
    for item in findings:
        assert f"{len(what)} bytes at 1 place" in item.claim.explanation
        assert f"{len(what)} bytes at byte {at}" in item.claim.explanation and item.facts[0].offset == at


@pytest.mark.parametrize(
    "movflags",
    ["faststart", "frag_keyframe+empty_moov", "frag_keyframe+default_base_moof", "frag_every_frame+dash", ""],
)
@pytest.mark.parametrize("suffix", ["mp4", "mov"])
def test_recordings_as_they_are_written_play_every_byte(movflags: str, suffix: str, tmp_path: Path) -> None:
    path = recording(tmp_path / f"a.{suffix}", **({"movflags": movflags} if movflags else {}))
    assert told(path) == []
    if "frag" not in movflags:
        hide(path, SECRET)
        assert [f.severity for f in told(path)] == ["suspect"]


@pytest.mark.parametrize("codec", ["pcm_s16le", "pcm_s24be", "pcm_f32le", "pcm_alaw", "adpcm_ima_qt"])
def test_sound_of_one_length_plays_every_byte(codec: str, tmp_path: Path) -> None:
    path = write_audio(tmp_path / "a.mov", tone(1.0, rate=44100), 44100, codec=codec, container="mov")
    assert told(path) == []


def test_a_track_that_was_taken_out_of_the_index_leaves_its_bytes(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", 50, (64, 48), audio=tone(2.0), options={"crf": "1"})
    data = path.read_bytes()
    path.write_bytes(data.replace(b"trak", b"free", 1))
    (claim,) = told(path)
    assert claim.severity == "suspect" and "a track that were taken out of the index" in claim.claim.explanation


@pytest.mark.parametrize(
    ("table", "at", "value"),
    [
        ("stsc", 12, 7),
        ("stsc", 16, 0xFFFFFFFF),
        ("stsz", 12, 0x0FFFFFFF),
        ("stsz", 8, 0xFFFFFFFF),
        ("stco", 12, 0xFFFFFFF0),
    ],
)
def test_tables_that_lie_accuse_nobody(table: str, at: int, value: int, tmp_path: Path) -> None:
    path = recording(tmp_path / "a.mp4")
    data = bytearray(path.read_bytes())
    struct.pack_into(">I", data, data.index(table.encode()) + at, value)
    path.write_bytes(data)
    assert [f for f in told(path) if f.severity == "suspect"] == []


def test_long_tables_are_read_in_time_or_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = recording(tmp_path / "a.mp4")
    hide(path, SECRET)
    monkeypatch.setattr(bmff_samples, "ROWS", 50)
    assert told(path) == []
