"""The rules of the specification's sections 2.1 to 2.5 on what is sent and what is left out."""

import pytest
from pydantic import ValidationError

from forensix.schema import (
    Attribution,
    AudioFeatures,
    Claim,
    ClaimLists,
    DocumentDetails,
    FaceExplanation,
    FaceResult,
    ForensicResult,
    ImageExplanation,
    ImageResult,
    Segment,
    Speaker,
    TaskReport,
    Track,
    VoiceResult,
)

FACE = {
    "bbox": (1, 2, 3, 4),
    "bbox_average_size": (2, 2),
    "class_name": "fake",
    "class_probability": 0.9,
    "face": "data:image/jpeg;base64,",
    "face_heatmap": "data:image/jpeg;base64,",
    "frame_idx": 0,
    "frame_ms": 0,
    "id": 1,
    "tracks": (Track(bbox=(1, 2, 3, 4), frame_idx=0, frame_ms=0, frame_rate=25),),
}
CLAIM = Claim(claim="c", explanation="e", type="dates", user_category="dates", value=("v",))
FORENSIC = {"claim_lists": ClaimLists(), "document_details": DocumentDetails(), "red_flags": {}, "trigger_values": {}}


def test_a_real_face_has_no_probability() -> None:
    assert FaceResult(class_name="real").to_wire() == {"class_name": "real"}
    with pytest.raises(ValidationError, match="class_probability"):
        FaceResult(class_name="real", class_probability=0.1)


def test_a_fake_face_has_a_probability() -> None:
    with pytest.raises(ValidationError, match="class_probability"):
        FaceResult(class_name="fake")


def test_no_faces_has_neither_probability_nor_explanation() -> None:
    assert FaceResult(class_name="no_faces").to_wire() == {"class_name": "no_faces"}
    with pytest.raises(ValidationError):
        FaceResult(class_name="no_faces", explanation=())


def test_manipulation_type_belongs_to_fake() -> None:
    with pytest.raises(ValidationError, match="fake only"):
        FaceResult(class_name="real", manipulation_type="faceswap")
    with pytest.raises(ValidationError):
        FaceResult(class_name="fake", class_probability=0.9, manipulation_type="other")


def test_a_face_explanation_carries_every_field() -> None:
    wire = FaceResult(class_name="fake", class_probability=0.9, explanation=(FaceExplanation(**FACE),)).to_wire()
    item = wire["explanation"][0]
    assert set(item) == set(FACE)
    assert item["tracks"] == [{"bbox": [1, 2, 3, 4], "frame_idx": 0, "frame_ms": 0, "frame_rate": 25}]


def test_a_real_face_beside_a_fake_one_has_no_probability() -> None:
    real = FaceExplanation(**{**FACE, "class_name": "real", "class_probability": None})
    assert "class_probability" not in real.to_wire()
    with pytest.raises(ValidationError):
        FaceExplanation(**{**FACE, "class_name": "real"})


def test_attribution_and_explanation_belong_to_a_fake_picture() -> None:
    assert ImageResult(class_name="real").to_wire() == {"class_name": "real"}
    for extra in (
        {"model_attribution": "sdxl"},
        {"model_attribution_probability": 0.4},
        {"model_attributions": (Attribution(model="sdxl", probability=1),)},
        {"explanation": ImageExplanation(heatmap="data:")},
    ):
        with pytest.raises(ValidationError, match="fake only"):
            ImageResult(class_name="real", **extra)


def test_generator_names_are_lowercase_identifiers() -> None:
    with pytest.raises(ValidationError):
        Attribution(model="Stable Diffusion", probability=0.5)


@pytest.mark.parametrize("probability", [-0.1, 1.1, float("nan"), float("inf")])
def test_probabilities_stay_in_range(probability: float) -> None:
    with pytest.raises(ValidationError):
        ImageResult(class_name="fake", class_probability=probability)


def test_no_speech_has_no_probability_and_no_speakers() -> None:
    assert VoiceResult(class_name="no_speech", transcript="").to_wire() == {"class_name": "no_speech", "transcript": ""}
    with pytest.raises(ValidationError):
        VoiceResult(class_name="no_speech", explanation=())


def test_a_real_voice_keeps_its_speakers_but_no_probability() -> None:
    speaker = Speaker(class_name="real", gender="unknown", speaker="speaker_1", segments=(Segment(start=0, end=1),))
    wire = VoiceResult(class_name="real", explanation=(speaker,)).to_wire()
    assert wire["explanation"][0]["segments"] == [{"start": 0, "end": 1}]
    assert "class_probability" not in wire["explanation"][0]


def test_audio_features_have_exactly_ten_keys() -> None:
    assert set(AudioFeatures.model_fields) == {
        "background_noise", "f0", "f1", "f2", "jitter", "naturalness", "pitch_consistency", "shimmer",
        "spectral_artifacts", "temporal_patterns",
    }  # fmt: skip


def test_claim_lists_always_have_three_keys() -> None:
    assert ForensicResult(**FORENSIC).to_wire()["claim_lists"] == {"critical": [], "suspect": [], "benign": []}


def test_claims_carry_five_fields() -> None:
    assert set(CLAIM.to_wire()) == {"claim", "explanation", "type", "user_category", "value"}


def test_red_flags_and_trigger_values_go_together() -> None:
    with pytest.raises(ValidationError, match="same keys"):
        ForensicResult(**{**FORENSIC, "red_flags": {"AI_GENERATED": "x"}})
    with pytest.raises(ValidationError):
        ForensicResult(**{**FORENSIC, "red_flags": {"OTHER": "x"}, "trigger_values": {"OTHER": ("x",)}})


def test_a_task_report_has_a_result_when_completed_and_an_error_when_failed() -> None:
    base = {"id": "1", "event_type": "voice_analysis_complete"}
    assert TaskReport(**base, status="in_progress").to_wire() == {**base, "status": "in_progress"}
    with pytest.raises(ValidationError):
        TaskReport(**base, status="completed")
    with pytest.raises(ValidationError):
        TaskReport(**base, status="failed")
    done = TaskReport(**base, status="completed", result=VoiceResult(class_name="real"))
    assert done.to_wire() == {**base, "status": "completed", "result": {"class_name": "real"}}


def test_objects_are_frozen_and_closed() -> None:
    result = FaceResult(class_name="real")
    with pytest.raises(ValidationError):
        result.class_name = "fake"
    with pytest.raises(ValidationError):
        FaceResult(class_name="real", score=0.2)
