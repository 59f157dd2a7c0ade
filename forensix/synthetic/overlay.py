"""Pictures that show a person where to look: eyes and mouth of a portrait, and the object that carries the evidence.

Generators of portraits place eyes nearly always at the same spots, and fail in small things: pupils that are not
round, reflections that differ between the eyes, teeth that run together. The overlay enlarges these places; it
carries no score and proves nothing by itself.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw

from forensix.errors import UsageError

RGB = NDArray[np.uint8]
MARK = (255, 176, 0)
EYE_WIDTH = 0.55
MOUTH_WIDTH = 0.35
PANEL_SIDE_PX = 160
"""At least; three of them are as wide as the picture that is drawn."""
MAX_FACES = 4
SHOWN_SIDE_PX = 640
"""Larger pictures are drawn at this size; eyes and mouths are cut out before."""


def _boxes(points: NDArray[np.float64]) -> list[tuple[float, float, float, float]]:
    left_eye, right_eye, _, left_mouth, right_mouth = points
    between = float(np.hypot(*(right_eye - left_eye)))
    half = max(4.0, EYE_WIDTH * between / 2)
    boxes = [(x - half, y - half, x + half, y + half) for x, y in (left_eye, right_eye)]
    x, y = (left_mouth + right_mouth) / 2
    width = float(np.hypot(*(right_mouth - left_mouth))) / 2 + MOUTH_WIDTH * between / 2
    height = max(4.0, width * 0.6)
    return [*boxes, (x - max(4.0, width), y - height, x + max(4.0, width), y + height)]


def eye_mouth_overlay(rgb: RGB, landmarks: Sequence[ArrayLike]) -> RGB:
    """Mark eyes and mouths, and set them, enlarged, in a row of panels below the picture for every face.

    A picture larger than `SHOWN_SIDE_PX` is shrunk to that; the panels show its own pixels all the same.

    Parameters
    ----------
    rgb
        uint8 (H, W, 3).
    landmarks
        One array (5, 2) a face: x, y of left eye, right eye, nose, left and right corner of the mouth, in pixels. The
        first `MAX_FACES` faces get panels.

    Returns
    -------
    RGB
        uint8 (H' + panels, at least W', 3), with H' and W' those of the picture as drawn; without faces no panels.

    Raises
    ------
    ValueError
        Landmarks that are not (5, 2) and finite.
    """
    picture = Image.fromarray(shrunk(rgb))
    draw = ImageDraw.Draw(picture)
    scale = picture.width / rgb.shape[1], picture.height / rgb.shape[0]
    line = max(1, round(max(picture.size) / 400))
    rows = []
    for face in list(landmarks)[:MAX_FACES]:
        points = np.asarray(face, dtype=np.float64)
        if points.shape != (5, 2) or not np.isfinite(points).all():
            raise ValueError(f"landmarks of a face must be five finite points (5, 2), got {points.shape}")
        panels = []
        for box in _boxes(points):
            panels.append(_panel(rgb, box, max(PANEL_SIDE_PX, picture.width // 3)))
            draw.rectangle([v * scale[i % 2] for i, v in enumerate(box)], outline=MARK, width=line)
        rows.append(np.concatenate(panels, axis=1))
    marked = np.asarray(picture)
    if not rows:
        return marked.copy()
    width = max(marked.shape[1], rows[0].shape[1])
    return np.concatenate([_wide(part, width) for part in (marked, *rows)])


def shrunk(rgb: RGB) -> RGB:
    """Return a picture with its longer side at most `SHOWN_SIDE_PX`."""
    picture = Image.fromarray(rgb)
    picture.thumbnail((SHOWN_SIDE_PX, SHOWN_SIDE_PX))
    return np.asarray(picture)


def fitted(heatmap: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return patch scores, of any size, over a picture of ``shape``: each pixel's mean of what it stands for.

    Raises
    ------
    UsageError
        They are no array (height, width) of finite numbers.
    """
    is_map = isinstance(heatmap, np.ndarray) and heatmap.ndim == 2 and heatmap.size and heatmap.dtype.kind in "fiub"
    if not is_map or not np.isfinite(heatmap).all():
        raise UsageError("a heat map must be a numpy array (height, width) of finite numbers")
    if heatmap.shape == shape[:2]:
        return heatmap
    size = (shape[1], shape[0])
    return np.asarray(Image.fromarray(heatmap.astype(np.float32)).resize(size, Image.Resampling.BOX), np.float64)


def _panel(rgb: RGB, box: tuple[float, float, float, float], side_px: int) -> RGB:
    height, width = rgb.shape[:2]
    left, right = (int(np.clip(v, 0, width - 1)) for v in (box[0], box[2]))
    top, bottom = (int(np.clip(v, 0, height - 1)) for v in (box[1], box[3]))
    cut = Image.fromarray(rgb[top : bottom + 1, left : right + 1])
    cut.thumbnail((side_px, side_px))
    factor = side_px / max(cut.size)
    size = (max(1, round(cut.width * factor)), max(1, round(cut.height * factor)))
    panel = Image.new("RGB", (side_px, side_px))
    middle = ((side_px - size[0]) // 2, (side_px - size[1]) // 2)
    panel.paste(cut.resize(size, Image.Resampling.BICUBIC), middle)
    return np.asarray(panel)


def _wide(rgb: RGB, width: int) -> RGB:
    return np.pad(rgb, ((0, 0), (0, width - rgb.shape[1]), (0, 0)))


def salient_region(heatmap: NDArray[np.float64], *, threshold: float = 0.5) -> NDArray[np.bool_]:
    """Return the largest connected region whose patch scores reach ``threshold``.

    Where none does, the region is that of the highest tenth of scores, so that there is something to look at.

    Parameters
    ----------
    heatmap
        float (H, W) in [0, 1], higher is more likely fake.

    Returns
    -------
    bool (H, W).
    """
    from scipy import ndimage

    above = heatmap >= threshold
    if not above.any():
        above = heatmap >= np.quantile(heatmap, 0.9)
    labels, n = ndimage.label(above)
    if n == 0:
        return above
    sizes = np.bincount(labels.ravel())[1:]
    return np.asarray(labels == int(sizes.argmax()) + 1)


def draw_heatmap(rgb: RGB, heatmap: NDArray[np.float64]) -> RGB:
    """Lay patch scores over a picture: transparent at 0, half red at 1."""
    weight = (np.clip(heatmap, 0, 1) / 2)[..., None]
    red = np.array([255.0, 32.0, 0.0])
    return (rgb * (1 - weight) + red * weight + 0.5).astype(np.uint8)


def heatmap_object(rgb: RGB, heatmap: NDArray[np.float64]) -> RGB:
    """Draw the heat map inside its most salient region only; the rest is dimmed and grey, the border is marked."""
    from scipy import ndimage

    region = salient_region(heatmap)
    grey = np.repeat((rgb.mean(axis=2, keepdims=True) * 0.5).astype(np.uint8), 3, axis=2)
    drawing = np.where(region[..., None], draw_heatmap(rgb, heatmap), grey)
    thick = max(1, round(max(rgb.shape[:2]) / 400))
    border = region & ~ndimage.binary_erosion(region, iterations=thick)
    drawing[border] = MARK
    return drawing.astype(np.uint8)
