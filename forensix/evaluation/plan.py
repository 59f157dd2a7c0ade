"""What an evaluation is to score: the task, the components beside each other, the conditions, the files."""

import os
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import pandas as pd

from forensix.errors import UsageError
from forensix.evaluation.identity import component_name
from forensix.evaluation.output import plain
from forensix.evaluation.scoring import Condition, degradable
from forensix.importers.links import is_link
from forensix.manifest import Manifest
from forensix.manifest_table import missing_hint, no_rows
from forensix.media import Limits
from forensix.models import as_named, check_object, component_names, load_component
from forensix.perturb import find, grid, names
from forensix.tasks import Task, describe, load_task

RESULT_COLUMNS = ("sha256", "task", "component", "degradation", "strength", "level", "score", "class_name",
                  "inconclusive", "error", "seconds", "frame_ms")  # fmt: skip
"""Columns that an evaluation adds to those of the manifest."""


def read_manifest(source: "Manifest | pd.DataFrame | str | os.PathLike[str]") -> Manifest:
    """Return a manifest as it is, or read it; a folder of ``real/`` and ``fake/`` is one too.

    Raises
    ------
    UsageError
        It has no rows, none of its files is there, or it is no manifest.
    """
    if isinstance(source, pd.DataFrame):
        raise UsageError("a table does not say where its files are: pass forensix.Manifest(table, root=FOLDER)")
    manifest = source if isinstance(source, Manifest) else Manifest.read(source)
    if not len(manifest):
        raise UsageError(no_rows(manifest.table))
    listed, paths = manifest.table["path"], manifest.paths()
    if not any(is_link(name) or path.is_file() for name, path in zip(listed, paths, strict=True)):
        hint = missing_hint(listed, len(listed))
        raise UsageError(f"none of the {len(paths)} files of the manifest is in {os.fspath(manifest.root)}{hint}")
    return manifest


def carried(manifest: Manifest) -> pd.DataFrame:
    """Return the manifest's table, ``path`` and ``label`` first; columns that scores have too are renamed.

    Lists and other odd cells become text, before the work and not where its result is written.
    """
    table = plain(manifest.table.reset_index(drop=True))
    taken = {*table.columns, *RESULT_COLUMNS}
    for name in [name for name in table.columns if name in RESULT_COLUMNS]:
        free = f"manifest_{name}"
        while free in taken:
            free = f"manifest_{free}"
        taken.add(free)
        table = table.rename(columns={name: free})
    first = ["path", "label"]
    return table[[*first, *(name for name in table.columns if name not in first)]]


def choose_task(name: str) -> tuple[Task, str | None]:
    """Return a task that scores, and the slot whose component gives the score.

    Raises
    ------
    UsageError
        There is no such task, it gives claims and no score, or its description names a slot that it has not.
    """
    if not isinstance(name, str):
        raise UsageError(f"task is the name of one task, not a {type(name).__name__}")
    task = load_task(name)
    described = describe(name)
    if not described.gives_score:
        raise UsageError(f"{name} makes claims and gives no score, so there is nothing to evaluate")
    if described.deciding_slot not in (None, *task.components):
        slots = ", ".join(task.components) or "none"
        raise UsageError(f"the description of {name} has {described.deciding_slot!r} decide; its slots are: {slots}")
    return task, described.deciding_slot


def choose_components(task: Task, slot: str | None, chosen: Any) -> dict[str, Any]:
    """Return components by the name that tables give them.

    ``chosen`` is a name, an object, a list of those, or objects by name; None is the task's own.

    Raises
    ------
    UsageError
        Two have one name, there are none, the task has no slot for one, or an object lacks the slot's verb.
    ModelNotFound
        No component of that name.
    """
    if slot is None:
        if chosen is not None:
            raise UsageError(f"{task.name} has no component to choose")
        return {task.name: None}
    if chosen is None:
        chosen = task.components[slot]
    if isinstance(chosen, Mapping):
        components = {str(name): as_named(component) for name, component in chosen.items()}
    else:
        many = [as_named(one) for one in (chosen if isinstance(chosen, list | tuple) else [chosen])]
        components = {component_name(component): component for component in many}
        if len(components) < len(many):
            raise UsageError(
                "components are told apart by name, and two have the same: write component={'one': ..., 'other': ...}"
            )
    if not components:
        raise UsageError("component is an empty list: name at least one, or leave it out for the task's own")
    for component in components.values():
        if isinstance(component, str):
            if component not in component_names(slot):
                load_component(slot, component)  # of a path, or it says what names there are
        else:
            check_object(slot, component)
    return components


def check_settings(metadata: Any, seed: Any, limits: Any) -> None:
    """Refuse settings of the wrong type: any text is true, and other seeds fail with the first file."""
    if not isinstance(metadata, bool):
        raise UsageError(f"metadata is True or False, not {metadata!r}")
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise UsageError(f"seed is a whole number, not {seed!r}")
    if not isinstance(limits, Limits):
        raise UsageError(f"limits is a forensix.media.Limits(...), not a {type(limits).__name__}")


def choose_conditions(
    task: Task, chosen: "Collection[str] | Mapping[str, Iterable[float | None]] | str | None"
) -> list[Condition]:
    """Return the undegraded condition and those that are asked for, in order, mild ones first.

    ``"all"`` is every degradation of what the task looks at.

    Raises
    ------
    UsageError
        A name or a strength is none of that; the sentence lists those that there are.
    """
    kinds = degradable(task)
    conditions = [Condition()]
    if chosen is None:
        return conditions
    if isinstance(chosen, str):
        if chosen != "all":
            raise UsageError(f"degradations is a list of names, or 'all': write degradations=[{chosen!r}]")
        chosen = [name for kind in kinds for name in names(kind)]
    if not isinstance(chosen, Collection):
        raise UsageError(f"degradations is a list of names, not a {type(chosen).__name__}")
    for name in chosen:
        if name == "none":
            continue
        kind = next((kind for kind in kinds if name in names(kind)), None)
        if kind is None:
            find(kinds[0], name)
            raise UsageError(f"{name} changes nothing that {task.name} looks at")
        strengths = {name: chosen[name]} if isinstance(chosen, Mapping) else [name]
        for _, strength, _ in grid(kind, strengths):
            conditions.append(Condition(name, None if strength is None else float(strength)))
    return list(dict.fromkeys(conditions))


def absolute(manifest: Manifest) -> list[str]:
    """Return the files of a manifest as paths that do not depend on where a worker runs, and links as they are."""
    root = Path(manifest.root).absolute()
    return [path if is_link(path) else os.fspath(root / path) for path in manifest.table["path"]]
