"""Measurements on decoded pixels and JPEG coefficients, made in the bounded child process.

    thumbnails         how like its embedded previews a picture is, as stored and turned (normalised correlation)
    ela                the error-level map: what changes when the picture is saved once more
    double_jpeg        a first rounding of the DCT coefficients before that of the file's own tables
    local_double_jpeg  a part of a twice compressed picture that was compressed once
    jpeg_grid          the grid of an earlier JPEG compression that is not the file's own
    consistency        a part that does not fit the JPEG that the picture was
    copy_move          areas that occur twice
    noise              an area with more noise than the rest of the picture explains

Source: Krawetz 2007 (error level); the others name theirs in their own modules.
"""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from forensix.forensics.traces import (
    copy_move,
    double_jpeg,
    jpeg_consistency,
    jpeg_grid,
    local_double_jpeg,
    noise,
    preview_difference,
)
from forensix.forensics.traces.upright import upright
from forensix.media import cut_jpeg

MAX_PIXELS, MAX_WEBP_PIXELS = 60_000_000, 40_000_000
SIDE = 64
ELA_SIDE = 1024
ELA_QUALITY = 90
GRID_SIDE = 1536
GRID_FORMATS = ("jpeg", "png", "tiff")
"""Formats that either have the grid of JPEG or none of their own."""

TURNS: dict[str, tuple[int, bool]] = {
    "as it is": (0, False), "turned left": (1, False), "upside down": (2, False), "turned right": (3, False),
    "mirrored": (0, True), "mirrored and turned left": (1, True), "flipped": (2, True),
    "mirrored and turned right": (3, True),
}  # fmt: skip


def measure(path: str, format: str, pictures: dict[str, bytes], folder: str, draw: bool) -> dict[str, Any]:
    """Return what can be measured; what fails on a file's bytes is left out, and ``unmeasured`` says why where known.

    ``folder`` is where the coefficient reader may write; empty, coefficients are not read. Pictures to look at are
    empty unless they are to ``draw``. They, boxes and displacements are of the picture as it is shown, and in its
    pixels; of areas that occur twice ``scale`` tells by how much the picture in which they were counted is smaller.
    """
    traces: dict[str, Any] = {}
    if format == "heif":
        import pillow_heif

        pillow_heif.register_heif_opener()
    Image.MAX_IMAGE_PIXELS = None
    image = stored(path)
    if image is None:
        return {"unmeasured": _why_not(path)}
    size = _size(path) if format == "jpeg" else image.size
    # Decoded once for all that want it at its own size.
    full = stored(path, full_size=True) if image.size != size else image
    if full is None:
        traces["unmeasured"] = _why_not(path)
    if pictures:
        traces["thumbnails"] = [
            row for name, raw in pictures.items() if (row := thumbnail(image, name, raw, draw=draw)) is not None
        ]
    if format == "jpeg":
        traces["ela"] = _jpeg(error_level(image), 85) if draw else b""
        if folder:
            traces |= compression(path, folder, full, draw=draw)
        uneven = uneven_noise(path, full, draw=draw)
        if uneven is not None:
            traces["noise"] = uneven
    if format in GRID_FORMATS:
        grid = former_grid(path, format, full)
        if grid is not None:
            traces["jpeg_grid"] = grid
            traces |= consistent(path, grid, full, draw=draw)
    if min(image.size) >= copy_move.MIN_SIDE_PX:
        result = copy_move.measure(np.asarray(image.convert("L")), draw=draw)
        if result is not None:
            scale = round(size[0] / image.width)
            in_full = {key: [scale * v for v in result[key]] for key in ("shift", "size")}
            traces["copy_move"] = result | in_full | {"scale": scale}
    return upright(traces, size, preview_difference.orientation_of(image.getexif()))


def compression(
    path: str, folder: str | None = None, image: Image.Image | None = None, *, draw: bool = True
) -> dict[str, Any]:
    """Return ``double_jpeg``, and ``local_double_jpeg`` where the picture was compressed twice.

    ``image`` here and below is the whole picture, where it was decoded already; maps are empty unless they are to
    ``draw``.
    """
    known = double_jpeg.read(path, folder)
    if known is None:
        return {}
    coefficients, table = known
    twice = double_jpeg.modes(coefficients, table)
    traces: dict[str, Any] = {"double_jpeg": double_jpeg.summary(twice)}
    if twice:
        image = image or stored(path, full_size=True)
    if twice and image is not None:
        part = local_double_jpeg.measure(coefficients, twice, np.asarray(image), draw=draw)
        if part is not None:
            traces["local_double_jpeg"] = part
    return traces


def former_grid(path: str, format: str, image: Image.Image | None = None) -> dict[str, Any] | None:
    """Look for the grid of an earlier compression in the middle of the picture, at its own size."""
    image = image or stored(path, full_size=True)
    if image is None:
        return None
    # Cut at multiples of eight, so that places stay what they are in the whole.
    left, top = (max(0, (side - GRID_SIDE) // 16 * 8) for side in image.size)
    part = image.crop((left, top, min(image.width, left + GRID_SIDE), min(image.height, top + GRID_SIDE)))
    return jpeg_grid.measure(np.asarray(part.convert("L")), format == "jpeg")


def consistent(
    path: str, grid: dict[str, Any], image: Image.Image | None = None, *, draw: bool = True
) -> dict[str, Any]:
    """Return ``consistency`` where the picture has a former grid: what does not fit it."""
    if not jpeg_grid.stands_out(grid):
        return {}
    image = image or stored(path, full_size=True)
    if image is None:
        return {}
    part = jpeg_consistency.measure(np.asarray(image), tuple(grid["place"]), draw=draw)
    return {} if part is None else {"consistency": part}


def uneven_noise(path: str, image: Image.Image | None = None, *, draw: bool = True) -> dict[str, Any] | None:
    """Look for an area of a JPEG with more noise than the rest explains; ``None`` where nothing can be said."""
    try:
        with Image.open(path) as opened:
            steps = getattr(opened, "quantization", {}).get(0, [])
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError, OverflowError):
        return None
    if len(steps) != 64 or noise.band(table := np.asarray(steps).reshape(8, 8)) is None:
        return None
    image = image or stored(path, full_size=True)
    return noise.measure(np.asarray(image), table, draw=draw) if image is not None else None


def stored(path: str, *, full_size: bool = False) -> Image.Image | None:
    """Decode the stored pixels, orientation not applied: previews are stored the same way.

    A large JPEG is decoded at a fraction of its size unless the ``full_size`` picture is asked for, and one that lost
    its last bytes where nearly all of it is there.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return _converted(path, full_size)
            except OSError:
                cut = cut_jpeg.completed(Path(path).read_bytes())
                return _converted(io.BytesIO(cut[0]), full_size) if cut is not None else None
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError, OverflowError, MemoryError):
        return None


def _converted(file: str | io.BytesIO, full_size: bool) -> Image.Image | None:
    with Image.open(file) as image:
        if image.format == "JPEG" and not full_size:
            image.draft("RGB", (2 * ELA_SIDE, 2 * ELA_SIDE))
        return image.convert("RGB") if image.width * image.height <= _most_pixels(image) else None


def _most_pixels(image: Image.Image) -> int:
    # WebP's decoder holds the picture several times.
    return MAX_WEBP_PIXELS if image.format == "WEBP" else MAX_PIXELS


def _why_not(path: str) -> str:
    """Say why a picture is not decoded, or not at its own size."""
    try:
        with Image.open(path) as image:
            most, n_pixels = _most_pixels(image), image.width * image.height
    except (OSError, ValueError, SyntaxError):
        most, n_pixels = 0, 0
    if n_pixels > most > 0:
        return f"the picture has {n_pixels / 1e6:.0f} megapixels, and up to {most / 1e6:.0f} are looked at one by one"
    return "the picture could not be decoded"


def _size(path: str) -> tuple[int, int]:
    with Image.open(path) as image:
        return image.size


def thumbnail(image: Image.Image, name: str, raw: bytes, *, draw: bool = True) -> dict[str, Any] | None:
    """Compare one embedded preview with the picture; correlations are in [-1, 1], 1 is the same picture.

    ``most_changed`` says by how many grey values they differ where they differ most, as it is and turned as fits best.
    """
    try:
        opened = Image.open(io.BytesIO(raw))
        if opened.width * opened.height > MAX_PIXELS:
            return None
        small = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError, EOFError, TypeError, IndexError, KeyError, OverflowError):
        return None
    if min(small.size) < 16 or min(image.size) < 16:
        return None
    bare = _without_bars(small, image.width / image.height)
    fits = {turn: _best_fit(_turned(image, *how), small, bare) for turn, how in TURNS.items()}
    scores = {turn: correlation for turn, (correlation, _, _) in fits.items()}
    turn = max(scores, key=lambda key: scores[key])
    changed = {key: round(preview_difference.most_changed(*fits[key][1:]), 1) for key in ("as it is", turn)}
    pair = b""
    if draw:
        orientation = preview_difference.orientation_of(image.getexif())
        panels = preview_difference.side_by_side(image, small, _turned(image, *TURNS[turn]), bare, orientation)
        pair = _jpeg(panels, 85)
    return {
        "name": name,
        "size": list(small.size),
        "spread": round(float(np.asarray(small.convert("L"), np.float32).std()), 2),
        "likeness": round(scores["as it is"], 4),
        "most_changed": changed["as it is"],
        "turn": turn,
        "turned_likeness": round(scores[turn], 4),
        "turned_most_changed": changed[turn],
        "pair": pair,
    }


def _turned(image: Image.Image, quarters: int, mirrored: bool) -> Image.Image:
    small = image.copy()
    small.thumbnail((4 * SIDE, 4 * SIDE), Image.Resampling.BOX)
    if mirrored:
        small = small.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return small.rotate(90 * quarters, expand=True)


def _best_fit(image: Image.Image, small: Image.Image, bare: Image.Image) -> tuple[float, Image.Image, Image.Image]:
    """Return the best correlation over the ways in which cameras fit a picture into a preview, and both so fitted."""
    candidates = [(image, bare)]
    if bare.size != small.size:
        candidates.append((image, small))
    ratio, preview_ratio = image.width / image.height, bare.width / bare.height
    if abs(ratio / preview_ratio - 1) > 0.02:
        candidates.append((_cropped(image, preview_ratio), bare))
        candidates.append((image, _cropped(bare, ratio)))
    return max(((_correlation(a, b), a, b) for a, b in candidates), key=lambda fit: fit[0])


def _cropped(image: Image.Image, ratio: float) -> Image.Image:
    width, height = image.size
    new_width, new_height = min(width, round(height * ratio)), min(height, round(width / ratio))
    new_width, new_height = max(1, new_width), max(1, new_height)
    left, top = (width - new_width) // 2, (height - new_height) // 2
    return image.crop((left, top, left + new_width, top + new_height))


def _correlation(a: Image.Image, b: Image.Image) -> float:
    x, y = (np.asarray(i.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX), np.float64) for i in (a, b))
    x, y = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / norm) if norm > 1e-6 else 0.0


def _without_bars(image: Image.Image, ratio: float) -> Image.Image:
    """Cut even bars off the borders, which cameras use to fit a wide picture into a 4:3 preview.

    Bars lie on both sides alike; a bar on one side only counts when what is left has the picture's own ``ratio`` of
    width to height.
    """
    grey = np.asarray(image.convert("L"), np.float32)
    width, height = image.size
    bars = []
    for lines in (grey, grey.T):
        flat = (lines.std(axis=1) < 6) & ((lines.mean(axis=1) < 24) | (lines.mean(axis=1) > 245))
        first = int(np.argmin(flat)) if not flat.all() else 0
        last = int(np.argmin(flat[::-1])) if not flat.all() else 0
        left = len(lines) - first - last
        shape = width / left if lines is grey else left / height
        even = abs(first - last) <= max(4, first // 3)
        fits = abs(shape / ratio - 1) < 0.03
        bars.append((first, last) if left > len(lines) // 2 and (even or fits) else (0, 0))
    (top, bottom), (left, right) = bars
    return image.crop((left, top, width - right, height - bottom))


def error_level(image: Image.Image) -> Image.Image:
    """Return the amplified difference between a picture and itself saved once more; a picture to look at, no claim."""
    small = image.copy()
    small.thumbnail((ELA_SIDE, ELA_SIDE), Image.Resampling.NEAREST)
    again = Image.open(io.BytesIO(_jpeg(small, ELA_QUALITY))).convert("RGB")
    gap = np.abs(np.asarray(small, np.int16) - np.asarray(again, np.int16)).astype(np.float32)
    top = float(np.percentile(gap, 99.5)) or 1.0
    return Image.fromarray(np.clip(gap * (255.0 / top), 0, 255).astype(np.uint8))


def _jpeg(image: Image.Image, quality: int) -> bytes:
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
