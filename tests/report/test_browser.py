"""The page in a browser: nothing runs, nothing is fetched, nothing sticks out, and paper shows what is folded."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forensix.folders import write_whole
from forensix.report import Report, save_page
from forensix.report.comparison import render_comparison
from forensix.report.page import render_fragment, styles
from forensix.schema import VoiceResult
from forensix.tasks.evidence import Curve, Outcome, Span, Timeline
from forensix.tasks.voice_evidence import recording
from tests.making import tone

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


@pytest.mark.parametrize(("width_px", "shown"), [(1200, True), (390, False)])
def test_a_bar_too_short_for_its_score_shows_none(browser: Any, width_px: int, shown: bool, tmp_path: Path) -> None:
    spans = (Span("voice", 0, 7, "", 0.96), Span("voice", 40, 90, "", 0.12))
    outcome = Outcome(VoiceResult(class_name="real"), 0.1, evidence=(Timeline("Who", 100.0, spans),))
    path = Report(input="a", name="a", outcomes={"voice_analysis": outcome}).save_html(tmp_path / "page.html")
    page = browser.new_page(viewport={"width": width_px, "height": 800})
    page.goto(path.as_uri())
    assert page.locator("svg text", has_text="0.96").is_visible() is shown
    box = (
        "[...document.querySelectorAll('.fx-lane text')].map(t => [t.getBBox(), t.closest('svg').width.baseVal.value])"
    )
    for text, room in page.evaluate(f"{box}.map(([b, w]) => [b.x + b.width, w])"):
        assert text <= room
    page.close()


def test_on_a_phone_what_a_cell_holds_stands_beside_its_label(
    browser: Any, report: Report, real_report: Report, tmp_path: Path
) -> None:
    whole = save_page([report, real_report], tmp_path / "page.html")
    beside = write_whole(tmp_path / "two.html", f"<style>{styles()}</style>{render_comparison(report, real_report)}")
    for path in (whole, beside):
        page = browser.new_page(viewport={"width": 390, "height": 800})
        page.goto(path.as_uri())
        cells = page.evaluate(
            """[...document.querySelectorAll('.fx-table:not(.fx-claim-table) td[data-label]:not([data-label=""])')]
            .filter(cell => cell.checkVisibility())
            .map(cell => [...cell.childNodes].filter(node => node.textContent.trim()).map(node => {
                const held = document.createRange();
                held.selectNodeContents(node);
                return held.getBoundingClientRect().left - cell.getBoundingClientRect().left;
            }))"""
        )
        assert cells and all(left > 60 for cell in cells for left in cell), path.name
        page.close()


def test_the_overview_of_inputs_does_not_break_a_short_name(
    browser: Any, report: Report, real_report: Report, tmp_path: Path
) -> None:
    named = [replace(one, name="credentials.png", input="credentials.png") for one in (report, real_report)]
    path = save_page(named, tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(path.as_uri())
    assert page.evaluate("document.querySelector('.fx-nav td a bdi').getClientRects().length") == 1
    page.close()


def test_code_looks_in_a_notebook_as_on_a_page(browser: Any, report: Report, tmp_path: Path) -> None:
    around = (
        "<style>.jp-ThemedContainer .jp-RenderedHTMLCommon :not(pre) > code { background: grey; padding: 9px; }"
        ".jp-ThemedContainer .jp-RenderedHTMLCommon pre { border: 0; padding: 0; }</style>"
        '<body class="jp-ThemedContainer"><div class="jp-RenderedHTMLCommon">'
    )
    path = write_whole(tmp_path / "notebook.html", f"{around}{render_fragment(report)}</div></body>")
    page = browser.new_page()
    page.goto(path.as_uri())
    style = "getComputedStyle(document.querySelector('{}')).{}"
    assert page.evaluate(style.format(".fx dd code", "backgroundColor")) == "rgba(0, 0, 0, 0)"
    assert page.evaluate(style.format(".fx dd code", "paddingLeft")) == "0px"
    assert page.evaluate(style.format(".fx-command", "borderTopWidth")) == "1px"
    assert page.evaluate(style.format(".fx-command", "paddingTop")) != "0px"
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


def until(page: Any, said: str) -> None:
    """Wait until an expression is true; the page's policy keeps the browser from waiting for it by itself."""
    for _ in range(100):
        if page.evaluate(said):
            return
        page.wait_for_timeout(50)
    raise AssertionError(said)


def test_a_player_moves_a_line_over_every_display_on_its_time(browser: Any, tmp_path: Path) -> None:
    samples = (32767 * tone(2.0)).astype("int16")
    curve = Curve("Score by frame", (0.5, 1.5), (0.1, 0.2), "time (s)", "score")
    outcome = Outcome(VoiceResult(class_name="real"), 0.1, evidence=(*recording(samples, (), 0.5), curve))
    path = Report(input="a", name="a", outcomes={"voice_analysis": outcome}).save_html(tmp_path / "page.html")
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(path.as_uri())
    until(page, "document.querySelector('audio').readyState >= 1")
    places = "[...document.querySelectorAll('.fx-cursor')].map(c => [c.style.left, c.hidden])"
    page.evaluate("document.querySelector('audio').currentTime = 1")
    until(page, "document.querySelector('.fx-following') !== null")
    # The waveform, the spectrogram, and a curve that begins later and ends earlier.
    assert page.evaluate(places) == [["50%", False], ["50%", False], ["50%", False]]
    page.evaluate("document.querySelector('audio').currentTime = 1.75")
    until(page, "document.querySelectorAll('.fx-cursor')[2].hidden")
    page.locator(".fx-spectrogram").click(position={"x": 1, "y": 20})
    assert page.evaluate("document.querySelector('audio').currentTime") < 0.1
    page.emulate_media(media="print")
    assert not page.locator("audio").is_visible(), "paper does not play"
    assert page.locator(".fx-spectrogram").is_visible()
    assert said == []
    page.close()
