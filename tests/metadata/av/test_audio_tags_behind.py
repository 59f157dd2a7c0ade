"""Tags and headers of sound files that are ordinary and were once taken for damage."""

from pathlib import Path

import av
import numpy as np
import pytest

from forensix.forensics import claims
from forensix.media import sniff
from forensix.metadata import child, reader
from forensix.metadata.av import reader as container

TAG = b"ID3\x04\x00\x00" + bytes([0, 0, 0, 21]) + b"TIT2" + bytes([0, 0, 0, 11]) + b"\x00\x00" + b"\x00Recordings"
WITH_FOOTER = TAG[:5] + b"\x10" + TAG[6:] + b"3DI" + TAG[3:5] + b"\x10" + TAG[6:10]
ITEM = (5).to_bytes(4, "little") + bytes(4) + b"Artist\0Forty"
APE_END = (2000).to_bytes(4, "little") + (len(ITEM) + 32).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(12)
APE = ITEM + b"APETAGEX" + APE_END
LYRICS = b"LYRICSBEGININD0000200EAL00005Songs"
LYRICS += b"%06dLYRICS200" % len(LYRICS)
ID3V1 = b"TAG" + bytes(125)


def sound(path: Path, codec: str, format: str) -> Path:
    with av.open(str(path), "w", format=format) as out:
        stream = out.add_stream(codec, rate=44100, layout="mono")
        for i in range(40):
            wave = 0.3 * np.sin(2 * np.pi * 440 * (np.arange(1152) + 1152 * i) / 44100)
            frame = av.AudioFrame.from_ndarray(wave.astype(np.float32)[None], format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 44100, 1152 * i
            for packet in stream.encode(frame):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)
    return path


@pytest.mark.parametrize(("codec", "format"), [("libmp3lame", "mp3"), ("aac", "adts")])
@pytest.mark.parametrize(
    "tail", [TAG, TAG + ID3V1, ID3V1, APE + WITH_FOOTER, ID3V1 + WITH_FOOTER, APE + LYRICS + ID3V1]
)
def test_a_tag_behind_the_sound_is_no_damage(tmp_path: Path, codec: str, format: str, tail: bytes) -> None:
    path = sound(tmp_path / "a", codec, format)
    path.write_bytes(path.read_bytes() + tail)
    facts = container.read(str(path), "mp3" if format == "mp3" else "aac")
    assert [f.claim.claim for f in claims(facts) if f.severity != "benign"] == []
    assert ("Recordings" in [f.value for f in facts.all("id3.TIT2")]) == (TAG[10:] in tail)
    assert (facts.get("ape.Artist") == "Forty") == (APE in tail)
    assert bool(facts.get("lyrics3")) == (LYRICS in tail)


def test_adif_is_aac_and_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.aac"
    path.write_bytes(b"ADIF" + bytes(range(200)))
    assert sniff.sniff(path.read_bytes(), "a.aac").format == "aac"
    facts = container.read(str(path), "aac")
    assert facts.problems == () and facts.fact("adif.header").offset == 0


def test_the_brand_of_kddi_is_3gpp() -> None:
    assert sniff.sniff(b"\x00\x00\x00\x18ftypkddi\x00\x00\x00\x00kddi3g2a", "a.3g2").format == "3gp"


def test_3gpp_in_mp4_fits_its_name(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"\x00\x00\x00\x18ftyp3gp5\x00\x00\x01\x003gp53gp4" + bytes(64))
    facts = reader.from_values(child.read(str(path), "video", "3gp", path.name))
    assert facts.get("file.extension_fits") is True


@pytest.mark.parametrize(
    ("name", "format", "fits"),
    [
        ("memo.spx", "ogg", True),
        ("Voice 001.3ga", "m4a", True),
        ("Voice 001.3ga", "3gp", True),
        ("Voice 001.m4a", "3gp", True),
        ("Chapters.m4b", "mp4", True),
        ("take.bwf", "wav", True),
        ("take.bwf", "ogg", False),
    ],
)
def test_names_that_recorders_give_fit(name: str, format: str, fits: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(bytes(64))
    facts = reader.from_values(child.read(str(tmp_path / name), "audio", format, name))
    assert facts.get("file.extension_fits") is fits
