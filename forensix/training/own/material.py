"""Decoded files of a training run, kept as arrays: read once, in the sandbox, and found again by a run that goes on.

They are found, and what chance draws of each is drawn, by what the files hold and how the manifest calls them, so that
a copy of both in another folder gives the same model. A file that cannot be used is remembered with the reason; a
folder that is full leaves nothing half behind.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.errors import InputError, UsageError
from forensix.evaluation.keys import content_hash
from forensix.labels import LABELS
from forensix.manifest import Manifest
from forensix.models.card import MARK_DIGITS
from forensix.report.words import plural
from forensix.training.kept import whole

Arrays = tuple[NDArray[Any], ...]
Read = Callable[[Path, np.random.Generator], Arrays]
"""Decodes one file to arrays; the generator is the file's own."""
_KEPT_OPEN = 256


@dataclass(frozen=True, eq=False)
class Material:
    """The files of a part of a manifest that can be used: where their arrays lie, which are fake, and their groups."""

    files: tuple[Path, ...]
    fake: NDArray[np.bool_]
    groups: NDArray[np.str_]
    refused: Mapping[str, str]
    """Why a file cannot be used, by its path in the manifest."""
    marks: tuple[str, ...] = ()
    """Of each file that can."""

    def __len__(self) -> int:
        return len(self.files)

    def arrays(self, at: int) -> Arrays:
        """Return what is kept of a file."""
        return _stored(self.files[at])

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Return weights that sum to 1 in either class, in which a group counts as the root of its files."""
        table = pd.DataFrame({"group": self.groups, "fake": self.fake})
        weights = table.groupby(["group", "fake"])["group"].transform("size").to_numpy(dtype=np.float64) ** -0.5
        for side in (self.fake, ~self.fake):
            weights[side] /= weights[side].sum()
        return weights


def gather(
    manifest: Manifest,
    use: str,
    groups: Sequence[str],
    read: Read,
    folder: Path,
    form: str,
    tell: Callable[[int], None],
) -> Material:
    """Decode the files of a manifest that ``folder`` lacks, and return them all.

    ``use`` is what they are for, in words, and ``form`` tells one way of decoding from another.

    Raises
    ------
    UsageError
        A class is left without a file that can be used.
    OSError
        The disk is full; what was decoded before stays.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files, fake, names, marks = [], [], [], []
    refused: dict[str, str] = {}
    rows = zip(manifest.table["path"], manifest.paths(), manifest.is_fake(), groups, strict=True)
    for n, (name, path, is_fake, group) in enumerate(rows):
        tell(n)
        try:
            content = content_hash(str(path))
        except InputError as error:
            refused[name] = str(error)
            continue
        key = hashlib.sha256(f"{form}\n{name}\n{content}".encode()).hexdigest()
        target = folder / f"{key[:32]}.npz"
        if not target.exists():
            with whole(target) as file:
                np.savez(file, *_decoded(path, read, int(key[:8], 16)))
        arrays = _stored(target)
        if arrays[0].dtype.kind == "U":
            refused[name] = str(arrays[0])
            continue
        files.append(target)
        fake.append(bool(is_fake))
        names.append(group)
        marks.append(content[:MARK_DIGITS])
    for label in (False, True):
        if label not in fake:
            reasons = [refused[name] for name in manifest.where(label=LABELS[label]).table["path"]]
            those = f"{plural(len(reasons), f'{LABELS[label]} file')} {use}"
            raise UsageError(f"of {those} none can be used; the first of them: {reasons[0]}")
    return Material(tuple(files), np.array(fake), np.array(names), refused, tuple(marks))


def _decoded(path: Path, read: Read, seed: int) -> Arrays:
    try:
        return read(path, np.random.default_rng(seed))
    except InputError as error:
        return (np.array(str(error)),)


@lru_cache(_KEPT_OPEN)
def _stored(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as stored:
        return tuple(stored[f"arr_{i}"] for i in range(len(stored.files)))
