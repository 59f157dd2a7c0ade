"""What a page owes to those who read it by ear, by keyboard, or without telling colours apart.

A browser's checker finds more; this holds what follows from the page's text alone.
"""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from forensix.report import Report, render_page
from forensix.report.page import render_fragment
from forensix.report.structure import KINDS


class Outline(HTMLParser):
    """Collects headings, links, ids, and each element with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, *tags: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture
def page(report: Report, real_report: Report, failed_report: Report) -> Outline:
    return Outline(render_page([report, real_report, failed_report]))


def test_the_page_says_its_language_and_its_title(page: Outline) -> None:
    assert page.all("html")[0]["lang"] == "en" and page.all("title") and len(page.all("main")) == 1


def test_headings_go_down_one_step_at_a_time(page: Outline, report: Report) -> None:
    for outline, first in ((page, 1), (Outline(render_fragment(report)), 2)):
        levels = [int(tag[1]) for tag, _ in outline.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == first
        assert all(b <= a + 1 for a, b in pairwise(levels)), levels


def test_every_link_leads_somewhere_on_the_page(page: Outline) -> None:
    targets = [attributes["href"] for attributes in page.all("a")]
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids)) and len(targets) > 6
    assert {target.removeprefix("#") for target in targets} <= set(ids)
    assert all(target.startswith("#") for target in targets)


def test_a_fragment_has_no_links_because_a_notebook_holds_many(report: Report) -> None:
    fragment = Outline(render_fragment(report))
    assert not fragment.all("a") and not [a for _, a in fragment.elements if "id" in a]


def test_what_is_drawn_is_told_in_words_or_hidden(page: Outline) -> None:
    pictures = page.all("img")
    assert pictures and all(picture.get("alt") for picture in pictures)
    for tag, attributes in page.elements:
        if attributes.get("role") in ("img", "region") or tag in ("audio", "video", "nav"):
            assert attributes.get("aria-label"), (tag, attributes)


def test_what_scrolls_can_be_reached_by_keyboard(page: Outline) -> None:
    boxes = [a for _, a in page.elements if a.get("class", "").split()[:1] in (["fx-scroll"], ["fx-dump"])]
    assert boxes and all(a.get("tabindex") == "0" for a in boxes)
    assert not [a for _, a in page.elements if int(a.get("tabindex", 0)) > 0]


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_marks_have_contrast_enough(scheme: str, real_report: Report) -> None:
    block = next(b for b in real_report.to_html().split(" color-scheme: ")[1:] if b.startswith(f"{scheme};"))
    colours = dict(re.findall(r"--fx-([a-z0-9-]+): (#[0-9a-f]{6})", block.split("}")[0]))
    tones = ("fake", "real", "suspect", "none")
    pairs = [(ink, paper) for ink in ("ink", "dim", "accent") for paper in ("paper", "soft")]
    pairs += [(tone, paper) for tone in tones for paper in ("paper", f"{tone}-soft")]
    pairs += [(ink, f"{tone}-soft") for ink in ("ink", "dim") for tone in tones]
    pairs += [("ink", kind) for kind in KINDS if kind != "gap"]
    for ink, paper in pairs:
        assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)
    # The middle band of a scale is no text.
    assert contrast(colours["unsure"], colours["paper"]) >= 3
