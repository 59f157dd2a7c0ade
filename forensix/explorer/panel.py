"""How far an analysis is, how to end it, and what it found."""

from typing import TYPE_CHECKING

import ipywidgets as w

from forensix.explorer import drawing
from forensix.explorer.running import STOPPED

if TYPE_CHECKING:
    from forensix.explorer.explorer import Explorer


class Panel:
    """Progress in words, a button to stop, the sentence on what is wrong, and the report."""

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
        self.report = w.HTML()
        self.box = w.VBox([self.message, self.row, self.progress, self.report], layout=w.Layout(overflow="visible"))
        self.stop.on_click(lambda _: explorer.stop())

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
        # Sent once: reports hold pictures.
        if report is not self._shown:
            self._shown = report
            self.report.value = "" if report is None else report._repr_html_()

    _shown: object = None
