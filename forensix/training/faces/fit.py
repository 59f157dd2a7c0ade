"""Fitting the rule of forensix-face, and what rules say of faces whose sources they did not see.

What is said of crops and of windows is fitted apart, on the same files. So is what tells a family of generators from
recorded faces: StyleGAN leaves other traces than all others do, and a rule for both hardly sees it in portraits that
were scaled down.

Still pictures and clips weigh the same in all, and in either both classes and within them every source. Windows of
pictures of anything, at half the weight of all faces, bring what few faces show: more generators and more cameras.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration, fit_platt
from forensix.faces.verdict import face_logit
from forensix.models import Pooling
from forensix.models.architectures.faces import (
    CROP,
    DETAIL,
    FACE,
    FACE_DETAIL,
    FACE_FAINT,
    FAINT,
    HALVES,
    WINDOW,
)
from forensix.models.architectures.families import ALL_OTHERS, N_FAMILIES, STYLEGAN
from forensix.models.architectures.logistic import Logistic
from forensix.training.faces.features import ALIKE, AS_IS, DRAWN, EDITS, RETOUCHED
from forensix.training.families import Units, of_family
from forensix.training.images.fit import domain_weights, domains
from forensix.training.rules import DETAIL_SHARE, fit_output
from forensix.training.said import Said

POOLING = Pooling(low=0.1, high=0.9, min_texture=0.9)
"""The least texture was set on the folds: without one the bound would lie so high for smoothed faces that fewer made
ones are found; with 1.0 fewer are as well, and with 0.7 fewer in clips. That was before the pictures around faces were
edited with them and weighed: with these 1.0 would find a few more and accuse more."""
PICTURES_SHARE = 0.5
WINDOW_SHARE = 0.7
"""What the logit of a window weighs beside that of the crop, which weighs 1: 1 and 1.4 did no better in clips."""
FAINT_SHARE = 1.0
"""What the logit of faint detail weighs beside that of the whole, which weighs 1."""
GROUPS = {
    CROP: ((HALVES, 0.5), (FACE, 0.5), (FACE_DETAIL, DETAIL_SHARE), (FACE_FAINT, FAINT_SHARE)),
    WINDOW: ((HALVES, 1.0), (DETAIL, DETAIL_SHARE), (FAINT, FAINT_SHARE)),
}
"""What is fitted for each output apart and then added: see `forensix.training.rules.fit_output`."""
SMALL_STILLS, SMALL_CLIPS = 20, 4
"""Sources of fewer files count less."""
SHARES = {ALL_OTHERS: 0.7, STYLEGAN: 0.3}
"""Of all made faces, before one was looked at: with 0.2 for the latter the folds' pictures were told less well; with
0.4 they were told as well, and clips less well."""

Rows = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Seen:
    """Files and what the pretrained network says of their views."""

    table: pd.DataFrame
    """A row a file, with ``repo``, ``made_by`` and ``fake``; of faces also ``static``."""
    statistics: NDArray[np.float16]
    """(views, 2, n): of crops and windows. Of pictures, which are seen in windows alone, (views, 1, n)."""
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


def fit_rule(faces: Seen, pictures: Seen, held: NDArray[np.bool_], family: int) -> Logistic:
    """Fit a family's rule on the faces that are not ``held`` out, and on the pictures of no source of those that are.

    Its outputs are of crops and of windows.
    """
    table, out = faces.table, faces.table[held]
    learnt = ~held & of_family(table, family)
    files = np.zeros(len(table))
    files[learnt] = file_weights(table[learnt])
    others = pictures.table
    shared = others["repo"].isin(out["repo"]) | others["made_by"].isin(set(out["made_by"]) - {""})
    apart = ~shared.to_numpy() & of_family(others, family)
    windows = np.zeros(len(others))
    fakes = others["fake"].to_numpy(dtype=bool)
    counted = domain_weights(domains(others[apart]), fakes[apart])
    windows[apart] = counted / counted.sum() * PICTURES_SHARE * files.sum()
    parts = [(faces, faces.learnt(learnt), files), (pictures, pictures.learnt(apart), windows)]
    y = np.concatenate([seen.table["fake"].to_numpy(dtype=bool)[seen.rows[learnt]] for seen, learnt, _ in parts])
    w = np.concatenate([seen.view_weights(weights, learnt) for seen, learnt, weights in parts])
    rule = Logistic(faces.statistics.shape[2], 2)
    for output, groups in GROUPS.items():
        x = np.concatenate([faces.statistics[parts[0][1], output], pictures.statistics[parts[1][1], 0]])
        fit_output(rule, output, x, y, w / w.mean(), groups)
    return rule.eval()


@torch.inference_mode()
def view_logits(rule: Logistic, faces: Seen, views: NDArray[np.bool_]) -> Rows:
    """Return the logits of the crop and the window of some views of faces, (n, 2)."""
    of_outputs = [
        rule(torch.from_numpy(faces.statistics[views, at].astype(np.float32)))[:, at] for at in (CROP, WINDOW)
    ]
    return torch.stack(of_outputs, 1).double().numpy()


def face_logits(views: Rows, faces: Seen, kind: int = AS_IS, *, window_share: float = WINDOW_SHARE) -> Rows:
    """Return the logit of each face from those of the crops and windows of its views of a kind; NaN without any."""
    return _pooled(views[:, CROP] + window_share * views[:, WINDOW], faces, kind)


def _pooled(views: Rows, faces: Seen, kind: int) -> Rows:
    chosen, pooled = faces.kinds == kind, np.full(len(faces.table), np.nan)
    for row, own in pd.Series(views[chosen]).groupby(faces.rows[chosen]):
        pooled[int(str(row))] = face_logit(own.to_numpy(), POOLING)
    return pooled


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The logit of each face by rules without its repository and maker, (n,)."""

    said: Said
    crops: Rows
    """By its crops alone."""
    units: Units = ()
    edited: Mapping[int, Rows] = field(default_factory=dict)
    """The same of faces that were edited, by kind (`features.EDITS`)."""
    textures: Mapping[int, Rows] = field(default_factory=dict)
    """Of faces as they are and edited, by kind (`features.textures`)."""


def held_out(
    faces: Seen, pictures: Seen, folds: NDArray[np.int64], textures: Mapping[int, Rows] = MappingProxyType({})
) -> HeldOut:
    """Fit rules without each fold's sources, and return what all families together say of them."""
    views = np.empty((N_FAMILIES, len(faces.kinds), 2))
    for fold in np.unique(folds):
        held = folds == fold
        own = held[faces.rows]
        for family in range(N_FAMILIES):
            views[family, own] = view_logits(fit_rule(faces, pictures, held, family), faces, own)
    units = tuple(
        tuple(_unit(faces, of_family(faces.table, family), views[family, :, at]) for at in (CROP, WINDOW))
        for family in range(N_FAMILIES)
    )
    slopes = np.array([[unit.slope for unit in of_outputs] for of_outputs in units])
    shifts = np.array([[unit.intercept + np.log(SHARES[i]) for unit in of] for i, of in enumerate(units)])
    both = np.logaddexp.reduce(slopes[:, None] * views + shifts[:, None], axis=0)
    edited = {kind: face_logits(both, faces, kind) for kind in EDITS}
    said = Said(face_logits(both, faces), face_logits(both, faces, ALIKE), edited[RETOUCHED])
    return HeldOut(said, face_logits(both, faces, window_share=0.0), units, edited, textures)


def _unit(faces: Seen, files: NDArray[np.bool_], views: Rows) -> Calibration:
    part = files & faces.table["static"].to_numpy(dtype=bool)
    table = faces.table[part]
    return fit_platt(_pooled(views, faces, AS_IS)[part], table["fake"], weights=file_weights(table))
