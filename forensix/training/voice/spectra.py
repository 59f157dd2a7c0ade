"""The small networks of `forensix.models.architectures.spectrograms`, fitted on what its pretrained one says of clips.

That is computed once for each version of a clip and kept. Clips are of as many systems and collections as there are,
at most `AT_MOST` of each, as they are and through random chains of degradations.
"""

import logging
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.models.architectures.efficientnet import fuse
from forensix.models.architectures.spectrograms import N_STATISTICS, RESOLUTIONS, Spectrograms
from forensix.training.backbone import load_imagenet
from forensix.training.kept import whole
from forensix.training.perceptrons import fit_perceptrons
from forensix.training.voice import measure, vocoder
from forensix.training.voice.clips import Clips, Samples

log = logging.getLogger(__name__)

VERSIONS = (0, 1, 2)
"""Of each clip: as it is, and so many of its degraded versions."""
AT_MOST = {"fakes": 25, "reals": 60}
"""Clips of each system and collection of a repository."""
CLEAN_WEIGHT = 4.0
"""What a clip as it is weighs beside one of its degraded versions: 1, 2 and 8 gave less clean or degraded."""
STEPS = 3_000

Statistics = NDArray[np.float16]
"""(clips, spectrograms, n)"""


def learnt_from(table: pd.DataFrame) -> pd.DataFrame:
    """Return the clips of a table that are learnt from: of copies those by a real vocoder, and of nothing too many."""
    return measure.thinned(table[table["method"].isin(["", vocoder.METHOD])], **AT_MOST)


def statistics_of(waves: Iterable[Samples]) -> Statistics:
    """Return what the pretrained network says of clips."""
    network = Spectrograms()
    load_imagenet(network.backbone)
    network = fuse(network).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    with torch.inference_mode():
        rows = [network.statistics(torch.from_numpy(np.ascontiguousarray(wave))[None])[0].numpy() for wave in waves]
    return np.stack(rows).astype(np.float16) if rows else np.empty((0, len(RESOLUTIONS), N_STATISTICS), np.float16)


def kept_statistics(path: Path, waves: Iterable[Samples]) -> Statistics:
    """Return the statistics that a file keeps; it is written first where it is not there."""
    if not path.is_file():
        with whole(path) as file:
            np.save(file, statistics_of(waves))
        log.info("%s written", path.name)
    stored: Statistics = np.load(path)
    return stored


def of_versions(clips: Clips, rows: pd.Index, folder: Path) -> list[Statistics]:
    """Return the statistics of some clips for each of `VERSIONS`; ``folder`` keeps them."""
    return [
        kept_statistics(folder / f"spectra-{version}.npy", (clips.wave(int(row), version) for row in rows))
        for version in VERSIONS
    ]


def clip_weights(table: pd.DataFrame) -> NDArray[np.float64]:
    """Return what clips weigh, 1 on average: a system or collection as the root of its clips, both classes alike."""
    sizes = table.groupby(["fake", "repo", "made_by"])["fake"].transform("size").to_numpy(dtype=np.float64)
    weights = sizes**-0.5
    fake = table["fake"].to_numpy() == 1
    for side in (fake, ~fake):
        weights[side] /= weights[side].sum()
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def fit(network: Spectrograms, versions: list[Statistics], table: pd.DataFrame, *, seed: int) -> Spectrograms:
    """Fit a network on clips, a row of the table each, in all versions; it is changed itself, and returned."""
    fake = np.tile(table["fake"].to_numpy() == 1, len(versions))
    weights = np.concatenate([clip_weights(table) * (1.0 if version else CLEAN_WEIGHT) for version in VERSIONS])
    weights /= weights.mean()
    x = np.concatenate([statistics.reshape(len(statistics), -1) for statistics in versions])
    fit_perceptrons(network.perceptrons, x, fake, weights, steps=STEPS, seed=seed)
    return network.eval()


@torch.inference_mode()
def logits(network: Spectrograms, statistics: Statistics) -> NDArray[np.float64]:
    """Return the logit of each clip by its statistics."""
    votes = network.perceptrons(torch.from_numpy(statistics.astype(np.float32)).flatten(1))
    return np.asarray(votes.mean(1).double())
