"""Tables that people wrote: CSV, TSV, JSON lines and Parquet, with a sentence for each way in which they are none."""

import csv
import json
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from forensix.errors import MissingExtra, UsageError, first_line

JSON_LINES = (".jsonl", ".ndjson")
LINE = "line of the file"
"""What an index is called that counts rows as `with_lines` does."""
MANIFESTS = ("manifest.csv", "manifest.parquet")
"""What the table of a collection is called in its folder."""


def read_table(path: Path) -> pd.DataFrame:
    """Read a table by the ending of its name; see `read_csv`, `read_json_lines` and `read_parquet`."""
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq"):
        return read_parquet(path)
    return read_json_lines(path) if suffix in JSON_LINES else read_csv(path)


def read_csv(path: Path) -> pd.DataFrame:
    """Read a CSV or TSV file as text; what is no such table, or has longer rows, is a `UsageError`."""
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head:
        raise UsageError(f"{path.name} is no UTF-8 text: save the manifest as CSV in UTF-8")
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    first = (head.decode("utf-8", "replace").lstrip("\ufeff").splitlines() or [""])[0]
    # Spreadsheets end the line with commas, one for each column that is empty.
    names = [name for name in next(csv.reader([first], delimiter=separator), []) if name]
    if len(set(names)) < len(names):
        raise UsageError(f"{path.name} names a column twice: {first[:200]}")
    other = next((sign for sign in ";\t," if sign != separator and "label" in first.split(sign)), None)
    if other and "label" not in names:
        raise UsageError(f"{path.name} separates its columns by {other!r}: it must be {separator!r} in a {path.suffix}")
    options: dict[str, Any] = {"dtype": str, "sep": separator, "encoding": "utf-8-sig", "keep_default_na": False}
    options["na_values"] = [""]
    try:
        table: pd.DataFrame = pd.read_csv(path, **options)
        if not isinstance(table.index, pd.RangeIndex):
            # Where rows have more cells than the header pandas takes the first ones as names of the rows.
            _refuse_long_rows(path, separator)
            table = pd.read_csv(path, **options, index_col=False)
        return table
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is no UTF-8 text (byte {error.start}): save the manifest in UTF-8") from None
    except pd.errors.EmptyDataError:
        raise UsageError(f"{path.name} is empty: a manifest starts with the line path,label") from None
    except UsageError:
        raise
    except (pd.errors.ParserError, ValueError) as error:
        _refuse_long_rows(path, separator)
        raise UsageError(f"{path.name} cannot be read as a table: {first_line(error)}") from None


def _refuse_long_rows(path: Path, separator: str) -> None:
    """Name the first row with more cells than the header; empty ones at the end, which spreadsheets add, are none."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator)
        n = len(next(rows, []))
        try:
            line = next((rows.line_num for row in rows if any(row[n:])), None)
        except csv.Error:
            return
    if line is not None:
        raise UsageError(
            f"{path.name} has more than {n} cells in line {line}, but {n} columns: put quotes around text with"
            f" {separator!r} in it"
        )


def with_lines(table: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return what `read_csv` read with the lines in which rows begin as its index: empty lines are no rows, but count.

    Tables of other kinds have no lines and stay as they are, and so does one whose rows are not all told apart here.
    """
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".pq", *JSON_LINES):
        return table
    lines, before = [], 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter="\t" if suffix == ".tsv" else ",")
        try:
            for row in rows:
                if len(row) > 1 or any(map(str.strip, row)):
                    lines.append(before + 1)
                before = rows.line_num
        except csv.Error:
            return table
    return table.set_axis(pd.Index(lines[1:], name=LINE)) if len(lines) == len(table) + 1 else table


def read_json_lines(path: Path) -> pd.DataFrame:
    """Read a file with a JSON object a line, whose values are text, numbers, true, false or null."""
    rows: list[dict[str, Any]] = []
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict) or any(isinstance(value, dict | list) for value in row.values()):
                    raise UsageError(f"{path.name} holds no object of plain values in line {number}")
                if "\\u" in line:
                    # Half of a pair can be escaped, and is nothing that a table could hold.
                    json.dumps(row, ensure_ascii=False).encode()
                rows.append(row)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name} is no UTF-8 text (byte {error.start}): save the manifest in UTF-8") from None
    except UnicodeEncodeError:
        raise UsageError(f"{path.name} holds half of a surrogate pair in line {number}: text must be UTF-8") from None
    except UsageError:
        raise
    except (ValueError, RecursionError):
        raise UsageError(f"{path.name} holds no JSON in line {number}") from None
    if not rows:
        raise UsageError(f"{path.name} is empty: a manifest has an object with path and label in each line")
    return _plain(pd.DataFrame(rows))


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file; columns keep their types, but path and label."""
    need_pyarrow()
    import pyarrow as pa  # type: ignore[import-untyped]

    try:
        table = pd.read_parquet(path)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise UsageError(f"{path.name} is no Parquet file: {first_line(error)}") from None
    return _plain(table.reset_index(drop=True))


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    for name in ("path", "label"):
        if name in table:
            table[name] = table[name].astype(object)
    return table


def quoting(table: pd.DataFrame) -> Literal[0, 2]:
    """Return how `pandas.DataFrame.to_csv` must quote: all text where a carriage return is in it, which ends a row."""
    has_return = table.map(lambda cell: isinstance(cell, str) and "\r" in cell).any(axis=None)
    return csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL


def is_utf8(text: str) -> bool:
    """Tell whether a table can hold a text: not where it has half of a surrogate pair, as names of other codings do."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def need_pyarrow() -> None:
    """Raise `MissingExtra` where Parquet cannot be read or written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise MissingExtra("Parquet needs pyarrow: pip install 'forensix[data]'") from None
