"""From the network's logit and the gap of fine detail of a face in a video to one logit, fitted on listed clips.

The fit is logistic, with a little ridge and neither weight below 0, under equal priors; a source counts as the root of
its files. What is measured was scored by a fit without the clip's source (`forensix.training.folds.sources_of`).
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.faces.verdict import with_detail
from forensix.models import DetailGap
from forensix.training.folds import sources_of

RIDGE = 0.01
REACH_SD = 2.5
"""Gaps count up to so many standard deviations from the middle."""
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


def fit_joined(table: pd.DataFrame, *, network: bool = True) -> DetailGap:
    """Fit the weights; without ``network`` the gap stands alone."""
    from scipy.optimize import minimize

    w, y = weights(table), (table["label"] == "fake").to_numpy()
    gaps, logits = table["gap"].to_numpy(np.float64), table["logit"].to_numpy(np.float64)
    known = np.isfinite(gaps)
    middle, spread = _mean_sd(gaps[known], w[known])
    reach = middle - REACH_SD * spread, middle + REACH_SD * spread
    centre, width = _mean_sd(logits, w)
    x = np.stack([(logits - centre) / width, (np.clip(np.where(known, gaps, middle), *reach) - middle) / spread])

    def loss(p: Rows) -> float:
        z = p[0] + p[1:] @ x
        return float((w * (np.logaddexp(0, z) - y * z)).sum() + RIDGE * (p[1:] ** 2).sum())

    fitted = minimize(loss, np.zeros(3), bounds=[(None, None), (0, None if network else 0), (0, None)]).x
    real = known & ~y
    return DetailGap(
        network=round(float(fitted[1] / width), 4),
        weight=round(float(fitted[2] / spread), 4),
        intercept=round(float(fitted[0] - fitted[1] * centre / width), 4),
        middle=round(middle, 4),
        reach=(round(reach[0], 4), round(reach[1], 4)),
        recorded=_population(gaps[real], w[real]),
    )


def held_out(table: pd.DataFrame, *, network: bool = True) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the logit of each clip by a fit without its source, and whether a report tells of its gap, (n,) each."""
    sources = sources_of(table["repo"].tolist(), table["made_by"].tolist())
    logits, gaps = table["logit"].to_numpy(np.float64), table["gap"].to_numpy(np.float64)
    joined, is_noted = np.empty(len(table)), np.zeros(len(table), dtype=bool)
    for source in np.unique(sources):
        out = sources == source
        fitted = fit_joined(table[~out], network=network)
        joined[out] = with_detail(logits[out], gaps[out], fitted)
        is_noted[out] = gaps[out] > fitted.recorded[2]
    return joined, is_noted


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


def _mean_sd(values: Rows, w: Rows) -> tuple[float, float]:
    middle = float(np.average(values, weights=w))
    return middle, max(float(np.sqrt(np.average((values - middle) ** 2, weights=w))), 1e-6)


def _population(values: Rows, w: Rows) -> tuple[float, float, float, float]:
    order = np.argsort(values)
    share = (np.cumsum(w[order]) - w[order] / 2) / w.sum()
    least, high, most = (round(float(v), 4) for v in np.interp(RECORDED, share, values[order]))
    return least, round(float(np.average(values, weights=w)), 4), high, most
