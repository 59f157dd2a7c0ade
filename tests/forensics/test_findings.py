"""Findings become the specification's result; the deprecated blocks follow from them."""

from forensix.forensics.findings import VALUE_LENGTH, finding, literal, place, result
from forensix.metadata.facts import Fact


def make(severity: str, **kwargs: object):
    return finding(severity, "A claim", "Why.", "software", "editing", **kwargs)


def test_nothing_found_is_an_empty_result() -> None:
    wire = result(()).to_wire()
    assert wire["claim_lists"] == {"critical": [], "suspect": [], "benign": []}
    assert wire["red_flags"] == {} and wire["trigger_values"] == {}
    assert wire["document_details"] == {"source": "unknown"}


def test_flags_carry_the_values_that_raised_them() -> None:
    actual = [
        make("suspect", values=["Editor 1"], flags=["SUSPECT_SOFTWARE", "FILE_EDITED"]),
        make("suspect", values=["Editor 2", "Editor 1"], flags=["FILE_EDITED"]),
        make("benign", values=["quiet"]),
    ]
    output = result(actual)
    assert set(output.red_flags) == {"SUSPECT_SOFTWARE", "FILE_EDITED"}
    assert output.trigger_values["FILE_EDITED"] == ("Editor 1", "Editor 2")
    assert len(output.claim_lists.suspect) == 2 and len(output.claim_lists.benign) == 1


def test_the_origin_that_says_most_wins() -> None:
    camera = make("benign", details=[("source", "physical")])
    editor = make("suspect", details=[("source", "software")])
    generator = make("critical", details=[("source", "ai_generated")])
    assert result([camera]).document_details.source == "physical"
    assert result([camera, editor]).document_details.source == "software"
    assert result([camera, editor, generator]).document_details.source == "ai_generated"


def test_details_are_taken_over() -> None:
    output = result([make("benign", details=[("GPS_location", "1.0, 2.0"), ("password_protected", True)])])
    assert output.document_details.GPS_location == "1.0, 2.0"
    assert output.document_details.password_protected is True


def test_values_are_literal_printable_and_bounded() -> None:
    assert literal(b"\x01\xff") == "01 ff"
    assert "\x00" not in literal("a\x00b")
    assert len(literal("x" * 10_000)) == VALUE_LENGTH
    fact = Fact("exif.Software", "Editor", "EXIF IFD0 tag 0x0131", 190)
    assert make("suspect", facts=[fact]).claim.value == ("Editor",)
    assert place(fact) == "EXIF IFD0 tag 0x0131 at byte 190"
