"""The widget of an explorer: where to look on top, then files or an evaluation, then what was found."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from forensix.explorer import drawing
from forensix.explorer.evaluation_view import EvaluationView
from forensix.explorer.file_view import FileView
from forensix.explorer.panel import Panel

if TYPE_CHECKING:
    from forensix.explorer.explorer import Explorer

UPLOAD_MB = 10
"""A notebook's connection ends when more is sent at once."""


def make(explorer: "Explorer") -> w.VBox:
    """Return a widget that shows an explorer and changes with it."""
    return View(explorer).box


class View:
    """Keeps the widgets of an explorer as the explorer is."""

    def __init__(self, explorer: "Explorer") -> None:
        self.explorer = explorer
        self.panel = Panel(explorer)
        # Made when they are shown: the first loads every task.
        self.files: FileView | None = None
        self.scores: EvaluationView | None = None
        self.place = w.Text(
            description="Where",
            placeholder="a file, a folder, a URL, or the folder of an evaluation",
            tooltip="Path of a file or a folder, or a URL; then press Enter",
            continuous_update=False,
            style={"description_width": "4rem"},
            layout=w.Layout(flex="1 1 24rem", max_width="44rem"),
        )
        self.open = w.Button(
            description="Open", tooltip="Open the file, folder or URL that is named", layout=w.Layout(width="auto")
        )
        self.upload = w.FileUpload(
            description="Upload",
            tooltip=f"A file of up to {UPLOAD_MB} MB; name larger ones by their path",
            layout=w.Layout(width="auto"),
        )
        self.hint = w.Label(value=f"up to {UPLOAD_MB} MB")
        self._bar = w.HBox([self.place, self.open, self.upload, self.hint], layout=w.Layout(overflow="visible"))
        self._bar.add_class("fx-explorer-bar")
        self._body = w.VBox(layout=w.Layout(overflow="visible"))
        self.box = w.VBox([w.HTML(drawing.style()), self._bar, self._body, self.panel.box])
        self.box.add_class("fx-explorer")
        self.open.on_click(lambda _: self._open())
        # Enter, and leaving the field.
        self.place.observe(lambda change: self._open() if change["new"].strip() else None, "value")
        self.upload.observe(self._uploaded, "value")
        explorer.watch(self.refresh)
        self.refresh(True)

    def refresh(self, whole: bool) -> None:
        """Show the explorer as it is; only how far its work is, where that alone has changed."""
        if whole:
            if self.explorer.evaluation is None:
                self.files = self.files or FileView(self.explorer)
                self._body.children = [self.files.box]
                self.files.refresh()
            else:
                if self.scores is None or self.scores.evaluation is not self.explorer.evaluation:
                    self.scores = EvaluationView(self.explorer)
                self._body.children = [self.scores.box]
                self.scores.refresh()
        if self.files is not None:
            _dim([self.files.run], self.explorer.running.busy)
        if self.scores is not None:
            _dim(self.scores.names, self.explorer.running.busy)
        self.panel.refresh()

    def _open(self) -> None:
        self.explorer.open(self.place.value)

    def _uploaded(self, change: dict[str, Any]) -> None:
        for file in change["new"][:1]:
            self.explorer.open(bytes(file["content"]), name=str(file["name"]))
            # Emptied: a second upload of the same file would change nothing, and not be told.
            self.upload.value = ()


def _dim(buttons: Iterable[w.Button], busy: bool) -> None:
    # Not disabled: the one that was pressed would lose the focus, and whoever goes by keys begin again at the top.
    for button in buttons:
        (button.add_class if busy else button.remove_class)("fx-busy")
