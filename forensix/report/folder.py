"""Reports of many inputs in one folder: a page and a JSON file for each, and ``index.html``, which links them.

The names of the files follow those of the inputs, which are hostile: whatever could leave the folder, hide a file or
mean something to a shell or a browser becomes ``_``. Inputs of one name are numbered.

The JSON file is written last and stands for the whole, so that a run that was interrupted goes on with what is there.
"""

import contextlib
import os
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

from forensix.errors import UsageError
from forensix.folders import PART, alone, check_folder, write_whole
from forensix.forensics.findings import joined
from forensix.report import kept
from forensix.report.kept import Kept
from forensix.report.page import render_index, save_page
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
    It lists what was added, and the reports that were there and may be gone on with.

    Parameters
    ----------
    path
        Is made where it is not there.
    overwrite
        Without it the folder must be empty, or hold reports to go on with; with it, files of the same names are
        replaced and others stay.
    made_by
        What makes all reports of the folder (options, models, version), by name and as JSON holds it: reports that the
        same made are there to go on with. Without it none are.

    Raises
    ------
    UsageError
        The path is a file, this user may not write there, or ``overwrite`` is not set and the folder holds something
        but no report, or one that was made otherwise; in the ``with`` statement, that another process writes to it.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, made_by: Mapping[str, Any] | None = None
    ) -> None:
        self.path = check_folder(path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._made_by = made_by
        self._taken = {"index"}
        self._rows: list[dict[str, Any]] = []
        self._there = defaultdict[str, list[Kept]](list)
        self._alone = alone(self.path)
        if not overwrite:
            self._find()

    def __enter__(self) -> Self:
        self._alone.__enter__()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            # A run that ended before its first report leaves all as it was, so that it can be called again.
            if self._rows or error is None:
                for one in [one for of in self._there.values() for one in of]:
                    self.take(one)
                write_whole(self.path / INDEX, render_index(self._rows, ended_early=error is not None))
        finally:
            self._alone.__exit__(None, None, None)

    def add(self, report: "Report") -> Path:
        """Write the page and the JSON file of a report; return the page's path.

        The report of an input which failed earlier is replaced.
        """
        there = self._there[report.input]
        failed = next((one for one in there if not self._is_whole(one)), None)
        if failed is not None:
            there.remove(failed)
        name = self._free(safe_name(report.name)) if failed is None else failed.name
        self._json(name).unlink(missing_ok=True)
        page = save_page([report], self._page(name))
        write_whole(self._json(name), kept.text(report, self._made_by))
        self._list(report, name)
        return page

    def whole(self, sources: Iterable[str], content: Callable[[str], str | None]) -> list[Kept | None]:
        """Return for each input its report that is there, to be taken over; None where there is none, or it failed.

        ``content`` gives the SHA-256 that an input has now, None where that is not known.

        Raises
        ------
        UsageError
            An input has another content than the one that its report was made of.
        """
        seen = Counter[str]()
        found: list[Kept | None] = []
        for source in sources:
            there = [one for one in self._there.get(source, ()) if self._is_whole(one)]
            one = there[seen[source]] if seen[source] < len(there) else None
            seen[source] += 1
            if one is not None and content(source) not in (None, one.sha256):
                raise UsageError(
                    f"{source} is not what {self._json(one.name)} was made of any more: name another folder, move that"
                    " report away to have the file analysed anew, or replace all reports (--overwrite)"
                )
            found.append(one)
        return found

    def take(self, one: Kept) -> "Report":
        """List a report that is there, and return it without its evidence."""
        self._there[one.input].remove(one)
        report = kept.read(self._json(one.name))
        self._list(report, one.name)
        return report

    def _find(self) -> None:
        """Find the reports to go on with; what an interrupted run left half-written is none, and is replaced."""
        others = [path for path in self.path.iterdir() if not path.name.endswith(PART)]
        for path in sorted(others) if self._made_by is not None else ():
            if path.suffix != ".json":
                continue
            with contextlib.suppress(ValueError):
                one = kept.find(path)
                self._taken.add(path.stem.casefold())
                if one is not None:
                    self._there[one.input].append(one)
        if others and not self._there:
            raise UsageError(
                f"the folder {self.path} is not empty: name another, or replace files of the same names (--overwrite)"
            )
        for one in [one for of in self._there.values() for one in of]:
            if other := [name for name, value in (self._made_by or {}).items() if one.made_by.get(name) != value]:
                raise UsageError(
                    f"{self._json(one.name)} was made with another {joined(other)}: name another folder, or replace all"
                    " reports (--overwrite)"
                )

    def _list(self, report: "Report", name: str) -> None:
        # Pictures and sound stay with the page: an index of thousands must not hold them.
        headings = [Section(s.task, s.title, s.verdict) for s in sections(report)]
        entry = SimpleNamespace(name=report.name, input=report.input, headline=report.headline, error=report.error)
        self._rows.append({"report": entry, "sections": headings, "file": name, "anchor": ""})

    def _is_whole(self, one: Kept) -> bool:
        return not one.failed and self._page(one.name).is_file()

    def _page(self, name: str) -> Path:
        return self.path / f"{name}.html"

    def _json(self, name: str) -> Path:
        return self.path / f"{name}.json"

    def _free(self, name: str) -> str:
        """Return the name, numbered where it is taken, whatever the file system makes of capitals."""
        free, n = name, 1
        while free.casefold() in self._taken:
            n += 1
            free = f"{name}-{n}"
        self._taken.add(free.casefold())
        return free
