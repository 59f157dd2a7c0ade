"""EXIF directories: values with their places, and what a broken directory says."""

import math
import struct

import pytest

from forensix.metadata.blocks import exif
from tests.metadata import making_images as make


def read(block: bytes, **kwargs: object) -> exif.Tiff:
    return exif.parse(block, "EXIF", 100, **kwargs)


def values(tiff: exif.Tiff) -> dict[str, object]:
    return {f.key: f.value for f in tiff.facts}


def test_values_and_offsets() -> None:
    block = make.tiff_block(
        [(0x010F, make.ASCII, "Maker"), (0x0110, make.ASCII, "Model One"), (0x0112, make.SHORT, 6)],
        exif=[(0x9003, make.ASCII, "2020:01:02 03:04:05"), (0xA431, make.ASCII, "SN-77")],
    )
    tiff = read(block)
    assert not tiff.problems
    by_key = values(tiff)
    assert by_key["exif.Make"] == "Maker"
    assert by_key["exif.Orientation"] == 6
    assert by_key["exif.DateTimeOriginal"] == "2020:01:02 03:04:05"
    assert by_key["device.serial"] == "SN-77"
    fact = next(f for f in tiff.facts if f.key == "exif.Model")
    assert block[fact.offset - 100 :].startswith(b"Model One\0")


def test_a_directory_that_is_named_twice_is_a_small_fault_and_a_loop_a_grave_one() -> None:
    exif_tags, gps = [(0x9003, make.ASCII, "2020")], [(5, make.SHORT, 1)]
    block = bytearray(make.tiff_block([(0x010F, make.ASCII, "M")], exif=exif_tags, gps=gps))
    pointers = [block.index(struct.pack("<HHI", tag, make.LONG, 1)) + 8 for tag in (make.EXIF_IFD, make.GPS_IFD)]
    block[pointers[1] : pointers[1] + 4] = block[pointers[0] : pointers[0] + 4]
    assert [p.grave for p in exif.parse(bytes(block), "EXIF").problems] == [False]
    block[pointers[1] : pointers[1] + 4] = struct.pack("<I", 8)
    assert [p.grave for p in exif.parse(bytes(block), "EXIF").problems] == [True]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_letters_of_either_encoding(encoding: str) -> None:
    block = make.tiff_block([(0x013B, make.ASCII, "#####ller")]).replace(b"#####ller", "Mü".encode(encoding).ljust(9))
    assert values(read(block))["exif.Artist"] == "Mü"


@pytest.mark.parametrize(("marks", "signs"), [(("N", "E"), (1, 1)), (("S", "W"), (-1, -1))])
def test_position(marks: tuple[str, str], signs: tuple[int, int]) -> None:
    block = make.tiff_block(
        [(0x010F, make.ASCII, "Maker")],
        gps=[
            (1, make.ASCII, marks[0]),
            (2, make.RATIONAL, [46, 30, 36]),
            (3, make.ASCII, marks[1]),
            (4, make.RATIONAL, [7, 15, 0]),
        ],
    )
    by_key = values(read(block))
    assert by_key["gps.latitude"] == pytest.approx(signs[0] * 46.51)
    assert by_key["gps.longitude"] == pytest.approx(signs[1] * 7.25)


@pytest.mark.parametrize(
    ("code", "text", "raw"),
    [
        ("ASCII", "Screenshot", b"ASCII\0\0\0Screenshot"),
        ("ASCII", "Größe", b"ASCII\0\0\0" + "Größe".encode("latin-1")),
        ("UNICODE", "Größe", b"UNICODE\0" + "Größe".encode("utf-16-be")),
        ("UNICODE", "Größe", b"UNICODE\0" + "Größe".encode("utf-16-le")),
    ],
)
def test_user_comment(code: str, text: str, raw: bytes) -> None:
    block = make.tiff_block([(0x010F, make.ASCII, "M")], exif=[(0x9286, make.UNDEFINED, raw)])
    assert values(read(block))["exif.UserComment"] == text


def test_names_that_were_written_as_bytes_are_words() -> None:
    block = make.tiff_block([(0x010F, make.UNDEFINED, b"Google\0"), (0x0110, make.UNDEFINED, b"Cuttlefish")])
    assert [values(read(block))[key] for key in ("exif.Make", "exif.Model")] == ["Google", "Cuttlefish"]


def test_thumbnail_is_handed_on() -> None:
    small = make.encoded(make.gradient(32, 24))
    tiff = read(make.tiff_block([(0x010F, make.ASCII, "M")], thumbnail=small))
    assert tiff.thumbnails[0][1] == small


@pytest.mark.parametrize(("missing", "grave"), [(0, False), (9, True)], ids=["a whole thumbnail", "a cut one"])
def test_a_thumbnail_that_is_said_to_be_a_byte_longer_than_its_block_is_a_fault_only_where_some_of_it_is_gone(
    missing: int, grave: bool
) -> None:
    small = make.encoded(make.gradient(32, 24))
    block = bytearray(make.tiff_block([(0x010F, make.ASCII, "M")], thumbnail=small))
    at = block.index(struct.pack("<HHII", 0x0202, make.LONG, 1, len(small))) + 8
    struct.pack_into("<I", block, at, len(small) + 1)
    (problem,) = read(bytes(block[: len(block) - missing])).problems
    assert "past the end of its block" in problem.message and problem.grave is grave


def test_directory_that_points_to_itself() -> None:
    block = bytearray(make.tiff_block([(0x0112, make.SHORT, 1)]))
    struct.pack_into("<I", block, 8 + 2 + 12, 8)
    tiff = read(bytes(block))
    assert any("read already" in p.message for p in tiff.problems)


def test_value_past_the_end() -> None:
    block = bytearray(make.tiff_block([(0x010F, make.ASCII, "A long name of a maker")]))
    struct.pack_into("<I", block, 8 + 2 + 8, 1 << 20)
    tiff = read(bytes(block))
    assert any("past the end" in p.message and p.grave for p in tiff.problems)


def test_unknown_format_and_order_mark() -> None:
    block = bytearray(make.tiff_block([(0x010F, make.ASCII, "M"), (0x0112, make.SHORT, 1)]))
    struct.pack_into("<H", block, 8 + 2 + 2, 77)
    tiff = read(bytes(block))
    assert values(tiff)["exif.Orientation"] == 1
    assert any("unknown format 77" in p.message for p in tiff.problems)
    assert any("byte-order" in p.message for p in read(b"XX*\0" + bytes(8)).problems)


def test_many_sub_directories_are_bounded() -> None:
    block = make.tiff_block([(0x014A, make.LONG, list(range(8, 8 + 5000)))])
    tiff = read(block)
    assert any("5000 sub-directories" in p.message for p in tiff.problems)
    assert len(tiff.nodes) <= exif.MAX_DIRECTORIES


@pytest.mark.parametrize("degrees", [math.nan, math.inf])
def test_a_position_that_is_no_number_is_none(degrees: float) -> None:
    """Two numbers of double precision, where three fractions are usual."""
    values = struct.pack("<4d", degrees, 0, 12.5, 0)
    entries = b"".join(struct.pack("<HHII", tag, 12, 2, at) for tag, at in ((2, 56), (4, 72)))
    gps = struct.pack("<H", 2) + entries + bytes(4)
    block = b"II*\0" + struct.pack("<IHHHIII", 8, 1, make.GPS_IFD, make.LONG, 1, 26, 0) + gps + values
    assert [f.key for f in read(block).facts if f.key.startswith("gps.")] == ["gps.longitude"]


def test_a_title_of_another_type_hides_nothing_behind_it() -> None:
    block = make.tiff_block([(0x9C9B, make.SHORT, [300, 301, 302]), (0x9C9C, make.RATIONAL, [1.5])])
    facts = values(read(block))
    assert facts["exif.XPTitle"] == [300, 301, 302] and facts["exif.XPComment"] == 1.5
