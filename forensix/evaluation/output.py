"""The folder of an evaluation: what is finished, and what is kept while it runs."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from forensix.errors import UsageError, first_line
from forensix.evaluation.store import Store
from forensix.folders import check_folder, expanded
from forensix.importers.tables import need_pyarrow

if TYPE_CHECKING:
    from forensix.evaluation.result import Evaluation

SCORES, FRAMES, RESULT, PARTIAL = "scores.parquet", "frames.parquet", "result.json", "scores.partial.db"
_TEXT = {"sha256", "task", "component", "degradation", "level", "class_name", "error"}
_ODD = ("mixed", "integer", "interval", "period")
_OTHER_FLOATS = (np.float16, np.longdouble)
_SAME = ("task", "conditions", "settings", "manifest")


class Output:
    """A folder that an evaluation is written to; enter it before the work, `finish` it after.

    Raises
    ------
    UsageError
        It holds the result of another evaluation, or cannot be written.
    MissingExtra
        Parquet cannot be written here.
    """

    def __init__(self, folder: str | os.PathLike[str], info: Mapping[str, Any]) -> None:
        self.folder = check_folder(folder)
        need_pyarrow()
        _check_same(self.folder, info)
        self.store = Store(self.folder / PARTIAL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def finish(self, evaluation: "Evaluation") -> None:
        """Write the result and remove what was kept on the way."""
        write(evaluation, self.folder)
        self.store.delete()


def write(evaluation: "Evaluation", folder: str | os.PathLike[str]) -> Path:
    """Write an evaluation into a folder; ``result.json`` comes last, so that it stands for the whole."""
    need_pyarrow()
    folder = check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in ((SCORES, evaluation.scores), (FRAMES, evaluation.frames)):
            with _replaced(folder / name) as path:
                plain(table).to_parquet(path, index=False)
        info = {
            **evaluation.info,
            "overlap": evaluation.overlap.to_dict("records"),
            "failures": len(evaluation.failures),
        }
        with _replaced(folder / RESULT) as path:
            path.write_text(json.dumps(info, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the evaluation cannot be written to {folder}: {error.strerror or error}") from None
    return folder


def read(folder: str | os.PathLike[str]) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, Any], list[dict[str, Any]]]:
    """Return scores, frames, what is known of them, and the overlap that was found."""
    folder = expanded(folder)
    if not (folder / RESULT).is_file():
        if (folder / PARTIAL).is_file():
            raise UsageError(f"the evaluation in {folder} is not finished: call evaluate again as before, it goes on")
        raise UsageError(f"there is no evaluation in {folder}: it would hold {SCORES} and {RESULT}")
    need_pyarrow()
    try:
        info = _result(folder / RESULT)
        overlap = info.pop("overlap")
        info.pop("failures")
        tables = [pd.read_parquet(folder / name) for name in (SCORES, FRAMES)]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"the evaluation in {folder} is damaged: {first_line(error)}") from None
    for table in tables:
        for name in _TEXT & set(table.columns):
            text = table[name].astype(object)
            table[name] = text.where(text.notna(), None)
    return tables[0], tables[1], info, overlap


def _check_same(folder: Path, info: Mapping[str, Any]) -> None:
    path = folder / RESULT
    if not path.is_file():
        others = [name for name in (SCORES, FRAMES) if (folder / name).exists()]
        if others and not (folder / PARTIAL).is_file():
            raise UsageError(f"{folder / others[0]} is there and of no evaluation: name another folder, or move it")
        return
    try:
        there = _result(path)
        there = {**there, "components": _identities(there)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{path} is no result of an evaluation: name another folder") from None
    expected = json.loads(json.dumps({**info, "components": _identities(info)}))
    other = [key for key in (*_SAME, "components") if there.get(key) != expected[key]]
    if other:
        raise UsageError(
            f"{folder} holds an evaluation with another {' and '.join(other)}: name another folder, or delete it"
        )


def _identities(info: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each component is, by its name: a model that was trained anew keeps that of its folder."""
    return {name: one["identity"] for name, one in info["components"].items()}


def _result(path: Path) -> dict[str, Any]:
    fields = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(fields, dict):
        raise ValueError(f"{path.name} must hold a JSON object")
    return fields


@contextlib.contextmanager
def _replaced(path: Path):  # type: ignore[no-untyped-def]
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table that can be grouped by any column, and that Parquet takes.

    Lists, and other odd cells, become text; floats of unusual precision 64 bits; sparse columns dense.
    """
    table = table.copy(deep=False)
    for name in table.columns:
        dtype: Any = table[name].dtype
        if isinstance(dtype, pd.SparseDtype):
            table[name] = table[name].astype(dtype.subtype)
        if table[name].dtype in _OTHER_FLOATS:
            table[name] = table[name].astype(np.float64)
        elif _is_odd(table[name]):
            table[name] = table[name].astype(object).map(str, na_action="ignore")
    return table


def _is_odd(values: "pd.Series[Any]") -> bool:
    """Tell whether a column holds lists, unlike things, intervals, complex numbers, or whole ones beyond 64 bits."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _is_odd(values.cat.categories.to_series())
    if isinstance(values.dtype, pd.IntervalDtype):
        return True
    kind = pd.api.types.infer_dtype(values, skipna=True)
    return kind == "complex" or (values.dtype == object and kind.startswith(_ODD))
