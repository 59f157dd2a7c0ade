"""Copy-move: an area of a picture that occurs twice at one displacement.

Corners are described by the cosine coefficients of their surroundings, and pairs that look alike vote for their
displacement. The displacements with the most votes are then tested pixel by pixel: the correlation of the two areas,
freed of slow shading, has to be nearly one where there is structure in both directions, has to fall when one of them is
moved by three pixels, and the area may not run into its own copy, as fences, tiles and other regular patterns do. Last,
the grain between the edges is compared: a copy takes it along, print that repeats (words, digits, a pattern on cloth)
has its own at each place.

Assumes that the copy was neither turned nor scaled. Blind to smooth areas without corners, and to copies under about
20 pixels away. Pictures over four megapixels are halved first. What it finds and falsely raises is measured in
``benchmarks/results/forensic_pixels.md``.
Source: Fridrich, Soukal and Lukas 2003 (blocks), Amerini et al. 2011 (keypoints that vote for a transformation).
"""

import io
from typing import Any

import numpy as np
from PIL import Image
from scipy import ndimage, spatial

MIN_SIDE_PX = 96
MAX_PIXELS = 4_000_000
CELL_PX = 24
CORNERS_A_CELL = 3
REACH_PX = 12
"""Corners are described by what lies within so many pixels."""

MIN_CORNER_SHARE = 0.06
"""The weaker of the two directions of structure has to hold so much of the whole."""

MAX_DESCRIPTOR_DISTANCE = 0.30
MIN_DISTANCE_LIMIT = 0.10
MAX_DISTANCE_RATIO = 0.8
MIN_SHIFT_PX = 20
SHIFT_TOLERANCE_PX = 2
MIN_VOTES = 4
MAX_SHIFTS_TRIED = 12
MAX_SHIFTS_VERIFIED = 2
WINDOW_PX = 15
SHADING_PX = 9
MIN_CORRELATION = 0.95
MIN_CORRELATION_NEARBY = 0.90
MIN_SPREAD_LEVELS = 1.5
ASIDE_PX = 3
MARGIN_PX = 48
MAX_EDGE_GRADIENT = 3.0
"""Gradient, in grey values a pixel, up to which a place lies between the edges."""

STARK_LEVELS = 16
"""How far from black or white, in grey values, a pixel is all but one of them."""

GRAIN_MARGIN_PX = 8
GRAIN_ASIDE_PX = 4
MIN_GRAIN_PX = 100
SHOWN_SIDE_PX = 960


def measure(grey: np.ndarray, *, draw: bool = True) -> dict[str, Any] | None:
    """Return the best area that occurs twice, ``None`` where there is too little structure to look for one.

    ``grey`` is uint8 (H, W). ``area_px`` is the structured part of the area that matches, 0 where nothing does;
    ``alike`` its mean correlation, ``aside`` the highest correlation three pixels away, ``overlap`` the share of the
    area that lies in its own copy; ``grain`` is the correlation of the fine noise between the edges and
    ``grain_aside`` the highest four pixels away; ``even`` is the share of blocks of the picture that hold no structure,
    ``stark`` the share of the two areas that is all but black or white; ``shift`` and ``size``, that of the
    picture, are in pixels of ``grey`` (x, y) and ``map`` a JPEG, empty unless it is to ``draw``.
    """
    image = Image.fromarray(grey)
    scale = 1
    while image.width * image.height / scale**2 > MAX_PIXELS:
        scale += 1
    small = np.asarray(image.reduce(scale) if scale > 1 else image, np.float32)
    smooth = ndimage.gaussian_filter(small, 1.0, truncate=3)
    points = corners(smooth)
    if len(points) < 20:
        return None
    pairs = _pairs(points, _described(smooth, points))
    band = smooth - ndimage.uniform_filter(smooth, SHADING_PX)
    result: dict[str, Any] = {
        "area_px": 0,
        "alike": 0.0,
        "aside": 0.0,
        "overlap": 0.0,
        "grain": 0.0,
        "grain_aside": 0.0,
    }
    result |= {"even": round(even_share(small), 3), "stark": 0.0, "shift": [0, 0], "map": b""}
    result["size"] = [image.width, image.height]
    best = None
    for at, shift in _candidates(points, pairs, band)[:MAX_SHIFTS_VERIFIED]:
        candidate = _verified(band, at, shift)
        if candidate is not None and (best is None or candidate["area_px"] > best["area_px"]):
            best = candidate
    if best is None:
        return result
    mask, (dy, dx) = best.pop("mask"), best.pop("shift")
    result |= best | {"area_px": best["area_px"] * scale**2, "shift": [dx * scale, dy * scale]}
    result["grain"], result["grain_aside"] = grain(small, mask, dy, dx)
    result["stark"] = round(stark_share(small, mask, dy, dx), 3)
    if draw:
        result["map"] = _map(small, mask, dy, dx)
    return result


def even_share(grey: np.ndarray) -> float:
    """Return the share of blocks of 8 x 8 pixels whose grey values, (H, W), are all but the same."""
    rows, columns = grey.shape[0] // 8, grey.shape[1] // 8
    blocks = grey[: 8 * rows, : 8 * columns].reshape(rows, 8, columns, 8)
    return float((blocks.max(axis=(1, 3)) - blocks.min(axis=(1, 3)) <= 1).mean())


def stark_share(grey: np.ndarray, mask: np.ndarray, dy: int, dx: int) -> float:
    """Return the share of the boxes around an area and its copy that is all but black or white, as print on a bar is.

    ``grey`` is (H, W), ``mask`` the area.
    """
    rows, columns = np.nonzero(mask)
    height, width = (slice(places.min(), places.max() + 1) for places in (rows, columns))
    boxes = (grey[height, width], np.roll(grey, (-dy, -dx), (0, 1))[height, width])
    return float(np.mean([(box <= STARK_LEVELS) | (box >= 255 - STARK_LEVELS) for box in boxes]))


def corners(smooth: np.ndarray) -> np.ndarray:
    """Return int (n, 2): y and x of the strongest corners, at most three in a cell of 24 pixels."""
    response = np.abs(smooth - ndimage.gaussian_filter(smooth, 2.0, truncate=3))
    ys, xs = np.nonzero((response == ndimage.maximum_filter(response, 7)) & (response > 1.0))
    height, width = smooth.shape
    inside = (ys >= REACH_PX) & (ys < height - REACH_PX) & (xs >= REACH_PX) & (xs < width - REACH_PX)
    ys, xs = ys[inside], xs[inside]
    reach = np.arange(-6, 7)
    around = smooth[(ys[:, None] + reach)[:, :, None], (xs[:, None] + reach)[:, None, :]]
    down, across = around[:, 2:, 1:-1] - around[:, :-2, 1:-1], around[:, 1:-1, 2:] - around[:, 1:-1, :-2]
    least, total = _structure(*((a * b).mean((1, 2)) for a, b in ((down, down), (across, across), (down, across))))
    keep = least > np.maximum(MIN_CORNER_SHARE * total, 0.5)
    ys, xs = ys[keep], xs[keep]
    cell = (ys // CELL_PX) * (width // CELL_PX + 1) + xs // CELL_PX
    order = np.lexsort((-response[ys, xs], cell))
    ys, xs, cell = ys[order], xs[order], cell[order]
    rank = np.arange(len(cell)) - np.searchsorted(cell, cell)
    return np.asarray(np.stack([ys, xs], axis=1)[rank < CORNERS_A_CELL])


def _structure(yy: np.ndarray, xx: np.ndarray, xy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smaller eigenvalue of the structure tensor and the sum of both."""
    return (yy + xx) / 2 - np.sqrt(((yy - xx) / 2) ** 2 + xy**2), yy + xx


def _described(smooth: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return float (n, features): low cosine coefficients around each point, contrast and brightness taken out."""
    reach = np.arange(-REACH_PX, REACH_PX, 2)
    n = np.arange(len(reach))
    cosines = np.cos(np.pi * (2 * n[None] + 1) * n[:, None] / (2 * len(n))) * np.sqrt(2 / len(n))
    cosines[0] /= np.sqrt(2)
    waves = [np.outer(cosines[v], cosines[u]).ravel() for v in range(6) for u in range(6) if 0 < u + v <= 6]
    around = smooth[(points[:, 0, None] + reach)[:, :, None], (points[:, 1, None] + reach)[:, None, :]]
    descriptors = around.reshape(len(points), -1) @ np.stack(waves, axis=1).astype(np.float32)
    return np.asarray(descriptors / (np.linalg.norm(descriptors, axis=1, keepdims=True) + 30.0))


def _pairs(points: np.ndarray, described: np.ndarray) -> np.ndarray:
    """Return int (n, 2): points that look alike, and more alike than further ones, the upper one first."""
    distance, near = spatial.cKDTree(described).query(
        described, k=4, distance_upper_bound=MAX_DESCRIPTOR_DISTANCE, eps=0.5
    )
    limit = np.maximum(MIN_DISTANCE_LIMIT, MAX_DISTANCE_RATIO * np.minimum(distance[:, -1:], 9))
    close = (near[:, 1:] < len(points)) & (distance[:, 1:] <= limit)
    first = np.repeat(np.arange(len(points)), 3)[close.ravel()]
    pairs = np.unique(np.sort(np.stack([first, near[:, 1:][close]], axis=1), axis=1), axis=0)
    shift = points[pairs[:, 1]] - points[pairs[:, 0]]
    below = (shift[:, 0] < 0) | ((shift[:, 0] == 0) & (shift[:, 1] < 0))
    pairs[below] = pairs[below, ::-1]
    return np.asarray(pairs[np.abs(shift).max(axis=1, initial=0) >= MIN_SHIFT_PX])


def _candidates(points: np.ndarray, pairs: np.ndarray, band: np.ndarray) -> list[tuple[np.ndarray, tuple[int, int]]]:
    """Return the points that move together and their displacement, most truly alike points first."""
    shifts = points[pairs[:, 1]] - points[pairs[:, 0]]
    if len(shifts) < MIN_VOTES:
        return []
    tree = spatial.cKDTree(shifts)
    counts = tree.query_ball_point(shifts, SHIFT_TOLERANCE_PX, p=np.inf, return_length=True)
    candidates = []
    for _ in range(MAX_SHIFTS_TRIED):
        i = int(counts.argmax())
        if counts[i] < MIN_VOTES:
            break
        members = np.array(tree.query_ball_point(shifts[i], SHIFT_TOLERANCE_PX, p=np.inf))
        counts[np.abs(shifts - shifts[i]).max(axis=1) <= 2 * SHIFT_TOLERANCE_PX] = 0
        at, shift = points[pairs[members, 0]], np.rint(np.median(shifts[members], axis=0)).astype(int)
        reach = np.arange(-7, 8)
        to = np.clip(at + shift, 7, np.array(band.shape) - 8)
        here, there = (band[(p[:, 0, None] + reach)[:, :, None], (p[:, 1, None] + reach)[:, None, :]] for p in (at, to))
        norm = np.sqrt((here * here).sum((1, 2)) * (there * there).sum((1, 2))) + 1e-3
        good = (here * there).sum((1, 2)) / norm > MIN_CORRELATION_NEARBY
        if good.any():
            candidates.append((at[good], (int(shift[0]), int(shift[1]))))
    return sorted(candidates, key=lambda row: -len(row[0]))


def _verified(band: np.ndarray, at: np.ndarray, shift: tuple[int, int]) -> dict[str, Any] | None:
    """Compare the surroundings of the points with what lies a displacement away, pixel by pixel."""
    dy, dx = shift
    height, width = band.shape
    top, left = np.maximum(np.maximum(at.min(axis=0) - MARGIN_PX, 0), (-dy, -dx))
    bottom, right = np.minimum(np.minimum(at.max(axis=0) + MARGIN_PX, (height, width)), (height - dy, width - dx))
    if bottom - top < 2 * WINDOW_PX or right - left < 2 * WINDOW_PX:
        return None
    here, there = band[top:bottom, left:right], band[top + dy : bottom + dy, left + dx : right + dx]
    alike, lively = _correlation(here, there), _lively(here, there)
    labels, n = ndimage.label(ndimage.binary_opening(alike > MIN_CORRELATION_NEARBY, iterations=2))
    counts = np.bincount(labels[(alike > MIN_CORRELATION) & lively], minlength=n + 1)
    counts[0] = 0
    best = int(counts.argmax())
    if not counts[best]:
        return None
    mask = labels == best
    part = mask & lively
    # What lies farther away than half a window does not tell.
    near = tuple(slice(max(0, row.min() - WINDOW_PX // 2), row.max() + WINDOW_PX // 2 + 1) for row in np.nonzero(part))
    moved = [(a, b) for a in (-ASIDE_PX, 0, ASIDE_PX) for b in (-ASIDE_PX, 0, ASIDE_PX) if a or b]
    aside = max(
        float(_correlation(here[near], np.roll(there, step, (0, 1))[near])[part[near]].mean()) for step in moved
    )
    area = np.zeros(band.shape, bool)
    area[top:bottom, left:right] = mask
    copy = np.roll(area, (dy, dx), (0, 1))
    return {
        "area_px": int(counts[best]),
        "alike": round(float(alike[part].mean()), 4),
        "aside": round(aside, 4),
        "overlap": round(float((area & copy).sum() / area.sum()), 4),
        "shift": (dy, dx),
        "mask": area,
    }


def grain(grey: np.ndarray, mask: np.ndarray, dy: int, dx: int) -> tuple[float, float]:
    """Compare the fine noise between the edges in an area and its copy, at their displacement and four pixels aside.

    ``grey`` is float (H, W), ``mask`` the area; both correlations are 0 where too little lies between the edges.
    """
    rows, columns = np.nonzero(mask)
    reach = GRAIN_MARGIN_PX + 2 * GRAIN_ASIDE_PX
    top, left = max(0, min(rows.min(), rows.min() + dy) - reach), max(0, min(columns.min(), columns.min() + dx) - reach)
    bottom, right = max(rows.max(), rows.max() + dy) + reach + 1, max(columns.max(), columns.max() + dx) + reach + 1
    part, area = grey[top:bottom, left:right], mask[top:bottom, left:right]
    fine = part - ndimage.median_filter(part, 3)
    down, across = np.gradient(ndimage.gaussian_filter(part, 1.5))
    # A pixel off the edges as well: their blur would repeat with them.
    even = ndimage.binary_erosion(np.hypot(down, across) < MAX_EDGE_GRADIENT)
    ys, xs = np.nonzero(ndimage.binary_dilation(area, iterations=GRAIN_MARGIN_PX) & even)
    low, high = GRAIN_ASIDE_PX, np.array(part.shape) - GRAIN_ASIDE_PX
    inside = (ys + dy >= low) & (ys + dy < high[0]) & (xs + dx >= low) & (xs + dx < high[1])
    ys, xs = ys[inside], xs[inside]
    ys, xs = ys[even[ys + dy, xs + dx]], xs[even[ys + dy, xs + dx]]
    if len(ys) < MIN_GRAIN_PX:
        return 0.0, 0.0
    here = fine[ys, xs]

    def alike(y: int, x: int) -> float:
        there = fine[ys + dy + y, xs + dx + x]
        spread = float(here.std() * there.std())
        return float(((here - here.mean()) * (there - there.mean())).mean()) / spread if spread > 1e-3 else 0.0

    steps = (-GRAIN_ASIDE_PX, 0, GRAIN_ASIDE_PX)
    aside = max(abs(alike(y, x)) for y in steps for x in steps if y or x)
    return round(alike(0, 0), 4), round(aside, 4)


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    both, first, second = (ndimage.uniform_filter(x, WINDOW_PX) for x in (a * b, a * a, b * b))
    return np.asarray(both / np.sqrt(np.maximum(first * second, 0) + 1e-3))


def _lively(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Tell where both have structure, and structure that is not all in one direction."""
    strength = np.minimum(*(ndimage.uniform_filter(x * x, WINDOW_PX) for x in (a, b)))
    down, across = np.gradient(a)
    least, total = _structure(
        *(ndimage.uniform_filter(x, WINDOW_PX) for x in (down * down, across * across, down * across))
    )
    return np.asarray((strength > MIN_SPREAD_LEVELS) & (least > MIN_CORNER_SHARE * total))


def _map(grey: np.ndarray, mask: np.ndarray, dy: int, dx: int) -> bytes:
    canvas = np.repeat(grey[..., None], 3, axis=2)
    for area, colour in ((mask, (255.0, 60.0, 40.0)), (np.roll(mask, (dy, dx), (0, 1)), (40.0, 120.0, 255.0))):
        canvas[area] = 0.5 * canvas[area] + 0.5 * np.array(colour)
    picture = Image.fromarray(canvas.clip(0, 255).astype(np.uint8))
    picture.thumbnail((SHOWN_SIDE_PX, SHOWN_SIDE_PX))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()
