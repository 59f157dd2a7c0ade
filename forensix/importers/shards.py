"""WebDataset shards: tar files in which the parts of an example stand together and share a name up to its first dot.

    0001.jpg 0001.json 0002.jpg 0002.json                 the label in {"label": "fake", "generator": "flux"}
    a/0001.flac a/0001.cls                                or as the text of a part named cls, label or txt

Only regular files are read, and no hidden ones; links and devices in a tar are nobody's medium. Numbers mean nothing
until they are told: ``labels={0: "real", 1: "fake"}``. Source: github.com/webdataset/webdataset, "The WebDataset
format".
"""

import contextlib
import itertools
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from forensix.errors import UsageError
from forensix.importers.copied import Example, inside
from forensix.importers.layout import MEDIA, is_hidden

LABEL_PARTS = ("cls", "label", "txt")
_MAX_PART_BYTES = 1 << 20
_MAX_SHARDS = 100_000
_BRACES = re.compile(r"\{([^{}]*)\}")

Opener = Callable[[], "contextlib.AbstractContextManager[IO[bytes]]"]


def expanded(pattern: str) -> list[str]:
    """Return the names that a pattern stands for: ``{000..012}`` counts, ``{a,b}`` lists.

    Examples
    --------
    >>> expanded("train-{08..10}.tar")
    ['train-08.tar', 'train-09.tar', 'train-10.tar']
    """
    match = _BRACES.search(pattern)
    if match is None:
        return [pattern]
    count = re.fullmatch(r"(\d{1,9})\.\.(\d{1,9})", match[1])
    if count:
        first, last = int(count[1]), int(count[2])
        if not 0 <= last - first < _MAX_SHARDS:
            raise UsageError(f"{pattern}: {match[0]} must count upwards, to at most {_MAX_SHARDS} shards")
        within = [f"{n:0{len(count[1])}}" for n in range(first, last + 1)]
    else:
        within = match[1].split(",")
    return [name for part in within for name in expanded(pattern[: match.start()] + part + pattern[match.end() :])]


def examples(shards: list[tuple[str, Opener]], media: str | None, label: str | None) -> Iterator[Example]:
    """Yield the labelled media of shards, each a name and what opens it.

    ``media`` is the ending of the part that is the medium, where an example has several; ``label`` the part, or the
    field of the part ``json``, that holds the label.

    Raises
    ------
    UsageError
        A shard is no tar file, or an example has no medium, several, no label, or a part twice.
    """
    for name, opener in shards:
        stem = Path(name).name.removesuffix(".tar")
        try:
            with opener() as file, tarfile.open(fileobj=file, mode="r:") as tar:
                regular = (member for member in tar if member.isreg() and not member.issparse())
                files = (member for member in regular if not is_hidden(member.name))
                for key, parts in itertools.groupby(files, lambda member: _split(member.name)[0]):
                    yield _example(tar, stem, key, _by_ending(stem, key, parts), media, label)
        except tarfile.TarError as error:
            raise UsageError(f"{name} is no tar file that can be read, or is cut off: {error}") from None


def _split(name: str) -> tuple[str, str]:
    folder, slash, last = name.rpartition("/")
    stem, _, ending = last.partition(".")
    return folder + slash + stem, ending.lower()


def _by_ending(shard: str, key: str, parts: Iterable[tarfile.TarInfo]) -> dict[str, tarfile.TarInfo]:
    members: dict[str, tarfile.TarInfo] = {}
    for member in parts:
        if members.setdefault(_split(member.name)[1], member) is not member:
            # Two examples of one name: whichever went, a medium could get the other's label.
            raise UsageError(f"{shard}.tar: the example {key[:80]!r} has {member.name[-80:]} twice: name each its own")
    return members


def _example(
    tar: tarfile.TarFile,
    shard: str,
    key: str,
    parts: dict[str, tarfile.TarInfo],
    media: str | None,
    label: str | None,
) -> Example:
    endings = [end for end in parts if (end == media if media else f".{end}" in MEDIA)]
    if len(endings) != 1:
        raise UsageError(
            f"{shard}.tar: the example {key[:80]!r} has the parts {', '.join(sorted(parts))[:200]};"
            f" {'several are' if endings else 'none is'} a medium: say which with media="
        )
    columns = _columns(tar, parts)
    text = next((parts[name] for name in ([label] if label else LABEL_PARTS) if name in parts), None)
    text_label = _text(tar, text).strip() if text is not None else columns.pop(label or "label", None)
    if text_label is None:
        raise UsageError(
            f"{shard}.tar: the example {key[:80]!r} has no label, neither a part {', '.join(LABEL_PARTS)} nor a field"
            " label of its json: say which it is with label="
        )
    member = parts[endings[0]]
    return Example(
        name=f"{shard}/{inside(f'{key}.{endings[0]}')}",
        label=text_label,
        size=member.size,
        open=lambda: contextlib.closing(_opened(tar, member)),
        columns={name: value for name, value in columns.items() if name not in ("path", "label")},
    )


def _opened(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(member)
    assert file is not None, "only regular files come here"
    return file


def _text(tar: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    with _opened(tar, member) as file:
        data = file.read(_MAX_PART_BYTES + 1)
    if len(data) > _MAX_PART_BYTES:
        raise UsageError(f"{member.name[:80]} has more than {_MAX_PART_BYTES >> 10} kB, too much for a label")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{member.name[:80]} is no UTF-8 text, so it is no label") from None


def _columns(tar: tarfile.TarFile, parts: dict[str, tarfile.TarInfo]) -> dict[str, Any]:
    """Return the fields of the part ``json`` that are single values."""
    if "json" not in parts:
        return {}
    try:
        fields = json.loads(_text(tar, parts["json"]))
    except (json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{parts['json'].name[:80]} is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise UsageError(f"{parts['json'].name[:80]} must hold a JSON object")
    return {str(name): value for name, value in fields.items() if isinstance(value, str | int | float | bool)}
