"""The explorer in JupyterLab, in a browser: what a person clicks, and what is shown then."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forensix import Manifest, small
from forensix.synthetic.detector import forensix_image
from tests.explorer.lab import notebook, running_lab
from tests.report.test_browser import CHROMIUM, FLAGS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

SMALL = small.folder("images")
WAIT_MS = 90_000
MAKE = """
import forensix
evaluation = forensix.evaluate("dataset/manifest.csv", "ai_generated_image_detection", executor="here", cache=False)
"""


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    """Yield a notebook that is open in JupyterLab."""
    playwright = pytest.importorskip("playwright.sync_api")
    shutil.copytree(SMALL, tmp_path / "dataset")
    (tmp_path / "media").mkdir()
    shutil.copy(SMALL / "generated-0.jpg", tmp_path / "media" / "<b>bold.jpg")
    (tmp_path / "media" / "letter.txt").write_text("no picture")
    (tmp_path / "look.ipynb").write_text(notebook(MAKE + "forensix.explore('media')", "forensix.explore(evaluation)"))
    with running_lab(tmp_path) as address, playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1300, "height": 2400})
        page.set_default_timeout(WAIT_MS)
        page.goto(address.format(path="look.ipynb"))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        yield page
        browser.close()


def button(explorer: Any, name: str) -> Any:
    return explorer.get_by_role("button", name=name, exact=True)


def run_cell(page: Any, index: int) -> Any:
    """Run a cell and return the explorer that it shows."""
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").nth(index).click()
    page.keyboard.press("Control+Enter")
    explorer = page.locator(".jp-CodeCell").nth(index).locator(".fx-explorer")
    explorer.wait_for()
    return explorer


def n_missed() -> int:
    """Return how many of the generated pictures the detector misses, some of them; it calls no photograph fake."""
    detector = forensix_image()
    table = Manifest.read(SMALL / "manifest.csv").table
    called = np.array([detector.score(SMALL / path) for path in table["path"]]) >= detector.card.threshold
    fake = (table["label"] == "fake").to_numpy()
    assert not called[~fake].any() and not called[fake].all()
    return int((~called[fake]).sum())


def test_choose_run_and_read_then_browse_and_look(page: Any, tmp_path: Path) -> None:
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))

    files = run_cell(page, 0)
    files.locator(".widget-select select").select_option(label="letter.txt")
    files.get_by_text("letter.txt", exact=False).last.wait_for()
    button(files, "Run").click()
    files.get_by_text("letter.txt is text, not media").wait_for()
    files.locator(".widget-select select").select_option(label="<b>bold.jpg")
    files.get_by_text("Chosen: ").get_by_text("<b>bold.jpg").wait_for()
    files.get_by_label("Face manipulation").uncheck()
    button(files, "Run").click()
    report = files.locator(".fx-report")
    report.get_by_role("heading", name="<b>bold.jpg").wait_for()
    assert report.locator(".fx-verdict").count() == 2
    verdicts = ("Looks photographed", "Inconclusive", "Looks generated")
    assert report.locator(".fx-verdict strong").first.inner_text() in verdicts
    assert "Looked at" in report.inner_text() and report.locator("figure img").first.is_visible()
    claims = report.locator(".fx-claim-table")
    assert "Claim, and why" in claims.inner_text() and claims.locator(".fx-claim").count() > 0
    claims.get_by_text("Rests on").first.click()
    assert claims.locator(".fx-fact").first.is_visible()

    scores = run_cell(page, 1)
    scores.get_by_text("8 rows of 8").wait_for()
    assert scores.locator("img.fx-explorer-plot").is_visible()
    scores.get_by_label("Outcome").select_option(label="errors")
    missed = n_missed()
    scores.get_by_text(re.compile(f"{missed} rows? of 8: ▼ {missed} miss")).wait_for()
    scores.locator(".fx-rows tbody tr").nth(missed).wait_for(state="detached")
    names, rows = scores.locator(".fx-page-names button:visible"), scores.locator(".fx-rows tbody tr")
    for i in range(missed):
        # Each name stands beside its row.
        assert abs(names.nth(i).bounding_box()["y"] - rows.nth(i).bounding_box()["y"]) <= 2
    chosen = names.first.inner_text()
    names.first.press("Enter")
    scores.locator(".fx-report").get_by_role("heading", name=chosen).wait_for()
    assert re.search(r"called fake from 0\.\d+: ▼ miss", " ".join(scores.inner_text().split()))
    assert scores.locator(".fx-verdict strong").inner_text() == "Inconclusive"

    shot = tmp_path / "explorer.png"
    page.screenshot(path=shot)
    assert shot.stat().st_size > 20_000
    assert said == []
    assert page.locator(".jp-OutputArea-output[data-mime-type*=stderr]").count() == 0
