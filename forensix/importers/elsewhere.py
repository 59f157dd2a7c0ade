"""Collections that lie in no folder of files: tar shards, Hugging Face datasets, URLs. They are brought to one first.

    Manifest.read("shards/train-{000..009}.tar")                     WebDataset
    Manifest.read("saved", labels={0: "real", 1: "fake"})            what `datasets` saved to disk
    Manifest.read("hf://datasets/owner/name", most=500)              its hub
    Manifest.read("s3://bucket/set/manifest.csv")                    whatever fsspec opens

Media are copied as they are, undecoded, to ``folder``: by default one of the source's own under ``FORENSIX_HOME``. A
copy that is there with the same content, or of a URL with the same size, is not made again, so what was cut off goes
on. None is ever replaced: a manifest that was read before keeps its files. No name in a collection leads out of the
folder.
"""

import glob
import hashlib
import os
import posixpath
import re
from collections.abc import Iterator
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

import pandas as pd

from forensix.errors import UsageError
from forensix.importers import hugging_face, remote, shards
from forensix.importers.copied import Example, copy_all
from forensix.importers.links import collections


def lies_elsewhere(source: Any) -> bool:
    """Tell whether a collection must be brought to a folder before it can be a manifest."""
    if hugging_face.is_dataset(source) or remote.is_url(source):
        return True
    return isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(".tar")


def bring(
    source: Any,
    *,
    folder: str | os.PathLike[str] | None = None,
    media: str | None = None,
    label: str | None = None,
    split: str | None = None,
    most: int | None = None,
) -> tuple[pd.DataFrame, Path]:
    """Copy the media of a collection to a folder; return the rows and the folder.

    Parameters
    ----------
    folder
        Where to; by default one of the source's own in the folder of ``FORENSIX_HOME``.
    media, label
        The columns of a dataset, or parts of a shard's examples, that hold medium and label, where they have not the
        usual names.
    split
        Only this one.
    most
        So many files of each label and split; all by default.

    Raises
    ------
    UsageError
        The collection is not there, is empty, or does not say what is medium and label, or the folder holds another.
    MissingExtra
        A package is needed that is not installed.
    OSError
        The disk is full, or may not be written; what was brought before stays.
    """
    if most is not None and (isinstance(most, bool) or not isinstance(most, Integral) or most < 1):
        raise UsageError(f"most is how many files of each label to take, a whole number of at least 1, not {most!r}")
    target = Path(folder) if folder is not None else _own_folder(source)
    far = remote.is_url(source) and not hugging_face.is_dataset(source)
    examples = _examples(source, target, media, label, split)
    if far:
        examples = _of_one_place(examples, target, source)
    rows = list(copy_all(examples, target, most, by_size=far))
    if not rows:
        raise UsageError(f"{_named(source)} holds no labelled media")
    return pd.DataFrame(rows), target


def _examples(source: Any, target: Path, media: str | None, label: str | None, split: str | None) -> Iterator[Example]:
    if hugging_face.is_dataset(source):
        yield from hugging_face.examples(source, media, label, split)
        return
    place = os.fspath(source)
    if place.lower().endswith(".tar"):
        examples = shards.examples([(name, partial(_opened, name)) for name in _names(place)], media, label)
    else:
        examples = remote.examples(place, target)
    yield from (example for example in examples if split is None or example.columns.get("split") == split)


def _of_one_place(examples: Iterator[Example], folder: Path, url: str) -> Iterator[Example]:
    """Yield what comes from a URL, but not into a folder with media of another place, which may have the same names."""
    place = posixpath.dirname(url) if url.lower().endswith((".tar", *remote.TABLES)) else url.rstrip("/")
    # Its hash: an address may hold a password.
    note, own = folder / ".collection", hashlib.sha256(place.encode()).hexdigest()
    if note.is_file() and note.read_text() != own:
        raise UsageError(f"{folder} holds another collection than {url}: name another folder")
    for example in examples:
        if not note.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            note.write_text(own)
        yield example


def _names(pattern: str) -> list[str]:
    names = shards.expanded(pattern)
    if not remote.is_url(pattern):
        names = [name for pattern in names for name in (sorted(glob.glob(pattern)) or [pattern])]
    return names


def _opened(name: str) -> Any:
    if remote.is_url(name):
        return remote.opened(name)
    if not os.path.isfile(name):
        raise UsageError(f"there is no shard at {name}")
    return open(name, "rb")


def _named(source: Any) -> str:
    return os.fspath(source) if isinstance(source, str | os.PathLike) else "the dataset"


def _own_folder(source: Any) -> Path:
    if not isinstance(source, str | os.PathLike):
        raise UsageError("name the folder that the media of a loaded dataset are copied to: folder=")
    address = os.fspath(source) if remote.is_url(source) else os.path.abspath(source)
    word = re.sub(r"[^A-Za-z0-9]+", "-", address)[-40:].strip("-")
    return collections() / f"{word}-{hashlib.sha256(address.encode()).hexdigest()[:12]}"
