"""The explorer without a browser: what a script can call, and what a click on its widget does."""

import datetime as dt
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import numpy as np
import pytest

import forensix
from forensix.errors import MissingExtra, UsageError
from forensix.explorer import Explorer, looking
from forensix.explorer.running import STOPPED, Running
from forensix.media import Limits
from tests.explorer.conftest import HOSTILE

QUICK = ("forensic_analysis",)


def widgets(explorer: Explorer, kind: type) -> Iterator[Any]:
    """Yield the widgets of a kind that are shown, in order."""
    waiting: list[Any] = [explorer.widget]
    while waiting:
        item = waiting.pop(0)
        if item.layout.display == "none":
            continue
        if isinstance(item, kind):
            yield item
        waiting = [*getattr(item, "children", ()), *waiting]


def named(explorer: Explorer, kind: type, description: str) -> Any:
    return next(controls for controls in widgets(explorer, kind) if controls.description == description)


def page_of(explorer: Explorer) -> str:
    """Return the HTML that the widget shows, styles aside."""
    return "".join(
        controls.value for controls in widgets(explorer, ipywidgets.HTML) if not controls.value.startswith("<style>")
    )


def click(explorer: Explorer, description: str) -> None:
    named(explorer, ipywidgets.Button, description).click()


def test_a_script_opens_runs_and_reads(media: Path) -> None:
    explorer = forensix.explore(media, QUICK)
    assert explorer.files == (HOSTILE, "letter.txt", "tone.wav", "deeper/plain.png")
    explorer.open("deeper/plain.png")
    report = explorer.run()
    assert report is explorer.report
    assert report is not None and report.input == str(media / "deeper" / "plain.png")
    assert report.tasks == QUICK and explorer.message == ""
    assert isinstance(explorer, Explorer) and "plain.png" in repr(explorer)


def test_options_go_to_the_analysis(media: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    analyze = looking.analyze

    def told(*arguments: Any, **options: Any) -> Any:
        given.update(options)
        return analyze(*arguments, **options)

    monkeypatch.setattr(looking, "analyze", told)
    large, small = Limits(max_bytes=10**9), Limits(max_bytes=10)
    forensix.explore(media / "tone.wav", QUICK, limits=large, device="auto", batch_size=2).run()
    assert (given["limits"], given["device"], given["batch_size"]) == (large, "auto", 2)
    report = forensix.explore(media / "tone.wav", QUICK, limits=small).run()
    assert report is not None and report.codes == {"input": "limit_exceeded"}


def test_clicks_choose_a_file_and_run(media: Path) -> None:
    explorer = forensix.explore(media)
    named(explorer, ipywidgets.Text, "Find").value = "PLAIN"
    files = named(explorer, ipywidgets.Select, "Files")
    assert [label for label, _ in files.options] == ["deeper/plain.png"]
    files.index = 0
    assert explorer.source == str(media / "deeper" / "plain.png")
    for name in ("Face manipulation", "AI-generated picture", "Voice"):
        named(explorer, ipywidgets.Checkbox, name).value = False
    assert explorer.tasks == QUICK
    click(explorer, "Run")
    assert explorer.wait(60)
    assert "File forensics" in page_of(explorer) and "Claims" in page_of(explorer)
    assert "fx-busy" not in named(explorer, ipywidgets.Button, "Run")._dom_classes


def test_the_only_file_of_a_name_is_chosen_by_keys(media: Path) -> None:
    explorer = forensix.explore(media, QUICK)
    find, files = named(explorer, ipywidgets.Text, "Find"), named(explorer, ipywidgets.Select, "Files")
    find.value = "n"
    assert len(files.options) > 1 and explorer.source is None
    find.value = "plain"
    assert explorer.source == str(media / "deeper" / "plain.png") and files.index == 0
    report = explorer.run()
    find.value = "plain.png"
    assert explorer.report is report, "it is chosen already"
    find.value = "no such file"
    assert files.options == () and explorer.report is report


def test_the_list_marks_the_file_that_is_chosen_and_no_other(media: Path) -> None:
    explorer = forensix.explore(media, QUICK)
    files = named(explorer, ipywidgets.Select, "Files")
    files.index = explorer.files.index("tone.wav")
    explorer.open(b"sound", name="other.wav")
    assert files.index is None
    files.index = explorer.files.index("tone.wav")
    assert explorer.source == str(media / "tone.wav")
    explorer.open(media / "letter.txt")
    assert files.label == "letter.txt"


def test_hostile_names_are_escaped_wherever_they_stand(media: Path) -> None:
    explorer = forensix.explore(media, QUICK)
    labels = [label for label, _ in named(explorer, ipywidgets.Select, "Files").options]
    assert any("[U+202E]" in label for label in labels) and not any("\u202e" in label for label in labels)
    explorer.open(media / HOSTILE)
    explorer.run()
    assert "&lt;img src=x" in page_of(explorer)
    assert "<img src=x" not in page_of(explorer) and "\u202e" not in page_of(explorer)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("absent.jpg", "is not there"),
        ("  ", "Name a file"),
        ("empty", "no files in"),
        ("http://", "Choose"),
        ("~nobody-of-this-name/a.jpg", "is not there"),
        ("a" * 300, "cannot be opened: File name too long"),
    ],
)
def test_what_cannot_be_opened_is_told(tmp_path: Path, given: str, sentence: str) -> None:
    (tmp_path / "empty").mkdir()
    explorer = forensix.explore(str(tmp_path / given) if given in ("empty", "absent.jpg") else None, QUICK)
    place = named(explorer, ipywidgets.Text, "Where")
    if given not in ("empty", "absent.jpg", "http://"):
        explorer.open(given)
    if given == "http://":
        click(explorer, "Run")
    else:
        assert explorer.source is None
        explorer.run()
    assert sentence in explorer.message and sentence in page_of(explorer)
    assert place.value == ""


def test_a_file_that_is_no_medium_is_told_in_its_report(media: Path) -> None:
    explorer = forensix.explore(media / "letter.txt")
    report = explorer.run()
    assert report is not None and report.error is not None and "is text" in report.error
    assert "Not analysed" in page_of(explorer) and explorer.message == ""


def test_tasks_that_do_not_accept_an_input_are_passed_over(media: Path) -> None:
    explorer = forensix.explore(media / "tone.wav", ["ai_generated_image_detection", "forensic_analysis"])
    report = explorer.run()
    assert report is not None and report.tasks == QUICK
    explorer.tasks = ("ai_generated_image_detection",)
    report = explorer.run()
    assert report is not None and report.error is not None and "is audio" in report.error
    explorer.tasks = ()
    assert explorer.run() is None or explorer.message == "Tick at least one task."


def test_an_upload_is_analysed_under_its_name(media: Path) -> None:
    explorer = forensix.explore(tasks=QUICK)
    content = (media / "deeper" / "plain.png").read_bytes()
    upload = next(widgets(explorer, ipywidgets.FileUpload))
    now = dt.datetime.now(dt.UTC)
    file = {"name": "../<b>x.png", "type": "", "size": 1, "content": memoryview(content), "last_modified": now}
    upload.set_trait("value", (file,))
    assert explorer.name == "../<b>x.png" and "&lt;b&gt;x.png" in page_of(explorer)
    report = explorer.run()
    assert report is not None and report.kind == "image" and "<b>x" not in page_of(explorer)
    explorer.open(media / "tone.wav")
    upload.set_trait("value", (file,))
    assert explorer.source == content


class Slow:
    """Counts the pictures that it scored, and waits for ``go`` over each."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def score(self, rgb: np.ndarray) -> float:
        self.begun.set()
        assert self.go.wait(60)
        return 0.5

    def heatmap(self, rgb: np.ndarray) -> np.ndarray:
        return np.zeros(rgb.shape[:2])


def test_the_kernel_answers_while_an_analysis_runs_and_stop_ends_it(media: Path) -> None:
    slow = Slow()
    picture = media / "deeper" / "plain.png"
    explorer = forensix.explore(picture, ["ai_generated_image_detection", "forensic_analysis"], image_detector=slow)
    models = named(explorer, ipywidgets.Dropdown, "generated or not")
    assert models.value is slow and models.label == "Slow (given)"
    click(explorer, "Run")
    assert slow.begun.wait(60)
    run, running = named(explorer, ipywidgets.Button, "Run"), explorer.running
    # It keeps the focus, for whoever goes by keys, and does nothing.
    assert running.busy and not run.disabled and "fx-busy" in run._dom_classes
    click(explorer, "Run")
    assert explorer.running is running and running.busy
    assert 0 <= explorer.running.share < 1 and explorer.running.stage.startswith("AI-generated picture: ")
    click(explorer, "Stop")
    assert explorer.running.stopping and named(explorer, ipywidgets.Button, "Stop").disabled
    slow.go.set()
    assert explorer.wait(60)
    assert explorer.report is None and explorer.message == STOPPED and STOPPED in page_of(explorer)
    assert "fx-busy" not in run._dom_classes
    report = explorer.run()
    assert report is not None and report.scores["ai_generated_image_detection"] == 0.5 and explorer.message == ""


def test_what_is_opened_next_is_not_mixed_with_what_still_runs(media: Path) -> None:
    slow = Slow()
    tasks = ["ai_generated_image_detection"]
    explorer = forensix.explore(media / "deeper" / "plain.png", tasks, image_detector=slow)
    explorer.start()
    assert slow.begun.wait(60)
    earlier = explorer.running
    explorer.open(media / "tone.wav")
    assert not explorer.running.busy
    slow.go.set()
    assert earlier.wait(60)
    assert explorer.report is None and explorer.message == ""


class Rude:
    def score(self, rgb: np.ndarray) -> float:
        raise RuntimeError("<b>no</b>\nnever")


def test_a_component_that_breaks_is_one_sentence(media: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tasks = ["ai_generated_image_detection"]
    explorer = forensix.explore(media / "deeper" / "plain.png", tasks, image_detector=Rude())
    report = explorer.run()
    assert report is not None and "RuntimeError in test_explorer.py" in report.errors[tasks[0]]
    assert "&lt;b&gt;no" in page_of(explorer)
    assert capfd.readouterr().err == ""


def test_a_component_that_no_menu_has_is_offered(media: Path) -> None:
    explorer = forensix.explore(media / "deeper" / "plain.png", image_detector="./<b>mine")
    assert named(explorer, ipywidgets.Dropdown, "generated or not").value == "./<b>mine"
    assert explorer.run() is None and "<b>mine" in explorer.message and "<b>mine" not in page_of(explorer)


def test_progress_is_of_the_whole() -> None:
    observed: list[float] = []
    running = Running(lambda: observed.append(running.share))
    event = threading.Event()

    def work(progress: Any) -> Any:
        running.expect(("voice_analysis", "forensic_analysis"))
        progress("forensic_analysis", "reading", 0.5)
        assert running.stage == "File forensics: reading"
        event.set()
        time.sleep(0.01)

    running.start(work)
    assert running.wait(10) and event.is_set()
    assert 0.75 in observed


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(UsageError, match="no task named"):
        forensix.explore(tasks=["palmistry"])
    with pytest.raises(UsageError, match=r"tasks is a list of names: write tasks=\['forensic_analysis'\]"):
        forensix.explore(tasks="forensic_analysis")
    with pytest.raises(UsageError, match="no task has a component"):
        forensix.explore(crystal="ball")
    with pytest.raises(UsageError, match="no device 'abacus'"):
        forensix.explore(device="abacus")
    with pytest.raises(UsageError, match="batch_size is a whole number from 1 up, not 0"):
        forensix.explore(batch_size=0)
    with pytest.raises(UsageError, match="limits is a forensix"):
        forensix.explore(limits=10)
    with pytest.raises(UsageError, match="no evaluation is open"):
        forensix.explore().select(outcome="errors")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.explorer.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'forensix\[notebook\]'"):
        forensix.explore()


def test_only_so_many_files_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(5):
        (tmp_path / f"{i}.jpg").touch()
    monkeypatch.setattr("forensix.explorer.opening.MAX_FILES", 3)
    explorer = forensix.explore(tmp_path)
    assert explorer.files == ("0.jpg", "1.jpg", "2.jpg") and "are listed" in explorer.message


def test_the_notebook_gets_a_widget(media: Path) -> None:
    explorer = forensix.explore(media)
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/plain"] == repr(explorer), "the widget's own text is its style sheet"
    assert "application/vnd.jupyter.widget-view+json" in bundle
