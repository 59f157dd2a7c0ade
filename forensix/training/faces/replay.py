"""Pairs that several processes make, kept on the device that learns and drawn again and again, each time worn anew.

To make a pair takes a processor's core as long as a graphics card takes to learn from a hundred. What is kept is
overwritten in turn, so that new ones come in for as long as the training lasts. Which pairs are there at a step depends
on how fast they are made: two runs of the same seed are alike, not the same.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from forensix.faces.align import ALIGNED_PX
from forensix.training.faces.blends import Rng
from forensix.training.faces.pairs import N_CELLS, Material, Pairs
from forensix.training.faces.worn import worn

AT_ONCE = 16
"""Pairs that a process hands over together."""
_WAIT_S = 0.05
_AHEAD = 3


@dataclass(frozen=True, eq=False)
class Batch:
    """What a step learns from: crops float (2 n, 3, S, S), the recorded ones first, and masks (n, 28, 28)."""

    crops: Tensor
    masks: Tensor


class _Stream(IterableDataset[Pairs]):
    def __init__(self, material: Material, seed: int) -> None:
        self.material, self.seed = material, seed

    def __iter__(self) -> Iterator[Pairs]:
        worker = torch.utils.data.get_worker_info()
        rng = np.random.default_rng((self.seed, worker.id if worker else 0))
        while True:
            yield self.material.draw(AT_ONCE, rng)


class Replay:
    """The pairs that are kept; `close` ends the processes that make them."""

    def __init__(self, material: Material, device: torch.device, *, kept: int, workers: int, seed: int) -> None:
        shape = (kept, ALIGNED_PX, ALIGNED_PX, 3)
        self._recorded = torch.zeros(shape, dtype=torch.uint8, device=device)
        self._made = torch.zeros_like(self._recorded)
        self._masks = torch.zeros((kept, N_CELLS, N_CELLS), dtype=torch.float16, device=device)
        self.n_made = 0
        self._is_closed = False
        stream = _Stream(material, seed)
        # Arrays through pipes: memory that processes share is small on some machines.
        self._loader = DataLoader(
            stream, batch_size=None, num_workers=workers, prefetch_factor=_AHEAD, collate_fn=lambda pairs: pairs
        )
        self._thread = threading.Thread(target=self._fill, daemon=True)
        self._thread.start()

    def draw(self, n: int, rng: Rng, *, least: int) -> Batch:
        """Return ``n`` of the pairs, worn at random; at first it waits until there are ``least``."""
        while self._n_kept < min(least, len(self._masks)):
            if not self._thread.is_alive():
                raise RuntimeError("no pairs are made any more")
            time.sleep(_WAIT_S)
        rows = torch.from_numpy(rng.integers(self._n_kept, size=n)).to(self._masks.device)
        with torch.no_grad():
            return Batch(*worn(self._recorded[rows], self._made[rows], self._masks[rows]))

    def close(self) -> None:
        """End the processes."""
        self._is_closed = True
        self._thread.join()

    @property
    def _n_kept(self) -> int:
        return min(self.n_made, len(self._masks))

    def _fill(self) -> None:
        for pairs in self._loader:
            if self._is_closed:
                return
            rows = (torch.arange(len(pairs.masks)) + self.n_made) % len(self._masks)
            rows = rows.to(self._masks.device)
            for kept, new in (
                (self._recorded, pairs.recorded),
                (self._made, pairs.made),
                (self._masks, pairs.masks),
            ):
                kept[rows] = torch.from_numpy(new).to(kept.device)
            self.n_made += len(pairs.masks)
