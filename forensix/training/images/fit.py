"""Fitting the heads on pictures, and the held-out scores that choose between them and set the bounds of the card."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from forensix.calibration import Calibration, fit_platt
from forensix.models.architectures.families import ALL_OTHERS, N_FAMILIES, STYLEGAN
from forensix.models.architectures.logistic import Logistic
from forensix.models.architectures.perceptrons import Perceptrons
from forensix.models.architectures.pictures import N_DETAIL, N_WHOLE, SQUARE, WINDOW, Head
from forensix.training.families import Units, in_units, of_family, side_by_side
from forensix.training.images.features import (
    ALIKE,
    ALIKE_SQUARE,
    AS_IS,
    AS_IS_SQUARE,
    DRAWN,
    DRAWN_PART,
    DRAWN_SQUARE,
    RETOUCHED,
    RETOUCHED_SQUARE,
)
from forensix.training.perceptrons import fit_perceptrons
from forensix.training.rules import DETAIL_SHARE, STRENGTH, fit_output
from forensix.training.said import Said

SMALL_DOMAIN = 20
SQUARE_SHARE = 0.65
"""What the middle square weighs beside the mean of the windows."""
FAINT_SHARE = 1.0
"""What the logit of faint detail weighs beside that of the whole picture, which weighs 1."""
GROUPS = (
    (slice(0, N_WHOLE), 1.0),
    (slice(N_WHOLE, N_WHOLE + N_DETAIL), DETAIL_SHARE),
    (slice(N_WHOLE + N_DETAIL, None), FAINT_SHARE),
)
PLACES = {WINDOW: (AS_IS, *DRAWN), SQUARE: (AS_IS_SQUARE, *DRAWN_SQUARE, *DRAWN_PART)}
"""Of each output the crops that it learns from."""
CONDITIONS = {
    "as_is": (AS_IS, AS_IS_SQUARE),
    "alike": (ALIKE, ALIKE_SQUARE),
    "retouched": (RETOUCHED, RETOUCHED_SQUARE),
}
"""Of each condition of `Said` the window and the square that judge."""
STEPS = 1_600
"""Of the small networks; half as many did as well, a quarter as many worse."""
SHARES = {ALL_OTHERS: 0.85, STYLEGAN: 0.15}
"""Of all generated pictures, before one was looked at: 0.1 and 0.2 for the latter told the folds' pictures as well."""
GRAPHICS_SHARE = 0.03
"""Of the weight of all that no generator made: with 0.06 and more the folds' pictures were told less well."""


def domains(table: pd.DataFrame) -> NDArray[np.str_]:
    """Return what weights are balanced over: a repository's pictures of one generator, or its photographs."""
    return np.asarray(table.repo + "|" + table.made_by, dtype=str)


def domain_weights(
    domains: NDArray[np.str_], fake: NDArray[np.bool_], *, small: int = SMALL_DOMAIN, power: float = 1.0
) -> NDArray[np.float64]:
    """Return weights, mean 1, that give both classes, and within them every domain, the same sum.

    Domains of fewer than ``small`` count less, and with ``power`` 0.5 large ones count more.
    """
    _, at, counts = np.unique(domains, return_inverse=True, return_counts=True)
    weights = 1 / np.maximum(counts, small)[at] ** power
    for side in (fake, ~fake):
        weights[side] /= weights[side].sum()
    return np.asarray(weights / weights.sum() * len(weights))


def weighted_auc(table: pd.DataFrame, scores: NDArray[np.float64]) -> float:
    """Return the AUC in which a domain counts as the root of its pictures."""
    fake = table.fake.to_numpy(dtype=bool)
    return float(roc_auc_score(fake, scores, sample_weight=domain_weights(domains(table), fake, small=10, power=0.5)))


@dataclass(frozen=True, eq=False)
class Examples:
    """Pictures to learn from, aligned."""

    statistics: NDArray[np.float16]
    """(pictures, places, n), see `features.load`."""
    fake: NDArray[np.bool_]
    weights: NDArray[np.float64]
    sources: NDArray[np.str_]
    """Photographs of one source should score as those of another do."""

    def views(self, output: int) -> tuple[NDArray[np.float16], NDArray[np.bool_], NDArray[np.float64]]:
        """Return statistics (views, n), classes and weights of the crops that an output learns from."""
        places = PLACES[output]
        n = len(places)
        statistics = np.concatenate([self.statistics[:, place] for place in places])
        return statistics, np.tile(self.fake, n), np.tile(self.weights, n)


def examples(
    table: pd.DataFrame,
    statistics: NDArray[np.float16],
    graphics: NDArray[np.float16],
) -> Examples:
    """Return a table's pictures, and graphics with `GRAPHICS_SHARE` of the photographs' weight, to learn from.

    Parameters
    ----------
    statistics
        Of the table's pictures, (pictures, places, n).
    graphics
        (graphics, places, n)
    """
    fake, names = table["fake"].to_numpy(dtype=bool), domains(table)
    weights = domain_weights(names, fake)
    n, share = len(graphics), GRAPHICS_SHARE if len(graphics) else 0.0
    given = np.full(n, weights[~fake].sum() * share / max(1, n))
    return Examples(
        np.concatenate([statistics, graphics]),
        np.concatenate([fake, np.zeros(n, dtype=bool)]),
        np.concatenate([np.where(fake, weights, weights * (1 - share)), given]),
        np.concatenate([names, np.full(n, "graphics")]),
    )


def fit_rule(of: Examples, *, strength: float = STRENGTH) -> Logistic:
    """Fit both outputs of a rule: on the whole picture, its fine and its faint detail apart, and then added."""
    rule = Logistic(of.statistics.shape[2], 2)
    for output, places in PLACES.items():
        sources = np.tile(of.sources, len(places))
        fit_output(rule, output, *of.views(output), GROUPS, sources=sources, strength=strength)
    return rule.eval()


def fit_head(
    table: pd.DataFrame, statistics: NDArray[np.float16], graphics: NDArray[np.float16], *, seed: int = 0
) -> Head:
    """Fit a rule for each family, see `fit_rule`, and small networks beside that of all others.

    What each says are logits of its own: see `log_odds`. The networks start from ``seed``.
    """
    head, rules = Head(statistics.shape[2]), []
    for family in range(N_FAMILIES):
        files = of_family(table, family)
        of = examples(table[files], statistics[files], graphics)
        rules.append(fit_rule(of))
        if family == ALL_OTHERS:
            for output, network in enumerate(head.perceptrons):
                assert isinstance(network, Perceptrons)
                fit_perceptrons(network, *of.views(output), steps=STEPS, seed=seed)
    head.rule = side_by_side(rules)
    return head.eval()


@torch.no_grad()
def log_odds(head: Head, units: Units) -> Head:
    """Return the head with logits that are log-odds of all families, changed in place."""
    in_units(head.rule, units, SHARES)
    for unit, network in zip(units[ALL_OTHERS], head.perceptrons, strict=True):
        assert isinstance(network, Perceptrons)
        for parameter in network.vote.parameters():
            parameter.mul_(unit.slope)
    return head


@torch.inference_mode()
def head_logits(
    head: Head | Logistic, statistics: NDArray[np.float16], condition: str = "as_is"
) -> NDArray[np.float64]:
    """Return the logit of every picture in a condition of `CONDITIONS`; NaN where its crops were not made."""
    window, square = (
        head(torch.from_numpy(statistics[:, place].astype(np.float32))) for place in CONDITIONS[condition]
    )
    logits = (1 - SQUARE_SHARE) * window[:, WINDOW] + SQUARE_SHARE * square[:, SQUARE]
    return np.asarray(logits, dtype=np.float64)


def fold_heads(
    table: pd.DataFrame,
    statistics: NDArray[np.float16],
    folds: NDArray[np.int64],
    graphics: NDArray[np.float16],
    *,
    seed: int = 0,
) -> tuple[dict[int, Head], Units]:
    """Return a head for each fold, fitted without its sources and with all graphics, and what makes their log-odds."""
    heads = {
        int(fold): fit_head(table[folds != fold], statistics[folds != fold], graphics, seed=seed)
        for fold in np.unique(folds)
    }
    units = _units(heads, table, statistics, folds)
    return {fold: log_odds(head, units) for fold, head in heads.items()}, units


@torch.inference_mode()
def _units(
    heads: Mapping[int, Head], table: pd.DataFrame, statistics: NDArray[np.float16], folds: NDArray[np.int64]
) -> Units:
    """Return the calibration of what each family's rule says of windows and of squares that it did not see."""
    logits = np.empty((len(folds), N_FAMILIES, 2))
    for fold, head in heads.items():
        held = folds == fold
        for output, place in ((WINDOW, AS_IS), (SQUARE, AS_IS_SQUARE)):
            of_fold = head.families(torch.from_numpy(statistics[held, place].astype(np.float32)))
            logits[held, :, output] = of_fold[:, :, output].numpy()

    def of(family: int) -> tuple[Calibration, ...]:
        files = of_family(table, family)
        fake = table["fake"].to_numpy(dtype=bool)[files]
        weights = domain_weights(domains(table[files]), fake)
        return tuple(fit_platt(logits[files, family, output], fake, weights=weights) for output in (WINDOW, SQUARE))

    return tuple(of(family) for family in range(N_FAMILIES))


def held_out(heads: Mapping[int, Head], statistics: NDArray[np.float16], folds: NDArray[np.int64]) -> Said:
    """Return what heads (see `fold_heads`) say of the sources that they did not see."""
    logits = {condition: np.empty(len(folds)) for condition in CONDITIONS}
    for fold, head in heads.items():
        held = folds == fold
        for condition, of in logits.items():
            of[held] = head_logits(head, statistics[held], condition)
    return Said(**logits)


def fold_aucs(table: pd.DataFrame, logits: NDArray[np.float64], folds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weighted AUC of every fold, over the pictures that have a logit."""
    known = np.isfinite(logits)
    return np.array([weighted_auc(table[known & (folds == f)], logits[known & (folds == f)]) for f in np.unique(folds)])
