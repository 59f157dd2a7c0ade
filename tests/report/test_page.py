"""The page: nothing that a file says gets out of its place, and everything found is on it."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from forensix.errors import UsageError
from forensix.metadata.facts import Fact, Node
from forensix.report import Report, render_page, save_page
from forensix.report.embedded import safe
from forensix.report.page import coded, python_call, render_fragment
from forensix.schema import Claim, ClaimLists, DocumentDetails, FaceResult, ForensicResult
from forensix.tasks.evidence import Basis, Curve, FactList, Outcome, StructureMap, Table
from tests.report.parsed import ALLOWED, Page
from tests.report.samples import HOSTILE, picture


@pytest.fixture
def page(report: Report) -> Page:
    return Page(report.to_html())


def test_hostile_strings_stay_text(page: Page) -> None:
    assert page.tags <= ALLOWED
    assert not [a for a in page.attributes if a[1].startswith("on")]
    assert "<script>alert(1)</script>" in page.text, "markup in a file is shown, not dropped"
    assert "{{ 7*7 }}" in page.text and "49" not in page.text.split("{{ 7*7 }}")[0][-5:]


def test_hidden_characters_are_shown(report: Report) -> None:
    html = report.to_html()
    for output in ("[U+202E]", "[U+001B]", "[U+0007]", "[U+200B]", "[U+DC80]"):
        assert output in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html)


def test_only_pictures_of_ours_are_embedded(page: Page) -> None:
    sources = [value for tag, name, value in page.attributes if name in {"src", "xlink:href", "action"}]
    assert sources and all(safe(s, "picture") for s in sources)
    assert "Left out: not a JPEG or PNG picture." in page.text
    assert all(not value.startswith("javascript:") for _, _, value in page.attributes)


def test_nothing_is_fetched(report: Report) -> None:
    html = report.to_html()
    assert not re.search(r"(?i)https?://|//[a-z]|@import|url\(", html.replace("folder/", ""))


def test_policy_forbids_scripts_and_network(page: Page) -> None:
    policies = [v for tag, name, v in page.attributes if tag == "meta" and name == "content" and "default-src" in v]
    assert len(policies) == 1
    policy = dict(part.split(" ", 1) for part in policies[0].split("; "))
    assert policy["default-src"] == "'none'" and policy["img-src"] == "data:"
    assert not {"script-src", "connect-src", "frame-src"} & set(policy)


@pytest.mark.parametrize(
    "expected",
    [
        "ab" * 32,
        "1.23 MB",
        "640 × 480 px",
        "0, looks untouched",
        "looks manipulated from 0.61 on",
        "0.9987",
        "Face 1 carries the score.",
        "Limits of face-model",
        "Blind to small faces.",
        "face swap",
        "some-generator",
        "threshold 0.5",
        "highest 0.90, at 1 s",
        "Limits of file forensics.",
        "Critical: 1 claim",
        "Rests on 3 facts: what, where, and the bytes",
        "byte 21 (0x15), in",
        "00000015  3c 2f 70 72 65 3e",
        "Everything that was read from the file (3 rows)",
        "signed by",
        "made from",
        "Suspect: 1 claim",
        "not measured",
        "below the bounds",
        "above the bounds",
        "0xa–0x3c",
        "50 bytes from 10",
        "cd" * 32,
        "1.5 s",
        "2026-01-02 03:04:05 UTC",
        "How to read this",
        "Supplied with the request",
    ],
)
def test_what_was_found_is_on_the_page(page: Page, expected: str) -> None:
    assert expected in page.text


def test_pictures_have_alternatives_in_words(page: Page) -> None:
    images = sum(tag == "img" and name == "src" for tag, name, _ in page.attributes)
    alternatives = [value for tag, name, value in page.attributes if tag == "img" and name == "alt"]
    assert len(alternatives) == images == 4 and all(alternatives)
    assert page.attributes.count(("svg", "role", "img")) > 0


def test_a_picture_of_result_and_evidence_is_shown_once(report: Report) -> None:
    assert report.to_html().count(picture("JPEG", 10)) == 1


def test_several_reports_in_one_page(report: Report, real_report: Report, failed_report: Report) -> None:
    page = Page(render_page([report, real_report, failed_report]))
    assert "3 inputs" in page.text and "Not analysed" in page.text and "send a JPEG" in page.text
    assert {"input-1", "input-2", "input-3"} <= set(page.ids)


def test_a_cell_of_the_overview_is_one_block_beside_its_label(report: Report, real_report: Report) -> None:
    html = render_page([report, real_report])
    cells = re.findall(r'<td data-label="Why">(.*?)</td>', html, re.DOTALL)
    assert len(cells) == 2
    for cell in cells:
        depths = [cell[: m.start()].count("<div") - cell[: m.start()].count("</div") for m in re.finditer("<div", cell)]
        assert cell.startswith("<div>") and depths.count(0) == 1


def test_every_string_of_a_claim_is_escaped(report: Report) -> None:
    html = report.to_html()
    assert html.count("<script") == 0 and "onerror=alert" not in re.sub(r"onerror=alert\(1\)&gt;", "", html)
    titles = [text for text in re.findall(r"<title>(.*?)</title>", html, re.S) if "Damaged" in text]
    assert titles and all("<" not in title for title in titles)
    (fact,) = [row for row in re.findall(r'<li class="fx-fact">.*?</li>', html, re.S) if "</pre>" in row][:1]
    assert "&lt;/pre&gt;" in fact and fact.count("</pre>") == 1


def test_only_commands_of_ours_are_set_apart() -> None:
    from markupsafe import Markup, escape

    output = coded(escape("use `forensix extract-revisions`, not `<b>rm</b>` or `forensix <i>`"))
    assert output == "use <code>forensix extract-revisions</code>, not `&lt;b&gt;rm&lt;/b&gt;` or `forensix &lt;i&gt;`"
    assert isinstance(output, Markup)


def test_many_facts_and_pieces_keep_the_page_small() -> None:
    claims = tuple(
        Claim(claim=f"c{i}", explanation="e" * 600, type="metadata", user_category="origin", value=("v" * 500,) * 50)
        for i in range(60)
    )
    facts = tuple(Fact(f"key.{i}", "x" * 20_000, "where", i) for i in range(300))
    nodes = tuple(Node(f"n{i}", i * 10, 10, "", (Node("inner", i * 10, 5),)) for i in range(5000))
    evidence = (
        *(Basis(claim, tuple((fact, b"0" * 32) for fact in facts[:5])) for claim in claims),
        FactList(facts),
        StructureMap("map", 50_000, nodes),
    )
    lists = ClaimLists(suspect=claims)
    result = ForensicResult(claim_lists=lists, document_details=DocumentDetails(), red_flags={}, trigger_values={})
    html = Report(
        input="a", name="a", outcomes={"forensic_analysis": Outcome(result, None, evidence=evidence)}
    ).to_html()
    Page(html)
    assert len(html) < 6_000_000 and "(20,000 characters)" in html


def test_empty_reports(failed_report: Report) -> None:
    assert "No analysis was run" in Page(Report(input="a", name="a").to_html()).text
    assert "send a JPEG" in Page(failed_report.to_html()).text
    assert "No input was analysed." in Page(render_page([])).text


def test_a_page_says_how_to_read_what_is_on_it(report: Report, real_report: Report) -> None:
    both = Page(report.to_html()).text
    assert "A score runs from 0" in both and "Missing information proves nothing" in both
    assert "Inconclusive speaks for neither side" in both
    assert "Missing information proves nothing" not in Page(real_report.to_html()).text
    claims = Report(input="a", name="a", outcomes={"forensic_analysis": report.outcomes["forensic_analysis"]})
    for html in (claims.to_html(), claims._repr_html_()):
        assert "A score runs from 0" not in html and "Missing information proves nothing" in html


def test_the_models_whose_limits_are_folded_are_named_as_a_list(report: Report) -> None:
    models = tuple({"name": f"model-{n}", "limits": "Blind."} for n in (1, 2, 3))
    outcome = replace(report.outcomes["voice_analysis"], models=tuple(m["name"] for m in models))
    page = Page(Report("a", "a", outcomes={"voice_analysis": outcome}, models=models).to_html())
    assert "What model-1, model-2 and model-3 cannot do" in page.text


def test_errors_only() -> None:
    page = Page(Report(input="a", name="a", errors={"voice_analysis": "the sound cannot be decoded"}).to_html())
    assert "Failed" in page.text and "the sound cannot be decoded" in page.text and "Score" not in page.text


def test_without_a_score_there_is_no_bar_and_without_a_threshold_no_mark(real_report: Report) -> None:
    html = real_report.to_html()
    assert 'class="fx-meter-point"' in html and html.count('class="fx-meter-band') == 1 and "generated from" not in html
    none = Report(input="a", name="a", outcomes={"face_manipulation": Outcome(FaceResult(class_name="no_faces"), None)})
    assert 'class="fx-meter-point"' not in none.to_html() and "No faces" in none.to_html()


def test_an_uncalibrated_score_is_called_so(report: Report) -> None:
    models = ({**report.models[0], "calibrated": False},)
    alone = Report(
        input="a", name="a", outcomes={"face_manipulation": report.outcomes["face_manipulation"]}, models=models
    )
    assert "(not calibrated; looks manipulated from 0.61 on)" in Page(alone.to_html()).text


def test_a_score_in_the_band_is_inconclusive_and_the_band_is_drawn(report: Report) -> None:
    decided = report.outcomes["face_manipulation"]
    models = ({**report.models[0], "inconclusive": (0.4, 0.9)},)
    alone = Report(
        input="a",
        name="a",
        outcomes={"face_manipulation": replace(decided, inconclusive=True)},
        models=models,
    )
    html = alone.to_html()
    text = Page(html).text
    assert "Inconclusive" in text and "at least one face is judged" not in text
    assert "(inconclusive between 0.40 and 0.90)" in text and "manipulated from" not in text
    assert 'class="fx-meter-band fx-unsure" x="40.0%" y="5" width="50.0%"' in html
    assert alone.verdicts == {"face_manipulation": "inconclusive"}
    assert alone.to_wire("face_manipulation")["result"]["class_name"] == "fake"


def test_long_tables_and_strings_are_cut_and_say_so() -> None:
    cut = Table("t", ("c",), (("y" * 10_000,), *((str(i),) for i in range(1501))))
    outcome = Outcome(FaceResult(class_name="real"), 0.1, evidence=(cut,))
    page = Page(Report(input="a", name="a", outcomes={"face_manipulation": outcome}).to_html())
    assert "502 more rows are left out." in page.text and "(10,000 characters)" in page.text
    assert "y" * 4001 not in page.text


def test_a_long_curve_is_drawn_to_its_end() -> None:
    values = tuple(float(i % 7) for i in range(900))
    curve = Curve("c", tuple(i / 3 for i in range(900)), values, "x", "y")
    outcome = Outcome(FaceResult(class_name="real"), 0.1, evidence=(curve,))
    html = Report(input="a", name="a", outcomes={"face_manipulation": outcome}).to_html()
    (points,) = re.findall(r'points="([^"]*)"', html)
    assert len(points) > 4000 and re.fullmatch(r"[-0-9., ]+", points)
    assert float(points.split()[-1].split(",")[0]) > 990


def test_fragment_styles_stay_inside_it(report: Report) -> None:
    html = render_fragment(report)
    assert html == report._repr_html_()
    Page(html)
    css = re.search(r"<style>(.*?)</style>", html, re.S)
    assert css
    rules = re.findall(r"(?:^|[{}])\s*([^{}@]+)\{", re.sub(r"@media[^{]*", "", css[1]))
    selectors = [s.strip() for rule in rules for s in re.sub(r"\([^)]*\)", "", rule).split(",")]
    assert len(selectors) > 80
    assert [s for s in selectors if s and ".fx" not in s] == []
    assert "<html" not in html and "<body" not in html and not re.search(r"\sid=", html)


def test_a_page_that_cannot_be_written_is_said_in_a_sentence(report: Report, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder: name a file in it"):
        report.save_html(tmp_path)
    with pytest.raises(UsageError, match="is not there: make it"):
        report.save_html(tmp_path / "none" / "report.html")


def test_a_pipe_is_written_to_and_stays_what_it_is(report: Report, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(pipe.read_text, encoding="utf-8")
        save_page([report], pipe)
        assert reading.result(30).startswith("<!DOCTYPE html>")
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_page_is_written_in_one_step(report: Report, tmp_path: Path) -> None:
    path = report.save_html(tmp_path / "report.html")
    assert path.read_text(encoding="utf-8") == report.to_html()
    assert save_page([report], str(path), title="two & <b>") == path
    assert "two &amp; &lt;b&gt;" in path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_the_call_that_repeats_a_report_is_python(report: Report) -> None:
    call = python_call(report)
    compile(call, "call", "eval")
    assert "explain=True" in call and HOSTILE.encode("unicode_escape", "backslashreplace")[:8].decode() in call


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "javascript:alert(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/svg+xml;base64,PHN2Zz4=",
        "data:image/png;base64,PHNjcmlwdD4=",
        "data:image/png;base64,====",
        picture() + '" onload="alert(1)',
        picture() + "\n",
        picture().replace("image/png", "image/jpeg"),
    ],
)
def test_what_is_not_a_picture_is_refused(uri: str) -> None:
    assert not safe(uri, "picture")
    assert safe(picture(), "picture") and safe(picture("JPEG"), "picture")
