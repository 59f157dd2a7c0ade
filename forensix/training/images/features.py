"""What the pretrained networks say of crops of the training pictures, computed once and kept, a file a picture.

Of every picture two crops are as they are (a window, the middle square) and four are drawn in each of `ROUNDS` (see
`crops`); of the first pictures of every source there are four more, of both classes scaled and encoded alike, and
retouched alike, to measure on. Graphics (see `graphics`) lack those. Learning from retouched pictures as well told the
folds' pictures less well, and retouched ones little better.
"""

import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.models.architectures.efficientnet import fuse, statistics
from forensix.models.architectures.pictures import N_STATISTICS, Backbones
from forensix.synthetic.crops import RGB, SIDE_PX, windows
from forensix.synthetic.detector import normalised
from forensix.training.backbone import load_imagenet
from forensix.training.images import cache, graphics
from forensix.training.images.crops import alike, draw, draw_part, draw_square, retouched_alike
from forensix.training.kept import whole

ROUNDS = 2
"""How often crops of a picture are drawn; with one round the folds' pictures were told less well."""
_OF_ROUND = 4
_N_DRAWN = 2 + _OF_ROUND * ROUNDS
AS_IS, AS_IS_SQUARE = 0, 1
DRAWN, DRAWN_SQUARE, DRAWN_PART = (
    tuple(2 + _OF_ROUND * nth + i for nth in range(ROUNDS) for i in of) for of in ((0, 1), (2,), (3,))
)
ALIKE, ALIKE_SQUARE, RETOUCHED, RETOUCHED_SQUARE = range(_N_DRAWN, _N_DRAWN + 4)
"""Places of a picture's crops in its file."""
N_PLACES = RETOUCHED_SQUARE + 1
ALIKE_OF_EACH = 20
GRAPHICS_OF_KIND = 60
AT_ONCE = 6
"""Pictures whose crops go through the network together."""


def _crops(views: cache.Views, rng: np.random.Generator, *, judged: bool) -> list[RGB]:
    def window(rgb: RGB) -> RGB:
        return np.asarray(windows(rgb, SIDE_PX, 1)[0])

    crops = [window(views.native[0]), views.square, *_drawn(views, rng)]
    # A generator's children leave its own draws as they are.
    for child in rng.spawn(ROUNDS - 1):
        crops += _drawn(views, child)
    if judged:
        (child,) = rng.spawn(1)
        for same in (alike(views, rng), retouched_alike(views, child)):
            crops += [window(same.native[0]), same.square]
    return crops


def _drawn(views: cache.Views, rng: np.random.Generator) -> list[RGB]:
    return [draw(views, rng), draw(views, rng), draw_square(views, rng), draw_part(views, rng)]


def _statistics(network: torch.nn.Module, crops: list[RGB]) -> NDArray[np.float16]:
    """Return what the networks say of crops of several sizes, (n, statistics)."""
    values = np.empty((len(crops), N_STATISTICS), np.float16)
    sides = np.array([len(crop) for crop in crops])
    for side in np.unique(sides):
        places = np.flatnonzero(sides == side)
        x = normalised(np.stack([crops[i] for i in places]))
        with torch.inference_mode():
            values[places] = statistics(network(x)).numpy()
    return values


def _network() -> torch.nn.Module:
    backbones = Backbones()
    for backbone in backbones:
        load_imagenet(backbone)
    return fuse(backbones).to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def compute(table: pd.DataFrame, folder: Path, *, seed: int = 0, log: Callable[[str], None] = lambda _: None) -> None:
    """Compute what ``folder`` lacks for the pictures of a table (see `cache.usable`), in its order.

    What an earlier version kept there, of another number of crops or of networks that gave another number of
    statistics, is computed anew.
    """
    folder.mkdir(parents=True, exist_ok=True)
    network = _network()
    rank = table.groupby(["repo", "made_by"]).cumcount().to_numpy()
    pictures = [(file, bool(at < ALIKE_OF_EACH)) for file, at in zip(map(Path, table.file), rank, strict=True)]
    todo = [
        (file, judged)
        for file, judged in pictures
        if not is_kept(folder / file.name, N_STATISTICS, N_PLACES if judged else ALIKE)
    ]
    start = time.monotonic()
    for done in range(0, len(todo), AT_ONCE):
        part = todo[done : done + AT_ONCE]
        crops = [
            _crops(cache.load(file), np.random.default_rng(1 + seed + zlib.crc32(file.name.encode())), judged=judged)
            for file, judged in part
        ]
        values = _statistics(network, [crop for of_picture in crops for crop in of_picture])
        first = 0
        for (file, _), of_picture in zip(part, crops, strict=True):
            with whole(folder / file.name) as stored:
                np.savez(stored, stats=values[first : first + len(of_picture)])
            first += len(of_picture)
        if done % 200 == 0:
            log(f"features: {done} of {len(todo)} in {time.monotonic() - start:.0f} s")


def is_kept(path: Path, n: int, n_views: int | None = None) -> bool:
    """Return whether a file is there and holds ``n`` statistics a view, as networks of today give them.

    With ``n_views`` it must hold so many views as well.
    """
    if not path.exists():
        return False
    with np.load(path) as stored:
        shape = stored["stats"].shape
    return bool(shape[-1] == n and n_views in (None, shape[0]))


def of_views(pictures: Iterable[RGB]) -> NDArray[np.float16]:
    """Return the statistics of the places `AS_IS` and `AS_IS_SQUARE` of pictures, (pictures, 2, statistics).

    Where a picture holds several windows, always the same is taken.
    """
    network, values = _network(), []
    for rgb in pictures:
        views = cache.cut_views(rgb, np.random.default_rng(0))
        values.append(_statistics(network, [np.asarray(windows(views.native[0], SIDE_PX, 1)[0]), views.square]))
    return np.stack(values) if values else np.zeros((0, 2, N_STATISTICS), np.float16)


def of_graphics(folder: Path, *, seed: int = 0) -> NDArray[np.float16]:
    """Return the statistics of `GRAPHICS_OF_KIND` graphics of every kind, as `load` does; ``folder`` keeps them.

    As in `compute`, those of other crops and networks are computed anew.
    """
    path = folder / f"graphics-{seed}.npy"
    if path.exists() and (kept := np.load(path)).shape[1:] == (N_PLACES, N_STATISTICS):
        return np.asarray(kept, dtype=np.float16)
    network = _network()
    n = GRAPHICS_OF_KIND * len(graphics.KINDS)
    values = np.full((n, N_PLACES, N_STATISTICS), np.nan, np.float16)
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        views = cache.cut_views(graphics.draw(list(graphics.KINDS)[i % len(graphics.KINDS)], rng), rng)
        crops = _crops(views, rng, judged=False)
        values[i, : len(crops)] = _statistics(network, crops)
    folder.mkdir(parents=True, exist_ok=True)
    with whole(path) as stored:
        np.save(stored, values)
    return values


def load(table: pd.DataFrame, folder: Path) -> NDArray[np.float16]:
    """Return the statistics of a table's pictures, (pictures, places, statistics); NaN where a crop was not made.

    Raises
    ------
    OSError
        A picture's are missing: see `compute`.
    """
    features = np.full((len(table), N_PLACES, N_STATISTICS), np.nan, np.float16)
    for i, file in enumerate(map(Path, table.file)):
        with np.load(folder / file.name) as stored:
            features[i, : len(stored["stats"])] = stored["stats"]
    return features
