"""Fit the face network on pairs, and calibrate its score on pairs of identities that it did not see.

Real and generated faces are made into pairs (`forensix.training.faces.data`), and the network of
``architectures/face_cnn.py`` learns to tell the halves of a pair apart, what was done, and where.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from forensix.calibration import Calibration, fit_platt
from forensix.faces.classify import network_input
from forensix.faces.crop import CROP_PX
from forensix.models.architectures import face_cnn
from forensix.training.faces.blend import Rng
from forensix.training.faces.data import CELL_PX, STORED_PX, TYPES, SourceFace, make_pair, shares
from forensix.training.loop import Plan, cosine, fit

SEED = 20
CONFIG: dict[str, Any] = {"width": 48, "n_types": len(TYPES), "depth": 2, "dropout": 0.2}
INPUT_CELLS = CROP_PX // CELL_PX
SPARE_CELLS = (STORED_PX - CROP_PX) // CELL_PX


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs made ahead: crops uint8 (n, 2, 176, 176, 3) real then fake, kind int (n,), place uint8 (n, 22, 22)."""

    crops: np.ndarray
    kind: np.ndarray
    place: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)


def make_pool(faces: list[SourceFace], n: int, seed: int, path: Path | None = None) -> Pool:
    """Make ``n`` pairs of these faces; the crops lie in a file at ``path`` when there is one, else in memory."""
    real = [one for one in faces if one.label == "real"]
    fake = [one for one in faces if one.label == "fake"]
    weights = shares(real)
    rng = np.random.default_rng(seed)
    shape = (n, 2, STORED_PX, STORED_PX, 3)
    crops = np.lib.format.open_memmap(path, "w+", np.uint8, shape) if path else np.empty(shape, np.uint8)
    kind = np.empty(n, np.int64)
    place = np.empty((n, STORED_PX // CELL_PX, STORED_PX // CELL_PX), np.uint8)
    for i in range(n):
        pair = make_pair(real, fake, weights, rng)
        crops[i, 0], crops[i, 1], kind[i], place[i] = pair.real, pair.fake, pair.kind, pair.place
    return Pool(crops, kind, place)


@dataclass(frozen=True, eq=False)
class Examples:
    """What the network learns from: its fixed maps float16 (n, 2, maps, 22, 22) of real and fake, kind and place."""

    maps: np.ndarray
    kind: np.ndarray
    place: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)


def examples(pool: Pool, *, batch: int = 16) -> Examples:
    """Make the fixed maps of all crops of a pool, once for all epochs."""
    net = face_cnn.build(**CONFIG)
    parts = []
    with torch.inference_mode():
        for start in range(0, len(pool), batch):
            crops = pool.crops[start : start + batch].reshape(-1, STORED_PX, STORED_PX, 3)
            maps = net.maps(network_input(crops, STORED_PX)).numpy().astype(np.float16)
            parts.append(maps.reshape(-1, 2, *maps.shape[1:]))
    return Examples(np.concatenate(parts), pool.kind, pool.place)


def join(parts: list[Examples]) -> Examples:
    """Put examples together."""
    fields = (np.concatenate([getattr(part, name) for part in parts]) for name in ("maps", "kind", "place"))
    return Examples(*fields)


def batches(given: Examples, size: int, rng: Rng) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield shuffled batches of ``size`` pairs, shifted and mirrored: maps, is fake, kind (-1 for real), place."""
    order = rng.permutation(len(given))
    for start in range(0, len(order) - size + 1, size):
        rows = np.sort(order[start : start + size])
        top, left = (int(v) for v in rng.integers(0, SPARE_CELLS + 1, 2))
        x = given.maps[rows][..., top : top + INPUT_CELLS, left : left + INPUT_CELLS].astype(np.float32)
        place = np.zeros((size, 2, INPUT_CELLS, INPUT_CELLS), np.float32)
        place[:, 1] = given.place[rows][:, top : top + INPUT_CELLS, left : left + INPUT_CELLS] / np.float32(255)
        if rng.random() < 0.5:
            # Energies do not tell left from right, so a mirrored map is the map of a mirrored crop.
            x, place = x[..., ::-1], place[..., ::-1]
        kind = np.stack([np.full(size, -1), given.kind[rows]], axis=1).ravel()
        side = INPUT_CELLS // 2
        coarse = place.reshape(-1, side, 2, side, 2).mean(axis=(2, 4))
        flat = torch.from_numpy(np.ascontiguousarray(x.reshape(-1, *x.shape[2:])))
        fake = torch.tensor([0.0, 1.0]).repeat(size)
        yield flat, fake, torch.from_numpy(kind), torch.from_numpy(np.ascontiguousarray(coarse))


def loss_of(net: face_cnn.FaceCNN, maps: Tensor, fake: Tensor, kind: Tensor, place: Tensor) -> Tensor:
    """Return the training loss of one batch: verdict, place of the change, and kind of the fake halves."""
    outputs, places = net.judge(maps)
    verdict = nn.functional.binary_cross_entropy_with_logits(outputs[:, 0], fake)
    where = nn.functional.binary_cross_entropy_with_logits(places, place)
    what = nn.functional.cross_entropy(outputs[:, 1:], kind, ignore_index=-1)
    return verdict + where + 0.2 * what


def train(
    given: Examples,
    *,
    epochs: float,
    batch: int = 32,
    rate: float = 3e-3,
    seed: int = SEED,
    log: Callable[[int, float], None] | None = None,
) -> face_cnn.FaceCNN:
    """Train a network and return it, weights averaged over the later steps, in evaluation mode.

    ``log`` is called every 50 steps with the step and the mean loss of these.
    """
    torch.manual_seed(seed)
    net = face_cnn.build(**CONFIG)

    def stream(rng: Rng) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        while True:
            yield from batches(given, batch, rng)

    rng = np.random.default_rng(seed)
    drawn = stream(rng)
    plan = Plan(
        steps=max(1, int(epochs * (len(given) // batch))),
        rate=cosine(rate, warm=100, least=0.02),
        decay=0.05,
        average=0.99,
        every=50,
    )
    fit(
        net,
        lambda _: next(drawn),
        lambda _, one: loss_of(net, *one),
        plan,
        rng,
        tell=None if log is None else lambda step, loss, _: log(step, loss),
    )
    return net


def outputs_of(net: face_cnn.FaceCNN, given: Examples, *, batch: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Return outputs (2n, 1 + types), mean of each crop and its mirror image, and whether each is fake (2n,)."""
    rim = SPARE_CELLS // 2
    inner = given.maps[..., rim : rim + INPUT_CELLS, rim : rim + INPUT_CELLS]
    inner = inner.reshape(-1, inner.shape[2], INPUT_CELLS, INPUT_CELLS)
    parts = []
    with torch.inference_mode():
        for start in range(0, len(inner), batch):
            x = torch.from_numpy(inner[start : start + batch].astype(np.float32))
            parts.append(((net.judge(x)[0] + net.judge(x.flip(3))[0]) / 2).numpy())
    return np.concatenate(parts).astype(np.float64), np.tile([0, 1], len(given))


def calibrate(net: face_cnn.FaceCNN, given: Examples) -> Calibration:
    """Fit the score on pairs of identities that training did not see; every type of fake counts alike."""
    outputs, fake = outputs_of(net, given)
    kinds = np.repeat(given.kind, 2)
    weights = np.ones(len(fake))
    for kind in np.unique(given.kind):
        rows = (kinds == kind) & (fake == 1)
        weights[rows] = 1 / rows.sum()
    return fit_platt(outputs[:, 0], fake, weights=weights)
