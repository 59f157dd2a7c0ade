"""Read the facts of one medium, in a bounded child process.

Hostile bytes are parsed by :mod:`forensix.metadata.child` and nothing else; what comes back is plain values, rebuilt
here. A reader that fails leaves a :class:`Problem` that says so, and every other fact still arrives.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from forensix.errors import BrokenMedia, ReadingStopped
from forensix.media.sandbox import stream
from forensix.metadata.child import READERS
from forensix.metadata.facts import WHOLE, Fact, Facts, Node, Problem

if TYPE_CHECKING:
    from forensix.media import Media

READ_S = 30.0
READ_SHARE = 0.1
"""Of the duration of a recording, which is added: all of its sound is measured."""

_WITH = {format: ("forensix.metadata.av.aac_grid",) for format in ("wav", "flac")}
"""What a reader loads for one format alone; every child has it from the start, as it takes longer than a short file."""


def read_facts(media: "Media", then: Sequence[str] = ()) -> Facts:
    """Return everything that a medium says of itself.

    ``then`` are modules that the next child will want, see `forensix.media.sandbox.call`.
    Never raises for what the bytes hold: a child that dies, or runs out of time or memory, is a problem of the file,
    beside the facts that it had sent by then. `InputChanged` says that they are no longer there to be read.
    """
    facts = Facts(media.kind, media.format)
    try:
        for values in stream(
            "forensix.metadata.child:parts",
            str(media.path),
            media.kind,
            media.format,
            media.name,
            media.only_named,
            timeout_s=READ_S + READ_SHARE * (media.info.duration_s or 0),
            modules=(READERS[media.kind], *_WITH.get(media.format, ())),
            then=then,
        ):
            facts = from_values(values)
    except BrokenMedia as error:
        unread = isinstance(error, ReadingStopped)
        if not unread and (change := media.change(reread=True)):
            raise change from None
        problem = Problem(
            f"The reader of this format could not finish: {error}", WHOLE, 0, grave=not unread, unread=unread
        )
        return replace(facts, problems=(*facts.problems, problem))
    return facts


def from_values(values: dict[str, Any]) -> Facts:
    """Rebuild what :func:`forensix.metadata.child.to_values` took apart."""
    return Facts(
        kind=values["kind"],
        format=values["format"],
        items=tuple(Fact(*row) for row in values["items"]),
        problems=tuple(Problem(*row) for row in values["problems"]),
        structure=tuple(_node(row) for row in values["structure"]),
        pictures=dict(values["pictures"]),
    )


def _node(row: list[Any]) -> Node:
    name, offset, size, note, children = row
    return Node(name, offset, size, note, tuple(_node(child) for child in children))
