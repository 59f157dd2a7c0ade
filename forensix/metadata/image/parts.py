"""What a walk through a picture's file gathers before it becomes facts, whatever the format."""

from dataclasses import dataclass, field

from forensix.metadata.facts import Fact, Node, Problem


@dataclass
class Parts:
    """What a walk gathers before it becomes facts."""

    facts: list[Fact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    thumbnails: list[tuple[str, bytes, int]] = field(default_factory=list)
    tables: dict[int, list[int]] = field(default_factory=dict)
    icc: list[tuple[int, bytes, int]] = field(default_factory=list)
    extended: list[tuple[int, bytes, int]] = field(default_factory=list)
    photoshop: list[tuple[bytes, int]] = field(default_factory=list)
    huffman: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    scans: int = 0
    inflated: int = 0
    end: int | None = None
