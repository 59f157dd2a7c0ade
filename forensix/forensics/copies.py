"""Copy-move: areas of a picture that occur twice at one displacement.

Overlapping blocks are described by low-frequency cosine coefficients, sorted, and neighbours that are nearly equal vote
for their displacement. Even areas (sky, walls) match everywhere and are left out; repeated patterns (windows, tiles)
vote for many displacements. A high share for one displacement is a hint and a map to look at.
Source: Fridrich, Soukal, Lukas 2003; Popescu and Farid 2004.
"""

import io
from typing import Any

import numpy as np
from PIL import Image

MIN_SIDE = 96
WHOLE_SIDE = 640
"""Pictures up to here are searched pixel by pixel."""

SIDE = 448
"""Larger ones are reduced to here, where copies survive only by luck of their displacement."""

BLOCK = 16
KEPT = 9
STEP = 1
MIN_SHIFT = 24
MAX_DISTANCE = 6.0
NEIGHBOURS = 3


def measure(grey: np.ndarray) -> dict[str, Any] | None:
    """Return ``blocks`` (those in the best displacement), ``shift`` in pixels of the original and a ``map`` (JPEG).

    ``grey`` is uint8 (H, W).
    """
    image = Image.fromarray(grey)
    scale = max(image.size) / SIDE if max(image.size) > WHOLE_SIDE else 1.0
    if scale > 1:
        image = image.resize((round(image.width / scale), round(image.height / scale)), Image.Resampling.BOX)
    small = np.asarray(image, np.float32)
    if min(small.shape) < 4 * BLOCK:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(small, (BLOCK, BLOCK))[::STEP, ::STEP]
    columns = windows.shape[1]
    blocks = windows.reshape(-1, BLOCK, BLOCK)
    lively = np.flatnonzero(blocks.std(axis=(1, 2)) > 8)
    if lively.size < 200:
        return None
    described = np.empty((lively.size, KEPT - 1), np.float32)
    basis = _basis()
    for start in range(0, lively.size, 8192):
        part = blocks[lively[start : start + 8192]].reshape(-1, BLOCK * BLOCK)
        described[start : start + 8192] = part @ basis
    ranking = np.lexsort(np.round(described / 8).T[::-1])
    positions = np.stack(np.divmod(lively, columns), axis=1) * STEP
    shifts, pairs = [], []
    for k in range(1, NEIGHBOURS + 1):
        a, b = ranking[:-k], ranking[k:]
        near = np.linalg.norm(described[a] - described[b], axis=1) < MAX_DISTANCE
        a, b = a[near], b[near]
        shift = positions[b] - positions[a]
        flip = (shift[:, 0] < 0) | ((shift[:, 0] == 0) & (shift[:, 1] < 0))
        shift[flip] *= -1
        far = np.abs(shift).max(axis=1) >= MIN_SHIFT
        shifts.append(shift[far])
        pairs.append(np.stack([a[far], b[far]], axis=1))
    shift, pair = np.concatenate(shifts), np.concatenate(pairs)
    if not len(shift):
        return {"blocks": 0, "share": 0.0, "shift": [0, 0], "map": b"", "runner_up": 0}
    _, inverse, counts = np.unique(shift[:, 0] * 4096 + shift[:, 1], return_inverse=True, return_counts=True)
    best = int(np.argmax(counts))
    second = int(np.sort(counts)[-2]) if counts.size > 1 else 0
    chosen = pair[inverse == best]
    mask = np.zeros(small.shape, bool)
    for index in np.unique(chosen):
        y, x = positions[index]
        mask[y : y + BLOCK, x : x + BLOCK] = True
    dy, dx = shift[inverse == best][0]
    return {
        "blocks": int(counts[best]),
        "runner_up": second,
        "share": round(float(mask.mean()), 5),
        "shift": [round(float(dx) * scale), round(float(dy) * scale)],
        "map": _map(small, mask) if counts[best] >= 100 else b"",
    }


def _basis() -> np.ndarray:
    """Return the low-frequency cosine functions of a block, float (BLOCK * BLOCK, KEPT - 1), of unit norm."""
    n = np.arange(BLOCK)
    cosines = np.sqrt(2 / BLOCK) * np.cos(np.pi * (2 * n[None] + 1) * n[:, None] / (2 * BLOCK))
    cosines[0] /= np.sqrt(2)
    order = ((0, 1), (1, 0), (2, 0), (1, 1), (0, 2), (0, 3), (1, 2), (2, 1))
    return np.stack([np.outer(cosines[v], cosines[u]).ravel() for v, u in order], axis=1).astype(np.float32)


def _map(grey: np.ndarray, mask: np.ndarray) -> bytes:
    shown = np.repeat(grey[..., None], 3, axis=2)
    shown[mask] = 0.5 * shown[mask] + 0.5 * np.array([255.0, 40.0, 40.0])
    kept = io.BytesIO()
    Image.fromarray(shown.astype(np.uint8)).save(kept, "JPEG", quality=85)
    return kept.getvalue()
