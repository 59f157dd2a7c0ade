"""How steady recorded and made faces of clips are, as they are and with both classes compressed and scaled alike.

    python benchmarks/face_steadiness.py --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR > benchmarks/results/face_steadiness.md

Of the training clips that `forensix.training.faces.train` measured, with what it keeps in ``--work``. Alike: each file
encoded as H.264 of a constant rate factor of 26 to 38 and scaled to 0.6, 0.8 or 1 by draws that do not depend on its
class, and measured anew. A clip is judged by a rule that saw neither its repository nor its maker, as it is. AUC with a
source counting as the root of its clips.
"""

import argparse
import os
import tempfile
import zlib
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.errors import ForensixError
from forensix.faces.steadiness import PARTS, VALUES
from forensix.media import open_media
from forensix.perturb import video
from forensix.training.faces import steadiness
from forensix.training.faces.figures import auc_within, weighted_auc
from forensix.training.faces.lists import Origin
from forensix.training.faces.train import folds_of, training_faces
from forensix.training.images.cache import read
from forensix.training.sources import Repositories

CRFS, FACTORS = (26, 30, 34, 38), (0.6, 0.8, 1.0)
ALIKE = "steadiness_alike"
COMMAND = (
    "python benchmarks/face_steadiness.py --list faces.csv --pictures images.csv --corpora DIR --repositories DIR "
    "--work DIR"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of faces")
    parser.add_argument("--pictures", type=Path, required=True, help="CSV of pictures")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds faces and images")
    parser.add_argument("--repositories", type=Path, required=True, help="git folders named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="what training keeps")
    options = parser.parse_args()
    torch.set_num_threads(1)
    origin = Origin(options.listed, options.pictures, options.corpora, options.repositories)
    table = training_faces(origin, options.work, log=lambda text: None)
    steadiness.fill(table, options.work / "steadiness", options.repositories)
    fill_alike(table, options.work / ALIKE, options.repositories)
    folds = folds_of(table)
    values, alike = (steadiness.of_clips(table, options.work / name) for name in ("steadiness", ALIKE))
    rows = np.isfinite(values.sum(axis=1) + alike.sum(axis=1))
    print_page(
        table[rows].reset_index(drop=True), values[rows], alike[rows], *judged(table, values, alike, folds, rows)
    )


def fill_alike(table: pd.DataFrame, folder: Path, repositories: Path) -> None:
    """Measure the clips that the folder lacks, compressed and scaled."""
    folder.mkdir(parents=True, exist_ok=True)
    clips = table[~table["static"]]
    with Repositories(repositories) as opened:
        for (repo, path), rows in clips.groupby(["repo", "path"], sort=False):
            if all((folder / f"{name}.npy").exists() for name in rows["name"]):
                continue
            rng = np.random.default_rng(zlib.crc32(f"{repo}{path}".encode()))
            settings = {"crf": float(rng.choice(CRFS)), "factor": float(rng.choice(FACTORS))}
            try:
                with open_media(read(rows.iloc[0], opened)) as media, tempfile.TemporaryDirectory() as own:
                    if media.kind == "video":
                        target = os.path.join(own, "alike.mkv")
                        video.encode(media.for_decoder(), asdict(media.limits), target, settings)
                        steadiness.fill_file(rows, Path(target).read_bytes(), folder, log=print)
            except ForensixError as error:
                print(f"left out: {repo} {path}: {error}")


def judged(
    table: pd.DataFrame,
    values: NDArray[np.float64],
    alike: NDArray[np.float64],
    folds: NDArray[np.int64],
    rows: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what rules that did not see their sources say of some rows, as they are and alike."""
    known = np.isfinite(values.sum(axis=1))
    as_is, same = np.full(len(table), np.nan), np.full(len(table), np.nan)
    for fold in np.unique(folds[rows]):
        held, others = folds == fold, np.logical_and(known, folds != fold)
        rule = steadiness.fit(table[others].reset_index(drop=True), values[others])
        as_is[held], same[held] = rule.logit(values[held]), rule.logit(alike[held])
    return as_is[rows], same[rows]


def print_page(
    table: pd.DataFrame,
    values: NDArray[np.float64],
    alike: NDArray[np.float64],
    as_is: NDArray[np.float64],
    same: NDArray[np.float64],
) -> None:
    fake = (table["label"] == "fake").to_numpy()
    print(
        "# How steady faces of clips are\n\n`python benchmarks/face_steadiness.py --list faces.csv --pictures ", end=""
    )
    print("images.csv --corpora DIR --repositories DIR --work DIR`\n")
    print(
        f"{int((~fake).sum())} recorded and {int(fake.sum())} made faces of {table['repo'].nunique()} repositories.\n"
    )
    print("| | as they are | alike |\n|---|---|---|")
    for name, figure in (("AUC", weighted_auc), ("AUC within a source, mean", auc_within)):
        print(f"| {name} | {figure(table, as_is):.3f} | {figure(table, same):.3f} |")
    for name, of in (("recorded", ~fake), ("made", fake)):
        print(f"| mean logit, {name} | {as_is[of].mean():+.2f} | {same[of].mean():+.2f} |")
    print(f"| highest logit, recorded | {as_is[~fake].max():+.2f} | {same[~fake].max():+.2f} |")
    print("\nEach value by itself, AUC of made against recorded: below 0.5 made faces have less of it.\n")
    print("| part | value | as they are | alike |\n|---|---|---|---|")
    for at, (part, value) in enumerate((part, value) for part in PARTS for value in VALUES):
        cells = (f"{weighted_auc(table, of[:, at]):.3f}" for of in (values, alike))
        print(f"| {part} | {value} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
