"""A grid of JPEG blocks that is not the file's own: compressed, then cropped or pasted off the grid, saved again.

Coefficients taken on the grid of an earlier compression crowd at the multiples of its steps, on every other grid they
do not. For each of the 64 places that a grid can have, the cosine sum of the coefficients at each step from 3 to 40
says how much they crowd; a place counts by how far it stands out of the other places, and has to stand out alone.

Assumes that the last compression was finer than the first, or none (a PNG that was a JPEG). Blind where the picture was
resized in between, is even, or was cropped by half a block along one side alone. The whole picture is asked, so a small
pasted part does not show. Measured in ``benchmarks/results/forensic_grid.md``.
Source: Bianchi and Piva 2012 (non-aligned double compression by integer periodicity).
"""

from typing import Any

import numpy as np

PLACES = 64
OWN = (0, 4, 32)
"""The file's own place, and the two half a block to its right or below it, by number. A block there is half of one and
half of the next, so that where the picture is smooth that way its coefficients crowd at half the file's own steps."""
MODES = ((0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1))
STEPS = np.arange(3, 41)
MAX_TILES = 6000
MIN_TILES = 300
MIN_COEFFICIENTS = 60
BINS_A_LEVEL = 4
N_BINS = 1200
MIN_SPREAD_LEVELS = 3.0
LEAST_SPREAD_ERRORS = 0.7
"""Smallest spread over places that is believed, in standard errors of a cosine sum."""

MIN_HEIGHT, LEAD = 3.0, 2.0
"""A place is believed where it stands out so far, and so many times as far as the next."""


def stands_out(measured: dict[str, Any]) -> bool:
    """Tell whether a place of the grid stands out, and alone."""
    return bool(measured["height"] >= MIN_HEIGHT and measured["height"] >= LEAD * measured["next"])


def measure(grey: np.ndarray, own_grid: bool) -> dict[str, Any] | None:
    """Return the place that stands out most, ``None`` where there is too little to see.

    ``grey`` is uint8 (H, W); with ``own_grid`` those in `OWN` are left out. ``place`` is where the blocks
    begin (x, y), ``height`` how far it stands out and ``next`` how far the next place does.
    """
    if min(grey.shape) < 64:
        return None
    tiles = _tiles(grey)
    if len(tiles) < MIN_TILES:
        return None
    strength = np.zeros((8, 8, len(MODES), len(STEPS)), np.float32)
    waves, telling, basis = _waves(), _telling(), _basis()
    for y in range(8):
        for x in range(8):
            size = np.abs(tiles[:, y : y + 8, x : x + 8].reshape(-1, 64) @ basis)
            bins = np.minimum((size * BINS_A_LEVEL + 0.5).astype(np.int64), N_BINS)
            for k in range(len(MODES)):
                counts = np.bincount(bins[:, k], minlength=N_BINS + 1)[:N_BINS].astype(np.float64)
                n = counts @ telling
                strength[y, x, k] = np.where(n > MIN_COEFFICIENTS, (counts @ waves) / np.sqrt(np.maximum(n, 1) / 2), 0)
    flat = strength.reshape(PLACES, len(MODES), len(STEPS))
    gap = flat - np.median(flat, axis=0)
    heights = (gap / (1.4826 * np.median(np.abs(gap), axis=0) + LEAST_SPREAD_ERRORS)).max(axis=2).mean(axis=1)
    if own_grid:
        heights[list(OWN)] = -np.inf
    best, second = np.argsort(heights)[::-1][:2]
    return {
        "place": [int(best % 8), int(best // 8)],
        "height": round(float(heights[best]), 3),
        "next": round(float(heights[second]), 3),
    }


def _tiles(grey: np.ndarray) -> np.ndarray:
    """Return float32 (n, 15, 15): lively tiles free of black and white, at places of the file's grid."""
    height, width = grey.shape
    at = np.stack(np.meshgrid(np.arange(0, height - 15, 8), np.arange(0, width - 15, 8), indexing="ij"), -1)
    at = np.random.default_rng(0).permutation(at.reshape(-1, 2))[:MAX_TILES]
    tiles = np.lib.stride_tricks.sliding_window_view(grey, (15, 15))[at[:, 0], at[:, 1]].astype(np.float32)
    sound = (tiles.min((1, 2)) > 3) & (tiles.max((1, 2)) < 252) & (tiles.std((1, 2)) > MIN_SPREAD_LEVELS)
    chosen: np.ndarray = tiles[sound]
    return chosen


def _basis() -> np.ndarray:
    """Return float32 (64, modes): cosine functions of a block, of unit norm."""
    n = np.arange(8)
    cosines = np.cos(np.pi * (2 * n[None] + 1) * n[:, None] / 16) / 2
    cosines[0] /= np.sqrt(2)
    return np.stack([np.outer(cosines[v], cosines[u]).ravel() for v, u in MODES], axis=1).astype(np.float32)


def _telling() -> np.ndarray:
    """Return (bins, steps): 1 where a size is beyond the crowd around nought, which every grid has."""
    sizes = np.arange(N_BINS)[:, None] / BINS_A_LEVEL
    return (sizes > 0.6 * STEPS[None]).astype(np.float64)


def _waves() -> np.ndarray:
    sizes = np.arange(N_BINS)[:, None] / BINS_A_LEVEL
    waves: np.ndarray = np.cos(2 * np.pi * sizes / STEPS[None]) * _telling()
    return waves
