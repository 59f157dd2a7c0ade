"""Uneven noise: an area whose fine detail is stronger than its coarse detail and its brightness explain.

Noise is white, so it raises the highest frequencies without the lower ones; what a camera sees falls with frequency.
For each block of 8 x 8 pixels the energy of the fourteen highest frequencies that the file's table keeps, of the middle
and of the lowest ones is measured (medians of 5 x 5 blocks). The first is explained by the others and by brightness
with a robust regression over the picture's own blocks; ``excess`` is the largest surplus, in doublings of the
amplitude, that three quarters of a window of about 96 x 96 pixels reach.

Assumes a JPEG whose table keeps fourteen frequencies with steps of at most 8 (quality of about 85 and above: coarser
tables round noise away, and nothing is measured), and that the area is small in the picture. Answers to noise that was
added to an area before the picture was saved at about 95. In the benchmark nothing was found at 90, nor areas that were
blurred, denoised or pasted from another photograph, so that it supports a picture to look at and no suspicion. Very
strong noise (16 in the tests' pictures), and any noise where the rest of the picture has little detail, pulls the
regression along and is missed. Fine regular texture and print raise the excess in untouched pictures.
Found and raised falsely: ``benchmarks/results/forensic_noise.md``.
Source: Mahdian and Saic 2009 (block noise levels), Pyatykh, Hesser and Zheng 2013 (noise from the weakest content),
Huber 1964 (the regression's weights).
"""

from typing import Any

import numpy as np
from scipy import fft, ndimage

from forensix.forensics.traces import local_double_jpeg

MAX_STEP = 8
LOWEST_FREQUENCY = 4
"""Frequencies whose two indices sum to less hold too much of the picture to tell noise."""

N_FREQUENCIES = 14
MIN_BLOCKS, MIN_SIDE_BLOCKS = 1500, 24
MAX_PIXELS = 6_000_000
NEIGHBOUR_BLOCKS = 5
WINDOW_STEPS = 6
"""In steps of two blocks."""

PERCENTILE = 25
MIN_SOUND_SHARE = 0.3
MAX_EVEN_SHARE = 0.3
NEAR_END_LEVELS = 3
FIT_ROUNDS = 6
SHOWN_EXCESS = 1.5


def band(table: np.ndarray) -> np.ndarray | None:
    """Return bool (8, 8): the highest frequencies that ``table`` (8, 8) keeps, ``None`` where it keeps too few."""
    order = np.add.outer(np.arange(8), np.arange(8))
    fine = np.argwhere((table >= 1) & (table <= MAX_STEP) & (order >= LOWEST_FREQUENCY))
    if len(fine) < N_FREQUENCIES:
        return None
    ranked = sorted(fine.tolist(), key=lambda at: (-(at[0] + at[1]), table[at[0], at[1]], at[0]))
    chosen = np.zeros((8, 8), bool)
    chosen[tuple(np.array(ranked[:N_FREQUENCIES]).T)] = True
    return chosen


def measure(rgb: np.ndarray, table: np.ndarray, *, draw: bool = True) -> dict[str, Any] | None:
    """Return the area with the most unexplained noise, ``None`` where nothing can be said.

    ``rgb`` is the decoded uint8 (H, W, 3) and ``table`` the (8, 8) steps of its luminance. ``excess`` is in doublings
    of the amplitude, 0 or more in most pictures, higher is less explained; ``share`` is that of the picture's blocks
    in the area, ``box`` is x, y, width and height in pixels and ``map`` a JPEG, empty unless it is to ``draw``. Only
    the middle of a picture of more than ``MAX_PIXELS`` is looked at.
    """
    chosen = band(table)
    if chosen is None:
        return None
    rgb, left, top = _middle(rgb)
    rows, columns = rgb.shape[0] // 8, rgb.shape[1] // 8
    if min(rows, columns) < MIN_SIDE_BLOCKS or rows * columns < MIN_BLOCKS:
        return None
    rgb = rgb[: 8 * rows, : 8 * columns]
    surplus = _surplus(rgb, chosen)
    if surplus is None:
        return None
    sound, extra = surplus
    reached = ndimage.percentile_filter(extra[::2, ::2], PERCENTILE, size=WINDOW_STEPS, mode="constant", cval=0.0)
    y, x = np.unravel_index(int(reached.argmax()), reached.shape)
    excess = float(reached[y, x])
    near = ndimage.uniform_filter(extra, NEIGHBOUR_BLOCKS) > max(excess, 0.0) / 2
    labels, _ = ndimage.label(near)
    around = labels[
        max(0, 2 * y - WINDOW_STEPS) : 2 * y + WINDOW_STEPS, max(0, 2 * x - WINDOW_STEPS) : 2 * x + WINDOW_STEPS
    ]
    counts = np.bincount(around[around > 0], minlength=1)
    area = labels == int(counts.argmax()) if counts.any() else np.zeros_like(near)
    result = {"excess": round(excess, 3), "share": round(float(area.mean()), 4), "box": [0, 0, 0, 0], "map": b""}
    if area.any():
        ys, xs = np.nonzero(area)
        wide, high = int(np.ptp(xs)) + 1, int(np.ptp(ys)) + 1
        result["box"] = [left + 8 * int(xs.min()), top + 8 * int(ys.min()), 8 * wide, 8 * high]
        if draw:
            result["map"] = local_double_jpeg.overlay(rgb, 0.5 + extra / (2 * SHOWN_EXCESS), sound)
    return result


def _middle(rgb: np.ndarray) -> tuple[np.ndarray, int, int]:
    height, width = rgb.shape[:2]
    factor = min(1.0, (MAX_PIXELS / (height * width)) ** 0.5)
    wide, high = int(width * factor), int(height * factor)
    # Blocks must stay those of the file.
    left, top = (width - wide) // 16 * 8, (height - high) // 16 * 8
    return rgb[top : top + high, left : left + wide], left, top


def _surplus(rgb: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return which blocks were measured, and how far each one's noise lies above what explains it (log2)."""
    rows, columns = rgb.shape[0] // 8, rgb.shape[1] // 8
    grey = rgb.astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    tiles = grey.reshape(rows, 8, columns, 8).swapaxes(1, 2)
    at_end = ((tiles <= NEAR_END_LEVELS) | (tiles >= 255 - NEAR_END_LEVELS)).any(axis=(2, 3))
    sound = ~ndimage.binary_dilation(at_end)
    spectrum = fft.dctn(tiles, axes=(2, 3), norm="ortho")
    order = np.add.outer(np.arange(8), np.arange(8))
    high = (spectrum[..., chosen] ** 2).mean(axis=-1)
    low = (spectrum[..., (order >= 1) & (order <= 2)] ** 2).mean(axis=-1)
    between = (order >= 3) & (order < max(int(order[chosen].min()), LOWEST_FREQUENCY))
    middle = (spectrum[..., between] ** 2).mean(axis=-1)
    # Drawings and screens: exactly even areas have no noise to compare with.
    if sound.mean() < MIN_SOUND_SHARE or (low + middle < 0.02).mean() > MAX_EVEN_SHARE:
        return None
    light = ndimage.uniform_filter(spectrum[..., 0, 0], NEIGHBOUR_BLOCKS) / (8 * 255)
    noise, coarse, mid = (
        np.log2(np.sqrt(_medians(part)) + offset) for part, offset in ((high, 0.25), (low, 0.5), (middle, 0.25))
    )
    terms = (light, light**2, coarse, coarse**2, coarse * light, mid, mid**2, mid * coarse, mid * light)
    predictors = np.stack([np.ones_like(light), *terms], axis=-1)
    weights = _robust(predictors[sound], noise[sound])
    return sound, np.where(sound, noise - predictors @ weights, 0.0)


def _medians(values: np.ndarray) -> np.ndarray:
    """Return the medians of neighbours, as `ndimage.median_filter` does, in a third of its time."""
    padded = np.pad(values, NEIGHBOUR_BLOCKS // 2, mode="symmetric")
    near = np.lib.stride_tricks.sliding_window_view(padded, (NEIGHBOUR_BLOCKS, NEIGHBOUR_BLOCKS))
    n = NEIGHBOUR_BLOCKS**2
    return np.asarray(np.partition(near.reshape(*values.shape, n), n // 2, axis=2)[..., n // 2])


def _robust(predictors: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the weights (k,) that explain ``target`` (n,) by ``predictors`` (n, k) with Huber's loss."""
    trust = np.ones(len(target))
    weights: np.ndarray = np.zeros(predictors.shape[1])
    for _ in range(FIT_ROUNDS):
        weights = np.linalg.lstsq(predictors * trust[:, None], target * trust, rcond=1e-6)[0]
        away = np.abs(target - predictors @ weights)
        spread = 1.4826 * float(np.median(away)) + 1e-3
        trust = np.sqrt(np.minimum(1.0, 1.5 * spread / np.maximum(away, 1e-9)))
    return weights
