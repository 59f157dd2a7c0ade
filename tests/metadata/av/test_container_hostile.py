"""Hostile containers: absurd sizes, depth, truncation and mutation end in a problem, quickly and in bounds."""

import random
import struct
import time
from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.media import open_media, tags
from forensix.metadata.av import reader as container
from forensix.metadata.av.collector import ITEMS, PROBLEMS, FactCollector
from forensix.metadata.facts import Facts, Problem
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


CHUNKS = b"RIFF" + struct.pack("<I", 8 * 10_001 + 4) + b"WAVE" + b"JUNK\0\0\0\0" * 10_001
ELEMENTS = bytes.fromhex("1a45dfa380") + b"\xec\x80" * 20_001


@pytest.mark.parametrize(
    ("form", "data"), [("wav", CHUNKS), ("mp4", FTYP + box(b"free", b"") * 20_001), ("mkv", ELEMENTS)]
)
def test_what_has_more_pieces_than_are_read_is_not_called_malformed(tmp_path: Path, form: str, data: bytes) -> None:
    facts = read(tmp_path / f"a.{form}", data, form)
    assert facts.is_stopped and all(problem.unread for problem in facts.problems), facts.problems
    assert not any("malformed" in finding.claim.claim for finding in claims(facts))


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


def itunes(n: int) -> bytes:
    """Return an item that names the program, then ``n`` others of names of their own."""

    def item(kind: bytes, text: bytes, name: bytes = b"") -> bytes:
        own = box(b"mean", bytes(4) + b"own") + box(b"name", bytes(4) + name) if name else b""
        return box(kind, own + box(b"data", struct.pack(">II", 1, 0) + text))

    return item(b"\xa9too", b"Suno AI") + b"".join(item(b"----", b"v", b"k%06d" % i) for i in range(n))


def ape(n: int) -> bytes:
    texts = [(b"Encoder", b"Suno AI"), *((b"k%06d" % i, b"v") for i in range(n))]
    items = b"".join(struct.pack("<II", len(text), 0) + name + b"\0" + text for name, text in texts)
    return items + b"APETAGEX" + struct.pack("<IIII", 2000, len(items) + 32, len(texts), 0) + bytes(8)


def script(n: int) -> bytes:
    texts = [(b"encoder", b"Suno AI"), *((b"k%06d" % i, b"v") for i in range(n))]
    list_of_two = b"\x0a\0\0\0\2\0" + struct.pack(">d", 1.0) + b"\1\1"
    values = b"".join(struct.pack(">H", len(k)) + k + b"\2" + struct.pack(">H", len(v)) + v for k, v in texts)
    body = b"\2\0\x0aonMetaData\x08\0\0\0\0\0\5times" + list_of_two + values + b"\0\0\x09"
    return b"\x12" + len(body).to_bytes(3, "big") + bytes(7) + body + struct.pack(">I", len(body) + 11)


def info(n: int) -> bytes:
    names = (bytes([65 + i // 2500, 65 + i // 50 % 50, 65 + i % 50, 65]) for i in range(n))
    chunks = b"ISFT\x08\0\0\0Suno AI\0" + b"".join(name + b"\2\0\0\0v\0" for name in names)
    return b"LIST" + struct.pack("<I", len(chunks) + 4) + b"INFO" + chunks


CLUSTER = bytes.fromhex("1f43b675")


def matroska(n: int) -> bytes:
    def element(name: str, body: bytes) -> bytes:
        return bytes.fromhex(name) + (len(body) | 1 << 56).to_bytes(8, "big") + body

    texts = [(b"ENCODER", b"Suno AI"), *((b"k%06d" % i, b"v") for i in range(n))]
    own = b"".join(element("67c8", element("45a3", name) + element("4487", text)) for name, text in texts)
    return element("1254c367", element("7373", element("63c0", b"") + own))


def tagged(folder: Path, format: str, n: int) -> bytes:
    data = made(folder, format)
    if format == "mp3":
        return id3(n) + data
    if format == "mp4":
        at = data.index(b"moov") - 4
        udta = box(b"udta", box(b"meta", bytes(4) + box(b"ilst", itunes(n))))
        return data[:at] + struct.pack(">I", len(data) - at + len(udta)) + data[at + 4 :] + udta
    if format == "aac":
        return data + ape(n)
    if format == "flv":
        return data[:13] + script(n) + data[13:]
    if format in ("wav", "avi"):
        return data[:4] + struct.pack("<I", len(data) - 8 + len(info(n))) + data[8:] + info(n)
    if format == "mkv":
        return data[: data.index(CLUSTER)] + matroska(n) + data[data.index(CLUSTER) :]
    if format == "flac":
        return data[:42] + b"\4" + len(vorbis(n)).to_bytes(3, "big") + vorbis(n) + data[42:]
    # The checksums of pages do not matter here.
    at = data.index(b"OpusTags")
    return data[: at + 8] + vorbis(n) + data[at + 8 :]


@pytest.mark.parametrize("format", ["mp3", "flac", "ogg", "mp4", "aac", "flv", "wav", "avi", "mkv"])
def test_among_tags_without_end_the_first_are_read_and_the_streams_are_not(tmp_path: Path, format: str) -> None:
    few, many = tagged(tmp_path, format, tags.MOST // 2), tagged(tmp_path, format, tags.MOST + 1)
    assert not tags.are_too_many(few) and tags.are_too_many(many)
    facts = read(tmp_path / f"a.{format}", many, format)
    assert "Suno AI" in [fact.value for fact in facts.items]
    assert not any(f.key.startswith(("stream.audio", "stream.video", "signal.")) for f in facts.items)
    unread = [p.message for p in facts.problems if p.unread]
    assert "The streams were not read, because that would take too long." in unread
    # Pages end before these comments do; chunks and elements are bounded as such.
    is_told = any("the rest was not read" in message for message in unread)
    assert is_told or format in ("ogg", "wav", "avi", "mkv")
    with open_media(tmp_path / f"a.{format}") as media:
        assert media.broken and f"more than {tags.MOST} tags" in media.broken


@pytest.mark.parametrize("format", ["mp3", "mp4", "aac", "flv"])
def test_a_tag_behind_many_others_is_read(tmp_path: Path, format: str) -> None:
    facts = read(tmp_path / f"a.{format}", tagged(tmp_path, format, 600), format)
    assert any(fact.key.endswith("k000599") for fact in facts.items)
    assert not facts.is_stopped


def test_facts_that_are_left_out_are_told_among_any_number_of_faults() -> None:
    facts = FactCollector(problems=[Problem("It is odd.", "somewhere", grave=False)] * PROBLEMS)
    for i in range(ITEMS + 2):
        facts.fact("a", i, "somewhere", i)
    assert len(facts.items) == ITEMS
    assert [(p.unread, p.where, p.offset) for p in facts.problems[PROBLEMS:]] == [(True, "file", ITEMS)]


def test_what_comes_with_each_frame_of_an_flv_is_no_other_tag(tmp_path: Path) -> None:
    assert not tags.are_too_many(tagged(tmp_path, "flv", 1)[:13] + script(3) * tags.MOST)


@pytest.mark.parametrize("version", [3, 4])
def test_tags_before_others_are_counted_too(version: int) -> None:
    half = id3(tags.MOST // 2 + 1, version)
    assert not tags.are_too_many(half) and tags.are_too_many(half + half)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"ID3", b"fLaC", b"fLaC\x84\0\0\xff", b"OggS\x03vorbis", b"OggSOpusTags\xff\xff\xff\xff",
        b"APETAGEX" + b"\xff" * 8, b"RIFF\0\0\0\0WAVELIST", b"\x1a\x45\xdf\xa3\xff\x18\x53\x80\x67", b"\0\0\0\1moov\0",
        b"FLV\1\5\0\0\0\x09" + bytes(4) + b"\x12\0\0\x05" + bytes(7) + b"\x0a\xff\xff\xff\xff", b"\0\0\0\0moov",
    ],
)  # fmt: skip
def test_scraps_have_no_tags(data: bytes) -> None:
    assert not tags.are_too_many(data)


def test_each_step_of_reading_tells_what_is_known_by_then(tmp_path: Path) -> None:
    path = tmp_path / "a.mp3"
    path.write_bytes(id3(2) + made(tmp_path, "mp3"))
    first, *_, last = container.parts(str(path), "mp3")
    assert first.get("id3.TSSE") == "Suno AI" and first.get("stream.audio") is None
    assert last.get("stream.audio") is not None and last == container.read(str(path), "mp3")
