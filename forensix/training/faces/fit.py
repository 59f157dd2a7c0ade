"""Fitting the rule of forensix-face, and what rules say of faces whose sources they did not see.

Still pictures and clips weigh the same in all, and in either both classes and within them every source. Windows of
pictures of anything, at half the weight of all faces, bring what few faces show: more generators and more cameras.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from forensix.faces.verdict import face_logit
from forensix.models import Pooling
from forensix.models.architectures.pictures import Rule
from forensix.training.faces.features import ALIKE, AS_IS, DRAWN
from forensix.training.images.fit import STRENGTH, domain_weights, domains

POOLING = Pooling(low=0.1, high=0.9)
PICTURES_SHARE = 0.5
SMALL_STILLS, SMALL_CLIPS = 20, 4
"""Sources of fewer files count less."""
_LEAST_SCALE = 1e-4

Rows = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """Files and what the pretrained network says of their views."""

    table: pd.DataFrame
    """A row a file, with ``repo``, ``made_by`` and ``fake``; of faces also ``static``."""
    statistics: NDArray[np.float16]
    """(views, n)"""
    kinds: NDArray[np.uint8]
    rows: NDArray[np.int64]
    """Of each view the row of its file."""

    def learnt(self, files: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which views of some files a rule learns from."""
        learnt: NDArray[np.bool_] = files[self.rows] & np.isin(self.kinds, (AS_IS, DRAWN))
        return learnt

    def view_weights(self, files: Rows, learnt: NDArray[np.bool_]) -> Rows:
        """Return what the learnt views weigh: those of a file share its weight."""
        of = self.rows[learnt]
        shared: Rows = files[of] / np.bincount(of, minlength=len(files))[of]
        return shared


def file_weights(table: pd.DataFrame) -> Rows:
    """Return what the faces of a table weigh, with stills and clips 1 each in all."""
    weights = np.zeros(len(table))
    for still, small in ((True, SMALL_STILLS), (False, SMALL_CLIPS)):
        own = (table["static"] == still).to_numpy()
        if own.any():
            part = table[own]
            counted = domain_weights(domains(part), part["fake"].to_numpy(dtype=bool), small=small)
            weights[own] = counted / counted.sum()
    return weights


def fit_rule(faces: Seen, pictures: Seen, held: NDArray[np.bool_]) -> Rule:
    """Fit a rule on the faces that are not ``held`` out, and on the pictures of no source of those that are."""
    table, out = faces.table, faces.table[held]
    files = np.zeros(len(table))
    files[~held] = file_weights(table[~held])
    others = pictures.table
    shared = others["repo"].isin(out["repo"]) | others["made_by"].isin(set(out["made_by"]) - {""})
    apart = ~shared.to_numpy()
    windows = np.zeros(len(others))
    fakes = others["fake"].to_numpy(dtype=bool)
    counted = domain_weights(domains(others[apart]), fakes[apart])
    windows[apart] = counted / counted.sum() * PICTURES_SHARE * files.sum()
    x, y, w = [], [], []
    for seen, weights, chosen in ((faces, files, ~held), (pictures, windows, apart)):
        learnt = seen.learnt(chosen)
        x.append(seen.statistics[learnt].astype(np.float32))
        y.append(seen.table["fake"].to_numpy(dtype=bool)[seen.rows[learnt]])
        w.append(seen.view_weights(weights, learnt))
    return _fit(np.concatenate(x), np.concatenate(y), np.concatenate(w))


def _fit(x: NDArray[np.float32], fake: NDArray[np.bool_], weights: Rows) -> Rule:
    w = (weights / weights.mean()).astype(np.float32)
    mean = np.average(x, axis=0, weights=w)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w)) + _LEAST_SCALE
    model = LogisticRegression(C=STRENGTH, max_iter=150, tol=1e-3).fit((x - mean) / scale, fake, sample_weight=w)
    rule = Rule(x.shape[1], 1)
    with torch.no_grad():
        rule.mean.copy_(torch.from_numpy(mean))
        rule.scale.copy_(torch.from_numpy(scale))
        rule.linear.weight.copy_(torch.from_numpy(model.coef_).float())
        rule.linear.bias.copy_(torch.from_numpy(model.intercept_).float())
    return rule.eval()


@torch.inference_mode()
def face_logits(rule: Rule, faces: Seen, kind: int = AS_IS) -> Rows:
    """Return the logit of each face from its views of a kind; NaN where it has none."""
    chosen = faces.kinds == kind
    logits = rule(torch.from_numpy(faces.statistics[chosen].astype(np.float32)))[:, 0].double().numpy()
    pooled = np.full(len(faces.table), np.nan)
    for row, own in pd.Series(logits).groupby(faces.rows[chosen]):
        pooled[int(str(row))] = face_logit(own.to_numpy(), POOLING)
    return pooled


def held_out(faces: Seen, pictures: Seen, folds: NDArray[np.int64]) -> tuple[Rows, Rows]:
    """Return the logit of each face, as it is and encoded alike, by a rule without its repository and maker."""
    as_is, alike = np.empty(len(faces.table)), np.empty(len(faces.table))
    for fold in np.unique(folds):
        held = folds == fold
        rule = fit_rule(faces, pictures, held)
        as_is[held] = face_logits(rule, faces)[held]
        alike[held] = face_logits(rule, faces, ALIKE)[held]
    return as_is, alike
