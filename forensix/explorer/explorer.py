"""What was chosen in an explorer and what was found: everything that its widget shows, without the widget."""

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from forensix.analysis import check_options
from forensix.errors import ForensixError, InputNotFound, UsageError
from forensix.evaluation import Evaluation
from forensix.explorer import looking, selection
from forensix.explorer.opening import Choice, resolve
from forensix.explorer.running import Running
from forensix.explorer.selection import Selection
from forensix.folders import expanded
from forensix.media import Limits
from forensix.media.sniff import shorten
from forensix.models import Placement
from forensix.report import Report
from forensix.report.folder import safe_name
from forensix.report.text import visible
from forensix.tasks import load_task
from forensix.tasks.catalogue import task_names
from forensix.tasks.task import check_names, check_slots, usable_names

if TYPE_CHECKING:
    import ipywidgets


class Explorer:
    """Choose a file, analyse it and see what was found; or browse an evaluation and look at its files.

    Bad input is told in ``message``, or in the report where it is the input's own; wrong calls raise `UsageError`.

    Examples
    --------
    >>> from forensix import small
    >>> explorer = Explorer(small.folder("images"))  # doctest: +SKIP
    >>> explorer.open(explorer.files[0])  # doctest: +SKIP
    >>> explorer.run().verdicts  # doctest: +SKIP
    """

    def __init__(
        self,
        source: "str | os.PathLike[str] | bytes | Evaluation | None" = None,
        tasks: Collection[str] | None = None,
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        device: str = "cpu",
        batch_size: int | None = None,
        **components: Any,
    ) -> None:
        check_names(() if tasks is None else tasks)
        check_options(None, {"limits": limits})
        Placement(device, batch_size).check()
        self.tasks: tuple[str, ...] = usable_names() if tasks is None else tuple(tasks)
        """The tasks to run; those that do not accept an input are passed over."""
        self.components: dict[str, Any] = dict(components)
        """Component names or objects by slot, where they are not the tasks' own."""
        self.explain, self.transcribe = True, True
        self.limits, self.device, self.batch_size = limits, device, batch_size
        self.folder: Path | None = None
        self.files: tuple[str, ...] = ()
        """Files of the folder, as paths relative to it."""
        self.source: str | bytes | None = None
        """The input that is chosen: a path, a URL, or bytes."""
        self.name: str | None = None
        """The file name of bytes."""
        self.evaluation: Evaluation | None = None
        self.selection: Selection | None = None
        """What is shown of the evaluation."""
        self.root: str | os.PathLike[str] | None = None
        """Where the files of the evaluation are, if not where they were."""
        self.row: pd.Series[Any] | None = None
        """The row that is looked at."""
        self.kept: Report | None = None
        """The report that the next ones are compared with."""
        self.running = Running(self._advance)
        self._message = ""
        self._judged: pd.DataFrame | None = None
        self._table: pd.DataFrame | None = None
        self._views: list[Callable[[bool], None]] = []
        self._widget: ipywidgets.Widget | None = None
        check_slots(self.components)
        if source is not None:
            self.open(source)

    @property
    def report(self) -> Report | None:
        """What the last analysis found; none where it did not finish, or none was made."""
        return self.running.report

    @property
    def message(self) -> str:
        """One sentence on what is wrong, or empty."""
        return self._message or self.running.message

    def open(self, source: "str | os.PathLike[str] | bytes | Evaluation", *, name: str | None = None) -> None:
        """Choose a file, a URL, bytes, a folder of files, an evaluation, or the folder of a saved one.

        A path is taken as one of the folder that is open where there is such a file. ``name`` is that of bytes.
        """
        # What is under way ends by itself at its next step, and nobody hears of it.
        self.running.abandon()
        self.running = Running(self._advance)
        self._message, self.row = "", None
        try:
            self._take(resolve(source, name, self.folder, self.files))
        except ForensixError as error:
            self.source, self.name, self._message = None, None, str(error)
        self._changed()

    def _take(self, choice: Choice) -> None:
        if choice.evaluation is not None:
            self._judged = selection.judged(choice.evaluation.scores, choice.evaluation.thresholds)
            self.selection, self._table = Selection(choice.evaluation.components[0]), None
        self.source, self.name, self.evaluation = choice.source, choice.name, choice.evaluation
        self.folder, self.files, self._message = choice.folder, choice.files, choice.message

    def run(self, timeout_s: float | None = None) -> Report | None:
        """Analyse what is chosen and wait for it; return the report, or None where `message` says why not."""
        self.start()
        return self._waited(timeout_s)

    def start(self) -> None:
        """Analyse what is chosen, in a thread: `running` tells how far it is."""
        if self.running.busy:
            return
        if self.source is None:
            # Without files to choose from, what is wrong with the one that was named is the answer.
            if self.files or not self._message:
                self._message = "Choose a file first."
        elif not self.tasks:
            self._message = "Tick at least one task."
        else:
            self._message = ""
            tasks = [task for task in task_names() if task in self.tasks]
            work = looking.analysing(
                self.running, self.source, self.name, tasks, self.limits, self._used(tasks), self._options
            )
            self.running.start(work)
        self._changed()

    def stop(self) -> None:
        """End the analysis as soon as the step under way is finished."""
        self.running.stop()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the analysis; return whether it has ended."""
        return self.running.wait(timeout_s)

    def _waited(self, timeout_s: float | None) -> Report | None:
        try:
            self.running.wait(timeout_s)
        except KeyboardInterrupt:
            self.stop()
            raise
        return self.report

    @property
    def _options(self) -> dict[str, Any]:
        placed = {"device": self.device, "batch_size": self.batch_size}
        return {"explain": self.explain, "transcribe": self.transcribe, **placed}

    def _used(self, tasks: Collection[str]) -> dict[str, Any]:
        slots = {slot for task in tasks for slot in load_task(task).components}
        return {slot: chosen for slot, chosen in self.components.items() if slot in slots}

    def save(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the report as a page, and return where; by default beside the notebook, under the file's name.

        Raises
        ------
        UsageError
            There is no report, a file of that name is there already, or none can be written there.
        """
        if self.report is None:
            raise UsageError("there is no report to save: run an analysis first")
        target = expanded(self.report_name if path is None else path)
        try:
            if target.exists():
                raise UsageError(f"there is a file {target} already: name another")
            if not target.parent.is_dir():
                raise UsageError(f"there is no folder {target.parent}: name a file in one that is there")
            return self.report.save_html(target)
        except OSError as error:
            raise UsageError(f"the report cannot be written to {shorten(str(target))}: {error.strerror}") from None

    @property
    def report_name(self) -> str:
        """The name that a saved report gets where none is given; empty without a report."""
        return "" if self.report is None else f"{safe_name(self.report.name)}.html"

    def keep(self) -> None:
        """Compare the reports that follow with this one.

        Raises
        ------
        UsageError
            There is no report.
        """
        if self.report is None:
            raise UsageError("there is no report to compare with: run an analysis first")
        self.kept = self.report
        self._changed()

    def drop(self) -> None:
        """Compare no more."""
        self.kept = None
        self._changed()

    def select(self, **changes: Any) -> pd.DataFrame:
        """Change the fields of the `Selection` that are named, and return the rows that it shows.

        Raises
        ------
        UsageError
            No evaluation is open, or it has nothing of that name.
        """
        judged, selected = self._browsing()
        unknown = set(changes) - set(Selection.__dataclass_fields__)
        if unknown:
            fields = ", ".join(Selection.__dataclass_fields__)
            raise UsageError(f"there is nothing to select by {min(unknown)}; there are: {fields}")
        selection_after = replace(selected, **changes)
        self._table = selection.chosen(judged, selection_after)
        self.selection = selection_after
        self._changed()
        return self._table

    @property
    def table(self) -> pd.DataFrame:
        """The rows that the selection shows, in its order, with ``condition``, ``outcome`` and ``wrong_by``."""
        if self._table is None:
            self._table = selection.chosen(*self._browsing())
        return self._table

    @property
    def judged(self) -> pd.DataFrame:
        """All rows of the evaluation, with ``condition``, ``outcome`` and ``wrong_by``."""
        return self._browsing()[0]

    def look(self, position: int, timeout_s: float | None = None) -> Report | None:
        """Analyse the file at a position of `table` as it was scored, and wait for it; like `run` otherwise."""
        self.start_look(position)
        return self._waited(timeout_s)

    def start_look(self, position: int) -> None:
        """Begin to look at the file at a position of `table`, in a thread.

        Raises
        ------
        UsageError
            No evaluation is open, or the table has no such position.
        """
        rows = self.table
        if not 0 <= position < len(rows):
            raise UsageError(f"the table has {len(rows)} rows, counted from 0; there is no {position}")
        if self.running.busy:
            return
        assert self.evaluation is not None
        self.row, self._message, self.running.report, self.running.message = rows.iloc[position], "", None, ""
        try:
            path = looking.place_of(self.evaluation, self.row, self.root)
        except InputNotFound as error:
            self._message = str(error)
        else:
            work = looking.looking(self.running, self.evaluation, self.row, path, self.components, self._options)
            self.running.start(work)
        self._changed()

    def _browsing(self) -> tuple[pd.DataFrame, Selection]:
        if self._judged is None or self.selection is None or self.evaluation is None:
            raise UsageError("no evaluation is open: open(evaluation) first")
        return self._judged, self.selection

    def watch(self, view: Callable[[bool], None]) -> None:
        """Have ``view`` called on every change: with True from the caller's thread, with False while work goes on."""
        self._views.append(view)

    def _changed(self) -> None:
        for view in self._views:
            view(True)

    def _advance(self) -> None:
        for view in self._views:
            view(False)

    @property
    def widget(self) -> "ipywidgets.Widget":
        """The widget that shows this explorer; made once."""
        if self._widget is None:
            from forensix.explorer.widget import make

            self._widget = make(self)
        return self._widget

    def _repr_mimebundle_(self, **options: Any) -> Any:
        # Where no widget is drawn, as on a page of a repository, the text stands: the widget's own is its style sheet.
        return {**self.widget._repr_mimebundle_(**options), "text/plain": repr(self)}

    def __repr__(self) -> str:
        if self.evaluation is not None:
            return f"<Explorer of {self.evaluation!r}>"
        if self.source is None:
            return (
                "<Explorer>"
                if self.folder is None
                else f"<Explorer of {visible(self.folder)!r}, {len(self.files)} files>"
            )
        return f"<Explorer at {visible(self.name or self.source)!r}>"
