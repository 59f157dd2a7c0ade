"""Arrays to pictures that can stand in a string: data URIs, JPEG for photographs and PNG for the rest."""

import base64
import io
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

JPEG_QUALITY = 88
MAX_SIDE_PX = 640

_COLOURS = ((38, 103, 172), (214, 214, 214), (190, 74, 16))
"""Of the scores 0, 0.5 and 1: people with any of the usual colour vision deficiencies tell them apart."""

_NEUTRAL = (150, 156, 164)
_RIM_PX = 2
"""Around the letters of a label."""


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


def score_colour(score: float | None) -> tuple[int, int, int]:
    """Return the colour of a score, RGB 0 to 255: blue at 0, grey, orange at 1; ``None`` is neutral."""
    if score is None or not math.isfinite(score):
        return _NEUTRAL
    score = min(max(score, 0.0), 1.0)
    low, high, t = (_COLOURS[0], _COLOURS[1], score * 2) if score < 0.5 else (_COLOURS[1], _COLOURS[2], score * 2 - 1)
    red, green, blue = (round(a + (b - a) * t) for a, b in zip(low, high, strict=True))
    return red, green, blue


def outlined(
    rgb: NDArray[np.uint8],
    boxes: NDArray[np.floating],
    labels: Sequence[str],
    colours: Sequence[tuple[int, int, int]],
    *,
    line_px: int | None = None,
) -> NDArray[np.uint8]:
    """Draw labelled boxes, float (n, 4) xyxy in pixels of the picture, each in its colour on a dark rim.

    Lines are drawn inward, ``line_px`` wide; without it they are as wide as suits the size of the picture.
    A label that would lie on one of an earlier box is left out: of many faces those named first can be read.
    """
    picture = Image.fromarray(rgb)
    draw = ImageDraw.Draw(picture)
    # Strips and columns are drawn on like a picture of 16 to 9 that has as many pixels.
    side_px = min(max(rgb.shape[:2]), (picture.width * picture.height * 16 / 9) ** 0.5)
    line_px, size_px = line_px or max(2, round(side_px / 200)), max(12, round(side_px / 26))
    font = ImageFont.load_default(size_px)
    for (x1, y1, x2, y2), colour in zip(np.asarray(boxes).tolist(), colours, strict=True):
        draw.rectangle((x1 - 1, y1 - 1, x2 + 1, y2 + 1), outline=(0, 0, 0), width=line_px + 2)
        draw.rectangle((x1, y1, x2, y2), outline=colour, width=line_px)
    taken: list[tuple[float, float, float, float]] = []
    for (x1, y1, *_), label in zip(np.asarray(boxes).tolist(), labels, strict=True):
        last = picture.width - draw.textlength(label, font=font) - _RIM_PX
        place = max(0, min(x1 + line_px, last)), max(0, y1 - 1.4 * size_px)
        area = draw.textbbox(place, label, font=font, stroke_width=_RIM_PX)
        if label and not any(_overlap(area, other) for other in taken):
            draw.text(place, label, font=font, fill=(255, 255, 255), stroke_width=_RIM_PX, stroke_fill=(0, 0, 0))
            taken.append(area)
    return np.asarray(picture)


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
