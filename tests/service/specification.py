"""The interface specification, version 2.40.6, as data: written by hand from its text, and from nothing else.

It is the reference that the served OpenAPI document, live answers and ``forensix.schema`` are held against, so it
imports nothing of forensix. Section numbers are those of the specification. Where the specification is silent, what
the design decided is marked ``decided``.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = "2.40.6"

Json = dict[str, Any]


def closed(required: str = "", /, **properties: Json) -> Json:
    """Return the schema of an object with these properties and no others; ``required`` names some, by spaces."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def array(items: Json) -> Json:
    return {"type": "array", "items": items}


def one_of(*values: str) -> Json:
    return {"type": "string", "enum": list(values)}


def when(name: str, value: str, then: Json) -> Json:
    """Return the rule that an object whose field has this value also fits ``then``."""
    return {"if": {"properties": {name: {"const": value}}, "required": [name]}, "then": then}


def without(*names: str) -> Json:
    return {"not": {"anyOf": [{"required": [name]} for name in names]}}


STRING: Json = {"type": "string"}
BOOLEAN: Json = {"type": "boolean"}
INTEGER: Json = {"type": "integer"}
NUMBER: Json = {"type": "number"}
PROBABILITY: Json = {"type": "number", "minimum": 0, "maximum": 1}
NUMBERS = array(NUMBER)
MODEL_NAME: Json = {"type": "string", "pattern": "^[a-z0-9_-]+$"}

# Section 1: the tasks, and what each accepts.
ACCEPTS = {
    "face_manipulation": {"image", "video"},
    "ai_generated_image_detection": {"image", "video"},
    "voice_analysis": {"audio", "video"},
    "forensic_analysis": {"image", "video", "pdf", "audio"},
}
TASKS = tuple(ACCEPTS)

# Sections 4.3 and 6: every event can be registered; these four are emitted.
EVENTS = (
    "ai_generated_image_detection_analysis_complete",
    "data_extraction_analysis_complete",
    "face_manipulation_analysis_complete",
    "face_matching_analysis_complete",
    "forensic_analysis_complete",
    "id_document_authentication_analysis_complete",
    "liveness_detection_analysis_complete",
    "voice_analysis_complete",
)
EMITTED = {
    "face_manipulation": "face_manipulation_analysis_complete",
    "ai_generated_image_detection": "ai_generated_image_detection_analysis_complete",
    "voice_analysis": "voice_analysis_complete",
    "forensic_analysis": "forensic_analysis_complete",
}

# Section 3. Decided: a task begins in the first state; the other two never change.
STATES = ("in_progress", "completed", "failed")

# Section 8.
LIMITS = {"upload_mb": 32, "video_s": 30 * 60, "video_px": 2560, "audio_s": 20 * 60, "webhook_attempts": 10}
FORMATS = {
    "image": ("jpg", "jpeg", "png", "tiff", "gif", "webp", "jfif"),
    "video": ("mkv", "flv", "mov", "mp4", "avi", "webm", "3gpp", "m4v"),
    "audio": ("wav", "mp3", "m4a", "ogg", "aac", "flac", "pcm"),
}

# Section 2.2. The general rule of section 1: no probability of what is predicted real.
FACE_CLASS = one_of("real", "fake", "no_faces")
TRACK = closed(
    "bbox frame_idx frame_ms frame_rate", bbox=NUMBERS, frame_idx=INTEGER, frame_ms=NUMBER, frame_rate=NUMBER
)
FACE = closed(
    "bbox bbox_average_size class_name face face_heatmap frame_idx frame_ms id tracks",
    bbox=NUMBERS,
    bbox_average_size=NUMBERS,
    class_name=FACE_CLASS,
    class_probability=PROBABILITY,
    face=STRING,
    face_heatmap=STRING,
    frame_idx=INTEGER,
    frame_ms=NUMBER,
    id=INTEGER,
    tracks=array(TRACK),
) | when("class_name", "real", without("class_probability"))
FACE_RESULT = closed(
    "class_name",
    class_name=FACE_CLASS,
    class_probability=PROBABILITY,
    manipulation_type=one_of("faceswap", "face_reenactment", "lipsync", "face_synthesis"),
    explanation=array(FACE),
) | {
    "allOf": [
        when("class_name", "fake", {"required": ["class_probability"]}),
        # Section 4.2: an explanation is available only for what is predicted fake.
        when("class_name", "real", without("class_probability", "explanation", "manipulation_type")),
        when("class_name", "no_faces", without("explanation", "manipulation_type")),
    ]
}

# Section 2.3.
IMAGE_RESULT = closed(
    "class_name",
    class_name=one_of("real", "fake"),
    class_probability=PROBABILITY,
    explanation=closed(eye_mouth_overlays_image=STRING, heatmap=STRING, heatmap_object=STRING),
    model_attribution=MODEL_NAME,
    model_attribution_probability=PROBABILITY,
    model_attributions=array(closed("model probability", model=MODEL_NAME, probability=PROBABILITY)),
) | {
    "allOf": [
        when("class_name", "fake", {"required": ["class_probability"]}),
        when(
            "class_name",
            "real",
            without(
                "class_probability",
                "explanation",
                "model_attribution",
                "model_attribution_probability",
                "model_attributions",
            ),
        ),
    ]
}

# Section 2.4. Decided: the values of class_name and gender, and that a value that cannot be measured is absent.
FEATURE_NAMES = (
    "background_noise", "f0", "f1", "f2", "jitter", "naturalness", "pitch_consistency", "shimmer",
    "spectral_artifacts", "temporal_patterns",
)  # fmt: skip
FEATURE = closed(
    "is_outlier lower_bound upper_bound min_value max_value mean_value num_real_samples unit",
    is_outlier=BOOLEAN,
    lower_bound=NUMBER,
    upper_bound=NUMBER,
    min_value=NUMBER,
    max_value=NUMBER,
    mean_value=NUMBER,
    sample_value=NUMBER,
    num_real_samples=INTEGER,
    percentile_rank=INTEGER,
    unit=STRING,
)
VOICE_CLASS = one_of("real", "fake", "no_speech")
SPEAKER = closed(
    "class_name gender speaker segments",
    class_name=VOICE_CLASS,
    class_probability=PROBABILITY,
    gender=one_of("male", "female", "unknown"),
    gender_probability=PROBABILITY,
    speaker=STRING,
    transcript=STRING,
    segments=array(closed("start end", start=NUMBER, end=NUMBER)),
    audio_features=closed(" ".join(FEATURE_NAMES), **dict.fromkeys(FEATURE_NAMES, FEATURE)),
) | when("class_name", "real", without("class_probability"))
VOICE_RESULT = closed(
    "class_name", class_name=VOICE_CLASS, class_probability=PROBABILITY, transcript=STRING, explanation=array(SPEAKER)
) | {
    "allOf": [
        when("class_name", "fake", {"required": ["class_probability"]}),
        when("class_name", "real", without("class_probability")),
        when("class_name", "no_speech", without("explanation")),
    ]
}

# Section 2.5.
FLAGS = (
    "AI_GENERATED", "FILE_EDITED", "METADATA_ERROR", "SCREENSHOT_SOFTWARE", "SUSPECT_SOFTWARE", "SUSPECT_SOFTWARE_",
)  # fmt: skip
CLAIM = closed(
    "claim explanation type user_category value",
    claim=STRING,
    explanation=STRING,
    type=STRING,
    user_category=STRING,
    value=array(STRING),
)
CLAIMS = array(CLAIM)
FORENSIC_RESULT = closed(
    "claim_lists document_details red_flags trigger_values",
    claim_lists=closed("critical suspect benign", critical=CLAIMS, suspect=CLAIMS, benign=CLAIMS),
    document_details=closed(
        GPS_location=STRING, digital_signature_by=STRING, password_protected=BOOLEAN, source=STRING
    ),
    red_flags=closed(**dict.fromkeys(FLAGS, STRING)),
    trigger_values=closed(**dict.fromkeys(FLAGS, array(STRING))),
)

RESULTS = {
    "face_manipulation": FACE_RESULT,
    "ai_generated_image_detection": IMAGE_RESULT,
    "voice_analysis": VOICE_RESULT,
    "forensic_analysis": FORENSIC_RESULT,
}


def task_report(task: str) -> Json:
    """Return the schema of section 2.1 for a task: the answer to polling, and the body of a delivery."""
    own = {"face_manipulation": {"preview": STRING}, "forensic_analysis": {"additional_info": STRING}}
    return closed(
        "id status event_type",
        id=STRING,
        status=one_of(*STATES),
        event_type={"type": "string", "const": EMITTED[task]},
        error=STRING,
        result=RESULTS[task],
        **own.get(task, {}),
    ) | {
        "allOf": [
            when("status", "in_progress", without("result", "error")),
            when("status", "completed", {"required": ["result"], **without("error")}),
            when("status", "failed", {"required": ["error"], **without("result")}),
        ]
    }


# Sections 2.6 and 2.7, and the answers of section 4.
TOKEN_CLAIMS = closed(
    "audience endsWith expiresAt issuedAt issuer subject",
    audience=STRING,
    endsWith=STRING,
    expiresAt=INTEGER,
    issuedAt=INTEGER,
    issuer=STRING,
    subject=STRING,
)
SUCCESS = {"type": "boolean", "const": True}
CREATED_TOKEN = closed("claims id success token", claims=TOKEN_CLAIMS, id=STRING, success=SUCCESS, token=STRING)
LISTED_TOKENS = closed(
    "claims success", claims={"type": "object", "additionalProperties": TOKEN_CLAIMS}, success=SUCCESS
)
DELETED_TOKENS = closed("deleted_tokens success", deleted_tokens=array(STRING), success=SUCCESS)
CREATED_TASK = closed("report_id success", report_id=STRING, success=SUCCESS)
CREATED_WEBHOOK = closed("id success", id=STRING, success=SUCCESS)
LISTED_WEBHOOKS = closed("success urls", success=SUCCESS, urls=array(closed("id url", id=STRING, url=STRING)))
DELETED_WEBHOOKS = closed("success", success=SUCCESS)

# Section 7 shows no shape of a rejected request. Decided:
REJECTED = closed(
    "success error code",
    success={"type": "boolean", "const": False},
    error=STRING,
    code={"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
)

MULTIPART = "multipart/form-data"
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Input:
    """A field of a request; ``default`` is what a request without it means, None where it then has no value."""

    name: str
    type: Literal["boolean", "string", "binary"]
    default: bool | None = None
    required: bool = False


@dataclass(frozen=True)
class Operation:
    """One row of section 4; ``response`` is the schema of the body that comes with status 200."""

    method: Literal["GET", "POST", "DELETE"]
    path: str
    auth: Literal["basic", "bearer"]
    response: Json
    parameters: tuple[str, ...] = ()
    """Names in the path; those of ``event`` take one of ``EVENTS``. All are required strings."""
    content_types: tuple[str, ...] = ()
    inputs: tuple[Input, ...] = field(default=())

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


_FILE_OR_URL = (Input("file", "binary"), Input("url", "string"))
_EXPLAIN = Input("explain", "boolean", default=False)
INPUTS = {
    "face_manipulation": (_EXPLAIN, *_FILE_OR_URL),
    "ai_generated_image_detection": (_EXPLAIN, *_FILE_OR_URL),
    "voice_analysis": (_EXPLAIN, *_FILE_OR_URL, Input("transcribe", "boolean", default=True)),
    "forensic_analysis": (Input("additional_info", "string"), *_FILE_OR_URL),
}
# Decided: voice analysis also takes what can carry a file; the others also take a form without one.
REQUIRED_TYPES = dict.fromkeys(TASKS, (MULTIPART,)) | {"voice_analysis": (FORM, MULTIPART)}

OPERATIONS = (
    Operation("POST", "/auth/tokens", "basic", CREATED_TOKEN),
    Operation("GET", "/auth/tokens", "basic", LISTED_TOKENS),
    Operation("DELETE", "/auth/tokens", "basic", DELETED_TOKENS),
    Operation("GET", "/auth/tokens/{id}", "basic", LISTED_TOKENS, ("id",)),
    Operation("DELETE", "/auth/tokens/{id}", "basic", DELETED_TOKENS, ("id",)),
    *(
        Operation("POST", f"/tasks/{task}", "bearer", CREATED_TASK, (), REQUIRED_TYPES[task], INPUTS[task])
        for task in TASKS
    ),
    *(Operation("GET", f"/tasks/{task}/{{id}}", "bearer", task_report(task), ("id",)) for task in TASKS),
    Operation(
        "POST",
        "/webhooks/{event}",
        "bearer",
        CREATED_WEBHOOK,
        ("event",),
        (FORM,),
        (Input("url", "string", required=True),),
    ),
    Operation("GET", "/webhooks/{event}", "bearer", LISTED_WEBHOOKS, ("event",)),
    Operation("DELETE", "/webhooks/{event}", "bearer", DELETED_WEBHOOKS, ("event",)),
    Operation("DELETE", "/webhooks/{event}/{id}", "bearer", DELETED_WEBHOOKS, ("event", "id")),
)

# Statuses that an operation may answer beside 200, as decided for all.
REJECTIONS = (400, 401, 404, 405, 413, 415, 429, 503)
