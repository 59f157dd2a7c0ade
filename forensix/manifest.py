"""Dataset manifests: a table with one labelled medium a row.

Two columns are needed, ``path`` (of a file, or an http(s) link) and ``label`` (real or fake, or one of the usual words
for them, see `forensix.labels`). Tables and displays know these, where they are there:

    split       train, dev or test
    source      the collection that the file came from
    family      kind of generator: gan, diffusion, tts, vc, face-swap
    generator   or ``method``: what made a fake
    group_id    what belongs together: a speaker, a source video; never split, drawn as one for intervals
    language, speaker, gender, quality

and any other column is carried along.

>>> import pandas as pd
>>> table = pd.DataFrame({"path": ["a.wav", "b.wav"], "label": ["real", "fake"], "generator": [None, "vits"]})
>>> manifest = Manifest(table, root="clips")
>>> len(manifest), manifest.where(label="fake").paths()[0].as_posix()
(2, 'clips/b.wav')
>>> [(entry.path.name, entry.label) for entry in manifest]
[('a.wav', 'real'), ('b.wav', 'fake')]
"""

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import InitVar, dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from forensix.errors import UsageError
from forensix.folders import expanded
from forensix.importers import check_options
from forensix.importers.elsewhere import bring, lies_elsewhere
from forensix.importers.links import located
from forensix.importers.tables import MANIFESTS, need_pyarrow, quoting, read_table, with_lines
from forensix.labels import LABELS
from forensix.manifest_table import (
    GROUP,
    Entry,
    checked,
    chosen,
    groups_of,
    missing_hint,
    no_rows,
    shared_out,
    shuffled,
)

if TYPE_CHECKING:
    from forensix.torch_data import MediaDataset

_MAX_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class Manifest:
    """A table with the columns ``path`` (relative to ``root``) and ``label``, and whatever else the collection says.

    Absolute paths that lie in ``root`` become relative, and so do those that Windows wrote with ``\\``.

    Raises
    ------
    UsageError
        A column is missing, a label means neither real nor fake, a path is empty, there twice or leads out of ``root``.
        Rows are counted as lines of a CSV file, empty ones too: the first one is row 2.
    """

    table: pd.DataFrame
    root: str | os.PathLike[str]
    outside: bool = False
    """Paths may be absolute or lead out of ``root``: only for manifests of your own."""
    labels: InitVar[Mapping[Any, str] | None] = None
    """What the table's labels mean where they are not the usual words: ``{"live": "real", "replay": "fake"}``."""

    def __post_init__(self, labels: Mapping[Any, str] | None) -> None:
        object.__setattr__(self, "root", expanded(self.root))
        object.__setattr__(self, "table", checked(self.table, self.root, labels, outside=self.outside))

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Entry]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, at: int) -> Entry: ...

    @overload
    def __getitem__(self, at: slice) -> "Manifest": ...

    def __getitem__(self, at: int | slice) -> "Entry | Manifest":
        """Return one row as an `Entry`, or the manifest of a slice of rows.

        Raises
        ------
        IndexError
            There is no such row.
        TypeError
            It is neither a whole number nor a slice.
        """
        if isinstance(at, slice):
            return self._with(self.table.iloc[at])
        at = operator.index(at)
        row = {str(name): value for name, value in self.table.iloc[at].items()}
        return Entry(located(self.root, row.pop("path")), row.pop("label"), row)

    def __repr__(self) -> str:
        n_fake = int((self.table["label"] == "fake").sum())
        return f"Manifest({len(self) - n_fake} real, {n_fake} fake, root={os.fspath(self.root)!r})"

    def _repr_html_(self) -> str:
        return str(self.counts().to_html(index=False))

    @classmethod
    def read(
        cls,
        source: Any,
        *,
        root: str | os.PathLike[str] | None = None,
        outside: bool = False,
        labels: Mapping[Any, str] | None = None,
        **elsewhere: Any,
    ) -> "Manifest":
        """Read a manifest from where people keep their data.

        Parameters
        ----------
        source
            A file of CSV, TSV, JSON lines or Parquet, a folder that holds one, or a folder of ``real/`` and ``fake/``.
            Text in it stays text: no column is turned into numbers. Or what lies elsewhere, and is copied to a folder
            first (`forensix.importers.elsewhere`): WebDataset shards (``"train-{000..009}.tar"``), a Hugging Face
            dataset (loaded, saved to disk, or ``"hf://datasets/owner/name"``), or a URL that fsspec opens.
        root
            What paths are relative to, or lie in; the manifest's folder by default. Only of what is not copied first.
        outside
            See `Manifest`.
        labels
            What labels mean where they are not the usual words (`forensix.labels`): ``{"live": "real", 1: "fake"}``.
        **elsewhere
            Options of `forensix.importers.elsewhere.bring`: ``folder``, ``media``, ``label``, ``split``, ``most``.

        Raises
        ------
        UsageError
            There is nothing to read, or not what a manifest is.
        MissingExtra
            A package is needed that is not installed.
        """
        if lies_elsewhere(source):
            if root is not None or outside:
                raise UsageError(
                    "root and outside are for manifests that lie here: leave them out, since what lies elsewhere is"
                    " copied to a folder, which folder= names"
                )
            check_options("a collection that lies elsewhere", bring, source, elsewhere)
            return cls(*bring(source, **elsewhere), labels=labels)
        if elsewhere:
            raise UsageError(f"{next(iter(elsewhere))} is for collections that lie elsewhere; {source} is a manifest")
        if not isinstance(source, str | os.PathLike):
            kind = type(source).__name__
            raise UsageError(
                f"name a manifest, a folder, shards such as train-{{000..009}}.tar, or a URL: got a {kind}"
            )
        path = expanded(source)
        if path.is_dir():
            inside = next((path / name for name in MANIFESTS if (path / name).is_file()), None)
            if inside is None:
                return cls.from_folder(path)
            path = inside
        if not path.is_file():
            raise UsageError(f"there is no manifest at {path}")
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(
                f"{path.name} has {path.stat().st_size >> 20} MB; a manifest may have {_MAX_BYTES >> 20} MB"
            )
        table = with_lines(read_table(path), path)
        root = path.parent if root is None else root
        try:
            return cls(table, root=root, outside=outside, labels=labels)
        except UsageError as error:
            raise UsageError(f"{path.name}: {error}") from None

    @classmethod
    def from_folder(cls, folder: str | os.PathLike[str]) -> "Manifest":
        """List the media under ``real/`` and ``fake/``, also of splits (``dev/real/`` or ``real/dev/``).

        A folder inside ``fake/`` names the generator, one inside ``real/`` the source.
        """
        return cls.import_("folders", folder)

    @classmethod
    def import_(cls, name: str, root: str | os.PathLike[str], **options: Any) -> "Manifest":
        """List a published dataset as people have it on disk: ``Manifest.import_("faceforensics", folder)``.

        Raises
        ------
        UsageError
            There is no importer of that name, or a file or folder of the layout is missing; the sentence names it.
        """
        from forensix.importers import load

        return cls(load(name, root, **options), root=root)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write as CSV, TSV, JSON lines or Parquet, by the suffix; paths stay relative to ``root``.

        What is written elsewhere than in ``root`` is read with it: ``Manifest.read(path, root=manifest.root)``.
        """
        path = expanded(path)
        if path.suffix.lower() in (".parquet", ".pq"):
            need_pyarrow()
            self.table.to_parquet(path, index=False)
        elif path.suffix.lower() in (".csv", ".tsv"):
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            self.table.to_csv(path, index=False, sep=separator, quoting=quoting(self.table))
        elif path.suffix.lower() == ".jsonl":
            self.table.to_json(path, orient="records", lines=True, force_ascii=False)
        else:
            raise UsageError(
                f"a manifest is written as .csv, .tsv, .jsonl or .parquet, not {path.suffix or 'without a suffix'}"
            )
        return path

    def where(self, **values: Any) -> "Manifest":
        """Return the rows whose columns have these values: ``where(split="dev", generator=["vits", "bark"])``.

        A number is also looked for as text in columns of text, as those of a CSV file are.
        """
        for column in values:
            self._need(column)
        return self._with(chosen(self.table, values))

    def paths(self) -> list[Path]:
        """Return the files, in order of the rows; for a link, where its copy lies once it was evaluated."""
        return [located(self.root, path) for path in self.table["path"]]

    def is_fake(self) -> list[int]:
        """Return 1 for fake and 0 for real, in order of the rows."""
        return [int(label == "fake") for label in self.table["label"]]

    def to_torch(self, transform: Callable[[Any], Any] | None = None) -> "MediaDataset":
        """Return a `torch.utils.data.Dataset` of decoded files and 1 for fake, 0 for real; see `forensix.torch_data`.

        Pictures are uint8 RGB (3, height, width), sound float32 (samples,) in [-1, 1) at 16 kHz; ``transform`` is given
        that, and what it returns is the item's.
        """
        from forensix.torch_data import MediaDataset

        return MediaDataset(self, transform)

    def missing(self) -> list[str]:
        """Return the paths at which there is no file."""
        return [name for name, path in zip(self.table["path"], self.paths(), strict=True) if not path.is_file()]

    def check(self) -> "Manifest":
        """Return the manifest, or name the first files that are not there: before hours of work, not after.

        Raises
        ------
        UsageError
            There are no rows, or files are missing.
        """
        if not len(self):
            raise UsageError(no_rows(self.table))
        if missing := self.missing():
            some = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
            raise UsageError(
                f"{len(missing)} of {len(self)} files are not in {os.fspath(self.root)}:"
                f" {some}{missing_hint(missing, len(self))}"
            )
        return self

    def counts(self, *columns: str) -> pd.DataFrame:
        """Return how many real and fake files there are, by ``columns`` (split and source by default)."""
        by = list(columns) or [name for name in ("split", "source") if name in self.table]
        for column in by:
            self._need(column)
        keys = [self.table[name].astype(object).where(self.table[name].notna(), "") for name in by]
        keys = keys or [pd.Series(0, index=self.table.index)]
        grid = pd.crosstab(keys, self.table["label"]).reindex(columns=LABELS, fill_value=0)
        grid.columns.name = None
        return grid.reset_index() if by else grid.reset_index(drop=True)

    def split(self, shares: Mapping[str, float], *, group: str = GROUP, seed: int = 0) -> "Manifest":
        """Return the manifest with a new column ``split``: groups stay whole, classes are shared out alike.

        ``shares`` as in ``{"train": 0.8, "dev": 0.1, "test": 0.1}``; they must add up to 1. Rows without a group are
        groups of their own. The same files get the same splits whatever the order of the rows.
        """
        if not shares or min(shares.values()) < 0 or not abs(sum(shares.values()) - 1) <= 1e-6:
            raise UsageError(f"shares must not be negative and must add up to 1: got {dict(shares)}")
        groups = groups_of(self.table, group)
        counts = pd.crosstab(groups, self.table["label"]).reindex(columns=list(LABELS), fill_value=0).sort_index()
        split_of = dict(zip(counts.index, shared_out(counts.to_numpy(), shares, seed), strict=True))
        return self._with(self.table.assign(split=groups.map(split_of).to_numpy()))

    def sample(self, n: int, *, by: str | Iterable[str] = "label", seed: int = 0) -> "Manifest":
        """Return at most ``n`` rows of each label (or of each combination of the columns ``by``), in their order.

        Raises
        ------
        UsageError
            ``n`` or the seed is no whole number from 0 up, or there is no such column.
        """
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 0:
            raise UsageError(f"n is how many rows to take of each, a whole number from 0 up, not {n!r}")
        columns = [by] if isinstance(by, str) else list(by)
        for column in columns:
            self._need(column)
        drawn = self.table.reset_index(drop=True).iloc[shuffled(len(self), seed)]
        return self._with(drawn.groupby(columns, dropna=False, sort=False).head(int(n)).sort_index())

    def _need(self, column: str) -> None:
        if column not in self.table.columns:
            raise UsageError(
                f"the manifest has no column {column!r}; it has: {', '.join(map(str, self.table.columns))}"
            )

    def _with(self, table: pd.DataFrame) -> "Manifest":
        return Manifest(table.reset_index(drop=True), self.root, self.outside)
