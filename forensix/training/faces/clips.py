"""Clips: how they are chosen and weighed, what their faces lack of fine detail, and files that show a face both ways.

A source counts as the root of its clips, and both classes alike (`weights`).
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.models import DetailGap
from forensix.training.folds import sources_of

RECORDED = (0.0, 0.95, 1.0)

Rows = NDArray[np.float64]


def files_of(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the clips of the first files of each repository, all cells of a grid with it."""
    nth = table.groupby("repo")["path"].transform(lambda paths: paths.factorize()[0])
    return table[nth < most].reset_index(drop=True)


def weights(table: pd.DataFrame) -> Rows:
    """Return how much each clip counts: a source of a class as the root of its clips, both classes 0.5 in all."""
    counted: Rows = 1 / np.sqrt(table.groupby(["repo", "label"])["label"].transform("size").to_numpy(np.float64))
    for label in ("real", "fake"):
        own = (table["label"] == label).to_numpy()
        counted[own] *= 0.5 / counted[own].sum()
    return counted


def recorded_gaps(table: pd.DataFrame) -> DetailGap:
    """Return how much fine detail the recorded faces of a table's clips lack."""
    real = np.isfinite(table["gap"]) & (table["label"] == "real")
    values, w = table.loc[real, "gap"].to_numpy(np.float64), weights(table)[real.to_numpy()]
    order = np.argsort(values)
    share = (np.cumsum(w[order]) - w[order] / 2) / w.sum()
    least, high, most = (round(float(v), 4) for v in np.interp(RECORDED, share, values[order]))
    return DetailGap(recorded=(least, round(float(np.average(values, weights=w)), 4), high, most))


def noted(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return whether a report tells of each clip's gap, by the recorded faces of other sources, (n,)."""
    sources, gaps = sources_of(table["repo"].tolist(), table["made_by"].tolist()), table["gap"].to_numpy(np.float64)
    is_noted = np.zeros(len(table), dtype=bool)
    for source in np.unique(sources):
        out = sources == source
        is_noted[out] = gaps[out] > recorded_gaps(table[~out]).recorded[2]
    return is_noted


def paired(table: pd.DataFrame, scores: Rows) -> float:
    """Return in what share of the files that show a face both ways the made one scores higher; NaN without any.

    Of a file with several made or recorded cells, the share of their pairs; ties count half.
    """
    file, fake = table.groupby(["repo", "path"]).ngroup().to_numpy(), (table["label"] == "fake").to_numpy()
    shares = []
    for shared in np.intersect1d(file[fake], file[~fake]):
        own = file == shared
        apart = np.sign(scores[own & fake][:, None] - scores[own & ~fake][None])
        shares.append(float((apart + 1).mean() / 2))
    return float(np.mean(shares)) if shares else float("nan")
