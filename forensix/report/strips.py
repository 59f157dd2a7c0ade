"""Ranges of a population and maps of a file: evidence to positions in per cent, which the templates draw as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from forensix.metadata.facts import Node
from forensix.report.charts import percent
from forensix.report.words import number_text
from forensix.tasks.evidence import Bound, StructureMap

MAX_NODES = 600
MAX_DEPTH = 12


@dataclass(frozen=True)
class BoundView:
    """One row of :class:`forensix.tasks.evidence.Bounds`, positions in per cent of the strip."""

    name: str
    value: str
    status: str
    is_outlier: bool
    population: tuple[float, float]
    bounds: tuple[float, float]
    mean_at: float
    value_at: float | None
    beyond: str
    bounds_text: str
    population_text: str
    percentile: str


@dataclass(frozen=True)
class Piece:
    """A top-level node on the bar of the file; ``shade`` is 0 to 3, or -1 for bytes that no node describes."""

    x: float
    width: float
    name: str
    title: str
    shade: int


@dataclass(frozen=True)
class StructureView:
    """The bar of the file, the nodes to list, and how many were left out."""

    pieces: tuple[Piece, ...]
    nodes: tuple[Node, ...]
    n_left_out: int


def bound_view(bound: Bound) -> BoundView:
    """Place one measured value on the strip of its population; a value far outside is shown as beyond the edge."""
    low, high = min(bound.minimum, bound.low), max(bound.maximum, bound.high)
    pad = 0.12 * (high - low) or 1.0
    low, high = low - pad, high + pad

    def at(value: float) -> float:
        return min(max(percent(value, low, high), 0.0), 100.0)

    unit = f" {bound.unit}" if bound.unit else ""
    beyond = ""
    if bound.value is None:
        status = "not measured"
    else:
        beyond = "left" if bound.value < low else "right" if bound.value > high else ""
        status = "outlier" if bound.is_outlier else "within bounds"
        if bound.is_outlier and (bound.value < bound.low or bound.value > bound.high):
            status = "below the bounds" if bound.value < bound.low else "above the bounds"
    return BoundView(
        name=bound.name,
        value="–" if bound.value is None else number_text(bound.value) + unit,
        status=status,
        is_outlier=bound.is_outlier,
        population=(at(bound.minimum), at(bound.maximum)),
        bounds=(at(bound.low), at(bound.high)),
        mean_at=at(bound.mean),
        value_at=None if bound.value is None else at(bound.value),
        beyond=beyond,
        bounds_text=f"{number_text(bound.low)} to {number_text(bound.high)}{unit}",
        population_text=f"{number_text(bound.minimum)} to {number_text(bound.maximum)}{unit}, "
        f"mean {number_text(bound.mean)}",
        percentile="" if bound.percentile is None else str(bound.percentile),
    )


def _pruned(nodes: Sequence[Node], budget: int, depth: int) -> tuple[tuple[Node, ...], int, int]:
    """Return the nodes that fit, what is left of the budget, and how many were dropped."""
    kept: list[Node] = []
    dropped = 0
    for node in nodes:
        if budget <= 0 or depth > MAX_DEPTH:
            dropped += _count(node)
            continue
        children, budget, below = _pruned(node.children, budget - 1, depth + 1)
        dropped += below
        kept.append(Node(node.name, node.offset, node.size, node.note, children))
    return tuple(kept), budget, dropped


def _count(node: Node) -> int:
    """Count a node and all below it, without recursion: a hostile file nests as deep as it likes."""
    total, waiting = 0, [node]
    while waiting:
        total += 1
        waiting += waiting.pop().children
    return total


def node_span(node: Node) -> str:
    """Return offset and end of a node, in bytes, hexadecimal."""
    return f"{node.offset:#x}–{node.offset + node.size:#x}"


def structure_view(structure: StructureMap) -> StructureView:
    """Place the top-level nodes on a bar, with the bytes between them that none describes."""
    nodes, _, n_left_out = _pruned(structure.nodes, MAX_NODES, 0)
    total = max([structure.total_bytes, 1, *(n.offset + n.size for n in nodes)])
    pieces: list[Piece] = []
    end = 0
    for i, node in enumerate(sorted((n for n in nodes if n.size > 0), key=lambda n: n.offset)):
        if node.offset > end:
            pieces.append(_gap(end, node.offset, total))
        x, width = percent(node.offset, 0, total), percent(node.size, 0, total)
        pieces.append(
            Piece(x, max(width, 0.25), node.name if width > 9 else "", f"{node.name}, {node.size:,} bytes", i % 4)
        )
        end = max(end, node.offset + node.size)
    if nodes and end < total:
        pieces.append(_gap(end, total, total))
    return StructureView(tuple(pieces), nodes, n_left_out)


def _gap(start: int, end: int, total: int) -> Piece:
    x = percent(start, 0, total)
    return Piece(x, percent(end - start, 0, total), "", f"not described: {end - start:,} bytes from {start:#x}", -1)
