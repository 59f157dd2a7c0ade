"""What a person does with a report in the explorer: save it, and compare it with the next; all by keyboard too."""

from pathlib import Path

import ipywidgets
import pytest

import forensix
from forensix.errors import UsageError
from tests.explorer.conftest import HOSTILE
from tests.explorer.test_explorer import QUICK, click, named, page_of, widgets


def test_a_report_is_saved_under_the_name_that_is_given(media: Path, tmp_path: Path) -> None:
    explorer = forensix.explore(media / "tone.wav", QUICK)
    report = explorer.run()
    assert report is not None
    path = named(explorer, ipywidgets.Text, "Save as")
    assert path.value == "tone.wav.html"
    path.value = str(tmp_path / "kept.html")
    click(explorer, "Save report")
    assert (tmp_path / "kept.html").read_text() == report.to_html()
    assert f"Saved as {tmp_path / 'kept.html'}." in page_of(explorer)
    click(explorer, "Save report")
    assert f"There is a file {tmp_path / 'kept.html'} already: name another." in page_of(explorer)
    path.value = str(tmp_path / "nowhere" / "a.html")
    click(explorer, "Save report")
    assert "There is no folder" in page_of(explorer)
    path.value = "~nobody-of-this-name/a.html"
    click(explorer, "Save report")
    assert "There is no folder ~nobody-of-this-name" in page_of(explorer)
    path.value = str(tmp_path / f"{'a' * 300}.html")
    click(explorer, "Save report")
    assert "The report cannot be written to" in page_of(explorer)
    assert "File name too long" in page_of(explorer) and "Errno" not in page_of(explorer)


def test_without_a_name_it_lies_here(media: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    explorer = forensix.explore(media / HOSTILE, QUICK)
    explorer.run()
    path = explorer.save()
    assert path.parent == Path() and path.is_file() and not set(path.name) & set("<>\u202e")


def test_two_files_are_compared(media: Path) -> None:
    explorer = forensix.explore(media / "tone.wav", QUICK)
    assert not [
        controls for controls in widgets(explorer, ipywidgets.Button) if controls.description == "Compare with the next"
    ]
    explorer.run()
    click(explorer, "Compare with the next")
    assert "Kept: tone.wav. Choose another file and run." in page_of(explorer)
    assert "Two files compared" not in page_of(explorer)
    explorer.open(media / "deeper" / "plain.png")
    explorer.run()
    text = page_of(explorer)
    assert "Two files compared" in text and "tone.wav" in text and "plain.png" in text
    click(explorer, "Stop comparing")
    assert "Two files compared" not in page_of(explorer) and explorer.kept is None


def test_a_script_is_told_that_there_is_no_report(media: Path) -> None:
    explorer = forensix.explore(media / "tone.wav", QUICK)
    for action in (explorer.save, explorer.keep):
        with pytest.raises(UsageError, match="there is no report"):
            action()


def test_whatever_takes_a_key_has_a_name(media: Path) -> None:
    explorer = forensix.explore(media, QUICK)
    explorer.open("tone.wav")
    explorer.run()
    for kind in (ipywidgets.Text, ipywidgets.Select, ipywidgets.Dropdown, ipywidgets.Checkbox, ipywidgets.Button):
        controls = list(widgets(explorer, kind))
        assert controls and all(item.description.strip() for item in controls), kind
