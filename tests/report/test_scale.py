"""The scale: a score is shown between what 0 and what 1 mean, the same on a page and in a terminal."""

import re
from itertools import pairwise

import pytest

from forensix.report import Report
from forensix.report.scale import Scale, drawn, scale_of
from forensix.report.sections import sections
from forensix.schema import VoiceResult
from forensix.tasks.evidence import Outcome

ENDS = ("sounds recorded", "sounds synthetic")


def voice(score: float | None, *, undecided: bool = False, unjudged: bool = False, **card: object) -> Report:
    model = {"name": "m", "component": "spoof", "threshold": 0.8} | card
    outcome = Outcome(VoiceResult(class_name="real"), score, models=("m",), inconclusive=undecided, unjudged=unjudged)
    return Report(input="a", name="a", outcomes={"voice_analysis": outcome}, models=(model,))


@pytest.mark.parametrize(
    ("scale", "tones"),
    [
        (scale_of(0.5, ENDS, bounds=(0.2, 0.8), threshold=0.8), ["real", "unsure", "fake"]),
        (scale_of(0.5, ENDS, threshold=0.8), ["real", "fake"]),
        (scale_of(0.5, ENDS, bounds=(0.8, 0.8), threshold=0.8), ["real", "fake"]),
        (scale_of(0.5, ENDS), ["none"]),
    ],
)
def test_bands_cover_the_scale_without_a_gap(scale: Scale, tones: list[str]) -> None:
    assert [band.tone for band in scale.bands] == tones
    assert scale.bands[0].low == 0 and scale.bands[-1].high == 1
    assert all(a.high == b.low for a, b in pairwise(scale.bands))


def test_bounds_that_are_one_leave_nothing_inconclusive() -> None:
    (section,) = sections(voice(0.9, inconclusive=(0.575, 0.575)))
    assert section.scale is not None and section.scale.basis == "sounds synthetic from 0.57 on"


@pytest.mark.parametrize(
    ("score", "card", "shown", "basis"),
    [
        (0.1496, {"inconclusive": (0.153, 0.95)}, "0.150", "inconclusive between 0.153 and 0.950"),
        (0.9496, {"inconclusive": (0.153, 0.9499)}, "0.9496", "inconclusive between 0.1530 and 0.9499"),
        (0.8004, {}, "0.8004", "sounds synthetic from 0.8000 on"),
        (0.153, {"inconclusive": (0.153, 0.95)}, "0.15", "inconclusive between 0.15 and 0.95"),
    ],
)
def test_a_score_beside_a_bound_does_not_read_like_it(
    score: float, card: dict[str, object], shown: str, basis: str
) -> None:
    report = voice(score, **card)
    (section,) = sections(report)
    assert section.scale is not None and (section.scale.score_text, section.scale.basis) == (shown, basis)
    assert f"Score <strong>{shown}</strong>" in report.to_html() and basis in report.to_html()


def test_the_bounds_of_the_card_part_the_scale() -> None:
    (section,) = sections(voice(0.37, inconclusive=(0.25, 0.9)))
    assert section.scale is not None and section.scale.ends == ENDS
    assert section.scale.basis == "inconclusive between 0.25 and 0.90"
    open_ended = {(0.0, 1.0): "no score decides here", (0.0, 0.9): "inconclusive below 0.90"}
    for bounds, said in (open_ended | {(0.25, 1.0): "inconclusive above 0.25"}).items():
        assert scale_of(0.5, ("untouched", "manipulated"), bounds=bounds).basis == said
    assert sections(voice(0.37))[0].scale.basis == "sounds synthetic from 0.80 on"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("score", "meaning", "basis"),
    [
        (0.5, "real and fake media score like this", "inconclusive between 0.25 and 0.75"),
        (0.95, "what is there cannot be judged", "no score decides here"),
        (0.25, "what is there cannot be judged", "no score decides here"),
        (None, "what is there cannot be judged", None),
    ],
)
def test_what_stays_undecided_whatever_its_score_is_not_laid_to_the_score(
    score: float | None, meaning: str, basis: str | None
) -> None:
    (section,) = sections(voice(score, undecided=True, inconclusive=(0.25, 0.75)))
    assert (section.verdict.word, section.verdict.meaning) == ("Inconclusive", meaning)
    assert (section.scale.basis if section.scale else None) == basis


def test_of_what_cannot_be_judged_no_score_decides_though_it_lies_between_the_bounds() -> None:
    (section,) = sections(voice(0.5, undecided=True, unjudged=True, inconclusive=(0.25, 0.75)))
    assert section.verdict.meaning == "what is there cannot be judged"
    assert section.scale is not None and section.scale.basis == "no score decides here"


@pytest.mark.parametrize("score", [0.0, 0.249, 0.5, 0.95, 1.0])
def test_the_line_of_text_shows_the_point_and_the_bands_where_they_are(score: float) -> None:
    line = drawn(scale_of(score, ENDS, bounds=(0.25, 0.75)), 20, ascii_only=True)
    assert line.startswith("sounds recorded ") and line.endswith(" sounds synthetic")
    cells = line.removeprefix("sounds recorded ").removesuffix(" sounds synthetic")
    assert len(cells) == 20 and cells.index("O") == min(19, int(20 * score))
    assert set(cells[6:14]) <= {".", "O"} and set(cells[:4] + cells[16:]) <= {"-", "O"}


@pytest.mark.parametrize("score", [0.0, 0.148, 0.152, 0.913, 0.917, 1.0])
def test_the_point_on_a_page_lies_in_the_band_that_its_score_is_in(score: float) -> None:
    html = voice(score, inconclusive=(0.15, 0.915)).to_html()
    at = min(float(html.partition('class="fx-meter-point" cx="')[2].partition("%")[0]), 99.9)
    bands = re.findall(r'fx-meter-band fx-([a-z]+)" x="([0-9.]+)%" y="5" width="([0-9.]+)%"', html)
    (tone,) = (name for name, x, width in bands if float(x) <= at < float(x) + float(width))
    assert tone == ("real" if score < 0.15 else "fake" if score > 0.915 else "unsure")


def test_a_score_never_stands_beside_the_word_real() -> None:
    html = voice(0.37, inconclusive=(0.2, 0.8)).to_html()
    body = html.partition("<main")[2]
    assert "<strong>Sounds recorded</strong>" in body and "Real" not in body
    assert 'aria-label="Score 0.37 on a scale from 0, sounds recorded, to 1, sounds synthetic; inconclusive' in html
