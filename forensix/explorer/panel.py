"""How far an analysis is, how to end it, what it found, and what to do with that: save it, or compare it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import ipywidgets as w

from forensix.errors import UsageError
from forensix.explorer import drawing
from forensix.explorer.running import STOPPED
from forensix.report.comparison import render_comparison
from forensix.report.text import visible

if TYPE_CHECKING:
    from forensix.explorer.explorer import Explorer

SHOW_ALONE, COMPARE = "Stop comparing", "Compare with the next"


class Panel:
    """Progress in words, a button to stop, the sentence on what is wrong, and the report with its actions."""

    def __init__(self, explorer: "Explorer") -> None:
        self.explorer = explorer
        self.bar = w.FloatProgress(
            min=0.0,
            max=1.0,
            layout=w.Layout(width="16rem"),
            style={"bar_color": "#1d76d2"},
            tooltip="share that is done",
        )
        self.stage = w.Label()
        self.stop = w.Button(description="Stop", tooltip="End the analysis when the step under way is finished")
        self.progress = w.HBox([self.bar, self.stop, self.stage])
        self.progress.add_class("fx-explorer-bar")
        self.message = w.HTML()
        self.row = w.HTML()
        self.path = w.Text(
            description="Save as",
            tooltip="The file that the report is written to, a page of its own",
            style={"description_width": "4rem"},
            layout=w.Layout(flex="0 1 24rem"),
        )
        self.save = w.Button(description="Save report", tooltip="Write the report as a page of its own")
        self.compare = w.Button(description=COMPARE, layout=w.Layout(width="auto"))
        self.actions = w.HBox([self.path, self.save, self.compare])
        self.actions.add_class("fx-explorer-bar")
        self.said = w.HTML()
        self.comparison, self.report = w.HTML(), w.HTML()
        parts = [self.message, self.row, self.progress, self.actions, self.said, self.comparison, self.report]
        self.box = w.VBox(parts, layout=w.Layout(overflow="visible"))
        self.stop.on_click(lambda _: explorer.stop())
        self.save.on_click(lambda _: self._try(self._save))
        self.compare.on_click(lambda _: self._try(explorer.drop if explorer.kept else explorer.keep))

    def refresh(self) -> None:
        """Show how far the work is, and what came of it."""
        explorer, running = self.explorer, self.explorer.running
        busy, report = running.busy, running.report
        self.progress.layout.display = "" if busy else "none"
        self.bar.value = running.share
        self.stop.disabled = running.stopping
        stopping = "stopping: the step under way is finished first"
        self.stage.value = stopping if running.stopping else running.stage
        self.message.value = drawing.sentence(explorer.message, wrong=explorer.message != STOPPED)
        row = ""
        if explorer.row is not None and explorer.evaluation is not None:
            row = drawing.looked_at(explorer.row, explorer.evaluation.thresholds[explorer.row["component"]])
        self.row.value = row
        self.actions.layout.display = "" if report is not None or explorer.kept else "none"
        self.save.disabled = self.path.disabled = report is None
        self.compare.description = SHOW_ALONE if explorer.kept else COMPARE
        alone = f"Show reports without {visible(explorer.kept.name, limit=60)}" if explorer.kept else ""
        self.compare.tooltip = alone or "Keep this report, and compare what follows with it"
        # Sent once: reports hold pictures.
        if report is not self._drawn[0] or explorer.kept is not self._drawn[1]:
            if report is not self._drawn[0]:
                self.report.value = "" if report is None else report._repr_html_()
                self.path.value = explorer.report_name
            self._drawn = (report, explorer.kept)
            self.said.value, self.comparison.value = "", ""
            if explorer.kept is not None and report is not None and report is not explorer.kept:
                self.comparison.value = render_comparison(explorer.kept, report)
            elif explorer.kept is not None:
                self.said.value = drawing.sentence(f"Kept: {explorer.kept.name}. Choose another file and run.")

    def _save(self) -> None:
        path = self.explorer.save(self.path.value.strip() or None)
        self.said.value = drawing.sentence(f"Saved as {path}.")

    def _try(self, action: Callable[[], object]) -> None:
        try:
            action()
        except UsageError as error:
            reason = str(error)
            self.said.value = drawing.sentence(f"{reason[:1].upper()}{reason[1:]}.", wrong=True)

    _drawn: tuple[object, object] = (None, None)
