"""What photographs inside a PDF say of themselves: device, program, dates and place of their own EXIF.

Programs that put a JPEG into a document as it is leave its records in it. They outlive what the document says of
itself. ``pdf.picture`` is a dict for each picture that says anything, with those of ``make``, ``model``,
``software``, ``taken``, ``changed``, ``latitude`` and ``longitude`` that are there.
"""

import io
from collections.abc import Iterator
from typing import Any

import pikepdf
from PIL import Image, UnidentifiedImageError

from forensix.metadata.blocks import exif
from forensix.metadata.facts import Fact
from forensix.metadata.pdf.streams import FAULTS, JPEG_HEAD_BYTES, jpeg

PICTURES = 200
LENGTH = 200
KEYS = {
    "make": "exif.Make",
    "model": "exif.Model",
    "software": "exif.Software",
    "taken": "exif.DateTimeOriginal",
    "changed": "exif.ModifyDate",
    "latitude": "gps.latitude",
    "longitude": "gps.longitude",
}


def facts(pdf: pikepdf.Pdf, objects: int) -> Iterator[Fact]:
    """Yield ``pdf.picture`` for the first pictures among as many ``objects`` of a document."""
    left = PICTURES
    for item in list(pdf.objects)[:objects]:
        if not isinstance(item, pikepdf.Stream) or item.get("/Subtype") != "/Image" or left <= 0:
            continue
        try:
            head = jpeg(item, JPEG_HEAD_BYTES)
        except FAULTS:
            head = b""
        if head is None:
            continue
        left -= 1
        record = _record(head)
        if record:
            yield Fact("pdf.picture", record, f"picture, object {item.objgen[0]}")


def _record(head: bytes) -> dict[str, Any]:
    try:
        with Image.open(io.BytesIO(head), formats=("JPEG",)) as image:
            block = image.info.get("exif")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return {}
    if not isinstance(block, bytes):
        return {}
    read = {f.key: f.value for f in reversed(exif.parse(block.removeprefix(b"Exif\0\0"), "EXIF").facts)}
    values = {name: read.get(key) for name, key in KEYS.items()}
    kept = {k: str(v).strip()[:LENGTH] if isinstance(v, str) else v for k, v in values.items()}
    return {k: v for k, v in kept.items() if isinstance(v, float) or (isinstance(v, str) and v.strip(" \0:0"))}
