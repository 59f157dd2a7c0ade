"""A whole task of another package, described once: route, event, client, report section and evaluation follow."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest

import forensix
from forensix.cli import doctor
from forensix.client import Client
from forensix.errors import UsageError
from forensix.evaluation import evaluate
from forensix.explorer import Explorer
from forensix.report.sections import sections
from forensix.schema import ImageResult, WireModel
from forensix.tasks import Outcome, describe, load_task, select_tasks, task_names
from forensix.tasks.catalogue import SPECIFIED
from forensix.tasks.evidence import Picture
from forensix.tasks.task import check_slots
from tests import packages as others
from tests.making import write_image
from tests.service.running import receiving, serving


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    site = tmp_path / "site"
    site.mkdir()
    others.install(site)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH", "")])))
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    others.forget()
    yield site
    others.forget()


def test_descriptions_are_true_of_the_tasks() -> None:
    for described in SPECIFIED:
        task = load_task(described.name)
        assert (task.name, task.accepts) == (described.name, described.accepts)
        assert describe(described.name) is described
        assert set(described.slots) == set(task.components) - {"transcript"}, "each menu is named in plain words"
        assert described.deciding_slot in {*task.components, None}
        assert described.gives_score == (described.deciding_slot is not None)


def test_a_task_that_nobody_installed_goes_by_its_name() -> None:
    unknown = describe("tea_leaves")
    assert (unknown.title, unknown.event, unknown.accepts) == ("Tea leaves", "tea_leaves_complete", frozenset())
    assert "tea_leaves" not in task_names()


def test_a_task_that_cannot_be_loaded_is_named_with_its_package(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "quick", raising=False)
    (packages / "quick.py").write_text("from forensix.tasks import Missing\n")
    with pytest.raises(UsageError, match=r"the task quick \(quick:QUICK of quick\) cannot be loaded: ImportError"):
        describe("quick")


DESCRIBED = "from forensix.tasks import TaskDescription\nIT = TaskDescription({}, frozenset({{'image'}}), {}, {})\n"
BROKEN = [
    ("other", "1 / 0", "ZeroDivisionError: division by zero"),
    ("other", "raise SystemExit(3)", "SystemExit: 3"),
    ("other", "IT = 5", "int is neither a TaskDescription nor the class of a task"),
    ("other", DESCRIBED.format("'mine'", "object", ""), "its description is that of 'mine'"),
    ("o/ther", DESCRIBED.format("'o/ther'", "object", ""), "a name is small letters, digits and underscores"),
    ("other", DESCRIBED.format("'other'", "object", "options=('loud',)"), "there is no option 'loud'; there are: "),
    ("other", DESCRIBED.format("'other'", "object", "event='a/b'"), "the name of an event is small letters"),
    (
        "other",
        DESCRIBED.format("'other'", "object", "event='voice_analysis_complete'"),
        "voice_analysis_complete is an event of the specification",
    ),
    ("other", DESCRIBED.format("'other'", "'no_such:It'", ""), "ModuleNotFoundError: No module named 'no_such'"),
    ("other", DESCRIBED.format("'other'", "object", ""), "object has no name"),
]


def offer(site: Path, name: str, code: str) -> None:
    """Install a package that has one task, in a module that no other test imported."""
    module = f"of_{site.parent.name}"
    (site / f"{module}.py").write_text(code)
    (site / "another-1.0.dist-info").mkdir()
    (site / "another-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: another\nVersion: 1.0\n")
    (site / "another-1.0.dist-info" / "entry_points.txt").write_text(f"[forensix.tasks]\n{name} = {module}:IT\n")
    others.forget()


@pytest.mark.parametrize(("name", "code", "why"), BROKEN)
def test_a_task_that_cannot_be_had_is_left_out_unless_it_is_named(
    packages: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, code: str, why: str
) -> None:
    offer(packages, name, code)
    write_image(tmp_path / "a.png")
    for _ in range(2):
        chosen, refused = select_tasks(None, SimpleNamespace(kind="image", written=None))  # type: ignore[arg-type]
        assert chosen[-1] == "quick" and refused == {}
        check_slots(["image_detector"])
    (warning,) = caplog.messages
    assert f"the task {name} (" in warning and f" of another) cannot be loaded: {why}" in warning
    with pytest.raises(UsageError, match=re.escape(f" of another) cannot be loaded: {why}")):
        forensix.analyze(tmp_path / "a.png", [name])
    assert len(caplog.messages) == 1
    (told,) = [part for part in doctor.tasks() if part.name == name]
    assert not told.there and why in told.detail
    assert [part.there for part in doctor.tasks() if part.name == "quick"] == [True]


def test_the_explorer_offers_what_can_be_had(packages: Path) -> None:
    offer(packages, "other", DESCRIBED.format("'other'", "'no_such:It'", ""))
    explorer = forensix.explore()
    assert isinstance(explorer, Explorer) and explorer.tasks[-1] == "quick"
    assert explorer.widget is not None


def test_the_second_task_of_an_event_is_left_out(packages: Path, caplog: pytest.LogCaptureFixture) -> None:
    offer(packages, "quicker", DESCRIBED.format("'quicker'", "object", "event='quick_look_complete'"))
    assert task_names()[-1] == "quick"
    assert "quick_look_complete is the event of quick" in caplog.text


@pytest.mark.parametrize(
    ("functions", "sentence"),
    [
        ({}, "cannot be loaded: AttributeError: 'types.SimpleNamespace' object has no attribute 'make'"),
        ({"make": lambda: None}, "has no method score: its function made a NoneType"),
    ],
)
def test_a_component_that_cannot_be_made_is_named_with_its_package(
    functions: dict[str, object], sentence: str, packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sharpness", SimpleNamespace(**functions))
    write_image(tmp_path / "a.png")
    error = forensix.analyze(tmp_path / "a.png", ["quick"]).errors["quick"]
    assert error == f"the image_detector component sharpness (sharpness:make of sharpness) {sentence}"


def test_a_task_that_returns_something_else_fails_alone(packages: Path, tmp_path: Path) -> None:
    write_image(tmp_path / "a.png")
    task = load_task("quick")
    vars(task)["run"] = lambda media, options: {"class_name": "real"}
    report = forensix.analyze(tmp_path / "a.png", ["quick"])
    assert report.errors["quick"] == "the task quick must return an Outcome, not a dict"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"result": {"class_name": "real"}}, "the result of a task must be a forensix.schema.WireModel, not a dict"),
        ({"score": 1.5}, "the score of a task must be a number from 0 to 1 or None, not 1.5"),
        ({"score": "high"}, "the score of a task must be a number from 0 to 1 or None, not 'high'"),
        ({"evidence": ("a word",)}, "the evidence of a task must be of Picture, Timeline, "),
        ({"evidence": (Picture("A", 5),)}, "a picture of a task must be a data URI, not a int"),  # type: ignore[arg-type]
        ({"notes": "a note"}, "the notes of a task must be a tuple of texts, not 'a note'"),
        ({"models": (5,)}, "the models of a task must be a tuple of texts, not (5,)"),
        ({"summary": None}, "the summary of a task must be text, not a NoneType"),
        ({"preview": b"data:"}, "the preview of a task must be text, not a bytes"),
        ({"result": ImageResult(class_name="real")}, "the result of this task is a QuickResult, not a ImageResult"),
        ({"value": float("nan")}, "the result of a task must be what JSON can hold: Out of range float values"),
        ({"value": np.float32(1)}, "the result of a task must be what JSON can hold: Unable to serialize unknown type"),
        ({"value": b"\xff"}, "the result of a task must be what JSON can hold: 'utf-8' codec can't decode byte"),
    ],
)
def test_a_task_that_returns_what_no_report_can_hold_fails_alone(
    fields: dict[str, Any], sentence: str, packages: Path, tmp_path: Path
) -> None:
    fields = dict(fields)
    write_image(tmp_path / "a.png")
    kind: Any = describe("quick").result
    result = kind.model_construct(class_name="real", smoothness=fields.pop("value", 1.0))
    made = Outcome(**({"result": result, "score": 0.1} | fields))
    vars(load_task("quick"))["run"] = lambda media, options: made
    report = forensix.analyze(tmp_path / "a.png", ["quick"])
    assert not report.outcomes and report.errors["quick"].startswith(sentence)


def test_a_deciding_slot_that_the_task_does_not_have_is_named(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    write_image(tmp_path / "real" / "a.png")
    monkeypatch.setitem(vars(describe("quick")), "deciding_slot", "sharp")
    with pytest.raises(UsageError, match="has 'sharp' decide; its slots are: image_detector"):
        evaluate(tmp_path, "quick")


def test_a_described_task_is_analysed_drawn_and_evaluated(packages: Path, tmp_path: Path) -> None:
    for label in ("real", "fake"):
        (tmp_path / "media" / label).mkdir(parents=True)
        write_image(tmp_path / "media" / label / "a.png")
    report = forensix.analyze(tmp_path / "media/real/a.png", ["quick"])
    wire = report.to_wire("quick")
    assert wire["event_type"] == "quick_look_complete" and set(wire["result"]) >= {"class_name", "smoothness"}
    (section,) = sections(report)
    assert section.title == "Smoothness" and section.displays and section.verdict.word in ("Too smooth", "Real")
    assert "Smoothness" in report.to_html()
    assert evaluate(tmp_path / "media", "quick", cache=False).scores["score"].notna().all()


@pytest.mark.slow
def test_a_described_task_is_served(packages: Path, tmp_path: Path) -> None:
    write_image(tmp_path / "a.png")
    private = {"private_hosts": "127.0.0.1,localhost"}
    with receiving() as receiver, serving(tmp_path / "service", **private) as service:
        name, password = service.account("anna")
        document = httpx.get(f"{service.base_url}/openapi.json", timeout=60).json()
        assert {"/tasks/quick", "/tasks/quick/{id}"} <= set(document["paths"])
        assert "smoothness" in json.dumps(document["components"]["schemas"])
        with Client.sign_in(service.base_url, name, password) as client:
            client.register_webhook("quick_look_complete", receiver.url())
            answer = client.analyze("quick", tmp_path / "a.png", explain=True)
            assert answer.status == "completed" and isinstance(answer.result, WireModel), answer.error
            assert type(answer.result) is describe("quick").result
            with pytest.raises(forensix.ForensixError, match="does not take transcribe"):
                client.create("quick", tmp_path / "a.png", transcribe=True)
        (delivery,) = receiver.wait()
        assert json.loads(delivery.body) == answer.to_wire()
