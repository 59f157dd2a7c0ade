"""Invisible watermarks that the reference code of Stable Diffusion, SDXL and FLUX writes into its pictures.

The marks are known messages of 32 to 224 bits. The writer takes the blue difference of the colours, U = 0.492 (B - Y),
averages it over 2 x 2 pixels (the low band of a Haar transform) and walks blocks of 4 x 4 such values row by row; block
number k carries bit k modulo the length. In each block the largest value is moved to where the remainder of its
division by 36 is 9 for a zero and 27 for a one. So a picture of 512 x 512 px says every one of 136 bits thirty times.

The reader looks in each block for the value that stands out most from the block's median, as a moved value does, and
asks whether it was pulled up or down, given where the median lies between the two targets. The pulls are averaged by
position and correlated with the message. Without a mark the correlation is one of chance, and Student's t-test says how
likely it is; so the gate is a probability and not a number of bits, and pictures that are flat or repeat themselves,
which pull every position alike, correlate with nothing.

Positive evidence only: scaling and cropping lose the mark, as does JPEG with halved colour below quality 95, and most
programs never wrote one. A mark can be forged onto any picture by whoever wants to.

Two conventions are tried: the writer was fed bytes (Stable Diffusion 1 and 2; U is rounded and offset by 128) or
floating point numbers (SDXL and FLUX; neither), which moves the targets. FLUX's message is written with 46 of its 48
bits, as its code drops leading zeros.

References
----------
https://github.com/ShieldMnt/invisible-watermark, method ``dwtDct`` (which computes no DCT).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image

Values = NDArray[np.float32]

STEP = 36.0
"""Distance between equal remainders, in units of the low band: twice the mean of four pixels."""
BLOCK_PX = 8
MIN_PIXELS = 256 * 256
"""The writer refuses smaller pictures."""
MAX_PIXELS = 8_000_000
"""Of a larger picture the rows at the top are read: no generator writes larger ones, and they say the message often."""
PULL = 0.3
"""How far a value is pulled to its target once JPEG has blurred it; 1 would be all the way."""
MAX_PULL = 12.0
MAX_CHANCE = 1e-9
"""Marks that chance explains with a higher probability are not reported."""
MIN_T = 5.99
"""Student's t of a correlation that chance can explain with that probability at most, however many the bits."""


def _bits(text: bytes) -> str:
    return "".join(f"{byte:08b}" for byte in text)


MESSAGES = {
    "SDXL": (f"{0xB3EC907BB19E:b}", "sdxl"),
    "FLUX": (f"{0x2AFE879CF52E:b}", "flux"),
    "StableDiffusionV1": (_bits(b"StableDiffusionV1"), "stable-diffusion-1"),
    "StableDiffusionV1-Inpainting": (_bits(b"StableDiffusionV1-Inpainting"), "stable-diffusion-1"),
    "SDV2": (_bits(b"SDV2"), "stable-diffusion-2"),
}
"""Message by the name its writer gives it, with the identifier of the generator."""


@dataclass(frozen=True)
class Agreement:
    """How well a picture agrees with a message."""

    n_right: int
    """Bits that read as they stand in the message."""
    correlation: float
    """Of the pulls with the message, up to 1."""
    chance: float
    """How likely a picture without this mark agrees as well."""


@dataclass(frozen=True)
class Watermark:
    """A mark that was read."""

    message: str
    """Its name: a key of `MESSAGES`."""
    generator: str
    n_bits: int
    agreement: Agreement


class DwtDctReader:
    """Reads the marks; it has no weights and nothing to load."""

    def read(self, rgb: ArrayLike) -> Watermark | None:
        """Return the mark that a picture carries, or ``None``.

        Parameters
        ----------
        rgb
            uint8 (H, W, 3), at the size at which it was generated.

        Raises
        ------
        ValueError
            Another type or shape.
        """
        picture = np.asarray(rgb)
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3:
            raise ValueError(f"a picture must be uint8 (H, W, 3), got {picture.dtype} {picture.shape}")
        height, width = picture.shape[:2]
        if height * width < MIN_PIXELS or min(height, width) < BLOCK_PX:
            return None
        marks = []
        for from_bytes in (True, False):
            bits = pulls(picture, from_bytes=from_bytes)
            for name, (message, generator) in MESSAGES.items():
                if (agreement := compare(bits, message)) is not None:
                    marks.append(Watermark(name, generator, len(message), agreement))
        return min(marks, key=lambda mark: mark.agreement.chance, default=None)


def dwt_dct() -> DwtDctReader:
    """Return the reader that ships with forensix."""
    return DwtDctReader()


_LEVELS = np.clip(np.rint(0.492 * np.arange(-255, 256, dtype=np.float32) + 128), 0, 255).astype(np.uint8)
"""U, rounded and offset, of a blue that exceeds the luma by -255 to 255."""


def _low_band(rgb: NDArray[np.uint8], *, from_bytes: bool) -> Values:
    """Return the low band of the blue difference as the writer computed it, float32 (H / 2, W / 2)."""
    if from_bytes:
        luma = np.asarray(Image.fromarray(rgb).convert("L"))
        sums = _sums(_LEVELS[np.subtract(rgb[..., 2], luma, dtype=np.int16) + 255])
        return np.asarray(sums, np.float32) / np.float32(2)
    # Without rounding, what holds of a pixel holds of a sum.
    red, green, blue = (np.float32(weight) * _sums(rgb[..., i]) for i, weight in enumerate((-0.299, -0.587, 0.886)))
    return np.asarray(np.float32(0.246) * (red + green + blue) + np.float32(1))


def _sums(plane: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the sums of 2 x 2 pixels; both sides are even."""
    rows = np.add(plane[0::2], plane[1::2], dtype=np.uint16)
    return np.asarray(rows[:, 0::2] + rows[:, 1::2])


def _blocks(band: Values) -> Values:
    """Return the 16 values of the low band in every block of 8 px, (n, 16), in the order of rows."""
    height, width = band.shape
    return band.reshape(height // 4, 4, width // 4, 4).transpose(0, 2, 1, 3).reshape(-1, 16)


def pulls(rgb: NDArray[np.uint8], *, from_bytes: bool) -> Values:
    """Return for every block, in order, which way its outstanding value was pulled: (n,), positive for a one.

    ``from_bytes`` says in which of the two conventions the writer is thought to have worked.
    """
    most_rows = max(BLOCK_PX, MAX_PIXELS // rgb.shape[1])
    height, width = (side // BLOCK_PX * BLOCK_PX for side in rgb[:most_rows].shape[:2])
    blocks = _blocks(_low_band(rgb[:height, :width], from_bytes=from_bytes))
    # The first value of a block is never moved; the sign takes no part.
    values = np.abs(blocks[:, 1:])
    # Of fifteen; `np.median` takes three times as long.
    median = np.partition(values, 7, axis=1)[:, 7]
    place = np.abs(values - median[:, None]).argmax(axis=1)
    moved = values[np.arange(len(values)), place] - median
    # From the median, halfway between the targets is 18 less its remainder away.
    return np.asarray(np.clip(moved - PULL * (STEP / 2 - median % STEP), -MAX_PULL, MAX_PULL), np.float32)


def compare(pulled: Values, message: str, *, gated: bool = True) -> Agreement | None:
    """Return how well pulls agree with a message of zeros and ones; ``None`` where chance explains it.

    Without the gate, ``None`` only where there is nothing to compare.
    """
    n_bits = len(message)
    if len(pulled) < 2 * n_bits:
        return None
    position = np.arange(len(pulled)) % n_bits
    mean = np.bincount(position, pulled, n_bits) / np.bincount(position, minlength=n_bits)
    if np.ptp(mean) < 1e-3:
        return None
    ones = np.array([bit == "1" for bit in message])
    correlation = float(np.corrcoef(mean, ones)[0, 1])
    t = correlation * np.sqrt((n_bits - 2) / max(1e-12, 1 - correlation**2))
    if gated and t < MIN_T:
        return None
    # Only now: hardly any picture comes so far, and its import takes as long as all the rest.
    from scipy.special import stdtr

    chance = float(stdtr(n_bits - 2, -t))
    n_right = int(((mean > mean.mean()) == ones).sum())
    return Agreement(n_right, correlation, chance) if chance <= MAX_CHANCE or not gated else None
