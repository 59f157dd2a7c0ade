"""Local double compression: a part that was compressed once in a picture that was compressed twice.

What is pasted or painted into a JPEG loses the first rounding there (it has none, or one on another grid), and keeps
only that of the last save. Each block's coefficients are weighed with the log likelihood ratios of
:mod:`forensix.forensics.traces.double_jpeg`, and sums over windows of 5 x 5 blocks are placed between what
both histories would give on average: 0 is the history of most of the picture, 1 that of a part compressed once.

Assumes that most of the picture went through both compressions on one grid, the second not much coarser than the first.
Blind to even areas and to those that touch black or white (they say nothing and are left out), to pictures without
colour (what was saturated before the colour was taken out looks like a pasted part), to parts pasted on the same grid
from a picture of the same tables, and to all that was done before the first compression or to pictures that were
resized afterwards. Measured in ``benchmarks/results/forensic_pixels.md``.
Source: Lin et al. 2009, Bianchi, De Rosa and Piva 2011.
"""

import io
from typing import Any

import numpy as np
from PIL import Image

from forensix.forensics.traces.double_jpeg import MAX_BIN, Mode

WINDOW_BLOCKS = 5
MIN_NATS_APART = 40.0
"""A window counts where the two histories would lie so many nats apart."""

MIN_PLACE_ONCE = 0.6
MAX_PLACE_TWICE = 0.3
NEAR_END_LEVELS = 2
SHOWN_SIDE_PX = 960


def measure(
    coefficients: np.ndarray, twice: tuple[Mode, ...], rgb: np.ndarray, *, draw: bool = True
) -> dict[str, Any] | None:
    """Return the largest part with another history, ``None`` where nothing can be said.

    ``coefficients`` is int (rows, columns, 8, 8), ``rgb`` the decoded uint8 (H, W, 3). ``blocks`` counts the windows of
    the part, ``others`` those like it elsewhere, ``windows`` those that say something, ``telling`` is their share,
    ``rest`` the place of the median window (0 twice, 1 once), ``box`` is x, y, width and height in pixels and ``map`` a
    JPEG, empty unless it is to ``draw``.
    """
    from scipy import ndimage

    rows, columns = coefficients.shape[:2]
    if not twice or rgb.shape[0] > 8 * rows or rgb.shape[1] > 8 * columns:
        return None
    sound = ~clipped(rgb, rows, columns)
    # Blocks beyond the last whole one are filled up anew for each compression, and keep nothing of the first.
    sound[rgb.shape[0] // 8 :] = sound[:, rgb.shape[1] // 8 :] = False
    total, high, low = (np.zeros((rows, columns), np.float32) for _ in range(3))
    for mode in twice:
        bins = np.clip(coefficients[:, :, mode.at[0], mode.at[1]], -MAX_BIN, MAX_BIN) + MAX_BIN
        tells = (mode.ratio != 0)[bins] & sound
        total += mode.ratio[bins] * sound
        high += mode.if_twice * tells
        low += mode.if_once * tells
    total, high, low = (
        ndimage.uniform_filter(part, WINDOW_BLOCKS, mode="constant") * WINDOW_BLOCKS**2 for part in (total, high, low)
    )
    between = high - low
    telling = between > MIN_NATS_APART
    if not telling.any():
        return None
    place = (high - total) / np.maximum(between, 1e-6)
    result = largest(place > MIN_PLACE_ONCE, telling, place)
    if draw and result["blocks"]:
        result["map"] = overlay(rgb, place, telling)
    return result


def largest(odd: np.ndarray, telling: np.ndarray, values: np.ndarray) -> dict[str, Any]:
    """Return the largest connected part of ``telling`` blocks that are ``odd``, as `measure` does, without a map."""
    from scipy import ndimage

    labels, n = ndimage.label(telling & odd)
    sizes = np.bincount(labels.ravel(), minlength=n + 1)
    sizes[0] = 0
    best = int(sizes.argmax())
    ys, xs = np.nonzero(labels == best)
    left, top = int(xs.min()), int(ys.min())
    return {
        "blocks": int(sizes[best]),
        "others": int(sizes.sum() - sizes[best]),
        "windows": int(telling.sum()),
        "telling": round(float(telling.mean()), 4),
        "rest": round(float(np.median(values[telling])), 3),
        "box": [8 * left, 8 * top, 8 * int(np.ptp(xs) + 1), 8 * int(np.ptp(ys) + 1)] if sizes[best] else [0, 0, 0, 0],
        "map": b"",
    }


def clipped(rgb: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Return bool (rows, columns): blocks that touch black or white in any colour, where rounding is cut short.

    A picture without colour may have been one with them, and no longer shows which blocks did: all of its blocks count.
    """
    if np.ptp(rgb, axis=2).max() <= NEAR_END_LEVELS:
        return np.ones((rows, columns), bool)
    at_end = ((rgb <= NEAR_END_LEVELS) | (rgb >= 255 - NEAR_END_LEVELS)).any(axis=2)
    padded = np.zeros((8 * rows, 8 * columns), bool)
    padded[: at_end.shape[0], : at_end.shape[1]] = at_end
    return np.asarray(padded.reshape(rows, 8, columns, 8).any(axis=(1, 3)))


def overlay(rgb: np.ndarray, place: np.ndarray, telling: np.ndarray) -> bytes:
    """Return a JPEG: the picture in grey, over ``telling`` blocks red where ``place`` is 1 and blue where it is 0."""
    picture = Image.fromarray(rgb)
    picture.thumbnail((SHOWN_SIDE_PX, SHOWN_SIDE_PX))
    colours = np.zeros((*place.shape, 3), np.float32)
    colours[..., 0] = 255 * np.clip(place, 0, 1)
    colours[..., 2] = 255 * np.clip(1 - place, 0, 1)
    weight = np.where(telling, 0.45, 0.0).astype(np.float32)
    size = picture.size
    over = np.asarray(Image.fromarray(colours.astype(np.uint8)).resize(size, Image.Resampling.NEAREST), np.float32)
    share = np.asarray(Image.fromarray(weight).resize(size, Image.Resampling.NEAREST))[..., None]
    grey = np.asarray(picture.convert("L"), np.float32)[..., None]
    buffer = io.BytesIO()
    Image.fromarray((grey * (1 - share) + over * share).astype(np.uint8)).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()
