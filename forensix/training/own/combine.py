"""Several detectors in one slot: their calibrated logits added up by a rule that is fitted, or their mean."""

import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

import forensix
from forensix.errors import UsageError
from forensix.evaluation.plan import read_manifest
from forensix.folders import expanded
from forensix.manifest import Manifest
from forensix.models import LoadedModel, ModelCard, Output, load_detector, save_model
from forensix.models.architectures.ensemble import WeightedSum, build
from forensix.models.detector import Detector
from forensix.models.ensemble import ARCHITECTURE, MEMBERS, Ensemble, listed
from forensix.models.registry import with_article
from forensix.models.store import checked_weights, is_place, write_card
from forensix.progress import Progress, display
from forensix.training.own.card import OF_BASE, command_of, digest_of, saying_first, too_few
from forensix.training.own.deal import Split, deal, groups_of
from forensix.training.own.learn import check_whole
from forensix.training.own.measure import judged, measured_on, strengths_of
from forensix.training.own.run import RECIPES, free_name, slot_of
from forensix.training.own.seen import check_unseen, marks, trained_files, warn_of_sources
from forensix.training.own.seen import kept as kept_marks
from forensix.training.own.unusable import Asked

RULES = ("mean", "linear")
STRENGTH = 1.0
"""Inverse of the ridge penalty of the fitted rule, for weights whose mean is 1."""


def combine(
    members: Sequence[str | os.PathLike[str]],
    manifest: Manifest | str | os.PathLike[str],
    task: str,
    output: str | os.PathLike[str],
    *,
    rule: str = "mean",
    name: str | None = None,
    group: str | None = None,
    device: str = "cpu",
    degradations: Collection[str] | None = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
    command: str | None = None,
) -> ModelCard:
    """Make one detector of several, and return its card.

    Members of a name stay where they are; those of a path are copied to ``output``. Groups of files are split as
    `train` deals them: a fitted rule learns from the first two parts, or, where a member learnt from files of the
    first, from the second alone; the third calibrates and measures the ensemble as `train` does.

    Parameters
    ----------
    members
        Two or more names or paths of detectors of the task.
    rule
        ``"mean"`` of the members' calibrated logits, or ``"linear"``: a weighted sum, fitted by logistic regression.
    manifest, task, output, name, group, device, degradations, seed, progress, command
        As for `train`.

    Raises
    ------
    UsageError
        Members are fewer than two, twice the same, or of another task; one comes from transformers, was trained on
        files to measure on, or learnt from those to fit the rule on; or what `train` refuses. No model is written then.
    ModelError
        A member cannot be used.

    Examples
    --------
    >>> import forensix
    >>> card = forensix.combine(["forensix-spoof", "./mine"], "clips", "voice_analysis", "both")  # doctest: +SKIP
    """
    slot = slot_of(task)
    if isinstance(members, str | os.PathLike):
        raise UsageError(f"an ensemble has two or more members: write [{os.fspath(members)!r}, ...]")
    if rule not in RULES:
        raise UsageError(f"rule is one of {', '.join(RULES)}, not {rule!r}")
    check_whole("seed", seed, 0)
    conditions = strengths_of(task, RECIPES[slot].degradations if degradations is None else degradations)
    folder = expanded(output)
    called = free_name(folder, name)
    detectors = [load_detector(one, device=device) for one in members]
    cards = [one.card for one in detectors]
    _check(cards, slot)
    whole = read_manifest(manifest).check()
    split = deal(whole, group, seed)
    digest = digest_of(whole)
    _check_told(cards, digest)
    check_unseen(split.held_out, {card.name: trained_files(card) for card in cards}, "measure on")
    told = warn_of_sources(split.held_out, cards)
    files = _to_fit_on(cards, split) if rule == "linear" else None
    fitted_on = [] if files is None else marks(files)
    kept = [is_place(one) for one in members]
    network, recipe = build(cards), RECIPES[slot]
    said = command or command_of(
        (
            *("forensix", "combine", *members, "--manifest", "MANIFEST", "--task", task, "--output", output),
            *("--name", called, "--rule", rule, "--group", split.group, "--device", device, "--seed", str(seed)),
        )
    )
    with display(progress) as tell:
        if files is not None:
            logit = Asked(recipe.logit, files)
            logits, fake, weights = judged(
                lambda path: [_calibrated(one, logit(one, path)) for one in detectors],
                files,
                groups_of(files, split.group),
                lambda done: tell(task, f"fitting the rule on {len(files)} files", 0.4 * done),
            )
            _fit(network, logits, fake, weights)
            told += logit.warn("to fit the rule on")
        logit = Asked(recipe.logit, split.held_out)
        card = measured_on(
            _card(called, slot, cards, kept, rule, network, split, fitted_on, said, seed, digest),
            lambda card: Ensemble(LoadedModel(card, network), detectors),
            logit,
            split.held_out,
            split.group,
            task,
            conditions,
            lambda said, done: tell(task, said, 0.4 + 0.6 * done),
        )
    folder.mkdir(parents=True, exist_ok=True)
    for place, member, is_kept in zip(members, cards, kept, strict=True):
        if is_kept:
            _copy(place, member, folder / MEMBERS / member.name)
    return save_model(saying_first(card, told + logit.warn("held out")), network, folder)


def _check(cards: Sequence[ModelCard], slot: str) -> None:
    names = [card.name for card in cards]
    if len(set(names)) < max(2, len(names)):
        raise UsageError(f"an ensemble needs two or more different members, not {', '.join(names) or 'none'}")
    for card in cards:
        if card.component != slot:
            raise UsageError(f"{card.name} is {with_article(card.component)}, not {with_article(slot)}")
        if card.architecture == ARCHITECTURE:
            raise UsageError(f"{card.name} is an ensemble itself: name its members instead")
        if card.architecture == "hub":
            raise UsageError(f"{card.name} comes from transformers without a card to keep: it cannot be a member")


def _check_told(cards: Sequence[ModelCard], digest: str) -> None:
    """Refuse a member that an earlier release trained on this manifest: its card does not tell by which files."""
    for card in cards:
        if card.manifest_sha256 == digest and not card.learnt_files:
            raise UsageError(
                f"{card.name} was trained on this manifest by release {card.version}, whose cards do not tell from"
                " which files: train it again, or take another manifest"
            )


def _to_fit_on(cards: Sequence[ModelCard], split: Split) -> Manifest:
    """Return the files that a rule is fitted on: none that a member learnt from, where it looks better than it is."""
    learnt = {card.name: card.learnt_files for card in cards}
    is_known = set(marks(split.learnt)) & set[str]().union(*learnt.values())
    files = split.stopping if is_known else _joined(split.learnt, split.stopping)
    check_unseen(files, learnt, "fit the rule on")
    return files


def _joined(first: Manifest, second: Manifest) -> Manifest:
    return Manifest(pd.concat([first.table, second.table], ignore_index=True), first.root, first.outside)


def _calibrated(detector: Detector, logit: float) -> float:
    calibration = detector.card.calibration
    return logit if calibration is None else calibration.slope * logit + calibration.intercept


def _fit(
    network: WeightedSum, logits: NDArray[np.float64], fake: NDArray[np.bool_], weights: NDArray[np.float64]
) -> None:
    """Fit the rule to logits (files, members), both classes weighing alike."""
    for side in (fake, ~fake):
        weights[side] *= len(weights) / 2 / weights[side].sum()
    model = LogisticRegression(C=STRENGTH).fit(logits, fake, sample_weight=weights)
    with torch.no_grad():
        network.weight.copy_(torch.from_numpy(model.coef_[0]))
        network.bias.copy_(torch.tensor(model.intercept_[0]))


def _card(
    name: str,
    slot: str,
    cards: Sequence[ModelCard],
    kept: Sequence[bool],
    rule: str,
    network: WeightedSum,
    split: Split,
    fitted_on: Sequence[str],
    command: str,
    seed: int,
    digest: str,
) -> ModelCard:
    names = [card.name for card in cards]
    seen = dict.fromkeys(source for card in cards for source in card.trained_on)
    before = dict.fromkeys(source for card in cards for source in card.trained_on_before if source not in seen)
    terms = ", ".join(f"{weight:.3f} {one}" for weight, one in zip(network.weight.tolist(), names, strict=True))
    return ModelCard(
        name=name,
        component=slot,
        summary=f"The {'mean' if rule == 'mean' else 'sum'} of the calibrated logits of {' and '.join(names)}.",
        architecture=ARCHITECTURE,
        config={"members": listed(list(zip(cards, kept, strict=True)))},
        preprocessing={"rule": f"{terms}; {network.bias.item():+.3f}"},
        output=Output(labels=("fake",), fake=0),
        calibrated_on=f"{len(split.held_out)} files of groups held out, told apart by the column {split.group!r};"
        " a group counts as the root of its files, classes alike",
        pooling=cards[0].pooling,
        trained_on=tuple(seen),
        trained_on_before=tuple(before),
        limits=too_few(split) + " ".join(f"{card.name}: {_own_limits(card)}" for card in cards),
        licence=" ".join(f"{card.name}: {card.licence}" for card in cards),
        seed=seed,
        command=command,
        version=forensix.__version__,
        manifest_sha256=digest,
        learnt_files=kept_marks(fitted_on, *(card.learnt_files for card in cards)),
        stopping_files=kept_marks(*(card.stopping_files for card in cards)),
        calibration_files=kept_marks(*(card.calibration_files for card in cards)),
        weights=f"{name}.safetensors",
        sha256="",
    )


def _own_limits(card: ModelCard) -> str:
    return card.limits.partition(OF_BASE)[0].strip()


def _copy(place: str | os.PathLike[str], card: ModelCard, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(checked_weights(place), target / card.weights)
    write_card(card, target)
