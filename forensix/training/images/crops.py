"""Crops for training: cut, scaled, softened and encoded anew at random, photographs and generated pictures alike.

Generated pictures come as PNG at round sizes and photographs as JPEG, some of them scaled down: a classifier that may
see that learns nothing else. So every crop passes through one recipe whose draws do not depend on its class.
"""

import io

import numpy as np
from PIL import Image, ImageFilter

from forensix.models.inputs import at_least
from forensix.perturb.image import retouched
from forensix.synthetic.crops import RGB, SIDE_PX, SQUARE_PX, STEP_PX, middle_square
from forensix.training.images.cache import Views

LEAST_SCALE, LEAST_SQUARE_SCALE = 0.4, 0.8
PART_SIDES_PX = (256, 320, 384)
LEAST_QUALITY, MOST_QUALITY = 40, 98
_GRID_PX = 8
"""Crops are encoded with a margin of a JPEG block, so that blocks do not start at a crop's corner."""
_FILTERS = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS, Image.Resampling.BOX)


def encode(rgb: RGB, rng: np.random.Generator, *, least: int = LEAST_QUALITY, most: int = MOST_QUALITY) -> RGB:
    """Return the picture stored at a random quality, as JPEG with or without halved colour or as WebP."""
    file = io.BytesIO()
    quality = int(rng.integers(least, most + 1))
    if rng.random() < 0.2:
        Image.fromarray(rgb).save(file, "WEBP", quality=quality, method=0)
    else:
        Image.fromarray(rgb).save(file, "JPEG", quality=quality, subsampling=0 if rng.random() < 0.3 else 2)
    return np.asarray(Image.open(file).convert("RGB"))


def scaled(rgb: RGB, scale: float, rng: np.random.Generator) -> RGB:
    """Return the picture made smaller by a factor, with a filter drawn at random."""
    size = (max(1, round(rgb.shape[1] * scale)), max(1, round(rgb.shape[0] * scale)))
    if size == (rgb.shape[1], rgb.shape[0]):
        return rgb
    return np.asarray(Image.fromarray(rgb).resize(size, _FILTERS[int(rng.integers(len(_FILTERS)))]))


def window(rgb: RGB, side: int, rng: np.random.Generator) -> RGB:
    """Return a random square of ``side``, or all there is of a smaller picture."""
    top, left = (int(rng.integers(max(1, size - side + 1))) for size in rgb.shape[:2])
    return rgb[top : top + side, left : left + side]


def degraded(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Return the picture softened, of another contrast and encoded anew, each by chance."""
    if rng.random() < 0.1:
        rgb = np.asarray(Image.fromarray(rgb).filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 1.0)))))
    if rng.random() < 0.25:
        gain, offset = rng.uniform(0.8, 1.2), rng.uniform(-16, 16)
        rgb = np.clip((rgb.astype(np.float32) - 128) * gain + 128 + offset, 0, 255).astype(np.uint8)
    if rng.random() < 0.75:
        rgb = encode(np.ascontiguousarray(rgb), rng)
    return rgb


def mirrored(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Return the picture or its mirror image."""
    return np.ascontiguousarray(rgb[:, ::-1] if rng.random() < 0.5 else rgb)


def draw(views: Views, rng: np.random.Generator) -> RGB:
    """Return a crop (`SIDE_PX`, `SIDE_PX`, 3) of a window at native resolution."""
    rgb = views.native[int(rng.integers(len(views.native)))]
    return draw_window(rgb, rng)


def draw_window(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Return a crop (`SIDE_PX`, `SIDE_PX`, 3) of a picture, or of what is kept of one at native resolution."""
    return _drawn(rgb, SIDE_PX, _scale(LEAST_SCALE, rng), rng)


def draw_square(views: Views, rng: np.random.Generator) -> RGB:
    """Return a square about as the detector cuts it, (side, side, 3); of `SQUARE_PX` where there is so much."""
    return _drawn(views.large, SQUARE_PX, _scale(LEAST_SQUARE_SCALE, rng), rng)


def draw_part(views: Views, rng: np.random.Generator, sides: tuple[int, ...] = PART_SIDES_PX) -> RGB:
    """Return a square of a smaller side, of a picture scaled down or not: that of a picture which was cut."""
    rgb = views.large if rng.random() < 0.5 else views.native[int(rng.integers(len(views.native)))]
    return _drawn(rgb, int(rng.choice(sides)), 1.0, rng)


def _scale(least: float, rng: np.random.Generator) -> float:
    return float(rng.uniform(least, 1.0)) if rng.random() < 0.6 else 1.0


def _drawn(rgb: RGB, side: int, scale: float, rng: np.random.Generator) -> RGB:
    cut = window(rgb, round((side + _GRID_PX) / scale), rng)
    # Views are bounded: what is too small to be scaled by so much is scaled by less.
    scale = max(scale, min(1.0, side / min(cut.shape[:2])))
    cut = degraded(scaled(cut, scale, rng), rng)
    side = max(SIDE_PX, min(side, min(cut.shape[:2]) // STEP_PX * STEP_PX))
    return mirrored(window(at_least(cut, side), side, rng), rng)


def alike(views: Views, rng: np.random.Generator) -> Views:
    """Return the views as those of the picture scaled to 0.5 to 1 and stored at quality 60 to 95."""
    scale = float(rng.uniform(0.5, 1.0))
    native = tuple(encode(scaled(view, scale, rng), rng, least=60, most=95) for view in views.native)
    large = encode(views.large, rng, least=60, most=95)
    return Views(native, middle_square(large), large, views.hash)


def retouched_alike(views: Views, rng: np.random.Generator) -> Views:
    """Return the views as those of the picture retouched and stored at quality 85 to 97."""
    seed = int(rng.integers(2**32))

    def edited(rgb: RGB) -> RGB:
        draws = np.random.default_rng(seed)
        return encode(retouched(rgb, draws), draws, least=85, most=97)

    large = edited(views.large)
    return Views(tuple(map(edited, views.native)), middle_square(large), large, views.hash)
