"""Read the facts of one medium, in a bounded child process.

Hostile bytes are parsed by :mod:`forensix.metadata.child` and nothing else; what comes back is plain values, rebuilt
here. A reader that fails leaves a :class:`Problem` that says so, and every other fact still arrives.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forensix.errors import BrokenMedia
from forensix.media.sandbox import call
from forensix.metadata import exiftool
from forensix.metadata.facts import Fact, Facts, Node, Problem

if TYPE_CHECKING:
    from forensix.media import Media

READ_S = 30.0
READERS = {
    "image": "forensix.metadata.image.reader",
    "pdf": "forensix.metadata.pdf.reader",
    "video": "forensix.metadata.av.reader",
    "audio": "forensix.metadata.av.reader",
}
"""The module that reads a kind, loaded where there is a file of it."""

_WITH = {format: ("forensix.metadata.av.aac_grid",) for format in ("wav", "flac")}
"""What a reader loads for one format alone; every child has it from the start, as it takes longer than a short file."""


def read_facts(media: "Media", then: Sequence[str] = ()) -> Facts:
    """Return everything that a medium says of itself, and what ExifTool finds beside that where it is installed.

    ``then`` are modules that the next child will want, see `forensix.media.sandbox.call`.
    Never raises for what the bytes hold: a child that dies, or runs out of time or memory, is a problem of the file.
    """
    # Beside each other: both wait for another process.
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(exiftool.answers, media.path)
        facts = _own(media, then)
        return replace(facts, items=(*facts.items, *exiftool.beyond(answer.result(), facts.items)))


def _own(media: "Media", then: Sequence[str]) -> Facts:
    try:
        values = call(
            "forensix.metadata.child:read",
            str(media.path),
            media.kind,
            media.format,
            media.name,
            media.only_named,
            timeout_s=READ_S,
            modules=(READERS[media.kind], *_WITH.get(media.format, ())),
            then=then,
        )
    except BrokenMedia as error:
        # A slow machine runs out of time as well, so that alone says nothing of the file.
        late = "took longer than" in str(error)
        problem = Problem(
            f"The reader of this format could not finish: {error}", "file", 0, grave=not late, unread=late
        )
        return Facts(media.kind, media.format, problems=(problem,))
    return from_values(values)


def to_values(facts: Facts) -> dict[str, Any]:
    """Return facts as lists, dicts, text, numbers and bytes, which cross to another process."""
    return {
        "kind": facts.kind,
        "format": facts.format,
        "items": [[f.key, f.value, f.where, f.offset] for f in facts.items],
        "problems": [[p.message, p.where, p.offset, p.grave, p.unread] for p in facts.problems],
        "structure": [_node_values(node) for node in facts.structure],
        "pictures": dict(facts.pictures),
    }


def from_values(values: dict[str, Any]) -> Facts:
    """Rebuild what :func:`to_values` took apart."""
    return Facts(
        kind=values["kind"],
        format=values["format"],
        items=tuple(Fact(*row) for row in values["items"]),
        problems=tuple(Problem(*row) for row in values["problems"]),
        structure=tuple(_node(row) for row in values["structure"]),
        pictures=dict(values["pictures"]),
    )


def _node_values(node: Node) -> list[Any]:
    return [node.name, node.offset, node.size, node.note, [_node_values(child) for child in node.children]]


def _node(row: list[Any]) -> Node:
    name, offset, size, note, children = row
    return Node(name, offset, size, note, tuple(_node(child) for child in children))
