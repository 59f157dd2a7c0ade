"""The pieces of a file: their kinds, what is wrong with them, and which of them lie around a byte."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forensix.metadata.facts import Node

MAX_NODES = 600
MAX_DEPTH = 12

KINDS = {
    "content": "picture, sound or page content",
    "metadata": "metadata and previews",
    "signature": "credentials and signatures",
    "frame": "structure and tables",
    "outside": "unused or hidden: padding, data after the end, scripts, embedded files",
    "gap": "not described",
}

_KIND_OF_NOTE = {
    "page content": "content",
    "image": "content",
    "metadata": "metadata",
    "document information": "metadata",
    "signature": "signature",
    "validation data": "signature",
    "JP": "signature",
    "JFIF": "frame",
    "script or action": "outside",
    "embedded file": "outside",
}
_KIND_OF_NAME = (
    ("outside", r"(.* )?after the (last )?end|padding|(free|skip|wide|junk)$"),
    ("signature", r"c2pa|jumb|cabx"),
    ("metadata", r"tags at the end|.* block$"),
    ("content", r"(SOS|IDAT|fdAT|mdat|movi|image|frames|MPEG|ADTS|VP8|ALPH|ANMF|data|Cluster|SimpleBlock|tags)"),
    (
        "metadata",
        r"APP\d|COM$|IFD|EXIF|XMP|iTXt|tEXt|zTXt|tIME|ICC|ID3|udta|meta|uuid|LIST|INFO|Tags|MPF|bext|iXML"
        r"|vorbis|picture$|extension",
    ),
)


@dataclass(frozen=True)
class ShownNode:
    """A piece in the list below the map."""

    node: Node
    kind: str
    damage: str
    children: tuple["ShownNode", ...] = ()


def kind_of(node: Node, inside: str = "frame") -> str:
    """Return the kind of a piece by its name and note; without a name that is known, that of the piece around it.

    Examples
    --------
    >>> kind_of(Node("IDAT", 33, 900)), kind_of(Node("data after the end", 99, 5))
    ('content', 'outside')
    """
    if node.note in _KIND_OF_NOTE:
        return _KIND_OF_NOTE[node.note]
    named = (
        kind
        for kind, pattern in _KIND_OF_NAME
        if re.search(pattern if kind == "outside" else f"^({pattern})", node.name, re.I)
    )
    return next(named, inside if inside == "metadata" else "frame")


def path_to(nodes: Sequence[Node], offset: int) -> tuple[Node, ...]:
    """Return the pieces around a byte, from the outermost to the innermost; the smallest where they overlap."""
    path: list[Node] = []
    while len(path) <= MAX_DEPTH:
        around = [node for node in nodes if node.offset <= offset < node.offset + node.size]
        if not around:
            break
        path.append(min(around, key=lambda node: node.size))
        nodes = path[-1].children
    return tuple(path)


def node_span(node: Node) -> str:
    """Return offset and end of a node, in bytes, hexadecimal."""
    return f"{node.offset:#x}–{node.offset + node.size:#x}"


def listed(nodes: Sequence[Node], damage: tuple[tuple[int, str], ...]) -> tuple[tuple[ShownNode, ...], int]:
    """Return the pieces with kinds and damage, and how many were too many or too deep to be listed."""
    pruned, _, n_left_out = _pruned(nodes, MAX_NODES, 0)
    return tuple(_node_row(node, "frame", damage) for node in pruned), n_left_out


def _node_row(node: Node, inside: str, damage: tuple[tuple[int, str], ...]) -> ShownNode:
    kind = kind_of(node, inside)
    children = tuple(_node_row(child, kind, damage) for child in node.children)
    here = [
        text
        for at, text in damage
        if node.offset <= at < node.offset + max(node.size, 1)
        and not any(c.node.offset <= at < c.node.offset + max(c.node.size, 1) for c in children)
    ]
    if node.note == "cut short":
        here.append("cut short")
    return ShownNode(node, kind, "; ".join(dict.fromkeys(here)), children)


def _pruned(nodes: Sequence[Node], budget: int, depth: int) -> tuple[tuple[Node, ...], int, int]:
    """Return the nodes that fit, what is left of the budget, and how many were dropped."""
    remaining: list[Node] = []
    dropped = 0
    for node in nodes:
        if budget <= 0 or depth > MAX_DEPTH:
            dropped += _count(node)
            continue
        children, budget, below = _pruned(node.children, budget - 1, depth + 1)
        dropped += below
        remaining.append(Node(node.name, node.offset, node.size, node.note, children))
    return tuple(remaining), budget, dropped


def _count(node: Node) -> int:
    """Count a node and all below it, without recursion: a hostile file nests as deep as it likes."""
    total, waiting = 0, [node]
    while waiting:
        total += 1
        waiting += waiting.pop().children
    return total
