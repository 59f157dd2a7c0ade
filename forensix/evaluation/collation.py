"""Many evaluations beside each other: one table, and paired tests wherever two have scored the same files."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forensix.errors import UsageError
from forensix.evaluation import displays, output, summary
from forensix.evaluation.result import Evaluation
from forensix.folders import expanded


@dataclass(frozen=True, eq=False, repr=False)
class Collation:
    """Evaluations by name, made by `collate`. A run is one component of one of them.

    A run is called as its component is, with the evaluation's name in brackets where two would be called alike.
    """

    evaluations: Mapping[str, Evaluation]

    @property
    def runs(self) -> pd.DataFrame:
        """A row a run: where it is from, its task, threshold, files, and hashes of code, component and manifest."""
        rows = []
        for run, name, component in self._named():
            info = self.evaluations[name].info
            card, scores = info["components"][component], self._scores(name, component)
            rows.append(
                {
                    "run": run,
                    "evaluation": name,
                    "task": info["task"],
                    "component": component,
                    "threshold": card["threshold"],
                    "n_files": scores["path"].nunique(),
                    "n_failed": int(scores["error"].notna().sum()),
                    "identity": card["identity"],
                    "manifest": info["manifest"]["sha256"],
                    "code": info["code"],
                    "started": info["started"],
                }
            )
        return pd.DataFrame(rows)

    @property
    def scores(self) -> pd.DataFrame:
        """The scores of all runs, as in `Evaluation`, with the column ``run`` first."""
        parts = [self._scores(name, component).assign(run=run) for run, name, component in self._named()]
        table = pd.concat([part.dropna(axis=1, how="all") for part in parts], ignore_index=True)
        table = table.reindex(columns=list(dict.fromkeys(column for part in parts for column in part.columns)))
        return table[["run", *(name for name in table.columns if name != "run")]]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the figures should know: of each evaluation, and of their being put side by side."""
        notes = []
        for name, run in self.evaluations.items():
            notes += [f"{name}: {note}" if len(self.evaluations) > 1 else note for note in run.notes]
        for what, of in (("code", "versions of forensix or of what it depends on"), ("manifest", "manifests")):
            if self.runs[what].nunique() > 1:
                notes.append(f"These runs were made with different {of}.")
        settings = {repr(run.info["settings"]) for run in self.evaluations.values()}
        if len(settings) > 1:
            notes.append("These runs were made with different settings: see evaluations[...].info['settings'].")
        return tuple(notes)

    def summary(self, **options: Any) -> pd.DataFrame:
        """Return every metric of every run, each over all files of its own; see `Evaluation.summary`."""
        return summary.summarise(self._as_components(), **self._options(options)).rename(columns={"component": "run"})

    def compare(self, *, baseline: str | None = None, **options: Any) -> pd.DataFrame:
        """Return how each run differs from the first of its task, or ``baseline``, on files that both scored.

        Files are the same when their content is, wherever they lie. ``p`` is of a paired test
        (`forensix.evaluation.summary.compare`), ``p_holm`` corrects it for all runs of a table's metric (Holm, 1979).

        Raises
        ------
        UsageError
            There is nothing to compare, or no run is called ``baseline``.
        """
        runs = self.runs
        if baseline is not None and baseline not in set(runs["run"]):
            raise UsageError(f"no run is called {baseline!r}; there are: {', '.join(runs['run'])}")
        table = self._as_components()
        table["path"] = table["sha256"]
        rows = []
        for task, of in runs.groupby("task", sort=False):
            first = baseline if baseline in set(of["run"]) else None
            if len(of) > 1 and (baseline is None or first is not None):
                part = table[table["task"] == task]
                rows.append(summary.compare(part, "component", baseline=first, **self._options(options)))
        if not rows or not any(map(len, rows)):
            named = "" if baseline is None else f", {baseline!r} among them"
            raise UsageError(
                f"there is nothing to compare: it takes two runs of one task{named}, which scored the same files"
            )
        joined = pd.concat(rows, ignore_index=True).rename(columns={"component": "run"})
        keys = [name for name in ("task", "degradation", "strength", "metric") if name in joined]
        joined["p_holm"] = joined.groupby(keys, dropna=False, sort=False)["p"].transform(_holm)
        return joined

    def roc(self, **options: Any) -> displays.RocDisplay:
        """Return ROC curves by run."""
        return displays.RocDisplay.from_frame(self.scores, "run", **options)

    def det(self, **options: Any) -> displays.DetDisplay:
        """Return DET curves by run."""
        return displays.DetDisplay.from_frame(self.scores, "run", **options)

    def __repr__(self) -> str:
        return f"Collation({', '.join(self.runs['run'])})"

    def _named(self) -> list[tuple[str, str, str]]:
        """Return run, evaluation and component of every run."""
        pairs = [(name, component) for name, run in self.evaluations.items() for component in run.components]
        components = [component for _, component in pairs]
        return [(c if components.count(c) == 1 else f"{c} ({name})", name, c) for name, c in pairs]

    def _scores(self, name: str, component: str) -> pd.DataFrame:
        table = self.evaluations[name].scores
        return table[table["component"] == component]

    def _as_components(self) -> pd.DataFrame:
        """Return all scores with the run in the place of the component, which tables take apart."""
        table = self.scores
        return table.assign(component=table["run"]).drop(columns="run")

    def _options(self, options: dict[str, Any]) -> dict[str, Any]:
        thresholds = dict(self.runs[["run", "threshold"]].itertuples(index=False, name=None))
        return {"threshold": thresholds, "verdicts": "threshold" not in options} | options


def collate(runs: Any) -> Collation:
    """Put evaluations side by side.

    Parameters
    ----------
    runs
        Folders that evaluations were written to, evaluations or folders by name, or one folder: all evaluations in it,
        at any depth.

    Raises
    ------
    UsageError
        There is none, two folders have one name, or one is damaged or not finished.
    """
    if isinstance(runs, str | os.PathLike):
        runs = find_evaluations(runs)
    if not isinstance(runs, Mapping):
        folders = [Path(run) for run in runs]
        names = [folder.resolve().name for folder in folders]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"two evaluations are called {twice[0]}: pass a dict of folders by name")
        runs = dict(zip(names, folders, strict=True))
    if not runs:
        raise UsageError("there is no evaluation to put side by side")
    evaluations = {
        str(name): run if isinstance(run, Evaluation) else Evaluation.load(run) for name, run in runs.items()
    }
    return Collation(evaluations)


def find_evaluations(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Return the evaluations in a folder by their path in it.

    Raises
    ------
    UsageError
        There is none.
    """
    root = expanded(folder)
    places = sorted(path.parent for path in root.rglob(output.RESULT) if (path.parent / output.SCORES).is_file())
    if not places:
        raise UsageError(f"there is no evaluation in {root}: evaluate(..., output=FOLDER) makes one")
    return {place.relative_to(root).as_posix() if place != root else root.resolve().name: place for place in places}


def _holm(p: "pd.Series[float]") -> "pd.Series[float]":
    """Return p-values corrected for being several; those that are NaN stay so and count for nothing."""
    known = p.dropna().sort_values()
    steps = known * np.arange(len(known), 0, -1)
    return steps.cummax().clip(upper=1.0).reindex(p.index)
