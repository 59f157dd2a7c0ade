"""A file opened for a closer look: analysed as a user's file is, or as the evaluation that scored it did."""

import math
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from forensix.analysis import analyze
from forensix.errors import InputError, InputNotFound
from forensix.evaluation import Evaluation
from forensix.explorer.running import Running, Work
from forensix.explorer.selection import AS_THEY_ARE
from forensix.importers.links import located
from forensix.media import Limits, is_url, open_media
from forensix.models import component_names
from forensix.perturb import degrade_file
from forensix.report import Report
from forensix.tasks.catalogue import describe
from forensix.tasks.task import usable_names

_SAME = 5e-4
"""Scores that differ by less are written alike."""


def analysing(
    running: Running,
    source: str | bytes,
    name: str | None,
    tasks: Collection[str],
    limits: Limits,
    components: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Work:
    """Return the work of analysing one input by those of the tasks that accept it.

    An input that cannot be opened, or that none of them accepts, gives a report that says so.
    """

    def work(progress: Callable[[str, str, float], None]) -> Report:
        try:
            accepting = _accepting(source, name, tasks, limits)
            running.expect(tuple(accepting or ()))
            return analyze(source, accepting, name=name, limits=limits, progress=progress, **options, **components)
        except InputError as error:
            input_name = name or ("upload" if isinstance(source, bytes) else source)
            return Report(input=input_name, name=Path(input_name).name, error=str(error), codes={"input": error.code})

    return work


def _accepting(source: str | bytes, name: str | None, tasks: Collection[str], limits: Limits) -> Collection[str] | None:
    """Return which of the tasks accept an input, or all where none does; None leaves it to the analysis.

    A URL is not opened for this: it would be fetched twice.
    """
    if is_url(source):
        return None if set(tasks) == set(usable_names()) else tasks
    with open_media(source, name=name, limits=limits) as media:
        return tuple(task for task in tasks if media.kind in describe(task).accepts) or tasks


def place_of(evaluation: Evaluation, row: "pd.Series[Any]", root: str | os.PathLike[str] | None) -> Path:
    """Return the file that a row is about.

    Raises
    ------
    InputNotFound
        It is not there any more.
    """
    where = Path(root if root is not None else evaluation.info.get("manifest", {}).get("root", ""))
    path = located(where, str(row["path"]))
    if not path.is_file():
        raise InputNotFound(
            f"{row['path']} is not in {where} any more: put the dataset back, or set the explorer's root to its folder"
        )
    return path


def looking(
    running: Running,
    evaluation: Evaluation,
    row: "pd.Series[Any]",
    path: Path,
    components: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Work:
    """Return the work of analysing the file of a row as it was scored: its task, its component, its degradation."""
    task, condition = str(evaluation.info["task"]), str(row["degradation"])
    used, notes = _component(evaluation, row, components)
    settings = evaluation.info.get("settings", {})
    limits = Limits(**settings.get("limits", {}))

    def work(progress: Callable[[str, str, float], None]) -> Report:
        running.expect((task,))
        with tempfile.TemporaryDirectory(prefix="forensix-") as folder:
            source, bounds, copy = path, limits, ""
            try:
                if condition != AS_THEY_ARE:
                    progress(task, "degrading the file as it was for the evaluation", 0.0)
                    strength = None if pd.isna(row["strength"]) else float(row["strength"])
                    seed = int(settings.get("seed", 0))
                    source = degrade_file(path, condition, strength, folder, seed=seed, limits=limits)
                    bounds = replace(limits, max_bytes=max(limits.max_bytes, source.stat().st_size))
                    copy = f"degrade_file({str(path)!r}, {condition!r}, {strength}, FOLDER, seed={seed})"
                report = analyze(source, [task], name=path.name, limits=bounds, progress=progress, **options, **used)
            except InputError as error:
                report = Report(input=str(path), name=path.name, error=str(error), codes={"input": error.code})
        warnings = (*notes, *_differences(row, report, condition, task))
        if copy:
            chosen = "".join(f", {slot}={name!r}" for slot, name in used.items() if isinstance(name, str))
            copy = f"from forensix.perturb import degrade_file\nforensix.analyze({copy}, [{task!r}]{chosen})"
        return replace(report, input=str(path), warnings=(*report.warnings, *warnings), command=copy or None)

    return work


def _component(
    evaluation: Evaluation, row: "pd.Series[Any]", components: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    name = str(row["component"])
    recorded = evaluation.info["components"][name]
    slot = recorded["slot"]
    if slot is None:
        return {}, ()
    # Tables may have it under a name of the caller's; what it is opens with the name of its card.
    card = str(recorded.get("identity") or "").partition(":")[0]
    if installed := next((one for one in (card, name) if one in component_names(slot)), None):
        return {slot: installed}, ()
    if slot in components:
        return {slot: components[slot]}, ()
    sentence = (
        f"{name} is not installed here: this is by the task's own component. Pass yours: explore(..., {slot}=yours)."
    )
    return {}, (sentence,)


def _differences(row: "pd.Series[Any]", report: Report, condition: str, task: str) -> list[str]:
    """Say where what is shown is not what was scored."""
    differences = []
    if condition != AS_THEY_ARE:
        differences.append(
            f"A copy degraded by {row['condition']} was analysed, as in the evaluation: what the copy says of itself"
            " is no trait of the file."
        )
    elif report.sha256 and isinstance(row["sha256"], str) and report.sha256 != row["sha256"]:
        differences.append("The file's content has changed since it was evaluated.")
    score, now = row["score"], report.scores.get(task)
    if now is not None and not math.isnan(score) and abs(now - score) > _SAME:
        differences.append(
            f"In the evaluation it scored {score:.4f}, now {now:.4f}: settings, versions or content differ."
        )
    return differences
