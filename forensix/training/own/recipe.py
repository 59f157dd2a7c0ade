"""What a network of a slot needs to be trained on files: how they are decoded, drawn, degraded and judged."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.media import Media, open_media
from forensix.models import LoadedModel
from forensix.models.detector import read_out
from forensix.training.own.material import Arrays, Material

Rng = np.random.Generator
Batch = tuple[Tensor, Tensor, Tensor]
"""Inputs (n, ...), which output to read (n,), and labels (n,), 1 for fake."""


class Recipe(ABC):
    """How the network of one slot learns from files."""

    slot: ClassVar[str]
    kind: ClassVar[str]
    """Names what `read` keeps of a file."""
    degradations: ClassVar[tuple[str, ...]]
    """What held-out files are measured after, beside as they are (`forensix.perturb`), each ``name=strength``."""
    batch_size: ClassVar[int]
    rate: ClassVar[float]
    all_layers: ClassVar[bool] = True
    """Whether all layers learn, unless the caller says otherwise."""

    def __init__(self, model: LoadedModel) -> None:
        self.card, self.module = model.card, model.module

    @property
    def form(self) -> str:
        """What tells one way of decoding from another: models of one slot may want files otherwise."""
        return f"{self.kind} {self.card.preprocessing}"

    def read(self, path: Path, rng: Rng) -> Arrays:
        """Return what is kept of a file.

        Raises
        ------
        InputError
            It cannot be opened, or holds nothing to learn from.
        """
        with open_media(path) as media:
            return self.kept(media, rng)

    @abstractmethod
    def kept(self, media: Media, rng: Rng) -> Arrays:
        """Return what is kept of an opened file; see `read`."""

    @abstractmethod
    def example(self, arrays: Arrays, size: int, rng: Rng) -> "tuple[np.ndarray[Any, Any], int]":
        """Return one input, cut and degraded at random without regard to its class, and which output to read."""

    @abstractmethod
    def inputs(self, drawn: "list[np.ndarray[Any, Any]]") -> Tensor:
        """Return examples as the network takes them."""

    @staticmethod
    @abstractmethod
    def logit(detector: Any, path: Path) -> float:
        """Return the detector's raw logit of a whole file.

        Raises
        ------
        InputError
            The file holds nothing to judge.
        """

    def size(self, rng: Rng) -> int:
        """Return how large the examples of a batch are."""
        return 0

    def tuned(self, *, all_layers: bool) -> list[nn.Parameter]:
        """Return the parameters that learn: all, or those of the last linear layer."""
        last = [one for one in self.module.modules() if isinstance(one, nn.Linear)][-1:]
        return list((self.module if all_layers or not last else last[0]).parameters())

    def draw(self, material: Material, n: int, rng: Rng) -> Batch:
        """Return a batch of ``n`` examples, half of them fake; groups count as the root of their files."""
        size, rows = self.size(rng), self.rows(material, n, rng)
        examples = [self.example(material.arrays(int(row)), size, rng) for row in rows]
        labels = torch.tensor(material.fake[rows].astype(np.float32))
        return self.inputs([one for one, _ in examples]), torch.tensor([output for _, output in examples]), labels

    def rows(self, material: Material, n: int, rng: Rng) -> NDArray[np.int64]:
        """Return ``n`` files to draw from, half of them fake; groups count as the root of their files."""
        sides = [np.flatnonzero(material.fake == fake) for fake in (False, True)]
        return np.concatenate([rng.choice(side, n // 2, p=material.weights[side]) for side in sides])

    def logits(self, network: nn.Module, inputs: Tensor, outputs: Tensor) -> Tensor:
        """Return logits (n,), higher for fake, with their gradient."""
        output = network(inputs)
        return read_out(output[0] if isinstance(output, tuple) else output, self.card.output)
