"""Photographs inside a PDF that keep records of their own."""

import base64
import zlib
from pathlib import Path

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String

from forensix.forensics import claims
from forensix.metadata.pdf import reader as pdf
from tests.metadata import making_images as make

TAKEN = "2023:05:06 07:08:09"
TAGS = [(0x010F, make.ASCII, "Maker"), (0x0110, make.ASCII, "Maker One"), (0x0131, make.ASCII, "GIMP 2.10")]


def holding(
    tmp_path: Path, data: bytes, made: str = "D:20230601000000Z", filters: tuple[str, ...] = ("DCTDecode",)
) -> Path:
    with pikepdf.new() as document:
        page = document.add_blank_page(page_size=(200, 200))
        entries = {"/Type": Name.XObject, "/Subtype": Name.Image, "/Width": 64, "/Height": 64, "/BitsPerComponent": 8}
        names = [Name(f"/{name}") for name in filters]
        how = Array(names) if len(names) > 1 else names[0]
        picture = Stream(document, data, {**entries, "/ColorSpace": Name.DeviceRGB, "/Filter": how})
        page.obj.Resources = Dictionary(XObject=Dictionary(A=picture))
        page.obj.Contents = Stream(document, b"q 90 0 0 90 50 50 cm /A Do Q")
        page.obj.Annots = Array([])
        document.docinfo["/CreationDate"] = String(made)
        document.save(tmp_path / "a.pdf", stream_decode_level=pikepdf.StreamDecodeLevel.none)
    return tmp_path / "a.pdf"


def photograph(taken: str = TAKEN) -> bytes:
    return make.jpeg(make.exif_segment(make.tiff_block(TAGS, exif=[(0x9003, make.ASCII, taken)])))


def test_what_a_photograph_says_of_itself_is_told(tmp_path: Path) -> None:
    read = pdf.read(str(holding(tmp_path, photograph())))
    (fact,) = read.all("pdf.picture")
    assert fact.value == {"make": "Maker", "model": "Maker One", "software": "GIMP 2.10", "taken": TAKEN}
    (claim,) = [f for f in claims(read) if "records of their own" in f.claim.claim]
    assert claim.severity == "benign"
    assert claim.claim.value[0].endswith(f"Maker One, software GIMP 2.10, taken {TAKEN}")


def in_85(data: bytes) -> bytes:
    return base64.a85encode(data, wrapcol=72) + b"~>"


@pytest.mark.parametrize(
    ("data", "filters"),
    [
        (in_85(photograph()), ("ASCII85Decode", "DCTDecode")),
        (photograph().hex().encode() + b">", ("ASCIIHexDecode", "DCTDecode")),
        (in_85(zlib.compress(photograph())), ("ASCII85Decode", "FlateDecode", "DCTDecode")),
    ],
    ids=["base 85", "hex", "base 85 and deflated"],
)
def test_a_photograph_that_is_wrapped_in_other_filters_is_told(
    tmp_path: Path, data: bytes, filters: tuple[str, ...]
) -> None:
    (fact,) = pdf.read(str(holding(tmp_path, data, filters=filters))).all("pdf.picture")
    assert fact.value["taken"] == TAKEN


@pytest.mark.parametrize(
    ("data", "filters"),
    [
        (b"\xff\xfe" + in_85(photograph()), ("ASCII85Decode", "DCTDecode")),
        (zlib.compress(photograph())[10:], ("FlateDecode", "DCTDecode")),
        (zlib.compress(bytes(1 << 24)), ("FlateDecode", "DCTDecode")),
        (in_85(photograph()), ("ASCII85Decode",)),
        (photograph(), ("LZWDecode", "DCTDecode")),
        (photograph(), ("FlateDecode",) * 8 + ("DCTDecode",)),
    ],
    ids=["no base 85", "not deflated", "large", "no JPEG", "another filter", "many filters"],
)
def test_filters_that_lead_to_no_photograph(tmp_path: Path, data: bytes, filters: tuple[str, ...]) -> None:
    assert not list(pdf.read(str(holding(tmp_path, data, filters=filters))).all("pdf.picture"))


@pytest.mark.parametrize(("made", "young"), [("D:20230505000000Z", False), ("D:20190102000000Z", True)])
def test_a_photograph_is_not_younger_than_the_document(tmp_path: Path, made: str, young: bool) -> None:
    found = claims(pdf.read(str(holding(tmp_path, photograph(), made))))
    assert (
        any("picture in the document is younger" in f.claim.claim and f.severity == "suspect" for f in found) == young
    )


@pytest.mark.parametrize(
    "data", [make.jpeg(), b"\xff\xd8\xff\xe1\xff\xffExif\0\0MM", b"", photograph("0000:00:00 00:00:00")[:60]]
)
def test_pictures_that_say_nothing(tmp_path: Path, data: bytes) -> None:
    read = pdf.read(str(holding(tmp_path, data)))
    assert not list(read.all("pdf.picture"))
    assert not any("cannot be read" in p.message for p in read.problems)
