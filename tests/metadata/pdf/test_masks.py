"""Pictures with masks and shadings over the words of a page: what hides them, and what lets them through."""

import io
from pathlib import Path

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image

from forensix.metadata.pdf import reader as pdf
from tests.metadata.pdf.test_covers import statement, told

WIDTH, HEIGHT = 30, 8
PICTURE = ["A picture covers text (page 1)"]
OVER = b"q 60 0 0 16 128 696 cm /I Do Q"


def laid(tmp_path: Path, content: bytes, mask: bytes = b"", **entries: object) -> Path:
    """Draw a picture with a mask over the amount, or something else of the page's resources."""
    with pikepdf.open(statement(tmp_path / "a.pdf")) as document:
        size = {"Width": WIDTH, "Height": HEIGHT, "Subtype": Name.Image}
        grey = {"BitsPerComponent": 8, "ColorSpace": Name.DeviceGray}
        picture = Stream(document, bytes([255] * WIDTH * HEIGHT), **size, **grey)
        if mask:
            kind = "/Mask" if "ImageMask" in entries else "/SMask"
            picture[kind] = document.make_indirect(Stream(document, mask, **{**size, **grey, **entries}))
        function = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([1]), C1=Array([1]), N=1)
        shading = Dictionary(ShadingType=2, ColorSpace=Name.DeviceGray, Coords=Array([128, 0, 188, 0]))
        shading.Function = function
        document.pages[0].obj.Resources.XObject = Dictionary(I=document.make_indirect(picture))
        document.pages[0].obj.Resources.Shading = Dictionary(S=shading)
        document.pages[0].contents_add(Stream(document, content))
        document.save(tmp_path / "b.pdf")
    return tmp_path / "b.pdf"


def soft(opaque: float) -> bytes:
    """Return a mask of which a share is opaque, and nearly so in one place."""
    values = np.where(np.arange(WIDTH * HEIGHT) < opaque * WIDTH * HEIGHT, 255, 0).astype(np.uint8)
    values[0] = 254
    return values.tobytes()


def jpeg(value: int) -> bytes:
    out = io.BytesIO()
    Image.new("L", (WIDTH, HEIGHT), value).save(out, "JPEG")
    return out.getvalue()


STENCIL = {"ImageMask": True, "BitsPerComponent": 1}


@pytest.mark.parametrize(
    ("mask", "entries", "hides"),
    [
        (soft(1), {}, True),
        (soft(0.7), {}, False),
        (soft(0), {"Decode": Array([1, 0])}, True),
        (bytes(4 * HEIGHT), STENCIL, True),
        (b"\xff\xff\xff\xfc" * HEIGHT, STENCIL, False),
        (b"\xff\xff\xff\xfc" * HEIGHT, {**STENCIL, "Decode": Array([1, 0])}, True),
        (jpeg(255), {"Filter": Name.DCTDecode}, True),
        (jpeg(90), {"Filter": Name.DCTDecode}, False),
        (jpeg(90).hex().encode() + b">", {"Filter": Array([Name.ASCIIHexDecode, Name.DCTDecode])}, False),
    ],
    ids=["opaque", "in part", "turned", "stencil", "cut out", "turned stencil", "JPEG", "clear JPEG", "wrapped JPEG"],
)
def test_a_picture_whose_mask_is_opaque_hides_words(
    tmp_path: Path, mask: bytes, entries: dict[str, object], hides: bool
) -> None:
    path = laid(tmp_path, OVER, mask, **entries)
    assert told(path) == (PICTURE if hides else [])
    assert not pdf.read(str(path)).problems


def test_a_mask_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = laid(tmp_path, OVER, soft(1)[:20])
    (problem,) = pdf.read(str(path)).problems
    assert problem.unread and told(path) == []
    far = laid(tmp_path, OVER.replace(b"696", b"100"), soft(1)[:20])
    assert not pdf.read(str(far)).problems, "nothing stands where it lies"


def test_a_shading_over_an_amount_and_another_on_it(tmp_path: Path) -> None:
    words = b" BT /F1 11 Tf 132 700 Td (900.00) Tj ET"
    assert told(laid(tmp_path, b"q 128 696 60 16 re W n /S sh Q" + words)) == [
        "A filled box covers text, and other text is written on the box (page 1)"
    ]
    assert told(laid(tmp_path, b"q 128 600 60 16 re W n /S sh Q" + words)) == []
