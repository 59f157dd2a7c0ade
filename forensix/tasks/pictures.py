"""Arrays to pictures that can stand in a string: data URIs, JPEG for photographs and PNG for the rest."""

import base64
import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

JPEG_QUALITY = 88
MAX_SIDE_PX = 640


def jpeg_uri(rgb: NDArray[np.uint8], *, max_side_px: int = MAX_SIDE_PX) -> str:
    """Return a picture, uint8 (H, W, 3), shrunk to at most ``max_side_px``, as a JPEG data URI."""
    picture = Image.fromarray(rgb)
    picture.thumbnail((max_side_px, max_side_px))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return _uri(buffer.getvalue(), "jpeg")


def encoded_uri(data: bytes) -> str:
    """Return an encoded JPEG or PNG of our own making as a data URI."""
    return _uri(data, "png" if data.startswith(b"\x89PNG") else "jpeg")


def is_wide(data: bytes) -> bool:
    """Tell whether an encoded picture of our own making is more than twice as wide as high."""
    with Image.open(io.BytesIO(data)) as picture:
        return picture.width > 2 * picture.height


def boxed(rgb: NDArray[np.uint8], boxes: NDArray[np.floating], labels: list[str]) -> NDArray[np.uint8]:
    """Draw labelled boxes, float (n, 4) xyxy in pixels of the picture."""
    from PIL import ImageDraw

    picture = Image.fromarray(rgb)
    draw = ImageDraw.Draw(picture)
    line_px = max(2, round(max(rgb.shape[:2]) / 300))
    for box, label in zip(np.asarray(boxes).tolist(), labels, strict=True):
        draw.rectangle(box, outline=(255, 176, 0), width=line_px)
        draw.text(
            (box[0] + line_px, max(0, box[1] - 12)), label, fill=(255, 176, 0), stroke_width=1, stroke_fill=(0, 0, 0)
        )
    return np.asarray(picture)


def _uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
