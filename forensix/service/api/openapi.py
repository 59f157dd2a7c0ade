"""The OpenAPI document: the specification's operations, with the shapes of what comes and goes."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from forensix.schema import EVENTS, TASKS, FaceResult, ForensicResult, ImageResult, TaskReport, VoiceResult

BASIC, BEARER = "basic", "bearer"

EVENT_NAMES = (
    *EVENTS.values(),
    "data_extraction_analysis_complete",
    "face_matching_analysis_complete",
    "id_document_authentication_analysis_complete",
    "liveness_detection_analysis_complete",
)
"""All that can be registered for; only those of the four tasks are ever emitted."""

SCHEMES = {
    BASIC: {"type": "http", "scheme": "basic", "description": "Name and password of the account"},
    BEARER: {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A token of POST /auth/tokens"},
}

_REASONS = {
    400: "The request is malformed, or a field has a value that it cannot have",
    401: "Credentials or token are missing, wrong, expired or revoked",
    404: "Not there, or another account's",
    413: "Larger than allowed; the rest of the body is not read",
    415: "Content of no format that is taken",
    429: "Too many requests",
    503: "Full, or the database or storage is away",
}
_HEADERS = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"schema": {"type": "string"}}},
    503: {"Retry-After": {"schema": {"type": "string"}}},
}
_IDS = {"token": "token id", "report": "the report id", "webhook": "webhook id"}
_FILES = {
    "face_manipulation": "image or video",
    "ai_generated_image_detection": "image or video",
    "voice_analysis": "audio",
    "forensic_analysis": "image, video, pdf or audio",
}
_EXPLAIN = {
    "face_manipulation": "explanation is available only if predicted fake",
    "ai_generated_image_detection": "available only for some generator classes and if predicted fake",
    "voice_analysis": "also give the speakers",
}


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Success(_Answer):
    """It was done."""

    success: bool


class Error(_Answer):
    """It was refused: what to do, in a sentence, and a code for programs."""

    success: bool
    error: str
    code: str


class Claims(_Answer):
    """What a token says of itself."""

    audience: str
    endsWith: str  # noqa: N815 - as the specification spells it
    expiresAt: int  # noqa: N815
    issuedAt: int  # noqa: N815
    issuer: str
    subject: str


class NewToken(_Answer):
    """A token; the only answer that holds it."""

    claims: Claims
    id: str
    success: bool
    token: str


class ClaimsAnswer(_Answer):
    """Claims by token id."""

    claims: dict[str, Claims]
    success: bool


class DeletedTokens(_Answer):
    """Ids of the tokens that ended."""

    deleted_tokens: list[str]
    success: bool


class NewTask(_Answer):
    """A task was created."""

    report_id: str
    success: bool


class NewWebhook(_Answer):
    """A URL is registered."""

    id: str
    success: bool


class Webhook(_Answer):
    """A registered URL."""

    id: str
    url: str


class WebhookList(_Answer):
    """The URLs of one event."""

    success: bool
    urls: list[Webhook]


class FaceReport(TaskReport):
    """Report of face_manipulation."""

    result: FaceResult | None = None


class ImageReport(TaskReport):
    """Report of ai_generated_image_detection."""

    result: ImageResult | None = None


class VoiceReport(TaskReport):
    """Report of voice_analysis."""

    result: VoiceResult | None = None


class ForensicReport(TaskReport):
    """Report of forensic_analysis."""

    result: ForensicResult | None = None


REPORTS: dict[str, type[TaskReport]] = dict(
    zip(TASKS, (FaceReport, ImageReport, VoiceReport, ForensicReport), strict=True)
)

_ONLY_IN = {"preview": FaceReport, "additional_info": ForensicReport}
"""Fields that the report of one task has and those of the others do not."""


def operation(
    model: type[BaseModel],
    scheme: str,
    summary: str,
    *,
    errors: list[int] | None = None,
    ids: list[str] | None = None,
    body: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what FastAPI is told of an operation: it describes only, answers are made by hand."""
    extra: dict[str, Any] = {"security": [{scheme: []}]}
    if ids:
        extra["parameters"] = [_parameter(name) for name in ids]
    if body:
        extra["requestBody"] = body
    statuses = sorted({*(errors or ()), 401, 429, 503, *((404,) if ids else ())})
    responses: dict[int | str, dict[str, Any]] = {200: {"model": model, "description": str(model.__doc__)}}
    for status in statuses:
        responses[status] = {"model": Error, "description": _REASONS[status], "headers": _HEADERS.get(status, {})}
    return {"summary": summary, "responses": responses, "openapi_extra": extra, "response_model": None}


def task_form(task: str) -> dict[str, Any]:
    """Return the request body of a creation."""
    fields: dict[str, Any] = {}
    if task in _EXPLAIN:
        fields["explain"] = {"type": "boolean", "default": False, "description": _EXPLAIN[task]}
    if task == "forensic_analysis":
        fields["additional_info"] = {"type": "string", "description": "extra information for the report"}
    if task == "voice_analysis":
        fields["transcribe"] = {"type": "boolean", "default": True, "description": "enables speech-to-text"}
    url = {"type": "string", "description": "media source URL (experimental)"}
    file = {"type": "string", "format": "binary", "description": f"{_FILES[task]}; send either file or url"}
    coded = {"schema": {"type": "object", "properties": {**fields, "url": url}}}
    parts = {"schema": {"type": "object", "properties": {**fields, "file": file, "url": url}}}
    content = {"multipart/form-data": parts, "application/x-www-form-urlencoded": coded}
    return {"required": True, "content": content}


def webhook_form() -> dict[str, Any]:
    """Return the request body of a registration."""
    url = {"type": "string", "description": "where results are posted to; http or https, no private address"}
    form = {"schema": {"type": "object", "properties": {"url": url}, "required": ["url"]}}
    return {
        "required": True,
        "content": {"application/x-www-form-urlencoded": form, "multipart/form-data": form},
    }


def finish(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the security schemes, and with absent fields described as absent, not as null."""
    document["components"]["securitySchemes"] = SCHEMES
    for report in REPORTS.values():
        for name, owner in _ONLY_IN.items():
            if report is not owner:
                del document["components"]["schemas"][report.__name__]["properties"][name]
    document["components"]["schemas"] = {
        name: _without_null(schema) for name, schema in document["components"]["schemas"].items()
    }
    return document


def _parameter(name: str) -> dict[str, Any]:
    if name == "event":
        schema = {"type": "string", "enum": list(EVENT_NAMES)}
        return {"name": "event", "in": "path", "required": True, "schema": schema}
    return {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": _IDS[name]}


def _without_null(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: _without_null(value) for key, value in schema.items() if not (key == "default" and value is None)}
    choices = schema.get("anyOf")
    if choices and {"type": "null"} in choices:
        left = [choice for choice in choices if choice != {"type": "null"}]
        del schema["anyOf"]
        schema |= left[0] if len(left) == 1 else {"anyOf": left}
    return schema
