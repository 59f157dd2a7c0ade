"""Measure forensix-face on the development rows of the list of faces: clips and cells of grids, and stills.

    python benchmarks/face_clips.py --list CSV --repositories DIR --work DIR > benchmarks/results/face_clips.md

``--work`` keeps the faces that were cut. A clip is judged by the largest face at eight moments over its first half
minute. No repository of these rows was trained on. How steady it is was measured over the whole clip, as in an
analysis. What forensix-face-regions says of parts put into the same faces counts as in an analysis, and stands by
itself below.
With ``--card`` the shipped cards are given the figures.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from forensix.calibration import logit, sigmoid
from forensix.faces import FaceClassifier, RegionDetector, forensix_face, forensix_face_regions
from forensix.faces.steadiness import is_still
from forensix.faces.verdict import texture
from forensix.metrics import auc, eer
from forensix.models import Measurement, ModelCard, band_of
from forensix.models.files import SHIPPED
from forensix.models.store import write_card
from forensix.training.faces import crops, figures, steadiness
from forensix.training.faces.clips import paired
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
    steadiness.fill(table, options.work / "steadiness", options.repositories)
    detector = forensix_face()
    regions = forensix_face_regions()
    rows = scored(table, options.work, detector, regions)
    print(f"# Faces of the list's development rows\n\n`{COMMAND}`, {detector.card.name}.\n")
    print(f"{len(rows)} of {len(table)} rows show a face of {crops.LEAST_PX} pixels or more.")
    clips = rows[~rows["static"]].reset_index(drop=True)
    of_clips(clips, detector.card)
    of_stills(rows[rows["static"]].reset_index(drop=True), detector.card)
    of_parts = of_regions(rows, regions)
    if options.card:
        with_figures(detector.card, figures.figures_of(clips, clips["logit"].to_numpy(), ABOUT, COMMAND))
        with_figures(regions.card, of_parts)


def with_figures(card: ModelCard, measured: list[Measurement]) -> None:
    """Store what this command measured in a card, in place of what it had measured before."""
    others = [figure for figure in card.measured if figure.command != COMMAND]
    write_card(card.model_copy(update={"measured": (*others, *measured)}), SHIPPED)


def scored(table: pd.DataFrame, folder: Path, detector: FaceClassifier, regions: RegionDetector) -> pd.DataFrame:
    """Return the rows that show a face, with the networks' calibrated logits."""
    rows = []
    steady = steadiness.of_clips(table, folder / "steadiness")
    added = dict(zip(table["name"], np.nan_to_num(detector.card.steadiness.logit(steady)), strict=True))
    for row, face in crops.rows_with_faces(table, folder):
        views = np.stack([face.view(i) for i in range(len(face))])
        raw = float(detector.logits(views).mean())
        calibrated = detector.card.calibration.slope * raw + detector.card.calibration.intercept
        # As in an analysis: of a picture that a video shows steadiness says nothing.
        still = not row["static"] and is_still(views[:, 0])
        part = float(logit(regions.score(views[:, 0])).mean())
        whole = calibrated + (0.0 if still else added[row["name"]])
        rows.append(
            {
                **row,
                "alone": calibrated,
                "whole": whole,
                "logit": float(detector.card.parts.logit(np.array(whole), np.array(part))),
                "still": still,
                "smooth": row["static"] and texture(views[0, 0]) < detector.card.pooling.min_texture,
                "region": float(sigmoid(part)),
            }
        )
    return pd.DataFrame(rows)


def of_regions(rows: pd.DataFrame, regions: RegionDetector) -> list[Measurement]:
    """Print what the regions' network says of each method's faces; return the AUCs as its card has them."""
    upper = band_of(regions.card, "image")[1]
    print(f"\n## {regions.card.name}\n\n| faces | recorded | made | AUC | made above recorded of their file | ", end="")
    print(f"recorded from {upper} up | made |\n|---|---|---|---|---|---|---|")
    measured = []
    for static, method in rows[rows["label"] == "fake"].groupby(["static", "method"]).groups:
        part = rows[(rows["static"] == static) & rows["method"].isin(["none", method])].reset_index(drop=True)
        fake, told = part["label"] == "fake", part["region"] >= upper
        kind, value = "stills" if static else "clips", auc(fake, part["region"])
        above = paired(part, part["region"].to_numpy())
        n_real, n_fake = int((~fake).sum()), int(fake.sum())
        print(f"| {kind}, {method} | {n_real} | {n_fake} | {value:.3f} | {above:.2f} | ", end="")
        print(f"{told[~fake].mean():.2f} | {told[fake].mean():.2f} |")
        data = f"{ABOUT}, {kind}, {method} against recorded"
        measured.append(
            Measurement(metric="AUC", value=round(value, 4), data=data, n_real=n_real, n_fake=n_fake, command=COMMAND)
        )
    return measured


def of_clips(clips: pd.DataFrame, card: ModelCard) -> None:
    print("\n## Clips\n\n| figure | value | without parts put in | by crops alone |\n|---|---|---|---|")
    fake = clips["label"] == "fake"
    said = ("logit", "whole", "alone")
    for name, metric in (("AUC", auc), ("EER", eer)):
        print(f"| {name} | {' | '.join(f'{metric(fake, clips[one]):.3f}' for one in said)} |")
    for each in zip(*(figures.figures_of(clips, clips[one].to_numpy(), ABOUT, COMMAND) for one in said), strict=True):
        print(f"| {each[0].metric} | {' | '.join(map(_shown, each))} |")
    print(
        f"\n{clips['still'].sum()} of {len(clips)} clips show a picture of a face: they are judged by their look alone."
    )
    upper = band_of(card, "video")[1]
    clips = clips.assign(called=sigmoid(clips["logit"].to_numpy()) >= upper)
    print(f"\nBy method, AUC against all recorded clips, and share called fake (from {upper} up):\n")
    print("| method | clips | AUC | called fake |\n|---|---|---|---|")
    for method, rows in clips.groupby("method"):
        against = pd.concat([rows, clips[~fake]]) if method != "none" else rows
        value = "" if method == "none" else f"{auc(against['label'] == 'fake', against['logit']):.3f}"
        print(f"| {'recorded' if method == 'none' else method} | {len(rows)} | {value} | {rows['called'].mean():.2f} |")
    print("\n| repository | label | clips | median score | called fake |\n|---|---|---|---|---|")
    for (repo, label), rows in clips.groupby(["repo", "label"]):
        median = sigmoid(rows["logit"].median())
        print(f"| {repo} | {label} | {len(rows)} | {median:.3f} | {rows['called'].mean():.2f} |")


def _shown(figure: Measurement) -> str:
    interval = f" ({figure.interval[0]:.3f} to {figure.interval[1]:.3f})" if figure.interval else ""
    return f"{figure.value:.3f}{interval}"


def of_stills(stills: pd.DataFrame, card: ModelCard) -> None:
    fake = stills["label"] == "fake"
    called = (sigmoid(stills["logit"].to_numpy()) >= band_of(card, "image")[1]) & ~stills["smooth"].to_numpy(bool)
    print("\n## Stills, by the face alone\n")
    print(f"AUC {auc(fake, stills['logit']):.3f}: {int((~fake).sum())} recorded, of which ", end="")
    print(f"{int(called[~fake].sum())} called fake, and {int(fake.sum())} swapped, of which {int(called[fake].sum())}.")


if __name__ == "__main__":
    main()
