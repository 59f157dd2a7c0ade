"""The specification as data (``specification.py``) against itself, against ``forensix.schema`` and the limits."""

from typing import Any, get_args

import jsonschema
import pytest
from pydantic import ValidationError

from forensix import schema
from forensix.media.values import Limits
from forensix.tasks.catalogue import SPECIFIED
from tests.service import specification as spec
from tests.service.shapes import differences

MODELS = {
    "face_manipulation": schema.FaceResult,
    "ai_generated_image_detection": schema.ImageResult,
    "voice_analysis": schema.VoiceResult,
    "forensic_analysis": schema.ForensicResult,
}
FACE = {
    "bbox": [1, 2, 3.5, 4],
    "bbox_average_size": [2.5, 2],
    "class_name": "fake",
    "class_probability": 0.9,
    "face": "data:,",
    "face_heatmap": "data:,",
    "frame_idx": 0,
    "frame_ms": 0.5,
    "id": 1,
    "tracks": [{"bbox": [1, 2, 3, 4], "frame_idx": 0, "frame_ms": 0, "frame_rate": 25}],
}
FEATURE = {
    "is_outlier": False,
    "lower_bound": 1,
    "upper_bound": 2,
    "min_value": 0,
    "max_value": 3,
    "mean_value": 1.5,
    "sample_value": 1.2,
    "num_real_samples": 10,
    "percentile_rank": 40,
    "unit": "Hz",
}
SPEAKER = {
    "class_name": "fake",
    "class_probability": 1,
    "gender": "female",
    "gender_probability": 0.8,
    "speaker": "speaker_1",
    "transcript": "hello",
    "segments": [{"start": 0, "end": 1.5}],
    "audio_features": dict.fromkeys(spec.FEATURE_NAMES, FEATURE),
}
REAL_SPEAKER = {"class_name": "real", "gender": "unknown", "speaker": "s", "segments": [{"start": 0, "end": 1}]}
CLAIM = {"claim": "c", "explanation": "e", "type": "dates", "user_category": "dates", "value": ["v"]}
FORENSIC = {
    "claim_lists": {"critical": [CLAIM], "suspect": [], "benign": []},
    "document_details": {
        "GPS_location": "1 N",
        "digital_signature_by": "x",
        "password_protected": True,
        "source": "physical",
    },
    "red_flags": dict.fromkeys(spec.FLAGS, "warning"),
    "trigger_values": {flag: ["value"] for flag in spec.FLAGS},
}
FAKE_IMAGE = {
    "class_name": "fake",
    "class_probability": 0,
    "explanation": {"eye_mouth_overlays_image": "data:,", "heatmap": "data:,", "heatmap_object": "data:,"},
    "model_attribution": "some-model_2",
    "model_attribution_probability": 0.4,
    "model_attributions": [{"model": "some-model_2", "probability": 0.4}],
}
FAKE_FACE = {"class_name": "fake", "class_probability": 0.9, "manipulation_type": "lipsync", "explanation": [FACE]}
FAKE_VOICE = {"class_name": "fake", "class_probability": 0.9, "transcript": "hello", "explanation": [SPEAKER]}

ALLOWED = (
    ("face_manipulation", {"class_name": "real"}),
    ("face_manipulation", {"class_name": "no_faces"}),
    ("face_manipulation", FAKE_FACE),
    ("ai_generated_image_detection", {"class_name": "real"}),
    ("ai_generated_image_detection", FAKE_IMAGE),
    ("voice_analysis", FAKE_VOICE),
    ("voice_analysis", {"class_name": "real", "explanation": [REAL_SPEAKER]}),
    ("voice_analysis", {"class_name": "no_speech", "transcript": ""}),
    ("forensic_analysis", FORENSIC),
    ("forensic_analysis", {**FORENSIC, "document_details": {}, "red_flags": {}, "trigger_values": {}}),
)


def but(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {key: value for key, value in (base | changes).items() if value is not None}


FORBIDDEN = {
    "probability of a real face": ("face_manipulation", {"class_name": "real", "class_probability": 0.1}),
    "fake without a probability": ("face_manipulation", {"class_name": "fake"}),
    "explanation of no faces": ("face_manipulation", {"class_name": "no_faces", "explanation": []}),
    "explanation of a real face": ("face_manipulation", {"class_name": "real", "explanation": []}),
    "manipulation of a real face": ("face_manipulation", {"class_name": "real", "manipulation_type": "faceswap"}),
    "another class": ("face_manipulation", {"class_name": "uncertain"}),
    "another manipulation": ("face_manipulation", but(FAKE_FACE, manipulation_type="morph")),
    "a score": ("face_manipulation", but(FAKE_FACE, score=0.5)),
    "probability of a real face among others": (
        "face_manipulation",
        but(FAKE_FACE, explanation=[but(FACE, class_name="real")]),
    ),
    "face without tracks": ("face_manipulation", but(FAKE_FACE, explanation=[but(FACE, tracks=None)])),
    "frame number with a fraction": ("face_manipulation", but(FAKE_FACE, explanation=[but(FACE, frame_idx=0.5)])),
    "probability of a real picture": (
        "ai_generated_image_detection",
        {"class_name": "real", "class_probability": 0.1},
    ),
    "attribution of a real picture": (
        "ai_generated_image_detection",
        {"class_name": "real", "model_attribution": "sdxl"},
    ),
    "explanation of a real picture": ("ai_generated_image_detection", {"class_name": "real", "explanation": {}}),
    "odds of a real picture": (
        "ai_generated_image_detection",
        {"class_name": "real", "model_attribution_probability": 0.4},
    ),
    "generators of a real picture": (
        "ai_generated_image_detection",
        {"class_name": "real", "model_attributions": FAKE_IMAGE["model_attributions"]},
    ),
    "generator with capitals": ("ai_generated_image_detection", but(FAKE_IMAGE, model_attribution="SDXL 1.0")),
    "probability above one": ("ai_generated_image_detection", but(FAKE_IMAGE, class_probability=1.01)),
    "probability below zero": ("ai_generated_image_detection", but(FAKE_IMAGE, class_probability=-0.01)),
    "no faces in a picture": ("ai_generated_image_detection", {"class_name": "no_faces"}),
    "probability of a real voice": ("voice_analysis", {"class_name": "real", "class_probability": 0.1}),
    "speakers without speech": ("voice_analysis", {"class_name": "no_speech", "explanation": [SPEAKER]}),
    "nine features": (
        "voice_analysis",
        but(FAKE_VOICE, explanation=[but(SPEAKER, audio_features=dict.fromkeys(spec.FEATURE_NAMES[1:], FEATURE))]),
    ),
    "an eleventh feature": (
        "voice_analysis",
        but(
            FAKE_VOICE,
            explanation=[but(SPEAKER, audio_features={**SPEAKER["audio_features"], "loudness": FEATURE})],
        ),
    ),
    "a rank with a fraction": (
        "voice_analysis",
        but(
            FAKE_VOICE,
            explanation=[
                but(SPEAKER, audio_features=dict.fromkeys(spec.FEATURE_NAMES, but(FEATURE, percentile_rank=1.5)))
            ],
        ),
    ),
    "a fourth claim list": (
        "forensic_analysis",
        but(FORENSIC, claim_lists={"critical": [], "suspect": [], "benign": [], "other": []}),
    ),
    "another flag": ("forensic_analysis", but(FORENSIC, red_flags={"X": "x"}, trigger_values={"X": ["x"]})),
    "values that are no list": (
        "forensic_analysis",
        but(FORENSIC, claim_lists={"critical": [but(CLAIM, value="v")], "suspect": [], "benign": []}),
    ),
}


@pytest.mark.parametrize(("task", "result"), ALLOWED)
def test_what_the_specification_allows_passes_both(task: str, result: dict[str, Any]) -> None:
    jsonschema.validate(result, spec.RESULTS[task], jsonschema.Draft202012Validator)
    assert MODELS[task].model_validate(result).to_wire() == result


@pytest.mark.parametrize("rule", FORBIDDEN)
def test_what_the_specification_forbids_passes_neither(rule: str) -> None:
    task, result = FORBIDDEN[rule]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(result, spec.RESULTS[task], jsonschema.Draft202012Validator)
    with pytest.raises(ValidationError):
        MODELS[task].model_validate(result)


@pytest.mark.parametrize("task", spec.TASKS)
def test_results_have_the_fields_and_types_of_the_specification(task: str) -> None:
    actual = MODELS[task].model_json_schema(mode="serialization")
    assert list(differences(spec.RESULTS[task], actual, actual, nulls=True)) == []


@pytest.mark.parametrize("task", spec.TASKS)
def test_a_task_report_has_the_fields_of_the_specification(task: str) -> None:
    expected, base = spec.task_report(task), {"id": "1", "event_type": spec.EMITTED[task]}
    states = {
        "in_progress": {},
        "completed": {"result": next(result for name, result in ALLOWED if name == task)},
        "failed": {"error": "the file is cut short"},
    }
    assert set(states) == set(spec.STATES) == set(get_args(schema.Status))
    for status, more in states.items():
        wire = schema.TaskReport(**base, status=status, **more).to_wire()
        jsonschema.validate(wire, expected, jsonschema.Draft202012Validator)
    for wrong in ({"status": "completed"}, {"status": "queued"}, {"status": "failed"}, {"status": "completed", "x": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(base | wrong, expected)
        with pytest.raises(ValidationError):
            schema.TaskReport(**base, **wrong)


@pytest.mark.parametrize("task", spec.TASKS)
def test_only_the_task_that_has_it_carries_a_field(task: str) -> None:
    own = {"face_manipulation": {"preview"}, "forensic_analysis": {"additional_info"}}.get(task, set())
    fields = set(spec.task_report(task)["properties"])
    assert fields - {"id", "status", "event_type", "error", "result"} == own
    assert fields <= set(schema.TaskReport.model_fields)


def test_names_and_limits_are_those_of_the_specification() -> None:
    limits = Limits()
    assert schema.SPEC_VERSION == spec.VERSION
    assert {task.name: task.event for task in SPECIFIED} == spec.EMITTED
    assert {task.name: set(task.accepts) for task in SPECIFIED} == spec.ACCEPTS
    assert limits.max_bytes == spec.LIMITS["upload_mb"] * 1024**2
    assert limits.video_s == spec.LIMITS["video_s"] and limits.audio_s == spec.LIMITS["audio_s"]
    assert limits.video_side_px == spec.LIMITS["video_px"]


def test_the_table_is_whole() -> None:
    names = [operation.name for operation in spec.OPERATIONS]
    assert len(names) == len(set(names)) == 5 + 4 + 4 + 4
    assert len(spec.EVENTS) == 8 and set(spec.EMITTED.values()) < set(spec.EVENTS)
    for operation in spec.OPERATIONS:
        jsonschema.Draft202012Validator.check_schema(operation.response)
        assert all(f"{{{name}}}" in operation.path for name in operation.parameters)
        assert operation.auth == ("basic" if operation.path.startswith("/auth/") else "bearer")
