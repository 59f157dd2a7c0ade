"""Two reports beside each other: what is shared, what differs, and nothing hostile gets out of its place."""

from dataclasses import replace
from pathlib import Path

import pytest

import forensix
from forensix.metadata.facts import Fact
from forensix.report import Report
from forensix.report.comparison import ABSENT, MAX_FACTS, compare, render_comparison
from forensix.schema import Claim, ClaimLists, DocumentDetails, ForensicResult
from forensix.tasks.evidence import FactList, Outcome
from tests.making import picture, write_image
from tests.report.parsed import ALLOWED, Page


def claim(text: str) -> Claim:
    return Claim(claim=text, explanation="e", type="metadata", user_category="origin", value=())


def forensic(name: str, lists: ClaimLists, *facts: Fact) -> Report:
    result = ForensicResult(claim_lists=lists, document_details=DocumentDetails(), red_flags={}, trigger_values={})
    outcome = Outcome(result, None, evidence=(FactList(facts),))
    return Report(input=name, name=name, kind="image", outcomes={"forensic_analysis": outcome})


def test_claims_are_of_both_or_of_one() -> None:
    first = forensic("a", ClaimLists(suspect=(claim("edited"),), benign=(claim("camera"),)))
    other = forensic("b", ClaimLists(critical=(claim("broken"),), benign=(claim("camera"),)))
    assert compare(first, other).claims == (
        ("critical", "broken", "second"),
        ("suspect", "edited", "first"),
        ("benign", "camera", "both"),
    )


def test_facts_that_differ_are_listed_and_the_others_counted() -> None:
    shared, lists = Fact("exif.Make", "Canon", "IFD0"), ClaimLists()
    first = forensic("a", lists, shared, Fact("exif.Model", "R5", "IFD0"), Fact("exif.ISO", 100, "Exif"))
    other = forensic("b", lists, shared, Fact("exif.Model", "R6", "IFD0"))
    comparison = compare(first, other)
    assert comparison.facts == (("exif.Model", "R5", "R6"), ("exif.ISO", "100", ABSENT)) and comparison.n_same == 1
    near = forensic("d", lists, shared, Fact("exif.Model", "R5", "IFD0"))
    assert "1 fact that differs; 2 are the same" in Page(render_comparison(first, near)).text
    assert "2 facts that differ; 1 is the same" in Page(render_comparison(first, other)).text
    many = forensic("c", lists, *(Fact(f"key.{i}", i, "x") for i in range(MAX_FACTS + 7)))
    assert len(compare(many, other).facts) == MAX_FACTS and compare(many, other).n_left_out == 9


def test_two_files_as_a_person_compares_them(tmp_path: Path) -> None:
    paths = [write_image(tmp_path / f"{side}.png", picture(side, 64)) for side in (64, 96)]
    first, other = (forensix.analyze(path, ["forensic_analysis"]) for path in paths)
    text = Page(render_comparison(first, other)).text
    assert "First: 64.png" in text and "Second: 96.png" in text and "64 × 64 px" in text and "96 × 64 px" in text
    assert "the first only" not in text.split("facts that differ")[1]


def test_a_task_that_ran_on_one_only_and_an_input_that_failed(real_report: Report, failed_report: Report) -> None:
    text = Page(render_comparison(real_report, failed_report)).text
    assert "not analysed" in text and "Looks photographed" in text and "send a JPEG" in text


def test_hostile_strings_stay_text(report: Report) -> None:
    page = Page(render_comparison(report, replace(report, name="b")))
    assert page.tags <= ALLOWED | {"div"} and not page.ids
    assert not [a for a in page.attributes if a[1].startswith("on")]
    assert "<script>alert(1)</script>" in page.text


@pytest.mark.parametrize("scheme", ["real_report", "report"])
def test_a_report_is_the_same_as_itself(scheme: str, request: pytest.FixtureRequest) -> None:
    item = request.getfixturevalue(scheme)
    comparison = compare(item, item)
    assert comparison.facts == () and all(whose == "both" for _, _, whose in comparison.claims)
    assert all(row[1] == row[2] for row in comparison.medium)
