"""Training forensix-attribution: which family of generators made a picture, or none of those that training has.

A linear rule over what the detector's pretrained network says of the windows and of the middle square. Families that at
least two repositories show, and that are recognised in the one from the other, are named; pictures of all others teach
``unknown``. What is measured follows the detector's folds: a picture of a family that other repositories show as well
is to be named, one of a family that only its own fold holds is to be called unknown. The logit of ``unknown`` is moved
until the latter are told as often as the former, and all logits are scaled until a probability is as high as answers of
its kind are often right (temperature scaling; Guo et al., On Calibration of Modern Neural Networks, 2017).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from forensix.models import Measurement, ModelCard, Output, TrainingSource
from forensix.models.architectures.logistic import Logistic, build
from forensix.training.images.features import AS_IS, AS_IS_SQUARE, DRAWN, DRAWN_SQUARE
from forensix.training.images.fit import domain_weights, domains

UNKNOWN = "unknown"
FAMILIES = (
    (r"stylegan", "stylegan"),
    (r"^sd(\b|\d)|sd 1|stable.?diffusion-(1|beta)|brushnet|leonardo", "stable-diffusion"),
    (r"flux", "flux"),
    (r"gpt-(image|4o)", "gpt-image"),
    (r"gemini", "gemini"),
    (r"muse", "muse"),
    (r"dall-e[- ]2$", "dall-e-2"),
    (r"dalle-mini|dall-e mega", "dalle-mini"),
)
"""Pattern of a generator's name in the lists, without regard to case, to the identifier of its family."""
LEAST_OF_REPOSITORY = 5
STRENGTH = 0.003
HELD_OUT = "generated training pictures, by rules without their repository and generator; every source counts alike"
LOOKS = (
    "The list's development pictures were looked at with every candidate of forensix-image, and once more when "
    "probabilities were calibrated and unknown was raised."
)
LEAST_RIGHT = 0.3
"""A family is named only if held-out pictures of it are named right so often."""


def family(made_by: str) -> str:
    """Return the family of a generator, its own name where it is of none."""
    return next((name for pattern, name in FAMILIES if re.search(pattern, made_by, re.IGNORECASE)), made_by)


def named_families(table: pd.DataFrame) -> tuple[str, ...]:
    """Return the families that two repositories or more show, sorted."""
    rows = table[table.fake].assign(family=table.made_by.map(family))
    sizes = rows.groupby(["family", "repo"]).size()
    n_repositories = sizes[sizes >= LEAST_OF_REPOSITORY].groupby("family").size()
    named = {name for _, name in FAMILIES}
    return tuple(sorted(str(name) for name in n_repositories.index[n_repositories >= 2] if name in named))


def _vectors(statistics: NDArray[np.float16], window: int, square: int) -> NDArray[np.float32]:
    return np.concatenate([statistics[:, window], statistics[:, square]], axis=1).astype(np.float32)


def _fit(statistics: NDArray[np.float16], y: NDArray[np.int64], weights: NDArray[np.float64], n: int) -> Logistic:
    x = np.concatenate([_vectors(statistics, w, v) for w, v in ((AS_IS, AS_IS_SQUARE), (DRAWN[0], DRAWN_SQUARE[0]))])
    w = np.tile(weights, 2)
    mean = np.average(x, axis=0, weights=w)
    scale = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=w)) + 1e-4
    model = LogisticRegression(C=STRENGTH, max_iter=150, tol=1e-3)
    model.fit((x - mean) / scale, np.tile(y, 2), sample_weight=w)
    rule = build(x.shape[1], n)
    with torch.no_grad():
        rule.mean.copy_(torch.from_numpy(mean))
        rule.scale.copy_(torch.from_numpy(scale))
        # A class that a fold lacks is never its answer.
        rule.linear.weight.zero_()
        rule.linear.bias.fill_(-1e4)
        rule.linear.weight[model.classes_] = torch.from_numpy(model.coef_).float()
        rule.linear.bias[model.classes_] = torch.from_numpy(model.intercept_).float()
    return rule.eval()


@torch.inference_mode()
def _logits(rule: Logistic, statistics: NDArray[np.float16]) -> NDArray[np.float64]:
    return np.asarray(rule(torch.from_numpy(_vectors(statistics, AS_IS, AS_IS_SQUARE))).numpy(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class HeldOutAnswers:
    """What rules said of generated pictures whose repository and generator they did not see."""

    logits: NDArray[np.float64]
    """(pictures, labels)"""
    truth: NDArray[np.int64]
    """The label that is right: of the family where other repositories show it, else that of ``unknown``."""
    sources: NDArray[np.str_]

    def moved(self, raised: float, slope: float = 1.0) -> Self:
        """Return the same with the logit of the last label, ``unknown``, raised, and then all scaled by ``slope``."""
        logits = self.logits.copy()
        logits[:, -1] += raised
        return replace(self, logits=slope * logits)

    def right(self, of: NDArray[np.bool_]) -> float:
        """Return the share of right answers among some, every source counting alike."""
        return self._mean((self.logits.argmax(axis=1) == self.truth).astype(float), of)

    def sure(self, of: NDArray[np.bool_]) -> float:
        """Return the mean probability of the answers among some, every source counting alike."""
        return self._mean(np.exp(log_softmax(self.logits, axis=1)).max(axis=1), of)

    def surprise(self) -> float:
        """Return the mean negative log-likelihood of what is right, every source counting alike."""
        likely = log_softmax(self.logits, axis=1)[np.arange(len(self.truth)), self.truth]
        return -self._mean(likely, np.ones(len(self.truth), bool))

    def raise_of_unknown(self) -> float:
        """Return by how much to raise the logit of ``unknown`` for strangers to be told as often as the others."""
        strangers = self.truth == self.logits.shape[1] - 1
        raises = np.arange(-4, 8.01, 0.1)
        moved = ((r, self.moved(r)) for r in raises)
        return float(next((r for r, at in moved if at.right(strangers) >= at.right(~strangers)), raises[-1]))

    def slope(self) -> float:
        """Return what to scale the logits by for their probabilities to surprise least."""
        found = minimize_scalar(lambda log: self.moved(0.0, math.exp(log)).surprise(), bounds=(-4, 2), method="bounded")
        return math.exp(found.x)

    def _mean(self, values: NDArray[np.float64], of: NDArray[np.bool_]) -> float:
        return float(pd.Series(values[of]).groupby(self.sources[of]).mean().mean())


def held_out_answers(
    table: pd.DataFrame, statistics: NDArray[np.float16], folds: NDArray[np.int64], labels: tuple[str, ...]
) -> HeldOutAnswers:
    """Fit a rule without each fold and ask it of the generated pictures in the fold."""
    families = table.made_by.map(family).to_numpy(dtype=str)
    names = domains(table)
    place = {name: i for i, name in enumerate(labels)}
    y = np.array([place.get(name, place[UNKNOWN]) for name in families])
    logits, truths, sources = [], [], []
    for fold in np.unique(folds):
        held = folds == fold
        trained = set(families[~held])
        weights = domain_weights(names[~held], np.ones((~held).sum(), bool))
        rule = _fit(statistics[~held], y[~held], weights, len(labels))
        logits.append(_logits(rule, statistics[held]))
        truths.append(np.where([name in trained for name in families[held]], y[held], place[UNKNOWN]))
        sources.append(names[held])
    return HeldOutAnswers(np.concatenate(logits), np.concatenate(truths), np.concatenate(sources))


def train_attribution(
    table: pd.DataFrame,
    statistics: NDArray[np.float16],
    folds: NDArray[np.int64],
    *,
    trained_on: tuple[TrainingSource, ...],
    seed: int,
    command: str,
    licence: str,
    log: Callable[[str], None] = lambda _: None,
) -> tuple[ModelCard, Logistic]:
    """Fit on generated pictures; return the card, with what was measured on held-out sources, and the rule."""
    fake = table.fake.to_numpy(dtype=bool)
    table, statistics, folds = table[fake].reset_index(drop=True), statistics[fake], folds[fake]
    labels = (*named_families(table), UNKNOWN)
    while True:
        found = held_out_answers(table, statistics, folds, labels)
        unknown = len(labels) - 1
        raised = found.raise_of_unknown()
        slope = found.moved(raised).slope()
        answers = found.moved(raised, slope)
        rights = {name: answers.right(answers.truth == i) for i, name in enumerate(labels)}
        log(
            f"attribution: unknown raised by {raised:.1f}, slope {slope:.2f}; right "
            + ", ".join(f"{n} {r:.2f}" for n, r in rights.items())
        )
        named = tuple(name for name in labels if name == UNKNOWN or rights[name] >= LEAST_RIGHT)
        if named == labels:
            break
        # A family that is hardly ever named right is better called unknown.
        labels = named
    strangers = answers.truth == unknown
    every = np.ones(len(strangers), bool)
    figures = [
        *((f"right, {label}", answers.right(answers.truth == i), answers.truth == i) for i, label in enumerate(labels)),
        ("right, all that are to be named", answers.right(~strangers), ~strangers),
        ("right, all", answers.right(every), every),
        ("mean probability of the answer, all", answers.sure(every), every),
    ]
    measured = tuple(
        Measurement(metric=name, value=value, data=HELD_OUT, n_fake=int(of.sum()), command=command)
        for name, value, of in figures
        if of.any()
    )
    for figure in measured:
        log(f"  {figure.metric}: {figure.value:.2f} of {figure.n_fake}")
    families = table.made_by.map(family)
    y = np.array([labels.index(name) if name in labels else unknown for name in families])
    rule = _fit(statistics, y, domain_weights(domains(table), np.ones(len(table), bool)), len(labels))
    with torch.no_grad():
        rule.linear.bias[unknown] += raised
        rule.linear.weight.mul_(slope)
        rule.linear.bias.mul_(slope)
    card = ModelCard(
        name="forensix-attribution",
        component="attribution",
        summary="Which family of generators made a picture, or none of those known, by the detector's network.",
        architecture="logistic",
        config={"n_inputs": rule.mean.numel(), "n_outputs": len(labels)},
        preprocessing={"statistics": "forensix-image: mean of the windows', then the middle square's"},
        output=Output(labels=labels),
        calibrated_on=f"{HELD_OUT}. {LOOKS}",
        trained_on=trained_on,
        measured=measured,
        limits="Names families and not versions, and only of pictures that are generated. It tells styles and "
        "collections apart as much as generators: a weak hint.",
        licence=licence,
        seed=seed,
        command=command,
        weights="forensix-attribution.safetensors",
        sha256="",
    )
    return card, rule
