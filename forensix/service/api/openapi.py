"""The OpenAPI document: the specification's operations, with the shapes of what comes and goes."""

from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from forensix.schema import TaskReport
from forensix.service.errors import SLUGS
from forensix.tasks.catalogue import OTHER_EVENTS, TaskDescription, descriptions

BASIC, BEARER = "basic", "bearer"

EVENT_NAMES = (*(task.event for task in descriptions()), *OTHER_EVENTS)
"""All that can be registered for; only those of tasks are ever emitted."""

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


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Success(_Answer):
    """It was done."""

    success: bool


class Error(_Answer):
    """It was refused: what to do, in a sentence, and a code for programs."""

    success: bool
    error: str
    code: str = Field(description="; ".join(f"`{slug}`: {meaning}" for slug, meaning in SLUGS.items()))


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


@cache
def report_model(task: TaskDescription) -> type[TaskReport]:
    """Return the shape of a task's report: that of any task, with the result that this one has."""
    name = "".join(part.capitalize() for part in task.name.split("_")) + "Report"
    shape: Any = (task.result | None, None)
    return create_model(name, __base__=TaskReport, __doc__=f"Report of {task.name}.", result=shape)


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


def task_form(task: TaskDescription) -> dict[str, Any]:
    """Return the request body of a creation."""
    described: dict[str, dict[str, Any]] = {
        "explain": {"type": "boolean", "default": False, "description": task.explains},
        "additional_info": {"type": "string", "description": "extra information for the report"},
        "transcribe": {"type": "boolean", "default": True, "description": "enables speech-to-text"},
    }
    fields: dict[str, Any] = {name: described[name] for name in task.options}
    url = {"type": "string", "description": "media source URL (experimental)"}
    file = {"type": "string", "format": "binary", "description": f"{task.upload}; send either file or url"}
    coded = {"schema": {"type": "object", "properties": {**fields, "url": url}}}
    parts = {"schema": {"type": "object", "properties": {**fields, "file": file, "url": url}}}
    content = {"multipart/form-data": parts, "application/x-www-form-urlencoded": coded}
    return {"required": True, "content": content}


def webhook_form() -> dict[str, Any]:
    """Return the request body of a registration."""
    url = {"type": "string", "description": "where results are posted to; https, no private address"}
    form = {"schema": {"type": "object", "properties": {"url": url}, "required": ["url"]}}
    return {
        "required": True,
        "content": {"application/x-www-form-urlencoded": form, "multipart/form-data": form},
    }


def finish(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with the security schemes, and with absent fields described as absent, not as null."""
    document["components"]["securitySchemes"] = SCHEMES
    for task in descriptions():
        fields = document["components"]["schemas"][report_model(task).__name__]["properties"]
        for name, has in (("preview", task.has_preview), ("additional_info", "additional_info" in task.options)):
            if not has:
                del fields[name]
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
