"""Whether a picture in a PDF lets through what lies below it: most that have a mask do, and some are opaque all over.

References
----------
ISO 32000-2:2020, 8.9.6 (masks of pictures), 11.6.5.2 (soft masks of pictures).
"""

import io
from dataclasses import dataclass, field

import numpy as np
import pikepdf
from numpy.typing import NDArray
from PIL import Image

from forensix.metadata.pdf.streams import FAULTS, JPEG_HEAD_BYTES, inflated, jpeg

MASK_BYTES = 24 << 20
TOTAL_BYTES = 48 << 20
OPAQUE = 250
"""Value of a soft mask, of 255, from which nothing is seen of what lies below."""
SHARE = 0.98
"""Of a picture that is opaque, so much is at least."""


@dataclass
class Masks:
    """Looks at the masks of a document's pictures, within bounds and each once."""

    n_bytes: int = TOTAL_BYTES
    known: dict[tuple[int, int], bool | None] = field(default_factory=dict)

    def lets_through(self, picture: pikepdf.Stream) -> bool | None:
        """Return whether a picture with a mask shows what lies below; ``None`` where the mask could not be read."""
        key = picture.objgen
        if not key[0] or key not in self.known:
            try:
                self.known[key] = self._looked_at(picture)
            except (*FAULTS, OSError, SyntaxError):
                self.known[key] = None
        return self.known[key]

    def _looked_at(self, picture: pikepdf.Stream) -> bool | None:
        mask = picture.get("/SMask", picture.get("/Mask"))
        if not isinstance(mask, pikepdf.Stream):
            # A colour that is left out.
            return mask is not None
        width, height = int(mask.Width), int(mask.Height)
        bits = 1 if mask.get("/ImageMask") else int(mask.get("/BitsPerComponent", 8))
        n_bytes = -(-width * bits // 8) * height
        if bits not in (1, 8) or min(width, height) < 1 or n_bytes > min(MASK_BYTES, self.n_bytes):
            return None
        self.n_bytes -= n_bytes
        values = _values(mask, n_bytes)
        if values is None:
            return None
        # In a stencil a 1 leaves out, in a soft mask it is opaque.
        turned = list(map(float, mask.get("/Decode", ()))) == [1.0, 0.0]
        if turned != bool(mask.get("/ImageMask")):
            values = 255 - values
        return _n_opaque(values.reshape(height, -1), width, bits) < SHARE * width * height


def _n_opaque(rows: NDArray[np.uint8], width: int, bits: int) -> int:
    """Return how many pixels of a mask are opaque, of a byte or of a bit each."""
    if bits == 8:
        return int((rows >= OPAQUE).sum())
    beyond = rows[:, -1] & np.uint8((1 << -width % 8) - 1)
    return int(np.bitwise_count(rows).sum(dtype=np.int64) - np.bitwise_count(beyond).sum(dtype=np.int64))


def _values(mask: pikepdf.Stream, n_bytes: int) -> NDArray[np.uint8] | None:
    """Return the bytes of a mask, ``n_bytes`` of them; nothing of one that cannot be read."""
    encoded = jpeg(mask, n_bytes + JPEG_HEAD_BYTES)
    if encoded is not None:
        with Image.open(io.BytesIO(encoded), formats=("JPEG",)) as picture:
            # What the picture states itself is not held to what the document states of it.
            raw = picture.tobytes() if picture.mode == "L" and picture.width * picture.height == n_bytes else b""
    else:
        raw = inflated(mask, n_bytes)
    return np.frombuffer(raw, np.uint8) if len(raw) == n_bytes else None
