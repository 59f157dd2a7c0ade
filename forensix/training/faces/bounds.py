"""Set the bounds of forensix-face on faces of repositories that it never saw, for pictures and videos each.

    python -m forensix.training.faces.bounds --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR

Scores single faces, in clips, pictures and the cells of grids, with the shipped weights, and pools their moments as a
verdict does. ``--work`` keeps the faces that were cut. The development split takes no part.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from forensix.calibration import logit, sigmoid
from forensix.faces import forensix_face
from forensix.faces.align import aligned
from forensix.faces.verdict import face_logit
from forensix.models import Pooling, get_card
from forensix.models.detector import Detector
from forensix.models.store import write_card
from forensix.training.bands import AS_IT_IS, VIDEO, choose, with_band
from forensix.training.faces import crops
from forensix.training.faces.crops import FaceCrops
from forensix.training.faces.lists import Origin, list_faces

NAME = "forensix-face"
COMMAND = "python -m forensix.training.faces.bounds"
ABOUT = "faces in files of {n} repositories that training never saw, on which the bounds were set"
MOST = 24


def judged(classifier: Detector, face: FaceCrops, *, still: bool) -> float:
    """Return the score of one face from its moments, in [0, 1]."""
    shown = range(1 if still else len(face))
    views = np.stack([aligned(face.rgb[i, 0], face.landmarks[i]) for i in shown])
    found = logit(np.asarray(classifier.score(views), dtype=np.float64))
    return float(sigmoid(face_logit(found, classifier.card.pooling or Pooling())))


def score_all(table: pd.DataFrame, cache: Path, classifier: Detector) -> pd.DataFrame:
    """Return a row for each face of `lists.list_faces` that is in the cache: repo, label, condition, kind, score."""
    rows = []
    for row, face in crops.rows_with_faces(table, cache):
        still = bool(row["static"])
        score = judged(classifier, face, still=still)
        rows.append((row["repo"], row["label"], AS_IT_IS, "image" if still else VIDEO, score))
    return pd.DataFrame(rows, columns=["repo", "label", "condition", "kind", "score"])


def main() -> None:
    """Read the command line, cut and score faces, and write the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of faces")
    parser.add_argument("--pictures", type=Path, required=True, help="CSV of pictures, some of them portraits")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds faces/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="folder for the faces that are cut")
    parser.add_argument("--most", type=int, default=MOST, help="faces of a repository, class and kind")
    options = parser.parse_args()
    torch.set_num_threads(1)
    card, classifier = get_card(NAME), forensix_face()
    table = list_faces(Origin(options.listed, options.pictures, options.corpora, options.repositories))
    kinds = [choose(of, card, options.most) for _, of in table.groupby("static")]
    chosen = pd.concat(kinds, ignore_index=True)
    crops.fill(chosen, options.work / "crops", options.repositories, log=lambda line: print(line, flush=True))
    command = f"{COMMAND} --list {options.listed.name} --pictures {options.pictures.name} --corpora DIR"
    command += f" --repositories DIR --work DIR --most {options.most}"
    card = with_band(card, score_all(chosen, options.work / "crops", classifier), command, about=ABOUT, shown=True)
    write_card(card)
    print(f"inconclusive between {card.inconclusive}, of videos {card.inconclusive_video}, fake from {card.threshold}")
    for one in card.measured:
        if one.command == command:
            print(f"{one.metric}: {one.value} {one.interval or ''} ({one.n_real} real, {one.n_fake} fake; {one.data})")


if __name__ == "__main__":
    main()
