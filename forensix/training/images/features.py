"""What the pretrained networks say of crops of the training pictures, computed once and kept, a file a picture.

Of every picture two crops are as they are (a window, the whole) and three are drawn by `crops.draw`; of the
first pictures of every source there are two more, of both classes scaled and encoded alike, to measure on.
"""

import time
import zlib
from collections.abc import Callable
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
from forensix.training.images import cache
from forensix.training.images.crops import alike, draw

AS_IS, AS_IS_WHOLE, DRAWN, DRAWN_WHOLE, ALIKE, ALIKE_WHOLE = 0, 1, (2, 3), 4, 5, 6
"""Places of a picture's crops in its file."""
ALIKE_OF_EACH = 60
AT_ONCE = 4
"""Pictures whose crops go through the network together."""


def _crops(views: cache.Views, rng: np.random.Generator, *, judged: bool) -> list[RGB]:
    def middle(rgb: RGB) -> RGB:
        return np.asarray(windows(rgb, SIDE_PX, 1)[0])

    drawn = [draw(views, rng, whole=False) for _ in DRAWN] + [draw(views, rng, whole=True)]
    crops = [middle(views.native[0]), middle(views.whole), *drawn]
    if judged:
        same = alike(views, rng)
        crops += [middle(same.native[0]), middle(same.whole)]
    return crops


def compute(table: pd.DataFrame, folder: Path, *, seed: int = 0, log: Callable[[str], None] = lambda _: None) -> None:
    """Compute what ``folder`` lacks for the pictures of a table (see `cache.usable`), in its order."""
    folder.mkdir(parents=True, exist_ok=True)
    backbones = Backbones()
    for backbone in backbones:
        load_imagenet(backbone)
    network = fuse(backbones).to(torch.bfloat16).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    rank = table.groupby(["repo", "made_by"]).cumcount().to_numpy()
    todo = [
        (file, bool(at < ALIKE_OF_EACH))
        for file, at in zip(map(Path, table.file), rank, strict=True)
        if not (folder / file.name).exists()
    ]
    start = time.monotonic()
    for done in range(0, len(todo), AT_ONCE):
        part = todo[done : done + AT_ONCE]
        crops = [
            _crops(cache.load(file), np.random.default_rng(1 + seed + zlib.crc32(file.name.encode())), judged=judged)
            for file, judged in part
        ]
        with torch.inference_mode():
            values = statistics(network(normalised(np.concatenate(crops)).bfloat16())).numpy().astype(np.float16)
        first = 0
        for (file, _), of_picture in zip(part, crops, strict=True):
            partial = (folder / file.name).with_suffix(".partial")
            with partial.open("wb") as stored:
                np.savez(stored, stats=values[first : first + len(of_picture)])
            partial.replace(folder / file.name)
            first += len(of_picture)
        if done % 200 == 0:
            log(f"features: {done} of {len(todo)} in {time.monotonic() - start:.0f} s")


def load(table: pd.DataFrame, folder: Path) -> NDArray[np.float16]:
    """Return the statistics of a table's pictures, (pictures, 7, statistics); NaN where a crop was not made.

    Raises
    ------
    OSError
        A picture's are missing: see `compute`.
    """
    features = np.full((len(table), 7, N_STATISTICS), np.nan, np.float16)
    for i, file in enumerate(map(Path, table.file)):
        with np.load(folder / file.name) as stored:
            features[i, : len(stored["stats"])] = stored["stats"]
    return features
