"""What a file records of its own past, as it is shown: nothing that the claims contradict, no record that hangs it."""

from typing import Any

import pytest

from forensix.metadata.facts import Fact, Facts
from forensix.tasks.evidence import Lineage, Stage, Table
from forensix.tasks.history import MAX_DEPTH, MAX_STAGES, history


def _facts(kind: str, *items: tuple[str, Any]) -> Facts:
    return Facts(kind, kind, tuple(Fact(key, value, "here", 0) for key, value in items))


def _manifest(label: str, *ingredients: str, active: bool = False, **more: Any) -> tuple[str, dict[str, Any]]:
    parts = [{"title": f"of {i}", "relationship": "parentOf", "active_manifest": i} for i in ingredients]
    return "c2pa.manifest", {"label": label, "title": label.upper(), "active": active, "ingredients": parts, **more}


def _count(stages: tuple[Stage, ...]) -> int:
    return sum(1 + _count(stage.parts) for stage in stages)


def test_credentials_are_a_tree_from_the_file_to_its_sources() -> None:
    step = {"action": "c2pa.color_adjustments", "agent": "Editor 1", "when": "2026-01-02T03:04:05+00:00", "source": ""}
    facts = _facts(
        "image",
        ("c2pa.state", "Valid"),
        _manifest("old"),
        _manifest("new", "old", "gone", active=True, signer="Ann", issuer="Org", actions=[step]),
        _manifest("stray"),
    )
    (output,) = history(facts)
    assert isinstance(output, Lineage)
    new, stray = output.stages
    assert new.title == "NEW (this file)" and ("hashes and signature hold", "benign") in new.marks
    assert ("signed by", "Ann (Org)") in new.rows
    assert new.steps == ("color adjustments: by Editor 1, at 2026-01-02 03:04:05+00:00",)
    assert [part.title for part in new.parts] == ["OLD", "of gone"]
    assert ("has no manifest of its own", "none") in new.parts[1].marks and ("parent of", "none") in new.parts[0].marks
    assert stray.marks[-1] == ("no version refers to it", "none")


@pytest.mark.parametrize(
    ("code", "mark"),
    [
        ("assertion.dataHash.mismatch", ("broken", "critical")),
        ("signingCredential.untrusted", ("signer not verified", "none")),
    ],
)
def test_the_state_is_that_of_the_claims(code: str, mark: tuple[str, str]) -> None:
    failure = {"code": code, "explanation": "said so", "url": "self#jumbf=/c2pa/new/c2pa.signature", "active": True}
    facts = _facts("image", ("c2pa.state", "Invalid"), _manifest("new", active=True), ("c2pa.failure", failure))
    (output,) = history(facts)
    assert mark in output.stages[0].marks and ("the check found", f"{code} (said so)") in output.stages[0].rows


def test_manifests_that_name_each_other_end() -> None:
    circle = history(_facts("image", _manifest("a", "b", active=True), _manifest("b", "a")))[0]
    assert _count(circle.stages) == 3
    assert circle.stages[0].parts[0].parts[0].marks[0] == ("its manifest is shown elsewhere", "none")
    chain = [_manifest(f"m{i:03}", f"m{i + 1:03}", active=i == 0) for i in range(300)]
    facts = history(_facts("image", *chain))[0]
    assert _count(facts.stages) <= 2 * MAX_STAGES
    depth, stages = 0, facts.stages
    while stages:
        depth, stages = depth + 1, stages[0].parts
    assert depth <= MAX_DEPTH + 2


def _revision(index: int, start: int, end: int, **more: Any) -> tuple[str, dict[str, Any]]:
    fields = {
        "index": index,
        "start_offset": start,
        "end_offset": end,
        "summary": f"s{index}",
        "named": [f"page {index}"],
    }
    return "pdf.revision", fields | more


def _signature(field: str, covered_to: int, **more: Any) -> tuple[str, dict[str, Any]]:
    return "pdf.signature", {"field": field, "covered_to": covered_to, "signer": "Ann", "intact": True} | more


def test_document_versions_tell_what_came_after_signing() -> None:
    facts = _facts(
        "pdf",
        _revision(1, 0, 100),
        _revision(2, 100, 250, content_changed=True),
        _signature("Sig1", 100, modification="other", modification_words="a page was replaced", allowed_kept=False),
    )
    (output,) = history(facts)
    first, second = output.stages
    assert ("bytes", "100 to 250 (0x64 to 0xfa), 150 bytes") in second.rows
    assert second.marks == (
        ("changes what the pages show", "suspect"),
        ("added after signing, not as the signature allows", "critical"),
    )
    assert second.steps == ("page 2",)
    assert ("after Sig1 signed", "a page was replaced; the signature does not allow it") in first.rows
    assert any(name == "signed in Sig1" and "the bytes it covers are unchanged" in text for name, text in first.rows)


def test_a_signature_that_allows_what_came_is_no_alarm() -> None:
    signed = _signature("Sig1", 100, modification="form_filling", changed_fields=["Name"], allowed_kept=True)
    (facts,) = history(_facts("pdf", _revision(1, 0, 100), _revision(2, 100, 250), signed))
    assert facts.stages[1].marks == (("added after signing", "none"),)
    assert ("after Sig1 signed", "form filling; fields Name; the signature allows it") in facts.stages[0].rows


def test_one_version_without_signature_has_no_history() -> None:
    assert history(_facts("pdf", _revision(1, 0, 100))) == ()
    assert len(history(_facts("pdf", _revision(1, 0, 100), _signature("S", 100)))) == 1


def test_saves_of_the_xmp_are_a_table() -> None:
    (table,) = history(_facts("image", ("xmp.history", [{"action": "saved", "changed": "/"}, "no step"])))
    assert (
        isinstance(table, Table) and table.columns == ("step", "changed") and table.rows == (("saved", "everything"),)
    )


@pytest.mark.parametrize("value", [None, "text", 7, {}, {"ingredients": None, "actions": None}, [1, 2]])
def test_records_of_any_shape_are_read(value: Any) -> None:
    keys = ("c2pa.manifest", "c2pa.failure", "pdf.revision", "pdf.signature", "xmp.history")
    displays = history(_facts("pdf", *((key, value) for key in keys)))
    assert all(isinstance(display, Lineage | Table) for display in displays)
