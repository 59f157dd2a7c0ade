"""The bar of a long run: few words to a notebook, the last one always."""

from typing import Any

import pytest

from forensix import progress


class Handle:
    def __init__(self) -> None:
        self.outputs: list[str] = []

    def update(self, html: Any, raw: bool = False) -> None:
        self.outputs.append(html if raw else html.data)


def test_a_notebook_is_told_now_and_then_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = Handle()
    monkeypatch.setattr(progress, "_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: handle)
    with progress.bar() as tell:
        for i in range(1, 1001):
            tell("task", f"{i} of 1000 <files>", i / 1000)
    assert len(handle.outputs) == 2
    assert handle.outputs[-1] == '<progress value="1.000"></progress> task: 1000 of 1000 &lt;files&gt;'


def test_a_bar_that_does_not_last_leaves_an_output_that_pages_of_notebooks_can_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handle = Handle()
    monkeypatch.setattr(progress, "_kernel", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: handle)
    with progress.display(True, lasting=False) as tell:
        tell("task", "looking", 0.5)
    assert handle.outputs[-1] == {"text/plain": ""}


def test_a_terminal_gets_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.bar() as tell:
        tell("task", "3 of 3 files", 1.0)
    assert "task: 3 of 3 files" in capsys.readouterr().err
