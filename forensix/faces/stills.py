"""Small pictures of the frames that were looked at, so that what was found can be shown without decoding again."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from forensix.faces.crop import resized

if TYPE_CHECKING:
    from forensix.media import Frame

STILL_PX = 480
"""Longest side of a still, but of wide strips and tall columns, which have as many pixels as one of 16 to 9."""

MAX_STILLS = 240
"""Stills kept of a video, spread evenly: 5 MB."""

_QUALITY = 80


@dataclass(frozen=True, eq=False)
class Still:
    """One frame as a JPEG; ``scale`` is the size of the original over that of the still."""

    index: int
    ms: float
    scale: float
    jpeg: bytes

    @property
    def rgb(self) -> np.ndarray:
        """The picture, uint8 (H, W, 3)."""
        with Image.open(io.BytesIO(self.jpeg)) as picture:
            return np.asarray(picture.convert("RGB"))


class Stills:
    """Keeps every ``stride``-th frame; when there are too many, drops every other one and doubles the stride."""

    def __init__(self) -> None:
        self.kept: list[Still] = []
        self._stride, self._seen = 1, 0

    def add(self, frame: "Frame") -> None:
        """Keep a frame, or not."""
        self._seen += 1
        if (self._seen - 1) % self._stride:
            return
        height, width = frame.rgb.shape[:2]
        scale = max(1.0, min(max(width, height) / STILL_PX, (width * height / (STILL_PX**2 * 9 / 16)) ** 0.5))
        small = frame.rgb
        if scale > 1:
            small = resized(small, (max(1, round(width / scale)), max(1, round(height / scale))))
        buffer = io.BytesIO()
        Image.fromarray(small).save(buffer, "JPEG", quality=_QUALITY)
        self.kept.append(Still(frame.index, frame.ms, frame.scale * scale, buffer.getvalue()))
        if len(self.kept) > MAX_STILLS:
            del self.kept[1::2]
            self._stride *= 2
