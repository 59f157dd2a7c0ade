"""Measure spoof detectors on speech of sources that training never saw.

    python benchmarks/voice_spoof.py --list voice.csv --corpora DIR --repositories DIR --cache DIR [--checkpoints DIR]
        [--card]

Prints Markdown: what the card measured on sources held out of training; then the dev sources of the list and of the
corpus, 5 s of at most 6 files of a system and 40 of a collection of a repository: pooled, within each source, by kind
of system and after each degradation, with what the shipped threshold and band decide. AASIST stands beside on a
thinned set of clips. Intervals are 95 % bootstraps that draw whole collections and systems. With ``--card`` the card
is given the figures.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from forensix.metrics import auc, bootstrap_interval, decided, eer
from forensix.models import ModelCard, get_card, load_model
from forensix.models.files import SHIPPED
from forensix.models.store import write_card
from forensix.perturb import grid
from forensix.training.sources import Repositories
from forensix.training.voice import lists, measure
from forensix.training.voice.clips import Clips, build_clips, load_clips
from forensix.training.voice.kinds import SINGING
from forensix.voice.spoof import SpoofDetector

COMMAND = "python benchmarks/voice_spoof.py --list voice.csv --corpora DIR --repositories DIR --cache DIR"
DEV = "dev sources of the list and of the corpus, at most 6 files of a system and 40 of a collection"


def dev_clips(args: argparse.Namespace) -> Clips:
    with Repositories(args.repositories) as repositories:
        tables = [lists.listed(args.list, repositories, "dev"), lists.of_corpus(args.corpora, "dev")]
        listed = pd.concat(tables, ignore_index=True)
        return build_clips(listed, repositories, args.cache, seed=1, train=False)


@cache
def detector(name: str, folder: Path | None) -> SpoofDetector:
    torch.set_num_threads(1)
    return SpoofDetector(load_model(name, folder=folder))


@cache
def clips_in(folder: Path) -> Clips:
    return load_clips(folder)


def _logits(rows: pd.DataFrame, name: str, folder: Path | None, kept: Path) -> list[float]:
    waves = measure.through(rows, clips_in(kept).wave)
    return [detector(name, folder).logit(wave) for wave in waves]


def logits(rows: pd.DataFrame, name: str, folder: Path | None, args: argparse.Namespace) -> np.ndarray:
    """Return the logit of each row's ``clip`` through its ``condition``, by as many processes as asked for."""
    pieces = [rows.iloc[first : first + 50] for first in range(0, len(rows), 50)]
    work = partial(_logits, name=name, folder=folder, kept=args.cache)
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        return np.concatenate([np.array(part) for part in pool.map(work, pieces)])


def interval(table: pd.DataFrame, metric, column: str) -> str:  # type: ignore[no-untyped-def]
    groups = list(table["repo"] + "/" + table["made_by"])
    low, high = bootstrap_interval(metric, table["fake"], table[column], groups=groups)
    return f"{metric(table['fake'], table[column]):.3f} ({low:.3f} to {high:.3f})"


def print_overall(table: pd.DataFrame, names: list[str], title: str) -> None:
    speech = table[table["kind"] != SINGING]
    n_real, n_fake = (int((speech["fake"] == label).sum()) for label in (0, 1))
    print(f"\n## {title}: {n_real} recordings of people, {n_fake} fakes\n")
    print("| detector | AUC | EER | mean AUC within source |\n|---|---|---|---|")
    for name in names:
        within = measure.figures(table, name)["AUC within source"]
        print(f"| {name} | {interval(speech, auc, name)} | {interval(speech, eer, name)} | {within:.3f} |")


def print_by_kind(table: pd.DataFrame, names: list[str]) -> None:
    print("\nBy kind of system: AUC against all human speech, and within source.\n")
    print(f"| kind | fakes | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    tables = {name: measure.by_kind(table, name) for name in names}
    for kind, row in tables[names[0]].iterrows():
        cells = [f"{rows.loc[kind, 'AUC']:.3f}, {rows.loc[kind, 'AUC within source']:.3f}" for rows in tables.values()]
        print(f"| {kind} | {row['n']:.0f} | {' | '.join(cells)} |")


def print_by_source(table: pd.DataFrame, threshold: float) -> None:
    print(f"\nBy source, at a score of {threshold:.2f}.\n")
    print("| source | people | fakes | AUC within | people called fake | fakes missed |\n|---|---|---|---|---|---|")
    inside = measure.within(table, "score")
    for repo, rows in table.groupby("repo"):
        real, fake = (rows[rows["fake"] == label]["score"] for label in (0, 1))
        alarms = f"{(real >= threshold).mean():.3f}" if len(real) else "–"
        missed = f"{(fake < threshold).mean():.3f}" if len(fake) else "–"
        own = f"{inside[repo]:.3f}" if repo in inside else "–"
        print(f"| {repo} | {len(real)} | {len(fake)} | {own} | {alarms} | {missed} |")


def print_decided(table: pd.DataFrame, band: tuple[float, float]) -> None:
    shares = decided(table["fake"], table["score"], band)
    print(
        f"\nOutside the band {band[0]:.3f} to {band[1]:.3f} lie {shares.real_decided:.0%} of the people and "
        f"{shares.fake_decided:.0%} of the fakes; {shares.wrong:.1%} of those are wrong. People called fake: "
        f"{shares.real_called_fake:.1%}; fakes called real: {shares.fake_called_real:.1%}."
    )


def through_conditions(table: pd.DataFrame, card: ModelCard, args: argparse.Namespace) -> pd.DataFrame:
    few = measure.thinned(table, fakes=1, reals=6)
    every = [few.assign(condition=name) for name in measure.CONDITIONS]
    rows = pd.concat(every, ignore_index=True)
    rows["score"] = calibrated(card, logits(rows, card.name, None, args))
    return pd.concat([few, rows], ignore_index=True)


def calibrated(card: ModelCard, logit: np.ndarray) -> np.ndarray:
    return logit if card.calibration is None else card.calibration.score(logit)


def alarms(table: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Return by condition: ``AUC``, share of people ``called fake``, of fakes ``missed``, and the ``worst source``."""
    speech = table[table["kind"] != SINGING]
    rows = {}
    for condition, group in speech.groupby("condition", sort=False):
        real, fake = (group[group["fake"] == label] for label in (0, 1))
        sources = real.assign(called=real["score"] >= threshold).groupby("repo")["called"].agg(["size", "mean"])
        large = sources["mean"][sources["size"] >= 20]
        rows[condition] = {
            "AUC": auc(group["fake"], group["score"]),
            "called fake": float((real["score"] >= threshold).mean()),
            "missed": float((fake["score"] < threshold).mean()),
            "worst source": float(large.max()) if len(large) else np.nan,
        }
    return pd.DataFrame(rows).T


def print_conditions(rows: pd.DataFrame, threshold: float) -> None:
    few = rows[(rows["condition"] == measure.CLEAN) & (rows["kind"] != SINGING)]
    print(f"\nAfter degradations, {(few['fake'] == 0).sum()} people and {few['fake'].sum()} fakes, thinned.\n")
    print("| condition | AUC | people called fake | of the worst source | fakes missed |\n|---|---|---|---|---|")
    for condition, row in alarms(rows, threshold).iterrows():
        print(
            f"| {condition} | {row['AUC']:.3f} | {row['called fake']:.3f} | {row['worst source']:.3f} "
            f"| {row['missed']:.3f} |"
        )


def print_grid(table: pd.DataFrame, card: ModelCard, args: argparse.Namespace) -> None:
    clips, own = clips_in(args.cache), detector(card.name, None)
    few = measure.thinned(table[table["kind"] != SINGING], fakes=1, reals=5)
    print(f"\nEvery degradation of `forensix.perturb`, {(few['fake'] == 0).sum()} people, {few['fake'].sum()} fakes.\n")
    print("| degradation | AUC | people called fake |\n|---|---|---|")
    for name, strength, degrade in grid("audio"):
        scores = np.array([own.logit(degrade(clips.wave(int(row)))) for row in few.index])
        called = calibrated(card, scores)[few["fake"] == 0] >= card.threshold
        condition = name if strength is None else f"{name} {strength:g}"
        print(f"| {condition} | {auc(few['fake'], scores):.3f} | {called.mean():.3f} |", flush=True)


def update_card(table: pd.DataFrame, rows: pd.DataFrame) -> None:
    card = get_card("forensix-spoof")
    assert card.inconclusive is not None
    scored = pd.concat([table, rows[rows["condition"] != measure.CLEAN]], ignore_index=True)
    kept = [one for one in card.measured if one.command != COMMAND]
    measured = (*kept, *measure.measurements(scored, card.inconclusive, DEV, COMMAND))
    write_card(card.model_copy(update={"measured": measured}), SHIPPED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="where the decoded clips are kept")
    parser.add_argument("--checkpoints", type=Path, help="folder with aasist/AASIST.pth")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--grid", action="store_true", help="also every degradation (minutes)")
    parser.add_argument("--card", action="store_true", help="write the figures to the card")
    args = parser.parse_args()
    torch.set_num_threads(1)
    table = measure.thinned(measure.with_kinds(dev_clips(args).table), fakes=6, reals=40)
    table = table.assign(clip=table.index, condition=measure.CLEAN)
    card = get_card("forensix-spoof")
    threshold = card.threshold
    table["forensix-spoof"] = logits(table, card.name, None, args)
    table["score"] = calibrated(card, table["forensix-spoof"].to_numpy())
    print("# Spoof detectors on sources that training never saw\n")
    print(f"`{COMMAND}`\n")
    print("Measured in training, on the sources that each network had not seen:\n")
    print("| figure | value | data |\n|---|---|---|")
    for row in card.measured:
        if row.command != COMMAND:
            print(f"| {row.metric} | {row.value:.3f} | {row.data}: {row.n_real} people, {row.n_fake} fakes |")
    print_overall(table, ["forensix-spoof"], "Dev")
    print_by_kind(table, ["forensix-spoof"])
    print_by_source(table, threshold)
    if card.inconclusive is not None:
        print_decided(table[table["kind"] != SINGING], card.inconclusive)
    rows = through_conditions(table, card, args)
    print_conditions(rows, threshold)
    if args.card:
        update_card(table, rows)
    if args.checkpoints is not None:
        few = measure.thinned(table, fakes=1, reals=6).copy()
        few["aasist"] = logits(few, "aasist", args.checkpoints / "aasist", args)
        print_overall(few, ["forensix-spoof", "aasist"], "Beside AASIST, thinned")
        print_by_kind(few, ["forensix-spoof", "aasist"])
    if args.grid:
        print_grid(table, card, args)


if __name__ == "__main__":
    main()
