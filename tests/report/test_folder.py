"""A folder of reports: names of files are safe whatever the inputs are called, and no report replaces another."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from forensix.errors import UsageError
from forensix.report import Report, ReportFolder
from forensix.report.folder import safe_name

HOSTILE = [
    "../../../etc/cron.d/job",
    "..\\..\\boot.ini",
    "index",
    "INDEX",
    "index.html",
    "",
    ".",
    "..",
    ".bashrc",
    "-rf",
    "a\nb\x00c\u202egpj.exe",
    '"><script>alert(1)</script>',
    "$(reboot).jpg",
    "é" * 300,
    "\udce9.jpg",
    "nul",
    "con.wav",
    "photo.jpg",
    "PHOTO.JPG",
    "photo.jpg-2",
    "https://example.org/photo.jpg?size=1",
]


def report(name: str) -> Report:
    return Report(input=name, name=name, error="it cannot be opened")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_a_plain_file_in_the_folder(name: str) -> None:
    safe = safe_name(name)
    assert safe == Path(safe).name and safe[0] not in ".-" and safe[-1] != "."
    assert all(c.isalnum() or c in "._-" for c in safe) and len(safe.encode()) <= 130


def test_every_report_has_files_of_its_own_which_the_index_links(tmp_path: Path) -> None:
    with ReportFolder(tmp_path / "out") as folder:
        pages = [folder.add(report(name)) for name in HOSTILE]
    assert len({page.name.casefold() for page in pages}) == len(HOSTILE)
    assert {path.parent for path in pages} == {tmp_path / "out"}
    assert len(list((tmp_path / "out").iterdir())) == 2 * len(HOSTILE) + 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    linked = {unquote(part.partition('"')[0]) for part in index.split('href="')[1:]}
    assert linked == {path.name for path in (tmp_path / "out").iterdir()} - {"index.html"}
    assert "<script>" not in index and "ended before" not in index
    assert "not that the file is authentic" in index, "as on the pages: many readers open nothing else"


def test_what_was_done_before_an_interrupt_is_linked(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), ReportFolder(tmp_path) as folder:
        folder.add(report("first.jpg"))
        raise KeyboardInterrupt
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "first.jpg.html" in index and "inputs that are not listed here were not analysed" in index


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        ReportFolder(tmp_path)
