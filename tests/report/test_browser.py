"""The page in a browser: nothing runs, nothing is fetched, nothing sticks out, and paper shows what is folded."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forensix.report import Report, save_page

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as p:
        opened = p.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.mark.parametrize(("width_px", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light"), (320, "dark")])
def test_hostile_reports_are_only_shown(
    browser: Any, width_px: int, scheme: str, report: Report, failed_report: Report, tmp_path: Path
) -> None:
    path = save_page([report, failed_report], tmp_path / "page.html")
    page = browser.new_page(viewport={"width": width_px, "height": 800}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on(
        "request", lambda r: said.append(r.url) if r.url != path.as_uri() and not r.url.startswith("data:") else None
    )
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    assert page.evaluate("[...document.images].every(i => i.naturalWidth === 8)")
    assert said == []
    page.close()


def test_paper_shows_what_is_folded_on_screen(browser: Any, report: Report, tmp_path: Path) -> None:
    path = report.save_html(tmp_path / "page.html")
    page = browser.new_page()
    page.goto(path.as_uri())
    height = "[...document.querySelectorAll('details:not([open])')].map(d => d.getBoundingClientRect().height)"
    closed = page.evaluate(height)
    page.emulate_media(media="print")
    printed = page.evaluate(height)
    outermost = max(range(len(closed)), key=lambda i: printed[i] - closed[i])
    assert closed and printed[outermost] > closed[outermost] + 20
    page.close()
