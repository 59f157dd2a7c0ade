"""The OpenAPI document: the specification's operations and no others, and absent fields that are absent, not null."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from forensix.schema import SPEC_VERSION
from tests.service.in_process import Api, running_api
from tests.service.specification import TASKS

OPERATIONS = {
    ("post", "/auth/tokens"): "basic",
    ("get", "/auth/tokens"): "basic",
    ("delete", "/auth/tokens"): "basic",
    ("get", "/auth/tokens/{id}"): "basic",
    ("delete", "/auth/tokens/{id}"): "basic",
    **{("post", f"/tasks/{task}"): "bearer" for task in TASKS},
    **{("get", f"/tasks/{task}/{{id}}"): "bearer" for task in TASKS},
    ("post", "/webhooks/{event}"): "bearer",
    ("get", "/webhooks/{event}"): "bearer",
    ("delete", "/webhooks/{event}"): "bearer",
    ("delete", "/webhooks/{event}/{id}"): "bearer",
}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running_api(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def document(api: Api) -> dict[str, Any]:
    answer = api.client.get("/openapi.json")
    assert answer.status_code == 200
    actual: dict[str, Any] = answer.json()
    return actual


def test_the_operations_and_how_each_is_authenticated(document: dict[str, Any]) -> None:
    assert document["info"]["version"] == SPEC_VERSION
    actual = {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    assert {key: list(operation["security"][0]) for key, operation in actual.items()} == {
        key: [scheme] for key, scheme in OPERATIONS.items()
    }
    schemes = document["components"]["securitySchemes"]
    assert schemes["basic"]["scheme"] == "basic"
    assert (schemes["bearer"]["scheme"], schemes["bearer"]["bearerFormat"]) == ("bearer", "JWT")
    names = [operation["operationId"] for operation in actual.values()]
    assert len(set(names)) == len(names)


def test_nothing_may_be_null(document: dict[str, Any]) -> None:
    def walk(schema: Any, where: str) -> Iterator[str]:
        if isinstance(schema, dict):
            if schema.get("type") == "null" or ("default" in schema and schema["default"] is None):
                yield where
            for key, value in schema.items():
                yield from walk(value, f"{where}/{key}")
        elif isinstance(schema, list):
            for n, value in enumerate(schema):
                yield from walk(value, f"{where}/{n}")

    assert list(walk(document, "")) == []


def test_every_refusal_has_the_one_shape(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert {"200", "401", "429", "503"} <= set(operation["responses"]), (method, path)
            assert "422" not in operation["responses"]
            for status, response in operation["responses"].items():
                reference = response["content"]["application/json"]["schema"]["$ref"]
                assert (status == "200") != (reference == "#/components/schemas/Error")


def test_live_answers_fit(api: Api, document: dict[str, Any]) -> None:
    account = api.account()
    report_id = account.created()
    account.webhooks("POST", url="https://example.org/hook")
    for method, path, answer in (
        ("post", "/auth/tokens", account.tokens()),
        ("get", "/auth/tokens", account.tokens("GET")),
        ("post", "/tasks/face_manipulation", account.create()),
        ("get", "/tasks/face_manipulation/{id}", account.get(f"/tasks/face_manipulation/{report_id}")),
        ("get", "/tasks/face_manipulation/{id}", account.get("/tasks/face_manipulation/nonesuch")),
        ("post", "/tasks/voice_analysis", account.create("voice_analysis")),
        ("get", "/webhooks/{event}", account.webhooks()),
        ("delete", "/webhooks/{event}", account.webhooks("DELETE")),
    ):
        responses = document["paths"][path][method]["responses"]
        schema = responses[str(answer.status_code)]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), schema | {"components": document["components"]})
