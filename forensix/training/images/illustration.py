"""Train forensix-illustration: was a picture drawn, or does it look photographed?

    python -m forensix.training.images.illustration --list CSV --corpora DIR --repositories DIR

Learns from generated training pictures, looked at one by one and labelled in ``illustrations.csv`` (those that could
be either are not in it; of a montage the first counts), and from photographs: all of the corpus, and `PHOTOGRAPHS` of
each repository of the list. Nothing is drawn by a person but what a repository of photographs may hold. Each origin of
a look weighs as much as another, so that drawn is not what tells generators from cameras. Five folds hold whole
repositories out: what rules say of those that they did not see chose the strength of the fit, calibrates, and sets the
threshold, above which at most `MOST_PHOTOGRAPHIC` of what looks photographic lies. Whole montages taught that several
pictures beside each other are drawn.
"""

import argparse
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from forensix.calibration import fit_platt
from forensix.metrics import auc
from forensix.models import Measurement, ModelCard, Output, load_component, save_model
from forensix.models.architectures.logistic import Logistic, build
from forensix.models.architectures.pictures import N_WHOLE
from forensix.models.files import SHIPPED
from forensix.synthetic.illustration import square_statistics
from forensix.training.images.cache import decode
from forensix.training.images.lists import NOT_STATED
from forensix.training.sources import Repositories, counted, read_list

LABELS = Path(__file__).with_name("illustrations.csv")
PHOTOGRAPHS = 25
STRENGTH = 0.03  # of scikit-learn's C: the best of 0.00003 to 0.03 on the folds
MOST_PHOTOGRAPHIC = 0.025
"""With 0.05 a third of what was withheld of the development pictures looked photographic, as animals in hats do."""
N_FOLDS = 5
LEAST_SIDE_PX = 160
COMMAND = "python -m forensix.training.images.illustration --list CSV --corpora DIR --repositories DIR"


def labelled(list_path: Path, corpora: Path) -> pd.DataFrame:
    """Return a row for each picture, with ``look``, ``origin``, and ``cells``, pictures on a side of a montage."""
    corpus = pd.read_csv(corpora / "images/manifest.csv", dtype=str)
    corpus = corpus[corpus.split == "train"].rename(columns={"source_repo": "repo"}).assign(blob="", origin="corpus")
    listed = read_list(list_path, split="train").assign(origin="list", licence=NOT_STATED)
    photographs = listed[listed.label == "real"]
    order = photographs.blob.map(lambda blob: zlib.crc32(blob.encode())).sort_values(kind="stable").index
    photographs = photographs.loc[order].groupby("repo").head(PHOTOGRAPHS)
    looks = pd.read_csv(LABELS, dtype=str, keep_default_na=False)
    named = pd.concat(
        [
            corpus[corpus.label == "fake"].merge(looks[["path", "look"]][looks.blob == ""], on="path"),
            listed.merge(looks[["blob", "look"]][looks.blob != ""], on="blob"),
        ]
    )
    real = pd.concat([corpus[corpus.label == "real"], photographs]).assign(look="photographic")
    table = pd.concat([named, real]).fillna("").reset_index(drop=True)
    table["cells"] = table.made_by.str.startswith("montage 2x2") + 1
    return table[["repo", "ref", "blob", "path", "label", "look", "origin", "licence", "cells"]]


def statistics_of(table: pd.DataFrame, corpora: Path, repositories: Path) -> Iterator[NDArray[np.float32] | None]:
    """Yield what the networks say of each picture, nothing where it cannot be used."""
    detector = load_component("image_detector", "forensix-image")
    with Repositories(repositories) as opened:
        for row in table.itertuples():
            of_list = row.origin == "list"
            path, blob, ref = str(row.path), str(row.blob), str(row.ref)
            data = (
                opened.read(str(row.repo), path, blob=blob, ref=ref)
                if of_list
                else (corpora / "images" / path).read_bytes()
            )
            rgb = decode(data)
            if rgb is not None:
                height, width = (side // int(str(row.cells)) for side in rgb.shape[:2])
                rgb = rgb[:height, :width]
            yield None if rgb is None or min(rgb.shape[:2]) < LEAST_SIDE_PX else square_statistics(detector, rgb)


def weights_of(table: pd.DataFrame) -> NDArray[np.float64]:
    """Return weights by which each look counts alike, and in it each origin of generated or photographed pictures."""
    groups = table.groupby(["look", "origin", "label"])
    weight = 1 / groups["path"].transform("size")
    n_groups = table.assign(weight=weight).groupby("look")["weight"].transform("sum")
    return np.asarray(weight / n_groups * len(table) / 2, np.float64)


def fit(x: NDArray[np.float32], drawn: NDArray[np.bool_], weight: NDArray[np.float64]) -> Logistic:
    """Fit a standardised logistic regression."""
    module = build(x.shape[1])
    mean, scale = x.mean(0), x.std(0) + 1e-3
    model = LogisticRegression(C=STRENGTH, max_iter=2000).fit((x - mean) / scale, drawn, sample_weight=weight)
    with torch.no_grad():
        module.mean.copy_(torch.from_numpy(mean))
        module.scale.copy_(torch.from_numpy(scale))
        module.linear.weight.copy_(torch.from_numpy(model.coef_))
        module.linear.bias.copy_(torch.from_numpy(model.intercept_))
    return module.eval()


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, calibrate, choose the threshold, write."""
    parser = argparse.ArgumentParser(description="Train the rule that tells drawn pictures.")
    parser.add_argument("--list", type=Path, required=True, help="images.csv")
    parser.add_argument("--corpora", type=Path, required=True, help="folder that holds images/manifest.csv")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories, owner+name")
    options = parser.parse_args(arguments)
    table = labelled(options.list, options.corpora)
    said = list(statistics_of(table, options.corpora, options.repositories))
    table = table[[vector is not None for vector in said]].reset_index(drop=True)
    x = np.stack([vector for vector in said if vector is not None])
    drawn, weight = (table.look == "drawn").to_numpy(), weights_of(table)
    unseen = np.zeros(len(table))
    for train, test in GroupKFold(N_FOLDS).split(x, groups=table.repo):
        rule = fit(x[train], drawn[train], weight[train])
        with torch.inference_mode():
            unseen[test] = rule(torch.from_numpy(x[test]))[:, 0].double().numpy()
    calibration = fit_platt(unseen, drawn, weights=weight)
    scores = calibration.score(unseen)
    threshold = float(np.quantile(scores[~drawn], 1 - MOST_PHOTOGRAPHIC))
    groups = {
        "photographs": table.label == "real",
        "generated pictures that look photographic": (table.label == "fake") & ~drawn,
        "generated pictures that look drawn": (table.label == "fake") & drawn,
    }
    card = ModelCard(
        name="forensix-illustration",
        component="illustration",
        summary="Was a picture drawn, by whomever, or does it look photographed? By the detector's networks.",
        architecture="logistic",
        config={"n_inputs": N_WHOLE},
        preprocessing={"statistics": "forensix-image: of the middle square, the first of the picture itself"},
        output=Output(labels=("drawn",)),
        calibration=calibration,
        calibrated_on="training pictures, by rules that did not see their repository. The list's generated development "
        "pictures were judged twice: when at most 5 % of what looks photographic lay above the threshold, after which "
        "those that were withheld, and drawings by people that had been called generated, were looked at, and with the "
        "2.5 % that this gave.",
        threshold=threshold,
        trained_on=counted(table),
        measured=(
            Measurement(
                metric="AUC of drawn against photographic",
                value=round(float(auc(drawn, scores)), 4),
                data="training pictures of repositories left out of the fit",
                command=COMMAND,
            ),
            *(
                Measurement(
                    metric="share that is called drawn",
                    value=round(float((scores[rows.to_numpy()] >= threshold).mean()), 4),
                    data=f"{what}, of repositories left out of the fit; {int(rows.sum())}",
                    command=COMMAND,
                )
                for what, rows in groups.items()
            ),
        ),
        limits="It learnt no drawing by a person. Pages, charts and screens are mostly called drawn, realistic "
        "paintings and renders often photographic.",
        licence="Apache-2.0; most repositories of the training pictures state no licence for them: for research",
        seed=0,
        command=COMMAND,
        weights="forensix-illustration.safetensors",
        sha256="",
    )
    card = save_model(card, fit(x, drawn, weight), SHIPPED)
    print(f"{len(table)} pictures, {int(drawn.sum())} of them drawn; threshold {card.threshold:.3f}")
    for measured in card.measured:
        print(f"{measured.metric}, {measured.data}: {measured.value}")


if __name__ == "__main__":
    main()
