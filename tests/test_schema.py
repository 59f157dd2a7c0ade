"""What the specification does not say of its objects; what it says is tested in `tests.service.test_specification`."""

import pytest
from pydantic import ValidationError

from forensix.schema import ClaimLists, DocumentDetails, FaceResult, ForensicResult, ImageResult

FORENSIC = {"claim_lists": ClaimLists(), "document_details": DocumentDetails(), "red_flags": {}, "trigger_values": {}}


@pytest.mark.parametrize("probability", [float("nan"), float("inf")])
def test_probabilities_are_numbers(probability: float) -> None:
    with pytest.raises(ValidationError):
        ImageResult(class_name="fake", class_probability=probability)


def test_claim_lists_always_have_three_keys() -> None:
    assert ForensicResult(**FORENSIC).to_wire()["claim_lists"] == {"critical": [], "suspect": [], "benign": []}


def test_red_flags_and_trigger_values_go_together() -> None:
    with pytest.raises(ValidationError, match="same keys"):
        ForensicResult(**{**FORENSIC, "red_flags": {"AI_GENERATED": "x"}})


def test_objects_are_frozen() -> None:
    result = FaceResult(class_name="real")
    with pytest.raises(ValidationError):
        result.class_name = "fake"
