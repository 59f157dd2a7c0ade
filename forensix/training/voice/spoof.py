"""Train the shipped spoof detector: ``python -m forensix.training.voice.spoof --list voice.csv --corpora DIR ...``.

Sources are dealt into folds, whole: for each fold two networks over bands are trained on the others (see `MEMBERS`),
and small networks on what a pretrained one says of spectrograms (see `spectra`). What they gave to the sources that
they had not seen, clean and degraded, fits the calibration, the threshold and the band that decides nothing. All
networks over bands ship, and small networks that learnt from everything. What an interrupted run has made in ``--out``
is not made again.
"""

import argparse
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration, fit_platt
from forensix.models import ModelCard, Output, TrainingSource, save_model
from forensix.models.architectures import lcnn
from forensix.models.architectures.lcnn import Ensemble, LightCnn
from forensix.models.architectures.spectrograms import Spectrograms
from forensix.models.architectures.voices import Voices
from forensix.training.backbone import load_imagenet, origin_of
from forensix.training.folds import leave_source_out
from forensix.training.sources import Repositories
from forensix.training.voice import lists, measure, spectra, vocoder
from forensix.training.voice.clips import Clips, build_clips, degrade_clips
from forensix.training.voice.fit import Sampler, Settings, logit_of, train
from forensix.training.voice.kinds import SINGING

log = logging.getLogger(__name__)

N_FOLDS = 3
CONFIG: dict[str, Any] = {"n_bands": 64, "window": 512, "hop": 256, "dropout": 0.2}
SHARE = 0.5
"""Weight of the spectrograms' logit in the detector's."""
KEYS = ["fold", "condition", "clip"]
"""Columns that name a clip, held out, as it comes through a condition."""


@dataclass(frozen=True)
class Member:
    """One network over bands: the fold that it does not see, its channels, and how it is trained."""

    fold: int
    channels: tuple[int, ...]
    settings: Settings
    copies: int = 0
    """Copies by a neural vocoder, of each collection, that are among its clips."""

    @property
    def name(self) -> str:
        """Of its files."""
        return f"fold-{self.fold}-{self.channels[0]}"

    def network(self) -> LightCnn:
        """Return the network as it is before training."""
        return lcnn.build(channels=(self.channels,), **CONFIG).members[0]  # type: ignore[return-value]


_NARROW, _WIDE = (16, 32, 48, 64), (32, 64, 128, 128)
MEMBERS = (
    *(Member(fold, _NARROW, Settings(minutes=42.0)) for fold in range(N_FOLDS)),
    *(Member(fold, _WIDE, Settings(minutes=21.0, half=True), copies=2 if fold else 0) for fold in range(N_FOLDS)),
)


def folds_of(table: pd.DataFrame, seed: int, n_folds: int = N_FOLDS) -> NDArray[np.int64]:
    """Return the fold that holds each clip out; a copy goes with the recording that it was made of.

    Sources are dealt without the copies of a vocoder, so that folds are the same with and without them.
    """
    dealt = table[table["method"] != vocoder.METHOD]
    fake = (dealt["fake"] == 1) & (dealt["method"] == "")
    made_by = dealt["made_by"].where(fake, "")
    # Told the other way round, sources are dealt by their fakes first: most have many systems and few people.
    recorded = (~fake).tolist()
    folds = leave_source_out(dealt["repo"].tolist(), made_by.tolist(), recorded, n_folds, seed=seed)
    fold_of = dict(zip(dealt["repo"], folds.tolist(), strict=True))
    return np.asarray(table["repo"].map(fold_of), dtype=np.int64)


def copies_before(table: pd.DataFrame) -> NDArray[np.int64]:
    """Return of each copy by a vocoder how many of its collection come before it, (n,), and -1 of all other clips."""
    number = table.groupby(["repo", "made_by", "method"]).cumcount()
    return np.asarray(number.where(table["method"] == vocoder.METHOD, -1), dtype=np.int64)


def train_member(
    clips: Clips, folds: NDArray[np.int64], member: Member, seed: int, out: Path
) -> tuple[LightCnn, pd.DataFrame]:
    """Return a network and a table of what it had not seen, with the logits that it gave."""
    torch.manual_seed(seed + member.fold)
    network = member.network()
    weights = out / f"{member.name}.pt"
    if not weights.is_file():
        seen = (folds != member.fold) & (copies_before(clips.table) < member.copies)
        sampler = Sampler(clips, clips.table.index[seen].to_numpy(), np.random.default_rng([seed, member.fold]))
        steps = train(network, sampler, member.settings, seed + member.fold, out / f"{member.name}.checkpoint")
        log.info("%s: %d steps", member.name, steps)
        torch.save(network.state_dict(), weights)
    network.load_state_dict(torch.load(weights, weights_only=True))
    network.eval()
    scored = out / f"{member.name}.csv"
    if not scored.is_file():
        table = held_out_of(clips, folds, member.fold)
        table["logit"] = [logit_of(network, wave) for wave in measure.through(table, clips.wave)]
        table.to_csv(scored, index=False)
    return network, pd.read_csv(scored, keep_default_na=False)


def fit_spectrograms(clips: Clips, folds: NDArray[np.int64], out: Path, seed: int) -> tuple[Spectrograms, pd.DataFrame]:
    """Return the network over spectrograms, and what others like it gave to the fold that each had not seen."""
    network = Spectrograms()
    load_imagenet(network.backbone)
    table = spectra.learnt_from(clips.table)
    versions = spectra.of_versions(clips, table.index, out)
    of_fold = folds[table.index]
    tables = []
    for fold in range(N_FOLDS):
        held = held_out_of(clips, folds, fold)
        statistics = spectra.kept_statistics(out / f"spectra-fold-{fold}.npy", measure.through(held, clips.wave))
        seen = of_fold != fold
        spectra.fit(network, [of_version[seen] for of_version in versions], table[seen], seed=seed)
        tables.append(held.assign(logit=spectra.logits(network, statistics)))
    return spectra.fit(network, versions, table, seed=seed), pd.concat(tables, ignore_index=True)


def held_out_of(clips: Clips, folds: NDArray[np.int64], fold: int) -> pd.DataFrame:
    """Return the clips of a fold that are measured, but for copies: clean, and fewer through every condition."""
    return measure.conditions_of(clips.table[(folds == fold) & (clips.table["method"] == "")]).assign(fold=fold)


def together(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return what networks gave to what they had not seen, with the mean logit of those that share a fold."""
    every = pd.concat(tables, ignore_index=True)
    mean = every.groupby(KEYS)["logit"].transform("mean")
    return every.assign(logit=mean).drop_duplicates(KEYS, ignore_index=True)


def both(light: pd.DataFrame, spectrograms: pd.DataFrame) -> pd.DataFrame:
    """Return what the detector gives to what neither kind of network had seen, see `Voices`."""
    paired = light.merge(spectrograms[[*KEYS, "logit"]], on=KEYS, suffixes=("", "_spectrograms"), validate="1:1")
    paired["logit"] = (1 - SHARE) * paired["logit"] + SHARE * paired["logit_spectrograms"]
    return paired.drop(columns="logit_spectrograms")


def calibrate(held_out: pd.DataFrame) -> Calibration:
    """Fit the calibration; within a class every source weighs alike, and clean weighs as much as all conditions."""
    speech = held_out[held_out["kind"] != SINGING]
    sizes = speech.groupby(["fold", "fake", "repo", "condition"])["logit"].transform("size")
    weights = np.where(speech["condition"] == measure.CLEAN, len(measure.CONDITIONS), 1) / sizes
    return fit_platt(speech["logit"], speech["fake"], weights=weights)


def training_sources(table: pd.DataFrame) -> tuple[TrainingSource, ...]:
    """Count the clips of each repository and class; copies are counted as a source of their own."""
    counted = table[table["method"] == ""].groupby(["repo", "licence", "fake"]).size().reset_index()
    sources = [
        TrainingSource(source=repo, label="fake" if fake else "real", n=n, licence=licence)
        for repo, licence, fake, n in counted.to_numpy().tolist()
    ]
    vocoded = table["method"] == vocoder.METHOD
    copies = {"forensix.training.voice.synthesis": (table["method"] != "") & ~vocoded}
    if vocoded.any():
        seeing = sum(member.copies > 0 for member in MEMBERS)
        most = max(member.copies for member in MEMBERS)
        seen = f"the first {most} of a collection seen by {seeing} of {len(MEMBERS)} networks over bands"
        copies[f"HiFi-GAN ({vocoder.PACKAGE}, MIT), {seen}, all in spectrograms"] = vocoded
    for name, rows in copies.items():
        source = f"copies of recordings above by {name}"
        sources.append(TrainingSource(source=source, label="fake", n=int(rows.sum()), licence="as the recordings"))
    return tuple(sources)


def make_card(table: pd.DataFrame, held_out: pd.DataFrame, seed: int, command: str, looks: int) -> ModelCard:
    """Return the card, without hash and without what the benchmark measures."""
    calibration = calibrate(held_out)
    scored = held_out.assign(score=calibration.score(held_out["logit"]))
    lower, upper = measure.band(scored)
    return ModelCard(
        name="forensix-spoof",
        component="spoof",
        summary="Synthetic or converted speech: six max-feature-map networks over linear-frequency bands, and a "
        "network of pictures that looks at spectrograms, with three small ones that judge what it says.",
        architecture="voices",
        config={
            "share": SHARE,
            "channels": [list(member.channels) for member in MEMBERS],
            **CONFIG,
        },
        preprocessing={"window": 64_000, "hop": 32_000, "shortest": 16_000, "at_most": 64, "level": True},
        output=Output(labels=("fake",), fake=0),
        calibration=calibration,
        calibrated_on="For each network the sources that it did not see, clean and through "
        f"{', '.join(measure.CONDITIONS)}; every source weighs alike, classes have equal priors. "
        f"Dev was scored for {looks} candidates in development.",
        threshold=upper,
        inconclusive=(lower, upper),
        trained_on=training_sources(table),
        limits="Copies by strong vocoders, codec and flow models of 2023 on, and voices computed by formants are often "
        "missed. Singing, pathological voices and clips under a second are hard for it. Telephone lines, noise, rooms "
        "and low rates of MP3 or Opus blur it; the figures say how much. For research: most of what it learnt from "
        "states no licence.",
        licence=f"Apache-2.0; the network of pictures has {origin_of('lite0')}; most training sources state no licence "
        "for their recordings, see trained_on",
        seed=seed,
        measured=measure.measurements(scored, (lower, upper), "sources held out of training", command),
        command=command,
        weights="forensix-spoof.safetensors",
        sha256="",
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the whole training; weights and card are left in ``--out``."""
    parser = argparse.ArgumentParser(
        prog="python -m forensix.training.voice.spoof", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--list", type=Path, required=True, help="list of sources, for example voice.csv")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds voice/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="checkouts or git folders named owner+name")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="processes that degrade clips")
    parser.add_argument("--looks", type=int, default=0, help="how often dev was scored, for the card")
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    args.out.mkdir(parents=True, exist_ok=True)
    with Repositories(args.repositories) as repositories:
        listed = lists.training(args.list, args.corpora, repositories)
        build_clips(listed, repositories, args.out / "clips", seed=args.seed, train=True)
    vocoder.copy_clips(args.out / "clips", vocoder.load)
    clips = degrade_clips(args.out / "clips", seed=args.seed, workers=args.workers)
    folds = folds_of(clips.table, args.seed)
    trained = [train_member(clips, folds, member, args.seed, args.out) for member in MEMBERS]
    spectrograms, of_spectrograms = fit_spectrograms(clips, folds, args.out, args.seed)
    held_out = both(together(table for _, table in trained), of_spectrograms)
    detector = Voices(Ensemble([network for network, _ in trained]), spectrograms, SHARE)
    command = (
        "python -m forensix.training.voice.spoof --list voice.csv --corpora DIR --repositories DIR --out DIR "
        f"--seed {args.seed}"
    )
    card = make_card(clips.table, held_out, args.seed, command, args.looks)
    card = save_model(card, detector, args.out, half=True)
    log.info("threshold %.2f, inconclusive %s", card.threshold, card.inconclusive)
    for row in card.measured:
        log.info("%s %.3f on %s", row.metric, row.value, row.data)


if __name__ == "__main__":
    main()
