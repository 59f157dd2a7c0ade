"""Pictures beside the one that is shown, in HEIC files that the test makes and changes byte by byte."""

import io
import struct
import time
from pathlib import Path

import numpy as np
import pillow_heif
import pytest
from PIL import Image

import forensix
from forensix.forensics import Finding, claims
from forensix.media import open_media
from forensix.metadata.facts import Facts
from forensix.metadata.image import reader
from forensix.metadata.reader import read_facts
from tests.making import picture

LIMIT_S = 10.0
DEPTH, GAIN = b"urn:mpeg:hevc:2015:auxid:2", b"urn:com:maker:gainmap".ljust(26, b"\0")
ALPHA = b"urn:mpeg:hevc:2015:auxid:1"
BLOCKS = np.random.default_rng(3).integers(0, 255, (6, 8, 3), np.uint8)
SECOND = np.asarray(Image.fromarray(BLOCKS).resize((320, 240)))


def heic(*pictures: np.ndarray, thumbnails: tuple[int, ...] = ()) -> bytes:
    file, out = pillow_heif.HeifFile(), io.BytesIO()
    for each in pictures:
        image = file.add_from_pillow(Image.fromarray(each))
        image.info["thumbnails"] = list(thumbnails)
    file.save(out, quality=80)
    return out.getvalue()


def facts_of(data: bytes, tmp_path: Path) -> Facts:
    path = tmp_path / "a.heic"
    path.write_bytes(data)
    return reader.read(str(path), "heif")


def kinds(facts: Facts) -> list[str]:
    return [f.value["kind"] for f in facts.all("heif.picture")]


def told(data: bytes, tmp_path: Path) -> list[Finding]:
    path = tmp_path / "a.heic"
    path.write_bytes(data)
    media = open_media(path)
    return list(claims(read_facts(media), media, draw=False))


def boxed(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", 8 + len(body)) + name + body


@pytest.mark.parametrize("is_short", [True, False])
def test_a_picture_that_is_coded_as_no_decoder_here_knows_is_not_called_malformed(
    is_short: bool, tmp_path: Path
) -> None:
    """Short AVIF files have one box in place of the tables; industrial cameras store pixels without compression."""
    if is_short:
        data = boxed(b"ftyp", b"mif3avif") + boxed(b"mini", bytes(40))
    else:
        entry = boxed(b"infe", struct.pack(">IHH", 2 << 24, 1, 0) + b"unci\0")
        tables = boxed(b"pitm", struct.pack(">IH", 0, 1)) + boxed(b"iinf", struct.pack(">IH", 0, 1) + entry)
        data = boxed(b"ftyp", b"mif1\0\0\0\0mif1") + boxed(b"meta", bytes(4) + tables) + boxed(b"mdat", bytes(40))
    found = told(data, tmp_path)
    assert [f.severity for f in found if f.claim.claim == "A part of the file was not read"] == ["benign"]
    assert {f.severity for f in found} == {"benign"}


def with_thumbnail_of(data: bytes, other: bytes, tmp_path: Path) -> bytes:
    """Return a file whose thumbnail's bytes are those of another file's."""

    def place(file: bytes) -> tuple[int, int, int]:
        (fact,) = facts_of(file, tmp_path).all("heif.picture")
        assert fact.offset is not None
        # Base, number of extents, start beyond the base, length.
        at = file.index(struct.pack(">IHI", fact.offset, 1, 0), file.index(b"iloc"))
        return at, fact.offset, struct.unpack_from(">I", file, at + 10)[0]

    (at, _, _), (_, theirs, size) = place(data), place(other)
    moved = data[:at] + struct.pack(">IHII", len(data) + 8, 1, 0, size) + data[at + 14 :]
    return moved + struct.pack(">I4s", 8 + size, b"mdat") + other[theirs : theirs + size]


def test_a_thumbnail_is_a_fact_at_its_bytes_and_shows_the_picture(tmp_path: Path) -> None:
    data = heic(picture(320, 240), thumbnails=(96,))
    facts = facts_of(data, tmp_path)
    (fact,) = facts.all("heif.picture")
    assert fact.value["kind"] == "thumbnail" and max(fact.value["size_px"]) == 96 and fact.value["of"] == [1]
    assert fact.offset is not None and data.index(b"mdat") < fact.offset < len(data)
    assert [f.severity for f in told(data, tmp_path) if "preview" in f.claim.claim] == ["benign"]


def test_a_thumbnail_of_another_picture_is_suspect(tmp_path: Path) -> None:
    forged = with_thumbnail_of(heic(picture(320, 240), thumbnails=(96,)), heic(SECOND, thumbnails=(96,)), tmp_path)
    (claim,) = [f for f in told(forged, tmp_path) if f.severity != "benign"]
    assert claim.claim.claim == "An embedded preview shows another picture"


def test_a_part_that_the_thumbnail_shows_otherwise_is_suspect(tmp_path: Path) -> None:
    after = SECOND.copy()
    after[80:160, 120:200] = 255 - after[80:160, 120:200]
    forged = with_thumbnail_of(heic(after, thumbnails=(96,)), heic(SECOND, thumbnails=(96,)), tmp_path)
    assert [f.claim.claim for f in told(forged, tmp_path) if f.severity == "suspect"] == [
        "A part of the picture is not as its preview shows it"
    ]


@pytest.mark.parametrize(("name", "kind"), [(ALPHA, "alpha"), (DEPTH, "depth map"), (GAIN, "gain map")])
def test_auxiliary_pictures_are_named_and_accuse_nobody(tmp_path: Path, name: bytes, kind: str) -> None:
    rgba = np.dstack([picture(320, 240), np.full((240, 320), 128, np.uint8)])
    data = heic(rgba).replace(ALPHA, name)
    (fact,) = facts_of(data, tmp_path).all("heif.picture")
    assert (fact.value["kind"], fact.value["size_px"]) == (kind, [320, 240])
    findings = told(data, tmp_path)
    assert {f.severity for f in findings} == {"benign"}
    said = [f.claim.claim for f in findings if "maps that belong" in f.claim.claim]
    assert said == ([] if kind == "alpha" else [f"The file holds maps that belong to its picture (1 {kind})"])


def test_a_hidden_picture_stands_in_the_sentence_on_top(tmp_path: Path) -> None:
    data = heic(picture(320, 240), SECOND)
    assert kinds(facts_of(data, tmp_path)) == ["further picture"]
    at = data.rindex(b"infe") + 7
    hidden = data[:at] + b"\x01" + data[at + 1 :]
    assert kinds(facts_of(hidden, tmp_path)) == ["hidden picture"]
    report = forensix.analyze(tmp_path / "a.heic", tasks=["forensic_analysis"])
    assert report.headline.startswith("The file holds a picture that no viewer shows; ")
    assert report.verdicts == {"forensic_analysis": "benign"}


def patched(name: bytes, skip: int, value: bytes) -> bytes:
    """Return a file with a thumbnail, other bytes in one of its tables."""
    data = heic(picture(320, 240), thumbnails=(96,))
    at = data.index(name) + 4 + skip
    return data[:at] + value + data[at + len(value) :]


@pytest.mark.parametrize(
    ("name", "skip", "value"),
    [
        (b"iinf", 4, b"\xff\xff"),  # items beyond number
        (b"iloc", 6, b"\xff\xff"),
        (b"ipma", 4, b"\xff\xff\xff\xff"),
        (b"thmb", 0, b"\x00\x02\xff\xff"),  # a thumbnail of pictures beyond number
        (b"thmb", 0, b"\x00\x02\x00\x01\x00\x02"),  # of itself
        (b"thmb", -8, b"\x00\x00\x00\x00"),  # in a box without size
        (b"ispe", 4, b"\xff" * 8),  # pictures of 2^64 pixels
        (b"pitm", 4, b"\xff\xff"),
        (b"iref", 0, b"\xff" * 4),
    ],
)
def test_damaged_tables_end_soon_and_without_an_error(tmp_path: Path, name: bytes, skip: int, value: bytes) -> None:
    start = time.process_time()
    facts = facts_of(patched(name, skip, value), tmp_path)
    assert facts.get("heif.brands") and time.process_time() - start < LIMIT_S


def test_a_file_cut_anywhere_is_told_and_never_an_error(tmp_path: Path) -> None:
    data = heic(picture(320, 240), thumbnails=(96,))
    start = time.process_time()
    for length in range(30, len(data), max(1, len(data) // 60)):
        facts = facts_of(data[:length], tmp_path)
        # Its thumbnail is not set against a picture of which a part is lost.
        assert facts.problems and not facts.pictures
    assert time.process_time() - start < 6 * LIMIT_S
