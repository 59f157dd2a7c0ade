"""Hugging Face `datasets`: one that is loaded, one that was saved to disk, or ``hf://datasets/OWNER/NAME`` of the hub.

The medium is the column of type Image, Audio or Video, the label the one named so. Media are never decoded here: their
bytes are copied. Classes that have names are known by them; numbers without names must be told what they mean. Needs
``pip install 'forensix[data]'``.
"""

import contextlib
import importlib
import io
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from forensix.errors import MissingExtra, UsageError, first_line
from forensix.importers.copied import Example
from forensix.media import sniff

HUB = "hf://datasets/"
_LABELS = ("label", "labels", "class", "target")
_SAVED = ("dataset_dict.json", "state.json")
_MEDIA_TYPES = ("Image", "Audio", "Video")


def is_dataset(source: Any) -> bool:
    """Tell whether this is a loaded dataset, a folder of a saved one, or the name of one of the hub."""
    if isinstance(source, str | os.PathLike):
        place = os.fspath(source)
        return place.startswith(HUB) or any(Path(place, name).is_file() for name in _SAVED)
    return hasattr(source, "cast_column") or (isinstance(source, dict) and hasattr(source, "num_rows"))


def examples(source: Any, media: str | None, label: str | None, split: str | None) -> Iterator[Example]:
    """Yield the labelled media of a dataset.

    Raises
    ------
    UsageError
        It is not there or may not be read, has no such split, or does not say which column is medium and label.
    MissingExtra
        `datasets` is not installed.
    """
    loaded = _loaded(source)
    splits = dict(loaded) if isinstance(loaded, dict) else {str(loaded.split or ""): loaded}
    if split is not None and split not in splits:
        raise UsageError(f"the dataset has no split {split!r}; it has: {', '.join(map(repr, splits))}")
    for name, rows in splits.items():
        if split in (None, name):
            yield from _of_split(name, rows, media, label)


def _loaded(source: Any) -> Any:
    if not isinstance(source, str | os.PathLike):
        return source
    try:
        datasets = importlib.import_module("datasets")
        absent = datasets.exceptions.DatasetNotFoundError
    except (ImportError, AttributeError):
        # A folder of that name beside a script is imported as an empty package.
        raise MissingExtra("Hugging Face datasets need a package: pip install 'forensix[data]'") from None
    place = os.fspath(source)
    try:
        if place.startswith(HUB):
            return datasets.load_dataset(place.removeprefix(HUB).strip("/"))
        return datasets.load_from_disk(place)
    except absent as error:
        raise UsageError(f"{place} cannot be had: {first_line(error)}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{place} cannot be read as a dataset: {first_line(error)}") from None


def _of_split(split: str, rows: Any, media: str | None, label: str | None) -> Iterator[Example]:
    kinds = {name: type(feature).__name__ for name, feature in rows.features.items()}
    fitting = [name for name, kind in kinds.items() if kind in _MEDIA_TYPES]
    medium = _column("media", kinds, fitting if media is None else [media])
    labelled = _column("label", kinds, [name for name in _LABELS if name in kinds] if label is None else [label])
    if (getattr(rows, "format", None) or {}).get("type") != "custom":
        # Tensors, arrays and tables are the values in other clothes; what with_transform makes of them is the caller's.
        rows = rows.with_format(None)
    if kinds[medium] in _MEDIA_TYPES:
        rows = rows.cast_column(medium, type(rows.features[medium])(decode=False))
    feature = rows.features[labelled]
    named = feature.int2str if hasattr(feature, "int2str") else None
    allowed = [Path(file["filename"]).resolve().parent for file in getattr(rows, "cache_files", ())]
    for at, row in enumerate(rows):
        stored, value = row[medium], row[labelled]
        if not isinstance(stored, dict) or not (stored.get("bytes") or stored.get("path")):
            raise UsageError(f"row {at} of the dataset holds no {kinds[medium].lower()} in the column {medium!r}")
        if named is not None and value is not None and value >= 0:
            value = named(value)
        columns = {
            name: value
            for name, value in row.items()
            if name not in (medium, labelled, "path", "label") and isinstance(value, str | int | float | bool)
        }
        data, name = _content(stored, allowed, at)
        yield Example(
            name=f"{split or 'all'}/{at:07d}{_ending(data, name)}",
            label=value,
            size=len(data) if isinstance(data, bytes) else data.stat().st_size,
            open=lambda data=data: _opened(data),  # type: ignore[misc]
            columns=columns | ({"split": split} if split else {}),
        )


def _column(what: str, kinds: dict[str, str], fitting: list[str]) -> str:
    if len(fitting) != 1 or fitting[0] not in kinds:
        raise UsageError(
            f"which column of the dataset is the {what}? Say it with {what}=; it has:"
            f" {', '.join(f'{name} ({kind})' for name, kind in kinds.items())}"
        )
    return fitting[0]


def _content(stored: dict[str, Any], allowed: list[Path], at: int) -> tuple[bytes | Path, str]:
    """Return the bytes of a medium, or its file, which must lie where the dataset's own files do."""
    name = str(stored.get("path") or "")
    if stored.get("bytes"):
        return bytes(stored["bytes"]), name
    path = Path(name).resolve()
    if not any(path.is_relative_to(folder) for folder in allowed) or not path.is_file():
        raise UsageError(
            f"row {at} of the dataset names the file {name[:80]!r}, which lies not beside the dataset: save it with"
            " save_to_disk, which takes files in"
        )
    return path, name


def _opened(data: bytes | Path) -> "contextlib.AbstractContextManager[IO[bytes]]":
    return io.BytesIO(data) if isinstance(data, bytes) else data.open("rb")


def _ending(data: bytes | Path, name: str) -> str:
    """Return the ending of the medium's own name, or that of its format where it has none."""
    own = PurePosixPath(name).suffix.lower()
    if own and own[1:].isalnum():
        return own
    with _opened(data) as file:
        head = file.read(sniff.HEAD_BYTES)
    with contextlib.suppress(Exception):
        return f".{sniff.sniff(head, 'medium').format}"
    return ""
