"""Hostile containers: absurd sizes, depth, truncation and mutation end in a problem, quickly and in bounds."""

import random
import struct
import time
from pathlib import Path

import pytest

from forensix.media import open_media, tags
from forensix.metadata.av import reader as container
from forensix.metadata.facts import Facts
from tests.metadata.av.test_container_facts import box, sound, video

LIMIT_S = 10.0


def read(path: Path, data: bytes, format: str) -> Facts:
    path.write_bytes(data)
    start = time.perf_counter()
    facts = container.read(str(path), format)
    assert time.perf_counter() - start < LIMIT_S
    return facts


FTYP = box(b"ftyp", b"isom\0\0\0\0isom")


@pytest.mark.parametrize(
    "tail",
    [
        struct.pack(">I4s", 0, b"moov"),
        struct.pack(">I4s", 1, b"moov"),
        struct.pack(">I4sQ", 1, b"moov", 3),
        struct.pack(">I4sQ", 1, b"moov", 1 << 63),
        struct.pack(">I4s", 7, b"moov") + b"xxxxxxx",
        struct.pack(">I4s", 0xFFFFFFFF, b"moov") + b"x" * 50,
        box(b"moov", struct.pack(">I4s", 0x7FFFFFFF, b"trak")),
        box(b"moov", box(b"mvhd", b"\0")),
        box(b"moov", box(b"trak", box(b"mdia", box(b"minf", box(b"stbl", box(b"stts", b"\0\0\0\0\xff\xff\xff\xff")))))),
        b"\xff" * 64,
    ],
)
def test_box_sizes_that_cannot_be(tmp_path: Path, tail: bytes) -> None:
    assert read(tmp_path / "a.mp4", FTYP + tail, "mp4").problems


def test_depth_and_number_of_boxes_are_bounded(tmp_path: Path) -> None:
    deep = b""
    for _ in range(3000):
        deep = box(b"moov", deep)
    assert "nested more than" in read(tmp_path / "a.mp4", FTYP + deep, "mp4").problems[0].message
    many = FTYP + box(b"free", b"") * 60_000
    facts = read(tmp_path / "a.mp4", many, "mp4")
    assert "more than" in facts.problems[0].message and len(facts.structure) <= 3000


def test_elements_without_size_or_end(tmp_path: Path) -> None:
    head = bytes.fromhex("1a45dfa3a342868142f7810142f2810442f381084282886d6174726f736b6142878104")
    unknown = bytes.fromhex("18538067ff") + bytes.fromhex("1f43b675ff") * 20_000
    assert read(tmp_path / "a.mkv", head + unknown, "mkv").problems
    assert read(tmp_path / "a.mkv", head + bytes.fromhex("1853806708") + b"\xff" * 30, "mkv").problems
    assert read(tmp_path / "a.mkv", head + b"\x00" * 30, "mkv").problems


def test_chunks_that_contradict_themselves(tmp_path: Path) -> None:
    deep = b""
    for _ in range(200):
        deep = b"LIST" + struct.pack("<I", len(deep) + 4) + b"INFO" + deep
    data = b"RIFF" + struct.pack("<I", len(deep) + 4) + b"WAVE" + deep
    assert "nested more than" in " ".join(p.message for p in read(tmp_path / "a.wav", data, "wav").problems)
    zero = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 0, 0, 0, 0, 0)
    assert read(tmp_path / "a.wav", zero, "wav").problems


@pytest.mark.parametrize("format", ["mp4", "mkv", "wav", "avi", "flv", "mp3", "aac", "ogg", "flac"])
@pytest.mark.parametrize("data", [b"", b"\0", b"\xff" * 4000, b"ID3\x04\0\0\x7f\x7f\x7f\x7f", b"\0" * 4000])
def test_scraps(tmp_path: Path, format: str, data: bytes) -> None:
    assert read(tmp_path / f"a.{format}", data, format).problems


def made(folder: Path, format: str) -> bytes:
    codecs = {"mp3": "libmp3lame", "flac": "flac", "ogg": "libopus", "aac": "aac", "wav": "pcm_s16le"}
    if format in codecs:
        return sound(folder / f"m.{format}", codecs[format], seconds=0.6, rate=48000).read_bytes()
    return video(folder / f"m.{format}", n=8, codec="flv" if format == "flv" else "mpeg4").read_bytes()


@pytest.mark.parametrize("format", ["mp4", "mkv", "avi", "flv", "mp3", "flac", "ogg", "aac", "wav"])
def test_truncations_and_mutations(tmp_path: Path, format: str) -> None:
    data = made(tmp_path, format)
    path = tmp_path / f"a.{format}"
    cut = [read(path, data[: len(data) * share // 100], format) for share in range(4, 100, 8)]
    fields = [bool(f.problems) or any(item.key.endswith(".ends_inside") for item in f.items) for f in cut]
    # Chains of frames may be cut between two frames, where nothing in the chain shows it.
    assert sum(fields) >= len(fields) - (4 if format in ("aac", "mp3") else 2)
    chance = random.Random(7)
    for _ in range(12):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 6, 40))):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        read(path, bytes(changed), format)


def test_streams_among_millions_of_boxes_are_left_alone(tmp_path: Path) -> None:
    facts = read(tmp_path / "a.mp4", FTYP + box(b"free", b"") * 1_000_000, "mp4")
    assert "The streams were not read" in facts.problems[-1].message
    assert facts.problems[-1].unread and not facts.problems[-1].grave
    assert not any(f.key.startswith("stream.") for f in facts.items)


def id3(n: int, version: int = 4) -> bytes:
    """Return a tag that names its program, then holds ``n`` texts of names of their own."""
    texts = [(b"TSSE", b"\0Suno AI"), *((b"TXXX", b"\0k%06d\0v" % i) for i in range(n))]
    body = b"".join(name + len(text).to_bytes(4, "big") + b"\0\0" + text for name, text in texts)
    return b"ID3" + bytes([version, 0, 0, *(len(body) >> shift & 127 for shift in (21, 14, 7, 0))]) + body


def vorbis(n: int) -> bytes:
    """Return a vendor, then a comment that names the program, then ``n`` others."""
    texts = [b"ENCODER=Suno AI", *[b"a=b"] * n]
    return bytes(4) + struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(t)) + t for t in texts)


def tagged(folder: Path, format: str, n: int) -> bytes:
    data = made(folder, format)
    if format == "mp3":
        return id3(n) + data
    if format == "flac":
        return data[:42] + b"\4" + len(vorbis(n)).to_bytes(3, "big") + vorbis(n) + data[42:]
    # The checksums of pages do not matter here.
    at = data.index(b"OpusTags")
    return data[: at + 8] + vorbis(n) + data[at + 8 :]


@pytest.mark.parametrize("format", ["mp3", "flac", "ogg"])
def test_among_tags_without_end_the_first_are_read_and_the_streams_are_not(tmp_path: Path, format: str) -> None:
    few, many = tagged(tmp_path, format, tags.MOST // 2), tagged(tmp_path, format, tags.MOST + 1)
    assert not tags.are_too_many(few) and tags.are_too_many(many)
    facts = read(tmp_path / f"a.{format}", many, format)
    assert "Suno AI" in [fact.value for fact in facts.items]
    assert not any(f.key.startswith(("stream.audio", "signal.")) for f in facts.items)
    unread = [p.message for p in facts.problems if p.unread]
    assert "The streams were not read, because that would take too long." in unread
    # Pages end before these comments do.
    assert format == "ogg" or any("the rest was not read" in message for message in unread)
    with open_media(tmp_path / f"a.{format}") as media:
        assert media.broken and f"more than {tags.MOST} tags" in media.broken


@pytest.mark.parametrize("version", [3, 4])
def test_tags_before_others_are_counted_too(version: int) -> None:
    half = id3(tags.MOST // 2 + 1, version)
    assert not tags.are_too_many(half) and tags.are_too_many(half + half)


@pytest.mark.parametrize(
    "data", [b"", b"ID3", b"fLaC", b"fLaC\x84\0\0\xff", b"OggS\x03vorbis", b"OggSOpusTags\xff\xff\xff\xff"]
)
def test_scraps_have_no_tags(data: bytes) -> None:
    assert not tags.are_too_many(data)


def test_each_step_of_reading_tells_what_is_known_by_then(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(id3(2) + made(tmp_path, "mp3"))
    first, *_, last = container.parts(str(path), "mp3")
    assert first.get("id3.TSSE") == "Suno AI" and first.get("stream.audio") is None
    assert last.get("stream.audio") is not None and last == container.read(str(path), "mp3")
