"""Train forensix-face, from lists of files to weights and card.

    python -m forensix.training.faces.train --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR --out DIR

``--list`` and ``--pictures`` name files in public repositories, which lie under ``--repositories`` (git folders named
``owner+name``); ``--corpora`` holds the corpora of faces and of images. ``--work`` keeps faces that were cut, decoded
pictures, and what the pretrained network says of them: a run that was cut off goes on there.

The protocol is that of pictures: faces are split into folds that hold out whole repositories and all that their makers
made, of both classes (`forensix.training.folds`). What rules say of sources that they did not see fits the calibration,
sets the bounds and is what the card tells; the rule that ships is then fitted on all. The development split takes no
part: what looks like one of its pictures is left out. Afterwards `forensix.training.faces.fusion` weighs in what is
said of the picture around a face.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from PIL import Image

from forensix.faces import aligned, landmarks
from forensix.faces.verdict import middle_gap
from forensix.models import save_model
from forensix.models.architectures.faces import FaceStages
from forensix.models.architectures.families import N_FAMILIES
from forensix.models.architectures.logistic import Logistic
from forensix.training.backbone import load_imagenet
from forensix.training.faces import crops, features, figures, steadiness
from forensix.training.faces.card import make_card, with_steadiness
from forensix.training.faces.clips import files_of
from forensix.training.faces.fit import SHARES, HeldOut, Seen, fit_rule, held_out
from forensix.training.faces.lists import Origin, list_faces
from forensix.training.faces.steadiness import Steady
from forensix.training.families import in_units, side_by_side
from forensix.training.folds import leave_source_out
from forensix.training.images.cache import difference_hash, near_any
from forensix.training.images.train import training_pictures

FILES = 12
"""Videos of a repository, with all cells of a grid."""
MOST = 120
"""Pictures of one class of a repository and maker."""
LEAST_PX = 56
N_FOLDS = 5
COMMAND = (
    "python -m forensix.training.faces.train --list faces.csv --pictures images.csv --corpora DIR --repositories DIR "
    "--work DIR --out DIR"
)
Log = Callable[[str], None]


def training_faces(origin: Origin, work: Path, *, log: Log) -> pd.DataFrame:
    """Cut the faces that the cache lacks; return those to learn from, a row each, with ``fake`` and ``gap`` added."""
    table = list_faces(origin)
    clips = files_of(table[~table["static"]], FILES)
    table = pd.concat([table[table["static"]], clips], ignore_index=True)
    cut = work / "crops"
    crops.fill(table, cut, origin.repositories, log=log)
    rows, gaps, is_apart = [], [], []
    judged = judging_hashes(origin.corpora / "faces")
    for row, face in crops.rows_with_faces(table, cut):
        if face.face_px < LEAST_PX:
            continue
        upright = aligned(face.rgb[0], face.landmarks[0])
        rows.append(row)
        gaps.append(np.nan if row["static"] else middle_gap(face.detail_gaps))
        is_apart.append(not near_any([difference_hash(upright)], judged).any())
    faces = pd.DataFrame(rows).assign(gap=gaps, fake=lambda rows: rows["label"] == "fake")
    log(f"{len(faces)} faces, {len(faces) - sum(is_apart)} of them like one that judges, left out")
    faces = faces[is_apart].sort_values("name", kind="stable")
    nth = faces.groupby(["repo", "made_by", "label"]).cumcount()
    return faces[(nth < MOST) | ~faces["static"]].reset_index(drop=True)


def judging_hashes(corpus: Path) -> list[int]:
    """Return what tells the upright faces of the development pictures of the corpus, and their mirror images."""
    return [difference_hash(rgb) for rgb in _judging(corpus)]


def _judging(corpus: Path) -> Iterable[np.ndarray]:
    rows = pd.read_csv(corpus / "manifest.csv", dtype=str, keep_default_na=False)
    for path in rows.loc[(rows["split"] == "dev") & (rows["kind"] == "image"), "path"]:
        rgb = np.asarray(Image.open(corpus / path).convert("RGB"))
        for points in landmarks(rgb)[:1]:
            upright = aligned(rgb, points)
            yield from (upright, np.ascontiguousarray(upright[:, ::-1]))


def network_of(rule: Logistic) -> FaceStages:
    """Return the network that ships: the pretrained one, and the rule."""
    network = FaceStages()
    load_imagenet(network.backbone)
    network.rule = rule
    return network.eval()


@dataclass(frozen=True, eq=False)
class Prepared:
    """Faces and pictures to learn from, and what rules say of faces whose sources they did not see."""

    faces: Seen
    pictures: Seen
    held: HeldOut
    steady: Steady


def prepare(origin: Origin, work: Path, *, log: Log) -> Prepared:
    """Cut, decode and compute what ``work`` lacks, and have every face judged without its source."""
    table = training_faces(origin, work, log=log)
    faces = Seen(table, *features.of_faces(table, work / "crops", work / "faces", log=log))
    listed = training_pictures(origin.of_pictures, work, log=log)
    pictures = Seen(listed, *features.of_pictures(listed, work / "windows", log=log))
    folds = folds_of(table)
    steadiness.fill(table, work / "steadiness", origin.repositories, log=log)
    steady = steadiness.held_out(table, steadiness.of_clips(table, work / "steadiness"), folds)
    textures = features.textures(table, work / "crops")
    return Prepared(faces, pictures, held_out(faces, pictures, folds, textures), steady)


def folds_of(table: pd.DataFrame) -> NDArray[np.int64]:
    """Return the fold that holds out each face's repository and maker, (n,)."""
    return leave_source_out(list(table["repo"]), list(table["made_by"]), list(table["fake"]), N_FOLDS)


def learnt_from(faces: Seen, pictures: Seen) -> pd.DataFrame:
    """Return repository, label and licence of every face and picture."""
    of_pictures = pictures.table.assign(label=np.where(pictures.table["fake"], "fake", "real"))
    columns = ["repo", "label", "licence"]
    return pd.concat([faces.table[columns], of_pictures[columns]])


def train(origin: Origin, work: Path, out: Path, *, log: Log = print) -> None:
    """Train and write weights and card to ``out``; print what rules say of sources that they did not see."""
    torch.set_num_threads(1)
    prepared = prepare(origin, work, log=log)
    faces, table = prepared.faces, prepared.faces.table
    card = make_card(table, prepared.held, prepared.steady, learnt_from(faces, prepared.pictures), COMMAND)
    figures.print_figures(table, with_steadiness(card.calibration, prepared.held.said.as_is, prepared.steady), card)
    out.mkdir(parents=True, exist_ok=True)
    nothing = np.zeros(len(table), dtype=bool)
    rules = [fit_rule(faces, prepared.pictures, nothing, family) for family in range(N_FAMILIES)]
    rule = side_by_side(rules)
    in_units(rule, prepared.held.units, SHARES)
    save_model(card, network_of(rule), out, half=True)
    log("done")


def run_from_shell(train: Callable[..., None], about: str | None) -> None:
    """Read the command line that says where lists and files lie, and train."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of faces")
    parser.add_argument("--pictures", type=Path, required=True, help="CSV of pictures, some of which show faces")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds faces and images")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is cut, decoded and computed")
    parser.add_argument("--out", type=Path, required=True, help="folder for weights and card")
    options = parser.parse_args()
    start = time.monotonic()
    train(
        Origin(options.listed, options.pictures, options.corpora, options.repositories),
        options.work,
        options.out,
        log=lambda text: print(f"{time.monotonic() - start:6.0f} s  {text}", flush=True),
    )


if __name__ == "__main__":
    run_from_shell(train, __doc__)
