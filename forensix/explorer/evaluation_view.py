"""Browsing an evaluation: filters, a histogram, and a page of the table, whatever its length."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as w

from forensix.explorer import drawing, selection
from forensix.report.text import visible

if TYPE_CHECKING:
    from forensix.explorer.explorer import Explorer

PAGE_ROWS = 20
_ANY = ("any", "")
_ALL = ("all", "")
"""Not None: a menu shows None as nothing chosen."""
_AS_THEY_ARE = {selection.AS_THEY_ARE: "files as they are"}


class EvaluationView:
    """The widgets number the same for ten rows and for a million: those of one page."""

    def __init__(self, explorer: "Explorer") -> None:
        self.explorer, self.evaluation = explorer, explorer.evaluation
        assert explorer.evaluation is not None
        judged = explorer.judged
        names = [(_AS_THEY_ARE.get(name, name), name) for name in selection.conditions(judged)]
        self.component = self._menu("Component", explorer.evaluation.components, "component")
        self.condition = self._menu("Degradation", [*names, _ALL], "degradation")
        self.outcome = self._menu("Outcome", selection.OUTCOME_FILTERS, "outcome")
        self.order = self._menu("Order", selection.ORDERS, "order")
        columns = selection.columns(judged)
        self.column = w.Dropdown(options=[_ANY, *((visible(name), name) for name in columns)], description="Only where")
        self.value = w.Dropdown(options=[_ANY], description="is")
        self.contains = w.Text(description="Name has", placeholder="part of the path", continuous_update=False)
        # Two fields: the handles of a range slider have no name that a screen reader could say.
        self.least, self.most = (
            w.BoundedFloatText(value=value, min=0, max=1, step=0.01, description=f"Score {word}")
            for value, word in ((0, "from"), (1, "to"))
        )
        self.reset = w.Button(description="Clear", tooltip="Show all rows of the component again")
        filters = [
            self.component,
            self.condition,
            self.outcome,
            self.column,
            self.value,
            self.contains,
            self.least,
            self.most,
        ]
        filters += [self.order, self.reset]
        for control in filters[:-1]:
            control.style.description_width = "6rem"
            control.layout.width = "21rem"
        bar = w.HBox(filters)
        bar.add_class("fx-explorer-bar")
        self.counts, self.plot, self.rows = w.HTML(), w.HTML(), w.HTML()
        self.rows.add_class("fx-page-rows")
        self.names = [w.Button() for _ in range(PAGE_ROWS)]
        names_box = w.VBox(self.names)
        names_box.add_class("fx-page-names")
        table = w.HBox([names_box, self.rows])
        table.add_class("fx-page-table")
        self.previous = w.Button(description="Previous page", icon="arrow-left", layout=w.Layout(width="auto"))
        self.next = w.Button(description="Next page", icon="arrow-right", layout=w.Layout(width="auto"))
        self.page = w.BoundedIntText(
            value=1,
            min=1,
            max=1,
            description="Page",
            layout=w.Layout(width="7rem"),
            style={"description_width": "2.5rem"},
        )
        self.of = w.Label()
        pager = w.HBox([self.previous, self.page, self.of, self.next])
        pager.add_class("fx-explorer-bar")
        self.hint = w.Label("Choose a file's name to look at it: it is analysed as it was scored.")
        heading = w.HTML(drawing.heading(explorer.evaluation))
        self.box = w.VBox([heading, bar, self.counts, self.plot, self.hint, table, pager])
        self.box.layout.overflow = "visible"
        self._quiet = False
        self._drawn: Any = None
        self._connect()

    def _connect(self) -> None:
        self.column.observe(lambda _: self._column_chosen(), "value")
        self.value.observe(lambda change: self._where(change["new"]), "value")
        self.contains.observe(lambda change: self._select(contains=change["new"].strip()), "value")
        self.least.observe(lambda change: self._range(change["new"], max(change["new"], self.most.value)), "value")
        self.most.observe(lambda change: self._range(min(change["new"], self.least.value), change["new"]), "value")
        self.reset.on_click(lambda _: self._clear())
        self.page.observe(lambda _: None if self._quiet else self._show_page(), "value")
        self.previous.on_click(lambda _: setattr(self.page, "value", self.page.value - 1))
        self.next.on_click(lambda _: setattr(self.page, "value", self.page.value + 1))
        for place, button in enumerate(self.names):
            button.on_click(lambda _, place=place: self._look(place))

    def refresh(self) -> None:
        """Show what is selected."""
        chosen = self.explorer.selection
        assert chosen is not None and self.evaluation is not None
        self._quiet = True
        try:
            self.component.value, self.condition.value = chosen.component, chosen.degradation or ""
            self.outcome.value, self.order.value = chosen.outcome, chosen.order
            self.contains.value = chosen.contains
            self.least.value, self.most.value = chosen.score
            column, value = next(iter(chosen.where.items()), (self.column.value, ""))
            if column in [name for _, name in self.column._options_full]:
                self.column.value = column
                self._offer_values()
                if value in [name for _, name in self.value._options_full]:
                    self.value.value = value
        finally:
            self._quiet = False
        rows = self.explorer.table
        if rows is not self._drawn:
            self._drawn = rows
            n_all = int((self.explorer.judged["component"] == chosen.component).sum())
            self.counts.value = drawing.counted(rows, n_all)
            threshold = self.evaluation.thresholds[chosen.component]
            by = "condition" if chosen.degradation is None else self.column.value or None
            self.plot.value = drawing.histogram(rows, threshold, by)
            self._quiet = True
            self.page.max = max(1, -(-len(rows) // PAGE_ROWS))
            self.page.value = 1
            self._quiet = False
        self._show_page()

    def _show_page(self) -> None:
        rows, chosen = self.explorer.table, self.explorer.selection
        assert chosen is not None
        start = (self.page.value - 1) * PAGE_ROWS
        page = rows.iloc[start : start + PAGE_ROWS]
        for place, button in enumerate(self.names):
            used = place < len(page)
            button.layout.display = "" if used else "none"
            if used:
                path = str(page.iloc[place]["path"])
                button.description, button.tooltip = visible(path.rsplit("/", 1)[-1]), f"look at {visible(path)}"
        looked = self._looked(page)
        columns = drawing.column_names(self.explorer.judged, chosen)
        self.rows.value = drawing.page(page, columns, looked) if len(page) else ""
        self.of.value = f"of {self.page.max:,}"
        self.previous.disabled, self.next.disabled = self.page.value <= 1, self.page.value >= self.page.max

    def _looked(self, page: Any) -> int | None:
        row = self.explorer.row
        if row is None:
            return None
        same = [
            all(row[name] == other[name] for name in ("path", "component", "condition")) for _, other in page.iterrows()
        ]
        return same.index(True) if True in same else None

    def _look(self, place: int) -> None:
        position = (self.page.value - 1) * PAGE_ROWS + place
        if position < len(self.explorer.table):
            self.explorer.start_look(position)

    def _column_chosen(self) -> None:
        if not self._quiet:
            self._quiet = True
            self._offer_values()
            self._quiet = False
            self._drawn = None
            self._select(where={})

    def _offer_values(self) -> None:
        column = self.column.value
        if not column:
            self.value.options = [_ANY]
            return
        frame, chosen = self.explorer.judged, self.explorer.selection
        assert chosen is not None
        values = selection.values(frame[frame["component"] == chosen.component], column, chosen.where.get(column))
        options = [_ANY, *((f"{visible(value, limit=60)} ({n:,} rows)", value) for value, n in values)]
        if [tuple(option) for option in self.value._options_full] != options:
            self.value.options = options

    def _where(self, value: str) -> None:
        if not self._quiet and self.column.value:
            self._select(where={self.column.value: value} if value else {})

    def _range(self, least: float, most: float) -> None:
        self._select(score=(round(least, 2), round(most, 2)))

    def _clear(self) -> None:
        self._quiet = True
        self.column.value = self.value.value = ""
        self._quiet = False
        assert self.explorer.selection is not None
        first = selection.Selection(self.explorer.selection.component)
        self._select(**{name: getattr(first, name) for name in first.__dataclass_fields__})

    def _select(self, **changes: Any) -> None:
        if not self._quiet:
            self.explorer.select(**changes)

    def _menu(self, text: str, options: Any, field: str) -> w.Dropdown:
        menu = w.Dropdown(options=options, description=text)
        change: Callable[[dict[str, Any]], None] = lambda event: self._select(**{field: event["new"] or None})  # noqa: E731
        menu.observe(change, "value")
        return menu
