"""Faces with a part put in by a program, each with the mask of what was put in, made from recorded faces alone.

They copy what tools leave. A swapper works on an aligned face of 64 to 256 pixels, so the part is taken down to that
and up again; its decoder leaves a texture of its own (an autoencoder's, or that of a kernel which fills in every other
pixel), and an enhancer may sharpen it beyond its surroundings; colours are matched; the mask follows the landmarks and
is feathered. Lip-sync replaces the mouth, the lower face, or a whole upright box around the face. The donor is another
person, another moment of the same clip, or the face itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter

from forensix.demo.swap import (
    MEAN_LANDMARKS,
    apply,
    blend,
    fit_affine,
    fit_similarity,
    match_colour,
    membrane,
    region,
    to_uint8,
    warp,
)

Rng = np.random.Generator
RGB = NDArray[np.uint8]
Mask = NDArray[np.float32]

_INNER = ((-1.6, -0.55), (-0.8, -0.9), (0.8, -0.9), (1.6, -0.55), (1.5, 0.8), (1.0, 2.1), (0.4, 2.75), (-0.4, 2.75))
_LOWER = ((-1.8, 0.65), (-0.6, 0.75), (0.6, 0.75), (1.8, 0.65), (1.6, 1.8), (1.1, 2.7), (0.4, 3.3), (-0.4, 3.3))
_MOUTH = ((-1.2, 1.5), (0.0, 1.35), (1.2, 1.5), (1.3, 2.2), (0.8, 2.8), (0.0, 3.0), (-0.8, 2.8), (-1.3, 2.2))
_EYES = ((-1.75, -0.6), (0.0, -0.5), (1.75, -0.6), (1.7, 0.45), (0.5, 0.5), (0.0, 0.7), (-0.5, 0.5), (-1.7, 0.45))
_NOSE = ((-0.35, 0.0), (0.35, 0.0), (0.75, 1.3), (0.0, 1.65), (-0.75, 1.3))
OUTLINES = {
    "face": region("face"),
    "head": region("head"),
    "inner": np.array([*_INNER, (-1.0, 2.1), (-1.5, 0.8)]),
    "lower": np.array([*_LOWER, (-1.1, 2.7), (-1.6, 1.8)]),
    "mouth": np.array(_MOUTH),
    "eyes": np.array(_EYES),
    "nose": np.array(_NOSE),
}
"""Outlines (n, 2) of parts of a face in the frame where the eyes are at (-1, 0) and (1, 0)."""
PARTS = ("face", "head", "inner", "lower", "mouth", "eyes", "nose", "box")
CHANCES = (0.26, 0.1, 0.14, 0.14, 0.14, 0.05, 0.03, 0.14)
"""``box`` is upright and around the whole face, as programs paste back what they synchronised."""
ALIGNED_EYES = 3.2
"""Side of the square that swappers cut, in distances of the eyes."""
SIZES_PX = (64, 96, 96, 112, 128, 128, 128, 160, 192, 256)
_ITSELF_MOVED = 0.02


@dataclass(frozen=True, eq=False)
class Seen:
    """A recorded face: rgb uint8 (S, S, 3), landmarks float (5, 2) in its pixels, and an autoencoder's copy of it."""

    rgb: RGB
    landmarks: NDArray[np.float64]
    regenerated: RGB

    @property
    def eyes_px(self) -> float:
        """How far the eyes lie apart."""
        return max(4.0, float(np.hypot(*(self.landmarks[1] - self.landmarks[0]))))


def put_in(face: Seen, donor: Seen, rng: Rng, *, is_same_person: bool) -> tuple[RGB, Mask]:
    """Put a part of ``donor``, which may be the face itself, into a face; return the picture and the mask (S, S)."""
    size = (face.rgb.shape[1], face.rgb.shape[0])
    part = str(rng.choice(PARTS, p=CHANCES))
    if part == "box" and not is_same_person:
        part = "face"
    is_own = donor is face
    source = donor.regenerated if rng.random() < 0.35 else donor.rgb
    scale = 1.0 if is_own else donor.eyes_px / face.eyes_px
    source = processed(source, donor.eyes_px, rng, least=is_own)
    moved = face.landmarks + (rng.normal(0, _ITSELF_MOVED * face.eyes_px, (5, 2)) if is_own else 0)
    fit = fit_affine if rng.random() < 0.3 else fit_similarity
    matrix = fit(donor.landmarks, moved)
    source = warp(source, matrix, size)
    if rng.random() < 0.5:
        source = bent(source, 0.03 * face.eyes_px, rng)
    alpha = mask(face, part, rng) * _reach(donor, matrix, size)
    if not is_own and scale > 1.2 and rng.random() < 0.5:
        source = sharpened(source, rng)
    source = recoloured(source, face.rgb, alpha, rng, is_own=is_own)
    return blend(source, face.rgb, alpha), alpha


def _reach(donor: Seen, matrix: NDArray[np.float64], size: tuple[int, int]) -> Mask:
    """Return 1 where the donor's picture reaches and 0 where it has nothing to put in, float32 (S, S)."""
    inverse = np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))
    x, y = np.arange(size[0], dtype=np.float32)[None] + 0.5, np.arange(size[1], dtype=np.float32)[:, None] + 0.5
    from_x, from_y = (inverse[i, 0] * x + inverse[i, 1] * y + inverse[i, 2] for i in range(2))
    height, width = donor.rgb.shape[:2]
    inside = (from_x > 2) & (from_x < width - 2) & (from_y > 2) & (from_y < height - 2)
    return np.asarray(inside, dtype=np.float32)


def processed(rgb: RGB, eyes_px: float, rng: Rng, *, least: bool = False) -> RGB:
    """Return what a program makes of the pixels that it puts in; at ``least`` one step where that is asked for."""
    taken = rng.random(5) < (0.6, 0.2, 0.15, 0.35, 0.2)
    if least and not taken.any():
        taken[int(rng.choice([0, 3]))] = True
    if taken[0]:
        rgb = taken_down(rgb, float(rng.choice(SIZES_PX)) / (ALIGNED_EYES * eyes_px), rng)
    if taken[1]:
        rgb = filled_in(rgb, rng)
    if taken[2]:
        rgb = np.asarray(Image.fromarray(rgb).filter(ImageFilter.MedianFilter(3)))
    if taken[3]:
        rgb = sharpened(rgb, rng)
    if taken[4]:
        rgb = to_uint8(rgb + rng.normal(0, rng.uniform(1, 6), (*rgb.shape[:2], 3 if rng.random() < 0.5 else 1)))
    return rgb


def taken_down(rgb: RGB, factor: float, rng: Rng) -> RGB:
    """Scale by a factor below 1 and back, with filters drawn at random; one of 1 and more leaves the picture alone."""
    if factor >= 1:
        return rgb
    height, width = rgb.shape[:2]
    filters = (Image.Resampling.BILINEAR, Image.Resampling.BICUBIC, Image.Resampling.LANCZOS)
    down, up = (filters[int(i)] for i in rng.integers(len(filters), size=2))
    small = (max(16, round(width * factor)), max(16, round(height * factor)))
    return np.asarray(Image.fromarray(rgb).resize(small, down).resize((width, height), up))


def filled_in(rgb: RGB, rng: Rng) -> RGB:
    """Halve a picture and double it as a transposed convolution does, with a kernel that is not quite even."""
    height, width = rgb.shape[0] // 2 * 2, rgb.shape[1] // 2 * 2
    small = np.asarray(Image.fromarray(rgb).resize((width // 2, height // 2), Image.Resampling.BICUBIC), np.float32)
    kernel = np.array([0.25, 0.75, 0.75, 0.25], np.float32)
    rows, columns = (kernel * (1 + rng.normal(0, 0.06, 4).astype(np.float32)) for _ in range(2))
    tall = np.empty((height, width // 2, 3), np.float32)
    padded = np.pad(small, ((1, 1), (0, 0), (0, 0)), mode="edge")
    tall[0::2] = rows[0] * padded[:-2] + rows[1] * padded[1:-1]
    tall[1::2] = rows[2] * padded[1:-1] + rows[3] * padded[2:]
    wide = np.empty((height, width, 3), np.float32)
    padded = np.pad(tall, ((0, 0), (1, 1), (0, 0)), mode="edge")
    wide[:, 0::2] = columns[0] * padded[:, :-2] + columns[1] * padded[:, 1:-1]
    wide[:, 1::2] = columns[2] * padded[:, 1:-1] + columns[3] * padded[:, 2:]
    out = rgb.copy()
    out[:height, :width] = to_uint8(wide)
    return out


def sharpened(rgb: RGB, rng: Rng) -> RGB:
    """Sharpen by an unsharp mask, from mildly to far beyond what a camera does."""
    mask = ImageFilter.UnsharpMask(float(rng.uniform(0.8, 3.0)), int(rng.integers(40, 220)), int(rng.integers(0, 3)))
    return np.asarray(Image.fromarray(rgb).filter(mask))


def bent(rgb: RGB, most_px: float, rng: Rng) -> RGB:
    """Move the nodes of a grid by at most about ``most_px``, and the pixels between them along; the rim stays."""
    height, width = rgb.shape[:2]
    n = 5
    at = np.stack(np.meshgrid(np.linspace(0, width, n + 1), np.linspace(0, height, n + 1)), axis=2)
    from_ = at.copy()
    from_[1:-1, 1:-1] += np.clip(rng.normal(0, most_px / 2, (n - 1, n - 1, 2)), -most_px, most_px)
    mesh = []
    for i in range(n):
        for j in range(n):
            x1, y1, x2, y2 = (round(float(v)) for v in (*at[i, j], *at[i + 1, j + 1]))
            corners = (from_[i, j], from_[i + 1, j], from_[i + 1, j + 1], from_[i, j + 1])
            mesh.append(((x1, y1, x2, y2), tuple(float(v) for corner in corners for v in corner)))
    picture = Image.fromarray(rgb)
    return np.asarray(picture.transform(picture.size, Image.Transform.MESH, mesh, Image.Resampling.BICUBIC))


def recoloured(source: RGB, face: RGB, alpha: Mask, rng: Rng, *, is_own: bool) -> RGB:
    """Bring a part's colours near those of the face: more or less, and a little off, as colour transfer does."""
    if not is_own and rng.random() < 0.9:
        source = match_colour(source, face, alpha)
    if rng.random() < 0.6:
        gain, offset = rng.uniform(0.94, 1.06, 3), rng.uniform(-6, 6, 3)
        source = to_uint8(source * gain.astype(np.float32) + offset.astype(np.float32))
    if rng.random() < 0.4:
        source = membrane(source, face, alpha)
    return source


def mask(face: Seen, part: str, rng: Rng) -> Mask:
    """Return a soft mask of a part of a face, jittered, grown or shrunk, and feathered: float32 (S, S) in [0, 1]."""
    height, width = face.rgb.shape[:2]
    drawn = Image.new("L", (width, height))
    if part == "box":
        eyes = face.landmarks[:2].mean(axis=0)
        low = eyes - face.eyes_px / 2 * rng.uniform((1.5, 0.3), (2.3, 1.8))
        high = eyes + face.eyes_px / 2 * rng.uniform((1.5, 2.6), (2.3, 3.6))
        ImageDraw.Draw(drawn).rectangle((*low.tolist(), *high.tolist()), fill=255)
        feather = float(rng.choice([0.0, 0.0, 0.01, 0.04]))
    else:
        outline = OUTLINES[part]
        middle = outline.mean(axis=0)
        outline = middle + (outline - middle) * rng.uniform(0.85, 1.15, 2) + rng.normal(0, 0.05, outline.shape)
        outline = apply(fit_affine(MEAN_LANDMARKS, face.landmarks), outline)
        ImageDraw.Draw(drawn).polygon([(float(x), float(y)) for x, y in outline], fill=255)
        feather = float(rng.uniform(0.01, 0.16))
    soft = drawn.filter(ImageFilter.GaussianBlur(face.eyes_px * feather)) if feather else drawn
    alpha = np.asarray(soft, dtype=np.float32) / 255
    if rng.random() < 0.3:
        alpha = np.clip(alpha * 2 - 1, 0, 1)
    strength = np.float32(rng.choice([0.8, 0.9, 1.0, 1.0, 1.0, 1.0]))
    return np.asarray(alpha * strength, dtype=np.float32)
