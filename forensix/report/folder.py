"""Reports of many inputs in one folder: a page and a JSON file for each, and ``index.html``, which links them.

The names of the files follow those of the inputs, which are hostile: whatever could leave the folder, hide a file or
mean something to a shell or a browser becomes ``_``. Inputs of one name are numbered.
"""

import json
import os
import re
import unicodedata
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from forensix.errors import UsageError
from forensix.folders import check_folder
from forensix.report.page import render_index, save_page, write_whole
from forensix.report.sections import Section, sections

if TYPE_CHECKING:
    from forensix.report.report import Report

INDEX = "index.html"
_MOST_BYTES = 120
"""Of a name: file systems take 255 with what is appended."""

_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
"""Names that Windows gives to devices."""


def safe_name(name: str) -> str:
    """Return a file's name for the name, path or URL of an input, without folder and without ending.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("a b<script>.jpg"), safe_name(".."), safe_name("CON.png")
    ('passwd', 'a_b_script_.jpg', 'input', '_CON.png')
    """
    last = PurePosixPath(unicodedata.normalize("NFC", name).replace("\\", "/")).name
    clean = re.sub(r"[^\w.-]+", "_", last).strip(".-_ ")
    clean = clean.encode("utf-8", "ignore")[:_MOST_BYTES].decode("utf-8", "ignore").strip(".-")
    return f"_{clean}" if _DEVICES.match(clean) else clean or "input"


class ReportFolder:
    """A folder that reports are written to, one after the other; use it in a ``with`` statement.

    The index is written when the statement ends, also where that is by an error or an interrupt, which it then tells.

    Parameters
    ----------
    path
        Is made where it is not there.
    overwrite
        Without it the folder must be empty; with it, files of the same names are replaced and others stay.

    Raises
    ------
    UsageError
        The path is a file, this user may not write there, or the folder holds something and ``overwrite`` is not set.
    """

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.path = check_folder(path)
        self.path.mkdir(parents=True, exist_ok=True)
        if not overwrite and any(self.path.iterdir()):
            raise UsageError(
                f"the folder {self.path} is not empty: name another, or replace files of the same names (--overwrite)"
            )
        self._taken = {"index"}
        self._rows: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        write_whole(self.path / INDEX, render_index(self._rows, ended_early=error is not None))

    def add(self, report: "Report") -> Path:
        """Write the page and the JSON file of a report; return the page's path."""
        name = self._free(safe_name(report.name))
        page = save_page([report], self.path / f"{name}.html")
        write_whole(self.path / f"{name}.json", json.dumps(report.to_dict(), indent=2, allow_nan=False) + "\n")
        # Pictures and sound stay with the page: an index of thousands must not hold them.
        headings = [Section(s.task, s.title, s.verdict) for s in sections(report)]
        entry = SimpleNamespace(name=report.name, input=report.input, headline=report.headline, error=report.error)
        self._rows.append({"report": entry, "sections": headings, "file": name, "anchor": ""})
        return page

    def _free(self, name: str) -> str:
        """Return the name, numbered where it is taken, whatever the file system makes of capitals."""
        free, n = name, 1
        while free.casefold() in self._taken:
            n += 1
            free = f"{name}-{n}"
        self._taken.add(free.casefold())
        return free
