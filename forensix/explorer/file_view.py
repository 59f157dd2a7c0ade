"""Choosing a file, tasks and models."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from forensix.explorer import drawing
from forensix.models import component_names
from forensix.report.text import visible
from forensix.report.words import plural, size_text, task_title
from forensix.tasks import describe, load_task
from forensix.tasks.task import usable_names

if TYPE_CHECKING:
    from forensix.explorer.explorer import Explorer

_ROWS = 8


class FileView:
    """The files of a folder, a tick for each task, a menu for each slot, and the button that runs."""

    def __init__(self, explorer: "Explorer") -> None:
        self.explorer = explorer
        self.find = w.Text(
            description="Find", placeholder="part of a name", continuous_update=False,
            tooltip="Part of a name, then Enter; the only file that has it is chosen",
            style={"description_width": "4rem"}, layout=w.Layout(width="24rem"),
        )  # fmt: skip
        self.files = w.Select(
            description="Files", rows=_ROWS,
            style={"description_width": "4rem"}, layout=w.Layout(width="auto", max_width="60rem"),
        )  # fmt: skip
        self.folder = w.VBox([self.find, self.files])
        self.chosen = w.HTML()
        self.ticks = {
            task: w.Checkbox(description=task_title(task), indent=False, layout=w.Layout(width="auto"))
            for task in usable_names()
        }
        self.explain = self._option("Evidence (faces, heat maps, features, facts)", "explain")
        self.transcribe = self._option("Transcript", "transcribe")
        self.models = {slot: self._menu(task, slot) for task in self.ticks for slot in load_task(task).components}
        self.run = w.Button(description="Run", button_style="primary", tooltip="Analyse the file that is chosen")
        bars = [self._bar("Tasks", self.ticks.values()), self._bar("Models", self.models.values())]
        bars.append(self._bar("Show", [self.explain, self.transcribe]))
        self.box = w.VBox([self.folder, self.chosen, *bars, w.HBox([self.run])], layout=w.Layout(overflow="visible"))
        self._listed: tuple[str, ...] | None = None
        self._matches: tuple[str, ...] = ()
        self._quiet = False
        self.find.observe(lambda _: self._search(), "value")
        self.files.observe(self._pick, "index")
        self.run.on_click(lambda _: explorer.start())
        for tick in self.ticks.values():
            tick.observe(lambda _: self._ticked(), "value")
        for slot, menu in self.models.items():
            menu.observe(lambda change, slot=slot: self._choose(slot, change["new"]), "value")

    def refresh(self) -> None:
        """Show what is chosen."""
        explorer = self.explorer
        self._quiet = True
        try:
            self.folder.layout.display = "" if explorer.files else "none"
            if explorer.files is not self._listed:
                self._listed = explorer.files
                self._list()
            self.files.index = self._place()
            for task, tick in self.ticks.items():
                tick.value = task in explorer.tasks
            needed = {slot for task in explorer.tasks for slot in load_task(task).components}
            for slot, menu in self.models.items():
                menu.disabled = slot not in needed
                if slot in explorer.components:
                    self._offer(menu, explorer.components[slot])
            self.explain.value, self.transcribe.value = explorer.explain, explorer.transcribe
        finally:
            self._quiet = False
        self.chosen.value = drawing.sentence(self._choice())

    def _choice(self) -> str:
        source = self.explorer.source
        if source is None:
            return "" if self.explorer.files else "Name a file, a folder or a URL, or upload a file."
        if isinstance(source, bytes):
            return f"Chosen: {self.explorer.name}, {size_text(len(source))}"
        return f"Chosen: {source}"

    def _place(self) -> int | None:
        """Return where the input that is chosen stands among the files that are listed."""
        folder, source = self.explorer.folder, self.explorer.source
        if folder is None or not isinstance(source, str) or not Path(source).is_relative_to(folder):
            return None
        file = str(Path(source).relative_to(folder))
        return self._matches.index(file) if file in self._matches else None

    def _list(self) -> None:
        part = self.find.value.strip().lower()
        self._matches = tuple(file for file in self.explorer.files if part in file.lower())
        quiet, self._quiet = self._quiet, True
        # Names, not values: a name may hold what no message can carry.
        self.files.options = [(visible(file, limit=200), i) for i, file in enumerate(self._matches)]
        self.files.index = self._place()
        self.files.description = "Files"
        self.find.placeholder = f"part of a name, among {plural(len(self.explorer.files), 'file')}"
        self._quiet = quiet

    def _search(self) -> None:
        self._list()
        # By keys too: of a list in a notebook, JupyterLab takes the arrow keys for its own cells.
        if len(self._matches) == 1 and self.explorer.folder is not None:
            self._quiet = True
            self.files.index = 0
            self._quiet = False
            path = self.explorer.folder / self._matches[0]
            if self.explorer.source != str(path):
                self.explorer.open(path)

    def _pick(self, change: dict[str, Any]) -> None:
        if not self._quiet and change["new"] is not None and self.explorer.folder is not None:
            self.explorer.open(self.explorer.folder / self._matches[change["new"]])

    def _ticked(self) -> None:
        if not self._quiet:
            self.explorer.tasks = tuple(task for task, tick in self.ticks.items() if tick.value)
            self.refresh()

    def _choose(self, slot: str, component: Any) -> None:
        if not self._quiet:
            self.explorer.components[slot] = component

    def _menu(self, task: str, slot: str) -> w.Dropdown:
        return w.Dropdown(
            options=component_names(slot), value=load_task(task).components[slot],
            description=describe(task).slots.get(slot, slot.replace("_", " ")), tooltip=f"component of the slot {slot}",
            style={"description_width": "initial"}, layout=w.Layout(width="auto", max_width="26rem"),
        )  # fmt: skip

    @staticmethod
    def _offer(menu: w.Dropdown, component: Any) -> None:
        """Choose a component, which may be an object, or the path of a card, that no entry point names."""
        if component not in [value for _, value in menu._options_full]:
            name = visible(component, limit=60) if isinstance(component, str) else type(component).__name__
            menu.options = [*menu._options_full, (f"{name} (given)", component)]
        menu.value = component

    def _option(self, text: str, name: str) -> w.Checkbox:
        box = w.Checkbox(
            value=getattr(self.explorer, name), description=text, indent=False, layout=w.Layout(width="auto")
        )
        box.observe(lambda change: setattr(self.explorer, name, change["new"]), "value")
        return box

    @staticmethod
    def _bar(title: str, parts: Any) -> w.HBox:
        bar = w.HBox([w.Label(title, layout=w.Layout(width="4rem")), *parts])
        bar.add_class("fx-explorer-bar")
        return bar
