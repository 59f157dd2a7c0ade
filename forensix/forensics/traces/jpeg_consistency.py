"""A windowed map of JPEG consistency: does every part of a picture that was a JPEG fit that JPEG's grid and tables?

Where a picture was decoded from a JPEG and kept without loss, or cropped off the grid and saved finer, its coefficients
on the former grid crowd at the multiples of the former steps. What was pasted, painted or retouched since does not. For
each of a few modes the former step is learnt from the whole picture; each coefficient that could tell then gives the
cosine of its place between two multiples, and sums over windows of 7 x 7 blocks are divided by what the picture as a
whole gives: 1 fits the former JPEG, 0 knows nothing of it.

Assumes that most of the picture went through that JPEG and was not resized since. Blind to even areas, to what touches
black or white, to pictures without colour, to parts that came through the same JPEG on the same grid, and where the
former steps were as fine as rounding. Measured in ``benchmarks/results/forensic_consistency.md``.
Source: Fan and de Queiroz 2003 (former JPEGs in bitmaps), Bianchi and Piva 2012 (integer periodicity by block).
"""

from typing import Any

import numpy as np
from scipy import fft, ndimage

from forensix.forensics.traces import local_double_jpeg

MODES = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2), (0, 3), (3, 0))
STEPS = range(2, 41)
MIN_STEP_SHARE = 0.6
"""A coefficient tells beyond this share of a step: smaller ones crowd around nought whatever the history."""

MIN_COEFFICIENTS = 200
MIN_HEIGHT_ERRORS = 10.0
"""A mode is used where its cosine sum stands so many standard errors above nought."""

WINDOW_BLOCKS = 7
MIN_WEIGHT = 18.0
"""Weight from which a window counts: fitting and not fitting then lie six standard errors apart."""

MAX_FIT_SHARE = 0.4
"""Share of what the picture as a whole gives, below which a window does not fit."""

MAX_SIDE_PX = 4096


def measure(rgb: np.ndarray, place: tuple[int, int], *, draw: bool = True) -> dict[str, Any] | None:
    """Return the largest part that does not fit the former JPEG, ``None`` where nothing can be said.

    ``rgb`` is uint8 (H, W, 3), ``place`` where the former blocks begin (x, y). ``blocks`` counts the windows of the
    part, ``others`` those that do not fit elsewhere, ``telling`` is the share of windows that say something, ``rest``
    the median window (1 fits), ``steps`` are the former steps by mode, ``box`` is x, y, width and height in pixels and
    ``map`` a JPEG, empty unless it is to ``draw``.
    """
    x, y = place
    left, top = ((max(0, side - MAX_SIDE_PX) // 16 * 8) for side in (rgb.shape[1], rgb.shape[0]))
    part = rgb[top + y : top + MAX_SIDE_PX, left + x : left + MAX_SIDE_PX]
    rows, columns = part.shape[0] // 8, part.shape[1] // 8
    if min(rows, columns) < 2 * WINDOW_BLOCKS:
        return None
    part = part[: 8 * rows, : 8 * columns]
    blocks = coefficients(part)
    sound = ~local_double_jpeg.clipped(part, rows, columns)
    learnt = {k: former_step(blocks[..., k][sound]) for k in range(len(MODES))}
    steps = {k: step for k, step in learnt.items() if step is not None}
    if not steps:
        return None
    fit, weight = np.zeros((rows, columns), np.float32), np.zeros((rows, columns), np.float32)
    for k, (step, mean) in steps.items():
        tells = (np.abs(blocks[..., k]) > MIN_STEP_SHARE * step) & sound
        fit += mean * np.cos(2 * np.pi * blocks[..., k] / step) * tells
        weight += mean**2 * tells
    fit, weight = (ndimage.uniform_filter(a, WINDOW_BLOCKS, mode="constant") * WINDOW_BLOCKS**2 for a in (fit, weight))
    telling = weight > MIN_WEIGHT
    if not telling.any():
        return None
    score = fit / np.maximum(weight, 1e-6)
    result = local_double_jpeg.largest(score < MAX_FIT_SHARE, telling, score)
    result["steps"] = [[*MODES[k], step] for k, (step, _) in steps.items()]
    if result["blocks"]:
        result["box"][:2] = left + x + result["box"][0], top + y + result["box"][1]
        if draw:
            result["map"] = local_double_jpeg.overlay(part, 1 - score, telling)
    return result


def coefficients(rgb: np.ndarray) -> np.ndarray:
    """Return float32 (rows, columns, modes): cosine coefficients of the luminance of whole blocks, of unit norm."""
    rows, columns = rgb.shape[0] // 8, rgb.shape[1] // 8
    result = np.empty((rows, columns, len(MODES)), np.float32)
    for row in range(0, rows, 32):
        band = rgb[8 * row : 8 * (row + 32)].astype(np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
        blocks = band.reshape(-1, 8, columns, 8).transpose(0, 2, 1, 3)
        waves = fft.dctn(blocks, axes=(2, 3), norm="ortho")
        result[row : row + 32] = np.stack([waves[:, :, v, u] for v, u in MODES], axis=-1)
    return result


def former_step(values: np.ndarray) -> tuple[int, float] | None:
    """Return the step at whose multiples values crowd most and their mean cosine, ``None`` where they do not crowd."""
    best, step_and_mean = MIN_HEIGHT_ERRORS, None
    for step in STEPS:
        telling = values[np.abs(values) > MIN_STEP_SHARE * step]
        if len(telling) < MIN_COEFFICIENTS:
            break
        mean = float(np.cos(2 * np.pi * telling / step).mean())
        height = mean * np.sqrt(2 * len(telling))
        if height > best:
            best, step_and_mean = height, (step, mean)
    return step_and_mean
