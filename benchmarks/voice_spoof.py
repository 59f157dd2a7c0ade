"""Measure spoof detectors on speech of sources that training never saw.

    python benchmarks/voice_spoof.py --corpora DIR [--checkpoints DIR] [--robustness] [--card]

Prints Markdown. Intervals are 95 % bootstraps that draw whole speakers (human) and whole systems (synthetic). With
``--card`` the cards are given the overall figures.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from forensix.manifest import Manifest
from forensix.metrics import auc, bootstrap_interval, eer
from forensix.models import Measurement, get_card, load_model
from forensix.models.store import write_card
from forensix.perturb import rawboost
from forensix.perturb.audio import DEGRADATIONS
from forensix.training.voice.sources import decode
from forensix.voice.spoof import SpoofDetector

# Systems of which training holds other outputs, from other repositories.
SHARED = ("VITS", "Tacotron2+WaveGlow", "Tacotron2+HiFi-GAN")
DEGRADED: dict[str, Callable[..., np.ndarray]] = {
    "none": lambda samples, _: samples,
    **DEGRADATIONS,
    "mp3 at 32 kbit/s": partial(DEGRADATIONS["mp3"], kbps=32),
    "rawboost": rawboost.series,
}
COMMAND = "python benchmarks/voice_spoof.py --corpora DIR"


def detectors(checkpoints: Path | None) -> dict[str, SpoofDetector]:
    found = {"forensix-spoof": SpoofDetector(load_model("forensix-spoof"))}
    if checkpoints is not None:
        for name in ("aasist", "aasist-l"):
            found[name] = SpoofDetector(load_model(name, folder=checkpoints / "aasist"))
    return found


def groups(table: pd.DataFrame) -> list[str]:
    speakers = table["source_repo"] + "/" + table["speaker"].fillna(table["path"])
    return list(np.where(table["fake"] == 1, table["source_repo"] + "/" + table["system"], speakers))


def figure(metric: Callable[..., float], table: pd.DataFrame, column: str) -> tuple[float, tuple[float, float]]:
    labels, logits = table["fake"], table[column]
    return metric(labels, logits), bootstrap_interval(metric, labels, logits, groups=groups(table))


def cell(metric: Callable[..., float], table: pd.DataFrame, column: str) -> str:
    value, (low, high) = figure(metric, table, column)
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def subsets(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    shared = table["system"].isin(SHARED)
    return {
        "all": table,
        "systems unknown to training": table[~shared],
        "three systems known from other sources": table[shared | (table["fake"] == 0)],
    }


def print_overall(table: pd.DataFrame, names: list[str]) -> None:
    print("| detector | speech | real | fake | AUC | EER |\n|---|---|---|---|---|---|")
    for name in names:
        for what, part in subsets(table).items():
            counts = f"{int((part['fake'] == 0).sum())} | {int(part['fake'].sum())}"
            print(f"| {name} | {what} | {counts} | {cell(auc, part, name)} | {cell(eer, part, name)} |")


def print_by_source(table: pd.DataFrame, names: list[str]) -> None:
    print("\nBy source: AUC of its fakes against its own human speech, and against all human speech.\n")
    heads = " | ".join(f"{name}: own | all" for name in names)
    print(f"| source | real | fake | {heads} |\n|---|---|---|{'---|---|' * len(names)}")
    human = table[table["fake"] == 0]
    for source, part in table.groupby("source_repo"):
        fakes, reals = part[part["fake"] == 1], part[part["fake"] == 0]
        cells = []
        for name in names:
            for against in (reals, human):
                both = pd.concat([against, fakes])
                cells.append(f"{auc(both['fake'], both[name]):.3f}" if len(fakes) and len(against) else "–")
        print(f"| {source} | {len(reals)} | {len(fakes)} | {' | '.join(cells)} |")


def print_errors(table: pd.DataFrame, detector: SpoofDetector) -> None:
    name = detector.card.name
    print(f"\nErrors of {name} at a score of 0.5, by source.\n")
    print("| source | human speech called fake | fakes missed |\n|---|---|---|")
    called = detector.calibration.score(table[name]) >= 0.5
    for source, part in [*table.assign(called=called).groupby("source_repo"), ("all", table.assign(called=called))]:
        real, fake = (part[part["fake"] == k]["called"] for k in (0, 1))
        alarms = f"{int(real.sum())} of {len(real)}" if len(real) else "–"
        missed = f"{int((~fake).sum())} of {len(fake)}" if len(fake) else "–"
        print(f"| {source} | {alarms} | {missed} |")


def print_robustness(table: pd.DataFrame, waves: list[np.ndarray], detector: SpoofDetector) -> None:
    print(f"\n{detector.card.name} after each degradation, all speech; errors are those at a score of 0.5.\n")
    print("| degradation | AUC | EER | human speech called fake | fakes missed |\n|---|---|---|---|---|")
    real, fake = table["fake"] == 0, table["fake"] == 1
    for name, degrade in DEGRADED.items():
        logits = [detector.logit(degrade(wave, np.random.default_rng(i))) for i, wave in enumerate(waves)]
        called = detector.calibration.score(logits) >= 0.5
        figures = f"{auc(table['fake'], logits):.3f} | {eer(table['fake'], logits):.3f}"
        alarms, missed = int(called[real].sum()), int((~called[fake]).sum())
        print(f"| {name} | {figures} | {alarms} of {real.sum()} | {missed} of {fake.sum()} |", flush=True)


def update_card(table: pd.DataFrame, name: str) -> None:
    card = get_card(name)
    measured = [kept for kept in card.measured if kept.command != COMMAND]
    for what, part in subsets(table).items():
        for metric in (auc, eer):
            value, interval = figure(metric, part, name)
            measured.append(
                Measurement(
                    metric=metric.__name__.upper(),
                    value=round(value, 4),
                    interval=(round(interval[0], 4), round(interval[1], 4)),
                    data=f"dev split of the voice corpus, {what}",
                    n_real=int((part["fake"] == 0).sum()),
                    n_fake=int(part["fake"].sum()),
                    command=COMMAND,
                )
            )
    write_card(card.model_copy(update={"measured": tuple(measured)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, help="folder with aasist/AASIST.pth and aasist/AASIST-L.pth")
    parser.add_argument("--robustness", action="store_true", help="also after each degradation (minutes)")
    parser.add_argument("--card", action="store_true", help="write the overall figures to the cards")
    args = parser.parse_args()
    torch.set_num_threads(1)
    manifest = Manifest.read(args.corpora / "voice" / "manifest.csv").where(split="dev")
    table = manifest.table.assign(fake=manifest.is_fake())
    waves = [decode(path) for path in manifest.paths()]
    found = detectors(args.checkpoints)
    for name, detector in found.items():
        table[name] = [detector.logit(wave) for wave in waves]
    print("# Spoof detectors on the dev split of the voice corpus\n")
    print(
        f"`{COMMAND} --checkpoints DIR --robustness`; fake is positive, intervals are 95 % bootstraps over speakers and"
        " systems.\n"
    )
    print_overall(table, list(found))
    print_by_source(table, list(found))
    print_errors(table, found["forensix-spoof"])
    if args.robustness:
        print_robustness(table, waves, found["forensix-spoof"])
    if args.card:
        for name in found:
            update_card(table, name)


if __name__ == "__main__":
    main()
