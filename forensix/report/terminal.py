"""Reports in a terminal: verdicts with their evidence, readable without colour and without Unicode.

Text from files never reaches the terminal as it is: hidden and control characters are shown by their code points, and
nothing is read as markup.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table as Grid
from rich.text import Text

from forensix.report import charts, scale, strips, words
from forensix.report.claims import ClaimView
from forensix.report.report import Report
from forensix.report.sections import Section, sections
from forensix.report.text import encodable, visible
from forensix.tasks.evidence import (
    Basis,
    Bounds,
    Curve,
    Evidence,
    FactList,
    Film,
    Lineage,
    Picture,
    Recording,
    Stage,
    StructureMap,
    Table,
    Timeline,
)

STYLES = {
    "fake": "bold red",
    "critical": "bold red",
    "suspect": "bold yellow",
    "real": "bold blue",
    "benign": "blue",
    "unsure": "bold",
    "none": "bold",
    "failed": "bold magenta",
}
ASCII_SYMBOLS = {
    "fake": "!!",
    "critical": "!!",
    "suspect": "!",
    "real": "+",
    "benign": "-",
    "unsure": "?",
    "none": "o",
    "failed": "x",
}

ON_PAGE = "(shown by --html)"
MAX_VALUES = 6
MAX_ROWS = 12
VALUE_LIMIT = 300
CELL_LIMIT = 120
NAME_LIMIT = 50
SCALE_CELLS = 26
MIN_SCALE_CELLS = 4
FRAME_CELLS = 6
"""What the panel's border and the indent of a section take off the width."""


@dataclass(frozen=True)
class _Pen:
    """Writes text that the terminal can show."""

    encoding: str
    ascii_only: bool
    width: int

    def text(self, value: object, style: str = "", *, limit: int = 2000) -> Text:
        printable = visible(value, limit=limit)
        return Text(encodable(printable.replace("…", "...") if self.ascii_only else printable, self.encoding), style)

    def symbol(self, tone: str) -> str:
        return (ASCII_SYMBOLS if self.ascii_only else words.SYMBOLS)[tone]


def _verdict_line(pen: _Pen, section: Section) -> Text:
    style = STYLES[section.verdict.tone]
    line = pen.text(section.title, "bold").append(": ").append(pen.symbol(section.verdict.tone) + " ", style)
    line.append_text(pen.text(section.verdict.word, style))
    meaning = section.verdict.meaning
    return line.append_text(pen.text(f" ({meaning})" if meaning else ""))


def _score_lines(pen: _Pen, section: Section) -> Iterator[Text]:
    if section.scale is None:
        return
    said = Text("score ").append(section.scale.score_text, "bold").append("  ")
    left, right = section.scale.ends
    room = pen.width - FRAME_CELLS - len(said)
    fits = room - len(f"{left}  {right}") >= MIN_SCALE_CELLS
    # Broken in two, a line would show its point beside the wrong end.
    shown = section.scale if fits else replace(section.scale, ends=("0", "1"))
    cells = room - sum(len(end) + 1 for end in shown.ends)
    line = scale.drawn(shown, max(MIN_SCALE_CELLS, min(SCALE_CELLS, cells)), ascii_only=pen.ascii_only)
    yield said.append_text(pen.text(line))
    if not fits:
        yield pen.text(f"0: {left}, 1: {right}", "dim")
    if section.scale.basis:
        yield pen.text(section.scale.basis, "dim")


def _claim(pen: _Pen, entry: ClaimView) -> Iterator[RenderableType]:
    """A benign claim takes one line; the others say why, with their values and the first place to look at."""
    claim = entry.claim
    line = Text(f"{pen.symbol(entry.severity)} {entry.number} ", STYLES[entry.severity])
    if entry.severity == "benign":
        values = ", ".join(claim.value[:2])
        more = f", and {len(claim.value) - 2} more" if len(claim.value) > 2 else ""
        line.append_text(pen.text(claim.claim)).append_text(pen.text(f": {values}" if values else "", "dim", limit=120))
        yield line.append_text(pen.text(more, "dim"))
        return
    yield line.append_text(pen.text(claim.claim, "bold")).append_text(pen.text(f" ({entry.subject})", "dim"))
    yield Padding(pen.text(claim.explanation), (0, 0, 0, 4))
    for value in claim.value[:MAX_VALUES]:
        yield Padding(Text("= ").append_text(pen.text(value, limit=VALUE_LIMIT)), (0, 0, 0, 4))
    if len(claim.value) > MAX_VALUES:
        yield Padding(Text(f"and {words.plural(len(claim.value) - MAX_VALUES, 'more value')}", "dim"), (0, 0, 0, 4))
    placed = next((fact for fact in entry.facts if fact.place), None)
    if placed:
        more = f", and {len(entry.offsets) - 1} more" if len(entry.offsets) > 1 else ""
        place = placed.place.split(", in ")[0]
        yield Padding(pen.text(f"see {placed.where}, {place}{more}", "dim", limit=200), (0, 0, 0, 4))


def _lineage(pen: _Pen, lineage: Lineage) -> Iterator[RenderableType]:
    yield pen.text(lineage.title, "bold")

    def lines(stages: Sequence[Stage], depth: int) -> Iterator[RenderableType]:
        for stage in stages[:MAX_ROWS]:
            marks = "; ".join(words for words, _ in stage.marks)
            line = pen.text(stage.title).append_text(pen.text(f" ({marks})" if marks else "", "dim"))
            yield Padding(line, (0, 0, 0, 2 + 2 * depth))
            yield from lines(stage.parts, depth + 1)
        if len(stages) > MAX_ROWS:
            more = words.plural(len(stages) - MAX_ROWS, "more version")
            yield Padding(Text(f"and {more}", "dim"), (0, 0, 0, 2 + 2 * depth))

    yield from lines(lineage.stages, 0)


def _fits(pen: _Pen, columns: tuple[str, ...], cells: Sequence[Sequence[Text]]) -> bool:
    """Tell whether no heading would be broken within a word: where room is short, the widest columns are cut alike."""
    room = pen.width - FRAME_CELLS - 2 - 2 * len(columns)
    widths = [max(len(name), *(row[i].cell_len for row in cells)) for i, name in enumerate(columns)]
    longest_word = max(len(word) for name in columns for word in name.split())
    return sum(min(width, longest_word) for width in widths) <= room


def _grid(pen: _Pen, title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[RenderableType]:
    if not rows:
        return
    cells = [[pen.text(cell, limit=CELL_LIMIT) for cell in row] for row in rows[:MAX_ROWS]]
    yield pen.text(title, "bold")
    if _fits(pen, columns, cells):
        grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for column in columns:
            grid.add_column(pen.text(column, "dim"), overflow="fold")
        for row in cells:
            grid.add_row(*row)
        yield Padding(grid, (0, 0, 0, 2))
    else:
        for row in cells:
            for i, (name, cell) in enumerate(zip(columns, row, strict=True)):
                if cell:
                    named = pen.text(f"{name}: " if name else "", "dim").append_text(cell)
                    yield Padding(named, (0, 0, 0, 4 if i else 2))
    if len(rows) > MAX_ROWS:
        yield Padding(Text(f"and {words.plural(len(rows) - MAX_ROWS, 'more row')}", "dim"), (0, 0, 0, 2))


def _bounds(pen: _Pen, bounds: Bounds) -> Iterator[RenderableType]:
    """Yield outliers in full; the rest is a number."""
    views = [strips.bound_view(row) for row in bounds.rows]
    outliers = [v for v in views if v.is_outlier]
    measured = [v for v in views if v.value_at is not None]
    if outliers:
        rows = [(v.name, v.value, v.status, v.bounds_text) for v in outliers]
        title = f"{bounds.title}: {len(outliers)} of {len(measured)} out of bounds"
        yield from _grid(pen, title, ("feature", "value", "", "bounds"), rows)
    else:
        which = "the one measured lies" if len(measured) == 1 else f"all {len(measured)} measured lie"
        yield pen.text(f"{bounds.title}: {which} within bounds", "bold")
    for said in (bounds.beside, bounds.about if outliers else ""):
        if said:
            yield Padding(pen.text(said, "dim"), (0, 0, 0, 2))


def _display(pen: _Pen, item: Evidence) -> Iterator[RenderableType]:
    """Yield what a terminal shows of a display; pictures and maps are for the page."""
    if isinstance(item, Bounds):
        yield from _bounds(pen, item)
    elif isinstance(item, Timeline):
        spans = charts.timeline_view(item)
        yield from _grid(pen, item.title, spans.columns, spans.rows)
    elif isinstance(item, Film):
        yield from _display(pen, item.timeline)
        for curve in item.curves:
            yield from _display(pen, curve)
    elif isinstance(item, Recording):
        placed = charts.recording_view(item)
        if placed.heaviest:
            yield from _grid(pen, "what weighed most", ("voice", "time", "score", "share"), placed.heaviest)
    elif isinstance(item, Curve):
        view = charts.curve_view(item)
        if view:
            threshold = f"; {view.threshold_label}" if view.threshold_label else ""
            yield pen.text(item.title, "bold").append_text(pen.text(f": {view.described}{threshold}", ""))
    elif isinstance(item, Table):
        if item.folded:
            yield pen.text(f"{item.title}: {words.plural(len(item.rows), 'row')} {ON_PAGE}", "dim")
        else:
            yield from _grid(pen, item.title, item.columns, item.rows)
    elif isinstance(item, Lineage):
        yield from _lineage(pen, item)
    elif isinstance(item, StructureMap):
        pieces = words.plural(len(item.nodes), "piece")
        yield pen.text(f"{item.title}: {pieces} in {item.total_bytes:,} bytes {ON_PAGE}", "dim")
    elif not isinstance(item, Picture | Basis | FactList):
        assert_never(item)


def _section(pen: _Pen, section: Section, explained: bool) -> Iterator[RenderableType]:
    yield _verdict_line(pen, section)
    if not explained:
        error = [pen.text(section.error)] if section.error else []
        yield Padding(Group(*_score_lines(pen, section), *error), (0, 0, 0, 2))
        return
    body: list[RenderableType] = list(_score_lines(pen, section))
    if section.error:
        body.append(pen.text(section.error))
    if section.summary:
        body.append(pen.text(section.summary))
    body += [pen.text(f"{name.lower()}: {value}") for name, value in section.named]
    body += [Text("note: ", "bold").append_text(pen.text(note)) for note in section.notes]
    for entry in section.claims:
        body += _claim(pen, entry)
    if section.transcript:
        body.append(Text("transcript: ", "bold").append_text(pen.text(section.transcript)))
    for item in section.displays:
        body += _display(pen, item)
    if section.pictures:
        pictures = words.plural(len(section.pictures), "picture")
        body.append(Text(f"{pictures} of evidence {ON_PAGE}", "dim"))
    yield Padding(Group(*body), (0, 0, 0, 2))


def _limits(pen: _Pen, name: str, limits: str) -> Text:
    return pen.text(f"limits of {name}: ", "dim").append_text(pen.text(limits, "dim"))


def _identity(pen: _Pen, report: Report) -> Iterator[RenderableType]:
    if report.input != report.name or len(report.name) > NAME_LIMIT:
        yield pen.text(report.input)
    facts = [words.content_text(report.kind, report.format)]
    if report.size_bytes is not None:
        facts.append(words.size_text(report.size_bytes))
    facts += [f"{label.lower()} {value}" for label, value in words.info_rows(dict(report.info))]
    line = "; ".join(fact for fact in facts if fact)
    if line:
        yield pen.text(line.replace("×", "x"))
    if report.sha256:
        yield pen.text(f"SHA-256 {report.sha256}", "dim")
    if report.additional_info:
        yield pen.text(f"supplied with the request: {report.additional_info}")


@dataclass(frozen=True)
class ReportView:
    """A report that rich can print; it looks at the console to choose what to draw with."""

    report: Report
    limits: bool = True
    """Whether to say at the end what each model cannot do."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        report = self.report
        pen = _Pen(options.encoding, options.ascii_only, options.max_width)
        parts: list[RenderableType] = []
        if report.headline:
            parts.append(pen.text(report.headline, "bold"))
        parts += _identity(pen, report)
        if report.error:
            parts.append(
                Text(pen.symbol("failed") + " Not analysed: ", STYLES["failed"]).append_text(pen.text(report.error))
            )
        parts += [Text("warning: ", "bold").append_text(pen.text(warning)) for warning in report.warnings]
        for section in sections(report):
            parts.append(Text())
            parts += _section(pen, section, _explained(report))
        if self.limits and (limits := limits_of(report)):
            parts += [Text(), *(_limits(pen, name, text) for name, text in limits.items())]
        if not report.tasks and not report.error:
            parts.append(Text("No analysis was run on this input."))
        yield Panel(Group(*parts), title=pen.text(report.name, "bold", limit=NAME_LIMIT), title_align="left")


def _explained(report: Report) -> bool:
    return report.settings.get("explain") is not False


def render(report: Report) -> ReportView:
    """Return the report as something that rich prints; verdicts only where no evidence was asked for."""
    return ReportView(report)


def print_report(report: Report, console: Console | None = None, *, limits: bool = True) -> None:
    """Print a report; without colour, and in ASCII where need be, when the output is not a terminal.

    Without ``limits`` it does not say what each model cannot do: for several reports `print_limits` says it once.
    """
    (console or Console()).print(ReportView(report, limits), highlight=False)


def limits_of(report: Report) -> dict[str, str]:
    """Return what each model of a report cannot do, by its name; nothing where no evidence was asked for."""
    return dict(pair for section in sections(report) for pair in section.limits) if _explained(report) else {}


@dataclass(frozen=True)
class _LimitsView:
    limits: Mapping[str, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        pen = _Pen(options.encoding, options.ascii_only, options.max_width)
        yield from (_limits(pen, name, limits) for name, limits in self.limits.items())


def print_limits(limits: Mapping[str, str], console: Console | None = None) -> None:
    """Print what models cannot do, see `limits_of`."""
    (console or Console()).print(_LimitsView(limits), highlight=False)
