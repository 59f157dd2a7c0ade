"""Files with the same content under several names: what is learnt from under one is not held out under another."""

import os
from collections.abc import Sequence

import pandas as pd

from forensix.errors import InputNotFound, UsageError
from forensix.evaluation.keys import content_hash
from forensix.manifest import Manifest
from forensix.training.folds import sources_of


def merged(groups: Sequence[str], manifest: Manifest) -> list[str]:
    """Return the groups of files, those counted as one that hold the same content, at any remove."""
    return [str(one) for one in sources_of(groups, _shared(manifest))]


def check_apart(manifest: Manifest) -> None:
    """Raise `UsageError` where a file of the split ``train`` is in another split too, under another name."""
    table = manifest.table[["path", "split"]].assign(content=_shared(manifest))
    table = table[(table["content"] != "") & table["split"].notna()]
    learnt: dict[str, str] = {}
    for path, split, content in table.itertuples(index=False):
        if split == "train":
            learnt.setdefault(content, path)
    for path, split, content in table.itertuples(index=False):
        if split != "train" and content in learnt:
            raise UsageError(
                f"{path} of the split {split} has the same content as {learnt[content]} of the split train, so what was"
                " learnt would be measured on: leave one of the two out of the manifest"
            )


def _shared(manifest: Manifest) -> list[str]:
    """Return the content of each file that is there more than once, by its hash, and nothing of the others."""
    paths = [os.fspath(path) for path in manifest.paths()]
    # Files of a size that no other has need not be read.
    sizes = pd.Series([os.path.getsize(path) if os.path.isfile(path) else -1 for path in paths])
    alike = sizes.duplicated(keep=False) & (sizes >= 0)
    contents = pd.Series([_content(path) if read else "" for path, read in zip(paths, alike, strict=True)])
    return list(contents.where(contents.duplicated(keep=False), ""))


def _content(path: str) -> str:
    try:
        return content_hash(path)
    except InputNotFound:
        return ""
