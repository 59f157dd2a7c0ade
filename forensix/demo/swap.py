"""A face put in the place of another: soft inside and sharp around, as programs that swap faces leave it.

All functions are pure: arrays and a ``numpy.random.Generator`` in, arrays out.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

Rng = np.random.Generator

# Outline of a face in the frame where the eyes are at (-1, 0) and (1, 0): jaw from ear to ear, then brows or forehead.
_JAW = np.array(
    [
        *((-1.95, 0.0), (-1.85, 0.9), (-1.6, 1.8), (-1.1, 2.7), (-0.45, 3.25), (0.0, 3.35)),
        *((0.45, 3.25), (1.1, 2.7), (1.6, 1.8), (1.85, 0.9), (1.95, 0.0)),
    ]
)
_BROWS = np.array([(1.75, -0.65), (1.0, -0.95), (0.0, -0.75), (-1.0, -0.95), (-1.75, -0.65)])
_FOREHEAD = np.array([(1.8, -1.1), (1.2, -1.9), (0.0, -2.2), (-1.2, -1.9), (-1.8, -1.1)])
MEAN_LANDMARKS = np.array([(-1.0, 0.0), (1.0, 0.0), (0.0, 1.15), (-0.8, 2.15), (0.8, 2.15)])


@dataclass(frozen=True, eq=False)
class Face:
    """A face with its surroundings: rgb uint8 (H, W, 3), landmarks float (5, 2), box float (4,) xyxy, in its pixels."""

    rgb: np.ndarray
    landmarks: np.ndarray
    box: np.ndarray


def fit_affine(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the least-squares affine map (2, 3) that takes points ``source`` (n, 2) to ``target`` (n, 2)."""
    points = np.column_stack([source, np.ones(len(source))])
    matrix: np.ndarray = np.linalg.lstsq(points, target, rcond=None)[0].T
    return matrix


def fit_similarity(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the least-squares map (2, 3) by rotation, one scale and shift (Umeyama 1991, without reflection)."""
    a, b = source - source.mean(axis=0), target - target.mean(axis=0)
    u, s, vt = np.linalg.svd(b.T @ a)
    sign = np.array([1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = (u * sign) @ vt
    scale = float((s * sign).sum() / max(float((a**2).sum()), 1e-9))
    matrix = scale * rotation
    return np.column_stack([matrix, target.mean(axis=0) - matrix @ source.mean(axis=0)])


def apply(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Map points (n, 2) with an affine matrix (2, 3)."""
    moved: np.ndarray = points @ matrix[:, :2].T + matrix[:, 2]
    return moved


def warp(rgb: np.ndarray, matrix: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Move a picture with an affine matrix (2, 3) from its pixels to those of the result, (width, height) large."""
    inverse = np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))[:2].ravel().tolist()
    moved = Image.fromarray(rgb).transform(size, Image.Transform.AFFINE, inverse, Image.Resampling.BICUBIC)
    return np.asarray(moved)


def region(kind: str) -> np.ndarray:
    """Return the outline (n, 2) of a region, ``face`` or ``head``, in the frame of the eyes."""
    return np.concatenate([_JAW, {"face": _BROWS, "head": _FOREHEAD}[kind]])


def mask(face: Face, kind: str, rng: Rng) -> np.ndarray:
    """Return a soft mask of a region, jittered, grown or shrunk, and feathered: float32 (H, W) in [0, 1]."""
    outline = region(kind)
    middle = outline.mean(axis=0)
    outline = middle + (outline - middle) * rng.uniform(0.85, 1.12) + rng.normal(0, 0.05, outline.shape)
    outline = apply(fit_affine(MEAN_LANDMARKS, face.landmarks), outline)
    height, width = face.rgb.shape[:2]
    drawn = Image.new("L", (width, height))
    ImageDraw.Draw(drawn).polygon([tuple(point) for point in outline.tolist()], fill=255)
    eyes_px = float(np.linalg.norm(face.landmarks[1] - face.landmarks[0]))
    soft = drawn.filter(ImageFilter.GaussianBlur(max(0.6, eyes_px * float(rng.uniform(0.02, 0.16)))))
    alpha = np.asarray(soft, dtype=np.float32) / 255
    if rng.random() < 0.3:
        # A second blur of the inner part moves the seam inwards, as face swappers do with eroded masks.
        alpha = np.clip(alpha * 2 - 1, 0, 1)
    return alpha * np.float32(rng.choice([0.75, 0.9, 1.0, 1.0, 1.0]))


def resample(rgb: np.ndarray, face_px: float, target_px: float, rng: Rng) -> np.ndarray:
    """Scale down so that the face is ``target_px`` large, and back: what a generator of that size leaves."""
    height, width = rgb.shape[:2]
    factor = min(1.0, target_px / max(face_px, 1.0))
    small = (max(8, round(width * factor)), max(8, round(height * factor)))
    down = Image.Resampling(int(rng.choice([Image.Resampling.BILINEAR, Image.Resampling.LANCZOS])))
    up = Image.Resampling(int(rng.choice([Image.Resampling.BILINEAR, Image.Resampling.BICUBIC])))
    return np.asarray(Image.fromarray(rgb).resize(small, down).resize((width, height), up))


def match_colour(source: np.ndarray, target: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Give ``source`` the mean and spread of ``target``'s colours inside a mask (Reinhard et al. 2001, on RGB)."""
    weight = alpha[..., None] / max(float(alpha.sum()), 1e-6)
    s, t = source.astype(np.float32), target.astype(np.float32)
    means = [(x * weight).sum(axis=(0, 1)) for x in (s, t)]
    spreads = [np.sqrt((((x - m) ** 2) * weight).sum(axis=(0, 1))) for x, m in zip((s, t), means, strict=True)]
    gain = np.clip(spreads[1] / np.maximum(spreads[0], 1e-3), 0.5, 2.0)
    return to_uint8((s - means[0]) * gain + means[1])


def membrane(source: np.ndarray, target: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Add to ``source`` the smooth field that makes it meet ``target`` along the seam: a cheap Poisson blend."""
    size = (48, 48)
    whole = (alpha.shape[1], alpha.shape[0])
    ring = np.asarray(Image.fromarray(alpha * (1 - alpha)).resize(size, Image.Resampling.BOX)) + 1e-4
    field = []
    for c in range(3):
        gap = (target[..., c].astype(np.float32) - source[..., c]) * alpha * (1 - alpha)
        small = np.asarray(Image.fromarray(gap).resize(size, Image.Resampling.BOX))
        smooth = _blur(small, 6) / _blur(ring, 6)
        field.append(np.asarray(Image.fromarray(smooth).resize(whole, Image.Resampling.BICUBIC)))
    return to_uint8(source.astype(np.float32) + np.stack(field, axis=2))


def blend(source: np.ndarray, target: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Put ``source`` over ``target`` (uint8 (H, W, 3) both) with a mask (H, W) in [0, 1]."""
    a = alpha[..., None]
    return to_uint8(source * a + target * (1 - a))


def swap(target: Face, donor: Face, rng: Rng, *, keep_detail: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Put the donor's face in the target's place; return the picture and the mask (H, W).

    ``keep_detail`` leaves the donor's face at its own resolution; all else is as it would be without.
    """
    kind = str(rng.choice(["face", "face", "head"]))
    size = (target.rgb.shape[1], target.rgb.shape[0])
    fit = fit_affine if rng.random() < 0.4 else fit_similarity
    matrix = fit(donor.landmarks, target.landmarks)
    source = warp(donor.rgb, matrix, size)
    # Where the donor's picture does not reach there is nothing to blend in.
    reach = Image.fromarray(warp(np.full((*donor.rgb.shape[:2], 3), 255, np.uint8), matrix, size)[..., 0])
    alpha = mask(target, kind, rng) * np.asarray(reach.filter(ImageFilter.MinFilter(5)), np.float32) / 255
    if rng.random() < 0.75:
        coarse = resample(source, _face_px(target), float(rng.uniform(48, 160)), rng)
        source = source if keep_detail else coarse
    source = match_colour(source, target.rgb, alpha)
    if rng.random() < 0.5:
        source = membrane(source, target.rgb, alpha)
    return blend(source, target.rgb, alpha), alpha


def to_uint8(x: np.ndarray) -> np.ndarray:
    """Round to uint8, limiting to [0, 255]."""
    rounded: np.ndarray = np.clip(np.rint(x), 0, 255).astype(np.uint8)
    return rounded


def _blur(x: np.ndarray, sigma_px: float) -> np.ndarray:
    from scipy.ndimage import gaussian_filter

    smooth: np.ndarray = gaussian_filter(x, sigma_px)
    return smooth


def _face_px(face: Face) -> float:
    return float(np.max(face.box[2:] - face.box[:2]))
