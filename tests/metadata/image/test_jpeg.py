"""JPEG segments, tables and what stands behind the end."""

import struct

import pytest

from forensix.metadata.image import jpeg, jpeg_tables
from tests.metadata import making_images as make


def values(parts: jpeg.Parts) -> dict[str, object]:
    return {f.key: f.value for f in parts.facts}


@pytest.mark.parametrize("quality", [10, 50, 75, 92, 100])
def test_standard_tables_tell_their_quality(quality: int) -> None:
    parts = jpeg.parse(make.jpeg(quality=quality))
    assert values(parts)["jpeg.maker"] == {"maker": "standard", "quality": quality, "tables": 2}


def test_own_tables_are_told_apart() -> None:
    table = list(jpeg_tables.standard(80, False))
    table[20] += 1
    image = make.encoded(make.gradient(), qtables=[table, list(jpeg_tables.standard(80, True))])
    by_key = values(jpeg.parse(image))["jpeg.maker"]
    assert by_key["maker"] == "own"
    assert abs(by_key["nearest"] - 80) <= 1


def test_segments_tile_the_file() -> None:
    data = make.jpeg(make.segment(0xFE, b"hello"), make.segment(0xEC, b"Ducky\0\1\0\4\0\0\0\x3c"))
    parts = jpeg.parse(data)
    assert not parts.problems
    assert sum(node.size for node in parts.nodes) == len(data)
    by_key = values(parts)
    assert by_key["jpeg.comment"] == "hello"
    assert by_key["jpeg.ducky"] == 60


def test_comment_offset_points_at_its_text() -> None:
    data = make.jpeg(make.segment(0xFE, b"find me"))
    fact = next(f for f in jpeg.parse(data).facts if f.key == "jpeg.comment")
    assert data[fact.offset :].startswith(b"find me")


def test_progressive_and_sampling() -> None:
    data = make.encoded(make.gradient(), progressive=True, subsampling=0)
    by_key = values(jpeg.parse(data))
    assert by_key["jpeg.frame"]["process"] == "progressive"
    assert by_key["jpeg.frame"]["sampling"] == ["1x1", "1x1", "1x1"]
    assert by_key["jpeg.scans"] > 1


def test_truncation_is_told() -> None:
    data = make.jpeg()
    assert any("end-of-image" in p.message for p in jpeg.parse(data[:-40]).problems)


@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        (b"PK\x03\x04" + bytes(range(60)), "a ZIP archive"),
        (b"PK\x03\x04" + bytes(500), "a ZIP archive"),
        (make.jpeg(), "a JPEG"),
        (b"\x13\x57" * 40, "data of no known kind"),
    ],
)
def test_data_after_the_end(tail: bytes, kind: str) -> None:
    data = make.jpeg(tail=tail)
    fact = next(f for f in jpeg.parse(data).facts if f.key == "file.trailer")
    assert fact.value["kind"] == kind
    assert fact.offset == len(data) - len(tail)


def _with_index(preview: bytes, aside: int = 0) -> bytes:
    """Return a JPEG whose index names a preview behind it, by so many bytes aside of where it will stand."""

    def whole(size: int) -> bytes:
        # Two entries: the picture itself, at 0, and the preview behind it, counted from the index's own start.
        entries = struct.pack("<IIIHH", 0x030000, size, 0, 0, 0)
        entries += struct.pack("<IIIHH", 0x010001, len(preview), max(0, size - 10 + aside), 0, 0)
        block = b"II*\0" + struct.pack("<IHHHI4sHHIII", 8, 2, 0xB000, 7, 4, b"0100", 0xB002, 7, 32, 38, 0) + entries
        return make.jpeg(make.segment(0xE2, b"MPF\0" + block), tail=b"")

    return whole(len(whole(0)))


@pytest.mark.parametrize("tail", [b"", bytes(300), b"PK\x03\x04" + bytes(range(1, 200))])
def test_data_behind_a_picture_that_an_index_names_is_told(tail: bytes) -> None:
    preview = make.jpeg()
    first = _with_index(preview)
    facts = jpeg.parse(first + preview + tail).facts
    (index,) = (f.value for f in facts if f.key == "jpeg.mpf")
    assert [(p["offset"], p["size"]) for p in index] == [(0, len(first)), (len(first), len(preview))]
    trailers = [(f.value["kind"], f.offset) for f in facts if f.key == "file.trailer"]
    assert trailers == ([("a ZIP archive", len(first + preview))] if tail[:2] == b"PK" else [])


@pytest.mark.parametrize("aside", [-40, 40])
@pytest.mark.parametrize(
    ("behind", "told"), [(make.jpeg(), []), (b"PK\x03\x04" + bytes(range(1, 200)) * 3, ["a ZIP archive"])]
)
def test_an_index_that_points_aside_announces_pictures_and_nothing_else(
    behind: bytes, told: list[str], aside: int
) -> None:
    # The file goes on so far that the index leads nowhere behind it.
    parts = jpeg.parse(_with_index(behind, aside) + behind + bytes(60))
    assert [f.value["kind"] for f in parts.facts if f.key == "file.trailer"] == told


def test_padding_is_no_trailer() -> None:
    by_key = values(jpeg.parse(make.jpeg(tail=bytes(500))))
    assert "file.trailer" not in by_key
    assert by_key["jpeg.padding"] == 500


def test_iptc_digest() -> None:
    record = b"\x1c\x02\x78" + (5).to_bytes(2, "big") + b"title"
    data = make.jpeg(make.photoshop_segment(make.resource(0x0404, record), make.resource(0x0425, bytes(16))))
    by_key = values(jpeg.parse(data))
    assert by_key["iptc.Caption"] == "title"
    assert by_key["iptc.digest"] != by_key["iptc.digest_now"]


@pytest.mark.parametrize(
    ("coding", "raw", "said"),
    [
        (b"", "Zürich – Café".encode("cp1252"), "Zürich – Café"),
        (b"", "Zürich".encode(), "Zürich"),
        (b"", "Zürich, é".encode()[:-1], "Zürich,"),
        (b"\x1b%G", b"Z\xfcrich", "Z\ufffdrich"),
    ],
    ids=["western", "UTF-8", "UTF-8, cut", "not the UTF-8 that it says"],
)
def test_words_of_iptc_are_read_in_their_letters(coding: bytes, raw: bytes, said: str) -> None:
    rows = [(1, 90, coding), (2, 90, raw)]
    block = b"".join(bytes([0x1C, part, row]) + len(value).to_bytes(2, "big") + value for part, row, value in rows)
    by_key = values(jpeg.parse(make.jpeg(make.photoshop_segment(make.resource(0x0404, block)))))
    assert by_key["iptc.City"] == said


def test_xmp_in_two_parts() -> None:
    packet = make.xmp_packet('xmp:CreatorTool="Program 1"')
    extension = (
        b"http://ns.adobe.com/xmp/extension/\0"
        + b"0" * 32
        + (0).to_bytes(4, "big") * 2
        + make.xmp_packet('photoshop:Credit="Somebody"').encode()
    )
    by_key = values(jpeg.parse(make.jpeg(make.xmp_segment(packet), make.segment(0xE1, extension))))
    assert by_key["xmp.xmp.CreatorTool"] == "Program 1"
    assert by_key["xmp.photoshop.Credit"] == "Somebody"


def test_an_extension_that_was_cut_anew_where_segments_were_full_is_read_whole() -> None:
    packet = make.xmp_packet('photoshop:Credit="Somebody" photoshop:Instructions="' + 150_000 * "a" + '"').encode()
    pieces = [packet[at : at + 65_400] for at in range(0, len(packet), 65_400)]
    parts = b"".join(
        b"http://ns.adobe.com/xmp/extension/\0"
        + b"0" * 32
        + len(packet).to_bytes(4, "big")
        + (65_400 * nth).to_bytes(4, "big")
        + piece
        for nth, piece in enumerate(pieces)
    )
    full = 0xFFFF - 2
    cut = [make.segment(0xE1, parts[at : at + full]) for at in range(0, len(parts), full)]
    other = make.segment(0xE1, b"Somebody's\0own")
    parsed = jpeg.parse(make.jpeg(*cut, other))
    assert len(cut) == 3 and values(parsed)["xmp.photoshop.Credit"] == "Somebody" and not parsed.problems
    segments = [f.value for f in parsed.facts if f.key == "jpeg.app" and str(f.value).startswith("APP1")]
    assert segments == [*3 * ["APP1 XMP extension"], "APP1 Somebody's"]


def test_an_extension_that_holds_nothing_is_no_fault() -> None:
    empty = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32 + bytes(8)
    assert not jpeg.parse(make.jpeg(make.segment(0xE1, empty), make.segment(0xE1, empty[:50]))).problems
