"""Damage that only decoding shows: packets that fail, and the checksum that FLAC keeps of its samples."""

from pathlib import Path

import av
import numpy as np
import pytest

from forensix.forensics import claims
from forensix.metadata.av import reader as container
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.av.decoding import Damage
from tests.making import picture, tone, write_audio, write_video

N = 16_000


def _said(path: Path) -> str:
    return " ".join(p.message for p in container.read(str(path), path.suffix[1:]).problems)


def _flac(path: Path, bits: int, channels: int) -> Path:
    """Write noise as FLAC of a number of bits a sample."""
    rng = np.random.default_rng(0)
    kind, dtype = ("s16", np.int16) if bits == 16 else ("s32", np.int32)
    high = np.iinfo(dtype).max // 4
    samples = rng.integers(-high, high, (1, N * channels)).astype(dtype)
    with av.open(str(path), "w", format="flac") as output:
        stream = output.add_stream("flac", rate=16_000)
        stream.layout = "stereo" if channels == 2 else "mono"
        stream.format = kind
        frame = av.AudioFrame.from_ndarray(samples, format=kind, layout=stream.layout.name)
        frame.sample_rate = 16_000
        output.mux([*stream.encode(frame), *stream.encode(None)])
    return path


@pytest.mark.parametrize(("bits", "channels"), [(16, 1), (16, 2), (24, 1), (24, 2)])
def test_a_sound_flac_fits_its_checksum_and_a_changed_one_does_not(bits: int, channels: int, tmp_path: Path) -> None:
    path = _flac(tmp_path / "a.flac", bits, channels)
    assert _said(path) == ""
    data = bytearray(path.read_bytes())
    at = data.index(b"fLaC") + 8 + 18
    data[at] ^= 1
    path.write_bytes(data)
    assert "checksum (MD5) of the sound does not match" in _said(path)


def test_a_few_bytes_behind_an_mp3_are_no_damage_of_its_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    write_audio(path, tone(2.0), codec="libmp3lame")
    path.write_bytes(path.read_bytes() + b"\0\x11garb")
    facts = container.read(str(path), "mp3")
    assert facts.get("container.after_end")["size"] == 6 and not facts.problems
    claim = next(f for f in claims(facts) if f.claim.claim.startswith("Data stands after"))
    assert claim.severity == "benign"
    path.write_bytes(path.read_bytes() + bytes(range(1, 200)))
    claim = next(f for f in claims(container.read(str(path), "mp3")) if f.claim.claim.startswith("Data stands after"))
    assert claim.severity == "suspect"


def test_a_flac_without_a_checksum_is_no_fault(tmp_path: Path) -> None:
    path = _flac(tmp_path / "a.flac", 16, 1)
    data = bytearray(path.read_bytes())
    at = data.index(b"fLaC") + 8 + 18
    data[at : at + 16] = bytes(16)
    path.write_bytes(data)
    assert _said(path) == ""


@pytest.mark.parametrize(
    ("format", "words"),
    [
        ("flac", "checksum (MD5) of the sound does not match"),
        ("m4a", "Some of the sound is broken: "),
        ("m4a", "packets cannot be decoded, the first at "),
    ],
)
def test_sound_that_was_overwritten_in_the_middle_is_told(format: str, words: str, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(-3000, 3000, 3 * N)
    path = write_audio(tmp_path / f"a.{format}", (tone(3) + noise).astype(np.int16))
    assert _said(path) == ""
    data = bytearray(path.read_bytes())
    middle = data.index(b"mdat") + 2000 if format == "m4a" else len(data) * 2 // 3
    data[middle : middle + 400] = np.random.default_rng(2).bytes(400)
    path.write_bytes(data)
    assert words in _said(path)


@pytest.mark.parametrize(("share", "words"), [(0.5, "the streams end after"), (0.999, "packets cannot be decoded")])
def test_a_flac_that_was_cut_off_is_told_so_once(share: float, words: str, tmp_path: Path) -> None:
    """The checksum of all samples is not told beside, nor, where much is missing, the packet at the cut."""
    path = _flac(tmp_path / "a.flac", 16, 1)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    problems = container.read(str(path), "flac").problems
    assert len(problems) == 1 and words in problems[0].message


def test_the_checksums_of_all_ogg_pages_are_compared(tmp_path: Path) -> None:
    """Those of the first two hundred were: what was changed behind three minutes of speech was not seen."""
    path = tmp_path / "a.ogg"
    with av.open(str(path), "w", format="ogg", options={"page_duration": "20000"}) as output:
        stream = output.add_stream("libopus", rate=48_000, layout="mono")
        for i in range(250):
            noise = np.random.default_rng(i).normal(0, 0.05, (1, 960)).astype(np.float32)
            frame = av.AudioFrame.from_ndarray(noise, format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 48_000, 960 * i
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    assert _said(path) == ""
    data = bytearray(path.read_bytes())
    assert data.count(b"OggS") > 220
    data[-40] ^= 1
    path.write_bytes(data)
    assert "checksum of a page does not match" in _said(path)


def test_an_ogg_that_ends_with_a_packet_of_nothing_is_whole(tmp_path: Path) -> None:
    """VLC marks the end of a stream so."""
    path = tmp_path / "a.ogg"
    with av.open(str(path), "w", format="ogg") as output:
        stream = output.add_stream("vorbis", rate=16_000, options={"strict": "experimental"})
        stream.layout = "stereo"
        frame = av.AudioFrame.from_ndarray(np.stack([tone(2.0)] * 2).astype(np.float32) / 40_000, "fltp", "stereo")
        frame.sample_rate = 16_000
        output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    data = path.read_bytes()
    last = data.rindex(b"OggS")
    before, serial, number = bytearray(data[last:]), data[last + 14 : last + 18], data[last + 18]
    before[5] &= ~4
    ending = bytearray(before[:5] + b"\x04" + before[6:14] + serial + bytes([number + 1, 0, 0, 0]) + bytes(4) + b"\1\0")
    path.write_bytes(data[:last] + _summed(before) + _summed(ending))
    assert _said(path) == ""


def _summed(page: bytearray) -> bytes:
    """Return a page of Ogg with its checksum: CRC-32 without reflection, from zero."""
    page[22:26] = bytes(4)
    value = 0
    for byte in page:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    page[22:26] = value.to_bytes(4, "little")
    return bytes(page)


def test_pictures_that_were_overwritten_are_told(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 80, (48, 64, 3), np.uint8)
    path = write_video(tmp_path / "a.mp4", 20, (64, 48), paint=lambda i: picture(64, 48, shift=i) + noise)
    assert _said(path) == ""
    data = bytearray(path.read_bytes())
    at = data.index(b"mdat") + (data.index(b"moov") - data.index(b"mdat")) // 2
    data[at : at + 300] = b"\xff" * 300
    path.write_bytes(data)
    assert "Some of the picture is broken" in _said(path)


@pytest.mark.parametrize(("patched", "words"), [(1, "1 frame is damaged"), (2, "2 frames are damaged")])
def test_damaged_frames_are_counted_in_words(patched: int, words: str) -> None:
    facts = FactCollector()
    Damage(packets=9, patched=patched).tell(facts, "picture")
    assert words in facts.problems[0].message
