"""Measure forensix-face on the development rows of the list of faces: clips and cells of grids, and stills.

    python benchmarks/face_clips.py --list CSV --repositories DIR --work DIR > benchmarks/results/face_clips.md

``--work`` keeps the faces that were cut. A clip is judged by the largest face at eight moments over its first half
minute; the gap of fine detail joins the network's score as in an analysis. No repository of these rows was trained on.
With ``--card`` the shipped card is given the figures.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from forensix.calibration import sigmoid
from forensix.faces import FaceClassifier, aligned, forensix_face
from forensix.faces.verdict import middle_gap, with_detail
from forensix.metrics import auc, eer
from forensix.models import ModelCard, band_of
from forensix.models.store import write_card
from forensix.training.faces import crops, figures
from forensix.training.sources import read_list

COMMAND = "python benchmarks/face_clips.py --list CSV --repositories DIR --work DIR"
ABOUT = "development rows of the list"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of faces")
    parser.add_argument("--repositories", type=Path, required=True, help="git folders named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="folder for the faces that are cut")
    parser.add_argument("--card", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = crops.items(read_list(options.listed, split="dev"))
    table = table[table["label"].isin(["real", "fake"])].reset_index(drop=True)
    crops.fill(table, options.work, options.repositories)
    detector = forensix_face()
    rows = scored(table, options.work, detector)
    print(f"# Faces of the list's development rows\n\n`{COMMAND}`, {detector.card.name}.\n")
    print(f"{len(rows)} of {len(table)} rows show a face of {crops.LEAST_PX} pixels or more.")
    clips = rows[~rows["static"]].reset_index(drop=True)
    of_clips(clips, detector.card)
    of_stills(rows[rows["static"]].reset_index(drop=True), detector.card)
    if options.card:
        others = [figure for figure in detector.card.measured if figure.command != COMMAND]
        own = figures.figures_of(clips, clips["joined"].to_numpy(), ABOUT, COMMAND)
        write_card(detector.card.model_copy(update={"measured": (*others, *own)}))


def scored(table: pd.DataFrame, folder: Path, detector: FaceClassifier) -> pd.DataFrame:
    """Return the rows that show a face, with the network's calibrated logit and, of clips, the joined one."""
    rows = []
    for row, face in crops.rows_with_faces(table, folder):
        pictures = np.stack([aligned(face.rgb[i], face.landmarks[i]) for i in range(len(face))])
        logit = float(detector.logits(pictures).mean())
        gap = np.nan if row["static"] else middle_gap(face.detail_gaps)
        rows.append(
            {**row, "logit": detector.card.calibration.slope * logit + detector.card.calibration.intercept, "gap": gap}
        )
    table = pd.DataFrame(rows)
    return table.assign(
        joined=with_detail(table["logit"].to_numpy(), table["gap"].to_numpy(), detector.card.detail_gap)
    )


def of_clips(clips: pd.DataFrame, card: ModelCard) -> None:
    print("\n## Clips\n\n| figure | network and gap | network alone |\n|---|---|---|")
    fake = clips["label"] == "fake"
    for name, metric in (("AUC", auc), ("EER", eer)):
        print(f"| {name} | {metric(fake, clips['joined']):.3f} | {metric(fake, clips['logit']):.3f} |")
    both = [figures.figures_of(clips, clips[name].to_numpy(), ABOUT, COMMAND) for name in ("joined", "logit")]
    for joined, alone in zip(*both, strict=True):
        cells = [f"{m.value:.3f} ({m.interval[0]:.3f} to {m.interval[1]:.3f})" for m in (joined, alone) if m.interval]
        print(f"| {joined.metric} | {' | '.join(cells)} |")
    upper = band_of(card, "video")[1]
    clips = clips.assign(called=sigmoid(clips["joined"].to_numpy()) >= upper)
    print(f"\nBy method, AUC against all recorded clips, and share called fake (from {upper} up):\n")
    print("| method | clips | AUC | called fake |\n|---|---|---|---|")
    for method, rows in clips.groupby("method"):
        against = pd.concat([rows, clips[~fake]]) if method != "none" else rows
        value = "" if method == "none" else f"{auc(against['label'] == 'fake', against['joined']):.3f}"
        print(f"| {'recorded' if method == 'none' else method} | {len(rows)} | {value} | {rows['called'].mean():.2f} |")
    print("\n| repository | label | clips | median score | called fake |\n|---|---|---|---|---|")
    for (repo, label), rows in clips.groupby(["repo", "label"]):
        median = sigmoid(rows["joined"].median())
        print(f"| {repo} | {label} | {len(rows)} | {median:.3f} | {rows['called'].mean():.2f} |")


def of_stills(stills: pd.DataFrame, card: ModelCard) -> None:
    fake = stills["label"] == "fake"
    called = sigmoid(stills["logit"].to_numpy()) >= band_of(card, "image")[1]
    print(f"\n## Stills\n\nAUC {auc(fake, stills['logit']):.3f}: {int((~fake).sum())} recorded, of which ", end="")
    print(f"{int(called[~fake].sum())} called fake, and {int(fake.sum())} swapped, of which {int(called[fake].sum())}.")


if __name__ == "__main__":
    main()
