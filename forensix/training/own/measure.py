"""Calibration and figures of a model of your own, on files of groups that it never saw, scored as a user's are."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.calibration import Calibration, fit_platt
from forensix.errors import InputError, UsageError
from forensix.evaluation import evaluate
from forensix.evaluation.conditions import units
from forensix.evaluation.plan import choose_conditions
from forensix.manifest import Manifest
from forensix.media import open_media
from forensix.metrics.bands import LEAST_RATIO
from forensix.models import ModelCard, TrainingSource
from forensix.synthetic.content import kinds_of
from forensix.tasks import load_task
from forensix.tasks.verdicts import is_inconclusive
from forensix.training.bands import AS_IT_IS, with_band
from forensix.training.own.deal import groups_of
from forensix.training.own.kinds import judging, told
from forensix.training.own.seen import kept, marks
from forensix.training.sources import counted

LEAST_SPREAD = 1e-6
"""Of the largest logit: less than that between the files held out is rounding."""
MUTE = (0.0, 1.0)
"""Bounds beyond which nothing lies."""
MOST_SOURCES = 100
ABOUT = "whole files of {n} groups held out, on which calibration and bounds were set"

Tell = Callable[[str, float], None]
Strengths = dict[str, list[float | None]] | str


def measured_on(
    card: ModelCard,
    detector: Callable[[ModelCard], Any],
    logit: Callable[[Any, Path], float],
    held_out: Manifest,
    group: str,
    task: str,
    degradations: Strengths,
    tell: Tell,
) -> ModelCard:
    """Return the card with calibration, threshold, bounds and figures.

    Parameters
    ----------
    detector
        Makes the component that has a card.
    logit
        Returns a component's raw logit of a whole file.
    group
        Column by which groups were held out, which a bound is supported by. Intervals draw these again; where they are
        whole collections, or files, what an evaluation of the manifest draws.

    Raises
    ------
    UsageError
        The files of a class cannot be scored, or the network scores real files above fake ones, or all alike.
    """
    groups = groups_of(held_out, group)
    calibration = _calibration(partial(logit, detector(card)), held_out, groups, tell)
    files = kept(marks(held_out), card.calibration_files)
    calibrated = card.model_copy(update={"calibration": calibration, "calibration_files": files})

    def scores_of(card: ModelCard, files: Manifest, said: str, begun: float) -> pd.DataFrame:
        found = evaluate(
            files,
            task,
            component=detector(card),
            degradations=degradations,
            executor="here",
            cache=False,
            metadata=False,
            progress=lambda _, count, done: tell(f"{said} {count}", begun + 0.35 * done),
        )
        return found.scores[found.scores["score"].notna()]

    scores = scores_of(calibrated, held_out, "measuring on", 0.3)
    of = scores["path"].map(dict(zip(held_out.table["path"], groups, strict=True)))
    looks = dict(zip(held_out.table["path"], map(_look, held_out.paths()), strict=True))
    conditions = [
        AS_IT_IS if name == "none" else f"{name}{'' if pd.isna(strength) else f' {strength:g}'}"
        for name, strength in zip(scores["degradation"], scores["strength"], strict=True)
    ]
    scored = pd.DataFrame(
        {
            "repo": of.to_numpy(),
            "unit": (units(scores) if group in ("source", "path") else of).to_numpy(),
            "label": scores["label"].to_numpy(),
            "condition": conditions,
            "kind": [looks[path][0] for path in scores["path"]],
            "score": scores["score"].to_numpy(dtype=float),
        }
    )
    as_they_are = (scored["condition"] == AS_IT_IS).to_numpy() & (scored["kind"] == "image").to_numpy()

    def with_kinds(bounded: ModelCard) -> ModelCard:
        """Return the card of a detector of pictures with the kinds that its bounds were measured on."""
        if bounded.component != "image_detector":
            return bounded
        pictures = scored[as_they_are]
        kinds = [looks[path][1] for path in scores["path"].to_numpy()[as_they_are]]
        return judging(bounded, kinds, (pictures["label"] == "fake").to_numpy(), pictures["score"].to_numpy())

    def undecided(bounded: ModelCard) -> NDArray[np.bool_]:
        """Return of which scores the verdicts of the card tell nothing: most, but not all, lie between its bounds."""
        beyond = [
            not is_inconclusive(score, SimpleNamespace(card=bounded), kind)
            for score, kind in zip(scored["score"], scored["kind"], strict=True)
        ]
        paths = set(scores["path"].to_numpy()[beyond])
        told: set[tuple[str, str, str]] = set()
        if paths:
            table = held_out.table[held_out.table["path"].isin(paths)].reset_index(drop=True)
            files = Manifest(table, held_out.root, held_out.outside)
            verdicts = scores_of(with_kinds(bounded), files, "counting the verdicts on", 0.65)
            told = set(_places(verdicts[~verdicts["inconclusive"]]))
        return np.array([row not in told for row in _places(scores)])

    for condition, rows in scored.groupby("condition"):
        if rows["label"].nunique() < 2:
            raise UsageError(f"of the files held out, {condition}, only {rows['label'].iloc[0]} ones could be scored")
    if scored.empty:
        raise UsageError(f"none of the {len(held_out)} files held out could be scored")
    measured = with_band(
        calibrated, scored, card.command or "", about=ABOUT, only_supported=True, by_source=True, undecided=undecided
    )
    measured = with_kinds(measured)
    measured = measured.model_copy(update={"limits": f"{told(measured)}{measured.limits}"})
    if set(scored["kind"]) == {"image"}:
        limits = f"No video was held out: it decides nothing of one. {measured.limits}"
        measured = measured.model_copy(update={"inconclusive_video": MUTE, "limits": limits})
    if untold := _untold(measured.inconclusive or MUTE):
        measured = measured.model_copy(update={"limits": f"{untold} {measured.limits}"})
    return measured


def _places(scores: pd.DataFrame) -> list[tuple[str, str, str]]:
    rows = zip(scores["path"], scores["degradation"], scores["strength"], strict=True)
    return [(path, degradation, str(strength)) for path, degradation, strength in rows]


def _untold(band: tuple[float, float]) -> str:
    """Return in a sentence which classes no score means, for bounds that the groups held out did not support."""
    sides = [word for word, is_open in (("real", band[0] == 0), ("fake", band[1] == 1)) if is_open]
    if not sides:
        return ""
    return (
        f"It calls nothing {' or '.join(sides)}: in the groups held out no score was shown to be at least"
        f" {LEAST_RATIO:g} times as common among such files as among others."
    )


def _look(path: Path) -> tuple[str, frozenset[str]]:
    """Return a medium's kind, and the kinds of pictures that a picture is of."""
    try:
        with open_media(path) as media:
            return media.kind, kinds_of(media.image()) if media.kind == "image" else frozenset()
    except InputError:
        return "", frozenset()


def _calibration(logit: Callable[[Path], float], held_out: Manifest, groups: Sequence[str], tell: Tell) -> Calibration:
    logits, fake, weights = judged(
        logit, held_out, groups, lambda share: tell(f"calibrating on {len(held_out)} files held out", 0.3 * share)
    )
    if not np.isfinite(logits).all() or np.ptp(logits) <= LEAST_SPREAD * np.abs(logits).max():
        raise UsageError(
            "the network says the same of all files held out, or no finite number, so no model is written: the training"
            " diverged or taught it nothing; take a lower rate, or more steps"
        )
    try:
        return fit_platt(logits, fake, weights=weights)
    except ValueError:
        raise UsageError(
            "on the groups held out the network scores real files above fake ones: what it learnt does not hold there,"
            " so no model is written; more groups, or more alike ones in both classes, may help,"
            " unless the labels are swapped"
        ) from None


def judged(
    logit: Callable[[Path], Any], files: Manifest, groups: Sequence[str], tell: Callable[[float], None]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return what ``logit`` says of each file that can be judged, which are fake, and what each weighs.

    Within a class a group counts as the root of its files, as in training.

    Raises
    ------
    UsageError
        Those that can be judged are not of both classes.
    """
    logits, fake, of = [], [], []
    for n, (entry, group) in enumerate(zip(files, groups, strict=True)):
        tell(n / len(files))
        try:
            logits.append(logit(entry.path))
        except InputError:
            continue
        fake.append(entry.is_fake)
        of.append(group)
    table = pd.DataFrame({"fake": fake, "group": of})
    if table["fake"].nunique() < 2:
        raise UsageError(
            f"of {len(files)} files that were not learnt from, {len(fake)} can be judged, not all of both classes"
        )
    weights = table.groupby(["fake", "group"])["group"].transform("size").to_numpy(dtype=float) ** -0.5
    return np.array(logits), np.array(fake), weights


def strengths_of(task: str, degradations: Collection[str]) -> Strengths:
    """Return degradations, each ``name`` or ``name=strength``, as an evaluation takes them; or ``"all"``, as it is.

    Raises
    ------
    UsageError
        One is none of the task, or of another strength: before a training, not after it.
    """
    strengths: dict[str, list[float | None]] = {}
    for degradation in () if isinstance(degradations, str) else degradations:
        name, _, strength = degradation.partition("=")
        try:
            strengths.setdefault(name, []).append(float(strength) if strength else None)
        except ValueError:
            raise UsageError(
                f"a degradation is written NAME=STRENGTH, for example jpeg=70, not {degradation!r}"
            ) from None
    chosen = degradations if isinstance(degradations, str) else strengths
    choose_conditions(load_task(task), chosen)
    return chosen


def trained_on(manifest: Manifest, groups: Sequence[str], fake: Sequence[int]) -> tuple[TrainingSource, ...]:
    """Return how many files of each class training saw, by group and licence; the smallest groups as one."""
    licences = manifest.table["licence"] if "licence" in manifest.table else pd.Series("", index=manifest.table.index)
    table = pd.DataFrame(
        {
            "repo": groups,
            "label": np.where(np.asarray(fake, dtype=bool), "fake", "real"),
            "licence": licences.fillna("").replace("", "not stated").to_numpy(),
        }
    )
    sizes = table["repo"].value_counts()
    if len(sizes) > MOST_SOURCES:
        table["repo"] = table["repo"].where(
            table["repo"].isin(sizes.index[: MOST_SOURCES - 1]), f"{len(sizes) - MOST_SOURCES + 1} smaller groups"
        )
    return counted(table)
