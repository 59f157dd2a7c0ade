"""Claims as shown: numbered, with places and bytes; the same numbers on the page and in the tables."""

import time
from pathlib import Path

import pytest

from forensix.metadata.facts import Fact, Node
from forensix.report import Report, hex_view
from forensix.report.claims import claim_views, cut, fact_rows, hex_lines, said
from forensix.schema import Claim, ClaimLists, DocumentDetails, FaceResult, ForensicResult
from forensix.tasks.evidence import Basis, FactList, Outcome, StructureMap

SOFTWARE = Fact("exif.Software", "GIMP 2.10", "IFD0 tag 0x0131", 30)
MEASURED = Fact("pixels.copies", {"area_px": 40, "empty": None, "shift": [[1, 2], [3, 4]]}, "decoded picture")
UNUSED = Fact("file.size", 100, "file", 0)


def _claim(text: str) -> Claim:
    return Claim(claim=text, explanation="because", type="software", user_category="editing", value=("v",))


@pytest.fixture
def outcome() -> Outcome:
    first, second = _claim("critical"), _claim("benign")
    lists = ClaimLists(critical=(first,), benign=(second,))
    return Outcome(
        ForensicResult(claim_lists=lists, document_details=DocumentDetails(), red_flags={}, trigger_values={}),
        None,
        evidence=(
            Basis(first, ((SOFTWARE, b"GIMP"), (MEASURED, b""))),
            Basis(second, ((SOFTWARE, b"GIMP"),)),
            StructureMap("map", 100, (Node("APP1", 10, 50, "", (Node("IFD0", 20, 20),)),)),
            FactList((UNUSED, SOFTWARE)),
        ),
    )


def test_facts_lead_to_place_and_bytes(outcome: Outcome) -> None:
    first, second = claim_views(outcome)
    assert (first.number, first.severity, second.number, second.severity) == (1, "critical", 2, "benign")
    software, measured = first.facts
    assert software.value == "GIMP 2.10" and software.rows == ()
    assert software.place == "byte 30 (0x1e), in APP1 › IFD0: 20 bytes from 20 (0x14)"
    assert software.dump.startswith("0000001e  47 49 4d 50") and software.dump.endswith("GIMP")
    assert measured.rows == (("area px", "40"), ("shift", "1, 2\n3, 4")) and not measured.place and not measured.dump
    assert first.offsets == (30,)


def test_of_very_many_facts_the_first_are_shown_and_all_are_counted() -> None:
    claim, n = _claim("critical"), 30_000
    facts = tuple((Fact(f"png.text {i}", "GIMP", "tEXt chunk", 100 * i), b"GIMP") for i in range(n))
    lists = ClaimLists(critical=(claim,))
    result = ForensicResult(claim_lists=lists, document_details=DocumentDetails(), red_flags={}, trigger_values={})
    pieces = StructureMap("map", 100 * n, tuple(Node("tEXt", 100 * i, 100) for i in range(n)))
    outcome = Outcome(result, None, evidence=(Basis(claim, facts), pieces))
    started = time.process_time()
    (view,) = claim_views(outcome)
    assert time.process_time() - started < 5
    assert view.n_facts == len(view.offsets) == n
    assert [fact.name for fact in view.facts] == [f"png.text {i}" for i in range(60)]
    page = Report(input="a.png", name="a.png", outcomes={"forensic_analysis": outcome}).to_html()
    assert "Rests on 30,000 facts" in page and f"{n - 60} more are in the table" in page


def test_results_without_claims_have_none() -> None:
    assert claim_views(Outcome(FaceResult(class_name="no_faces"), None)) == ()


def test_tables_have_the_numbers_of_the_page(outcome: Outcome) -> None:
    report = Report(input="a.jpg", name="a.jpg", outcomes={"forensic_analysis": outcome})
    claims = report.claims()
    assert list(claims["number"]) == [1, 2] and list(claims["n_facts"]) == [2, 1]
    facts = report.facts()
    assert list(facts["fact"]) == ["file.size", "exif.Software", "pixels.copies"]
    assert list(facts["claims"]) == [(), (1, 2), (1,)]
    assert list(report.facts(claim=2)["fact"]) == ["exif.Software"]
    assert set(facts["name"]) == {"a.jpg"}
    assert [row[4] for row in fact_rows(outcome)] == ["", "1, 2", "1"]


def test_a_hex_view_is_that_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(bytes(range(64)))
    lines = hex_view(path, 30, 20).splitlines()
    assert lines[0] == f"0000001e  {bytes(range(30, 46)).hex(' ')}  .. !\"#$%&'()*+,-"
    assert lines[1].startswith("0000002e  2e 2f 30 31 ") and lines[1].endswith("./01")
    assert hex_view(path, 1000) == hex_lines(b"", 0) == ""


def test_values_are_said_and_cut() -> None:
    assert said({"on": True, "off": False, "none": None, "list": [1, "a"], "data": b"xyz"}) == (
        "on: yes; off: no; list: 1, a; data: 3 bytes"
    )
    assert cut("x" * 300) == "x" * 300
    assert cut("x" * 1000).endswith("… (1,000 characters)") and len(cut("x" * 1000)) < 330
