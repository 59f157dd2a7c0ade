"""A picture beside an embedded preview, and where the two differ: a number, and a picture to look at.

Both are shown turned as the orientation tag says. The difference is taken after the picture was turned and cut as fits
the preview best, so that bars and a turn made later do not hide it.
"""

import numpy as np
from PIL import Image, ImageFilter, ImageOps

HEIGHT_PX = 300
GAP_PX = 8
BLUR_PX = 1.2
"""Hides the one-pixel shifts between a preview and its picture, in pixels of the preview's size."""

QUIET, LOUD = 14.0, 70.0
"""Differences of grey values (0 to 255) from which red sets in, and from which it is full: a preview is compressed
and sharpened on its own, so small differences mean nothing."""

SIDE, CELL, NEAR = 64, 8, 5
"""Both are compared at this size in cells of this size; the third is how far apart the same thing may lie."""

FITTING = 0.7
"""Share of the picture that brightness and contrast are fitted to, whatever was changed in the rest."""

EVEN = 5.0
"""Spread of grey values below which an area is too even for that."""

EXIF_TURNS: dict[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def most_changed(image: Image.Image, small: Image.Image) -> float:
    """Return by how many grey values (0 to 255) a picture is off its preview where they differ most.

    That is the mean of a cell of an eighth of width and height. Brightness and contrast are fitted first, and what the
    other shows close by counts as the same, since previews are shifted, cut and sharpened a little. Either is held
    against the other: an even patch in the colours around it shows nothing that the preview has not, but lacks what
    that shows.
    """
    from scipy import ndimage

    x, y = (np.asarray(i.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX), np.float64) for i in (image, small))
    fits, gain = np.ones_like(x, bool), 1.0
    for _ in range(6):
        a, b = x[fits], y[fits]
        # An even area tells nothing of contrast.
        gain = float(((a - a.mean()) * (b - b.mean())).mean() / b.var()) if b.std() >= EVEN else gain
        fitted = gain * (y - b.mean()) + a.mean()
        off = np.abs(x - fitted)
        fits = off <= np.quantile(off, FITTING)
    beyond = np.zeros_like(x)
    for one, other in ((x, fitted), (fitted, x)):
        low, high = ndimage.minimum_filter(other, NEAR), ndimage.maximum_filter(other, NEAR)
        beyond = np.maximum(beyond, np.maximum(one - high, low - one))
    return float(beyond.reshape(SIDE // CELL, CELL, SIDE // CELL, CELL).mean(axis=(1, 3)).max())


def side_by_side(
    image: Image.Image, small: Image.Image, fitted: Image.Image, bare: Image.Image, orientation: int
) -> Image.Image:
    """Return the picture, its preview and their difference beside each other, all RGB.

    ``fitted`` is the picture turned as it fits the preview best, ``bare`` the preview without bars; ``orientation`` is
    the EXIF tag, 1 to 8.
    """
    images = (image, small, difference(fitted, bare))
    sized = [_sized(turned(i, orientation)) for i in images]
    row = Image.new("RGB", (sum(i.width for i in sized) + GAP_PX * (len(sized) - 1), HEIGHT_PX), "white")
    left = 0
    for panel in sized:
        row.paste(panel, (left, 0))
        left += panel.width + GAP_PX
    return row


def difference(image: Image.Image, small: Image.Image) -> Image.Image:
    """Return the preview in pale grey, and in red where the picture differs from it."""
    preview = small.copy()
    preview.thumbnail((2 * HEIGHT_PX, 2 * HEIGHT_PX))
    fitted = ImageOps.fit(image, preview.size)
    blur = ImageFilter.GaussianBlur(BLUR_PX)
    a, b = (np.asarray(i.filter(blur), np.float32) for i in (fitted, preview))
    red = np.clip((np.abs(a - b).mean(axis=2) - QUIET) / (LOUD - QUIET), 0, 1)[..., None]
    grey = np.asarray(preview.convert("L"), np.float32)[..., None] * 0.45 + 120
    return Image.fromarray((grey * (1 - red) + np.array([200.0, 20.0, 20.0]) * red).astype(np.uint8))


def orientation_of(exif: Image.Exif) -> int:
    """Return the EXIF orientation, 1 where there is none or it is not one of the eight."""
    value = exif.get(0x0112)
    return value if isinstance(value, int) and value in EXIF_TURNS else 1


def turned(image: Image.Image, orientation: int) -> Image.Image:
    """Return a stored picture as it is shown."""
    return image.transpose(EXIF_TURNS[orientation]) if orientation in EXIF_TURNS else image


def _sized(image: Image.Image) -> Image.Image:
    return image.resize((max(1, min(2 * HEIGHT_PX, round(image.width * HEIGHT_PX / image.height))), HEIGHT_PX))
