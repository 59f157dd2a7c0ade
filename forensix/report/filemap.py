"""The map of a file: where its pieces lie, and where the claims point.

Two scales: a strip true to scale, and rows in which even a piece of a few bytes keeps a visible width (the logarithm of
its size). Rows go from the whole to the parts. Positions are per cent of the map, which the template draws as SVG.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from forensix.report.charts import percent
from forensix.report.structure import KINDS, ShownNode, listed
from forensix.schema import SEVERITIES
from forensix.tasks.evidence import StructureMap

MAX_ROWS = 3
MAX_PIECES = 48
"""Pieces drawn beside each other; more are drawn as runs of one kind."""

MARK_GAP, MARK_LETTER = 2.2, 0.7
"""Per cent that a mark of claims takes, and that each letter of its numbers adds; nearer claims share a mark."""

PHONE_GAP, PHONE_LETTER = 1.5, 1.85
"""The same between numbers on a phone, whose map is 340 px wide; there numbers that run into others are hidden."""

MARK_NUMBERS = 3
MARK_TURNS_AT = 93
"""Per cent from which the numbers of a mark stand left of it."""


@dataclass(frozen=True)
class Piece:
    """A piece on a row, in per cent; ``kind`` is a key of `KINDS`, ``title`` what is told on hover."""

    x: float
    width: float
    name: str
    title: str
    kind: str
    damaged: bool = False
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Mark:
    """The claims that point to one place of the map, gravest severity first."""

    at: float
    numbers: str
    severity: str
    title: str
    is_close: bool = False
    """Whether its numbers would run into those before it on a phone."""

    @property
    def is_turned(self) -> bool:
        """Whether its numbers stand left of it."""
        return self.at >= MARK_TURNS_AT


@dataclass(frozen=True)
class FileMap:
    """A map as drawn, the pieces to list, and how many were left out."""

    scale: tuple[Piece, ...]
    rows: tuple[tuple[Piece, ...], ...]
    marks: tuple[Mark, ...]
    kinds: tuple[tuple[str, str], ...]
    nodes: tuple[ShownNode, ...]
    n_left_out: int
    damage: tuple[tuple[int, str], ...]


def file_map(structure: StructureMap, claims: Iterable[tuple[int, str, int]] = ()) -> FileMap:
    """Lay out a file; ``claims`` are number, severity and byte of what is to be marked on the map."""
    total = max([structure.total_bytes, 1, *(n.offset + n.size for n in structure.nodes)])
    # What is missing behind the last byte is a flaw of the piece that ends there.
    damage = tuple((min(at, total - 1), text) for at, text in structure.damage if 0 <= at <= total)
    nodes, n_left_out = listed(structure.nodes, damage)
    rows = _rows(nodes, total) if nodes else ()
    scale = tuple(
        Piece(
            percent(p.start, 0, total),
            max(percent(p.end - p.start, 0, total), 0.15),
            "",
            p.title,
            p.kind,
            p.damaged,
            p.start,
            p.end,
        )
        for p in (rows[0] if rows else ())
    )
    used = {piece.kind for row in rows for piece in row}
    return FileMap(
        scale,
        rows,
        _marks(rows, claims, total),
        tuple((kind, words) for kind, words in KINDS.items() if kind in used),
        nodes,
        n_left_out,
        damage,
    )


@dataclass(frozen=True)
class _Run:
    """Neighbours that are drawn as one piece."""

    nodes: tuple[ShownNode, ...]
    start: int
    end: int
    kind: str

    @property
    def name(self) -> str:
        names = list(dict.fromkeys(n.node.name for n in self.nodes))
        if not names:
            return ""
        if len(self.nodes) == 1:
            return names[0]
        return f"{len(self.nodes)} × {names[0]}" if len(names) == 1 else f"{names[0]} … {names[-1]}"

    @property
    def damage(self) -> str:
        return "; ".join(dict.fromkeys(filter(None, (_damage_below(n) for n in self.nodes))))


def _damage_below(node: ShownNode) -> str:
    return "; ".join(filter(None, (node.damage, *(_damage_below(child) for child in node.children))))


def _runs(nodes: Sequence[ShownNode], start: int, end: int, around: str) -> list[_Run]:
    """Return the pieces of a stretch in order, joined to runs where they are many, with the bytes between them."""
    placed = sorted((n for n in nodes if n.node.size > 0), key=lambda n: n.node.offset)
    runs = [_Run((n,), n.node.offset, n.node.offset + n.node.size, n.kind) for n in placed]
    for same in (_alike, _same_kind):
        if len(runs) > MAX_PIECES:
            runs = _joined(runs, same)
    while len(runs) > MAX_PIECES:
        runs = [_join(runs[i : i + 2]) for i in range(0, len(runs), 2)]
    filled: list[_Run] = []
    at = start
    for run in runs:
        if run.start > at:
            filled.append(_Run((), at, run.start, around))
        filled.append(run)
        at = max(at, run.end)
    if runs and at < end:
        filled.append(_Run((), at, end, around))
    return filled


def _alike(a: _Run, b: _Run) -> bool:
    return a.kind == b.kind and a.nodes[-1].node.name == b.nodes[0].node.name


def _same_kind(a: _Run, b: _Run) -> bool:
    return a.kind == b.kind


def _joined(runs: list[_Run], same: Callable[[_Run, _Run], bool]) -> list[_Run]:
    joined: list[_Run] = []
    for run in runs:
        if joined and same(joined[-1], run):
            joined[-1] = _join([joined[-1], run])
        else:
            joined.append(run)
    return joined


def _join(runs: Sequence[_Run]) -> _Run:
    largest = max(runs, key=lambda run: run.end - run.start)
    nodes = tuple(node for run in runs for node in run.nodes)
    return _Run(nodes, min(run.start for run in runs), max(run.end for run in runs), largest.kind)


def _weight(run: _Run, depth: int) -> float:
    """Return how wide a run is drawn: by the logarithm of its size, and at least a part of what is inside it."""
    own = math.log2(2 + (run.end - run.start) / 16)
    if depth + 1 >= MAX_ROWS or len(run.nodes) != 1 or not run.nodes[0].children:
        return own
    inner = _runs(run.nodes[0].children, run.start, run.end, run.kind)
    return max(own, 0.7 * sum(_weight(part, depth + 1) for part in inner))


def _rows(nodes: Sequence[ShownNode], total: int) -> tuple[tuple[Piece, ...], ...]:
    rows: list[list[Piece]] = [[] for _ in range(MAX_ROWS)]

    def lay(runs: Sequence[_Run], x: float, width: float, depth: int) -> None:
        weights = [_weight(run, depth) for run in runs]
        for run, weight in zip(runs, weights, strict=True):
            share = width * weight / sum(weights)
            rows[depth].append(_piece(run, x, share))
            if depth + 1 < MAX_ROWS and len(run.nodes) == 1 and run.nodes[0].children:
                inner = _runs(run.nodes[0].children, run.start, run.end, run.kind)
                lay(inner, x, share, depth + 1)
            x += share

    lay(_runs(nodes, 0, total, "gap"), 0.0, 100.0, 0)
    return tuple(tuple(row) for row in rows if row)


def _piece(run: _Run, x: float, width: float) -> Piece:
    size, name = run.end - run.start, run.name
    label = name or (KINDS["gap"] if run.kind == "gap" else "between its parts")
    title = f"{label}: {size:,} bytes from {run.start:,} ({run.start:#x})"
    if len(run.nodes) == 1 and run.nodes[0].node.note:
        title += f", {run.nodes[0].node.note}"
    if run.damage:
        title += f". Damaged: {run.damage}"
    room = 0.75 + 0.78 * len(name)
    return Piece(
        round(x, 3),
        round(width, 3),
        name if width > room else "",
        title,
        run.kind,
        bool(run.damage),
        run.start,
        run.end,
    )


def _place(rows: Sequence[Sequence[Piece]], offset: int) -> float | None:
    """Return where a byte lies on the map, by the finest row that shows it."""
    for row in reversed(rows):
        for piece in row:
            if piece.start <= offset < piece.end:
                return piece.x + piece.width * (offset - piece.start) / (piece.end - piece.start)
    return None


def _marks(rows: Sequence[Sequence[Piece]], claims: Iterable[tuple[int, str, int]], total: int) -> tuple[Mark, ...]:
    placed = []
    for number, severity, offset in claims:
        at = _place(rows, min(max(offset, 0), total - 1))
        if at is not None:
            placed.append((at, number, severity, offset))
    groups: list[list[tuple[float, int, str, int]]] = []
    for row in sorted(placed):
        if groups and row[0] - groups[-1][0][0] < MARK_GAP + MARK_LETTER * len(_numbers(groups[-1])):
            groups[-1].append(row)
        else:
            groups.append([row])
    marks: list[Mark] = []
    shown_to = -PHONE_GAP
    for group in groups:
        severity = min((row[2] for row in group), key=SEVERITIES.index)
        title = "; ".join(dict.fromkeys(f"claim {n}: byte {offset:,} ({offset:#x})" for _, n, _, offset in group[:12]))
        mark = Mark(round(group[0][0], 3), _numbers(group), severity, title)
        width = PHONE_LETTER * len(mark.numbers)
        start = mark.at - width if mark.is_turned else mark.at
        if start < shown_to + PHONE_GAP:
            mark = replace(mark, is_close=True)
        else:
            shown_to = start + width
        marks.append(mark)
    return tuple(marks)


def _numbers(group: list[tuple[float, int, str, int]]) -> str:
    numbers = sorted({row[1] for row in group})
    return ", ".join(map(str, numbers[:MARK_NUMBERS])) + ("…" if len(numbers) > MARK_NUMBERS else "")
