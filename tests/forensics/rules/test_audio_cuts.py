"""What recordings that were cut, joined or added to without encoding anew are told to be."""

import struct
from pathlib import Path

import numpy as np
import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.media import open_media
from forensix.metadata.av import mpeg_audio, reader
from forensix.metadata.av.collector import FactCollector
from tests.forensics.rules import pick
from tests.metadata.av.test_container_facts import sound


def found(path: Path, data: bytes) -> tuple[Finding, ...]:
    path.write_bytes(data)
    return claims(reader.read(str(path), path.suffix[1:]))


def suspected(findings: tuple[Finding, ...]) -> list[str]:
    return [f.claim.claim for f in findings if f.severity != "benign"]


@pytest.fixture(scope="module")
def mp3(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int]]:
    """Return an MP3 file and where its frames begin."""
    data = sound(tmp_path_factory.mktemp("a") / "a.mp3", "libmp3lame", seconds=4).read_bytes()
    place, places = mpeg_audio._first_frame(data, data.index(b"\xff\xfb"), len(data)), []
    while place is not None and (frame := mpeg_audio.header(data, place)):
        places.append(place)
        place += frame[5]
    return data, places


@pytest.fixture(scope="module")
def adts(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int]]:
    """Return an AAC file without a container and where its frames begin."""
    data = sound(tmp_path_factory.mktemp("a") / "a.aac", "aac", seconds=2).read_bytes()
    place, places = 0, []
    while place + 7 <= len(data):
        places.append(place)
        place += (data[place + 3] & 3) << 11 | data[place + 4] << 3 | data[place + 5] >> 5
    return data, places


def test_whole_files_are_told_to_be_neither_cut_nor_joined(
    tmp_path: Path, mp3: tuple[bytes, list[int]], adts: tuple[bytes, list[int]]
) -> None:
    for name, data in (("a.mp3", mp3[0]), ("a.aac", adts[0])):
        assert not [f for f in found(tmp_path / name, data) if "cut" in f.claim.claim or f.severity != "benign"]


@pytest.mark.parametrize("inside", [0, 177])
def test_mp3_that_was_cut_out_of_a_longer_one_is_told_so(
    inside: int, tmp_path: Path, mp3: tuple[bytes, list[int]]
) -> None:
    """From the beginning of a frame, as programs for cutting do, and from within one, as recorded web radio."""
    data, places = mp3
    findings = found(tmp_path / "a.mp3", data[places[20] + inside : places[90] + inside])
    assert suspected(findings) == []
    begins = pick(findings, "The beginning of the recording is cut off")
    assert "which are not there" in begins.claim.explanation
    assert ("are the rest of one" in begins.claim.explanation) == bool(inside)
    assert any("The end of the recording is cut off" in f.claim.claim for f in findings) == bool(inside)


def test_mp3_from_which_frames_were_taken_out_is_told_so(tmp_path: Path, mp3: tuple[bytes, list[int]]) -> None:
    """Where the sounds of the two frames overlap; the header that states the number of frames is left out."""
    data, places = mp3
    whole = data[places[1] :]
    cuts = [whole[: places[40] - places[1]] + data[places[n] :] for n in range(60, 90)]
    told = [[c for c in suspected(found(tmp_path / "a.mp3", cut)) if "cut or joined at 1 place" in c] for cut in cuts]
    assert sum(map(len, told)) >= 5
    assert suspected(found(tmp_path / "a.mp3", whole)) == []


CHANGED = "The sound was changed after it was encoded"


@pytest.mark.parametrize("tag", [b"", b"TAG" + bytes(125)])
def test_sound_that_is_not_what_the_encoder_wrote_is_told_so(
    tmp_path: Path, mp3: tuple[bytes, list[int]], tag: bytes
) -> None:
    """A frame is written over, or one is taken out together with what states their number."""
    data, places = mp3
    assert suspected(found(tmp_path / "a.mp3", data + tag)) == []
    louder = bytearray(data)
    louder[places[51] - 5] ^= 1
    assert suspected(found(tmp_path / "a.mp3", bytes(louder) + tag)) == [CHANGED]
    gained = b"APETAGEX" + struct.pack("<IIII8x", 2000, 63, 1, 0)
    gained = struct.pack("<II", 8, 0) + b"MP3GAIN_MINMAX\0" + b"101,2010" + gained
    findings = found(tmp_path / "a.mp3", bytes(louder) + gained)
    assert suspected(findings) == [] and "MP3GAIN" in pick(findings, CHANGED).claim.explanation.upper()
    fewer = bytearray(data[: places[60]] + data[places[61] :])
    at = fewer.index(b"Info") if b"Info" in fewer else fewer.index(b"Xing")
    frames, size = struct.unpack_from(">II", fewer, at + 8)
    struct.pack_into(">II", fewer, at + 8, frames - 1, size - (places[61] - places[60]))
    told = suspected(found(tmp_path / "a.mp3", bytes(fewer) + tag))
    assert told == [CHANGED] or "cut or joined" in told[0]


def test_words_before_the_first_frame_are_no_rest_of_one(tmp_path: Path, mp3: tuple[bytes, list[int]]) -> None:
    data, places = mp3
    assert "The file is malformed" in suspected(
        found(tmp_path / "a.mp3", b"HTTP/1.0 200 OK\r\n\r\n" + data[places[1] :])
    )


@pytest.mark.parametrize("left", [50, 5])
def test_aac_that_is_cut_is_told_so_and_not_called_malformed(
    left: int, tmp_path: Path, adts: tuple[bytes, list[int]]
) -> None:
    data, places = adts
    findings = found(tmp_path / "a.aac", data[places[10] + 31 : places[40] + left])
    assert suspected(findings) == []
    assert pick(findings, "The beginning of the recording is cut off").severity == "benign"
    assert pick(findings, "The end of the recording is cut off").claim.value == (
        f"byte {places[40] - places[10] - 31}",
    )


def test_bytes_behind_the_last_frame_of_flac_are_told(tmp_path: Path) -> None:
    data = sound(tmp_path / "a.flac", "flac").read_bytes()
    hidden = b"PK\x03\x04" + np.random.default_rng(0).bytes(40_000)
    told = pick(found(tmp_path / "b.flac", data + hidden), "Data stands after the end of the content")
    assert told.severity == "suspect" and f"{len(hidden)} bytes" in told.claim.value
    assert [f.offset for f in told.facts] == [len(data)]
    for ordinary in (b"", bytes(4096), b"TAG" + b"A title".ljust(125, b"\0")):
        assert suspected(found(tmp_path / "b.flac", data + ordinary)) == []
    joined = found(tmp_path / "b.flac", data + data)
    assert suspected(joined) == ["The recording was put together from 2 files"]


def test_a_frame_of_another_layer_has_no_reservoir() -> None:
    data = b"".join(b"\xff\xfd\x84\xc4" + bytes([i]) * 380 for i in range(20))
    facts = FactCollector()
    mpeg_audio.walk_mp3(data, facts)
    assert facts.get("mpeg.frames") and facts.get("mpeg.torn") is None and facts.get("mpeg.refers_back") is None


def test_joined_ogg_lasts_as_long_as_its_parts(tmp_path: Path) -> None:
    parts = [sound(tmp_path / f"{s}.ogg", "libopus", seconds=s, rate=48000).read_bytes() for s in (2, 3)]
    joined = tmp_path / "c.ogg"
    joined.write_bytes(b"".join(parts))
    with open_media(joined) as media:
        assert media.info.duration_s == pytest.approx(5, abs=0.1)
    record = reader.read(str(joined), "ogg").get("stream.audio")
    assert record["duration_s"] == pytest.approx(5, abs=0.1)
