"""What an evaluation found: scores as a tidy table, and the summaries and displays made of them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_list_like

from forensix.errors import UsageError
from forensix.evaluation import displays, output, summary, tables
from forensix.evaluation.cautions import cautions
from forensix.evaluation.conditions import need, text
from forensix.evaluation.overlap import (
    CALIBRATED,
    COLUMNS,
    CONTENT,
    files_seen,
    of_rows,
    of_training,
    sources_named,
)

_METRICS = ("auc", "eer", "accuracy_threshold", "balanced_accuracy_threshold")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The scores of a manifest under a task. It draws itself in a notebook.

    ``scores`` has a row a file, component and condition, in the order of the manifest: its columns, then ``sha256``,
    ``task``, ``component``, ``degradation``, ``strength``, ``level``, ``score`` (in [0, 1], higher is more likely
    fake, NaN where there is none), ``class_name``, ``inconclusive`` (whether the verdict tells neither class, whatever
    is called so on the wire), ``error`` and ``seconds`` (what components share, such as decoding, counts for the first
    of them).
    """

    scores: pd.DataFrame
    frames: pd.DataFrame
    """Of videos: a row a frame that was scored, with ``frame_ms`` and ``score``; empty for other media."""
    info: Mapping[str, Any]
    """Settings, versions, identities of the components, and what is to be said of the run: as in ``result.json``."""
    overlap: pd.DataFrame
    """Training sources of a component that the manifest names too, and files that it was made of: its figures flatter
    it there."""

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components, in order."""
        return tuple(self.info["components"])

    @property
    def thresholds(self) -> dict[str, float]:
        """The score from which on each component's card calls a file fake: that of videos where all files are."""
        return {name: float(card["threshold"]) for name, card in self.info["components"].items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that a reader of the figures should know."""
        return (*self.info.get("notes", ()), *self._warnings(), *cautions(self.scores))

    @property
    def failures(self) -> pd.DataFrame:
        """The rows that could not be scored, each with its ``error``."""
        return self.scores[self.scores["error"].notna()].reset_index(drop=True)

    @property
    def unscored(self) -> pd.DataFrame:
        """The rows in which there was nothing to score: no face, no speech."""
        return self.scores[self.scores["score"].isna() & self.scores["error"].isna()].reset_index(drop=True)

    def unseen(self, component: str | None = None) -> "Evaluation":
        """Return the evaluation without what the component, or any, was trained on, and all else of those sources.

        Files that it was calibrated on stay, of which a note tells: it learnt nothing from them.
        """
        names = self.components if component is None else (self._known(component),)
        tables, learnt = [], of_training(self.overlap)
        for table in (self.scores, self.frames):
            trained_on = pd.Series(False, index=table.index)
            for name in names:
                trained_on |= files_seen(table, learnt, name)
            tables.append(table[~trained_on].reset_index(drop=True))
        note = f"Files that {' or '.join(names)} was trained on, and others of their sources, are left out."
        info = {**self.info, "notes": [*self.info.get("notes", ()), note]}
        left = self.overlap.drop(learnt.index[learnt["component"].isin(names)]).reset_index(drop=True)
        return Evaluation(tables[0], tables[1], info, of_rows(left, tables[0]))

    def where(self, **values: Any) -> "Evaluation":
        """Return the evaluation of the rows whose columns have these values: ``where(split="dev")``, or a list of them.

        Raises
        ------
        UsageError
            There is no such column, or no such row.
        """
        scores, frames, notes = self.scores, self.frames, [*self.info.get("notes", ())]
        need(scores, list(values))
        for column, value in values.items():
            allowed = [str(one) for one in ([value] if isinstance(value, str) or not is_list_like(value) else value)]
            there = text(scores[column])
            scores = scores[there.isin(allowed)]
            if scores.empty:
                raise UsageError(
                    f"no row has the {column} {', '.join(map(repr, allowed))};"
                    f" there are: {', '.join(sorted(there.unique()))}"
                )
            frames = frames if frames.empty else frames[text(frames[column]).isin(allowed)]
            notes.append(f"Only the rows whose {column} is {' or '.join(allowed)} count.")
        info = {**self.info, "notes": notes}
        scores, frames = scores.reset_index(drop=True), frames.reset_index(drop=True)
        return Evaluation(scores, frames, info, of_rows(self.overlap, scores))

    def summary(self, *, component: str | None = None, level: str = "file", **options: Any) -> pd.DataFrame:
        """Return every metric with its interval, of one component or of all; ``level="frame"`` for frames of videos.

        The table has a row a metric, to select from; drawn, it is `forensix.evaluation.tables.wide`. Takes the options
        of `forensix.evaluation.summary.summarise`, such as ``confidence=0.9`` for narrower intervals. Called fake is,
        in ``accuracy_threshold``, what the verdict calls so (frames: what reaches the card's threshold); with
        ``threshold=0.7`` it is what reaches that score.
        """
        return summary.summarise(self._level(level, component), **self._options(options))

    def by(
        self, column: str = "generator", *, component: str | None = None, level: str = "file", **options: Any
    ) -> pd.DataFrame:
        """Return the metrics of each generator, or of each value of a column; see `forensix.evaluation.summary.by`."""
        return summary.by(self._level(level, component), column, **self._options(options))

    def subgroups(
        self,
        columns: str | Sequence[str] | None = None,
        *,
        component: str | None = None,
        level: str = "file",
        **options: Any,
    ) -> pd.DataFrame:
        """Return the metrics within each language, gender, quality; see `forensix.evaluation.summary.subgroups`."""
        return summary.subgroups(self._level(level, component), columns, **self._options(options))

    def compare(self, *, baseline: str | None = None, level: str = "file", **options: Any) -> pd.DataFrame:
        """Return how each component differs from the first, or ``baseline``, on the same files: a paired test.

        Raises
        ------
        UsageError
            There is one component only, or none is called ``baseline``.
        """
        if len(self.components) < 2:
            raise UsageError(f"there is nothing to compare: {', '.join(self.components)} is the only component")
        options = self._options(options)
        return summary.compare(self._level(level), "component", baseline=baseline, **options)

    def roc(self, column: str | None = None, *, component: str | None = None, **options: Any) -> displays.RocDisplay:
        """Return ROC curves by component, or of one component by any column."""
        return displays.RocDisplay.from_frame(self._chosen(component), column, **options)

    def det(self, column: str | None = None, *, component: str | None = None, **options: Any) -> displays.DetDisplay:
        """Return DET curves by component, or of one component by any column."""
        return displays.DetDisplay.from_frame(self._chosen(component), column, **options)

    def precision_recall(
        self, column: str | None = None, *, component: str | None = None, **options: Any
    ) -> displays.PrecisionRecallDisplay:
        """Return curves of precision over recall by component, or of one component by any column."""
        return displays.PrecisionRecallDisplay.from_frame(self._chosen(component), column, **options)

    def calibration(
        self, column: str | None = None, *, component: str | None = None, **options: Any
    ) -> displays.CalibrationDisplay:
        """Return how often files of a score are fake, by component or of one component by any column."""
        return displays.CalibrationDisplay.from_frame(self._chosen(component), column, **options)

    def histogram(
        self, column: str | None = None, *, component: str | None = None, **options: Any
    ) -> displays.ScoreDisplay:
        """Return histograms of one component's scores by source, generator, or any column.

        The share called right is of the verdicts; with ``threshold=0.7`` what reaches that score is called fake.
        """
        name = self._only(component)
        options = self._options(options, name)
        return displays.ScoreDisplay.from_frame(self._of(name), column, **options)

    def robustness(self, metric: str = "auc", *, component: str | None = None) -> displays.RobustnessDisplay:
        """Return a heat map of a metric by degradation and strength."""
        frame = self._chosen(component)
        return displays.RobustnessDisplay.from_frame(frame, metric=metric, **self._options({}))

    def confusion(self, *, component: str | None = None, **options: Any) -> displays.ConfusionDisplay:
        """Return what the verdicts of one component call what.

        With ``threshold=0.7`` what reaches that score is called fake, also where a verdict could not judge it.
        """
        name = self._only(component)
        options = self._options(options, name)
        return displays.ConfusionDisplay.from_frame(self._of(name), **options)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``scores.parquet``, ``frames.parquet`` and ``result.json`` into a folder, and return it."""
        return output.write(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "Evaluation":
        """Read what `save`, or `evaluate` with ``output``, wrote.

        Raises
        ------
        UsageError
            There is no evaluation, or it is not finished.
        """
        scores, frames, info, overlap = output.read(folder)
        return cls(scores, frames, info, pd.DataFrame(overlap, columns=list(COLUMNS)))

    def __repr__(self) -> str:
        n_failed = len(self.failures)
        failed = f", {n_failed} {'row' if n_failed == 1 else 'rows'} failed" if n_failed else ""
        n = self.scores["path"].nunique()
        return f"Evaluation({self.info['task']}, {n} files, {', '.join(self.components)}{failed})"

    def _repr_html_(self) -> str:
        table = tables.wide(self.summary(n_bootstrap=0), _METRICS)
        from html import escape

        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<b>{escape(repr(self))}</b>{table.to_html(index=False)}{f'<ul>{notes}</ul>' if notes else ''}"

    def _warnings(self) -> list[str]:
        sentences = []
        for name in self.components:
            own = self.overlap[self.overlap["component"] == name]
            known = of_training(own)
            by_content = known["column"] == CONTENT
            if n := self._n_seen(known[by_content], name):
                sentences.append(
                    f"{name} was trained on {n} of these files: its figures flatter it; unseen() leaves them out."
                )
            if n := self._n_seen(known[~by_content], name):
                sentences.append(
                    f"{name} was trained on the sources of {n} of these files ({sources_named(known)}): its"
                    " figures flatter it; unseen() leaves them out."
                )
            if n := self._n_seen(own[own["trained_on"] == CALIBRATED], name):
                sentences.append(
                    f"{name} was calibrated and given its bounds on {n} of these files: verdicts, and what takes scores"
                    " for probabilities, flatter it; what only ranks files (AUC, AP, EER) does not."
                )
            if n := self._n_held_back(name):
                sentences.append(
                    f"{name} scores {n} of these files at its threshold ({self.thresholds[name]:g}) or above, and their"
                    " verdict is not fake: what they show, such as too few pixels, forbids one (a file's report says"
                    " why). accuracy_threshold counts verdicts; summary(verdicts=False) counts scores."
                )
        return sentences

    def _n_held_back(self, component: str) -> int:
        rows = self._of(component)
        held_back = (rows["score"] >= self.thresholds[component]) & (rows["class_name"] == "real")
        return int(rows.loc[held_back & (rows["degradation"] == "none"), "path"].nunique())

    def _n_seen(self, overlap: pd.DataFrame, component: str) -> int:
        trained_on = files_seen(self.scores, overlap, component) & (self.scores["component"] == component)
        return int(self.scores.loc[trained_on, "path"].nunique())

    def _options(self, options: dict[str, Any], component: str | None = None) -> dict[str, Any]:
        threshold = self.thresholds if component is None else self.thresholds[component]
        return {"threshold": threshold, "verdicts": "threshold" not in options} | options

    def _level(self, level: str, component: str | None = None) -> pd.DataFrame:
        if level not in ("file", "frame"):
            raise UsageError(f"level is 'file' or 'frame', not {level!r}; intervals are set by confidence=0.95")
        if level == "frame" and self.frames.empty:
            raise UsageError("no frames were scored: only videos have them, under tasks that score frames")
        table = self.scores if level == "file" else self.frames
        return table if component is None else table[table["component"] == self._known(component)]

    def _only(self, component: str | None) -> str:
        if component is not None:
            return self._known(component)
        if len(self.components) > 1:
            raise UsageError(f"these are scores of several components: choose one of {', '.join(self.components)}")
        return self.components[0]

    def _known(self, component: str) -> str:
        if component not in self.components:
            raise UsageError(f"no component here is called {component!r}; there are: {', '.join(self.components)}")
        return component

    def _chosen(self, component: str | None) -> pd.DataFrame:
        return self.scores if component is None else self._of(self._known(component))

    def _of(self, component: str) -> pd.DataFrame:
        return self.scores[self.scores["component"] == component]
