"""What runs in the child process: pick the reader of a kind, and never let one reader's failure hide the others'
facts."""

import importlib
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from forensix.media.sniff import EXTENSIONS, SPECIAL_EXTENSIONS
from forensix.metadata.facts import WHOLE, Fact, Facts, Node, Problem

READERS = {
    "image": "forensix.metadata.image.reader",
    "pdf": "forensix.metadata.pdf.reader",
    "video": "forensix.metadata.av.reader",
    "audio": "forensix.metadata.av.reader",
}
"""The module that reads a kind, loaded where there is a file of it."""

HEAD_BYTES = 32


def read(path: str, kind: str, format: str, name: str, only_named: bool = False) -> dict[str, Any]:
    """Read a file's facts as plain values (see :func:`to_values`).

    ``only_named`` says that the format is known from the name alone: its reader is tried all the same, since headers
    may be lost and the rest be there, and what the bytes are instead is told beside it.
    """
    *_, values = parts(path, kind, format, name, only_named)
    return values


def parts(path: str, kind: str, format: str, name: str, only_named: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what `read` returns as far as it is known, again and again, all of it last."""
    common = common_facts(Path(path), format, name, only_named)
    facts = Facts(kind, format)
    try:
        for facts in _parts(path, kind, format):
            yield _values(common, facts)
        return
    except MemoryError:
        problem = Problem("Reading it ran out of memory.", WHOLE, 0, grave=False, unread=True)
    except RecursionError:
        problem = Problem("It is nested too deep to be read.", WHOLE, 0)
    except Exception as error:
        problem = Problem(f"It cannot be read to the end: {_said(error)}", "file", 0)
    yield _values(common, replace(facts, problems=(*facts.problems, problem)))


def _parts(path: str, kind: str, format: str) -> Iterator[Facts]:
    reader = importlib.import_module(READERS[kind])
    if kind == "pdf":
        yield from reader.parts(path)
    elif kind == "image":
        yield reader.read(path, format)
    else:
        yield from reader.parts(path, format)


def _values(common: tuple[Fact, ...], facts: Facts) -> dict[str, Any]:
    pictures = {title: bytes(data) for title, data in facts.pictures.items()}
    values: dict[str, Any] = plain(to_values(replace(facts, items=(*common, *facts.items), pictures=pictures)))
    return values


def to_values(facts: Facts) -> dict[str, Any]:
    """Return facts as lists, dicts, text, numbers and bytes, which cross to another process."""
    return {
        "kind": facts.kind,
        "format": facts.format,
        "items": [[f.key, f.value, f.where, f.offset] for f in facts.items],
        "problems": [[p.message, p.where, p.offset, p.grave, p.unread, p.cut] for p in facts.problems],
        "structure": [_node_values(node) for node in facts.structure],
        "pictures": dict(facts.pictures),
    }


def _node_values(node: Node) -> list[Any]:
    return [node.name, node.offset, node.size, node.note, [_node_values(child) for child in node.children]]


def common_facts(path: Path, format: str, name: str, only_named: bool = False) -> tuple[Fact, ...]:
    """Return what can be said of any file: its size, its ends, and whether its name fits its content."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, size - HEAD_BYTES))
        tail = file.read(HEAD_BYTES)
    extension = PurePath(name).suffix.lower().lstrip(".")
    facts = [
        Fact("file.size", size, "file", 0),
        Fact("file.head", head.hex(" "), "first bytes", 0),
        Fact("file.tail", tail.hex(" "), "last bytes", max(0, size - HEAD_BYTES)),
        Fact("file.name", name, "file name"),
        Fact("file.extension", extension, "file name"),
    ]
    if only_named:
        from forensix.metadata import unrecognised

        facts.append(unrecognised.fact(path, format))
    elif extension:
        fits = extension in EXTENSIONS.get(format, {format}) | SPECIAL_EXTENSIONS.get(format, set())
        facts.append(Fact("file.extension_fits", fits, f"file name against first bytes ({format})", 0))
    return tuple(facts)


def plain(value: Any) -> Any:
    """Turn a value into what crosses to another process: finite numbers, text, bytes, lists and dicts."""
    if value is None or isinstance(value, bool | int | str | bytes):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        return plain(value.item())
    return str(value)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}" if str(error) else type(error).__name__
