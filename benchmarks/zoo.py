"""Every published detector whose weights are at hand on the development data, and how many a second go through it.

    python -m benchmarks.zoo --corpora DIR [--checkpoints DIR] [--files N] [--no-speed]

DIR of the corpora holds ``voice``, ``images`` and ``faces`` with a manifest each; of a split and class at most N files
are scored, spread evenly over the manifest, the same for all detectors of a slot: whole files, through
`forensix.load_detector`, as a user would score them. Files that show no face are left out and counted. Prints Markdown:
AUC and EER with the 95 % interval of a bootstrap that draws whole sources, figures of batches, and what is not at hand.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import forensix
from forensix.errors import ForensixError, MissingExtra, WeightsMissing
from forensix.metrics import auc, bootstrap_interval, eer
from forensix.models import ModelCard, list_models
from forensix.models.registry import READERS

FOLDERS = {"spoof": "voice", "image_detector": "images", "face_classifier": "faces"}
BATCHES = {1: 8, 8: 16, 32: 32}
"""Inputs at once, and how many are timed."""


def chosen(corpora: Path, slot: str, n: int) -> pd.DataFrame:
    """Return at most ``n`` files of each class of the development split, evenly spread, with their sources."""
    folder = corpora / FOLDERS[slot]
    table = pd.read_csv(folder / "manifest.csv", dtype=str)
    table = table[table["split"] == "dev"]
    table = table[~table["path"].str.endswith((".mp4", ".webm", ".avi", ".mov", ".mkv"))]
    parts = []
    for label in ("real", "fake"):
        rows = table[table["label"] == label]
        parts.append(rows.iloc[np.unique(np.linspace(0, len(rows) - 1, min(n, len(rows))).astype(int))])
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(file=[folder / path for path in rows["path"]])


def scored(name: str, files: list[Path]) -> np.ndarray:
    """Return each file's score, NaN where it has none."""
    detector = forensix.load_detector(name)
    scores = []
    for file in files:
        try:
            scores.append(detector.score(file))
        except ForensixError:
            scores.append(np.nan)
    return np.array(scores)


def row(card: ModelCard, table: pd.DataFrame) -> str:
    scores = scored(card.name, list(table["file"]))
    scored_ = table.assign(score=scores, fake=(table["label"] == "fake").astype(int))[~np.isnan(scores)]
    groups = list(scored_["source_repo"]) if "source_repo" in scored_ else None
    cells = []
    for metric in (auc, eer):
        value = metric(scored_["fake"], scored_["score"])
        low, high = bootstrap_interval(metric, scored_["fake"], scored_["score"], groups=groups)
        cells.append(f"{value:.3f} ({f'{low:.3f} to {high:.3f}' if np.isfinite(low) else 'too few sources'})")
    counts = (
        f"{int((scored_.fake == 0).sum())} real, {int(scored_.fake.sum())} fake, {int(np.isnan(scores).sum())} left out"
    )
    return f"| {card.name} | {counts} | {' | '.join(cells)} |"


def inputs(slot: str, n: int) -> list[np.ndarray]:
    """Return what of a slot is timed: pictures of 640 x 480, face crops, clips of 4 s; content does not matter."""
    rng = np.random.default_rng(0)
    if slot == "spoof":
        return list((0.1 * rng.standard_normal((n, 64_600))).astype(np.float32))
    shape = (480, 640, 3) if slot == "image_detector" else (224, 224, 3)
    return [rng.integers(0, 256, shape, dtype=np.uint8) for _ in range(n)]


def speed(name: str, slot: str, batch: int) -> float:
    """Return inputs a second of processor time."""
    detector = forensix.load_detector(name, batch_size=batch)
    many = inputs(slot, BATCHES[batch])
    detector.score(many[:1])
    begun = time.process_time()
    detector.score(many)
    return len(many) / (time.process_time() - begun)


def speeds(cards: list[ModelCard]) -> None:
    """Print how many inputs a second go through each detector."""
    print("\n## Inputs a second of processor time by batch, feeding included\n")
    print(f"| detector | inputs | {' | '.join(f'batch {n}' for n in BATCHES)} |\n|---|---|{'---|' * len(BATCHES)}")
    what = {"spoof": "clips of 4 s", "image_detector": "pictures of 640 x 480"}
    for card in cards:
        rates = [f"{speed(card.name, card.component, n):.1f}" for n in BATCHES]
        print(f"| {card.name} | {what.get(card.component, 'crops of 224 px')} | {' | '.join(rates)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--checkpoints", type=Path, help="folder of pulled weights, beside the cache")
    parser.add_argument("--files", type=int, default=60, help="of either class; 0 measures the speed alone")
    parser.add_argument("--no-speed", action="store_true", help="only score the files")
    parser.add_argument("--only", nargs="*", help="names of detectors, instead of all whose weights are at hand")
    options = parser.parse_args()
    if options.checkpoints:
        os.environ["FORENSIX_CHECKPOINTS"] = str(options.checkpoints)
    torch.set_num_threads(1)
    there, absent = [], []
    for card in (card for card in list_models() if card.component in READERS):
        if options.only and card.name not in options.only:
            continue
        try:
            forensix.load_detector(card.name)
        except (WeightsMissing, MissingExtra):
            absent.append(card.name)
        else:
            there.append(card)
    what = (
        "The detectors whose weights are at hand, on development data" if options.files else "Detectors' speed by batch"
    )
    print(f"# {what}\n")
    asked = f"--files {options.files}{' --no-speed' if options.no_speed else ''}"
    asked += f" --only {' '.join(options.only)}" if options.only else ""
    print(f"Command: `python -m benchmarks.zoo --corpora DIR --checkpoints DIR {asked}`, one core")
    if not options.no_speed:
        speeds(there)
    for slot, folder in FOLDERS.items():
        if not options.files or not any(card.component == slot for card in there):
            continue
        table = chosen(options.corpora, slot, options.files)
        print(f"\n## {slot}: at most {options.files} files of either class of the corpus `{folder}`\n")
        print("| detector | files | AUC | EER |\n|---|---|---|---|")
        for card in there:
            if card.component == slot:
                print(row(card, table), flush=True)
    if not options.only:
        print("\n## Not at hand, so not measured\n")
        print(", ".join(absent) + ".")


if __name__ == "__main__":
    main()
