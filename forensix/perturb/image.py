"""Degradations of pictures, one set for training and for robustness tables.

Every function takes and returns uint8 RGB (H, W, 3), never changes its input, and is fixed by its parameters; those
that need chance take a generator. They are what pictures go through between a camera or a generator and the person
who asks about them: compression, scaling, blur, noise, cropping, and the way of a screenshot.
"""

import io
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from forensix.errors import LimitExceeded

RGB = NDArray[np.uint8]
MOST_PIXELS = 256_000_000
LONGEST_PX = {"JPEG": 65_500, "WEBP": 16_383}
"""The longest side that an encoder takes."""

RESAMPLING = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


def _coded(rgb: RGB, form: str, **options: int) -> RGB:
    longest = max(rgb.shape[:2])
    if longest > LONGEST_PX[form]:
        raise LimitExceeded(f"one side has {longest} px; {form} takes {LONGEST_PX[form]}")
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, form, **options)
    return np.asarray(Image.open(buffer).convert("RGB"))


def jpeg(rgb: RGB, quality: int, subsampling: int = 2) -> RGB:
    """Encode as JPEG and decode; ``quality`` in [1, 100], ``subsampling`` 0 for 4:4:4, 1 for 4:2:2, 2 for 4:2:0.

    Raises
    ------
    LimitExceeded
        A side is longer than `LONGEST_PX`.
    """
    return _coded(rgb, "JPEG", quality=int(quality), subsampling=subsampling)


def webp(rgb: RGB, quality: int) -> RGB:
    """Encode as lossy WebP and decode; ``quality`` in [1, 100].

    Raises
    ------
    LimitExceeded
        A side is longer than `LONGEST_PX`.
    """
    return _coded(rgb, "WEBP", quality=int(quality), method=2)


def resize(rgb: RGB, factor: float, *, resample: str = "bicubic") -> RGB:
    """Scale both sides by ``factor``; no side becomes shorter than 1 px. ``resample`` is a key of `RESAMPLING`."""
    height, width = rgb.shape[:2]
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    return np.asarray(Image.fromarray(rgb).resize(size, RESAMPLING[resample]))


def enlarged(rgb: RGB, factor: float) -> RGB:
    """Scale both sides up.

    Raises
    ------
    LimitExceeded
        It would have more than `MOST_PIXELS`.
    """
    pixels = rgb.shape[0] * rgb.shape[1] * factor**2
    if pixels > MOST_PIXELS:
        raise LimitExceeded(f"scaled up by {factor:g} it would have {pixels / 1e6:.0f} megapixels; the limit is 256")
    return resize(rgb, factor)


def blur(rgb: RGB, sigma_px: float) -> RGB:
    """Blur with a Gaussian."""
    return np.asarray(Image.fromarray(rgb).filter(ImageFilter.GaussianBlur(sigma_px)))


def noise(rgb: RGB, sigma: float, rng: np.random.Generator) -> RGB:
    """Add Gaussian noise of standard deviation ``sigma`` in grey levels, independent in every pixel and channel."""
    field = rng.standard_normal(rgb.shape, dtype=np.float32) * np.float32(sigma)
    noisy: RGB = np.clip(rgb + field + 0.5, 0, 255).astype(np.uint8)
    return noisy


def crop(rgb: RGB, top: int, left: int, height: int, width: int) -> RGB:
    """Cut a box out; parts outside the picture are left away."""
    return rgb[max(0, top) : top + height, max(0, left) : left + width].copy()


def centre(rgb: RGB, share: float) -> RGB:
    """Cut out the middle, ``share`` of each side."""
    height, width = (max(1, round(share * side)) for side in rgb.shape[:2])
    return crop(rgb, (rgb.shape[0] - height) // 2, (rgb.shape[1] - width) // 2, height, width)


def colour(rgb: RGB, *, gain: tuple[float, float, float] = (1, 1, 1), gamma: float = 1, saturation: float = 1) -> RGB:
    """Scale channels (white balance, exposure), bend by ``gamma``, and move towards (< 1) or away from (> 1) grey."""
    x = np.clip(rgb.astype(np.float32) / 255 * np.asarray(gain, dtype=np.float32), 0, 1) ** np.float32(gamma)
    grey = x.mean(axis=2, keepdims=True)
    changed: RGB = np.clip((grey + saturation * (x - grey)) * 255 + 0.5, 0, 255).astype(np.uint8)
    return changed


def smooth(rgb: RGB, share: float, *, radius_px: int = 4, detail: float = 15) -> RGB:
    """Take away fine detail, ``share`` of it, and leave edges, as filters for portraits do to skin.

    ``detail`` is the contrast in grey levels below which something counts as detail, in squares of ``radius_px`` to
    each side.

    References
    ----------
    K. He, J. Sun and X. Tang, "Guided image filtering", ECCV 2010.
    """
    from scipy.ndimage import uniform_filter

    def mean(x: NDArray[np.floating]) -> NDArray[np.floating]:
        averaged: NDArray[np.floating] = uniform_filter(x, (2 * radius_px + 1, 2 * radius_px + 1, 0))
        return averaged

    x = rgb.astype(np.float32)
    middle = mean(x)
    spread = np.maximum(mean(x * x) - middle * middle, 0)
    slope = spread / (spread + np.float32(detail) ** 2)
    plain = mean(slope) * x + mean((1 - slope) * middle)
    smoothed: RGB = np.clip(x + np.float32(share) * (plain - x) + 0.5, 0, 255).astype(np.uint8)
    return smoothed


def contrast(rgb: RGB, amount: float) -> RGB:
    """Bend tones along an S: dark ones become darker and bright ones brighter, or less so where ``amount`` < 0."""
    x = np.linspace(0, 1, 256)
    curve = np.clip((x + amount * (x * x * (3 - 2 * x) - x)) * 255 + 0.5, 0, 255).astype(np.uint8)
    return curve[rgb]


def sharpen(rgb: RGB, radius_px: float, percent: int) -> RGB:
    """Sharpen by an unsharp mask, or raise local contrast where the radius is large."""
    return np.asarray(Image.fromarray(rgb).filter(ImageFilter.UnsharpMask(radius_px, percent, 2)))


def retouched(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Edit as photographers and apps do: smoothed, sharpened, of other tones and colours, each by chance."""
    if rng.random() < 0.4:
        share, detail = float(rng.uniform(0.4, 1.0)), float(rng.uniform(6, 25))
        rgb = smooth(rgb, share, radius_px=int(rng.integers(2, 9)), detail=detail)
    if rng.random() < 0.4:
        is_fine = rng.random() < 0.75
        radius_px = float(rng.uniform(0.6, 3.0) if is_fine else rng.uniform(8, 30))
        rgb = sharpen(rgb, radius_px, int(rng.uniform(30, 180 if is_fine else 70)))
    if rng.random() < 0.6:
        rgb = contrast(rgb, float(rng.uniform(-0.5, 1.0)))
    if rng.random() < 0.6:
        red, green, blue = rng.uniform(0.85, 1.15) * rng.uniform(0.93, 1.07, 3)
        saturation = 0.0 if rng.random() < 0.1 else float(rng.uniform(0.6, 1.5))
        gamma = float(np.exp(rng.uniform(-0.35, 0.35)))
        rgb = colour(rgb, gain=(red, green, blue), gamma=gamma, saturation=saturation)
    return rgb


def screenshot(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Show on a screen and capture: scaled by an odd factor, a slight change of tone, cut loose of any block grid.

    The factor lies in [0.5, 1.3], the tone curve in [0.95, 1.05]; one to seven rows and columns are lost on top left.
    """
    screen = resize(rgb, float(rng.uniform(0.5, 1.3)), resample="bilinear")
    screen = colour(screen, gamma=float(rng.uniform(0.95, 1.05)))
    top, left = (int(v) for v in rng.integers(1, 8, size=2))
    return crop(screen, top, left, screen.shape[0], screen.shape[1]) if min(screen.shape[:2]) > 16 else screen


def shared(rgb: RGB, rng: np.random.Generator) -> RGB:
    """Pass through a social network: long side at most 1080 px, then JPEG 4:2:0 at a quality in [65, 85]."""
    longest = max(rgb.shape[:2])
    small = resize(rgb, 1080 / longest, resample="lanczos") if longest > 1080 else rgb
    return jpeg(small, int(rng.integers(65, 86)))


def repeated(
    steps: Sequence[Callable[[RGB, np.random.Generator], RGB]], rgb: RGB, times: int, rng: np.random.Generator
) -> RGB:
    """Take the steps one after the other, all of them ``times`` over."""
    for _ in range(times):
        for step in steps:
            rgb = step(rgb, rng)
    return rgb
