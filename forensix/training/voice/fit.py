"""Train one network on clips, in pairs that leave it nothing but synthesis to tell the classes apart by.

Of each batch, half are a fake and a recording of the same repository, a fifth a recording and its own copy (one in two
by a real vocoder, where there are such), cut at the same place and degraded alike, and the rest a fake of any system
and a recording of any collection. Systems and
collections count as the square root of their size. Both classes are as often clean, and degraded by the same chains.
"""

import logging
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.training.loop import Plan, fit
from forensix.training.voice import vocoder
from forensix.training.voice.clips import DEGRADED, Clips, Samples
from forensix.voice.speech import RATE_HZ
from forensix.voice.spoof import LEVEL_RMS

log = logging.getLogger(__name__)
SAME_REPOSITORY, COPIES = 0.5, 0.2


@dataclass(frozen=True)
class Settings:
    """How one network is trained; the shorter of ``steps`` and ``minutes`` of processor time ends its schedule."""

    steps: int = 20_000
    minutes: float = 42.0
    batch: int = 48
    rate: float = 3e-3
    decay: float = 0.02
    smoothing: float = 0.05
    average: float = 0.998
    crops_s: tuple[float, ...] = (0.8, 1.2, 1.6)
    clean: float = 0.35
    """Share of pairs that stay as they are."""
    half: bool = False
    """Whether convolutions run in bfloat16: three times faster where the processor has matrix units (AMX) for it."""


class Sampler:
    """Draws batches of crops, a recording and a fake in turn."""

    def __init__(self, clips: Clips, rows: NDArray[np.int64], rng: np.random.Generator) -> None:
        table = clips.table.loc[rows]
        self.clips, self.rng = clips, rng
        own = table[table["method"] == ""]
        self.real, self.fake = (self._weighted(own[own["fake"] == label]) for label in (0, 1))
        self.within = self._within(own)
        copies = table[table["method"] != ""]
        originals = own[own["fake"] == 0].reset_index().set_index("piece")["index"]
        copies = copies[copies["piece"].isin(originals.index)]
        self.copies = [
            np.stack([some.index, originals.loc[some["piece"]].to_numpy()], axis=1)
            for _, some in copies.groupby(copies["method"] == vocoder.METHOD)
        ]

    @staticmethod
    def _weighted(table: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        sizes = table.groupby(["repo", "made_by"])["fake"].transform("size").to_numpy(dtype=np.float64)
        weights = sizes**-0.5
        return table.index.to_numpy(), weights / weights.sum()

    def _within(self, own: pd.DataFrame) -> list[tuple[float, NDArray[np.int64], NDArray[np.int64]]]:
        """Return the share, recordings and fakes of each repository that has both."""
        groups = []
        for _, group in own.groupby("repo"):
            reals, fakes = (group.index[group["fake"] == label].to_numpy() for label in (0, 1))
            if len(reals) and len(fakes):
                systems = group["made_by"][group["fake"] == 1].nunique()
                groups.append((float(np.sqrt(systems) * min(len(reals), 20) ** 0.5), reals, fakes))
        total = sum(share for share, _, _ in groups)
        return [(share / total, reals, fakes) for share, reals, fakes in groups]

    def pairs(self, n: int) -> list[tuple[int, int, bool]]:
        """Return rows of a recording and a fake each, and whether the fake is the recording's own copy."""
        rng, out = self.rng, []
        shares = [share for share, _, _ in self.within]
        for kind in rng.random(n):
            if kind < SAME_REPOSITORY and shares:
                _, reals, fakes = self.within[int(rng.choice(len(shares), p=shares))]
                out.append((int(rng.choice(reals)), int(rng.choice(fakes)), False))
            elif kind < SAME_REPOSITORY + COPIES and len(self.copies):
                made = self.copies[int(rng.integers(len(self.copies)))]
                copy, real = made[int(rng.integers(len(made)))]
                out.append((int(real), int(copy), True))
            else:
                real, fake = (int(rng.choice(index, p=weights)) for index, weights in (self.real, self.fake))
                out.append((real, fake, False))
        return out

    def batch(self, n: int, size: int, clean: float) -> tuple[Tensor, Tensor]:
        """Return waves (n, size) and labels (n,)."""
        waves = []
        for real, fake, alike in self.pairs(n // 2):
            versions, at = self.rng.integers(1, DEGRADED + 1, 2), self.rng.random(2)
            if alike:
                versions[1], at[1] = versions[0], at[0]
            versions *= self.rng.random() >= clean
            for row, version, place in zip((real, fake), versions, at, strict=True):
                waves.append(self.clips.crop(row, int(version), size, place))
        return levelled(torch.from_numpy(np.stack(waves))), torch.tensor([0.0, 1.0]).repeat(n // 2)


def levelled(waves: Tensor) -> Tensor:
    """Bring waves (batch, samples) to zero mean and one loudness, as `forensix.voice.spoof.normalise` does."""
    waves = waves - waves.mean(1, keepdim=True)
    return waves * (LEVEL_RMS / waves.square().mean(1, keepdim=True).sqrt().clamp_min(1e-4))


def train(network: nn.Module, sampler: Sampler, settings: Settings, seed: int, checkpoint: Path) -> int:
    """Train a network in place, leave the average of its weights in it, and return the steps made.

    What an interrupted run left in ``checkpoint`` is continued.
    """
    torch.manual_seed(seed)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def draw(rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        return sampler.batch(settings.batch, int(rng.choice(settings.crops_s) * RATE_HZ), settings.clean)

    def loss_of(network: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        waves, labels = batch
        soft = labels * (1 - 2 * settings.smoothing) + settings.smoothing
        with torch.autocast("cpu", torch.bfloat16, enabled=settings.half):
            logits = network(waves)
        return nn.functional.binary_cross_entropy_with_logits(logits, soft)

    def rate(step: int, progress: float) -> float:
        return settings.rate * min(1.0, (step + 1) / 50) * (0.5 + 0.5 * math.cos(math.pi * progress)) + 1e-5

    def tell(step: int, loss: float, progress: float) -> None:
        log.info("step %d loss %.4f, %.0f %%", step, loss, 100 * progress)

    plan = Plan(settings.steps, rate, settings.decay, settings.average, settings.minutes)
    return fit(network, draw, loss_of, plan, sampler.rng, checkpoint=checkpoint, tell=tell)


@torch.inference_mode()
def logit_of(network: nn.Module, wave: Samples) -> float:
    """Return the logit of a clip, whole."""
    return float(network(levelled(torch.from_numpy(wave)[None])))
