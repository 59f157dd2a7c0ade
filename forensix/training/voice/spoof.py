"""Train the shipped spoof detector.

    python -m forensix.training.voice.spoof --corpora DIR --repositories DIR --out DIR

Half of each batch are pairs: a human recording and a copy of it made by `synthesis`, cut at the same place and
degraded alike. The other half are human recordings and fakes of real systems, balanced over collections and systems. A
network is trained for each fold with one third of the collections and systems held out; the networks' logits are
averaged, and the calibration is fitted to the logits that each gave to what it had not seen.
"""

import argparse
import logging
import time
from collections.abc import Hashable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.calibration import Calibration, fit_platt
from forensix.metrics import auc, eer
from forensix.models import Measurement, ModelCard, Output, TrainingSource, save_model
from forensix.models.architectures.lcnn import Ensemble, build
from forensix.training.voice.dataset import N_DEGRADED, RATE_HZ, Examples, build_examples, load_examples
from forensix.training.voice.sources import collect

log = logging.getLogger(__name__)

# Which collections and systems each network does not see. LJSpeech's reader is on both sides of every fold, because
# most systems speak with her voice.
FOLDS: tuple[frozenset[str], ...] = (
    frozenset({
        "commands", "voice references", "AISHELL-3",
        "Matcha-TTS", "Grad-TTS", "VITS", "FastSpeech2+HiFi-GAN", "HiFi-GAN copies",
        "WaveNet", "WaveNet 8-bit", "Tacotron2+WaveNet",
    }),
    frozenset({
        "wake words", "meetings", "CMU ARCTIC", "read speech",
        "Neural-HMM+HiFi-GAN", "Neural-HMM+WaveGlow", "Tacotron2+HiFi-GAN", "Tacotron2+WaveGlow",
        "DiffGAN-TTS", "PortaSpeech", "MelGAN",
    }),
    frozenset({
        "LibriSpeech", "LibriTTS", "speeches", "cloned speeches", "Tortoise", "NaturalSpeech", "Tacotron2", "Larynx",
        "FastSpeech2", "kan-bayashi_fb-melgan", "kan-bayashi_hifigan", "kan-bayashi_mb-melgan", "kan-bayashi_melgan",
        "kan-bayashi_style-melgan", "kan-bayashi_wavegan", "r9y9_wavegan",
    }),
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """How one network is trained."""

    steps: int = 1500
    batch: int = 48
    rate: float = 3e-3
    decay: float = 0.02
    smoothing: float = 0.05
    average: float = 0.99
    crops_s: tuple[float, ...] = (0.8, 1.2, 1.6)
    clean: float = 0.4
    minutes: float = 60.0


# The network that ships; small, because it must train on one processor core.
CONFIG: dict[str, Any] = {"channels": (12, 20, 32, 48), "n_bands": 64, "window": 512, "hop": 256, "dropout": 0.2}


class Sampler:
    """Draws batches: pairs of a piece and its copy, other human pieces, and fakes of real systems."""

    def __init__(self, examples: Examples, held_out: frozenset[str], rng: np.random.Generator) -> None:
        table = examples.table[~examples.table["group"].isin(held_out)]
        self.examples, self.rng = examples, rng
        genuine = table[table["method"] == ""]
        self.real = self._weighted(genuine[genuine["fake"] == 0])
        self.fake = self._weighted(genuine[genuine["fake"] == 1])
        copies = table[table["method"] != ""]
        self.copies: dict[Hashable, NDArray[np.int64]] = {
            piece: rows.index.to_numpy() for piece, rows in copies.groupby("piece")
        }
        self.piece = table["piece"].to_dict()

    @staticmethod
    def _weighted(table) -> tuple[NDArray[np.int64], NDArray[np.float64]]:  # type: ignore[no-untyped-def]
        """Weight rows so that a group counts as the square root of its size."""
        sizes = table.groupby("group")["fake"].transform("size").to_numpy(dtype=np.float64)
        weights = sizes**-0.5
        return table.index.to_numpy(), weights / weights.sum()

    def _cut(self, row: int, size: int, at: float, version: int) -> NDArray[np.float32]:
        wave = self.examples.wave(row, version)
        if wave.size < size:
            wave = np.tile(wave, -(-size // wave.size))
        start = int(at * (wave.size - size))
        return wave[start : start + size]

    def batch(self, n: int, size: int, clean: float) -> tuple[Tensor, Tensor]:
        """Return waves (n, size) and labels (n,), human and fake in turn."""
        waves: list[NDArray[np.float32]] = []
        reals = self.rng.choice(self.real[0], n // 2, p=self.real[1])
        fakes = self.rng.choice(self.fake[0], n // 2, p=self.fake[1])
        versions = self.rng.integers(1, N_DEGRADED + 1, (n // 2, 2)) * (self.rng.random((n // 2, 2)) >= clean)
        for i, (real, fake) in enumerate(zip(reals, fakes, strict=True)):
            at = self.rng.random(2)
            waves.append(self._cut(real, size, at[0], versions[i, 0]))
            if i % 2:
                waves.append(self._cut(fake, size, at[1], versions[i, 1]))
            else:
                copy = int(self.rng.choice(self.copies[int(self.piece[real])]))
                waves.append(self._cut(copy, size, at[0], versions[i, 0]))
        return torch.from_numpy(np.stack(waves)), torch.tensor([0.0, 1.0]).repeat(n // 2)


def _rms(waves: Tensor) -> Tensor:
    waves = waves - waves.mean(1, keepdim=True)
    return waves * (0.05 / waves.square().mean(1, keepdim=True).sqrt().clamp_min(1e-4))


def train(
    network: nn.Module,
    examples: Examples,
    held_out: frozenset[str],
    settings: Settings,
    seed: int,
    keep: Path | None = None,
) -> list[float]:
    """Train a network in place, leave the average of its weights in it, and return the loss of each step."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    sampler = Sampler(examples, held_out, rng)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(network.parameters(), lr=settings.rate, weight_decay=settings.decay)
    averaged = torch.optim.swa_utils.AveragedModel(
        network,
        multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(settings.average),  # type: ignore[no-untyped-call]
        use_buffers=True,
    )
    losses: list[float] = []
    begun = time.monotonic()
    network.train()
    for step in range(settings.steps):
        # The shorter of steps and minutes ends the schedule.
        progress = max(step / settings.steps, (time.monotonic() - begun) / (60 * settings.minutes))
        if progress >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * min(1.0, (step + 1) / 50) * (0.5 + 0.5 * np.cos(np.pi * progress)) + 1e-5
        size = int(rng.choice(settings.crops_s) * RATE_HZ)
        waves, labels = sampler.batch(settings.batch, size, settings.clean)
        soft = labels * (1 - 2 * settings.smoothing) + settings.smoothing
        loss = nn.functional.binary_cross_entropy_with_logits(network(_rms(waves)), soft)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 5.0)
        optimizer.step()
        averaged.update_parameters(network)
        losses.append(loss.item())
        if step % 100 == 99:
            if keep is not None:
                torch.save(averaged.module.state_dict(), keep)
            log.info("step %d loss %.4f, %.0f s", step + 1, np.mean(losses[-100:]), time.monotonic() - begun)
    network.load_state_dict(averaged.module.state_dict())
    network.eval()
    return losses


@torch.inference_mode()
def logits_of(network: nn.Module, examples: Examples, rows: NDArray[np.int64], version: int) -> NDArray[np.float64]:
    """Return the logit of each example, whole."""
    waves = (torch.from_numpy(examples.wave(int(row), version))[None] for row in rows)
    return np.array([float(network(_rms(wave))) for wave in waves])


def held_out_rows(examples: Examples, held_out: frozenset[str], *, per_group: int = 60) -> NDArray[np.int64]:
    """Return up to ``per_group`` rows of each held-out group; copies are left out."""
    table = examples.table
    kept = table[table["group"].isin(held_out) & (table["method"] == "")].groupby("group").head(per_group)
    return np.asarray(kept.index, dtype=np.int64)


def train_fold(fold: int, folder: Path, settings: Settings, seed: int) -> pd.DataFrame:
    """Train one network, write its weights to ``folder``, and return the logits of what it had not seen."""
    torch.set_num_threads(1)
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s fold {fold}: %(message)s")
    examples = load_examples(folder / "examples")
    torch.manual_seed(seed + fold)
    network = build(**CONFIG).members[0]
    weights = folder / f"fold-{fold}.pt"
    losses = train(network, examples, FOLDS[fold], settings, seed + fold, keep=weights)
    torch.save(network.state_dict(), weights)
    rows = held_out_rows(examples, FOLDS[fold])
    found = [
        examples.table.loc[rows, ["fake", "group"]].assign(
            logit=logits_of(network, examples, rows, version), version=version, fold=fold, steps=len(losses)
        )
        for version in (0, 1)
    ]
    table = pd.concat(found, ignore_index=True)
    log.info("%d steps; held out: %s", len(losses), summarise(table))
    table.to_csv(folder / f"fold-{fold}.csv", index=False)
    return table


def summarise(table: pd.DataFrame) -> str:
    """Return AUC and EER of held-out logits, and the mean logit of each group."""
    means = table.groupby(["fake", "group"])["logit"].mean().round(2).reset_index()
    head = f"AUC {auc(table['fake'], table['logit']):.3f}, EER {eer(table['fake'], table['logit']):.3f}; "
    return head + ", ".join(f"{group} {value}" for _, group, value in means.to_numpy().tolist())


def calibrate(table: pd.DataFrame) -> Calibration:
    """Fit the calibration; every collection and every system counts alike within its class."""
    weights = 1 / table.groupby(["fold", "fake", "group"])["logit"].transform("size")
    return fit_platt(table["logit"], table["fake"], weights=weights)


def join(folder: Path) -> Ensemble:
    """Return the folds' networks as one."""
    ensemble = build(n_members=len(FOLDS), **CONFIG)
    for fold, member in enumerate(ensemble.members):
        member.load_state_dict(torch.load(folder / f"fold-{fold}.pt", weights_only=True))
    return ensemble.eval()


def training_sources(examples: Examples) -> tuple[TrainingSource, ...]:
    """Count the pieces of each repository and class; copies are counted as a source of their own."""
    table = examples.table[examples.table["method"] == ""]
    counted = table.groupby(["repository", "licence", "fake"]).size().reset_index()
    sources = [
        TrainingSource(source=repository, label="fake" if fake else "real", n=n, licence=licence)
        for repository, licence, fake, n in counted.to_numpy().tolist()
    ]
    n_copies = int((examples.table["method"] != "").sum())
    copies = TrainingSource(
        source="copies of the real pieces by forensix.training.voice.synthesis",
        label="fake",
        n=n_copies,
        licence="as the real pieces",
    )
    return (*sources, copies)


def measure_held_out(held_out: pd.DataFrame, command: str) -> tuple[Measurement, ...]:
    """Return how each network did on what it had not seen, clean and degraded together."""
    return tuple(
        Measurement(
            metric=metric.__name__.upper(),
            value=round(metric(rows["fake"], rows["logit"]), 4),
            data=f"collections and systems that network {fold} had not seen, clean and degraded",
            n_real=int((rows["fake"] == 0).sum()),
            n_fake=int(rows["fake"].sum()),
            command=command,
        )
        for fold, rows in held_out.groupby("fold")
        for metric in (auc, eer)
    )


def make_card(examples: Examples, held_out: pd.DataFrame, seed: int, command: str) -> ModelCard:
    """Return the card, without hash and without what the benchmark measures."""
    return ModelCard(
        name="forensix-spoof",
        component="spoof",
        summary="Synthetic or converted speech: three small max-feature-map networks over linear-frequency bands.",
        architecture="lcnn",
        config={"n_members": len(FOLDS), **CONFIG},
        preprocessing={"window": 64_000, "hop": 32_000, "shortest": 16_000, "at_most": 64, "level": True},
        output=Output(labels=("fake",), fake=0),
        calibration=calibrate(held_out),
        calibrated_on="For each network the training collections and systems that it did not see, clean and degraded; "
        "every collection and system weighs alike, classes have equal priors.",
        trained_on=training_sources(examples),
        limits="Mostly English, mostly one reader (LJSpeech) among the fakes, systems of 2018 to 2023. Blind to newer "
        "systems that leave no trace below 7.2 kHz; heavy noise, telephone bands, low rates of MP3 and clips under a "
        "second blur it, and human speech is then called fake more often.",
        licence="Apache-2.0; some training sources state no licence or unclear rights, see trained_on",
        seed=seed,
        measured=measure_held_out(held_out, command),
        command=command,
        weights="forensix-spoof.safetensors",
        sha256="",
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the whole training; weights and card are left in ``--out``."""
    parser = argparse.ArgumentParser(
        prog="python -m forensix.training.voice.spoof", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, help="checkouts named owner+name or owner/name")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=Settings.steps, help="of each network")
    parser.add_argument("--minutes", type=float, default=Settings.minutes, help="of each network; the shorter holds")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    args = parser.parse_args(arguments)
    recordings = collect(args.corpora, args.repositories)
    examples = build_examples(recordings, args.out / "examples", seed=args.seed, workers=args.workers)
    settings = Settings(steps=args.steps, minutes=args.minutes)
    work = partial(train_fold, folder=args.out, settings=settings, seed=args.seed)
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        held_out = pd.concat(pool.map(work, range(len(FOLDS))), ignore_index=True)
    steps = "/".join(map(str, held_out.groupby("fold")["steps"].first()))
    command = (
        f"python -m forensix.training.voice.spoof --corpora DIR --repositories DIR --out DIR --seed {args.seed} "
        f"--steps {args.steps} --minutes {args.minutes:g} --workers {args.workers} (made {steps} steps)"
    )
    card = save_model(make_card(examples, held_out, args.seed, command), join(args.out), args.out)
    print(card.calibration, summarise(held_out))


if __name__ == "__main__":
    main()
