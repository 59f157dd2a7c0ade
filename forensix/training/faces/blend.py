"""Fake faces made from real ones, to train forensix-face: self-blends, swaps, replaced mouths.

A detector trained on the output of one forger learns that forger. Blending a face with a changed copy of itself
(Shiohara and Yamasaki 2022) leaves only what most face forgeries share: a seam, and two sides of it that differ in
colour, sharpness, noise or geometry. Swaps put another person's face there; resampling it first gives the soft inside
and sharp surround of autoencoder swaps; mouths alone stand for lip-sync.

All functions are pure: arrays and a ``numpy.random.Generator`` in, arrays out.

References
----------
Shiohara and Yamasaki, Detecting deepfakes with self-blended images, CVPR 2022.
Li et al., Face X-ray for more general face forgery detection, CVPR 2020.
"""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from forensix.perturb.image import jpeg

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
_CHEEKS = np.array([(1.5, 1.1), (0.6, 1.2), (0.0, 1.35), (-0.6, 1.2), (-1.5, 1.1)])
_MOUTH = np.array(
    [(-1.15, 2.1), (-0.7, 1.65), (0.0, 1.5), (0.7, 1.65), (1.15, 2.1), (0.8, 2.7), (0.0, 2.95), (-0.8, 2.7)]
)
_EYES = np.array(
    [(-1.75, 0.0), (-1.3, -0.75), (0.0, -0.5), (1.3, -0.75), (1.75, 0.0), (1.2, 0.6), (0.0, 0.5), (-1.2, 0.6)]
)
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
    """Return the outline (n, 2) of a region in the frame of the eyes."""
    return {
        "face": np.concatenate([_JAW, _BROWS]),
        "head": np.concatenate([_JAW, _FOREHEAD]),
        "lower": np.concatenate([_JAW[1:-1], _CHEEKS]),
        "mouth": _MOUTH,
        "eyes": _EYES,
    }[kind]


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


def recolour(rgb: np.ndarray, rng: Rng, strength: float = 1.0) -> np.ndarray:
    """Shift colour, brightness, contrast and saturation a little."""
    x = rgb.astype(np.float32)
    x = x + rng.uniform(-14, 14, 3).astype(np.float32) * strength
    mean = x.mean(axis=(0, 1))
    x = mean + (x - mean) * np.float32(1 + rng.uniform(-0.18, 0.18) * strength)
    x = x + np.float32(rng.uniform(-16, 16) * strength)
    grey = x.mean(axis=2, keepdims=True)
    x = grey + (x - grey) * np.float32(1 + rng.uniform(-0.25, 0.25) * strength)
    return to_uint8(x)


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


def self_blend(face: Face, rng: Rng, *, kind: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Blend a face with a changed copy of itself; return the picture and the mask (H, W)."""
    kind = kind or str(rng.choice(["face", "face", "head", "lower", "eyes"]))
    alpha = mask(face, kind, rng)
    source = _changed(face.rgb, _face_px(face), rng)
    source = warp(source, _nudge(face, rng), (face.rgb.shape[1], face.rgb.shape[0]))
    if rng.random() < 0.25:
        # Either side of the seam may be the changed one.
        return blend(face.rgb, source, alpha), alpha
    return blend(source, face.rgb, alpha), alpha


def swap(
    target: Face, donor: Face, rng: Rng, *, kind: str | None = None, keep_detail: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Put the donor's face in the target's place; return the picture and the mask (H, W).

    ``keep_detail`` leaves the donor's face at its own resolution; all else is as it would be without.
    """
    kind = kind or str(rng.choice(["face", "face", "head"]))
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


def replace_mouth(target: Face, donor: Face | None, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Replace the mouth, with another's or with a stretched, resampled copy of its own; return picture and mask."""
    kind = str(rng.choice(["mouth", "lower"]))
    if donor is not None:
        return swap(target, donor, rng, kind=kind)
    alpha = mask(target, kind, rng)
    mouth = target.landmarks[3:].mean(axis=0)
    stretch = np.diag([rng.uniform(0.9, 1.1), rng.choice([rng.uniform(0.75, 0.92), rng.uniform(1.08, 1.3)])])
    matrix = np.column_stack([stretch, mouth - stretch @ mouth])
    source = warp(target.rgb, matrix, (target.rgb.shape[1], target.rgb.shape[0]))
    source = resample(source, _face_px(target), float(rng.uniform(40, 110)), rng)
    return blend(recolour(source, rng, 0.4), target.rgb, alpha), alpha


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


def _changed(rgb: np.ndarray, face_px: float, rng: Rng) -> np.ndarray:
    """Change colour, sharpness, noise or compression of a copy; at least one of them."""
    steps = rng.random(4) < (0.7, 0.6, 0.2, 0.25)
    if not steps.any():
        steps[rng.integers(2)] = True
    if steps[0]:
        rgb = recolour(rgb, rng)
    if steps[1]:
        if rng.random() < 0.7:
            rgb = resample(rgb, face_px, float(rng.uniform(0.3, 0.85)) * face_px, rng)
        else:
            radius_px, percent = float(rng.uniform(1, 3)), int(rng.integers(50, 150))
            rgb = np.asarray(Image.fromarray(rgb).filter(ImageFilter.UnsharpMask(radius_px, percent, 0)))
    if steps[2]:
        rgb = to_uint8(rgb + rng.normal(0, rng.uniform(2, 7), rgb.shape).astype(np.float32))
    if steps[3]:
        rgb = jpeg(rgb, int(rng.integers(25, 75)))
    return rgb


def _nudge(face: Face, rng: Rng) -> np.ndarray:
    """Return a small affine map about the middle of the face."""
    px = _face_px(face)
    middle = (face.box[:2] + face.box[2:]) / 2
    angle = float(rng.normal(0, 0.02))
    scale = rng.uniform(0.96, 1.05, 2)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * scale
    shift = rng.uniform(-0.03, 0.03, 2) * px
    return np.column_stack([turn, middle - turn @ middle + shift])
