"""Set the bounds of forensix-face on faces of repositories that it never saw, for pictures and videos each.

    python -m forensix.training.faces.bounds --list faces.csv --pictures images.csv --corpora DIR --repositories DIR \\
        --work DIR

Scores single faces, in clips, pictures and the cells of grids, with the shipped weights, and pools their moments as a
verdict does. In clips the gap of fine detail joins the network's score (`forensix.training.faces.joined`): the weights
are fitted on all clips, and the figures and bounds are of fits that did not see a clip's source. ``--work`` keeps the
faces that were cut. The development split takes no part.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import sigmoid
from forensix.faces import forensix_face
from forensix.faces.align import aligned
from forensix.metrics import auc
from forensix.models import Measurement, get_card
from forensix.models.detector import Detector
from forensix.models.store import write_card
from forensix.training.bands import AS_IT_IS, VIDEO, choose, with_band
from forensix.training.faces import crops, joined
from forensix.training.faces.crops import FaceCrops
from forensix.training.faces.lists import Origin, list_faces

NAME = "forensix-face"
COMMAND = "python -m forensix.training.faces.bounds"
ABOUT = "faces in files of {n} repositories that training never saw, on which the bounds were set"
MOST = 24
FILES = 12
DRAWS = 300
SEED = 0
LEAST_OF_SOURCE = 4


def judged(classifier: Detector, face: FaceCrops) -> float:
    """Return the score of the face of a picture, in [0, 1]."""
    return float(np.asarray(classifier.score(aligned(face.rgb[0, 0], face.landmarks[0])[None]))[0])


def score_all(table: pd.DataFrame, cache: Path, classifier: Detector) -> pd.DataFrame:
    """Return a row for each picture of `lists.list_faces` that is in the cache: repo, label, condition, kind, score."""
    rows = []
    for row, face in crops.rows_with_faces(table[table["static"]], cache):
        rows.append((row["repo"], row["label"], AS_IT_IS, "image", judged(classifier, face)))
    return pd.DataFrame(rows, columns=["repo", "label", "condition", "kind", "score"])


def figures_of(clips: pd.DataFrame, logits: NDArray[np.float64], about: str, command: str) -> list[Measurement]:
    """Return what the card says of clips beyond their bounds: sources alike, within a source, and of one file."""
    y = clips["label"] == "fake"
    n = {"n_real": int((~y).sum()), "n_fake": int(y.sum())}
    found = {
        "AUC, a source counting as the root of its clips": weighted_auc,
        "AUC within a source, mean": auc_within,
        "made face above the recorded one of its file": joined.paired,
    }
    return [
        Measurement(
            metric=metric,
            value=round(figure(clips, logits), 4),
            interval=over_sources(figure, clips, logits),
            data=f"{about}, videos",
            command=command,
            **n,
        )
        for metric, figure in found.items()
    ]


def shares_told(clips: pd.DataFrame, told: NDArray[np.bool_], about: str, command: str) -> list[Measurement]:
    """Return how many faces of each class a report would say of that they lack fine detail."""
    fake = (clips["label"] == "fake").to_numpy()
    return [
        Measurement(
            metric=f"{name} faces told to lack fine detail",
            value=round(share, 4),
            data=f"{about}, videos",
            command=command,
            n_real=int((~fake).sum()),
            n_fake=int(fake.sum()),
        )
        for name, share in (("real", float(told[~fake].mean())), ("fake", float(told[fake].mean())))
    ]


def over_sources(
    figure: Callable[[pd.DataFrame, NDArray[np.float64]], float], clips: pd.DataFrame, logits: NDArray[np.float64]
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a figure over sources drawn anew, each with all of its clips."""
    rng = np.random.default_rng(SEED)
    rows = list(clips.groupby("repo").indices.values())
    values = []
    for _ in range(DRAWS):
        drawn = rng.integers(len(rows), size=len(rows))
        at = np.concatenate([rows[i] for i in drawn])
        names = np.repeat(np.arange(len(rows)), [len(rows[i]) for i in drawn]).astype(str)
        of = clips.iloc[at].assign(repo=names)
        if of["label"].nunique() == 2 and np.isfinite(value := figure(of, logits[at])):
            values.append(value)
    low, high = np.percentile(values, (2.5, 97.5)) if values else (np.nan, np.nan)
    return round(float(low), 4), round(float(high), 4)


def weighted_auc(clips: pd.DataFrame, logits: NDArray[np.float64]) -> float:
    """Return the AUC with each source of a class as heavy as the root of its clips."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(clips["label"] == "fake", logits, sample_weight=joined.weights(clips)))


def auc_within(clips: pd.DataFrame, logits: NDArray[np.float64]) -> float:
    """Return the mean AUC of the sources that hold both classes and at least four clips; NaN without one."""
    source, fake = clips.groupby("repo").ngroup().to_numpy(), (clips["label"] == "fake").to_numpy()
    found = []
    for one in np.intersect1d(source[fake], source[~fake]):
        own = source == one
        if own.sum() >= LEAST_OF_SOURCE:
            found.append(auc(fake[own], logits[own]))
    return float(np.mean(found)) if found else float("nan")


def main() -> None:
    """Read the command line, cut and score faces, and write the card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, dest="listed", help="CSV of faces")
    parser.add_argument("--pictures", type=Path, required=True, help="CSV of pictures, some of them portraits")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds faces/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="folder for the faces that are cut")
    parser.add_argument("--most", type=int, default=MOST, help="pictures of a repository and class")
    parser.add_argument("--files", type=int, default=FILES, help="videos of a repository, with all cells of a grid")
    options = parser.parse_args()
    torch.set_num_threads(1)
    card, classifier = get_card(NAME), forensix_face()
    table = list_faces(Origin(options.listed, options.pictures, options.corpora, options.repositories))
    pictures = choose(table[table["static"]], card, options.most)
    clips = joined.files_of(table[~table["static"]], options.files)
    cache = options.work / "crops"
    for rows in (pictures, clips):
        crops.fill(rows, cache, options.repositories, log=lambda line: print(line, flush=True))
    command = f"{COMMAND} --list {options.listed.name} --pictures {options.pictures.name} --corpora DIR"
    command += f" --repositories DIR --work DIR --most {options.most} --files {options.files}"
    clips = joined.measured(clips, cache, classifier)
    variants = {
        "network alone": clips["logit"].to_numpy(np.float64),
        "gap alone": joined.held_out(clips, network=False)[0],
    }
    variants["both"], told_of = joined.held_out(clips)
    for name, logits in variants.items():
        print(f"{name}: AUC {auc(clips['label'] == 'fake', logits):.3f}")
        for one in figures_of(clips, logits, name, command):
            print(f"  {one.metric}: {one.value} {one.interval}")
    logits = variants["both"]
    moving = clips[["repo", "label"]].assign(condition=AS_IT_IS, kind=VIDEO, score=sigmoid(logits))
    scored = pd.concat([score_all(pictures, cache, classifier), moving], ignore_index=True)
    card = with_band(card, scored, command, about=ABOUT, only_supported=True)
    about = ABOUT.format(n=scored["repo"].nunique())
    more = [*figures_of(clips, logits, about, command), *shares_told(clips, told_of, about, command)]
    card = card.model_copy(update={"detail_gap": joined.fit_joined(clips), "measured": (*card.measured, *more)})
    write_card(card)
    print(clips.assign(told=told_of).groupby(["label", "repo"])["told"].agg(["sum", "size"]).to_string())
    print(f"inconclusive between {card.inconclusive}, of videos {card.inconclusive_video}, fake from {card.threshold}")
    print(card.detail_gap)
    for one in card.measured:
        if one.command == command:
            print(f"{one.metric}: {one.value} {one.interval or ''} ({one.n_real} real, {one.n_fake} fake; {one.data})")


if __name__ == "__main__":
    main()
