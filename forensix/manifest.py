"""Dataset manifests: a table with one labelled medium a row.

>>> import io, pandas as pd
>>> manifest = Manifest(pd.DataFrame({"path": ["a.wav"], "label": ["real"]}), root=".")
>>> len(manifest)
1
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from forensix.errors import UsageError

LABELS = ("real", "fake")


@dataclass(frozen=True)
class Manifest:
    """A table with the columns ``path`` (relative to ``root``) and ``label``, and whatever else the collection says."""

    table: pd.DataFrame
    root: str | os.PathLike[str]

    def __post_init__(self) -> None:
        missing = {"path", "label"} - set(self.table.columns)
        if missing:
            raise UsageError(f"a manifest needs the columns path and label; missing: {', '.join(sorted(missing))}")
        unknown = sorted(set(self.table["label"].dropna()) - set(LABELS))
        if unknown or self.table["label"].isna().any():
            raise UsageError(f"labels must be real or fake; also found: {', '.join(map(str, unknown)) or 'empty'}")

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Manifest":
        """Read a CSV manifest; paths in it are relative to its folder."""
        path = Path(path)
        if not path.is_file():
            raise UsageError(f"there is no manifest at {path}")
        return cls(pd.read_csv(path, dtype=str, keep_default_na=True), root=path.parent)

    def where(self, **values: str) -> "Manifest":
        """Return the rows whose columns have these values, for example ``where(split="dev", label="real")``."""
        table = self.table
        for column, value in values.items():
            if column not in table.columns:
                raise UsageError(f"the manifest has no column {column!r}; it has: {', '.join(table.columns)}")
            table = table[table[column] == value]
        return Manifest(table.reset_index(drop=True), self.root)

    def paths(self) -> list[Path]:
        """Return the files, in order of the rows."""
        return [Path(self.root) / path for path in self.table["path"]]

    def is_fake(self) -> list[int]:
        """Return 1 for fake and 0 for real, in order of the rows."""
        return [int(label == "fake") for label in self.table["label"]]
