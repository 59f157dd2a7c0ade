"""Pictures decoded once: bounded views of each, in one file a picture, so that every epoch can cut fresh crops.

A picture is kept as windows at native resolution, as its middle square, and scaled down to somewhat more than that.
Files are written one by one and renamed when whole: a run that was cut off goes on where it stopped.
"""

import hashlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from forensix.errors import InputNotFound
from forensix.synthetic.crops import RGB, middle, middle_square, resized
from forensix.training.kept import whole
from forensix.training.sources import Repositories

NATIVE_SIDE_PX = 448
LARGE_PX = 512
"""Short side of what squares are drawn from, unless the picture is smaller; the long one is at most 1.5 times that."""
N_WINDOWS = 2
LEAST_SIDE_PX = 64
NEAR_BITS = 4
"""Pictures whose difference hashes differ in at most so many of 64 bits count as the same."""
FLAT_BITS = 12
"""A hash with fewer bits set, or unset, is that of a nearly flat picture, which says nothing."""


@dataclass(frozen=True, eq=False)
class Views:
    """What is kept of a picture, uint8 RGB."""

    native: tuple[RGB, ...]
    """Windows at native resolution."""
    square: RGB
    """The middle, as the detector looks at it."""
    large: RGB
    """The picture scaled down, for squares at other places and scales."""
    hash: int
    """64 bits, alike for copies that were scaled or encoded anew."""


def difference_hash(rgb: RGB) -> int:
    """Return 64 bits: whether grey rises from each of 9 x 8 cells to its right neighbour."""
    small = Image.fromarray(rgb).convert("L").resize((9, 8), Image.Resampling.BOX)
    grey = np.asarray(small, dtype=np.int16)
    return int.from_bytes(np.packbits(grey[:, 1:] > grey[:, :-1]).tobytes(), "big")


def cut_views(rgb: RGB, rng: np.random.Generator, *, cells: int = 1) -> Views:
    """Cut a picture; a montage has ``cells`` pictures on a side, of which each becomes a window."""
    height, width = rgb.shape[0] // cells, rgb.shape[1] // cells
    pieces = [
        rgb[i * height : (i + 1) * height, j * width : (j + 1) * width] for i in range(cells) for j in range(cells)
    ]
    if cells == 1 and max(height, width) > NATIVE_SIDE_PX * 1.25:
        pieces *= N_WINDOWS
    h, w = min(height, NATIVE_SIDE_PX), min(width, NATIVE_SIDE_PX)
    native = []
    for piece in pieces:
        view = piece
        if max(height, width) > NATIVE_SIDE_PX * 1.25:
            top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
            view = piece[top : top + h, left : left + w]
        native.append(np.ascontiguousarray(view))
    first = rgb[:height, :width]
    return Views(tuple(native), middle_square(first), _large(first), difference_hash(rgb))


def _large(rgb: RGB) -> RGB:
    short = min(rgb.shape[:2])
    height, width = (min(size, int(short * 1.5)) for size in rgb.shape[:2])
    scale = min(1.0, LARGE_PX / short)
    return resized(middle(rgb, height, width), round(height * scale), round(width * scale))


def decode(data: bytes) -> RGB | None:
    """Return a picture's pixels, upright or not as they are stored, or nothing where it cannot be used."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                rgb = np.asarray(image.convert("RGB"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    return rgb if min(rgb.shape[:2]) >= LEAST_SIDE_PX else None


def fill(table: pd.DataFrame, folder: Path, repositories: Path, *, log: Callable[[str], None] = lambda _: None) -> None:
    """Decode the pictures of a table (see `lists.list_pictures`) that the cache lacks.

    What is not at hand is left out; what cannot be decoded is remembered as an empty file. Sources are gone through
    side by side, so that a cache that is not full yet holds some of each.
    """
    folder.mkdir(parents=True, exist_ok=True)
    order = np.argsort(table.groupby(["repo", "made_by"]).cumcount().to_numpy(), kind="stable")
    with Repositories(repositories) as opened:
        for n, row in enumerate(_rows(table.iloc[order]), start=1):
            path = folder / name(row)
            if not path.exists() and (data := read(row, opened)) is not None:
                _store(path, _views(data, int(row.cells)))
            if n % 500 == 0:
                log(f"cache: {n} of {len(table)}")


def read(row: Any, opened: Repositories) -> bytes | None:
    """Return the bytes of a picture of a table, or nothing where they are not at hand."""
    try:
        packed = not row.ref and Path(row.path).is_absolute()
        return Path(row.path).read_bytes() if packed else opened.read(row.repo, row.path, blob=row.blob, ref=row.ref)
    except (InputNotFound, OSError):
        return None


def _views(data: bytes, cells: int) -> Views | None:
    rgb = decode(data)
    seed = int.from_bytes(hashlib.sha256(data).digest()[:4], "big")
    return None if rgb is None else cut_views(rgb, np.random.default_rng(seed), cells=cells)


def _store(path: Path, views: Views | None) -> None:
    with whole(path) as file:
        if views is not None:
            arrays = {f"native{i}": view for i, view in enumerate(views.native)}
            np.savez(file, square=views.square, large=views.large, hash=np.uint64(views.hash), **arrays)  # type: ignore[arg-type]


def name(row: Any) -> str:
    """Return the name of a picture's file in the cache."""
    return hashlib.sha256(f"{row.repo}\n{row.path}\n{row.blob}".encode()).hexdigest()[:24] + ".npz"


def load(path: Path) -> Views:
    """Return a picture's views.

    Raises
    ------
    OSError
        The cache has no such picture, or knows that it cannot be decoded.
    """
    if path.stat().st_size == 0:
        raise OSError(f"{path.name} could not be decoded")
    with np.load(path) as stored:
        native = tuple(stored[key] for key in sorted(stored.files) if key.startswith("native"))
        return Views(native, stored["square"], stored["large"], int(stored["hash"]))


def usable(table: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return the rows whose picture is in the cache, with the columns ``file`` (its path) and ``hash``."""
    files = [folder / name(row) for row in _rows(table)]
    decoded = [path.exists() and path.stat().st_size > 0 for path in files]
    paths = [path for path, is_decoded in zip(files, decoded, strict=True) if is_decoded]
    hashes = []
    for path in paths:
        with np.load(path) as stored:
            hashes.append(int(stored["hash"]))
    return table[decoded].assign(file=[str(path) for path in paths], hash=hashes).reset_index(drop=True)


def near_any(hashes: ArrayLike, others: ArrayLike) -> NDArray[np.bool_]:
    """Return which hashes are within `NEAR_BITS` of one of the others; those of nearly flat pictures never are."""
    a, b = np.asarray(hashes, dtype=np.uint64), np.asarray(others, dtype=np.uint64)
    near = np.zeros(len(a), dtype=bool)
    for i, value in enumerate(a):
        ones = int(value).bit_count()
        if FLAT_BITS <= ones <= 64 - FLAT_BITS:
            near[i] = bool((np.bitwise_count(b ^ value) <= NEAR_BITS).any())
    return near


def _rows(table: pd.DataFrame) -> Iterator[Any]:
    yield from table.itertuples()
